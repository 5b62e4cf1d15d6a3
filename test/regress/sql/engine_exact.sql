-- What random queries (loom-random-queries) have found: errors and types are PostgreSQL's as well.
-- Values that the engine wants before the first row, and that nobody asks for in the end.
SELECT same('SELECT ' || query) AS result, query
FROM unnest(ARRAY[
    'id, CASE WHEN id < 0 THEN tz_us < timestamptz ''1999-04-04'' - interval ''100000 months'' END FROM %t WHERE id < 50',
    'word, sum(CASE tz_us WHEN timestamptz ''1999-04-04'' - interval ''100000 months'' THEN id END) FROM %t WHERE id < 0 GROUP BY word',
    'id FROM %t WHERE id < 9 AND (id >= 0 OR tz_us < timestamptz ''1999-04-04'' - interval ''100000 months'')',
    'count(tz_us < timestamptz ''1999-04-04'' - interval ''100000 months'') FROM %t WHERE id < 50']) query;
SET plan_cache_mode = force_generic_plan;
PREPARE unasked(int) AS SELECT count(*) FROM six_p WHERE id < 0 AND id < 10 / $1;
EXECUTE unasked(0);
SET pg_loom.enabled = off;
EXECUTE unasked(0);
DEALLOCATE unasked;
PREPARE unasked(int) AS SELECT count(*) FROM six_p WHERE id < 0 AND id < 10 / $1;
EXECUTE unasked(0);
DEALLOCATE unasked;
RESET pg_loom.enabled;
RESET plan_cache_mode;
-- A condition of PostgreSQL's own that raises an error is not spared rows by a later one.
SELECT same('SELECT id FROM %t WHERE tz_us < tz_us + interval ''2147483646 days'' AND (dt < ts_us) = (id < 0)') AS result;
-- A limit below a join that multiplies its rows: a limit ends what comes before it, only.
SELECT same('SELECT ' || query) AS result, query
FROM unnest(ARRAY[
    'a.id, b.id FROM (SELECT id FROM %t ORDER BY id LIMIT 9) a LEFT JOIN %t b ON b.i2 <> 0 WHERE b.id < 3000',
    'count(*) FROM (SELECT id FROM %t LIMIT 9) a LEFT JOIN %t b ON b.id <> 0',
    'count(*) FROM (SELECT id FROM %t LIMIT 9) a JOIN %t b ON b.id <> 0',
    'count(*), count(a.b), count(b.b) FROM (SELECT true AS b FROM %t LIMIT 9) a FULL JOIN (SELECT b FROM %t WHERE id < 6000) b USING (b)',
    'count(*) FROM (SELECT a.b FROM (SELECT true AS b FROM %t LIMIT 9) a JOIN %t b USING (b) LIMIT 10000) x']) query;
-- Columns that the node of a DISTINCT hands on for nobody; PostgreSQL's plan started beside a CTE that has rows already.
SELECT same('SELECT ' || query) AS result, query
FROM unnest(ARRAY[
    'DISTINCT count(*) OVER (PARTITION BY i2) FROM %t',
    '* FROM (WITH q AS MATERIALIZED (SELECT id FROM %t) SELECT (SELECT min(c.id) FROM %t c JOIN q ON c.id = q.id) AS least, 1 / (b.id - 5) FROM q JOIN %t b ON b.id = q.id) x']) query;
-- What the engine cannot compute turns up late, when rows could be out already.
SET max_parallel_workers_per_gather = 0;
SELECT same('SELECT n, (CASE WHEN n = 200000 THEN float8 ''1e200'' ELSE n END)::numeric FROM (SELECT row_number() OVER (ORDER BY a.id, b.id) AS n FROM %t a JOIN %t b ON b.id % 50 = a.id % 50 WHERE b.id < 2500) x') AS result;
RESET max_parallel_workers_per_gather;
-- Columns of different collations: PostgreSQL says so where it asks for one.
SELECT same(format('SELECT %s FROM (SELECT id, word COLLATE "C" AS x, word COLLATE "POSIX" AS y FROM %%t) s', e)) AS result, e
FROM unnest('{x = y,x <> y,x LIKE y,starts_with(x\, y),strpos(x\, y),replace(x\, y\, ''a''),split_part(x\, y\, 1),greatest(x\, y),x IN (y\, ''a''),
    nullif(x\, y),x IS DISTINCT FROM y,x || y,length(x || y),coalesce(x\, y),CASE x WHEN y THEN 1 END,md5(x || y),x::bpchar = y::bpchar}'::text[]) e;
SELECT same('SELECT count(*) FROM (SELECT id, word COLLATE "C" AS x, word COLLATE "POSIX" AS y FROM %t) s WHERE ' || c) AS result, c
FROM unnest(ARRAY['x NOT IN (SELECT y FROM %t, LATERAL (SELECT word COLLATE "POSIX" AS y) l)',
    '(x, id) NOT IN (SELECT y, id FROM %t, LATERAL (SELECT word COLLATE "POSIX" AS y) l)']) c;
-- An aggregate that nobody needs still gives a row, also of no rows.
SELECT same('SELECT b.id FROM (SELECT ' || a || ' FROM %t x ' || j || ' JOIN %t y ON x.id = y.id WHERE y.id < ' || n || ') s, %t b WHERE b.id < 5') AS result, a, j, n
FROM unnest('{avg(x.id),count(*),DISTINCT 1,DISTINCT x.id}'::text[]) a, unnest('{INNER,RIGHT}'::text[]) j, unnest('{-1,3}'::int[]) n;
-- What may raise is computed although nothing reads it, where PostgreSQL's plan does so: inputs of different types keep a
-- UNION ALL together, with all its columns.
SELECT same('SELECT s.id FROM (SELECT id, ' || e || ' AS x, word::varchar AS w FROM %t UNION ALL SELECT id, 1, word FROM %t) s JOIN %t t ON s.id = t.id WHERE t.id < 9') AS result, e
FROM unnest(ARRAY['1 / (id - 5)', 'i8 * i8', 'row_number() OVER (ORDER BY id) / (id - 5)', 'nth_value(id, id - 5) OVER (ORDER BY id)', 'id + 1',
    'coalesce(id, 1 / (id - 5))', 'exp(id * 1e3)']) e;
SELECT same('SELECT s.id FROM (SELECT id, ' || e || ' AS x, min(word)::varchar AS w FROM %t GROUP BY id UNION ALL SELECT id, NULL, word FROM %t) s JOIN %t t ON s.id = t.id WHERE t.id < 9') AS result, e
FROM unnest('{sum(1 / (id - 5)),sum(1e308::float8 + id) FILTER (WHERE id < 0),sum(1) FILTER (WHERE 1 / (id - 5) > 0),count(*),min(i8 * i8)}'::text[]) e;
-- Values of char(n) are equal, and ordered, without their trailing blanks, whatever n; other blanks and what lies below them count.
CREATE FUNCTION padded(query text) RETURNS text LANGUAGE sql AS $$
    SELECT same(replace(replace(query, '%a', '(SELECT id, (ARRAY[''a'', ''a '', E''a\t'', ''a b'', '''', ''é'', E''a \n'', ''a é''])[id % 9 + 1] AS t FROM %t)'),
                        '%b', '(SELECT id, CASE WHEN id % 2 = 0 THEN ''a'' WHEN id % 3 = 0 THEN ''é    '' ELSE E''a\t  '' END AS t FROM %t WHERE id < 40)'))
$$;
SELECT padded(format('SELECT a.id, b.id FROM %%a a %s JOIN %%b b ON a.t::%s = b.t::%s', j, x, y)) AS result, j, x, y
FROM unnest('{INNER,LEFT,FULL}'::text[]) j, unnest('{char(4),char(6),bpchar}'::text[]) x, unnest('{char(5),bpchar}'::text[]) y;
SELECT padded('SELECT ' || e) AS result, e
FROM unnest(ARRAY['id FROM %a a WHERE t::char(4) IN (SELECT t::char(6) FROM %b b)', 'id FROM %a a WHERE t::char(4) NOT IN (SELECT t::char(6) FROM %b b)',
    'count(*) FROM %a a WHERE EXISTS (SELECT FROM %b b WHERE nullif(''a  '', b.t::bpchar) = a.t::char(4))',
    't::char(4) AS c, count(*), min(t::char(5)), max(t::char(5)) FROM %a a GROUP BY 1', 't::bpchar AS c, count(*) > 0 FROM %a a GROUP BY 1 HAVING count(*) < 0',
    'DISTINCT t::char(7) FROM %a a', 'count(DISTINCT t::char(7)), count(DISTINCT t::bpchar) FROM %a a',
    't::char(4), id FROM %a a ORDER BY 1, 2', 't::bpchar, id FROM %a a ORDER BY 1 DESC, 2', 't::char(4), id FROM %a a ORDER BY 1 NULLS FIRST, 2 LIMIT 1500',
    'id, rank() OVER (ORDER BY t::char(4)), count(*) OVER (PARTITION BY t::char(4)), max(t::char(4)) OVER (ORDER BY id), dense_rank() OVER (ORDER BY t::bpchar) FROM %a a',
    'min(t::bpchar)::text, max(t::bpchar)::text FROM %b b', 'array_agg(t::char(4) ORDER BY t::char(4)), array_agg(id ORDER BY t::bpchar DESC, id) FROM %a a',
    'percentile_disc(0.4) WITHIN GROUP (ORDER BY t::char(4)), mode() WITHIN GROUP (ORDER BY t::char(4)) FROM %a a',
    'count(*) FROM (SELECT t::char(4) FROM %a a UNION SELECT t::char(6) FROM %b b) s', 'count(*) FROM (SELECT t::char(4) FROM %a a INTERSECT SELECT t::char(4) FROM %b b) s',
    'count(*) FROM %a a WHERE (t::char(4), 1) IN (SELECT t::bpchar, 1 FROM %b b)']) e;
SELECT coalesce(string_agg(line, chr(10)), 'none') FROM explained('SELECT count(*) FROM all_types_p a JOIN all_types_p b ON a.word::char(9) = b.word::char(7)') line WHERE line ~ 'LoomScan|join';
DROP FUNCTION padded;
-- Rows of an ordinary table are asked for, and raise their errors, also where a join has nothing to join them with.
CREATE TABLE raising AS SELECT n FROM generate_series(1, 20000) n;
ANALYZE raising;
SET enable_nestloop = off;
SET enable_mergejoin = off;
SELECT count(*) FROM raising r JOIN six_p t ON r.n = t.id AND t.id < 0 WHERE 1 / (r.n - 1) >= 0;
SELECT count(*) FROM raising r JOIN six_p t ON r.n = t.id JOIN six_p u ON r.n = u.id AND u.id < 0 WHERE 1 / (r.n - 1) >= 0;
SELECT count(*) FROM raising r JOIN six_p t ON r.n = t.id AND t.id < 0 WHERE r.n > 0;
SET pg_loom.enabled = off;
SELECT count(*) FROM raising r JOIN six_p t ON r.n = t.id AND t.id < 0 WHERE 1 / (r.n - 1) >= 0;
SELECT count(*) FROM raising r JOIN six_p t ON r.n = t.id JOIN six_p u ON r.n = u.id AND u.id < 0 WHERE 1 / (r.n - 1) >= 0;
RESET pg_loom.enabled;
RESET enable_nestloop;
RESET enable_mergejoin;
DROP TABLE raising;
