-- Units, epochs and zones. Finer units are floored to microseconds, by one rule in values and filters.
SELECT * FROM timestamps_p;
SELECT same('SELECT * FROM %t', 'timestamps');
SELECT * FROM (SELECT same(format('SELECT * FROM %%t WHERE %s %s %L', col, op, moment), 'timestamps') AS result, col, op, moment
FROM unnest('{ts_ms,ts_us,ts_ns,tz_ms,tz_us,tz_ns}'::text[]) col, unnest('{=,<,>=}'::text[]) op,
     unnest('{2000-01-01,1970-01-01,1969-12-31 23:59:59.999999,2262-04-11 23:47:16.854775,1677-09-21 00:12:44}'::text[]) moment) r
WHERE result NOT LIKE 'same: %';
IMPORT FOREIGN SCHEMA nanos_p FROM SERVER arrow_fdw INTO public OPTIONS (file '/tmp/pg_loom_regress/nanos.parquet');
IMPORT FOREIGN SCHEMA nanos_a FROM SERVER arrow_fdw INTO public OPTIONS (file '/tmp/pg_loom_regress/nanos.arrow');
SELECT * FROM nanos_p;
SELECT * FROM nanos_a WHERE ns = '1969-12-31 23:59:59.999999';
SELECT * FROM nanos_p WHERE ns = '1969-12-31 23:59:59.999999';
SELECT * FROM nanos_p WHERE ns > '1969-12-31 23:59:59.999999' AND ns <= '1970-01-01';
-- What is shown follows TimeZone, the instant does not.
SET timezone = 'America/New_York';
SELECT tz_us FROM timestamps_p WHERE tz_us = '2000-01-01 00:00+00';
SELECT same('SELECT * FROM %t WHERE tz_us >= ''2000-01-01''', 'timestamps');
SELECT same('SELECT * FROM %t WHERE tz_us >= timestamp ''1999-12-31 19:00''', 'timestamps');
SELECT same('SELECT * FROM %t WHERE ts_us < timestamptz ''2000-01-01 00:00-05''', 'timestamps');
SELECT same('SELECT * FROM %t WHERE ts_us::timestamptz = ''2000-01-01''', 'timestamps');
SELECT same('SELECT * FROM %t WHERE tz_us::date = ''1999-12-31''', 'timestamps');
-- Declared the other way round: PostgreSQL's cast in the session's zone.
CREATE FOREIGN TABLE crossed (ts_us timestamptz, tz_us timestamp) SERVER arrow_fdw
    OPTIONS (file '/tmp/pg_loom_regress/timestamps.parquet');
SELECT * FROM crossed WHERE tz_us = '1999-12-31 19:00' OR ts_us = '2000-01-01 00:00-05';
RESET timezone;
DROP FOREIGN TABLE nanos_p, nanos_a, crossed;
