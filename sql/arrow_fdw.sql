-- The foreign data wrapper and its server, under the names that the field knows.

CREATE FUNCTION loom.arrow_fdw_handler() RETURNS fdw_handler
    LANGUAGE c STRICT AS 'MODULE_PATHNAME', 'loom_arrow_fdw_handler';
COMMENT ON FUNCTION loom.arrow_fdw_handler() IS 'handler of arrow_fdw';

CREATE FUNCTION loom.arrow_fdw_validator(text[], oid) RETURNS void
    LANGUAGE c STRICT AS 'MODULE_PATHNAME', 'loom_arrow_fdw_validator';
COMMENT ON FUNCTION loom.arrow_fdw_validator(text[], oid) IS 'option checks of arrow_fdw';

CREATE FOREIGN DATA WRAPPER arrow_fdw
    HANDLER loom.arrow_fdw_handler VALIDATOR loom.arrow_fdw_validator;
COMMENT ON FOREIGN DATA WRAPPER arrow_fdw IS 'reads Arrow and Parquet files in place';

CREATE SERVER arrow_fdw FOREIGN DATA WRAPPER arrow_fdw;
COMMENT ON SERVER arrow_fdw IS 'Arrow and Parquet files of this host';

CREATE FUNCTION loom.arrow_fdw_import_file(relname text, filename text, schema text DEFAULT NULL)
    RETURNS void
    LANGUAGE c AS 'MODULE_PATHNAME', 'loom_arrow_fdw_import_file';
COMMENT ON FUNCTION loom.arrow_fdw_import_file(text, text, text)
    IS 'makes a foreign table of a file, of any number of columns';
REVOKE EXECUTE ON FUNCTION loom.arrow_fdw_import_file(text, text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION loom.arrow_fdw_import_file(text, text, text) TO pg_read_server_files;
