-- Options and their mistakes.
CREATE FOREIGN TABLE t (a int) SERVER arrow_fdw;
CREATE FOREIGN TABLE t (a int) SERVER arrow_fdw OPTIONS (fille '/x');
CREATE FOREIGN TABLE t (a int) SERVER arrow_fdw OPTIONS (file 'relative.parquet');
CREATE FOREIGN TABLE t (a int) SERVER arrow_fdw OPTIONS (file '/a', dir '/b');
CREATE FOREIGN TABLE t (a int) SERVER arrow_fdw OPTIONS (file '/a', suffix 'x');
CREATE FOREIGN TABLE t (a int) SERVER arrow_fdw OPTIONS (dir '/a', pattern 'x${');
CREATE FOREIGN TABLE t (a int) SERVER arrow_fdw OPTIONS (dir '/a', parallel_workers '-1');
CREATE FOREIGN TABLE t (a int) SERVER arrow_fdw OPTIONS (dir '/a', hive_partitioning 'perhaps');
CREATE FOREIGN TABLE t (a int) SERVER arrow_fdw OPTIONS (dir '/a', missing_columns 'zero');
CREATE FOREIGN TABLE t (a int OPTIONS (field 'x', virtual 'y')) SERVER arrow_fdw OPTIONS (dir '/a');
CREATE FOREIGN TABLE t (a int OPTIONS (feild 'x')) SERVER arrow_fdw OPTIONS (dir '/a');
ALTER SERVER arrow_fdw OPTIONS (ADD host 'x');
-- A directory without files is an empty table; one that is not there is an error.
CREATE FOREIGN TABLE none (a int) SERVER arrow_fdw OPTIONS (dir '/tmp/pg_loom_regress', suffix '.none');
SELECT count(*), sum(a) FROM none;
ALTER FOREIGN TABLE none OPTIONS (SET dir '/tmp/pg_loom_regress/nowhere');
SELECT count(*) FROM none;
ALTER FOREIGN TABLE none OPTIONS (SET dir '/tmp/pg_loom_regress/sizes/', SET suffix 'parquet');
ALTER FOREIGN TABLE none RENAME a TO id;
SELECT count(*), sum(id) FROM none;
DROP FOREIGN TABLE none;
