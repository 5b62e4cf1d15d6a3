-- Moments in time zones: the session's, and named ones.
SET TimeZone = 'Europe/Berlin';
EXPLAIN (COSTS OFF) SELECT date_trunc('day', tz_us), count(*) FROM all_types_p WHERE extract(hour FROM tz_us) < 7 GROUP BY 1;
EXPLAIN (COSTS OFF) SELECT (tz_us AT TIME ZONE 'America/New_York')::date, count(*) FROM all_types_p GROUP BY 1;
SELECT z AS zone, string_agg(DISTINCT same('SELECT ' || e || ' AS x, count(*) FROM %t GROUP BY 1') , ' ' ORDER BY same('SELECT ' || e || ' AS x, count(*) FROM %t GROUP BY 1')) AS answers
FROM unnest('{UTC,Europe/Berlin,America/New_York,Asia/Kolkata,Australia/Lord_Howe,Etc/GMT+5,<+03>-3}'::text[]) z,
    LATERAL set_config('TimeZone', z, false) s,
    unnest(ARRAY['date_trunc(''day'', tz_us)', 'date_trunc(''hour'', tz_us)', 'date_trunc(''week'', tz_us)', 'date_trunc(''century'', tz_us)',
        'tz_us::date', 'tz_us::timestamp', 'ts_us::timestamptz', 'dt::timestamptz', 'extract(dow FROM tz_us)', 'extract(epoch FROM tz_us)',
        'date_part(''hour'', tz_us)', 'tz_us AT TIME ZONE ''America/Sao_Paulo''', 'ts_us AT TIME ZONE ''America/Sao_Paulo''',
        'date_trunc(''day'', tz_us, ''Asia/Tehran'')', 'tz_us AT TIME ZONE ''UTC''', 'tz_us AT TIME ZONE ''EST''',
        'tz_us + interval ''1 month''', 'tz_us - interval ''1 year 3 days 04:05:06''', 'tz_us + interval ''-2 days''', 'tz_us + (i4 % 5000) * interval ''1 day''',
        'extract(timezone FROM tz_us)', 'tz_us AT TIME ZONE ''Nowhere/Land''']) e
GROUP BY z ORDER BY z COLLATE "C";
-- Around every change of a year, by way of rows that PostgreSQL makes: clocks that go forward, back, by half an hour, over the
-- date line, and to a time that is standard before and after.
CREATE FUNCTION moments(zone text, expr text, year text, engine bool) RETURNS text LANGUAGE plpgsql AS $$
DECLARE result text;
BEGIN
    PERFORM set_config('TimeZone', zone, true), set_config('pg_loom.enabled', engine::text, true);
    EXECUTE format('SELECT count(*) || md5(string_agg(x::text, '' '' ORDER BY u)) FROM (SELECT u, %s AS x
        FROM (SELECT t AS u, t AT TIME ZONE ''UTC'' AS t FROM generate_series(%L::timestamp, %L::timestamp + ''1 year 1 day'', ''17 minutes'') t) a OFFSET 0) b',
        expr, year || '-01-01', year || '-01-01') INTO result;
    RETURN result;
END $$;
SET pg_loom.shim = on;
SELECT zone, year, string_agg(expr, '; ' ORDER BY expr COLLATE "C") FILTER (WHERE moments(zone, expr, year, true) IS DISTINCT FROM moments(zone, expr, year, false)) AS differ, count(*)
FROM (VALUES ('Europe/Berlin', '2021'), ('America/New_York', '1974'), ('Australia/Lord_Howe', '2020'), ('Pacific/Apia', '2011'), ('Europe/Moscow', '2014'),
    ('Europe/Dublin', '2019'), ('Africa/Casablanca', '2023'), ('America/Caracas', '2007'), ('Antarctica/Troll', '2022'), ('Asia/Pyongyang', '2018')) z (zone, year),
    unnest(ARRAY['t::timestamp', 'date_trunc(''hour'', t)', 'date_trunc(''day'', t)', 'date_trunc(''quarter'', t)', 't::date', 'u::timestamptz', 'u::date::timestamptz',
        'u AT TIME ZONE ''America/Havana''', 't AT TIME ZONE ''America/Havana''', 'extract(minute FROM t)', 't + interval ''1 day''', 't - interval ''1 month 1 day 1 hour''', 't + interval ''-7 days 02:30''', 'date_trunc(''minute'', t, ''Asia/Kathmandu'')']) expr
GROUP BY zone, year ORDER BY zone COLLATE "C";
RESET pg_loom.shim;
DROP FUNCTION moments(text, text, text, bool);
-- A plan holds for the zone that it was made in.
SET plan_cache_mode = force_generic_plan;
PREPARE days AS SELECT count(DISTINCT tz_us::date) FROM all_types_p;
SET TimeZone = 'UTC';
EXECUTE days;
SET TimeZone = 'Asia/Tokyo';
EXECUTE days;
SET pg_loom.enabled = off;
EXECUTE days;
RESET pg_loom.enabled;
DEALLOCATE days;
RESET plan_cache_mode;
RESET TimeZone;
