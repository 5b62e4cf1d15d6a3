-- NaN is equal to itself and above all numbers; writers leave it out of min and max. -0 equals 0.
SELECT same(format('SELECT * FROM %%t WHERE %s %s %s', col, op, value), 'floats') AS result, col, op, value
FROM unnest('{f4,f8}'::text[]) col, unnest('{=,<>,<,<=,>,>=}'::text[]) op,
     unnest(ARRAY['3', '''NaN''', '''Infinity''', '0', '1e308']) value
WHERE NOT (col = 'f4' AND value = '1e308')
ORDER BY result DESC, col, op, value;
SELECT same(query, 'floats') AS result, query FROM unnest(ARRAY[
    'SELECT max(f8), min(f8), max(f4), min(f4) FROM %t', 'SELECT f8 FROM %t ORDER BY f8 DESC LIMIT 1',
    'SELECT count(*) FROM %t WHERE NOT (f8 < 10)', 'SELECT count(*) FROM %t WHERE f8 BETWEEN 1 AND ''NaN''',
    'SELECT count(*) FROM %t WHERE NULLIF(f8, ''NaN'') IS NULL', 'SELECT count(DISTINCT f8) FROM %t',
    'SELECT count(*) FROM (SELECT f8 FROM %t GROUP BY f8) g', 'SELECT count(*) FROM %t a JOIN %t b ON a.f8 = b.f8',
    'SELECT f8 FROM %t WHERE f8 IN (3, ''NaN'')', 'SELECT f8 FROM %t WHERE f8 = 3 OR f8 IS NULL']) query;
