-- Devices that run parts of queries.

CREATE FUNCTION loom.gpu_devices()
    RETURNS TABLE (name text, architecture text, memory bigint, free bigint, columns bigint,
                   problem text)
    LANGUAGE c STRICT AS 'MODULE_PATHNAME', 'loom_gpu_devices';
COMMENT ON FUNCTION loom.gpu_devices() IS 'what the view gpu_devices shows';

CREATE VIEW loom.gpu_devices AS SELECT * FROM loom.gpu_devices();
COMMENT ON VIEW loom.gpu_devices
    IS 'GPUs: bytes of memory, free ones, those that columns take; or why there are none';
GRANT SELECT ON loom.gpu_devices TO PUBLIC;
