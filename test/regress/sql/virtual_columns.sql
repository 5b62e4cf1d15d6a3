-- Values from paths and metadata, and files that they exclude.
-- Shows foreign scans; engine_*.sql show the engine.
SET pg_loom.enabled = off;
IMPORT FOREIGN SCHEMA hive FROM SERVER arrow_fdw INTO public
    OPTIONS (dir '/tmp/pg_loom_regress/hive', hive_partitioning 'true');
\d hive
SELECT * FROM hive ORDER BY v;
SELECT v FROM hive WHERE k IS NULL;
SELECT v FROM hive WHERE k = '';
SELECT v FROM hive WHERE k NOT IN ('01', '1') ORDER BY v;
SELECT * FROM explained('SELECT v FROM hive WHERE k = ''a/b''');
IMPORT FOREIGN SCHEMA days FROM SERVER arrow_fdw INTO public
    OPTIONS (dir '/tmp/pg_loom_regress/days', hive_partitioning 'true');
\d days
SELECT day, place, sum(v) FROM days GROUP BY 1, 2 ORDER BY 1, 2;
SELECT * FROM explained('SELECT sum(v) FROM days WHERE day >= ''2024-01-31'' AND place = 1') line WHERE line !~ 'Read';
-- A key as parameter and as join key.
PREPARE d(date) AS SELECT count(*) FROM days WHERE day = $1;
SET plan_cache_mode = force_generic_plan;
EXECUTE d('2024-02-01');
SELECT * FROM explained('EXECUTE d(''2024-02-01'')') line WHERE line ~ 'Files';
RESET plan_cache_mode;
-- Pattern keys, file names, metadata.
IMPORT FOREIGN SCHEMA pattern FROM SERVER arrow_fdw INTO public
    OPTIONS (dir '/tmp/pg_loom_regress/pattern', pattern 'f_@{ymd}_${region}.arrow');
\d pattern
SELECT * FROM pattern ORDER BY ymd, region;
SELECT * FROM explained('SELECT v FROM pattern WHERE region = ''tokyo'' AND ymd > 202408') line WHERE line ~ 'Files|File Filter|rows=';
CREATE FOREIGN TABLE named (v int, path text OPTIONS (virtual '@pathname'), file text OPTIONS (virtual '@filename'),
    mark text OPTIONS (virtual_metadata 'no such key'))
    SERVER arrow_fdw OPTIONS (dir '/tmp/pg_loom_regress/pattern', suffix '.arrow');
SELECT * FROM named ORDER BY path LIMIT 1;
CREATE FOREIGN TABLE bounds (id int, low int OPTIONS (virtual_metadata_split 'id.min_values'),
    lows text OPTIONS (virtual_metadata 'id.min_values'))
    SERVER arrow_fdw OPTIONS (file '/tmp/pg_loom_regress/six.arrow');
SELECT * FROM bounds;
CREATE FOREIGN TABLE wrong_key (v int, k text OPTIONS (virtual 'nokey'))
    SERVER arrow_fdw OPTIONS (dir '/tmp/pg_loom_regress/pattern');
SELECT * FROM wrong_key;
DEALLOCATE ALL;
DROP FOREIGN TABLE hive, days, pattern, named, bounds, wrong_key;
