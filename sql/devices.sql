-- Devices that run parts of queries.

CREATE FUNCTION loom.gpu_devices()
    RETURNS TABLE (number int, name text, architecture text, memory bigint, free bigint, columns bigint,
                   problem text)
    LANGUAGE c STRICT AS 'MODULE_PATHNAME', 'loom_gpu_devices';
COMMENT ON FUNCTION loom.gpu_devices() IS 'what the view gpu_devices shows';

CREATE VIEW loom.gpu_devices AS SELECT * FROM loom.gpu_devices();
COMMENT ON VIEW loom.gpu_devices
    IS 'GPUs: bytes of memory, free ones, those that columns take; or why there are none';
GRANT SELECT ON loom.gpu_devices TO PUBLIC;

CREATE FUNCTION loom.gpu_cache()
    RETURNS TABLE (device int, path text, "column" text, type text, encoding text, rows bigint,
                   bytes bigint, uses bigint, idle_seconds float8, in_use boolean)
    LANGUAGE c STRICT AS 'MODULE_PATHNAME', 'loom_gpu_cache';
COMMENT ON FUNCTION loom.gpu_cache() IS 'what the view gpu_cache shows';
REVOKE EXECUTE ON FUNCTION loom.gpu_cache() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION loom.gpu_cache() TO pg_monitor;

CREATE VIEW loom.gpu_cache AS SELECT * FROM loom.gpu_cache();
COMMENT ON VIEW loom.gpu_cache IS 'columns of files that are in the memory of GPUs';
GRANT SELECT ON loom.gpu_cache TO pg_monitor;

-- The files of a table, of its partitions and of what inherits from it.
CREATE FUNCTION loom.gpu_files(relation regclass) RETURNS SETOF text
    LANGUAGE sql STABLE STRICT
AS $$
    WITH RECURSIVE parts AS (
        SELECT relation::oid AS id
        UNION
        SELECT i.inhrelid FROM parts p JOIN pg_catalog.pg_inherits i ON i.inhparent = p.id
    )
    SELECT f.path
    FROM parts p
    JOIN pg_catalog.pg_foreign_table t ON t.ftrelid = p.id
    JOIN pg_catalog.pg_foreign_server s ON s.oid = t.ftserver
    JOIN pg_catalog.pg_foreign_data_wrapper w ON w.oid = s.srvfdw AND w.fdwname = 'arrow_fdw'
    CROSS JOIN LATERAL loom.files(p.id::pg_catalog.regclass) f
$$;
COMMENT ON FUNCTION loom.gpu_files(regclass) IS 'files of a table and of all below it';

CREATE FUNCTION loom.gpu_load(relation regclass, columns name[] DEFAULT NULL) RETURNS bigint
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    SET pg_loom.enabled = on SET pg_loom.force = on SET pg_loom.device = gpu
AS $$
DECLARE
    wanted name;
    trouble text;
BEGIN
    SELECT d.problem INTO trouble FROM loom.gpu_devices() d LIMIT 1;
    IF trouble IS NOT NULL THEN
        RAISE EXCEPTION 'no GPU to load columns to: %', trouble
            USING ERRCODE = 'object_not_in_prerequisite_state';
    END IF;
    FOREACH wanted IN ARRAY coalesce(columns, ARRAY[]::name[]) LOOP
        IF NOT EXISTS (SELECT FROM pg_catalog.pg_attribute a
                       WHERE a.attrelid = relation AND a.attname = wanted AND a.attnum > 0
                             AND NOT a.attisdropped) THEN
            RAISE EXCEPTION 'column "%" of relation "%" does not exist', wanted, relation
                USING ERRCODE = 'undefined_column';
        END IF;
    END LOOP;
    -- Kernels that count a column need it on the device, if it is of a type that they know.
    FOR wanted IN
        SELECT a.attname FROM pg_catalog.pg_attribute a
        WHERE a.attrelid = relation AND a.attnum > 0 AND NOT a.attisdropped
              AND (columns IS NULL OR a.attname = ANY (columns))
              AND (a.atttypid = ANY ('{bool,int2,int4,int8,date,time,timestamp,timestamptz,text,varchar}'::regtype[])
                   OR a.atttypid = 'numeric'::regtype AND a.atttypmod >= 4
                      AND (a.atttypmod - 4) >> 16 <= 18)
        ORDER BY a.attnum
    LOOP
        EXECUTE pg_catalog.format('SELECT pg_catalog.count(%I) FROM %s', wanted, relation);
    END LOOP;
    RETURN (SELECT coalesce(sum(c.bytes), 0) FROM loom.gpu_cache() c
            WHERE c.path IN (SELECT loom.gpu_files(relation)));
END
$$;
COMMENT ON FUNCTION loom.gpu_load(regclass, name[])
    IS 'brings columns of a table to the GPU; how many bytes the table then takes there';
REVOKE EXECUTE ON FUNCTION loom.gpu_load(regclass, name[]) FROM PUBLIC;

CREATE FUNCTION loom.gpu_evict_file(path text) RETURNS bigint
    LANGUAGE c STRICT AS 'MODULE_PATHNAME', 'loom_gpu_evict_file';
COMMENT ON FUNCTION loom.gpu_evict_file(text)
    IS 'drops columns of a file ('''': of all files) from the GPU that no query uses; the bytes that are free again';
REVOKE EXECUTE ON FUNCTION loom.gpu_evict_file(text) FROM PUBLIC;

CREATE FUNCTION loom.gpu_evict(relation regclass DEFAULT NULL) RETURNS bigint
    LANGUAGE sql
AS $$
    SELECT CASE WHEN relation IS NULL THEN loom.gpu_evict_file('')
                ELSE (SELECT coalesce(sum(loom.gpu_evict_file(f)), 0)::bigint
                      FROM loom.gpu_files(relation) f) END
$$;
COMMENT ON FUNCTION loom.gpu_evict(regclass)
    IS 'drops columns of a table (NULL: all) from the GPU that no query uses; the bytes that are free again';
REVOKE EXECUTE ON FUNCTION loom.gpu_evict(regclass) FROM PUBLIC;
