-- Queries that the engine runs whole or in part, against ordinary tables with the same rows.
-- Filters, and outputs that are more than columns.
SELECT same('SELECT ' || query) AS result, query
FROM unnest(ARRAY[
    'id, word FROM %t WHERE id > 9000 AND word <> ''zz''',
    'id + 1, i4 - 1, b IS NULL FROM %t WHERE id < 500',
    'id, upper(txt) FROM %t WHERE id < 500',
    'id, txt || ''!'' FROM %t WHERE id BETWEEN 100 AND 200 AND length(txt) > 3',
    'id FROM %t WHERE upper(word) = ''AB'' AND id > 50',
    'id FROM %t WHERE id > 50 AND upper(word) = ''AB'' AND 7 / id < 3',
    '1, id, ''x'' FROM %t WHERE id = 77',
    'id, now() = now(), current_user FROM %t WHERE id = 77',
    'id, dt + 1, ts_us - interval ''1 day'' FROM %t WHERE id < 300',
    'id, CASE WHEN id % 2 = 0 THEN ''even'' WHEN id % 3 = 0 THEN ''three'' END FROM %t WHERE id < 300',
    'id, CASE id % 5 WHEN 0 THEN i4 WHEN 1 THEN id ELSE 7 END FROM %t WHERE id < 300',
    'id, coalesce(i4, id), nullif(i2, 1), greatest(i4, 5), least(word, txt) FROM %t WHERE id < 300',
    'id FROM %t WHERE i4 IS DISTINCT FROM 5 AND id < 300',
    'id FROM %t WHERE (b OR id < 40) AND NOT (b AND id > 20)',
    'id FROM %t WHERE i4 IN (1, 2, 3, NULL) OR word IN (''ab'', ''zz'')',
    'id FROM %t WHERE id = ALL (''{5,5}'') OR id <> ALL (''{1,2,NULL}'')',
    'id FROM %t WHERE word LIKE ''a%'' AND word NOT LIKE ''%b''',
    'id, d18 * 2, d18 + d9, d9 * d18, d38 - 1 FROM %t WHERE id < 900',
    'id FROM %t WHERE d18 > (SELECT avg(d18) FROM %t)',
    'id, f4 + f8, f8 * 2, -f4 FROM %t WHERE id < 900',
    'id, i8 / 3, i8 % 7, -i8 FROM %t WHERE id < 900 AND i8 > -9000000000000',
    't FROM %t t WHERE id < 20',
    'id, t.* FROM %t t WHERE id < 20',
    'tableoid = ''%t''::regclass, id FROM %t WHERE id < 20',
    'id, arr FROM %t WHERE id < 20 AND word > ''a''']) query;
-- Aggregates.
SELECT same('SELECT ' || query) AS result, query
FROM unnest(ARRAY[
    'count(*), count(word), count(DISTINCT word), count(nul) FROM %t',
    'count(*) FROM %t WHERE false', 'sum(id), min(id), max(id), avg(id) FROM %t WHERE id < 0',
    'sum(id), sum(i8), sum(i2), sum(d9), sum(d18), sum(d38) FROM %t WHERE id < 800',
    'avg(id), avg(i8), avg(i2), avg(d9), avg(d18) FROM %t WHERE id < 800',
    'min(dt), max(ts_us), min(tz_us), max(tm_us), min(f8), max(f4), min(i8), max(d18) FROM %t',
    'min(word), max(txt), min(word COLLATE "C") FROM %t',
    'bool_and(b), bool_or(b), every(b) FROM %t', 'count(*) FILTER (WHERE id % 3 = 0), sum(id) FILTER (WHERE b) FROM %t',
    'word, count(*), sum(id) FROM %t GROUP BY word', 'b, word, max(id) FROM %t GROUP BY 1, 2',
    'id % 10 AS r, count(*) FROM %t GROUP BY id % 10 HAVING count(*) > 100',
    'word, count(*) FROM %t GROUP BY word HAVING max(length(word)) > 2 AND upper(word) <> ''ZZ''',
    'count(*) FROM %t GROUP BY word', 'sum(id) FROM %t GROUP BY 1 + 1', 'DISTINCT b, word FROM %t', 'DISTINCT id % 7 FROM %t',
    'dt, count(*) FROM %t GROUP BY dt', 'd9, count(*) FROM %t GROUP BY d9', 'uid, count(*) FROM %t GROUP BY uid',
    'string_agg(word, '','' ORDER BY id) FROM %t WHERE id < 50', 'array_agg(id ORDER BY id) FROM %t WHERE id < 50',
    'word, sum(DISTINCT id % 5), count(DISTINCT b) FROM %t GROUP BY word', 'stddev(id), variance(i4), corr(id, i2) FROM %t WHERE id < 100',
    'b, word, count(*) FROM %t GROUP BY ROLLUP (b, word)', 'b, count(*) FROM %t GROUP BY GROUPING SETS ((b), ())',
    'word, b, grouping(word), count(*) FROM %t GROUP BY CUBE (word, b)',
    'percentile_cont(0.5) WITHIN GROUP (ORDER BY id) FROM %t', 'word, id, 5 AS five, sum(i2) FROM %t WHERE id = 5 GROUP BY word, id',
    'sum(a) + 1, max(b) || ''x'' FROM (SELECT sum(id) AS a, word AS b FROM %t GROUP BY word) x',
    'count(*) FROM (SELECT DISTINCT word, b FROM %t) x', 'x.c, count(*) FROM (SELECT word, count(*) AS c FROM %t GROUP BY word) x GROUP BY x.c',
    'id, row_number() OVER (PARTITION BY b ORDER BY id) FROM %t WHERE id < 100',
    'word, sum(count(*)) OVER (ORDER BY word COLLATE "C") FROM %t GROUP BY word']) query;
-- Joins. The row numbers keep one side small enough for PostgreSQL.
SELECT same('SELECT ' || query) AS result, query
FROM unnest(ARRAY[
    'a.id, b.word FROM %t a JOIN %t b ON a.id = b.id WHERE a.id < 1000',
    'count(*) FROM %t a JOIN %t b ON a.id = b.i4', 'count(*), sum(a.id) FROM %t a JOIN %t b ON a.i8 = b.id',
    'count(*) FROM %t a JOIN %t b ON a.id = b.i2 AND a.i8 > b.id', 'count(*) FROM %t a JOIN %t b ON a.word = b.word AND a.id = b.id + 1',
    'a.id, b.id FROM %t a LEFT JOIN %t b ON a.id = b.id + 9900 WHERE a.id > 9850',
    'a.id, b.id FROM (SELECT * FROM %t WHERE id < 60) a LEFT JOIN (SELECT * FROM %t WHERE id > 30) b ON a.id = b.id AND a.b',
    'a.id, b.id FROM (SELECT * FROM %t WHERE id < 60) a RIGHT JOIN (SELECT * FROM %t WHERE id BETWEEN 30 AND 80) b ON a.id = b.id AND a.b',
    'a.id, b.id FROM (SELECT * FROM %t WHERE id < 60) a FULL JOIN (SELECT * FROM %t WHERE id BETWEEN 30 AND 80) b USING (id)',
    'a.id, b.id FROM (SELECT * FROM %t WHERE id < 60) a FULL JOIN (SELECT * FROM %t WHERE id BETWEEN 30 AND 80) b ON a.id = b.id WHERE a.b IS NULL OR b.id > 50',
    'id FROM %t WHERE id < 100 AND id IN (SELECT i4 FROM %t)', 'id FROM %t a WHERE id < 100 AND EXISTS (SELECT 1 FROM %t b WHERE b.i2 = a.id AND b.word > ''a'')',
    'id FROM %t a WHERE id < 100 AND NOT EXISTS (SELECT 1 FROM %t b WHERE b.i2 = a.id)', 'id FROM %t WHERE id < 100 AND id NOT IN (SELECT i4 FROM %t WHERE id < 40 AND i4 IS NOT NULL)',
    'id FROM %t WHERE id < 100 AND id NOT IN (SELECT i4 FROM %t WHERE id < 40)',
    'a.id, b.id FROM %t a, %t b WHERE a.id < 20 AND b.id < 20 AND a.id < b.id', 'count(*) FROM %t a CROSS JOIN (SELECT id FROM %t WHERE id < 3) b',
    'a.id, b.c FROM %t a JOIN (SELECT word, count(*) AS c FROM %t GROUP BY word) b USING (word) WHERE a.id < 200',
    'a.id, s.id FROM %t a JOIN six_h s USING (id)', 'a.id, s.id FROM six_h s LEFT JOIN %t a ON a.id = s.id AND a.word > ''a''',
    'a.d9, count(*) FROM %t a JOIN %t b ON a.d9 = b.d9 GROUP BY a.d9', 'count(*) FROM %t a JOIN %t b ON a.d9 = b.d18',
    'count(*) FROM %t a JOIN %t b ON a.dt = b.dt', 'count(*) FROM %t a JOIN %t b ON a.uid = b.uid', 'count(*) FROM %t a JOIN %t b ON a.f8 = b.f8',
    'count(*) FROM %t a JOIN %t b ON a.id = b.id JOIN %t c ON b.id = c.i4 LEFT JOIN %t d ON d.id = c.id AND d.id < 5000']) query;
-- Orders and limits; where the order leaves rows open, the query asks for what is not.
SELECT same('SELECT array_agg(x) FROM (SELECT ' || query || ') x') AS result, query
FROM unnest(ARRAY[
    'id FROM %t ORDER BY id DESC LIMIT 7', 'id, word FROM %t ORDER BY word COLLATE "C" NULLS FIRST, id LIMIT 50 OFFSET 20',
    'id FROM %t ORDER BY i4 DESC NULLS LAST, id', 'id, f8 FROM %t ORDER BY f8, id DESC LIMIT 100', 'id FROM %t WHERE id > 5 ORDER BY id LIMIT NULL OFFSET 9990',
    'id FROM %t ORDER BY id LIMIT 0', 'word, count(*) FROM %t GROUP BY word ORDER BY word LIMIT 5', 'word, count(*) FROM %t GROUP BY word ORDER BY 2 DESC, 1',
    'DISTINCT word FROM %t ORDER BY word DESC', 'DISTINCT ON (word) word, id FROM %t ORDER BY word, id DESC',
    'id FROM %t ORDER BY upper(word), id LIMIT 40', 'id FROM %t ORDER BY d18, d9 DESC, id LIMIT 40', 'id FROM %t ORDER BY ts_us, tz_us DESC, id LIMIT 40',
    'a.id FROM %t a JOIN %t b USING (id) WHERE a.id < 500 ORDER BY b.i8, a.id', 'id FROM %t ORDER BY id FETCH FIRST 3 ROWS WITH TIES',
    'id, txt FROM %t ORDER BY txt LIMIT 20', 'id FROM (SELECT id, i4 FROM %t ORDER BY i4, id LIMIT 30) x ORDER BY id DESC',
    'word, sum(id) FROM (SELECT * FROM %t ORDER BY id DESC LIMIT 500) x GROUP BY word ORDER BY word']) query;
SELECT same('SELECT id FROM %t ORDER BY id LIMIT (SELECT 3) OFFSET (SELECT 2)', 'six');
SELECT same('SELECT id FROM %t ORDER BY id LIMIT -1', 'six'), same('SELECT id FROM %t ORDER BY id OFFSET -1', 'six');
-- Set operations, CTEs, subqueries.
SELECT same('SELECT ' || query) AS result, query
FROM unnest(ARRAY[
    'id FROM %t WHERE id < 10 UNION ALL SELECT i4 FROM %t WHERE id > 9990', 'word FROM %t UNION SELECT txt FROM %t WHERE id < 20',
    'sum(n), count(*) FROM (SELECT id AS n FROM %t UNION ALL SELECT i4 FROM %t UNION ALL SELECT id FROM %t WHERE b) x',
    'id FROM %t WHERE id < 50 EXCEPT SELECT i4 FROM %t', 'word FROM %t INTERSECT ALL SELECT word FROM %t WHERE id < 100',
    '* FROM (WITH c AS MATERIALIZED (SELECT word, count(*) AS n FROM %t GROUP BY word) SELECT a.word, a.n, b.n AS m FROM c a JOIN c b USING (n)) x',
    '* FROM (WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT r.n + 1 FROM r JOIN %t t ON t.id = r.n WHERE n < 30) SELECT * FROM r) x',
    'id, (SELECT count(*) FROM %t b WHERE b.i4 = a.id) FROM %t a WHERE id < 15', 'id, (SELECT max(word) FROM %t) FROM %t WHERE id < 15',
    'id FROM %t WHERE id = (SELECT max(i4) FROM %t WHERE i4 < 100)', 'id FROM %t a WHERE i4 > (SELECT avg(i4) FROM %t b WHERE b.word = a.word) AND id < 25',
    'a.id, l.s FROM six_h a, LATERAL (SELECT sum(id) AS s FROM %t b WHERE b.id <= a.id * 100) l', 'a.id, l.w FROM six_h a LEFT JOIN LATERAL (SELECT word AS w FROM %t b WHERE b.id = a.id ORDER BY id LIMIT 1) l ON true',
    'x.a FROM (SELECT sum(id) AS a, random() AS r FROM %t) x', 'count(*) FROM (SELECT id FROM %t WHERE random() >= 0) x',
    'generate_series(1, 2), id FROM %t WHERE id < 4', 'unnest(ARRAY[id, i4]) FROM %t WHERE id < 4']) query;
-- Row groups and pages without a key of a join's build side are not read.
SELECT * FROM explained('SELECT count(*), sum(v) FROM sorted_p s JOIN six_p x ON s.k = x.id');
SELECT * FROM explained('SELECT count(*), sum(v) FROM sorted_p s JOIN (VALUES (50000::bigint), (50001), (99000)) x (k) USING (k)');
SELECT * FROM explained('SELECT count(*) FROM texts_p t JOIN (VALUES (''A''), (''a%'')) v (t) USING (t)') line WHERE line ~ 'Scan';
SELECT same(format(query, keys), 'sorted')
FROM unnest(ARRAY[
    'SELECT count(*), sum(v) FROM %%t s JOIN %s x (k) USING (k)',
    'SELECT count(*), sum(v) FROM %%t s LEFT JOIN %s x (k) USING (k)',
    'SELECT count(*), sum(v), count(s.k) FROM %%t s RIGHT JOIN %s x (k) USING (k)',
    'SELECT count(*), sum(v), count(s.k) FROM %%t s FULL JOIN %s x (k) USING (k)',
    'SELECT count(*), sum(v) FROM %%t s WHERE k IN (SELECT k FROM %s x (k))',
    'SELECT count(*), sum(v) FROM %%t s WHERE NOT EXISTS (SELECT FROM %s x (k) WHERE x.k = s.k)',
    'SELECT count(*) FROM (SELECT k FROM %%t LIMIT 10) s JOIN %s x (k) ON s.k = x.k + 20000',
    'SELECT count(*) FROM (SELECT k, 100 / (v - 7) AS q FROM %%t OFFSET 0) s JOIN %s x (k) USING (k) WHERE q IS NOT NULL']) query,
    unnest(ARRAY[
    '(VALUES (50000::bigint), (NULL), (49999), (-9223372036854775807))',
    '(SELECT g::bigint FROM generate_series(0, 60000, 999) g)',
    '(SELECT g::bigint * 1000000000 FROM generate_series(0, 5000) g)',
    '(SELECT g::bigint FROM generate_series(20000, 26000) g)',
    '(SELECT g::bigint FROM generate_series(1, 0) g)']) keys;
