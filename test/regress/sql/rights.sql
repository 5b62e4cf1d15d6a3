-- Setting a path needs pg_read_server_files; reading needs SELECT.
CREATE ROLE regress_reader;
CREATE ROLE regress_definer IN ROLE pg_read_server_files;
GRANT USAGE ON FOREIGN SERVER arrow_fdw TO regress_reader, regress_definer;
GRANT CREATE ON SCHEMA public TO regress_reader, regress_definer;
SELECT coalesce(max(xmin::text), '') AS statistics FROM pg_statistic WHERE starelid = 'six_p'::regclass \gset
SET ROLE regress_reader;
CREATE FOREIGN TABLE stolen (a text) SERVER arrow_fdw OPTIONS (file '/etc/passwd');
CREATE FOREIGN TABLE stolen (a text) SERVER arrow_fdw OPTIONS (dir '/etc');
IMPORT FOREIGN SCHEMA "/etc" FROM SERVER arrow_fdw INTO public;
IMPORT FOREIGN SCHEMA x FROM SERVER arrow_fdw INTO public OPTIONS (file '/nowhere/at/all');
SELECT loom.arrow_fdw_import_file('x', '/nowhere/at/all');
SELECT count(*) FROM six_p;
SELECT id FROM six_p;
SELECT * FROM loom.files('six_p');
SELECT * FROM loom.column_chunks('six_p');
EXPLAIN (COSTS OFF) SELECT id FROM six_p;
SET client_min_messages = error; -- the warning's words differ between versions
ANALYZE six_p;
RESET client_min_messages;
RESET ROLE;
SELECT max(xmin::text) IS NOT DISTINCT FROM nullif(:'statistics', '') AS not_analyzed FROM pg_statistic WHERE starelid = 'six_p'::regclass;
GRANT SELECT ON six_p TO regress_reader;
GRANT SELECT (k) ON sorted_p TO regress_reader;
SET ROLE regress_reader;
SELECT count(*) FROM six_p;
SELECT count(k) FROM sorted_p;
SELECT v FROM sorted_p;
RESET ROLE;
SET ROLE regress_definer;
CREATE FOREIGN TABLE own (id int) SERVER arrow_fdw OPTIONS (file '/tmp/pg_loom_regress/six.parquet');
SELECT count(*) FROM own;
CREATE FOREIGN TABLE passwd (id int) SERVER arrow_fdw OPTIONS (file '/etc/passwd');
SELECT * FROM passwd;
CREATE VIEW shared AS SELECT id FROM own WHERE id > 3;
GRANT SELECT ON shared TO regress_reader;
RESET ROLE;
SET ROLE regress_reader;
SELECT * FROM shared;
SELECT * FROM own;
ALTER FOREIGN TABLE own OPTIONS (SET file '/etc/passwd');
RESET ROLE;
-- No function of ours that names a file may be run by everybody.
SELECT p.oid::regprocedure FROM pg_proc p JOIN pg_depend d ON d.objid = p.oid AND d.deptype = 'e'
WHERE d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'pg_loom')
  AND pg_get_function_arguments(p.oid) ~ 'file' AND pg_get_function_arguments(p.oid) !~ 'fname'
  AND has_function_privilege('regress_reader', p.oid, 'EXECUTE');
DROP VIEW shared;
DROP FOREIGN TABLE own, passwd;
REVOKE ALL ON six_p, sorted_p FROM regress_reader;
REVOKE SELECT (k) ON sorted_p FROM regress_reader;
REVOKE USAGE ON FOREIGN SERVER arrow_fdw FROM regress_reader, regress_definer;
REVOKE CREATE ON SCHEMA public FROM regress_reader, regress_definer;
DROP ROLE regress_reader, regress_definer;
