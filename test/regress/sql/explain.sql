-- EXPLAIN in text and JSON; ANALYZE does the work once.
-- Shows foreign scans; engine_*.sql show the engine.
SET pg_loom.enabled = off;
EXPLAIN (COSTS OFF) SELECT id FROM six_p WHERE id > 4;
EXPLAIN (COSTS OFF, VERBOSE) SELECT id FROM six_p s WHERE id > 4;
RESET pg_loom.enabled;
EXPLAIN (COSTS OFF) SELECT count(*) FROM six_p;
SET pg_loom.enabled = off;
EXPLAIN (COSTS OFF) SELECT 1 FROM six_p;
-- The same in JSON, but for a property that PostgreSQL prints since 18.
CREATE FUNCTION explained_json(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE plan text;
BEGIN
    EXECUTE 'EXPLAIN (COSTS OFF, FORMAT JSON) ' || query INTO plan;
    RETURN regexp_replace(plan, '\n *"Disabled": false,?', '');
END $$;
SELECT explained_json('SELECT id FROM six_a WHERE id = 4');
DROP FUNCTION explained_json;
CREATE TABLE taken (id int);
DO $$
DECLARE plan jsonb;
BEGIN
    EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, VERBOSE, SETTINGS, FORMAT JSON) INSERT INTO taken SELECT * FROM six_p' INTO plan;
END $$;
SELECT count(*) FROM taken;
DROP TABLE taken;
CREATE FOREIGN TABLE missing (id int) SERVER arrow_fdw OPTIONS (file '/tmp/pg_loom_regress/missing.parquet');
EXPLAIN SELECT * FROM missing;
SELECT * FROM missing;
DROP FOREIGN TABLE missing;
-- Never executed.
SELECT * FROM explained('SELECT id FROM six_p WHERE id > 4 AND pg_backend_pid() < 0');
SELECT * FROM explained('SELECT count(*) FROM six_p WHERE pg_backend_pid() < 0');
