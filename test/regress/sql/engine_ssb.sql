-- The thirteen queries of the Star Schema Benchmark: each is one LoomScan, with PostgreSQL's answer.
CREATE SCHEMA ssb;
IMPORT FOREIGN SCHEMA "/tmp/pg_loom_regress/ssb" FROM SERVER arrow_fdw INTO ssb;
SET search_path = ssb, public;
CREATE FUNCTION ssb_query(name text) RETURNS TABLE (query text, nodes bigint, same boolean, rows bigint) LANGUAGE plpgsql AS $$
DECLARE
    sql text := rtrim(pg_read_file('/tmp/pg_loom_regress/ssb_queries/' || name), E'; \n');
    plan text;
    engine text;
    expected text;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT JSON) ' || sql INTO plan;
    EXECUTE format('SELECT string_agg(q::text, chr(10)), count(*) FROM (%s) q', sql) INTO engine, rows;
    PERFORM set_config('pg_loom.enabled', 'off', true);
    EXECUTE format('SELECT string_agg(q::text, chr(10)) FROM (%s) q', sql) INTO expected;
    PERFORM set_config('pg_loom.enabled', 'on', true);
    query := name;
    nodes := CASE WHEN plan::json -> 0 -> 'Plan' ->> 'Custom Plan Provider' = 'LoomScan'
                  THEN (SELECT count(*) FROM regexp_matches(plan, '"Node Type"', 'g')) END;
    same := engine IS NOT DISTINCT FROM expected;
    RETURN NEXT;
END $$;
SELECT q.query, q.nodes, q.same FROM pg_ls_dir('/tmp/pg_loom_regress/ssb_queries') name, ssb_query(name) q ORDER BY 1;
SELECT count(*) > 8 AS most_have_rows FROM pg_ls_dir('/tmp/pg_loom_regress/ssb_queries') name, ssb_query(name) q WHERE q.rows > 0;
DROP FUNCTION ssb_query(text);
RESET search_path;
DROP SCHEMA ssb CASCADE;
