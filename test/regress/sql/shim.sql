-- pg_loom.shim: rows of ordinary tables through the engine. What PostgreSQL's own tests (scripts/pg-suite)
-- found stands here.
CREATE SCHEMA shim;
SET search_path = shim;

-- Only superusers may turn it on.
CREATE ROLE loom_shim_user;
SET ROLE loom_shim_user;
SET pg_loom.shim = on;
RESET ROLE;
DROP ROLE loom_shim_user;
SET pg_loom.shim = on;

CREATE TABLE t AS SELECT n, n % 3 AS g, n::numeric / 4 AS d, 'row ' || n AS s FROM generate_series(1, 9) n;
EXPLAIN (COSTS OFF) SELECT g, count(*), sum(d) FROM t WHERE s <> 'row 4' GROUP BY g ORDER BY g;
SELECT g, count(*), sum(d) FROM t WHERE s <> 'row 4' GROUP BY g ORDER BY g;
SELECT count(*) FROM t, generate_series(1, 3) x, (VALUES (1), (2)) AS v(y) WHERE x < n AND y = x;

-- A semijoin whose rows are made unique by an expression of what is selected.
CREATE TABLE numbers (x numeric);
INSERT INTO numbers VALUES (1), (1.000000000000000000001), (2), (3);
CREATE TABLE floats (y float8);
INSERT INTO floats VALUES (1), (2), (3);
SELECT * FROM floats WHERE y IN (SELECT x FROM numbers) ORDER BY y;

-- The rows of a rollup are in the order of its keys, and PostgreSQL does not sort them again.
SELECT g, n % 2 AS odd, count(*) FROM t GROUP BY ROLLUP (g, n % 2) ORDER BY g, odd;
SELECT g, count(*) FROM t GROUP BY ROLLUP (g) ORDER BY g DESC NULLS LAST LIMIT 2;

-- Text that is no UTF-8 is left to PostgreSQL. Whether it finds fault depends on its minor version.
CREATE FUNCTION answer(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    result text;
BEGIN
    EXECUTE query INTO result;
    RETURN result;
EXCEPTION WHEN OTHERS THEN
    RETURN SQLERRM;
END $$;
CREATE CAST (bytea AS text) WITHOUT FUNCTION;
CREATE TABLE texts AS SELECT '\xc3'::bytea::text AS truncated, '\x6100'::bytea::text AS with_nul;
SELECT answer('SELECT length(truncated) FROM texts') AS shimmed \gset
SET pg_loom.shim = off;
SELECT answer('SELECT length(truncated) FROM texts') = :'shimmed' AS same;
SET pg_loom.shim = on;
SELECT length(with_nul) FROM texts;
SELECT count(*) FROM texts WHERE with_nul = '\x6100'::bytea::text;
DROP CAST (bytea AS text);

-- The row of a cursor can be changed.
BEGIN;
DECLARE c CURSOR FOR SELECT * FROM t WHERE n > 2;
FETCH c;
UPDATE t SET g = -1 WHERE CURRENT OF c;
SELECT n, g FROM t WHERE g < 0;
ROLLBACK;

-- How a value is stored is not known to the engine.
CREATE TABLE stored (s text COMPRESSION pglz);
INSERT INTO stored VALUES (repeat('1234567890', 1000));
SELECT pg_column_compression(s), pg_column_size(s) < 1000 AS small FROM stored WHERE s LIKE '1%';

-- What is said while a query is planned is said once.
CREATE FUNCTION talks(int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS
    $$ BEGIN RAISE NOTICE 'asked for %', $1; RETURN $1; END $$;
SELECT talks(1), ctid FROM t WHERE n = talks(2);

-- What the engine lacks feeds it with rows, if it may be computed a second time.
EXPLAIN (COSTS OFF) SELECT t.g, count(*) FROM t JOIN (SELECT unnest(ARRAY[n, n + 1]) u FROM t WHERE s ~ '[1-4]') x ON x.u = t.n
    GROUP BY t.g;
SELECT t.g, count(*) FROM t JOIN (SELECT unnest(ARRAY[n, n + 1]) u FROM t WHERE s ~ '[1-4]') x ON x.u = t.n
    GROUP BY t.g ORDER BY t.g;
EXPLAIN (COSTS OFF) WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 20)
    SELECT count(*) FROM r JOIN t USING (n);
WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 20) SELECT count(*) FROM r JOIN t USING (n);
CREATE SEQUENCE ticks;
SELECT count(*) FROM t JOIN (SELECT n FROM t WHERE (SELECT nextval('ticks') + g) > 0 OFFSET 0) x USING (n);
SELECT nextval('ticks');

RESET pg_loom.shim;
SET client_min_messages = warning;
DROP SCHEMA shim CASCADE;
RESET client_min_messages;
RESET search_path;

-- The same rows beside those of a file.
EXPLAIN (COSTS OFF) SELECT count(*) FROM six_p t JOIN (SELECT unnest(ARRAY[id, id]) u FROM six_h) w ON w.u = t.id;
SELECT same('SELECT count(*), sum(t.id) FROM %t t
    JOIN (SELECT id, row_number() OVER (ORDER BY id) r FROM six_h) w USING (id) WHERE r > 2', 'six');
SELECT same('WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 4)
    SELECT id, count(*) FROM c JOIN %t t ON t.id = c.n GROUP BY id', 'six');
SELECT same('SELECT count(*) FROM (SELECT id FROM six_h UNION ALL SELECT unnest(ARRAY[id, id]) FROM six_h) o JOIN %t USING (id)', 'six');
SELECT same('SELECT id FROM %t WHERE id::float8 IN (SELECT id::numeric FROM six_h)', 'six');
