-- Expressions that the engine does not have, evaluated by PostgreSQL inside the engine's plan.
SET max_parallel_workers_per_gather = 0;
SET TimeZone = 'Europe/Berlin';
EXPLAIN (COSTS OFF) SELECT initcap(word), count(*) FROM all_types_p WHERE id % 3 = 0 AND initcap(word) <> 'Ab' GROUP BY 1 ORDER BY 1;
EXPLAIN (COSTS OFF) SELECT a.id FROM all_types_p a JOIN six_p s ON sqrt(a.d18) = sqrt(s.id::numeric) WHERE to_char(a.id, '999') LIKE '%1' ORDER BY 1;
-- Each type as an argument and as a result, in conditions, keys, aggregates, sorts and arms.
SELECT same('SELECT count(*) FROM %t WHERE to_char(id, ''FM999'') LIKE ''%1''');
SELECT same('SELECT initcap(word) AS w, count(*), min(to_char(d18, ''FM99990.99'')) FROM %t GROUP BY 1');
SELECT same('SELECT sum(scale(d18)), max(sqrt(abs(d18))), min(i2::text) FROM %t');
SELECT same('SELECT id FROM %t WHERE i8::text > ''5'' AND i4::text < ''9'' AND f8::text <> ''0'' AND f4::text <> ''1''');
SELECT same('SELECT id FROM %t WHERE dt::text LIKE ''20%'' OR ts_us::text LIKE ''%7'' OR tz_us::text LIKE ''%+00'' OR tm_us::text > ''23''');
SELECT same('SELECT count(*), to_char(ts_us, ''YYYY-Mon'') AS m FROM %t GROUP BY m');
SELECT same('SELECT make_date(2000 + abs(i2) % 50, 1, 2) AS d, count(*) FROM %t GROUP BY d');
SELECT same('SELECT make_interval(days => i2) AS i, count(*) FROM %t GROUP BY i');
SELECT same('SELECT uid::text AS u FROM %t WHERE uid::text LIKE ''%a%''');
SELECT same('SELECT encode(bin, ''hex'') AS e, count(*) FROM %t GROUP BY e');
SELECT same('SELECT decode(md5(word), ''hex'') AS d, count(*) FROM %t GROUP BY d');
SELECT same('SELECT CASE WHEN id % 2 = 0 THEN initcap(word) ELSE word END AS w, count(*) FROM %t GROUP BY w');
SELECT same('SELECT coalesce(nullif(initcap(word), ''Ab''), ''none'') AS w, count(*) FROM %t GROUP BY w');
SELECT same('SELECT count(*) FROM %t WHERE b IS NOT TRUE AND (initcap(word) = ''Ab'' OR id < 5)');
SELECT same('SELECT a.id, b.id FROM %t a JOIN %t b ON initcap(a.word) = initcap(b.word) AND to_char(a.id, ''9'') <> to_char(b.id, ''9'') WHERE a.id < 50 AND b.id < 50');
SELECT same('SELECT a.id FROM %t a LEFT JOIN %t b ON b.id = a.id AND initcap(b.word) = ''Ab'' WHERE b.id IS NULL');
SELECT same('SELECT id FROM %t a WHERE EXISTS (SELECT FROM %t b WHERE b.id = a.id + 1 AND initcap(b.word) >= initcap(a.word))');
SELECT same('SELECT id, rank() OVER (PARTITION BY initcap(word) ORDER BY to_char(d18, ''0000000000.00''), id) FROM %t');
SELECT same('SELECT initcap(max(word)) AS m, id % 5 FROM %t GROUP BY 2 HAVING initcap(max(word)) > ''A''');
SELECT same('SELECT to_char(id, ''999'') AS c FROM %t ORDER BY initcap(word), id LIMIT 7');
SELECT same('SELECT id FROM %t WHERE arr[1] = id OR initcap(word) = ''X''');
SELECT same('SELECT id FROM %t WHERE word COLLATE "C" < ''m'' AND upper(initcap(word)) <> ''AB''');
-- NULLs go to functions that are not strict.
SELECT same('SELECT count(*) FROM %t WHERE num_nulls(word, i4, d18) = 1');
SELECT same('SELECT concat_ws(''-'', word, i4) AS c, count(*) FROM %t GROUP BY c');
SELECT same('SELECT count(*) FROM %t WHERE quote_nullable(t) <> ''NULL''', 'texts');
-- Batches of every size; dictionaries; empty results.
SELECT same('SELECT count(*), sum(length(initcap(t))) FROM %t', 'texts');
SELECT same('SELECT count(*) FROM %t WHERE to_char(k, ''9999999'') = ''none''', 'sorted');
SELECT same('SELECT sum(to_char(k, ''FM9999999'')::int) FROM %t', 'sorted');
-- What PostgreSQL raises comes out as PostgreSQL raises it, or not at all where no row comes to it.
SELECT same('SELECT sum(word::int) FROM %t');
SELECT same('SELECT sum(to_number(word, ''99'')) FROM %t');
SELECT same('SELECT sum(CASE WHEN word ~ ''^\d+$'' THEN word::int END) FROM %t');
SELECT same('SELECT count(*) FROM %t WHERE id < 0 AND word::int > 3');
SELECT same('SELECT make_date(2000, i2, 1), count(*) FROM %t GROUP BY 1');
SELECT * FROM explained('SELECT sum(CASE WHEN i2 BETWEEN 1 AND 12 THEN extract(month FROM make_date(2000, i2, 1)) END) FROM all_types_p') line WHERE line ~ 'Fallback|LoomScan';
-- Values that the engine cannot hold.
SELECT same('SELECT max(CASE WHEN id = 7 THEN to_number(''NaN'', ''999'') ELSE sqrt(d18) END) FROM %t');
SELECT same('SELECT sum(repeat(''9'', 50)::numeric + sqrt(abs(d18))) FROM %t');
-- Functions of users: stable ones run queries of their own, over files too.
CREATE FUNCTION half(n int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN n / 2; END';
CREATE FUNCTION known_words(w text) RETURNS bigint LANGUAGE sql STABLE AS 'SELECT count(*) FROM six_p WHERE id = length(w)';
CREATE FUNCTION next_one(n int) RETURNS int LANGUAGE plpgsql VOLATILE AS 'BEGIN RETURN n + 1; END';
CREATE FUNCTION fails_at(n int, at int) RETURNS int LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF n = at THEN RAISE EXCEPTION 'failed at %', n USING ERRCODE = 'P4711'; END IF;
    RETURN n;
END $$;
SELECT same('SELECT sum(half(id)), count(*) FROM %t WHERE half(id) % 2 = 0');
SELECT same('SELECT known_words(word), count(*) FROM %t WHERE id < 30 GROUP BY 1');
SELECT same('SELECT sum(fails_at(id, 20)) FROM %t');
SELECT same('SELECT sum(fails_at(id, -20)) FROM %t');
SELECT same('SELECT v < 0 FROM %t WHERE fails_at(k::int, 200000) > 0 LIMIT 3', 'sorted');
-- Not volatile ones.
SELECT count(*) FROM explained('SELECT sum(next_one(id)) FROM all_types_p') line WHERE line ~ 'postgres\(';
-- Parameters, generic plans, cursors, correlated subqueries.
PREPARE hosted(text, int) AS SELECT count(*) FROM all_types_p WHERE initcap(word) < $1 AND to_char(id + $2, '999') LIKE '%1';
SET plan_cache_mode = force_generic_plan;
EXECUTE hosted('M', 0);
EXECUTE hosted('M', 1);
EXECUTE hosted(NULL, 1);
RESET plan_cache_mode;
EXECUTE hosted('M', 1);
DEALLOCATE hosted;
SELECT same('SELECT id, (SELECT count(*) FROM %t b WHERE b.id = a.id AND initcap(b.word) = initcap(a.word)) FROM %t a WHERE id < 10');
BEGIN;
DECLARE c CURSOR FOR SELECT id FROM all_types_p WHERE initcap(word) < 'M' ORDER BY to_char(id, '000'), id;
FETCH 3 FROM c;
SAVEPOINT s;
FETCH 2 FROM c;
ROLLBACK TO s;
FETCH 2 FROM c;
COMMIT;
-- A function that tells of its rows must not see those that a barrier hides.
CREATE FUNCTION tells(n int) RETURNS bool LANGUAGE plpgsql IMMUTABLE COST 0.0001 AS
    $$BEGIN RAISE NOTICE 'seen: %', n; RETURN true; END$$;
CREATE VIEW guarded WITH (security_barrier) AS SELECT id FROM six_p WHERE id % 3 = 0;
SET pg_loom.threads = 1;
SELECT count(*) FROM guarded WHERE tells(id);
RESET pg_loom.threads;
SELECT count(*) FROM explained('SELECT count(*) FROM guarded WHERE to_char(id, ''9'') = '' 3''') line WHERE line ~ 'postgres\(';
-- Ended from within: by a timeout, in a function that the other threads wait for, then all is well.
CREATE FUNCTION sleeps(n int) RETURNS int LANGUAGE plpgsql STABLE AS 'BEGIN PERFORM pg_sleep(n % 2); RETURN n; END';
\set SHOW_CONTEXT never
SET statement_timeout = '200ms';
SELECT sum(sleeps(id)) FROM all_types_p;
SELECT sum(half(a.id) + length(to_char(ts_us, 'Day'))) FROM all_types_p a, (SELECT 1 FROM six_p CROSS JOIN sorted_p) b;
RESET statement_timeout;
\set SHOW_CONTEXT errors
SELECT same('SELECT sum(half(id)) FROM %t WHERE to_char(id, ''9999'') > ''0''');
-- By few threads and by many.
SET pg_loom.threads = 1;
SELECT same('SELECT sum(half(k::int)), min(to_char(v, ''S9999'')) FROM %t', 'sorted');
SET pg_loom.threads = 8;
SELECT same('SELECT sum(half(k::int)), min(to_char(v, ''S9999'')) FROM %t', 'sorted');
SELECT same('SELECT initcap(word) AS w, sum(fails_at(id, 9000)) FROM %t GROUP BY 1');
RESET pg_loom.threads;
DROP VIEW guarded;
DROP FUNCTION half(int), known_words(text), next_one(int), fails_at(int, int), tells(int), sleeps(int);
-- What FILTER hides is not computed.
SELECT same('SELECT sum(100 / (id - 5)) FILTER (WHERE id <> 5), count(word::int) FILTER (WHERE word ~ ''^\d+$'') FROM %t');
SELECT same('SELECT id, max(100 / (id - 5)) FILTER (WHERE id <> 5) OVER (ORDER BY id) FROM %t');
SELECT same('SELECT id % 3, sum(100 / (id - 5)) FILTER (WHERE id <> 6) FROM %t GROUP BY 1');
SELECT * FROM explained('SELECT sum(100 / (id - 5)) FILTER (WHERE id <> 5) FROM all_types_p') line WHERE line ~ 'Fallback|LoomScan';
-- A dictionary may have entries that no row asks for.
SELECT * FROM explained('SELECT sum(CASE WHEN word ~ ''^\d+$'' THEN word::int END) FROM all_types_p') line WHERE line ~ 'Fallback|LoomScan';
