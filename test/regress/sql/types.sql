-- Every type, plain and NULL, in both formats.
\d all_types_p
SELECT same('SELECT * FROM %t');
SELECT same('SELECT id, arr FROM %t WHERE id % 3 = 0');
SELECT same('SELECT count(*), count(b), count(i8), count(nul), count(txt) FROM %t');
SELECT same('SELECT word, count(*), min(id), max(d76), sum(u8) FROM %t GROUP BY word');
SELECT same('SELECT b, i1, u1, dt FROM %t ORDER BY id DESC LIMIT 100');
SELECT same('SELECT sum(d38), avg(d18), min(d9), sum(i8), avg(u4) FROM %t');
-- Which of 0 and -0 stands for both is nobody's business.
SELECT same('SELECT DISTINCT f8 + 0 FROM %t');
SELECT same('SELECT t FROM %t t WHERE id < 10');
SELECT same('SELECT x.id, y.txt FROM %t x JOIN %t y ON x.id = y.id + 1 WHERE x.i1 > 100');
SELECT pg_typeof(u8), pg_typeof(d76), pg_typeof(tz_us), pg_typeof(uid), pg_typeof(arr)
FROM all_types_p LIMIT 1;
-- Declared types that hold every value; and the errors of those that do not.
CREATE FOREIGN TABLE wide_p (id bigint, i1 numeric, i4 float8, u8 numeric, d9 numeric, d18 numeric(30,6),
    f4 float8, dt timestamp, word varchar, uid text, arr jsonb, i2 text, b text, bin bytea, txt bytea)
    SERVER arrow_fdw OPTIONS (file '/tmp/pg_loom_regress/all_types.parquet');
SELECT * FROM wide_p WHERE id IN (1, 3, 50) ORDER BY id;
CREATE FOREIGN TABLE narrow (id int2, i8 int4, u4 int4, d9 numeric(5,1), word int, f8 real, txt varchar(5))
    SERVER arrow_fdw OPTIONS (file '/tmp/pg_loom_regress/all_types.parquet');
SELECT max(id) FROM narrow;
SELECT i8 FROM narrow;
SELECT u4 FROM narrow;
SELECT d9 FROM narrow;
SELECT word FROM narrow;
SELECT f8 FROM narrow;
SELECT txt FROM narrow;
-- Errors leave nothing behind: a thousand of them inside an exception block.
DO $$
DECLARE errors int := 0;
BEGIN
    FOR i IN 1..1000 LOOP
        BEGIN
            PERFORM word FROM narrow;
        EXCEPTION WHEN datatype_mismatch THEN
            errors := errors + 1;
        END;
    END LOOP;
    RAISE NOTICE '% errors', errors;
END $$;
CREATE DOMAIN small AS int CHECK (VALUE < 100);
CREATE FOREIGN TABLE checked (id small) SERVER arrow_fdw OPTIONS (file '/tmp/pg_loom_regress/six.parquet');
SELECT sum(id) FROM checked;
CREATE FOREIGN TABLE checked_big (id small) SERVER arrow_fdw OPTIONS (file '/tmp/pg_loom_regress/all_types.parquet');
SELECT count(id) FROM checked_big;
DROP FOREIGN TABLE wide_p, narrow, checked, checked_big;
