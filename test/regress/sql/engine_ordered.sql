-- Aggregates over the rows of a group in order.
SET max_parallel_workers_per_gather = 0;
EXPLAIN (COSTS OFF) SELECT id % 3, percentile_cont(0.5) WITHIN GROUP (ORDER BY f8), count(*) FROM all_types_p GROUP BY 1 ORDER BY 1;
EXPLAIN (COSTS OFF) SELECT mode() WITHIN GROUP (ORDER BY i2), percentile_disc(0.9) WITHIN GROUP (ORDER BY i2 DESC) FROM all_types_p;
SELECT same('SELECT ' || aggregates || ' FROM %t ' || rest) AS result, aggregates, rest
FROM unnest(ARRAY[
    'percentile_cont(0.5) WITHIN GROUP (ORDER BY i4), count(*)',
    'percentile_cont(0.999) WITHIN GROUP (ORDER BY f8 DESC), sum(i4), count(DISTINCT word)',
    'percentile_cont(0) WITHIN GROUP (ORDER BY d9), percentile_cont(1) WITHIN GROUP (ORDER BY d9), percentile_cont(NULL) WITHIN GROUP (ORDER BY d9)',
    'percentile_disc(0.25) WITHIN GROUP (ORDER BY i8), percentile_disc(0.75) WITHIN GROUP (ORDER BY d18)',
    'percentile_disc(0.5) WITHIN GROUP (ORDER BY dt), percentile_disc(0.5) WITHIN GROUP (ORDER BY ts_us), percentile_disc(0.5) WITHIN GROUP (ORDER BY tz_us)',
    'percentile_disc(0.1) WITHIN GROUP (ORDER BY word COLLATE "C"), percentile_disc(0.1) WITHIN GROUP (ORDER BY uid)',
    'mode() WITHIN GROUP (ORDER BY i1), mode() WITHIN GROUP (ORDER BY i1 DESC), mode() WITHIN GROUP (ORDER BY word COLLATE "C"), mode() WITHIN GROUP (ORDER BY nul)',
    'mode() WITHIN GROUP (ORDER BY i2) FILTER (WHERE id > 100), percentile_disc(0.5) WITHIN GROUP (ORDER BY i4) FILTER (WHERE b)',
    'string_agg(word, '','' ORDER BY word COLLATE "C"), string_agg(word COLLATE "C", word ORDER BY word COLLATE "C" DESC NULLS LAST)',
    'string_agg(txt, ''; '' ORDER BY txt COLLATE "C" NULLS FIRST) FILTER (WHERE id < 300)',
    'string_agg(word, ''-'' ORDER BY id), string_agg(DISTINCT word, '','')',
    'percentile_cont(1.5) WITHIN GROUP (ORDER BY i4)',
    'percentile_cont(ARRAY[0.5, 0.9]) WITHIN GROUP (ORDER BY i4)']) aggregates,
    unnest(ARRAY['', 'WHERE id < 0', 'WHERE id = 7', 'GROUP BY b', 'GROUP BY id % 2000', 'GROUP BY word, b HAVING count(*) > 2', 'WHERE i1 IS NULL GROUP BY i1']) rest;
SELECT same('SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY k), percentile_disc(0.5) WITHIN GROUP (ORDER BY v), mode() WITHIN GROUP (ORDER BY v) FROM %t', 'sorted');
SELECT same('SELECT k / 1024, percentile_cont(0.9) WITHIN GROUP (ORDER BY v), string_agg(v::text, '','' ORDER BY v::text COLLATE "C") FROM %t GROUP BY 1', 'sorted');
SELECT same('SELECT percentile_disc(0.3) WITHIN GROUP (ORDER BY f8), percentile_cont(0.3) WITHIN GROUP (ORDER BY f4), mode() WITHIN GROUP (ORDER BY f8) FROM %t', 'floats');
SELECT same('SELECT id, (SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY b.i4) FROM %t b WHERE b.id = a.id) FROM %t a WHERE id < 20');
SELECT same('SELECT b, percentile_cont(0.5) WITHIN GROUP (ORDER BY i4) FROM %t GROUP BY ROLLUP (b)');
PREPARE median(float8) AS SELECT percentile_disc($1) WITHIN GROUP (ORDER BY id) FROM all_types_p;
EXECUTE median(0.5);
SET plan_cache_mode = force_generic_plan;
EXECUTE median(0.25);
EXECUTE median(NULL);
EXECUTE median('NaN');
RESET plan_cache_mode;
DEALLOCATE median;
