-- Faults that users of other readers have met, one block each; what other files test already is not
-- repeated here. Rows are those of test/data/fault_files.cpp.
SET client_min_messages = warning;
SELECT make_tables(base) FROM unnest('{limits,keys}'::text[]) base;

-- A scan that starts again lost row groups or kept memory.
SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_material = off; SET enable_memoize = off;
SELECT count(*) FROM generate_series(1, 2) g, six_p t WHERE t.id >= g;
SET pg_loom.enabled = off;
SELECT count(*), sum(l.id) FROM generate_series(1, 100000) g, LATERAL (SELECT id FROM six_p WHERE id > g % 6 LIMIT 1) l;
RESET pg_loom.enabled;
SELECT same('SELECT o.id, (SELECT sum(i.v) FROM %t i WHERE i.k BETWEEN o.id AND o.id + 9999 * o.id) FROM six_h o', 'sorted');
SELECT same('SELECT o.id FROM six_h o WHERE o.id NOT IN (SELECT k - 3 FROM %t WHERE k > o.id AND k < 7)', 'sorted');
RESET enable_hashjoin; RESET enable_mergejoin; RESET enable_material; RESET enable_memoize;

-- As a partition, the parent's column numbers were used, and triggers and moved rows crashed.
CREATE TABLE par (gone int, v int, k bigint) PARTITION BY RANGE (k);
ALTER TABLE par DROP COLUMN gone;
CREATE FOREIGN TABLE par_files PARTITION OF par FOR VALUES FROM (0) TO (50000)
    SERVER arrow_fdw OPTIONS (file '/tmp/pg_loom_regress/sorted.parquet');
CREATE TABLE par_rows PARTITION OF par FOR VALUES FROM (50000) TO (60000);
CREATE FUNCTION count_par() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE WARNING '% rows after %', (SELECT count(*) FROM par), TG_OP; RETURN NULL; END $$;
CREATE TRIGGER count_par AFTER INSERT OR UPDATE OR DELETE ON par FOR EACH STATEMENT EXECUTE FUNCTION count_par();
INSERT INTO par(k, v) VALUES (50000, 1), (59999, 2);
INSERT INTO par(k, v) VALUES (5, 1);
UPDATE par SET v = 3 WHERE k = 59999;
UPDATE par SET k = 7 WHERE k = 59999;
UPDATE par SET v = 3 WHERE k = 7;
DELETE FROM par WHERE k = 59999;
SELECT k, v FROM par WHERE k IN (3, 50000) ORDER BY k LIMIT 2;
SELECT k FROM par ORDER BY k DESC LIMIT 1;
EXPLAIN (COSTS OFF) SELECT v FROM par WHERE k = 50001;
DROP TABLE par;
DROP FUNCTION count_par;

-- Units and epochs, where they are cut and counted.
SELECT same('SELECT date_trunc(''second'', ts_us), extract(epoch FROM ts_us) FROM %t', 'timestamps');

-- A declared type that does not fit ended the backend.
CREATE FOREIGN TABLE mixed (a bigint, b text) SERVER arrow_fdw OPTIONS (dir '/tmp/pg_loom_regress/drift');
PREPARE mixed AS SELECT count(a), max(a)::text AS max FROM mixed;
EXECUTE mixed;
ALTER FOREIGN TABLE mixed ALTER COLUMN a TYPE int;
EXECUTE mixed;
ALTER FOREIGN TABLE mixed ALTER COLUMN a TYPE bigint[];
EXECUTE mixed;
ALTER FOREIGN TABLE mixed ALTER COLUMN a TYPE numeric;
EXECUTE mixed;
DEALLOCATE mixed;
DROP FOREIGN TABLE mixed;

-- Parameters: of a limit, of arrays with NULL, of patterns, in functions.
PREPARE part(bigint, bigint) AS SELECT k FROM sorted_p LIMIT $1 OFFSET $2;
PREPARE any_of(bigint[]) AS SELECT count(*) FROM sorted_p WHERE k = ANY ($1);
PREPARE none_of(bigint[]) AS SELECT count(*) FROM sorted_p WHERE k <> ALL ($1);
PREPARE alike(text) AS SELECT count(*) FROM texts_p WHERE t LIKE $1;
SET plan_cache_mode = force_generic_plan;
EXECUTE part(2, 49990); EXECUTE part(NULL, 49999); EXECUTE part(0, 0);
EXECUTE any_of('{1,2,NULL,60000}'); EXECUTE any_of('{NULL}'); EXECUTE any_of('{}'); EXECUTE any_of(NULL);
EXECUTE none_of('{1,2}'); EXECUTE none_of('{1,NULL}'); EXECUTE none_of('{}'); EXECUTE none_of(NULL);
EXECUTE alike('a\%'); EXECUTE alike('日%'); EXECUTE alike(NULL);
RESET plan_cache_mode;
EXECUTE part(-1, 0);
EXECUTE any_of('{1,2,NULL,60000}'); EXECUTE none_of('{1,NULL}'); EXECUTE alike('a\%');
DEALLOCATE ALL;

-- Texts under a collation for which equal texts differ in bytes, each in a row group of its own.
CREATE COLLATION no_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE FOREIGN TABLE folded (id int, t text COLLATE no_case) SERVER arrow_fdw OPTIONS (file '/tmp/pg_loom_regress/keys.parquet');
SELECT id FROM folded WHERE t = 'A' ORDER BY id;
SELECT id FROM folded WHERE t IN ('A', 'b') ORDER BY id;
SELECT id FROM folded WHERE t > 'A' ORDER BY id;
SELECT lower(min(t)), count(*) FROM folded GROUP BY t HAVING count(*) > 1 ORDER BY 1;
-- PostgreSQL answers this since 18.
CREATE TABLE folded_rows AS SELECT id, t FROM folded;
SELECT answer('SELECT id FROM %t WHERE t LIKE ''A%''', 'folded') = answer('SELECT id FROM %t WHERE t LIKE ''A%''', 'folded_rows') AS like_agrees;
SELECT id FROM folded WHERE t COLLATE "C" = 'A';
DROP FOREIGN TABLE folded;
DROP TABLE folded_rows;
DROP COLLATION no_case;

-- Names that PostgreSQL keeps for itself, names in upper case, also of folders.
IMPORT FOREIGN SCHEMA system_names FROM SERVER arrow_fdw INTO public OPTIONS (file '/tmp/pg_loom_regress/system_names.parquet');
\d system_names
SELECT s.*, s.tableoid::regclass FROM system_names s;
IMPORT FOREIGN SCHEMA "Upper" FROM SERVER arrow_fdw INTO public OPTIONS (dir '/tmp/pg_loom_regress/upper', hive_partitioning 'true');
\d "Upper"
SELECT "Region", "Value" FROM "Upper" u WHERE u."Region" = 'EU' ORDER BY 2;
SELECT region FROM "Upper";
CREATE VIEW "View" AS SELECT "Value" AS "V", "Region" FROM "Upper";
SELECT "Region", sum("V") FROM "View" GROUP BY 1 ORDER BY 1;
SET pg_loom.enabled = off;
EXPLAIN (COSTS OFF, VERBOSE) SELECT "V" FROM "View" WHERE "V" > 1 AND "Region" = 'us';
RESET pg_loom.enabled;
DROP VIEW "View";
DROP FOREIGN TABLE system_names, "Upper";

-- Rights: a reader's own condition does not see rows that a view hides, functions and views run with their
-- owner's rights, a right that is taken away counts at once.
CREATE ROLE regress_fault_reader;
CREATE FUNCTION leak(n int) RETURNS boolean LANGUAGE plpgsql COST 0.0001 AS $$
BEGIN RAISE WARNING 'saw %', n; RETURN true; END $$;
CREATE VIEW hidden WITH (security_barrier) AS SELECT id FROM six_p WHERE id > 5;
CREATE VIEW invoked WITH (security_invoker) AS SELECT id FROM six_p;
CREATE FUNCTION definer() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS 'SELECT sum(id) FROM six_p';
CREATE FUNCTION invoker() RETURNS bigint LANGUAGE sql AS 'SELECT sum(id) FROM six_p';
CREATE TABLE secret_parent (id int) PARTITION BY LIST ((id IS NULL));
ALTER TABLE secret_parent ENABLE ROW LEVEL SECURITY;
CREATE POLICY odd ON secret_parent USING (id % 2 = 1);
CREATE FOREIGN TABLE secret PARTITION OF secret_parent FOR VALUES IN (false)
    SERVER arrow_fdw OPTIONS (file '/tmp/pg_loom_regress/six.parquet');
GRANT SELECT ON hidden, invoked, secret_parent TO regress_fault_reader;
-- What a function says comes in the order of the rows where one thread reads them.
SET pg_loom.threads = 1;
SET ROLE regress_fault_reader;
SELECT id FROM hidden WHERE leak(id);
SELECT id FROM hidden WHERE 1 / (id - 3) < 5;
SELECT * FROM invoked;
SELECT definer();
SELECT invoker();
SELECT * FROM secret_parent WHERE leak(id) ORDER BY id;
SELECT * FROM secret;
COPY (SELECT * FROM six_p) TO STDOUT;
COPY (SELECT * FROM hidden) TO STDOUT;
RESET ROLE;
GRANT SELECT ON six_p TO regress_fault_reader;
SET ROLE regress_fault_reader;
PREPARE kept AS SELECT count(*), sum(id) FROM six_p;
EXECUTE kept;
SELECT invoker(), (SELECT count(*) FROM invoked);
RESET ROLE;
REVOKE SELECT ON six_p FROM regress_fault_reader;
SET ROLE regress_fault_reader;
EXECUTE kept;
EXPLAIN (COSTS OFF) EXECUTE kept;
SELECT invoker();
RESET ROLE;
DEALLOCATE kept;
RESET pg_loom.threads;
DROP VIEW hidden, invoked;
DROP FUNCTION leak, definer, invoker;
DROP TABLE secret_parent;
DROP ROLE regress_fault_reader;
COPY six_p TO STDOUT;
COPY (SELECT id FROM six_p WHERE id < 3 UNION ALL SELECT 0) TO STDOUT (FORMAT csv, HEADER);

-- A cancelled statement leaves a session that works: inside a block that catches it, at a cursor, while a table is
-- made; nothing stays open.
CREATE FUNCTION descriptors() RETURNS bigint LANGUAGE sql AS $$SELECT count(*) FROM pg_ls_dir('/proc/self/fd')$$;
CREATE TABLE before AS SELECT descriptors() AS n;
SET statement_timeout = '200ms';
DO $$
BEGIN
    PERFORM count(*) FROM sorted_p a, sorted_a b WHERE a.k + b.k < 0;
EXCEPTION WHEN query_canceled THEN
    RAISE WARNING 'cancelled, and the sum is %', (SELECT sum(id) FROM six_p);
END $$;
CREATE TABLE never AS SELECT a.k FROM sorted_p a, sorted_a b WHERE a.k + b.k < 0;
BEGIN;
DECLARE slow CURSOR FOR SELECT a.k FROM sorted_p a, sorted_a b WHERE a.k + b.k < 0;
SAVEPOINT s;
FETCH 1 FROM slow;
ROLLBACK TO s;
SET LOCAL statement_timeout = 0;
SELECT count(*) FROM sorted_p;
FETCH 1 FROM slow;
COMMIT;
RESET statement_timeout;
SELECT to_regclass('never');
DO $$
BEGIN
    FOR i IN 1..1000 LOOP
        BEGIN
            PERFORM 1 / (id - 2) FROM six_p;
        EXCEPTION WHEN division_by_zero THEN
        END;
    END LOOP;
END $$;
SELECT sum(id) FROM six_p;
SELECT descriptors() - n < 10 AS closed FROM before;
SELECT name FROM pg_backend_memory_contexts WHERE name ~ 'pg_loom';
DROP TABLE before;
DROP FUNCTION descriptors;

-- EXPLAIN was kept as the statement's plan, or did its work twice.
SET pg_loom.enabled = off;
PREPARE counted AS SELECT count(*) FROM six_p WHERE id > 2;
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE counted;
EXECUTE counted;
EXPLAIN (COSTS OFF) EXECUTE counted;
EXECUTE counted;
RESET plan_cache_mode;
DEALLOCATE counted;
RESET pg_loom.enabled;
DO $$
DECLARE line text;
BEGIN
    FOR line IN EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) CREATE TABLE made AS SELECT id FROM six_p LOOP
        CONTINUE WHEN line !~ 'actual';
        RAISE WARNING '%', replace(line, '.00', '');
    END LOOP;
END $$;
SELECT count(*) FROM made;
DROP TABLE made;
LOAD 'auto_explain';
SET auto_explain.log_min_duration = 0; SET auto_explain.log_analyze = on; SET auto_explain.log_nested_statements = on;
SELECT count(*), max(id) FROM six_p WHERE id > (SELECT min(k) FROM sorted_p);
RESET auto_explain.log_min_duration;

-- NaN is in no bound, also where something stands before the column.
SELECT same(format('SELECT id FROM %%t WHERE %s %s %s', col, op, value), 'keys') AS result, col, op, value
FROM unnest('{f8,f4,-f8,abs(f4)}'::text[]) col, unnest('{<>,>,<=}'::text[]) op, unnest(ARRAY['1', '''NaN''']) value
ORDER BY col, op, value;

-- A file that is another one at each execution: by name, by link, removed and put back.
\! install -m 644 /tmp/pg_loom_regress/six.parquet /tmp/pg_loom_regress/moving.parquet
CREATE FOREIGN TABLE moving (id int) SERVER arrow_fdw OPTIONS (file '/tmp/pg_loom_regress/moving.parquet');
PREPARE moved AS SELECT count(*), sum(id) FROM moving WHERE id > 0;
SET plan_cache_mode = force_generic_plan;
EXECUTE moved;
\! install -m 644 /tmp/pg_loom_regress/sizes/s01023.arrow /tmp/pg_loom_regress/moving.new && mv /tmp/pg_loom_regress/moving.new /tmp/pg_loom_regress/moving.parquet
EXECUTE moved;
\! rm /tmp/pg_loom_regress/moving.parquet
EXECUTE moved;
\! install -m 644 /tmp/pg_loom_regress/floats.parquet /tmp/pg_loom_regress/moving.parquet
EXECUTE moved;
\! ln -sf six.arrow /tmp/pg_loom_regress/moving.parquet
EXECUTE moved;
RESET plan_cache_mode;
DEALLOCATE moved;
\! rm /tmp/pg_loom_regress/moving.parquet
DROP FOREIGN TABLE moving;

-- Links, paths through other folders, several tables on one file.
CREATE FOREIGN TABLE linked (id int) SERVER arrow_fdw OPTIONS (dir '/tmp/pg_loom_regress/links');
CREATE FOREIGN TABLE around (id bigint) SERVER arrow_fdw OPTIONS (file '/tmp/pg_loom_regress/links/../six.parquet');
SELECT count(*), sum(id) FROM linked;
SELECT count(*), sum(a.id), sum(l.id) FROM around a JOIN six_p s ON s.id = a.id JOIN linked l ON l.id = s.id;
SELECT * FROM (SELECT id FROM six_p UNION ALL SELECT id FROM around UNION ALL SELECT id FROM linked) u WHERE id = 6;
BEGIN;
DECLARE one CURSOR FOR SELECT id FROM six_p;
FETCH 3 FROM one;
SELECT sum(id) FROM around;
DROP FOREIGN TABLE around;
FETCH 2 FROM one;
COMMIT;
DROP FOREIGN TABLE linked;

-- Decimals: more than 38 digits in a sum, a negative scale, constants of larger scale, joins of unequal scales.
SELECT sum(n38), max(n38), avg(d2), sum(d2), sum(f38), max(f38) FROM limits_p;
SELECT * FROM limits_p WHERE d2 = 1.005 OR n38 > 99999999999999999999999999999999999999 OR f38 = 1;
SELECT id FROM limits_p WHERE d2 > 1.0000000000000000001 OR d2 < -0.999 ORDER BY id;
SELECT same(query, 'limits') AS result, query FROM unnest(ARRAY['SELECT sum(n38), avg(n38), avg(d2), sum(f38), avg(f38) FROM %t',
    'SELECT n38 * n38, n38 / 7, n38 % 1000, round(d2, 1), d2::int, f38 * 2 FROM %t', 'SELECT id FROM %t WHERE n38 = 1e38 - 1',
    'SELECT id FROM %t WHERE f38 >= 0.99999999999999999999999999999999999999', 'SELECT stddev(n38), variance(f38), var_pop(d2) FROM %t',
    'SELECT a.id, b.id FROM %t a JOIN %t b ON a.d2 = b.n38', 'SELECT n38, count(*) FROM %t GROUP BY n38',
    'SELECT id FROM %t WHERE n38 IN (1.0, 2)', 'SELECT id FROM %t WHERE d2 = ANY (''{1.010,1.0000,NULL}''::numeric[])']) query;
SELECT same('SELECT sum(d76), avg(d76), max(d76) - min(d76) FROM %t');
SELECT same('SELECT count(*) FROM %t a JOIN %t b ON a.d9 = b.d18');
IMPORT FOREIGN SCHEMA decimals FROM SERVER arrow_fdw INTO public OPTIONS (file '/tmp/pg_loom_regress/decimals.arrow');
SELECT hundreds, d76, format_type(a.atttypid, a.atttypmod) FROM decimals, pg_attribute a
WHERE attrelid = 'decimals'::regclass AND attname = 'hundreds';
SELECT count(*) FROM decimals WHERE hundreds = 12300 OR hundreds < -99.5;
DROP FOREIGN TABLE decimals;

-- Overflow and division by zero raise PostgreSQL's errors, and only for rows that are computed.
SELECT sum(i8), sum(i4), avg(i8), sum(i2) FROM limits_p;
SELECT same(query, 'limits') AS result, answer(query, 'limits_p') ~ '^22' AS error, query FROM unnest(ARRAY[
    'SELECT sum(i8), avg(i8), sum(i4), avg(i4), sum(i2), stddev(i8), var_samp(i8), sum(i8::numeric) FROM %t',
    'SELECT i4 + 1 FROM %t', 'SELECT i4 - 1 FROM %t WHERE id = 3', 'SELECT i2 / (-1)::int2 FROM %t', 'SELECT -i2 FROM %t',
    'SELECT abs(i8) FROM %t', 'SELECT i8 * 2 FROM %t', 'SELECT i8::int FROM %t', 'SELECT i4::int2 FROM %t', 'SELECT sum(i8)::bigint FROM %t',
    'SELECT 1 / z FROM %t', 'SELECT 1 / z FROM %t WHERE z <> 0', 'SELECT id FROM %t WHERE 1 / z > 0', 'SELECT id FROM %t WHERE z <> 0 AND 1 / z <= 0',
    'SELECT CASE WHEN z <> 0 THEN 1 / z END FROM %t', 'SELECT CASE z WHEN 0 THEN 0 ELSE i8 / z END FROM %t', 'SELECT coalesce(nullif(z, 0), 1) FROM %t',
    'SELECT count(*) FILTER (WHERE 1 / nullif(z, 0) > -5) FROM %t', 'SELECT 1 / f8 FROM %t', 'SELECT f8 / 0 FROM %t', 'SELECT 0 / nullif(f8, 0) FROM %t',
    'SELECT d2 / z FROM %t', 'SELECT n38 % z FROM %t', 'SELECT i4 % z FROM %t', 'SELECT mod(i8, z) FROM %t', 'SELECT i8 % (-1) FROM %t',
    'SELECT sum(1 / z) FROM %t', 'SELECT sum(1 / z) FROM %t WHERE id > 1', 'SELECT id FROM (SELECT * FROM %t WHERE z <> 0 OFFSET 0) s WHERE 1 / z = 0',
    'SELECT max(f8 * 1e308 * 10) FROM %t', 'SELECT sqrt(z) FROM %t', 'SELECT ln(z) FROM %t WHERE z = 0', 'SELECT power(0::float8, z) FROM %t']) query;
SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
SELECT sum(9223372036854775807 - (k + v)), sum(i8) FROM sorted_p LEFT JOIN limits_p ON id = k;
SELECT sum(k * 9000000000000000) FROM sorted_p WHERE k < 500;
\set SHOW_CONTEXT never
SELECT sum(k * 9000000000000000) FROM sorted_p;
\set SHOW_CONTEXT errors
RESET parallel_setup_cost; RESET parallel_tuple_cost; RESET min_parallel_table_scan_size;

-- NaN and both zeros as keys, in every way of grouping and joining.
SELECT f8, count(*) FROM keys_p GROUP BY f8 ORDER BY f8;
SELECT same(query, 'keys') AS result, query FROM unnest(ARRAY['SELECT f8, count(*) FROM %t GROUP BY f8', 'SELECT DISTINCT f4 FROM %t',
    'SELECT count(DISTINCT f8), count(DISTINCT f4), count(DISTINCT l8), count(DISTINCT (f8, f4)) FROM %t',
    'SELECT f8 FROM %t UNION SELECT f8 FROM keys_h', 'SELECT f8 FROM %t EXCEPT ALL SELECT f8 FROM keys_h',
    'SELECT f4 FROM %t INTERSECT SELECT f4 FROM keys_h', 'SELECT l8, count(*) FROM %t GROUP BY l8',
    'SELECT id, count(*) OVER (PARTITION BY f8), rank() OVER (ORDER BY f8 DESC), dense_rank() OVER (ORDER BY f4) FROM %t',
    'SELECT min(f8), max(f8), min(f4), max(f4), max(l8) FROM %t', 'SELECT id FROM %t ORDER BY f8, id LIMIT 6',
    'SELECT id FROM %t WHERE (f8, f4) IN (SELECT f8, f4 FROM keys_h WHERE id <> 3)', 'SELECT id FROM %t WHERE f8 NOT IN (0, ''NaN'')',
    'SELECT count(*) FROM %t GROUP BY GROUPING SETS ((f8), (f4, f8), ())', 'SELECT t::bpchar(3), count(*) FROM %t GROUP BY 1',
    'SELECT f8 IS NOT DISTINCT FROM f4 FROM %t', 'SELECT id FROM %t WHERE f8 = -0.0', 'SELECT array_agg(DISTINCT f8) FROM %t']) query;
SELECT same('SELECT a.id, b.id FROM %t a JOIN %t b ON a.f8 = b.f8 AND a.f4 = b.f4', 'keys') AS hashed;
SET enable_hashjoin = off;
SELECT same('SELECT a.id, b.id FROM %t a JOIN %t b ON a.f8 = b.f8', 'keys') AS merged;
SELECT same('SELECT a.id, b.id FROM %t a FULL JOIN %t b ON a.l8 = b.l8', 'keys') AS merged_lists;
SET enable_mergejoin = off;
SELECT same('SELECT a.id, b.id FROM %t a LEFT JOIN %t b ON a.f4 = b.f4 AND a.f8 = b.f8', 'keys') AS looped;
RESET enable_hashjoin; RESET enable_mergejoin;
SET work_mem = '64kB';
SELECT same('SELECT f8, txt, count(*) FROM %t GROUP BY f8, txt') AS spilled;
RESET work_mem;
CREATE FOREIGN TABLE blanks (id int, t char(3)) SERVER arrow_fdw OPTIONS (file '/tmp/pg_loom_regress/keys.arrow');
SELECT t, count(*) FROM blanks GROUP BY t ORDER BY t COLLATE "C";
SELECT id FROM blanks WHERE t = 'a' ORDER BY id;
DROP FOREIGN TABLE blanks;

DROP FOREIGN TABLE limits_p, limits_a, keys_p, keys_a;
DROP TABLE limits_h, keys_h;
