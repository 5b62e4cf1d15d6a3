-- Tables over the files of loom-test-files (_p Parquet, _a Arrow) beside ordinary ones with the same
-- rows (_h), and a function that asks all of them the same question.
\set ON_ERROR_STOP on
SET client_min_messages = warning;
CREATE FUNCTION make_tables(base text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('IMPORT FOREIGN SCHEMA %I FROM SERVER arrow_fdw INTO public OPTIONS (file %L)',
                   base || '_p', '/tmp/pg_loom_regress/' || base || '.parquet');
    EXECUTE format('IMPORT FOREIGN SCHEMA %I FROM SERVER arrow_fdw INTO public OPTIONS (file %L)',
                   base || '_a', '/tmp/pg_loom_regress/' || base || '.arrow');
    EXECUTE format('CREATE TABLE %I (LIKE %I)', base || '_h', base || '_p');
    EXECUTE format('COPY %I FROM %L (FORMAT csv, NULL ''\N'')', base || '_h',
                   '/tmp/pg_loom_regress/' || base || '.csv');
END $$;

-- Answers of one table to a query in which %t stands for it: rows and a digest, or the error.
CREATE FUNCTION answer(query text, relation text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE result text;
BEGIN
    EXECUTE format('SELECT count(*) || '' rows '' || coalesce(md5(string_agg(r::text, chr(10) '
                   'ORDER BY r::text COLLATE "C")), ''-'') FROM (%s) r',
                   replace(query, '%t', relation)) INTO result;
    RETURN result;
EXCEPTION WHEN OTHERS THEN
    RETURN SQLSTATE || ' ' || SQLERRM;
END $$;

-- By the engine, by foreign scans, and by foreign scans that skip nothing.
CREATE FUNCTION differences(query text, base text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    expected text := answer(query, base || '_h');
    got text;
    kind text;
    mode text;
    enabled text := current_setting('pg_loom.enabled');
    skip text := current_setting('pg_loom.skip_with_statistics');
BEGIN
    FOREACH kind IN ARRAY ARRAY['p', 'a'] LOOP
        FOREACH mode IN ARRAY ARRAY['engine', 'scan', 'scan without skipping'] LOOP
            PERFORM set_config('pg_loom.enabled', CASE mode WHEN 'engine' THEN 'on' ELSE 'off' END, false);
            PERFORM set_config('pg_loom.skip_with_statistics',
                               CASE mode WHEN 'scan without skipping' THEN 'off' ELSE 'on' END, false);
            got := answer(query, base || '_' || kind);
            IF got <> expected THEN
                RETURN NEXT format('%s [%s, %s]: %s instead of %s', query, kind, mode, got, expected);
            END IF;
        END LOOP;
    END LOOP;
    PERFORM set_config('pg_loom.enabled', enabled, false);
    PERFORM set_config('pg_loom.skip_with_statistics', skip, false);
END $$;

-- 'same: N rows ...', or what differs.
CREATE FUNCTION same(query text, base text DEFAULT 'all_types') RETURNS text LANGUAGE sql AS $$
    SELECT coalesce(string_agg(d, chr(10)), 'same: ' || regexp_replace(answer(query, base || '_h'), ' rows.*', ' rows'))
    FROM differences(query, base) d
$$;

-- EXPLAIN ANALYZE without times, without sizes that depend on a compression library's version, and with
-- row counts as PostgreSQL printed them before 18; of what the processor does.
CREATE FUNCTION explained(query text) RETURNS SETOF text LANGUAGE plpgsql SET pg_loom.device = cpu AS $$
DECLARE line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) ' || query LOOP
        line := regexp_replace(line, 'size: [^)]*', 'size: N');
        line := regexp_replace(line, '(actual rows=[0-9]+)\.00', '\1');
        RETURN NEXT regexp_replace(line, '((Read|read)[^:]*: )[1-9][0-9.]*(B|kB|MB)', '\1N');
    END LOOP;
END $$;

SELECT make_tables(base)
FROM unnest('{all_types,floats,unsigned,timestamps,texts,six,sorted}'::text[]) base;
SELECT relname, reltuples FROM pg_class WHERE relkind = 'f' ORDER BY relname;
