-- What lies behind a table. Each function needs SELECT on the table.

CREATE FUNCTION loom.files(relation regclass)
    RETURNS TABLE (path text, format text, size bigint, rows bigint, row_groups bigint,
                   columns integer, modified timestamptz)
    LANGUAGE c STRICT AS 'MODULE_PATHNAME', 'loom_files';
COMMENT ON FUNCTION loom.files(regclass) IS 'files of a table, from their metadata';

CREATE FUNCTION loom.column_chunks(relation regclass)
    RETURNS TABLE (path text, row_group bigint, row_group_rows bigint, "column" text, type text,
                   encodings text, codec text, "offset" bigint, compressed_bytes bigint,
                   uncompressed_bytes bigint, "values" bigint, min text, max text,
                   min_exact boolean, max_exact boolean, null_count bigint, distinct_count bigint,
                   has_dictionary boolean, has_page_index boolean, has_bloom_filter boolean)
    LANGUAGE c STRICT AS 'MODULE_PATHNAME', 'loom_column_chunks';
COMMENT ON FUNCTION loom.column_chunks(regclass)
    IS 'columns of each row group of a table''s files: sizes, encodings, statistics';

CREATE FUNCTION loom.arrow_fdw_metadata_info(relation regclass)
    RETURNS TABLE (relid oid, filename text, field text, key text, value text)
    LANGUAGE c STRICT AS 'MODULE_PATHNAME', 'loom_arrow_fdw_metadata_info';
COMMENT ON FUNCTION loom.arrow_fdw_metadata_info(regclass)
    IS 'custom metadata of a table''s files and their fields';

CREATE FUNCTION loom.arrow_fdw_check_pattern(fname text, pattern text) RETURNS text
    LANGUAGE c IMMUTABLE STRICT AS 'MODULE_PATHNAME', 'loom_arrow_fdw_check_pattern';
COMMENT ON FUNCTION loom.arrow_fdw_check_pattern(text, text)
    IS 'how a file name matches a pattern, and the values of its keys';
