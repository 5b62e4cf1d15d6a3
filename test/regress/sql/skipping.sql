-- What is not read: bytes of other columns, row groups and pages that statistics exclude.
-- Shows foreign scans; engine_*.sql show the engine.
SET pg_loom.enabled = off;
CREATE FUNCTION data_read(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE plan jsonb;
BEGIN
    EXECUTE 'EXPLAIN (ANALYZE, FORMAT JSON) ' || query INTO plan;
    RETURN (SELECT coalesce(sum(value::text::bigint), 0) FROM jsonb_path_query(plan, 'strict $.**."Data Read" ? (@.type() == "number")') value);
END $$;
SET max_parallel_workers_per_gather = 0;
-- A count needs no data; a sum the bytes of its column only, whole.
SELECT data_read('SELECT count(*) FROM sorted_p') AS count_bytes;
SELECT data_read('SELECT sum(v) FROM sorted_p') = (SELECT sum(compressed_bytes) FROM loom.column_chunks('sorted_p') WHERE "column" = 'v') AS only_its_column;
SELECT data_read('SELECT sum(v) FROM sorted_p WHERE k IS NOT NULL') = (SELECT sum(compressed_bytes) FROM loom.column_chunks('sorted_p')) AS both_columns;
SELECT data_read('SELECT sum(v) FROM sorted_p WHERE k = 25000') * 10 < data_read('SELECT sum(v) FROM sorted_p WHERE k > -1') AS one_page;
SELECT * FROM explained('SELECT v FROM sorted_p WHERE k = 25000') line WHERE line !~ 'Read|File';
SELECT * FROM explained('SELECT v FROM sorted_a WHERE k = 25000') line WHERE line !~ 'Read|File';
SELECT * FROM explained('SELECT v FROM sorted_p WHERE k < 0') line WHERE line !~ 'Read|File';
SELECT * FROM explained('SELECT v FROM sorted_p WHERE k IN (5, 49999)') line WHERE line !~ 'Read|File';
SELECT * FROM explained('SELECT v FROM sorted_p WHERE k = 5 OR k = 49999') line WHERE line !~ 'Read|File';
SELECT * FROM explained('SELECT v FROM sorted_p WHERE k IS NULL') line WHERE line !~ 'Read|File';
SET pg_loom.skip_with_statistics = off;
SELECT * FROM explained('SELECT v FROM sorted_p WHERE k = 25000') line WHERE line !~ 'Read|File';
RESET pg_loom.skip_with_statistics;
-- A table without rows, a column of NULLs only.
SELECT * FROM explained('SELECT id FROM all_types_p WHERE nul > 0') line WHERE line !~ 'Read|File';
RESET max_parallel_workers_per_gather;
DROP FUNCTION data_read;
