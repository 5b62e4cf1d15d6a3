-- Unsigned values beyond the signed range are exact and in unsigned order.
SELECT * FROM unsigned_p ORDER BY u8;
SELECT * FROM unsigned_a ORDER BY u8;
SELECT same(query, 'unsigned') AS result, query FROM unnest(ARRAY[
    'SELECT * FROM %t WHERE u8 > 9223372036854775807', 'SELECT min(u8), max(u8), sum(u8) FROM %t',
    'SELECT * FROM %t WHERE u1 > 127', 'SELECT * FROM %t WHERE u2 >= 40000', 'SELECT * FROM %t WHERE u4 = 4294967295',
    'SELECT * FROM %t WHERE u4 < 3000000000', 'SELECT u8, count(*) FROM %t GROUP BY u8']) query;
CREATE FOREIGN TABLE signed_u8 (u8 int8) SERVER arrow_fdw OPTIONS (file '/tmp/pg_loom_regress/unsigned.parquet');
SELECT * FROM signed_u8;
DROP FOREIGN TABLE signed_u8;
