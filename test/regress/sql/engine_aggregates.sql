-- Aggregates of pairs (covariance, correlation, regression), and estimates. With one thread rows are added in PostgreSQL's order, so
-- that all digits are alike.
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
SET max_parallel_workers_per_gather = 0;
SET pg_loom.threads = 1;
EXPLAIN (COSTS OFF) SELECT word, corr(f8, i4), regr_count(i4, f4) FILTER (WHERE b) FROM all_types_p GROUP BY word;
SELECT ran('SELECT ' || aggregates || ' FROM %t ' || rest) AS ran, same('SELECT ' || aggregates || ' FROM %t ' || rest) AS result, aggregates, rest
FROM unnest(ARRAY[
    'corr(i4, i2), covar_pop(i4, i2), covar_samp(i4, i2)',
    'regr_count(f4, d9), regr_sxx(f4, d9), regr_syy(f4, d9), regr_sxy(f4, d9), regr_avgx(f4, d9), regr_avgy(f4, d9)',
    'regr_slope(d9, i2), regr_intercept(d9, i2), regr_r2(d9, i2), sum(d9), count(i2)',
    'corr(f4, i2) FILTER (WHERE b), regr_avgx(f4, i2) FILTER (WHERE i4 > 0), regr_count(f4, i2) FILTER (WHERE id < 0), regr_sxy(i2, 1000 / id) FILTER (WHERE id <> 0)',
    'regr_count(nul, i4), corr(i4, nul), regr_r2(NULL, i4), regr_slope(1, i4), corr(2.5, 7)']) aggregates,
    unnest(ARRAY['', 'WHERE id < 0', 'WHERE id = 7', 'WHERE id < 1024', 'WHERE id < 2049', 'WHERE id <= 4096', 'GROUP BY b', 'GROUP BY word',
                 'GROUP BY id % 4000', 'GROUP BY GROUPING SETS ((b), (word), ())']) rest;
SELECT ran('SELECT ' || query) AS ran, same('SELECT ' || query) AS result, query
FROM unnest(ARRAY[
    'regr_count(f8, f4), corr(f8, f4) FROM %t', 'word, b, regr_avgx(f4, i2) FROM %t GROUP BY ROLLUP (word, b)',
    'word FROM %t GROUP BY word HAVING corr(i4, i2) > 0 AND regr_count(i4, i2) > 2', 'corr(DISTINCT i4, i2) FROM %t', 'corr(i4, i2 ORDER BY id) FROM %t',
    'id, corr(i4, i2) OVER (ORDER BY id) FROM %t WHERE id < 100', 'corr(a.i4, b.i2) FROM %t a JOIN %t b USING (id)',
    'id, (SELECT regr_slope(b.i4, a.id + b.i2) FROM %t b WHERE b.word = a.word) FROM %t a WHERE id < 20',
    'id, (SELECT regr_count(b.i4, b.i2) FROM %t b WHERE b.id < a.id) FROM %t a WHERE id < 5']) query;
SELECT same('SELECT regr_count(f4, f8), regr_avgx(f8, f4), regr_syy(f8, f4), regr_sxy(f4, f8) FROM %t', 'floats');
SELECT same('SELECT corr(k, v), regr_intercept(v, k), regr_r2(v, k) FROM %t', 'sorted');
-- A missing group is an empty one.
SELECT ran('SELECT ' || query) AS ran, same('SELECT ' || query) AS result, query
FROM unnest(ARRAY[
    'sum(c), count(c), count(s) FROM (SELECT (SELECT regr_count(b.i4, b.i2) FROM %t b WHERE b.i8 = a.id) AS c, (SELECT corr(b.i4, b.i2) FROM %t b WHERE b.i8 = a.id) AS s FROM %t a WHERE id < 500) x',
    'sum(c), count(c), count(s) FROM (SELECT (SELECT regr_count(b.i4, b.i2) FROM %t b WHERE b.id = a.id + 9000) AS c, (SELECT regr_avgx(b.i4, b.i2) FROM %t b WHERE b.id = a.id + 9000) AS s FROM %t a WHERE id < 500) x']) query;
-- Infinities, NaN, overflow and underflow: which sums they spoil, and which lines have no slope.
CREATE TABLE pairs (id int, name text, y float8, x float8);
INSERT INTO pairs VALUES
    (1, 'infinite x', 1, 'Infinity'), (2, 'infinite x', 2, 2), (3, 'infinite x', 3, 1), (4, 'infinite y', 1, 1), (5, 'infinite y', '-Infinity', 2),
    (6, 'both infinite', 'Infinity', 'Infinity'), (7, 'both infinite', '-Infinity', 1), (8, 'NaN', 'NaN', 1), (9, 'NaN', 1, 2), (10, 'one NaN', 1, 'NaN'),
    (11, 'overflow of a sum', 1e308, 1), (12, 'overflow of a sum', 1e308, 2), (13, 'overflow of squares', 1, 1e200), (14, 'overflow of squares', 2, -1e200),
    (15, 'overflow of products', 1e150, 1e160), (16, 'overflow of products', -1e150, -1e160), (17, 'infinite x hides', 1, 'Infinity'),
    (18, 'infinite x hides', 1, 1e308), (19, 'infinite x, large y', 1e308, 'Infinity'), (20, 'infinite x, large y', 1e308, 1),
    (21, 'tiny', 1e-200, 1e-200), (22, 'tiny', 2e-200, 3e-200), (23, 'product underflows', 1e-100, 1e-100), (24, 'product underflows', 2e-100, 3e-100),
    (25, 'horizontal', 5, 1), (26, 'horizontal', 5, 2), (27, 'vertical', 1, 5), (28, 'vertical', 2, 5), (29, 'a point', 0.1, 0.1), (30, 'a point', 0.1, 0.1),
    (31, 'a point', 0.1, 0.1), (32, 'zeros', '-0', 0), (33, 'zeros', 0, '-0'), (34, 'one pair', 3, 4), (35, 'no pair', NULL, 4), (36, 'no pair', 4, NULL);
ANALYZE pairs;
SELECT name, ran('SELECT ' || query) AS ran, same('SELECT ' || query) AS result
FROM (SELECT DISTINCT name FROM pairs) names,
     format('regr_count(y, x), regr_sxx(y, x), regr_avgx(y, x), regr_avgy(y, x) FROM %%t JOIN pairs USING (id) WHERE name = %L', name) query ORDER BY 1;
SELECT name, ran('SELECT ' || query) AS ran, same('SELECT ' || query) AS result
FROM (SELECT DISTINCT name FROM pairs) names,
     format('regr_syy(y, x), regr_sxy(y, x), covar_pop(y, x), covar_samp(y, x), corr(y, x), regr_r2(y, x), regr_slope(y, x), regr_intercept(y, x) '
            'FROM %%t JOIN pairs USING (id) WHERE name = %L', name) query ORDER BY 1;
-- Several threads; whole numbers have exact sums.
RESET pg_loom.threads;
SELECT same('SELECT ' || query) AS result, query
FROM unnest(ARRAY[
    'regr_count(i4, i2), regr_avgx(i4, i2), regr_avgy(i4, i2) FROM %t', 'id % 5000, regr_count(i4, i2), regr_avgx(i4, i2) FROM %t GROUP BY 1',
    'round(corr(i4, i2)::numeric, 9), round(regr_r2(i4, i2)::numeric, 9) FROM %t', 'word, round(corr(i4, i2)::numeric, 9) FROM %t GROUP BY word']) query;
DROP TABLE pairs;
-- How many distinct values there are, estimated: the same by the engine and by PostgreSQL, whatever the type.
EXPLAIN (COSTS OFF) SELECT word, loom.approx_count_distinct(id) FILTER (WHERE b) FROM all_types_p GROUP BY word;
SELECT abs(loom.approx_count_distinct(id) - 10000) < 500 AS close FROM all_types_p;
SELECT ran('SELECT ' || aggregates || ' FROM %t ' || rest) AS ran, same('SELECT ' || aggregates || ' FROM %t ' || rest) AS result, aggregates, rest
FROM unnest(ARRAY[
    'loom.approx_count_distinct(id), loom.approx_count_distinct(b), loom.approx_count_distinct(i2), loom.approx_count_distinct(i8), loom.approx_count_distinct(nul)',
    'loom.approx_count_distinct(f4), loom.approx_count_distinct(f8), loom.approx_count_distinct(dt), loom.approx_count_distinct(tm_us), loom.approx_count_distinct(ts_us), loom.approx_count_distinct(tz_us)',
    'loom.approx_count_distinct(d9), loom.approx_count_distinct(d18), loom.approx_count_distinct(d38), loom.approx_count_distinct(CASE WHEN b THEN d9 ELSE d18 END)',
    'loom.approx_count_distinct(word), loom.approx_count_distinct(txt), loom.approx_count_distinct(DISTINCT word)',
    'loom.approx_count_distinct(id) FILTER (WHERE b), loom.approx_count_distinct(d18 / 3) FILTER (WHERE i4 > 0), loom.approx_count_distinct(txt::char(5)), loom.approx_count_distinct(ts_us - ts_ms), loom.approx_count_distinct(1)']) aggregates,
    unnest(ARRAY['', 'WHERE id < 0', 'WHERE id = 7', 'WHERE id < 2049', 'GROUP BY b', 'GROUP BY id % 4000', 'GROUP BY GROUPING SETS ((b), (word), ())']) rest;
SELECT ran('SELECT ' || query) AS ran, same('SELECT ' || query) AS result, query
FROM unnest(ARRAY[
    'loom.approx_count_distinct(d76), loom.approx_count_distinct(u8), loom.approx_count_distinct(uid), loom.approx_count_distinct(bin), loom.approx_count_distinct(arr), loom.approx_count_distinct(word COLLATE "C") FROM %t',
    'loom.approx_count_distinct(id::text::json) FROM %t', 'id, loom.approx_count_distinct(i2) OVER (ORDER BY id) FROM %t WHERE id < 50',
    'sum(c), count(c) FROM (SELECT (SELECT loom.approx_count_distinct(b.i4) FROM %t b WHERE b.i8 = a.id) AS c FROM %t a WHERE id < 500) x']) query;
SELECT same('SELECT loom.approx_count_distinct(f4), loom.approx_count_distinct(f8) FROM %t', 'floats');
-- By PostgreSQL alone: equal values, types that the engine does not have, collations, workers.
SELECT loom.approx_count_distinct(v) FROM (VALUES (1.0), (1.00), (0), (-0.000), (100), (1e2), (1e50), (1e50 + 0.00), ('NaN'), ('Infinity'), (NULL)) x (v);
SELECT loom.approx_count_distinct(v) FROM (VALUES (0.0::float8), ('-0'), ('NaN'), ('-NaN'), ('Infinity')) x (v);
SELECT loom.approx_count_distinct(v) FROM (VALUES ('a'::char(3)), ('a  '), ('b')) x (v);
SELECT loom.approx_count_distinct(v) FROM (VALUES (interval '1 month'), ('30 days'), ('720 hours'), ('1 year'), ('360 days')) x (v);
SELECT loom.approx_count_distinct(v), loom.approx_count_distinct(ARRAY[v]) FROM (VALUES (inet '10.0.0.1'), ('10.0.0.1/32'), ('10.0.0.2')) x (v);
CREATE COLLATION without_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
SELECT loom.approx_count_distinct(v COLLATE without_case), loom.approx_count_distinct(v) FROM (VALUES ('a'), ('A'), ('b')) x (v);
DROP COLLATION without_case;
CREATE DOMAIN money_amount AS numeric(10, 2);
SELECT loom.approx_count_distinct(v::money_amount) FROM (VALUES (1.0), (1.00), (2)) x (v);
DROP DOMAIN money_amount;
SELECT loom.approx_count_distinct(point(1, 2));
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
EXPLAIN (COSTS OFF) SELECT loom.approx_count_distinct(id) FROM all_types_h;
CREATE TEMP TABLE by_workers AS SELECT loom.approx_count_distinct(id) AS n, loom.approx_count_distinct(txt) AS texts FROM all_types_h;
SET max_parallel_workers_per_gather = 0;
SELECT n = loom.approx_count_distinct(id) AND texts = loom.approx_count_distinct(txt) AS same FROM all_types_h, by_workers GROUP BY n, texts;
DROP TABLE by_workers;
DROP FUNCTION ran(text);
