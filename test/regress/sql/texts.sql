-- LIKE with escapes, characters of several bytes, bounds that writers cut, Bloom filters.
SELECT result, string_agg(pattern, '  ' ORDER BY pattern COLLATE "C")
FROM (SELECT same(format('SELECT t FROM %%t WHERE t LIKE %s', pattern), 'texts') AS result, pattern
      FROM unnest(ARRAY['''a\%''', '''a\_b''', '''a_b''', '''%\%%''', '''_''', '''__''', '''a#%'' ESCAPE ''#''',
                        '''a%'' ESCAPE ''''', '''日_''', '''日%''', '''a\''', '''kkkk%''', '''''', '''%''']) pattern) r
GROUP BY result ORDER BY result;
SELECT same(query, 'texts') AS result, query FROM unnest(ARRAY[
    'SELECT min(t), max(t) FROM %t WHERE t LIKE ''A%''', 'SELECT b FROM %t ORDER BY b LIMIT 3',
    'SELECT length(t) FROM %t WHERE t = repeat(''k'', 64) || ''b''', 'SELECT length(t) FROM %t WHERE t > repeat(''k'', 64) || ''b''',
    'SELECT length(t) FROM %t WHERE t COLLATE "C" > repeat(''k'', 64) || ''b''', 'SELECT length(t) FROM %t WHERE t >= repeat(''k'', 64)',
    'SELECT count(*) FROM %t WHERE t IN (''ab'', repeat(''k'', 64) || ''é'')', 'SELECT count(*) FROM %t WHERE t IS NULL',
    'SELECT length(b) FROM %t WHERE b > decode(repeat(''ff'', 70), ''hex'')', 'SELECT length(b) FROM %t WHERE b = ''\xffffffffffff''',
    'SELECT t FROM %t WHERE t ILIKE ''A\_B''', 'SELECT t FROM %t WHERE t NOT LIKE ''a%''']) query;
IMPORT FOREIGN SCHEMA texts_bloom FROM SERVER arrow_fdw INTO public OPTIONS (file '/tmp/pg_loom_regress/texts_bloom.parquet');
SET pg_loom.enabled = off;
SELECT * FROM explained('SELECT t FROM texts_bloom WHERE t = ''axb''');
RESET pg_loom.enabled;
SET pg_loom.enabled = off;
SELECT * FROM explained('SELECT t FROM texts_bloom WHERE t = ''axc''');
RESET pg_loom.enabled;
DROP FOREIGN TABLE texts_bloom;
