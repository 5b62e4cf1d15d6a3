-- A folder: one table a file or partitioned folder; LIMIT TO and EXCEPT.
CREATE SCHEMA lake;
IMPORT FOREIGN SCHEMA "/tmp/pg_loom_regress" LIMIT TO (hive, days, six, mydata, drift_1) FROM SERVER arrow_fdw INTO lake;
SELECT c.relname, t.ftoptions FROM pg_foreign_table t JOIN pg_class c ON c.oid = ftrelid
WHERE relnamespace = 'lake'::regnamespace ORDER BY 1;
SELECT count(*) FROM lake.mydata;
DROP SCHEMA lake CASCADE;
CREATE SCHEMA lake;
IMPORT FOREIGN SCHEMA "/tmp/pg_loom_regress/drift" EXCEPT ("1") FROM SERVER arrow_fdw INTO lake;
SELECT relname FROM pg_class WHERE relnamespace = 'lake'::regnamespace;
-- Mistakes.
IMPORT FOREIGN SCHEMA x FROM SERVER arrow_fdw INTO lake;
IMPORT FOREIGN SCHEMA x FROM SERVER arrow_fdw INTO lake OPTIONS (file '/tmp/pg_loom_regress/nothing.parquet');
IMPORT FOREIGN SCHEMA x FROM SERVER arrow_fdw INTO lake OPTIONS (file '/tmp/pg_loom_regress/six.csv');
IMPORT FOREIGN SCHEMA x FROM SERVER arrow_fdw INTO lake OPTIONS (fiel '/tmp/pg_loom_regress/six.csv');
IMPORT FOREIGN SCHEMA x FROM SERVER arrow_fdw INTO lake OPTIONS (dir '/tmp/pg_loom_regress/sizes', suffix 'nix');
DROP SCHEMA lake CASCADE;
-- More columns than CREATE FOREIGN TABLE allows.
SELECT loom.arrow_fdw_import_file('wide_a', '/tmp/pg_loom_regress/mytable.arrow');
SELECT loom.arrow_fdw_import_file('wide_p', '/tmp/pg_loom_regress/mytable.parquet', 'public');
SELECT relnatts, (SELECT count(*) FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0) FROM pg_class c WHERE relname IN ('wide_a', 'wide_p');
SELECT c0, c1599, c1600, c1999 FROM wide_a;
SELECT c0, c1599, c1600, c1999 FROM wide_p WHERE c1999 > 2000 ORDER BY c1999;
SELECT sum(c1998), count(*) FROM wide_p;
SET pg_loom.enabled = off;
SELECT * FROM explained('SELECT c1999 FROM wide_p WHERE c1700 > 20000') line WHERE line !~ 'Data Read|Read c|File';
RESET pg_loom.enabled;
SELECT w.c1999 FROM wide_a w JOIN wide_p p ON w.c1700 = p.c1700 ORDER BY 1;
DROP FOREIGN TABLE wide_a, wide_p;
