-- Prepared statements give the answers of literals, and skip at run time.
-- Shows foreign scans; engine_*.sql show the engine.
SET pg_loom.enabled = off;
PREPARE q(int) AS SELECT count(*) FROM sorted_p WHERE k = $1 + 1;
PREPARE r(int[], text) AS SELECT count(*) FROM all_types_p WHERE id = ANY ($1) OR word LIKE $2;
SET plan_cache_mode = force_generic_plan;
EXECUTE q(1); EXECUTE q(NULL); EXECUTE q(1000000);
EXECUTE r('{1,2,NULL}', 'zz'); EXECUTE r('{}', NULL);
SELECT * FROM explained('EXECUTE q(25000)');
EXPLAIN (COSTS OFF) EXECUTE q(25000);
SET plan_cache_mode = force_custom_plan;
EXECUTE q(1); EXECUTE q(NULL); EXECUTE q(1000000);
EXECUTE r('{1,2,NULL}', 'zz'); EXECUTE r('{}', NULL);
RESET plan_cache_mode;
EXECUTE q(1); EXECUTE q(2); EXECUTE q(3); EXECUTE q(4); EXECUTE q(5); EXECUTE q(6); EXECUTE q(-1);
-- EXPLAIN before and after EXECUTE changes nothing.
EXPLAIN (COSTS OFF) EXECUTE q(7);
EXECUTE q(7);
-- A cached plan follows changes of the table.
ALTER FOREIGN TABLE sorted_p OPTIONS (SET file '/tmp/pg_loom_regress/sorted.arrow');
EXECUTE q(8);
ALTER FOREIGN TABLE sorted_p OPTIONS (SET file '/tmp/pg_loom_regress/sorted.parquet');
EXECUTE q(9);
-- The inner side of a nested loop skips by the outer row. Which side of = comes first is up to the version.
SET enable_hashjoin = off; SET enable_mergejoin = off;
SELECT regexp_replace(line, '\((\S+) = (k|s\.k)\)', '(\2 = \1)') AS line
FROM explained('SELECT s.v FROM (VALUES (7), (40000)) o(x) JOIN sorted_p s ON s.k = o.x') line
WHERE line !~ 'Read|File';
RESET enable_hashjoin; RESET enable_mergejoin;
DEALLOCATE ALL;
