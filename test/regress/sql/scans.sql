-- Restarts, cursors, LATERAL, tableoid, whole rows, parallel workers: as a normal table.
SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_material = off; SET enable_memoize = off;
SELECT same('SELECT count(*) FROM generate_series(1,2) g, %t t WHERE t.id >= g', 'six');
SELECT same('SELECT a.id, b.id FROM %t a JOIN %t b ON b.id = a.id', 'six');
SELECT same('SELECT (SELECT count(*) FROM %t t WHERE t.id < o.x) FROM generate_series(1, 8) o(x)', 'six');
SELECT same('SELECT x FROM generate_series(1, 8) o(x) WHERE EXISTS (SELECT FROM %t t WHERE t.id = o.x)', 'six');
SELECT same('SELECT x FROM generate_series(1, 8) o(x) WHERE NOT EXISTS (SELECT FROM %t t WHERE t.id = o.x)', 'six');
SELECT same('SELECT * FROM generate_series(1, 8) o(x), LATERAL (SELECT id FROM %t t WHERE t.id > o.x ORDER BY id LIMIT 1) l', 'six');
SELECT same('SELECT * FROM generate_series(1, 3) o(x), LATERAL (SELECT id FROM %t t OFFSET 0 LIMIT 3) l', 'six');
RESET enable_hashjoin; RESET enable_mergejoin; RESET enable_material; RESET enable_memoize;
SELECT same('SELECT id FROM %t WHERE tableoid IS NOT NULL', 'six');
SELECT tableoid::regclass, id FROM six_p WHERE tableoid = 'six_p'::regclass AND id < 3;
SELECT six_p FROM six_p WHERE id = 4;
-- Workers share one position.
SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
SET pg_loom.enabled = off;
SET parallel_leader_participation = off;
ALTER FOREIGN TABLE sorted_p OPTIONS (ADD parallel_workers '2');
EXPLAIN (COSTS OFF) SELECT sum(k) FROM sorted_p WHERE k > 11000;
SELECT sum(k) FROM sorted_p WHERE k > 11000;
-- Leader and workers count together.
SELECT * FROM explained('SELECT sum(k) FROM sorted_p WHERE k > 11000') line WHERE line ~ 'Workers|Row Groups|Pages|Filter';
SELECT same('SELECT sum(id) FROM %t', 'six');
SELECT same('SELECT count(*), sum(k), sum(v) FROM %t WHERE v < 900', 'sorted');
SELECT same('SELECT count(*) FROM %t a JOIN %t b USING (k) WHERE a.v > 500', 'sorted');
SELECT count(*), sum(id) FROM six_p WHERE id > (SELECT min(id) FROM six_p);
ALTER FOREIGN TABLE sorted_p OPTIONS (DROP parallel_workers);
RESET parallel_setup_cost; RESET parallel_tuple_cost; RESET min_parallel_table_scan_size;
RESET parallel_leader_participation;
RESET pg_loom.enabled;
-- Cursors, also backwards, also after a LIMIT that stops halfway.
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT k FROM sorted_p;
FETCH 3 FROM c;
MOVE FORWARD 19998 FROM c;
FETCH 2 FROM c;
FETCH BACKWARD 3 FROM c;
MOVE ABSOLUTE 0 IN c;
FETCH 1 FROM c;
CLOSE c;
COMMIT;
SELECT k FROM sorted_p LIMIT 2;
SELECT k FROM sorted_p OFFSET 49998;
-- Without a condition, a LIMIT is for the first rows, whoever reads them.
SELECT same('SELECT k, v + 1 FROM %t OFFSET 20000 LIMIT 3', 'sorted');
SELECT same('SELECT sum(k) FROM (SELECT k FROM %t LIMIT 30000) s', 'sorted');
-- Many restarts take no memory that grows.
CREATE FUNCTION restart_memory(n int) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE bytes bigint;
BEGIN
    SELECT max(m) INTO bytes
    FROM (SELECT (SELECT sum(total_bytes) FROM pg_backend_memory_contexts WHERE name ~ 'pg_loom') AS m
          FROM generate_series(1, n) g, LATERAL (SELECT id FROM six_p WHERE id > g % 7 LIMIT 1) l
          ORDER BY g DESC LIMIT 1) x;
    RETURN bytes;
END $$;
SELECT restart_memory(20000) <= restart_memory(10) * 1.5 AS flat;
SELECT count(*) FROM generate_series(1, 20000) g, LATERAL (SELECT id FROM six_p WHERE id > g % 7 LIMIT 1) l;
DROP FUNCTION restart_memory;
-- Functions and triggers.
CREATE FUNCTION look(n int) RETURNS bigint LANGUAGE sql AS 'SELECT v FROM sorted_p WHERE k = n';
SELECT look(5), look(49999);
CREATE TABLE seen (id int, v bigint);
CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN NEW.v := (SELECT v FROM sorted_p WHERE k = NEW.id); RETURN NEW; END $$;
CREATE TRIGGER note BEFORE INSERT ON seen FOR EACH ROW EXECUTE FUNCTION note();
INSERT INTO seen(id) SELECT generate_series(1, 50001, 10000);
SELECT * FROM seen;
CREATE TABLE copied AS SELECT * FROM all_types_p;
SELECT count(*) FROM (SELECT * FROM copied EXCEPT ALL SELECT * FROM all_types_h) x;
-- Foreign tables of files are read only.
INSERT INTO six_p VALUES (1);
UPDATE six_p SET id = 1;
DELETE FROM six_p;
ANALYZE six_p, sorted_p;
SELECT reltuples FROM pg_class WHERE relname = 'sorted_p';
SELECT attname, null_frac, n_distinct FROM pg_stats WHERE tablename = 'sorted_p' AND attname = 'k' AND n_distinct = -1;
DROP TABLE seen, copied;
DROP FUNCTION look, note;
