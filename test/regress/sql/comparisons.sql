-- Each column against each operator with values that rows have, with NULL, and turned around.
CREATE TABLE constants AS
SELECT a.attname AS col, format_type(a.atttypid, a.atttypmod) AS type, v.value
FROM pg_attribute a,
     LATERAL (SELECT to_jsonb(h) ->> a.attname AS value FROM all_types_h h
              WHERE id IN (0, 1, 2, 4, 50, 4096, 4097, 8194, 9999)) v
WHERE a.attrelid = 'all_types_h'::regclass AND a.attnum > 0 AND a.attname NOT IN ('arr', 'nul');
SELECT count(*) AS queries, count(d) AS differences, min(d)
FROM (SELECT format('SELECT id FROM %%t WHERE %I %s %L::%s', col, op, value, type) AS query
      FROM (SELECT DISTINCT * FROM constants) c,
           unnest('{=,<>,<,<=,>,>=}'::text[]) op) q
LEFT JOIN LATERAL differences(query, 'all_types') d ON true;
SELECT count(*) AS queries, count(d) AS differences, min(d)
FROM (SELECT format('SELECT id FROM %%t WHERE %I BETWEEN %L::%s AND %L::%s OR %I IN (%L, %L)', a.col, a.value,
                    a.type, b.value, a.type, a.col, b.value, a.value) AS query
      FROM (SELECT DISTINCT * FROM constants) a
      JOIN (SELECT DISTINCT ON (col) * FROM constants ORDER BY col, value DESC) b USING (col)
      WHERE a.value <= b.value) q
LEFT JOIN LATERAL differences(query, 'all_types') d ON true;
SELECT count(*) AS queries, count(d) AS differences, min(d)
FROM (SELECT format('SELECT id FROM %%t WHERE %s', replace(template, 'COL', quote_ident(col))) AS query
      FROM (SELECT DISTINCT col FROM constants UNION VALUES ('nul'), ('arr')) c,
           unnest('{COL IS NULL,COL IS NOT NULL,COL = NULL,NULL < COL,NOT (COL IS NULL),COL IS NULL AND id > 9000}'::text[]) template) q
LEFT JOIN LATERAL differences(query, 'all_types') d ON true;
-- Columns behind casts, other types on the other side, boolean columns.
SELECT same('SELECT id FROM %t WHERE ' || qual) AS result, qual
FROM unnest(ARRAY[
    'i4 > 2147483648', 'i4 < -2147483648.5', 'i4 = 1.5', 'i2 >= 32767.4', 'i4 >= 1e9::float8', 'i8 > 1e18::float8',
    'u8 > 9223372036854775807', 'u8 = 18446744073709551615', 'u8 < 0', 'u4 >= 4294967290',
    'd9 = 1.005', 'd9 > 9999999.985', 'd9 <= -9999999.99', 'd18 > 5', 'd18 < 5::int8', 'd38 > ''NaN''', 'd38 < ''NaN''',
    'd38 > 1e37', 'd76 > 1e45', 'd76 < -1e60', 'b', 'NOT b', 'b IS TRUE', 'b IS NOT FALSE', 'b = false',
    'f4 > 990', 'f4 >= ''NaN''', 'f4 = ''NaN''', 'f4 < ''-Infinity''', 'f8 = 0', 'f8 = ''-0''', 'f8 > 1e25',
    'f4 = 12.5::float8', 'dt >= timestamp ''2100-01-01 12:00''', 'dt = timestamptz ''1950-03-04 00:00+00''',
    'ts_us >= date ''2140-01-01''', 'ts_us < timestamptz ''1910-01-01 00:00+05''', 'tz_us > timestamp ''2145-06-01''',
    'tz_us >= date ''2149-01-01''', 'dt < ''-infinity''', 'ts_ms < ''infinity''', 'tz_us > ''infinity''', 'tm_us > ''23:00''',
    'tm_ms <= ''00:00:01''', 'word LIKE ''a\%''', 'word LIKE ''ab%''', 'word LIKE ''%b''', 'txt LIKE ''row 99%''',
    'txt LIKE ''row \_%''', 'word ^@ ''日''', 'txt >= ''row 9990''', 'txt COLLATE "C" >= ''row 9990''', 'word = ANY (''{ab,zz,NULL}'')',
    'id = ANY (''{}'')', 'id = ANY (NULL::int[])', 'id <> ALL (''{1,2}'')', 'id IN (5, 9999, 12345)', 'id = 7 OR id = 9000',
    'id = 7 OR word = ''zz''', 'uid > ''f0000000-0000-0000-0000-000000000000''', 'bin > ''\x99''', '5 > id', '9995 <= id',
    'id + 1 > 9999', 'id BETWEEN SYMMETRIC 9000 AND 8990', 'nul = 1', 'nul IS NULL AND id = 3',
    '1 / (id - 5) > 0', 'id <> 5 AND 1 / (id - 5) > 0', 'i1 + 100::int2 > 0']) qual;
DROP TABLE constants;
