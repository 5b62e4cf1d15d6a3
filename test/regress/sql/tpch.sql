-- The 22 queries of TPC-H (bench/tpch) at scale 0.01: ordinary tables beside Parquet and Arrow files, by the
-- engine and by foreign scans.
\set ON_ERROR_STOP on
SET client_min_messages = warning;
CREATE SCHEMA tpch_p;
CREATE SCHEMA tpch_a;
CREATE SCHEMA tpch_h;
IMPORT FOREIGN SCHEMA "/tmp/pg_loom_regress/tpch/parquet" FROM SERVER arrow_fdw INTO tpch_p;
IMPORT FOREIGN SCHEMA "/tmp/pg_loom_regress/tpch/arrow" FROM SERVER arrow_fdw INTO tpch_a;
SELECT ftrelid::regclass FROM pg_foreign_table WHERE ftrelid::regclass::text ~ '^tpch' ORDER BY ftrelid::regclass::text;
DO $$
DECLARE name text;
BEGIN
    FOREACH name IN ARRAY '{region,nation,supplier,customer,part,partsupp,orders,lineitem}'::text[] LOOP
        EXECUTE format('CREATE TABLE tpch_h.%1$I (LIKE tpch_p.%1$I)', name);
        EXECUTE format('COPY tpch_h.%I FROM %L (FORMAT csv, HEADER)', name,
                       '/tmp/pg_loom_regress/tpch/csv/' || name || '.csv');
        EXECUTE format('ANALYZE tpch_h.%I', name);
        EXECUTE format('ANALYZE tpch_p.%I', name);
        EXECUTE format('ANALYZE tpch_a.%I', name);
    END LOOP;
END $$;
CREATE INDEX ON tpch_h.lineitem (l_partkey, l_suppkey);
SELECT a.attname, format_type(a.atttypid, a.atttypmod)
FROM pg_attribute a WHERE attrelid = 'tpch_p.lineitem'::regclass AND attnum > 0 ORDER BY attnum;

-- As same() of setup.sql, but it's the schema that stands for the files' format.
CREATE FUNCTION same_tpch(query text, modes text[] DEFAULT '{on,off}') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    path text := current_setting('search_path');
    enabled text := current_setting('pg_loom.enabled');
    expected text;
    got text;
    differences text[] := '{}';
    kind text;
    mode text;
BEGIN
    query := rtrim(query, E'; \n');
    PERFORM set_config('search_path', 'tpch_h, public', false);
    expected := answer(query, '');
    FOREACH kind IN ARRAY ARRAY['p', 'a'] LOOP
        PERFORM set_config('search_path', 'tpch_' || kind || ', public', false);
        FOREACH mode IN ARRAY modes LOOP
            PERFORM set_config('pg_loom.enabled', mode, false);
            got := answer(query, '');
            IF got <> expected THEN
                differences := differences || format('[%s, engine %s] %s instead of %s', kind, mode, got, expected);
            END IF;
        END LOOP;
    END LOOP;
    PERFORM set_config('search_path', path, false);
    PERFORM set_config('pg_loom.enabled', enabled, false);
    RETURN coalesce(nullif(array_to_string(differences, chr(10)), ''),
                    'same: ' || regexp_replace(expected, ' rows.*', ' rows'));
END $$;

-- The tables belong together: no row without its partner; totals are the sums over the lines.
SELECT same_tpch('select * from lineitem left join partsupp on ps_partkey = l_partkey and ps_suppkey = l_suppkey where ps_partkey is null');
SELECT same_tpch('select * from orders left join customer on c_custkey = o_custkey where c_custkey is null');
SELECT same_tpch('select o_orderkey from orders, lineitem where l_orderkey = o_orderkey group by o_orderkey, o_totalprice
having o_totalprice <> round(sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)), 2)');

-- Query 20 asks lineitem once a row of partsupp, which takes foreign scans too long.
SELECT n AS query, same_tpch(pg_read_file(format('/tmp/pg_loom_regress/tpch/queries/q%s.sql', lpad(n::text, 2, '0'))),
                             CASE n WHEN 20 THEN '{on}'::text[] ELSE '{on,off}' END)
FROM generate_series(1, 22) n;
DROP FUNCTION same_tpch;
DROP SCHEMA tpch_p, tpch_a, tpch_h CASCADE;
