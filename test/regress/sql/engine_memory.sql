-- Queries that have one megabyte: what does not fit goes to temporary files, and nothing else changes.
\set ON_ERROR_STOP on
SET client_min_messages = warning;
SET pg_loom.device = cpu;
CREATE SCHEMA little;
IMPORT FOREIGN SCHEMA "/tmp/pg_loom_regress/ssb" FROM SERVER arrow_fdw INTO little;
SET search_path = little, public;
SET work_mem = '64MB';

CREATE FUNCTION digest(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE result text;
BEGIN
    EXECUTE format('SELECT count(*) || '' rows '' || coalesce(md5(string_agg(r::text, chr(10) '
                   'ORDER BY r::text COLLATE "C")), ''-'') FROM (%s) r', query) INTO result;
    RETURN result;
END $$;

-- Whether the engine ran a query to its end, and with temporary files.
CREATE FUNCTION ran(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    line text;
    files bool := false;
    fallback text := 'no fallback';
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF) ' || query LOOP
        files := files OR line ~ 'Temporary Files: [1-9]';
        IF line ~ 'Fallback:' THEN fallback := btrim(line); END IF;
    END LOOP;
    RETURN CASE WHEN files THEN 'temporary files' ELSE 'memory' END || ', ' || fallback;
END $$;

CREATE FUNCTION little_memory(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    expected text;
    got text;
    how text;
    threads int;
BEGIN
    SET LOCAL pg_loom.enabled = off;
    expected := digest(query);
    SET LOCAL pg_loom.enabled = on;
    SET LOCAL pg_loom.memory = '1MB';
    FOREACH threads IN ARRAY ARRAY[1, 3] LOOP
        PERFORM set_config('pg_loom.threads', threads::text, true);
        got := digest(query);
        IF got <> expected THEN RETURN format('%s instead of %s', got, expected); END IF;
    END LOOP;
    how := ran(query);
    RETURN format('%s rows the same, %s', split_part(expected, ' ', 1), how);
END $$;

-- Joins of all kinds; the larger side has 120,000 rows.
SELECT join_kind, little_memory(format('SELECT count(*), sum(a.lo_revenue), sum(b.lo_supplycost) FROM lineorder a %s lineorder b ON a.lo_orderkey = b.lo_orderkey AND a.lo_linenumber = b.lo_linenumber + 1', join_kind))
FROM unnest(ARRAY['JOIN', 'LEFT JOIN', 'RIGHT JOIN', 'FULL JOIN']) join_kind;
SELECT little_memory('SELECT a.lo_orderkey, a.lo_partkey, b.lo_revenue FROM lineorder a JOIN lineorder b ON a.lo_orderkey = b.lo_orderkey AND a.lo_linenumber = b.lo_linenumber WHERE b.lo_quantity > 3');
SELECT little_memory('SELECT count(*) FROM lineorder a JOIN lineorder b ON a.lo_orderkey = b.lo_orderkey AND a.lo_quantity < b.lo_quantity');
SELECT little_memory('SELECT count(*), sum(lo_revenue) FROM lineorder a WHERE EXISTS (SELECT FROM lineorder b WHERE a.lo_orderkey = b.lo_orderkey AND a.lo_partkey < b.lo_partkey)');
SELECT little_memory('SELECT count(*), sum(lo_revenue) FROM lineorder a WHERE NOT EXISTS (SELECT FROM lineorder b WHERE a.lo_orderkey = b.lo_orderkey + 1 AND b.lo_discount > 4)');
SELECT little_memory('SELECT count(*) FROM lineorder a WHERE lo_revenue NOT IN (SELECT lo_revenue FROM lineorder b WHERE b.lo_quantity > 5)');
SELECT little_memory('SELECT count(*), count(*) FILTER (WHERE lo_partkey IN (SELECT lo_revenue / 7 FROM lineorder b)) FROM lineorder a');
-- Several joins, in memory and not, with groups and an order above.
SELECT little_memory('SELECT c_nation, d_year, count(*), sum(b.lo_revenue) FROM lineorder a JOIN customer ON a.lo_custkey = c_custkey JOIN lineorder b ON a.lo_orderkey = b.lo_orderkey JOIN date ON b.lo_orderdate = d_datekey GROUP BY 1, 2');
SELECT little_memory('SELECT a.lo_shipmode, b.lo_orderpriority, c.lo_tax, count(*) FROM lineorder a JOIN lineorder b ON a.lo_orderkey = b.lo_orderkey AND a.lo_linenumber = b.lo_linenumber JOIN lineorder c ON b.lo_orderkey = c.lo_orderkey AND b.lo_linenumber = c.lo_linenumber GROUP BY 1, 2, 3');
-- All build rows have one key.
SELECT little_memory('SELECT count(*), sum(b.lo_revenue) FROM date a JOIN lineorder b ON a.d_datekey = 19940101 + 0 * b.lo_tax');
SELECT little_memory('SELECT count(*), count(a.d_datekey), sum(b.lo_revenue) FROM date a FULL JOIN (SELECT 19940101 + 0 * lo_tax AS k, lo_revenue, lo_shipmode FROM lineorder) b ON a.d_datekey = b.k');
-- Groups, distinct values, sorts, windows, sets.
SELECT little_memory('SELECT lo_orderkey, lo_partkey, sum(lo_tax), min(lo_shipmode) FROM lineorder GROUP BY 1, 2');
SELECT little_memory('SELECT DISTINCT lo_custkey, lo_shipmode, lo_partkey FROM lineorder');
SELECT little_memory('SELECT lo_shipmode, count(DISTINCT lo_revenue), sum(DISTINCT lo_partkey) FROM lineorder GROUP BY 1');
SELECT little_memory('SELECT count(DISTINCT lo_revenue) FROM lineorder');
SELECT little_memory('SELECT string_agg(lo_revenue::text, '','') FROM (SELECT lo_revenue FROM lineorder ORDER BY lo_revenue, lo_orderkey, lo_linenumber OFFSET 100000) s');
SELECT little_memory('SELECT lo_revenue, lo_orderkey, lo_commitdate FROM lineorder ORDER BY lo_commitdate, lo_revenue DESC, lo_orderkey, lo_linenumber OFFSET 1000 LIMIT 50000');
SELECT little_memory('SELECT sum(r) FROM (SELECT row_number() OVER (PARTITION BY lo_custkey ORDER BY lo_orderkey, lo_linenumber) * lo_tax AS r FROM lineorder) s');
SELECT little_memory('SELECT lo_partkey FROM lineorder UNION SELECT lo_custkey FROM lineorder UNION SELECT lo_revenue FROM lineorder');
-- Groups and windows that come into being as they are read: any of them may need PostgreSQL's plan, for which no row may be out.
SET pg_loom.memory = '1MB';
SELECT k, ran(format('SELECT lo_orderkey, lo_partkey, sum(CASE WHEN lo_orderkey = %s THEN 99999999999999999999999999999999999999 ELSE lo_revenue END) FROM lineorder GROUP BY ROLLUP (1, 2)', k)),
    ran(format('SELECT c, sum(CASE WHEN c = %s THEN 99999999999999999999999999999999999999 ELSE lo_revenue END) OVER (PARTITION BY c ORDER BY lo_orderkey, lo_linenumber) FROM (SELECT lo_orderkey / 8 AS c, * FROM lineorder) l', k / 8))
FROM unnest(ARRAY[1, 6000, 13000, 21000, 29000]) k;
RESET pg_loom.memory;
SELECT little_memory('SELECT lo_orderkey, lo_partkey, sum(CASE WHEN lo_orderkey % 5000 = 1 THEN 99999999999999999999999999999999999999 ELSE lo_revenue END) FROM lineorder GROUP BY ROLLUP (1, 2)');
SELECT little_memory('SELECT lo_custkey, count(*) OVER (PARTITION BY lo_tax / 8 ORDER BY lo_orderkey, lo_linenumber), rank() OVER (PARTITION BY lo_tax / 8 ORDER BY lo_orderkey, lo_linenumber) FROM lineorder');
-- The limit of temporary files is PostgreSQL's, and so are the words. Its own plan may get by without.
\set ON_ERROR_STOP off
SET temp_file_limit = '1MB';
SET pg_loom.memory = '1MB';
SELECT count(*) FROM lineorder a JOIN lineorder b ON a.lo_orderkey = b.lo_orderkey AND a.lo_linenumber = b.lo_linenumber;
SET work_mem = '64kB';
\set VERBOSITY sqlstate
SELECT count(*) FROM lineorder a JOIN lineorder b ON a.lo_orderkey = b.lo_orderkey AND a.lo_linenumber = b.lo_linenumber;
\set VERBOSITY default
RESET temp_file_limit;
RESET work_mem;
RESET pg_loom.memory;
DROP SCHEMA little CASCADE;
