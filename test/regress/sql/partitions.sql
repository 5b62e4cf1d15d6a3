-- File tables as partitions and as children, with columns in another order and a dropped one.
CREATE TABLE parent (gone int, b text, a int) PARTITION BY RANGE (a);
ALTER TABLE parent DROP COLUMN gone;
CREATE FOREIGN TABLE part_files PARTITION OF parent FOR VALUES FROM (0) TO (1000000)
    SERVER arrow_fdw OPTIONS (file '/tmp/pg_loom_regress/drift/1.parquet');
CREATE TABLE part_heap PARTITION OF parent FOR VALUES FROM (1000000) TO (2000000);
INSERT INTO part_heap VALUES ('heap', 1000001);
SELECT b FROM parent WHERE a = 2 ORDER BY a LIMIT 1;
SELECT * FROM parent ORDER BY a;
SELECT tableoid::regclass, count(*) FROM parent GROUP BY 1 ORDER BY 1;
EXPLAIN (COSTS OFF) SELECT b FROM parent WHERE a > 1500000;
SET enable_partitionwise_aggregate = on;
SELECT count(*), sum(a) FROM parent;
SELECT a, count(*) FROM parent GROUP BY a ORDER BY a;
RESET enable_partitionwise_aggregate;
INSERT INTO parent VALUES ('x', 5);
ANALYZE parent;
DROP TABLE parent;
CREATE TABLE base (a int, b text);
CREATE FOREIGN TABLE child () INHERITS (base) SERVER arrow_fdw OPTIONS (file '/tmp/pg_loom_regress/drift/1.parquet');
INSERT INTO base VALUES (9, 'base');
SELECT tableoid::regclass, * FROM base ORDER BY a;
SELECT count(*) FROM base;
DROP TABLE base CASCADE;
