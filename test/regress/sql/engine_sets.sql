-- Grouping sets, common table expressions, set operations, cross joins, one-time filters.
SET max_parallel_workers_per_gather = 0;
SELECT same('SELECT ' || query) AS result, query
FROM unnest(ARRAY[
    'word, b, count(*), sum(id), max(txt COLLATE "C"), avg(i4) FROM %t GROUP BY ROLLUP (word, b)',
    'word, b, grouping(word, b), grouping(b), count(*) FROM %t GROUP BY CUBE (word, b)',
    'word, b, i2 % 3 AS m, count(*), sum(d18) FROM %t GROUP BY GROUPING SETS ((word, b), (b, i2 % 3), (i2 % 3), (), ())',
    'word, b, i2 % 3 AS m, sum(d18) FILTER (WHERE abs(f8) < 1), count(DISTINCT i2 % 5), grouping(word, i2 % 3) FROM %t WHERE id < 900 GROUP BY word, ROLLUP (b, i2 % 3)',
    'word, count(*) FROM %t WHERE id < 0 GROUP BY GROUPING SETS ((word), ())', 'word, count(*) FROM %t WHERE id < 0 GROUP BY ROLLUP (word)',
    'count(*), sum(id) FROM %t GROUP BY GROUPING SETS ((), ())', 'sum(id) FROM %t WHERE id < 0 GROUP BY ()',
    'word, b, sum(id) FROM %t GROUP BY CUBE (word, b) HAVING grouping(word) = 0 AND sum(id) > 1000',
    'coalesce(word, ''all''), sum(id) + grouping(word) FROM %t GROUP BY ROLLUP (word)',
    'nul, f8 IS NULL AS g, count(*) FROM %t GROUP BY ROLLUP (nul, f8 IS NULL)',
    'd9, f4, dt, count(*) FROM %t WHERE id < 300 GROUP BY GROUPING SETS ((d9), (f4), (dt), (d9, dt))',
    'a.word, c.b, count(*), sum(c.id) FROM %t a JOIN %t c ON c.id = a.id + 1 GROUP BY CUBE (a.word, c.b)',
    'x.w, sum(x.n) FROM (SELECT word AS w, count(*) AS n FROM %t GROUP BY CUBE (word, b)) x GROUP BY x.w',
    'word, sum(id), rank() OVER (PARTITION BY grouping(word) ORDER BY sum(id)) FROM %t GROUP BY ROLLUP (word)',
    'word, sum(10 / (id - 3)) FROM %t WHERE id < 5 GROUP BY ROLLUP (word)']) query;
SELECT same('SELECT array_agg(x) FROM (SELECT word, b, count(*) FROM %t GROUP BY CUBE (word, b) ORDER BY word COLLATE "C", b, grouping(word, b)) x');
SELECT same('SELECT f8, f4, count(*) FROM %t GROUP BY CUBE (f8, f4)', 'floats');
SELECT same('SELECT * FROM (WITH ' || query || ') x') AS result, query
FROM unnest(ARRAY[
    'c AS MATERIALIZED (SELECT word, count(*) AS n FROM %t GROUP BY word) SELECT a.word, a.n, b.n AS m FROM c a JOIN c b USING (n)',
    'c AS MATERIALIZED (SELECT * FROM %t WHERE id < 500) SELECT a.id, b.txt, a.arr FROM c a JOIN c b ON a.id = b.i2',
    'c AS MATERIALIZED (SELECT id, word FROM %t) SELECT word, count(*) FROM c WHERE id > (SELECT avg(id) FROM c) GROUP BY word',
    'c AS (SELECT word, sum(id) AS s FROM %t GROUP BY word) SELECT * FROM c WHERE s = (SELECT max(s) FROM c)',
    'c AS (SELECT id, word FROM %t WHERE b), d AS (SELECT word, count(*) AS n FROM c GROUP BY word) SELECT c.id, d.n FROM c JOIN d USING (word) UNION ALL SELECT NULL, n FROM d',
    'c AS MATERIALIZED (SELECT id FROM %t ORDER BY id DESC LIMIT 50) SELECT * FROM c', 'c AS MATERIALIZED (SELECT id FROM %t) SELECT * FROM c WHERE id < 5',
    'c AS MATERIALIZED (SELECT id, i4 FROM %t) SELECT id, (SELECT count(*) FROM c d WHERE d.id = c.id + 1), id IN (SELECT i4 FROM c) FROM c WHERE id < 50',
    'RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT r.n + 1 FROM r JOIN %t t ON t.id = r.n WHERE n < 30) SELECT * FROM r',
    'c AS MATERIALIZED (SELECT id FROM six_h) SELECT t.id, t.word FROM %t t JOIN c USING (id)',
    'c AS MATERIALIZED (SELECT sum(10 / (id - 3)) AS s FROM %t WHERE id < 5) SELECT 1 FROM c', 'c AS MATERIALIZED (SELECT id, random() AS r FROM %t) SELECT count(*) FROM c a JOIN c b USING (id, r)']) query;
SELECT same('SELECT ' || query) AS result, query
FROM unnest(ARRAY[
    'word FROM %t WHERE id < 100 INTERSECT SELECT word FROM %t WHERE id BETWEEN 50 AND 60', 'word FROM %t WHERE id < 100 INTERSECT ALL SELECT word FROM %t WHERE id BETWEEN 50 AND 60',
    'word, b FROM %t WHERE id < 300 EXCEPT SELECT word, b FROM %t WHERE id BETWEEN 50 AND 60', 'word, b FROM %t WHERE id < 300 EXCEPT ALL SELECT word, b FROM %t WHERE id BETWEEN 50 AND 60',
    'id % 5, nul FROM %t WHERE id < 30 EXCEPT ALL SELECT i2 % 3, nul FROM %t WHERE id < 30', 'nul FROM %t WHERE id < 30 INTERSECT ALL SELECT nul FROM %t WHERE id < 7',
    'd9 FROM %t WHERE id < 300 INTERSECT SELECT d9 FROM %t WHERE id > 200', 'id FROM %t WHERE id < 50 EXCEPT SELECT i4 FROM %t WHERE id < 0', 'id FROM %t WHERE id < 0 EXCEPT ALL SELECT i4 FROM %t',
    'word FROM %t UNION SELECT txt FROM %t WHERE id < 20', 'id % 10 FROM %t UNION ALL SELECT id % 10 FROM %t INTERSECT SELECT i2 % 10 FROM %t',
    'word, count(*) FROM (SELECT word FROM %t INTERSECT ALL SELECT word FROM %t WHERE id < 3000) x GROUP BY word',
    'count(*) FROM %t a, %t b WHERE a.id < 60 AND b.id < 3000', 'a.id, b.id FROM %t a, %t b WHERE a.id < 20 AND b.id < 2000 AND a.i2 < b.i2 AND b.b', 'a.id, b.id FROM %t a LEFT JOIN %t b ON a.i2 > b.i2 AND b.id < 30 WHERE a.id < 300',
    'a.id FROM %t a WHERE a.id < 300 AND EXISTS (SELECT FROM %t b WHERE b.id < 30 AND b.i2 > a.i2)', 'a.id FROM %t a WHERE a.id < 300 AND NOT EXISTS (SELECT FROM %t b WHERE b.id < 30 AND b.i2 > a.i2)',
    'v.x, t.word FROM (VALUES (1, ''a''), (5, NULL), (NULL, ''c''), (5, ''d'')) v(x, y) LEFT JOIN %t t ON t.id = v.x', 'count(*) FROM %t t JOIN (VALUES (1), (2), (2)) v(x) ON t.id % 3 = v.x',
    't.id, r.n FROM %t t, (SELECT 7 AS n OFFSET 0) r WHERE t.id < 4', 'id FROM %t WHERE id < 40 AND current_setting(''work_mem'') <> ''''', 'id FROM %t WHERE id < 40 AND current_setting(''work_mem'') = ''''',
    'sum(id) FROM %t WHERE (SELECT count(*) FROM six_h) > 100', 'sum(id), count(*) FROM %t WHERE (SELECT count(*) FROM six_h) = 6']) query;
-- A set operation that sorts gives PostgreSQL the order that the query asks for.
SET enable_hashagg = off;
SELECT same('SELECT array_agg(c) FROM (SELECT ' || query || ' ORDER BY 1 LIMIT 20) x') AS result, query FROM unnest(ARRAY[
    'i4 AS c FROM %t EXCEPT SELECT id FROM %t', 'i4 AS c FROM %t EXCEPT ALL SELECT id FROM %t', 'i2 % 90 AS c FROM %t INTERSECT SELECT id FROM %t',
    'i2 % 90 AS c FROM %t INTERSECT ALL SELECT id % 80 FROM %t']) query;
RESET enable_hashagg;
EXPLAIN (COSTS OFF) SELECT word, b, grouping(b), count(*) FROM all_types_p GROUP BY ROLLUP (word, b);
EXPLAIN (COSTS OFF) WITH c AS MATERIALIZED (SELECT word, count(*) AS n FROM all_types_p GROUP BY word) SELECT a.word FROM c a JOIN c b USING (n);
EXPLAIN (COSTS OFF) SELECT id FROM all_types_p WHERE id < 50 EXCEPT SELECT i4 FROM all_types_p;
EXPLAIN (COSTS OFF) SELECT id FROM all_types_p WHERE id < 50 INTERSECT ALL SELECT i4 FROM all_types_p;
EXPLAIN (COSTS OFF) SELECT count(*) FROM all_types_p a JOIN six_p b ON a.id > b.id;
EXPLAIN (COSTS OFF) SELECT t.id, v.x FROM all_types_p t JOIN (VALUES (1), (2)) v(x) ON t.id = v.x;
EXPLAIN (COSTS OFF) SELECT sum(id) FROM all_types_p WHERE current_setting('work_mem') <> '';
RESET max_parallel_workers_per_gather;
