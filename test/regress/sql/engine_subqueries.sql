-- Subqueries in expressions, which the engine joins instead of running them once a row.
SET max_parallel_workers_per_gather = 0;
-- As same() of setup.sql, by the engine alone: foreign scans would take these queries too long. Says
-- whether the engine runs the whole query.
CREATE FUNCTION same_engine(query text, base text DEFAULT 'all_types') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    expected text := answer(query, base || '_h');
    got text;
    kind text;
    line text;
    whole boolean := true;
    first boolean := true;
BEGIN
    FOREACH kind IN ARRAY ARRAY['p', 'a'] LOOP
        got := answer(query, base || '_' || kind);
        IF got <> expected THEN RETURN format('[%s] %s instead of %s', kind, got, expected); END IF;
    END LOOP;
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || replace(query, '%t', base || '_p') LOOP
        whole := whole AND CASE WHEN first THEN line ~ 'LoomScan' ELSE line !~ '->' OR line ~ 'InitPlan' END;
        first := false;
    END LOOP;
    RETURN CASE WHEN whole THEN 'same: ' ELSE 'same, in part: ' END || regexp_replace(expected, ' rows.*', ' rows');
END $$;
-- A query in a group key that a condition on groups repeats: PostgreSQL runs it twice.
SELECT split_part(same('SELECT c1, n FROM (SELECT least((SELECT max(id) FROM %t) % 7, id) AS c1, b AS c2, count(*) AS n
    FROM %t GROUP BY 1, 2) x WHERE CASE WHEN n < 0 THEN c2 ELSE c1 > 2 END'), ':', 1) AS result;
-- Scalars with aggregates.
SELECT same_engine('SELECT ' || query) AS result, query
FROM unnest(ARRAY[
    'id, (SELECT count(*) FROM %t b WHERE b.id % 150 = a.id) FROM %t a WHERE id < 40',
    'id, (SELECT count(b.word) FROM %t b WHERE b.id % 150 = a.id) AS n FROM %t a WHERE id < 40',
    'id, (SELECT sum(b.id) FROM %t b WHERE b.word = a.word) FROM %t a WHERE id < 40',
    'id, (SELECT sum(b.id) FROM %t b WHERE b.i4 = a.i8) FROM %t a WHERE id < 40',
    'id, (SELECT sum(b.id) FROM %t b WHERE b.i8 = a.i2) FROM %t a WHERE id < 40',
    'id, (SELECT coalesce(sum(b.id), -1) + count(*) FROM %t b WHERE b.id % 150 = a.id) FROM %t a WHERE id < 40',
    'id, (SELECT max(b.txt) || ''!'' FROM %t b WHERE b.word = a.word AND b.id < 50) FROM %t a WHERE id < 40',
    'id, (SELECT max(b.id) FROM %t b WHERE b.word = a.word AND b.b = a.b) FROM %t a WHERE id < 40',
    'id, (SELECT sum(b.id) FROM %t b WHERE b.id % 7 = a.id % 11) FROM %t a WHERE id < 30',
    'id, (SELECT sum(b.d18) FROM %t b WHERE b.d9 = a.d9) FROM %t a WHERE id < 40',
    'id, (SELECT min(b.f8) FROM %t b WHERE b.f4 = a.f4) FROM %t a WHERE id < 40',
    'id, (SELECT min(b.id) FROM %t b WHERE b.dt = a.dt AND b.id > 20) FROM %t a WHERE id < 40',
    'id, (SELECT count(*) FROM %t b WHERE b.uid = a.uid) FROM %t a WHERE id < 40',
    'id, (SELECT count(*) FROM %t b WHERE b.id % 150 = a.id HAVING count(*) > 1) FROM %t a WHERE id < 40',
    'id, (SELECT count(*) FROM %t b WHERE b.id % 150 = a.id HAVING count(*) = 0) FROM %t a WHERE id < 40',
    'id FROM %t a WHERE i4 > (SELECT sum(i4) FROM %t b WHERE b.word = a.word AND b.id < 100) AND id < 40',
    'id FROM (SELECT *, id % 20 AS m FROM %t WHERE id < 40 OFFSET 0) a WHERE d18 > (SELECT 0.5 * sum(d18) FROM %t b WHERE b.id = a.m)',
    'id FROM (SELECT * FROM %t WHERE id < 50) a WHERE 2 < (SELECT count(*) FROM %t b WHERE b.id % 150 = a.id) OR id < 5',
    'id FROM (SELECT * FROM %t WHERE id < 50) a WHERE (SELECT count(*) FROM %t b WHERE b.id % 150 = a.id) = 0 AND (SELECT max(b.id) FROM %t b WHERE b.id % 77 = a.id) IS NULL',
    'id, CASE WHEN id < 10 THEN (SELECT count(*) FROM %t b WHERE b.id % 150 = a.id) ELSE -1 END FROM %t a WHERE id < 50',
    'id, (SELECT count(DISTINCT b.word) FROM %t b WHERE b.id % 150 = a.id) FROM %t a WHERE id < 40',
    'id, (SELECT count(*) FROM %t b JOIN %t c ON b.id = c.i4 WHERE b.id % 150 = a.id AND c.word > ''a'') FROM %t a WHERE id < 40',
    'id, (SELECT count(*) FROM %t b JOIN %t c ON b.i4 = c.i4 WHERE b.id % 150 = a.id) FROM %t a WHERE id < 20',
    'id, (SELECT count(*) FROM %t b LEFT JOIN %t c ON b.id = c.i4 AND c.id < 500 WHERE b.id % 150 = a.id) FROM %t a WHERE id < 40',
    'id, (SELECT count(*) FROM %t b WHERE b.id % 150 = a.id AND EXISTS (SELECT FROM %t c WHERE c.i2 = b.id)) FROM %t a WHERE id < 40',
    'id, (SELECT sum(x.n) FROM (SELECT b.i4, count(*) AS n FROM %t b GROUP BY b.i4) x WHERE x.i4 = a.id) FROM %t a WHERE id < 40',
    'id, (SELECT count(*) FROM (SELECT DISTINCT b.word, b.b FROM %t b WHERE b.id % 150 = a.id) x) FROM %t a WHERE id < 40',
    'word, sum((SELECT count(*) FROM %t b WHERE b.id % 150 = a.id)) FROM (SELECT * FROM %t WHERE id < 50) a GROUP BY word',
    'word, (SELECT count(*) FROM %t b WHERE b.id = max(a.i4)) FROM (SELECT * FROM %t WHERE id < 50) a GROUP BY word',
    'word FROM (SELECT * FROM %t WHERE id < 50) a GROUP BY word HAVING (SELECT count(*) FROM %t b WHERE b.id = min(a.i4)) > 0',
    'a.id, c.id FROM %t a JOIN %t c ON a.id = c.id AND c.i4 > (SELECT min(b.i4) FROM %t b WHERE b.word = a.word) WHERE a.id < 40',
    'a.id FROM %t a JOIN %t c ON c.id = (SELECT max(b.i4) FROM %t b WHERE b.word = a.word) WHERE a.id < 40',
    'id, (SELECT count(*) FROM %t b WHERE b.id % 150 = a.id AND b.id > (SELECT avg(c.id) FROM %t c)) FROM %t a WHERE id < 40',
    'id, (SELECT count(*) FROM %t b WHERE b.id % 150 = a.id AND b.i2 = (SELECT max(c.i2) FROM %t c WHERE c.id = b.id)) FROM %t a WHERE id < 3',
    'id, (SELECT count(*) FROM %t b WHERE b.id % 150 = a.id AND b.i2 = (SELECT max(c.i2) FROM %t c WHERE c.id = a.id)) FROM %t a WHERE id < 40',
    'id, (SELECT count(*) FROM %t b WHERE b.id < a.id) FROM %t a WHERE id < 30',
    'id, (SELECT sum(b.id * a.id) FROM %t b WHERE b.id % 150 = a.id) FROM %t a WHERE id < 30',
    'id, (SELECT avg(b.id) FROM %t b WHERE b.id % 150 = a.id) FROM %t a WHERE id < 40',
    'id, (SELECT avg(b.f8) FROM %t b WHERE b.id % 150 = a.id) FROM %t a WHERE id < 40',
    'id, (SELECT count(*) FROM %t b WHERE b.id = 1 / (a.id - 3)) FROM %t a WHERE id < 30 AND id <> 3',
    'id, (SELECT count(*) FROM six_h b WHERE b.id = a.m) FROM (SELECT *, id % 20 AS m FROM %t WHERE id < 40 OFFSET 0) a WHERE id < 40',
    'id, (SELECT count(*) FROM %t b WHERE b.id % 150 = a.id) FROM six_h a']) query;
-- Scalars without aggregates: one row at most, or an error.
SELECT same_engine('SELECT ' || query) AS result, query
FROM unnest(ARRAY[
    'id, (SELECT b.word FROM %t b WHERE b.id = a.m) FROM (SELECT *, id % 20 AS m FROM %t WHERE id < 40 OFFSET 0) a WHERE id < 40',
    'id, (SELECT b.d18 + 1 FROM %t b WHERE b.id = a.m AND b.id > 100) FROM (SELECT *, id % 20 AS m FROM %t WHERE id < 40 OFFSET 0) a WHERE id < 40',
    'id, (SELECT b.id FROM %t b WHERE b.id % 150 = a.id) FROM %t a WHERE id < 40',
    'id, (SELECT b.id FROM %t b WHERE b.id % 150 = a.id AND b.id < 0) FROM %t a WHERE id < 40',
    'id FROM (SELECT *, id % 20 AS m FROM %t WHERE id < 40 OFFSET 0) a WHERE (SELECT b.b FROM %t b WHERE b.id = a.m)',
    'id, (SELECT b.id FROM %t b WHERE b.id = a.m AND b.id > a.id) FROM (SELECT *, id % 20 AS m FROM %t WHERE id < 40 OFFSET 0) a WHERE id < 40',
    'id, (SELECT b.id FROM %t b WHERE b.id = a.m ORDER BY b.id LIMIT 1) FROM (SELECT *, id % 20 AS m FROM %t WHERE id < 40 OFFSET 0) a WHERE id < 40']) query;
-- EXISTS and IN that are part of something.
SELECT same_engine('SELECT ' || query) AS result, query
FROM unnest(ARRAY[
    'id FROM (SELECT * FROM %t WHERE id < 50) a WHERE id < 20 OR EXISTS (SELECT FROM %t b WHERE b.id % 150 = a.id)',
    'id, EXISTS (SELECT FROM %t b WHERE b.id % 150 = a.id), NOT EXISTS (SELECT FROM %t b WHERE b.i2 = a.i4) FROM %t a WHERE id < 40',
    'id, EXISTS (SELECT FROM %t b WHERE b.id % 150 = a.id AND b.id > a.i2) FROM %t a WHERE id < 40',
    'id, EXISTS (SELECT FROM %t b WHERE b.word = a.word AND b.id = a.id + 1) FROM %t a WHERE id < 40',
    'id FROM %t a WHERE EXISTS (SELECT FROM %t b WHERE b.id % 150 = a.id) = b AND id < 40',
    'id FROM %t a WHERE (EXISTS (SELECT FROM %t b WHERE b.id % 150 = a.id) OR EXISTS (SELECT FROM %t b WHERE b.id % 77 = a.id)) AND id < 40',
    'id, id % 100 IN (SELECT id % 300 FROM %t b WHERE b.id < 40), i2 % 100 NOT IN (SELECT i2 % 300 FROM %t b WHERE b.id < 40) FROM %t a WHERE id < 40',
    'id, id % 100 IN (SELECT id % 300 FROM %t b WHERE b.id < 40 AND i4 IS NOT NULL) FROM %t a WHERE id < 40',
    'id, id % 100 IN (SELECT id % 300 FROM %t b WHERE b.id < 0), nul IN (SELECT nul FROM %t b WHERE id < 0) FROM %t a WHERE id < 40',
    'id, i2 % 100 NOT IN (SELECT i2 % 300 FROM %t b WHERE b.id < 0) FROM %t a WHERE id < 40',
    'id, id % 100 IN (SELECT id % 300 FROM %t b WHERE i4 IS NULL) FROM %t a WHERE id < 40',
    'id, i4 IN (SELECT i8 FROM %t b), i8 IN (SELECT i2 FROM %t b WHERE id < 500) FROM %t a WHERE id < 40',
    'id, word IN (SELECT txt FROM %t b), txt IN (SELECT word FROM %t b WHERE word IS NOT NULL) FROM %t a WHERE id < 40',
    'id, d9 IN (SELECT d9 FROM %t b WHERE id > 700), f8 IN (SELECT f8 FROM %t b WHERE id > 500) FROM %t a WHERE id < 40',
    'id FROM (SELECT * FROM %t WHERE id < 50) a WHERE i2 % 100 NOT IN (SELECT i2 % 300 FROM %t b WHERE b.id < 40)',
    'id FROM %t a WHERE i2 % 100 NOT IN (SELECT i2 % 300 FROM %t b WHERE b.id < 40 AND i4 IS NOT NULL) AND id < 40',
    'id FROM %t a WHERE i2 % 100 NOT IN (SELECT i2 % 300 FROM %t b WHERE b.id < 0) AND id < 40',
    'id FROM %t a WHERE (id % 100 IN (SELECT id % 300 FROM %t b WHERE b.id < 40) OR id < 7) AND id < 40',
    'id FROM %t a WHERE (id % 100 IN (SELECT id % 300 FROM %t b WHERE b.id < 40)) IS NULL AND id < 40',
    'id FROM (SELECT * FROM %t WHERE id < 50) a WHERE (i4, i2) IN (SELECT i4, i2 FROM %t b WHERE b.id < 40) OR id < 7',
    'id, (i4, i2) IN (SELECT i4, i2 FROM %t b WHERE b.id < 40) FROM %t a WHERE id < 40',
    'id, id % 100 IN (SELECT id % 300 FROM %t b WHERE b.word = a.word) FROM %t a WHERE id < 40',
    'id FROM (SELECT * FROM %t WHERE id < 50) a WHERE id % 100 IN (SELECT id % 300 FROM %t b WHERE b.word = a.word AND b.id < 60) OR id < 7',
    'id, i4 > ANY (SELECT i4 FROM %t b WHERE b.id < 40), i4 <> ALL (SELECT i4 FROM %t b WHERE b.id < 20) FROM %t a WHERE id < 40',
    'count(*) FILTER (WHERE i4 IN (SELECT i2 FROM %t b WHERE b.id < 300)), sum(CASE WHEN EXISTS (SELECT FROM %t b WHERE b.id % 150 = a.id) THEN id END) FROM (SELECT * FROM %t WHERE id < 50) a',
    'id, i4 IN (SELECT id FROM six_h) FROM %t a WHERE id < 40',
    'id, ARRAY(SELECT b.id FROM %t b WHERE b.id % 150 = a.id ORDER BY 1) FROM %t a WHERE id < 30',
    'l.id, l.n FROM (SELECT a.id, (SELECT count(*) FROM %t b WHERE b.id % 150 = a.id) AS n FROM (SELECT * FROM %t WHERE id < 50) a WHERE id < 40) l WHERE l.n > 0']) query;
-- NOT IN over several columns, and among rows that depend on the outer row: what is unknown.
CREATE VIEW few_p AS SELECT id, nullif(i2 % 4, 0) AS x, nullif(i4 % 3, 0) AS y, word, id % 5 AS k FROM all_types_p;
CREATE VIEW few_a AS SELECT id, nullif(i2 % 4, 0) AS x, nullif(i4 % 3, 0) AS y, word, id % 5 AS k FROM all_types_a;
CREATE VIEW few_h AS SELECT id, nullif(i2 % 4, 0) AS x, nullif(i4 % 3, 0) AS y, word, id % 5 AS k FROM all_types_h;
SELECT same_engine(format('SELECT id, %s FROM %%t a WHERE id < 60', test), 'few') AS value,
       same_engine(format('SELECT id FROM %%t a WHERE %s AND id < 60', test), 'few') AS condition, test
FROM unnest(ARRAY[
    '(x, y) NOT IN (SELECT x, y FROM %t b WHERE id BETWEEN 30 AND 33)', '(x, y) NOT IN (SELECT x, y FROM %t b WHERE id < 0)',
    '(x, y) NOT IN (SELECT x, y FROM %t b WHERE id BETWEEN 30 AND 40 AND x IS NOT NULL AND y IS NOT NULL)',
    '(x, y) NOT IN (SELECT x, y FROM %t b WHERE x IS NULL AND y = 1)', '(x, y) NOT IN (SELECT x, y FROM %t b WHERE x IS NULL AND y IS NULL AND id < 40)',
    '(x, word) NOT IN (SELECT x, word FROM %t b WHERE id BETWEEN 30 AND 60)', '(x, y::bigint) NOT IN (SELECT x, y FROM %t b WHERE id BETWEEN 30 AND 33)',
    '(x, y, k) NOT IN (SELECT x, y, k FROM %t b WHERE id BETWEEN 30 AND 40)', '(x, y) NOT IN (SELECT x, count(*) FROM %t b WHERE id < 40 GROUP BY x)',
    '(x, y) NOT IN (SELECT x, y FROM %t b WHERE b.k = a.k AND id BETWEEN 30 AND 45)', '(x, y) NOT IN (SELECT x, y FROM %t b WHERE b.k < a.k AND id BETWEEN 30 AND 33)',
    'x NOT IN (SELECT x FROM %t b WHERE b.k = a.k AND id BETWEEN 30 AND 40)', 'x NOT IN (SELECT x FROM %t b WHERE b.k = a.k AND b.y < a.y AND id BETWEEN 30 AND 60)',
    'x NOT IN (SELECT x FROM %t b WHERE b.k < a.k AND id BETWEEN 30 AND 33)',
    '((x, y) NOT IN (SELECT x, y FROM %t b WHERE id BETWEEN 30 AND 33)) IS NULL']) test;
EXPLAIN (COSTS OFF) SELECT id FROM few_p a WHERE (x, word) NOT IN (SELECT x, word FROM few_p b WHERE id < 40);
EXPLAIN (COSTS OFF) SELECT id FROM all_types_p a WHERE i4 NOT IN (SELECT i4 FROM all_types_p b WHERE b.word = a.word);
DROP VIEW few_p, few_a, few_h;
-- Rows of a nested loop that are found by equality.
SELECT same_engine('SELECT ' || query) AS result, query
FROM unnest(ARRAY[
    'a.id, l.id FROM %t a, LATERAL (SELECT b.id, b.i4 + a.id AS s FROM %t b WHERE b.id % 150 = a.id) l WHERE a.id < 40',
    'a.id, l.n FROM %t a, LATERAL (SELECT b.word, count(*) AS n FROM %t b WHERE b.id % 150 = a.id GROUP BY b.word) l WHERE a.id < 40',
    'a.id, l.n FROM %t a LEFT JOIN LATERAL (SELECT b.word, count(*) AS n FROM %t b WHERE b.id % 150 = a.id GROUP BY b.word) l ON true WHERE a.id < 40',
    'a.id, l.w FROM %t a, LATERAL (SELECT DISTINCT b.word AS w FROM %t b WHERE b.id % 150 = a.id AND b.id > a.id) l WHERE a.id < 40']) query;
-- The numbers around a batch, one row, none.
SELECT same_engine(format('SELECT id, (SELECT count(*) FROM %%t b WHERE b.id < 20 AND b.id = a.id), i2 IN (SELECT i2 FROM %%t b WHERE b.id < %1$s) FROM %%t a WHERE id < %1$s', n))
FROM unnest(ARRAY[0, 1, 2, 255, 1023, 1024, 1025]) n;
-- A group that PostgreSQL never asks for may fail: its plan answers.
SELECT same('SELECT id, (SELECT sum(10 / (b.id - 3)) FROM %t b WHERE b.id = a.id) FROM %t a WHERE id <> 3', 'six');
SELECT same('SELECT id, (SELECT sum(10 / (b.id - 3)) FROM %t b WHERE b.id = a.id) FROM %t a', 'six');
SELECT same('SELECT id, CASE WHEN id > 3 THEN (SELECT max(10 / (b.id - 3)) FROM %t b WHERE b.id = a.id) END FROM %t a', 'six');
SELECT same('SELECT id, 10 / (SELECT count(*) FROM %t b WHERE b.id = a.id + 1) FROM %t a WHERE id < 5', 'six');
SELECT same('SELECT id, 10 / (SELECT count(*) FROM %t b WHERE b.id = a.id + 1) FROM %t a', 'six');
SELECT * FROM explained('SELECT id, (SELECT sum(10 / (b.id - 3)) FROM six_p b WHERE b.id = a.id) FROM six_p a WHERE id <> 3') line WHERE line ~ 'Fallback|LoomScan|left join';
-- Off, parameters, and plans that are kept.
EXPLAIN (COSTS OFF) SELECT id, (SELECT count(*) FROM six_p b WHERE b.id = a.id + 1) FROM six_p a WHERE id > 2;
EXPLAIN (COSTS OFF) SELECT id FROM six_p a WHERE id IN (SELECT id FROM six_p) OR EXISTS (SELECT FROM six_p b WHERE b.id = a.id AND b.id > 3);
SET plan_cache_mode = force_generic_plan;
PREPARE q(int) AS SELECT id, (SELECT count(*) FROM six_p b WHERE b.id = a.id + $1) FROM six_p a WHERE id > $1 ORDER BY id;
EXECUTE q(1);
EXECUTE q(NULL);
SET pg_loom.enabled = off;
EXECUTE q(1);
RESET pg_loom.enabled;
DEALLOCATE q;
RESET plan_cache_mode;
DROP FUNCTION same_engine(text, text);
RESET max_parallel_workers_per_gather;
-- A subquery that is computed once, but for each row of the outer side of a nested loop.
SELECT same('SELECT a.id AS a, x.id FROM six_h a, LATERAL (SELECT b.id FROM %t b WHERE EXISTS (SELECT FROM six_p c WHERE c.id > 1 AND a.id > 3) ORDER BY b.id LIMIT 2) x');
SELECT same('SELECT a.id AS a, x.* FROM six_h a, LATERAL (SELECT b.id, (SELECT max(c.id + a.id) FROM six_p c) AS m FROM %t b ORDER BY b.id LIMIT 2) x');
SELECT same('SELECT a.id AS a, x.* FROM six_h a LEFT JOIN LATERAL (SELECT b.id FROM %t b WHERE b.word > (SELECT min(c.word) FROM %t c WHERE c.id = a.id) ORDER BY b.id OFFSET 3 LIMIT 4) x ON true');
-- Few rows beside many: semi and anti joins that build the other side, and distinct values that nobody needs.
SELECT query, same('SELECT ' || query) FROM unnest(ARRAY[
    'id, word FROM %t a WHERE id < 40 AND EXISTS (SELECT FROM %t b WHERE b.i2 = a.i2)', 'id, word FROM %t a WHERE id < 40 AND NOT EXISTS (SELECT FROM %t b WHERE b.i2 = a.i2 AND b.id > 100)',
    'id, nul FROM %t a WHERE id < 60 AND NOT EXISTS (SELECT FROM %t b WHERE b.nul = a.nul)', 'count(*), sum(i4::bigint) FROM %t a WHERE id BETWEEN 5 AND 25 AND word IN (SELECT word FROM %t)',
    'id, i8 FROM %t a WHERE id < 30 AND (i4, b) IN (SELECT i4, b FROM %t b WHERE b.id % 3 = 0)', 'id FROM %t a WHERE i2 < 0 AND id < 90 AND d9 IN (SELECT d9 FROM %t b WHERE 10 / (b.id + 1) < 100)',
    'a.id, a.word, d.k FROM %t a JOIN (SELECT DISTINCT i2 % 50 AS k, word AS w FROM %t) d ON d.k = a.id AND d.w = a.word WHERE a.id < 50', 'a.id, a.word FROM %t a JOIN (SELECT DISTINCT i2 % 50 AS k, word AS w FROM %t) d ON d.k = a.id AND d.w = a.word WHERE a.id < 50',
    'a.id FROM %t a JOIN (SELECT DISTINCT i2 % 50 AS k FROM %t) d ON d.k = a.id AND d.k < a.i4 WHERE a.id < 50', 'count(*) FROM %t a JOIN (SELECT DISTINCT i2 % 50 AS k, b FROM %t) d ON d.k = a.id WHERE a.id < 50']) query;
