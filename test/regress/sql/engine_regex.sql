-- Regular expressions: what the engine's automata match, what is left to PostgreSQL, errors.
SET pg_loom.enabled = on;
SELECT result, count(*), min(pattern COLLATE "C"), max(pattern COLLATE "C")
FROM (SELECT same(format('SELECT t, t %s %L FROM %%t WHERE t %s %L', operator, pattern, operator, pattern), 'texts') AS result, pattern
      FROM unnest(ARRAY['~', '!~', '~*', '!~*']) operator,
           unnest(ARRAY['a', '^a', 'b$', '^$', '', '^a.b$', '^.$', '^..$', 'a|b', '^(a|日)', '[^a-z]', 'k{3,}', '(ab|k)+$', '^[à-ÿ日]+$',
                        'a\.', '\\', '[\]%]', 'A_', '(?:x|)b', 'k{64}b', 'k{64}[é]']) pattern) r
GROUP BY starts_with(result, 'same'), result ORDER BY result;
-- Classes, of which the locale decides what is not ASCII; options, back references, word boundaries.
SELECT same(format('SELECT t FROM %%t WHERE t ~ %L', pattern), 'texts') AS result, pattern
FROM unnest(ARRAY['\w', '\W', '^\d*$', '[[:alpha:]]', '[[:space:]]', '(.)\1', '(?i)A', '***=a', '\ma', 'a(?=b)', '[[:punct:]]']) pattern;
-- Patterns that are none are errors, once a row needs them.
SELECT same(format('SELECT t FROM %%t WHERE t ~ %L', pattern), 'texts') AS result, pattern
FROM unnest(ARRAY['(', 'a**', '[b-a]', 'a{2,1}', '\', '[', ')', '*a']) pattern;
SELECT same('SELECT t FROM %t WHERE t IS NULL AND t ~ ''(''', 'texts');
SELECT same(query, 'texts') AS result, query FROM unnest(ARRAY[
    'SELECT count(*) FROM %t WHERE t SIMILAR TO ''(a|b)%''', 'SELECT count(*) FROM %t WHERE t NOT SIMILAR TO ''_''',
    'SELECT count(*) FROM %t WHERE t SIMILAR TO ''a\_b''',
    'SELECT t ~ ''a'' AS a, count(*), count(DISTINCT t) FROM %t GROUP BY 1', 'SELECT count(*) FILTER (WHERE t ~ ''^a'') FROM %t',
    'SELECT t FROM %t WHERE t COLLATE "C" ~* ''a''', 'SELECT t FROM %t WHERE t COLLATE "C" ~ ''\w''',
    'SELECT CASE WHEN t ~ ''a.'' THEN 1 WHEN t ~ ''b'' THEN 2 END AS c, count(*) FROM %t GROUP BY 1',
    'SELECT t FROM %t WHERE t ~ ANY (ARRAY[''^a'', ''k$''])', 'SELECT t FROM %t WHERE t ~ NULL', 'SELECT t FROM %t WHERE (t ~ ''a'') IS NOT TRUE',
    'SELECT t FROM %t WHERE t::char(5) ~ ''b *$''', 'SELECT t FROM %t WHERE ''ab'' ~ t',
    'SELECT t FROM %t WHERE t ~ repeat(''k'', 3)']) query;
SELECT line FROM explained('SELECT count(*) FROM texts_p WHERE t ~ ''^a(b|c)+'' AND t !~* ''x''') line WHERE line ~ 'filter|LoomScan|Not Pushed';
SELECT line FROM explained('SELECT count(*) FROM texts_p WHERE t ~ ''(a)\1''') line WHERE line ~ 'filter|LoomScan|Not Pushed';
CREATE COLLATION regex_nondeterministic (provider = icu, locale = 'und', deterministic = false);
SELECT count(*) FROM texts_p WHERE t COLLATE regex_nondeterministic ~ 'a';
DROP COLLATION regex_nondeterministic;
-- Few groups of many distinct values.
SELECT same(query, 'all_types') AS result, query FROM unnest(ARRAY[
    'SELECT count(DISTINCT word), min(DISTINCT word) FROM %t', 'SELECT count(DISTINCT word) FILTER (WHERE id % 3 = 0), count(DISTINCT word), count(*) FROM %t',
    'SELECT id % 7 AS k, count(DISTINCT word), sum(DISTINCT id), count(*) FROM %t GROUP BY 1']) query;
RESET pg_loom.enabled;
