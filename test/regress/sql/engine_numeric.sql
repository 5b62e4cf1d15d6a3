-- Numerics whose values have scales of their own: the digits that they show are PostgreSQL's, with the engine as
-- without it.
SET client_min_messages = warning;
-- How a query was run: wholly by the engine, by PostgreSQL after the engine gave up, or in part.
CREATE FUNCTION ran(query text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    RETURN (SELECT CASE WHEN bool_or(line ~ 'Fallback') THEN 'fallback'
                        WHEN bool_or(line ~ 'Not Pushed Down') OR NOT bool_or(line ~ '^(  ->  )?Custom Scan \(LoomScan\)') THEN 'in part'
                        ELSE 'engine' END
            FROM explained(replace(query, '%t', 'all_types_p')) line);
EXCEPTION WHEN OTHERS THEN
    RETURN 'error';
END $$;
-- Choices between values of different scales.
SELECT ran('SELECT ' || query), same('SELECT ' || query) AS result, query
FROM unnest(ARRAY[
    'id, CASE WHEN b THEN d9 ELSE 0 END AS x FROM %t WHERE id < 3000',
    'id, CASE WHEN b THEN d9 WHEN id % 3 = 0 THEN d18 WHEN id % 5 = 0 THEN d38 END AS x FROM %t WHERE id < 9000',
    'id, CASE WHEN b THEN d9 * d18 ELSE 1.50 END + 1 AS x FROM %t WHERE id > 10',
    'id, coalesce(d9, d18, 0) AS x FROM %t WHERE id > 10', 'id, coalesce(nullif(d9, 0), 7.125) AS x FROM %t WHERE id > 10',
    'id, greatest(d9, d18, 0), least(d9, 1.5, d18) FROM %t WHERE id > 10',
    'id, nullif(CASE WHEN b THEN d9 ELSE 1.000 END, 1) FROM %t WHERE id > 10',
    'id, d9 IS DISTINCT FROM d18, d9 = CASE WHEN b THEN d9 ELSE 0 END FROM %t WHERE id > 10',
    'id FROM %t WHERE CASE WHEN b THEN d9 ELSE 0.001 END > 0', 'id FROM %t WHERE d9 IN (0.001, 1.10, 12345, NULL) OR d9 > 9999999.123',
    'id FROM %t WHERE CASE WHEN b THEN d9 ELSE 0 END IN (0, 1.5, 2.25)',
    'id FROM %t WHERE d9 <> ALL (''{0.001,1.10,12345}'') AND id < 1000',
    'id, -CASE WHEN b THEN d9 ELSE 0 END, abs(CASE WHEN b THEN -d9 ELSE 3 END), sign(CASE WHEN b THEN d18 ELSE 0 END) FROM %t WHERE id > 10',
    'id, round(CASE WHEN b THEN d18 ELSE 2.5 END, 1), trunc(CASE WHEN b THEN d18 ELSE 2.5 END), ceil(CASE WHEN b THEN d18 ELSE 2.5 END), floor(CASE WHEN b THEN d18 ELSE -2.5 END), round(CASE WHEN b THEN d18 ELSE 255 END, -1) FROM %t WHERE id > 10',
    'id, (CASE WHEN b THEN d9 ELSE 0 END)::int8, (CASE WHEN b THEN d9 ELSE 0 END)::float8, (CASE WHEN b THEN d9 ELSE 0 END)::numeric(20,1) FROM %t WHERE id > 10',
    'id, CASE WHEN b THEN NULL ELSE d9 END, CASE WHEN b THEN NULL::numeric END FROM %t WHERE id > 10']) query;
-- Quotients, remainders, and what is computed with them.
SELECT ran('SELECT ' || query), same('SELECT ' || query) AS result, query
FROM unnest(ARRAY[
    'id, d9 / 3, d18 / 7.0, 1 / (d9 + 20000000) FROM %t WHERE id > 10', 'id, d9 / nullif(d18, 0), d18 / nullif(d9, 0) FROM %t WHERE id > 10',
    'id, d38 / 3 FROM %t WHERE id > 10', 'id, 100.00 * d9 / nullif(d18, 0) - 1 FROM %t WHERE id > 10',
    'id, (d9 / 3) * 3 = d9, d9 / 3 < d18 / 3, d9 / 3 > 1 FROM %t WHERE id > 10', 'id, div(d18, 7), mod(d18, 7.5), (d9 / 3) % 2 FROM %t WHERE id > 10',
    'id, round(d9 / 7, 3), (d9 / 7)::numeric(30,5), (d9 / 7)::int8, (d9 / 7)::float4, trunc(d9 / 7, 2) FROM %t WHERE id > 10',
    'id, f8::numeric, f4::numeric FROM %t WHERE abs(f8) < 1e15 AND abs(f8) > 1e-10 AND abs(f4) < 1e15 AND abs(f4) > 1e-10',
    'id, d9 / id FROM %t WHERE id BETWEEN 0 AND 10', 'id, d9 / 0 FROM %t WHERE id < 0', 'id, CASE WHEN id <> 5 THEN d9 / (id - 5) ELSE 0 END FROM %t WHERE id > 3',
    'id, f8::numeric FROM %t WHERE id > 3', 'id, d38 * d38 FROM %t WHERE id > 3', 'id, (d9 / 7)::numeric(3,2) FROM %t WHERE id > 3', 'id, (d9 / 7)::int2 FROM %t WHERE id > 3']) query;
-- Aggregates over them, around the sizes of batches too.
SELECT ran('SELECT ' || query), same('SELECT ' || query) AS result, query
FROM unnest(ARRAY[
    'sum(CASE WHEN b THEN d9 ELSE 0 END), avg(CASE WHEN b THEN d9 ELSE 0 END), count(CASE WHEN b THEN d9 ELSE 0 END) FROM %t',
    'sum(CASE WHEN id < 0 THEN d9 ELSE 0 END), avg(CASE WHEN id < 0 THEN d9 ELSE 0 END) FROM %t', 'sum(coalesce(d9, 0)), sum(coalesce(d9, 0)) FILTER (WHERE d9 IS NULL) FROM %t',
    'word, sum(CASE WHEN b THEN d9 ELSE 0 END), avg(CASE WHEN b THEN d18 ELSE d9 END) FROM %t GROUP BY word',
    'id % 1024, sum(CASE WHEN b THEN d9 WHEN id % 2 = 0 THEN 0 END) FROM %t GROUP BY 1', 'id % 4097, sum(CASE WHEN b THEN d9 ELSE 0 END), sum(d9 / 3) FROM %t GROUP BY 1',
    'sum(d9 / 3), avg(d9 / 3), sum(d18 / nullif(d9, 0)) FROM %t WHERE id < 4000', '100.00 * sum(CASE WHEN b THEN d9 ELSE 0 END) / sum(d9) FROM %t',
    'word, 100.00 * sum(CASE WHEN b THEN d9 * (1 - d18) ELSE 0 END) / nullif(sum(d9 * (1 - d18)), 0) FROM %t WHERE id > 10 GROUP BY word',
    'sum(d9) / 7.0, 0.2 * avg(d9), avg(d9) + avg(d18), sum(id) / count(*)::numeric, avg(id) * 2 FROM %t', 'word FROM %t GROUP BY word HAVING avg(d9) > avg(d18) / 10000000000',
    'min(CASE WHEN b THEN d9 ELSE 1.23456 END), max(CASE WHEN b THEN d9 ELSE 12345678.12345 END) FROM %t', 'min(d9 / 3), max(d9 / 3) FROM %t',
    'word, min(d18 / 3), max(CASE WHEN b THEN d9 END) FROM %t GROUP BY word', 'sum(DISTINCT d9 / 3), count(DISTINCT d9 / 3), count(DISTINCT CASE WHEN b THEN d9 ELSE 5.125 END) FROM %t',
    'sum(CASE WHEN b THEN d9 ELSE 0 END), avg(d9 / 3), min(d9 / 3) FROM %t WHERE id < 0', 'sum(CASE WHEN b THEN d9 ELSE 0 END), avg(d9 / 3), max(d9 / 3) FROM %t WHERE id = 3000',
    'sum(CASE WHEN b THEN d9 ELSE 0 END) FROM %t WHERE id < 1024', 'sum(CASE WHEN b THEN d9 ELSE 0 END) FROM %t WHERE id < 2048', 'sum(CASE WHEN b THEN d9 ELSE 0 END) FROM %t WHERE id <= 4096',
    'a, sum(x) FROM (SELECT word AS a, CASE WHEN b THEN d9 ELSE 0 END AS x FROM %t UNION ALL SELECT word, d18 FROM %t) u GROUP BY a',
    'sum(s), avg(v) FROM (SELECT sum(d9) AS s, avg(d9) AS v FROM %t GROUP BY word) x']) query;
-- Keys: equal by value, shown as PostgreSQL shows them.
SELECT ran('SELECT ' || query), same('SELECT ' || query) AS result, query
FROM unnest(ARRAY[
    'CASE WHEN id % 2 = 0 THEN 1.5 ELSE 2 END AS k, count(*) FROM %t GROUP BY 1', 'round(d9 / 100000, 1) AS k, count(*) FROM %t GROUP BY 1',
    'd9 / 4 AS k, count(*) FROM %t GROUP BY 1', 'DISTINCT d9 / 4 FROM %t',
    'count(*) FROM %t a JOIN %t b ON a.d9 = b.d18', 'count(*) FROM %t a JOIN (SELECT d9 / 4 AS q FROM %t WHERE id < 500) b ON a.d9 / 4 = b.q',
    'count(*) FROM %t a JOIN (SELECT CASE WHEN b THEN d9 ELSE 0 END AS q FROM %t WHERE id < 500) b ON a.d9 = b.q AND a.id < 2000',
    'array_agg(x) FROM (SELECT d9 / 7 AS k FROM %t ORDER BY d9 / 7, id LIMIT 100) x', 'array_agg(x) FROM (SELECT CASE WHEN b THEN d9 ELSE 3 END AS k, id FROM %t ORDER BY 1 DESC NULLS LAST, id LIMIT 100) x']) query;
-- One value in two scales: a group's first row and the last of equal extremes are known to PostgreSQL alone.
SELECT same('SELECT ' || query) AS result, query
FROM unnest(ARRAY[
    'max(CASE WHEN id % 2 = 0 THEN 1.50 ELSE 1.5 END) FROM %t WHERE id BETWEEN 1 AND 100', 'min(CASE WHEN id % 2 = 0 THEN 1.50 ELSE 1.5 END) FROM %t',
    'k, count(*) FROM (SELECT CASE WHEN id % 2 = 0 THEN 0.00 ELSE 0 END AS k FROM %t WHERE id BETWEEN 1 AND 100) x GROUP BY k']) query;
SELECT ran('SELECT max(CASE WHEN id % 2 = 0 THEN 1.50 ELSE 1.5 END) FROM %t'),
       ran('SELECT CASE WHEN id % 2 = 0 THEN 0.00 ELSE 0 END AS k, count(*) FROM %t GROUP BY 1');
-- Variances and deviations.
SELECT ran('SELECT ' || query), same('SELECT ' || query) AS result, query
FROM unnest(ARRAY[
    'var_pop(x), var_samp(x), variance(x), stddev_pop(x), stddev_samp(x), stddev(x) FROM (SELECT i2 AS x FROM %t) x',
    'var_pop(x), var_samp(x), variance(x), stddev_pop(x), stddev_samp(x), stddev(x) FROM (SELECT id AS x FROM %t) x',
    'var_pop(x), var_samp(x), variance(x), stddev_pop(x), stddev_samp(x), stddev(x) FROM (SELECT i8 % 100000 AS x FROM %t WHERE id > 10) x',
    'var_pop(x), var_samp(x), variance(x), stddev_pop(x), stddev_samp(x), stddev(x) FROM (SELECT d9 AS x FROM %t) x',
    'var_pop(x), var_samp(x), variance(x), stddev_pop(x), stddev_samp(x), stddev(x) FROM (SELECT CASE WHEN b THEN d9 ELSE 0 END AS x FROM %t) x',
    'word, variance(id), stddev(i2), var_pop(d9), stddev_pop(CASE WHEN b THEN d9 ELSE 1.5 END) FROM %t GROUP BY word',
    'id, variance(id), stddev(i2), var_pop(d9), stddev_pop(d9), var_samp(d9) FROM %t GROUP BY id', 'variance(id), stddev(d9), var_pop(f8), stddev(f4) FROM %t WHERE id < 0',
    'variance(1), stddev(2.50), var_pop(0.0) FROM %t', 'variance(i4), stddev(round(d18 / 1000000, 3)), variance(DISTINCT id % 5) FROM %t', 'stddev(d18 / 1000000) FROM %t',
    'variance(i8) FROM %t', 'variance(d38) FROM %t']) query;
-- A row group is one worker's, so that floats are added in one order.
SELECT ran('SELECT ' || query), same('SELECT ' || query) AS result, query
FROM unnest(ARRAY[
    'var_pop(f4), var_samp(f4), stddev_pop(f4), stddev_samp(f4) FROM %t WHERE id BETWEEN 100 AND 200', 'stddev(f8) FROM %t WHERE id BETWEEN 100 AND 110',
    'id, variance(f8), var_pop(f8), stddev_pop(f4) FROM %t GROUP BY id', 'variance(f8) FROM %t']) query;
-- Columns and parameters without a modifier; rows of other tables.
CREATE TABLE loose (k int, n numeric);
INSERT INTO loose VALUES (1, 1.1), (2, 1.10), (3, 0), (4, NULL), (5, -12.345678901234567890123), (6, 1e20), (7, 1e-20), (8, 123456.00);
ANALYZE loose;
SELECT ran('SELECT ' || query), same('SELECT ' || query) AS result, query
FROM unnest(ARRAY[
    'id, n, n + d9, n * d9, n / 3, n > d9 FROM %t JOIN loose ON k = id', 'sum(n) FROM %t JOIN loose ON k = id',
    'sum(n), avg(n), max(n), min(n) FROM %t JOIN loose ON k = id WHERE k <> 1 AND k <> 6 AND k <> 7', 'stddev(n), var_pop(n) FROM %t JOIN loose ON k = id WHERE k IN (1, 2, 3, 4, 8)',
    'a.id, l.k FROM %t a JOIN loose l ON a.d9 = l.n', 'n, count(*) FROM %t JOIN loose ON k = id WHERE k > 1 GROUP BY n']) query;
SELECT same('SELECT n, count(*) FROM %t JOIN loose ON k = id GROUP BY n');
INSERT INTO loose VALUES (9, 'NaN'), (10, 1e300);
SELECT same('SELECT sum(n), count(*) FROM %t JOIN loose ON k = id WHERE k <> 1');
PREPARE scaled(numeric) AS SELECT sum(d9 * $1), sum(d9 / $1), avg(CASE WHEN b THEN d9 ELSE $1 END), count(*) FILTER (WHERE d9 / 3 > $1) FROM all_types_p WHERE id < 2000;
SET plan_cache_mode = force_generic_plan;
EXECUTE scaled(1.50);
EXECUTE scaled(-2);
EXECUTE scaled(NULL);
EXECUTE scaled('NaN');
EXECUTE scaled(0);
SET pg_loom.enabled = off;
EXECUTE scaled(1.50);
EXECUTE scaled(-2);
EXECUTE scaled(NULL);
EXECUTE scaled('NaN');
EXECUTE scaled(0);
RESET pg_loom.enabled;
DEALLOCATE ALL;
DROP TABLE loose;
DROP FUNCTION ran(text);
