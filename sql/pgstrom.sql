-- The same functions where users of PG-Strom call them.

CREATE SCHEMA pgstrom;
GRANT USAGE ON SCHEMA pgstrom TO PUBLIC;
GRANT USAGE ON SCHEMA loom TO PUBLIC;

CREATE FUNCTION pgstrom.arrow_fdw_import_file(relname text, filename text, schema text DEFAULT NULL)
    RETURNS void
    LANGUAGE c AS 'MODULE_PATHNAME', 'loom_arrow_fdw_import_file';
COMMENT ON FUNCTION pgstrom.arrow_fdw_import_file(text, text, text)
    IS 'as loom.arrow_fdw_import_file';
REVOKE EXECUTE ON FUNCTION pgstrom.arrow_fdw_import_file(text, text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION pgstrom.arrow_fdw_import_file(text, text, text) TO pg_read_server_files;

CREATE FUNCTION pgstrom.arrow_fdw_metadata_info(relation regclass)
    RETURNS TABLE (relid oid, filename text, field text, key text, value text)
    LANGUAGE c STRICT AS 'MODULE_PATHNAME', 'loom_arrow_fdw_metadata_info';
COMMENT ON FUNCTION pgstrom.arrow_fdw_metadata_info(regclass) IS 'as loom.arrow_fdw_metadata_info';

CREATE FUNCTION pgstrom.arrow_fdw_check_pattern(fname text, pattern text) RETURNS text
    LANGUAGE c IMMUTABLE STRICT AS 'MODULE_PATHNAME', 'loom_arrow_fdw_check_pattern';
COMMENT ON FUNCTION pgstrom.arrow_fdw_check_pattern(text, text) IS 'as loom.arrow_fdw_check_pattern';
