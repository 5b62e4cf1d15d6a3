-- Window functions.
SET max_parallel_workers_per_gather = 0;
SELECT same('SELECT ' || query) AS result, query
FROM unnest(ARRAY[
    'id, row_number() OVER (PARTITION BY word ORDER BY id), rank() OVER (PARTITION BY word ORDER BY b), dense_rank() OVER (PARTITION BY b ORDER BY word COLLATE "C") FROM %t',
    'id, percent_rank() OVER (PARTITION BY word ORDER BY i2), cume_dist() OVER (PARTITION BY word ORDER BY i2) FROM %t WHERE id < 3000',
    'id, ntile(7) OVER (PARTITION BY word ORDER BY id), ntile(3) OVER (ORDER BY id DESC), ntile(100000) OVER (ORDER BY id) FROM %t WHERE id < 3000',
    'id, ntile(NULL) OVER (ORDER BY id) FROM %t WHERE id < 30', 'id, ntile(0) OVER (ORDER BY id) FROM %t WHERE id < 30',
    'id, lag(i4) OVER w, lag(i4, 3) OVER w, lag(word, 2, ''none'') OVER w, lead(txt) OVER w, lead(i8, 0) OVER w, lead(i4, -1, 7) OVER w, lead(d18, 2) OVER w, lag(f8, 2000) OVER w FROM %t WINDOW w AS (PARTITION BY word ORDER BY id)',
    'id, lag(i4, i2 % 3) OVER (ORDER BY id), lead(word, i2 % 5, txt) OVER (ORDER BY id), lag(id, NULL) OVER (ORDER BY id) FROM %t WHERE id < 3000',
    'id, first_value(i4) OVER w, last_value(word) OVER w, nth_value(txt, 3) OVER w, nth_value(id, i2 % 4 + 5) OVER w FROM %t WHERE id < 3000 WINDOW w AS (PARTITION BY b ORDER BY id)',
    'id, nth_value(id, 0) OVER (ORDER BY id) FROM %t WHERE id < 30', 'id, nth_value(id, NULL) OVER (ORDER BY id) FROM %t WHERE id < 30',
    'id, first_value(i4) OVER w, last_value(word) OVER w, nth_value(txt, 2) OVER w FROM %t WHERE id < 3000 WINDOW w AS (PARTITION BY b ORDER BY id ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING)',
    'id, count(*) OVER w, count(word) OVER w, sum(i4) OVER w, sum(i8) OVER w, sum(i2) OVER w, sum(d9) OVER w, sum(d18) OVER w FROM %t WHERE id < 5000 WINDOW w AS (PARTITION BY b ORDER BY word COLLATE "C")',
    'id, count(*) OVER w, min(i4) OVER w, max(word COLLATE "C") OVER w, min(dt) OVER w, max(ts_us) OVER w, min(d18) OVER w, max(f8) OVER w, min(f4) OVER w FROM %t WHERE id < 5000 WINDOW w AS (PARTITION BY word ORDER BY id)',
    'id, avg(i4) OVER w, avg(i8) OVER w, avg(d9) OVER w, avg(i2) OVER w FROM %t WHERE id < 3000 WINDOW w AS (PARTITION BY b ORDER BY id)',
    'id, sum(f8) OVER w, sum(f4) OVER w, avg(f8) OVER w, avg(f4) OVER w FROM %t WHERE abs(f8) < 1e10 AND abs(f4) < 1e10 WINDOW w AS (ORDER BY id)',
    'id, sum(f8) OVER w, sum(f4) OVER w FROM %t WINDOW w AS (PARTITION BY id % 13 ORDER BY id)', 'id, avg(f8) OVER (ORDER BY id) FROM %t',
    'id, sum(f8) OVER w, sum(f4) OVER w, avg(f8) OVER w FROM %t WHERE abs(f8) < 1e10 WINDOW w AS (ORDER BY id ROWS BETWEEN 5 PRECEDING AND 2 FOLLOWING)',
    'id, sum(i4) OVER w, sum(d18) OVER w, avg(i8) OVER w, count(word) OVER w, min(i4) OVER w, max(i8) OVER w, min(word COLLATE "C") OVER w FROM %t WINDOW w AS (PARTITION BY word ORDER BY id ROWS BETWEEN 3 PRECEDING AND CURRENT ROW)',
    'id, sum(i4) OVER w, max(i4) OVER w, last_value(id) OVER w FROM %t WINDOW w AS (PARTITION BY b ORDER BY id ROWS BETWEEN 2 FOLLOWING AND 9 FOLLOWING)',
    'id, sum(i4) OVER w, max(i4) OVER w FROM %t WINDOW w AS (PARTITION BY b ORDER BY id ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)',
    'id, sum(i4) OVER w, count(*) OVER w FROM %t WINDOW w AS (PARTITION BY b ORDER BY id ROWS BETWEEN 5 FOLLOWING AND 2 FOLLOWING)',
    'id, sum(i4) OVER w, count(*) OVER w FROM %t WHERE id < 2000 WINDOW w AS (ORDER BY id ROWS BETWEEN 3000000000 PRECEDING AND 9223372036854775807 FOLLOWING)',
    'id, sum(i4) OVER (ORDER BY id ROWS -1 PRECEDING) FROM %t WHERE id < 30', 'id, sum(i4) OVER (ORDER BY id ROWS NULL::bigint PRECEDING) FROM %t WHERE id < 30',
    'id, count(*) OVER w, sum(id) OVER w, min(id) OVER w FROM %t WHERE id < 3000 WINDOW w AS (ORDER BY word COLLATE "C" GROUPS BETWEEN 1 PRECEDING AND 1 FOLLOWING)',
    'id, count(*) OVER w, sum(id) OVER w FROM %t WHERE id < 3000 WINDOW w AS (PARTITION BY b ORDER BY i2 % 10 DESC NULLS LAST GROUPS BETWEEN 2 FOLLOWING AND 3 FOLLOWING)',
    'id, sum(id) OVER (ORDER BY id ROWS BETWEEN 2 PRECEDING AND 2 FOLLOWING EXCLUDE CURRENT ROW) FROM %t WHERE id < 1000',
    'id, count(*) OVER (), sum(id) OVER (PARTITION BY word), max(i8) OVER (PARTITION BY b, word), bool_and(b) OVER (PARTITION BY id % 40), bool_or(b) OVER (PARTITION BY id % 3000) FROM %t',
    'id, count(*) FILTER (WHERE b) OVER w, sum(i4) FILTER (WHERE i2 > 0) OVER w, min(id) FILTER (WHERE id % 3 = 0) OVER w, sum(f8) FILTER (WHERE abs(f8) < 1000) OVER w FROM %t WHERE id < 3000 WINDOW w AS (PARTITION BY word ORDER BY id)',
    'id, nul, count(nul) OVER w, sum(i4) OVER (PARTITION BY nul ORDER BY id), lag(nul) OVER w FROM %t WHERE id < 1000 WINDOW w AS (ORDER BY id)',
    'word, count(*), sum(count(*)) OVER (ORDER BY word COLLATE "C"), rank() OVER (ORDER BY count(*) DESC) FROM %t GROUP BY word',
    'word, b, sum(sum(id)) OVER (PARTITION BY b ORDER BY word COLLATE "C") FROM %t GROUP BY word, b HAVING count(*) > 3',
    '* FROM (SELECT id, rank() OVER (PARTITION BY b ORDER BY i4) AS r FROM %t) x WHERE r <= 5',
    '* FROM (SELECT id, row_number() OVER (ORDER BY id) AS r, count(*) OVER (PARTITION BY word ORDER BY id) AS c FROM %t) x WHERE r <= 500 AND c < 7',
    '* FROM (SELECT id, row_number() OVER (PARTITION BY word ORDER BY id) AS r FROM %t WHERE id < 4000) x WHERE r BETWEEN 3 AND 5',
    'a.id, sum(b.i4) OVER (PARTITION BY a.word ORDER BY a.id) FROM %t a JOIN %t b ON b.id = a.id + 1 WHERE a.id < 3000',
    'id, stddev(i4) OVER (PARTITION BY word) FROM %t WHERE id < 300', 'id, row_number() OVER (PARTITION BY uid ORDER BY id) FROM %t WHERE id < 300',
    'id, sum(i8) OVER (ORDER BY id) FROM %t', 'id, sum(d38) OVER (ORDER BY id) FROM %t', 'id, sum(i4 / i2) OVER (ORDER BY id) FROM %t WHERE id < 3000',
    'id, row_number() OVER (PARTITION BY d9 ORDER BY id), rank() OVER (ORDER BY d18 DESC), count(*) OVER (PARTITION BY f8), rank() OVER (ORDER BY f4 NULLS FIRST) FROM %t',
    'DISTINCT ON (word) word, id, i4 FROM %t ORDER BY word, id DESC', 'DISTINCT ON (b, i2 % 9) b, i2 % 9, id FROM %t ORDER BY b, i2 % 9 DESC, id',
    'DISTINCT ON (word COLLATE "C") word, i4, id FROM %t WHERE id < 0 ORDER BY word COLLATE "C", id']) query;
SELECT same('SELECT f8, sum(f8) OVER w, min(f8) OVER w, max(f8) OVER w, avg(f4) OVER w, rank() OVER w, min(f4) OVER (ORDER BY f8 GROUPS 1 PRECEDING) FROM %t WINDOW w AS (ORDER BY f8)', 'floats');
SELECT same('SELECT f8, min(f4) OVER (PARTITION BY f8), count(*) OVER (PARTITION BY f4) FROM %t', 'floats');
-- The order that a window relies on is PostgreSQL's, and so is that of the rows.
SELECT same('SELECT array_agg(x) FROM (SELECT id, sum(id) OVER (PARTITION BY b ORDER BY id DESC) FROM %t) x');
SELECT same('SELECT array_agg(x) FROM (SELECT id, row_number() OVER () FROM %t WHERE id % 3 = 0) x');
SELECT same('SELECT array_agg(x) FROM (SELECT id, row_number() OVER (), lag(id) OVER () FROM (SELECT id FROM %t ORDER BY id DESC) y LIMIT 700) x');
SELECT same('SELECT array_agg(x) FROM (SELECT id, row_number() OVER (PARTITION BY b), sum(i4) OVER (PARTITION BY b ORDER BY id) FROM %t) x');
-- Around batches.
SELECT same(format('SELECT id, row_number() OVER w, sum(i4) OVER w, lag(word, 2, ''-'') OVER w, count(*) OVER (PARTITION BY id / 4096) FROM %%t WHERE id < %s WINDOW w AS (ORDER BY id DESC)', n))
FROM unnest(ARRAY[0, 1, 2, 1023, 1024, 1025, 2048, 4095, 4096, 4097, 8193]) n;
SELECT same('SELECT id, sum(10 / (id - 3)) OVER (ORDER BY id) FROM %t', 'six'), same('SELECT id, sum(10 / (id - 3)) FILTER (WHERE id <> 3) OVER (ORDER BY id) FROM %t', 'six');
-- Many rows are sorted and computed in parts, each with whole partitions; with little memory from temporary files.
SELECT same('SELECT count(*), sum(r), sum(s), sum(m::numeric), sum(c), max(f) FROM (SELECT row_number() OVER (PARTITION BY a.word, b.id % 97 ORDER BY a.id, b.id) AS r, sum(a.i4) OVER (PARTITION BY a.word, b.id % 97 ORDER BY a.id, b.id) AS s, max(b.i8) OVER (PARTITION BY a.word ORDER BY b.id % 97, a.id, b.id) AS m, count(*) OVER (PARTITION BY a.word) AS c, first_value(b.id) OVER (PARTITION BY a.word, b.id % 97 ORDER BY a.id, b.id ROWS 3 PRECEDING) AS f FROM %t a JOIN %t b ON b.id % 50 = a.id % 50 WHERE b.id < 2500) x');
SELECT same('SELECT count(*), sum(r), sum(s::numeric) FROM (SELECT row_number() OVER (PARTITION BY b.b ORDER BY a.id, b.id) AS r, lag(a.i4, 2, 5) OVER (PARTITION BY b.b ORDER BY a.id, b.id) AS s FROM %t a JOIN %t b ON b.id % 50 = a.id % 50 WHERE b.id < 2500) x WHERE r % 3 = 0');
SET pg_loom.memory = '4MB';
SELECT same('SELECT count(*), sum(r), sum(s), sum(c) FROM (SELECT row_number() OVER (PARTITION BY a.word, b.id % 97 ORDER BY a.id, b.id) AS r, sum(a.i4) OVER (PARTITION BY a.word, b.id % 97 ORDER BY a.id, b.id) AS s, count(*) OVER (PARTITION BY a.word, b.id % 97) AS c FROM %t a JOIN %t b ON b.id % 50 = a.id % 50 WHERE b.id < 2500) x');
RESET pg_loom.memory;
EXPLAIN (COSTS OFF) SELECT id, sum(i4) OVER (PARTITION BY word ORDER BY id ROWS BETWEEN 2 PRECEDING AND CURRENT ROW), rank() OVER (ORDER BY b) FROM all_types_p;
EXPLAIN (COSTS OFF, VERBOSE) SELECT * FROM (SELECT id, row_number() OVER (PARTITION BY b ORDER BY i4) AS r FROM all_types_p) x WHERE r <= 2;
EXPLAIN (COSTS OFF) SELECT DISTINCT ON (word) word, id FROM all_types_p ORDER BY word, id DESC;
SELECT * FROM explained('SELECT id, sum(i2) OVER (ORDER BY id ROWS 3 PRECEDING EXCLUDE TIES) FROM six_h JOIN all_types_p USING (id)') line WHERE line ~ 'Pushed|LoomScan';
RESET max_parallel_workers_per_gather;
-- Frames by differences of values: NULLs at either end, either order, bounds that go back (months added to the last days of one).
SELECT same('SELECT ' || query) AS result, query
FROM unnest(ARRAY[
    'id, sum(id) OVER (ORDER BY i2 RANGE BETWEEN 100 PRECEDING AND 100 FOLLOWING) FROM %t WHERE id < 1000',
    'id, count(*) OVER w, min(i4) OVER w, first_value(id) OVER w, last_value(id) OVER w FROM %t WINDOW w AS (PARTITION BY word ORDER BY i2, id RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)',
    'id, count(*) OVER w, sum(i4) OVER w, max(id) OVER w FROM %t WINDOW w AS (PARTITION BY b ORDER BY i2 DESC RANGE BETWEEN 50 PRECEDING AND 20 PRECEDING)',
    'id, count(*) OVER w, sum(i4) OVER w FROM %t WINDOW w AS (PARTITION BY b ORDER BY i2 NULLS FIRST RANGE BETWEEN 5 FOLLOWING AND 200 FOLLOWING)',
    'id, count(*) OVER w, sum(id) OVER w FROM %t WINDOW w AS (PARTITION BY b ORDER BY i2 DESC NULLS LAST RANGE BETWEEN CURRENT ROW AND 30 FOLLOWING)',
    'id, count(*) OVER w, sum(id) OVER w FROM %t WINDOW w AS (PARTITION BY word ORDER BY i4 RANGE BETWEEN 1000000000 PRECEDING AND 1::bigint FOLLOWING)',
    'id, count(*) OVER w, sum(id) OVER w FROM %t WINDOW w AS (PARTITION BY word ORDER BY i8 RANGE BETWEEN 10 PRECEDING AND 9223372036854775807 FOLLOWING)',
    'id, count(*) OVER w FROM %t WINDOW w AS (ORDER BY f8 RANGE BETWEEN 0.5 PRECEDING AND 100 FOLLOWING)',
    'id, count(*) OVER w FROM %t WINDOW w AS (ORDER BY f8 DESC RANGE BETWEEN ''inf''::float8 PRECEDING AND 100 FOLLOWING)',
    'id, count(*) OVER w FROM %t WINDOW w AS (ORDER BY f4 NULLS FIRST RANGE BETWEEN 3.25 PRECEDING AND 0 PRECEDING)',
    'id, count(*) OVER w, sum(id) OVER w FROM %t WINDOW w AS (PARTITION BY b ORDER BY d9 RANGE BETWEEN 10.005 PRECEDING AND 7 FOLLOWING)',
    'id, count(*) OVER w, sum(id) OVER w FROM %t WINDOW w AS (PARTITION BY b ORDER BY d18 DESC RANGE BETWEEN 100 PRECEDING AND UNBOUNDED FOLLOWING)',
    'id, count(*) OVER w, sum(id) OVER w FROM %t WINDOW w AS (PARTITION BY word ORDER BY d38 RANGE BETWEEN 100000 PRECEDING AND CURRENT ROW)',
    'id, count(*) OVER w, sum(id) OVER w FROM %t WINDOW w AS (PARTITION BY b ORDER BY dt RANGE BETWEEN ''1 month 3 days'' PRECEDING AND ''2 days 5 hours'' FOLLOWING)',
    'id, count(*) OVER w, sum(i4) OVER w FROM %t WINDOW w AS (ORDER BY ts_us RANGE BETWEEN ''1 year'' PRECEDING AND CURRENT ROW)',
    'id, count(*) OVER w, sum(i4) OVER w FROM %t WINDOW w AS (ORDER BY ts_ms DESC RANGE BETWEEN ''1 month'' FOLLOWING AND ''3 months'' FOLLOWING)',
    'id, count(*) OVER w, sum(i4) OVER w FROM %t WINDOW w AS (PARTITION BY b ORDER BY tz_us RANGE BETWEEN ''40 days'' PRECEDING AND ''2 months 1 day 3 hours'' FOLLOWING)',
    'id, count(*) OVER w, min(id) OVER w, max(txt COLLATE "C") OVER w FROM %t WINDOW w AS (PARTITION BY b ORDER BY tz_us RANGE ''3 hours'' PRECEDING)',
    'id, count(*) OVER w FROM %t WINDOW w AS (ORDER BY ts_us - ts_ms RANGE BETWEEN ''100 days'' PRECEDING AND ''1 year'' FOLLOWING)',
    'id, count(*) OVER w FROM %t WINDOW w AS (ORDER BY tm_us RANGE BETWEEN ''1 hour'' PRECEDING AND ''1 hour'' FOLLOWING)',
    'id, count(*) OVER w FROM %t WINDOW w AS (ORDER BY i2 + id RANGE BETWEEN -1 PRECEDING AND CURRENT ROW)',
    'id, count(*) OVER w FROM %t WHERE id < 0 WINDOW w AS (ORDER BY i2 RANGE BETWEEN -1 PRECEDING AND CURRENT ROW)',
    'id, count(*) OVER w FROM %t WINDOW w AS (ORDER BY i2 RANGE BETWEEN NULL::int PRECEDING AND CURRENT ROW)',
    'id, count(*) OVER w FROM %t WINDOW w AS (ORDER BY ts_us RANGE BETWEEN ''-1 day'' PRECEDING AND CURRENT ROW)',
    'id, count(*) OVER w FROM %t WINDOW w AS (ORDER BY f8 RANGE BETWEEN ''NaN'' PRECEDING AND CURRENT ROW)',
    'id, count(*) OVER w FROM %t WINDOW w AS (ORDER BY nul RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING)',
    'id, sum(i4) OVER (PARTITION BY word ORDER BY i2 RANGE BETWEEN 7 PRECEDING AND 3 FOLLOWING), row_number() OVER (PARTITION BY word ORDER BY i2, id) FROM %t WHERE i2 IS NOT NULL',
    'count(*), sum(c), sum(s) FROM (SELECT count(*) OVER w AS c, sum(a.i4) OVER w AS s FROM %t a JOIN %t b ON b.id % 50 = a.id % 50 WHERE b.id < 500 WINDOW w AS (PARTITION BY a.word, b.id % 97 ORDER BY a.i2 RANGE BETWEEN 100 PRECEDING AND 100 FOLLOWING)) x']) query;
SELECT query, same('SELECT ' || query, 'floats') FROM unnest(ARRAY['f8, count(*) OVER (ORDER BY f8 RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING) FROM %t', 'f4, count(*) OVER (ORDER BY f4 DESC RANGE BETWEEN 1e30 PRECEDING AND 1 PRECEDING) FROM %t']) query;
EXPLAIN (COSTS OFF) SELECT id, sum(i4) OVER (PARTITION BY b ORDER BY tz_us RANGE BETWEEN '40 days' PRECEDING AND '2 months 1 day 3 hours' FOLLOWING) FROM all_types_p;
SET pg_loom.shim = on;
CREATE FUNCTION ranges(frame text, engine bool) RETURNS text LANGUAGE plpgsql AS $$
DECLARE result text;
BEGIN
    PERFORM set_config('pg_loom.enabled', engine::text, true);
    EXECUTE format('SELECT md5(string_agg(n::text, '' '' ORDER BY t)) FROM (SELECT t, count(*) OVER (ORDER BY t RANGE BETWEEN %s) AS n
        FROM (SELECT t AT TIME ZONE ''UTC'' AS t FROM generate_series(''2023-12-20''::timestamp, ''2024-12-31'', ''5 hours 7 minutes'') t) a OFFSET 0) b', frame) INTO result;
    RETURN result;
END $$;
SELECT frame, ranges(frame, true) = ranges(frame, false) AS same FROM unnest(ARRAY['''1 month'' PRECEDING AND CURRENT ROW', '''3 days'' FOLLOWING AND ''1 month'' FOLLOWING', '''1 year'' PRECEDING AND ''1 month 1 day'' PRECEDING', '''24:00'' PRECEDING AND ''1 day'' FOLLOWING']) frame;
DROP FUNCTION ranges(text, bool);
RESET pg_loom.shim;
