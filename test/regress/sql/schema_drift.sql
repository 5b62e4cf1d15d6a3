-- Files of one table whose columns differ in order, presence, width and format.
IMPORT FOREIGN SCHEMA drift FROM SERVER arrow_fdw INTO public OPTIONS (dir '/tmp/pg_loom_regress/drift');
\d drift
SELECT * FROM drift ORDER BY a;
SELECT c FROM drift WHERE c IS NOT NULL;
SELECT b FROM drift WHERE a > 2;
CREATE FOREIGN TABLE strict (a bigint, c float8) SERVER arrow_fdw OPTIONS (dir '/tmp/pg_loom_regress/drift');
SELECT a FROM strict ORDER BY a;
SELECT c FROM strict;
-- Names: exact first, then without regard to case if that is unambiguous.
IMPORT FOREIGN SCHEMA names FROM SERVER arrow_fdw INTO public OPTIONS (file '/tmp/pg_loom_regress/names.parquet');
\d names
SELECT * FROM names;
CREATE FOREIGN TABLE folded ("SELECT" int, "Ü" int) SERVER arrow_fdw OPTIONS (file '/tmp/pg_loom_regress/names.parquet');
SELECT "SELECT" FROM folded;
IMPORT FOREIGN SCHEMA twice FROM SERVER arrow_fdw INTO public OPTIONS (file '/tmp/pg_loom_regress/twice.arrow');
\d twice
SELECT * FROM twice;
CREATE FOREIGN TABLE ambiguous (a int) SERVER arrow_fdw OPTIONS (file '/tmp/pg_loom_regress/twice.arrow');
SELECT * FROM ambiguous;
DROP FOREIGN TABLE drift, strict, names, folded, twice, ambiguous;
