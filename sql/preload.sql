-- The planner hook has to be there before a session plans its first query, so sessions of this database load
-- the library when they start. Where shared_preload_libraries has it already, nothing is set. DROP EXTENSION
-- leaves the setting: ALTER DATABASE ... RESET session_preload_libraries takes it away.
DO $preload$
DECLARE
    libraries text[];
BEGIN
    IF 'pg_loom' = ANY (SELECT trim(both ' "' FROM item)
                        FROM regexp_split_to_table(current_setting('shared_preload_libraries'), ',') AS item) THEN
        RETURN;
    END IF;
    -- What the database sets replaces what the server sets, so the latter is taken over.
    SELECT array_agg(trim(both ' "' FROM item))
    INTO libraries
    FROM regexp_split_to_table(
        coalesce((SELECT substr(entry, length('session_preload_libraries=') + 1)
                  FROM pg_catalog.pg_db_role_setting AS setting
                  CROSS JOIN unnest(setting.setconfig) AS entry
                  WHERE setting.setrole = 0
                    AND setting.setdatabase = (SELECT oid FROM pg_catalog.pg_database
                                               WHERE datname = current_database())
                    AND entry LIKE 'session\_preload\_libraries=%'),
                 current_setting('session_preload_libraries')), ',') AS item
    WHERE trim(item) <> '';
    IF 'pg_loom' = ANY (libraries) THEN
        RETURN;
    END IF;
    EXECUTE format('ALTER DATABASE %I SET session_preload_libraries = %s', current_database(),
                   (SELECT string_agg(quote_literal(library), ', ')
                    FROM unnest(libraries || 'pg_loom'::text) AS library));
END
$preload$;
