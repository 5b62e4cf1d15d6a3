-- Values that the engine only hands on: arrays and composites of files, any other type of ordinary tables;
-- and array_agg, which makes arrays. The values of files are those of test/data/nested_files.cpp.
IMPORT FOREIGN SCHEMA nested_p FROM SERVER arrow_fdw INTO public OPTIONS (file '/tmp/pg_loom_regress/nested.parquet');
IMPORT FOREIGN SCHEMA nested_a FROM SERVER arrow_fdw INTO public OPTIONS (file '/tmp/pg_loom_regress/nested.arrow');
IMPORT FOREIGN SCHEMA nested_e FROM SERVER arrow_fdw INTO public OPTIONS (file '/tmp/pg_loom_regress/nested_encoded.arrow');
SET pg_loom.enabled = off;
CREATE TABLE nested_h AS SELECT * FROM nested_p;
SET pg_loom.enabled = on;
-- What the engine reads, and what is left to PostgreSQL: JSON, lists of lists, and what has such inside.
EXPLAIN (COSTS OFF) SELECT id, st, ss, ls, lt, fl FROM nested_a ORDER BY id DESC;
EXPLAIN (COSTS OFF) SELECT id, sl FROM nested_a ORDER BY id DESC;
SELECT id, st, ss, ls, lt, fl FROM nested_p ORDER BY id DESC;
SELECT same('SELECT id, st, ss, ls, lt, fl FROM %t ORDER BY id DESC LIMIT 4', 'nested');
SELECT same('SELECT id, st, ss, ls, lt, fl FROM %t WHERE id % 2 = 1', 'nested');
SELECT same('SELECT id, sl, ll, mt FROM %t ORDER BY id', 'nested');
-- Byte for byte what PostgreSQL makes of them.
CREATE FUNCTION same_images(relation text) RETURNS SETOF record LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('pg_loom.enabled', 'on', false);
    EXECUTE format('CREATE TEMP TABLE by_engine AS SELECT id, st, ss, ls, lt, fl FROM %I ORDER BY id', relation);
    PERFORM set_config('pg_loom.enabled', 'off', false);
    EXECUTE format('CREATE TEMP TABLE by_scan AS SELECT id, st, ss, ls, lt, fl FROM %I ORDER BY id', relation);
    PERFORM set_config('pg_loom.enabled', 'on', false);
    RETURN QUERY SELECT e.id, e *= s FROM by_engine e JOIN by_scan s USING (id) ORDER BY id;
    DROP TABLE by_engine, by_scan;
END $$;
EXPLAIN (COSTS OFF) CREATE TEMP TABLE by_engine AS SELECT id, st, ss, ls, lt, fl FROM nested_a ORDER BY id;
SELECT * FROM same_images('nested_p') s(id int, same bool);
SELECT * FROM same_images('nested_a') s(id int, same bool);
SELECT * FROM same_images('nested_e') s(id int, same bool);
-- Through joins, groups, windows, sub-queries, sets; functions on them are PostgreSQL's.
SELECT same(q, 'nested') FROM unnest(ARRAY[
    'SELECT a.id, b.st, a.lt FROM %t a JOIN %t b ON a.id = b.id + 1',
    'SELECT a.id, b.st, b.lt FROM %t a LEFT JOIN %t b ON a.id = b.id + 1 AND b.id % 2 = 0',
    'SELECT id, lag(st) OVER (ORDER BY id), first_value(lt) OVER (ORDER BY id), nth_value(fl, 2) OVER (ORDER BY id) FROM %t',
    'SELECT id, st FROM %t UNION ALL SELECT id + 10, st FROM %t',
    'SELECT st FROM %t UNION SELECT st FROM %t',
    'SELECT lt FROM %t INTERSECT SELECT lt FROM %t',
    'SELECT DISTINCT lt FROM %t',
    'SELECT lt, count(*) FROM %t GROUP BY lt',
    'SELECT count(DISTINCT lt), count(lt), count(st), max(lt) FROM %t',
    'SELECT id FROM %t ORDER BY lt NULLS FIRST, id',
    'SELECT DISTINCT ON (id % 2) id % 2, lt FROM %t ORDER BY id % 2, id',
    'SELECT a.id, b.id FROM %t a JOIN %t b ON a.lt = b.lt',
    'SELECT id FROM %t WHERE lt IN (SELECT lt FROM %t WHERE id > 1)',
    'SELECT id FROM %t WHERE lt NOT IN (SELECT lt FROM %t WHERE id > 3)',
    'SELECT id FROM %t a WHERE EXISTS (SELECT FROM %t b WHERE b.fl = a.fl AND b.id > 2)',
    'SELECT id, (SELECT b.st FROM %t b WHERE b.id = a.id + 1) FROM %t a',
    'SELECT id, lt[1], (st).t, (ss).inner, cardinality(fl), fl || id, array_to_string(lt, ''-'') FROM %t WHERE id < 5',
    'SELECT id FROM %t WHERE ''a'' = ANY (lt) OR fl @> ARRAY[9]',
    'SELECT id, coalesce(lt, ''{none}''), CASE WHEN id > 2 THEN fl ELSE ''{0,0}'' END, nullif(fl, ''{1,2}'') FROM %t ORDER BY id',
    'SELECT id, st IS NULL, st IS NOT NULL, lt IS NULL, st IS DISTINCT FROM ROW(NULL, NULL, NULL) FROM %t ORDER BY id',
    'SELECT id, ARRAY[id, 2], ROW(id, lt) FROM %t ORDER BY id',
    'SELECT greatest(lt, ''{b}''), least(fl, ''{1,1}'') FROM %t ORDER BY id',
    'WITH c AS MATERIALIZED (SELECT id, st, lt FROM %t) SELECT a.st, b.lt FROM c a JOIN c b ON a.id = b.id',
    'SELECT id, u FROM %t, unnest(lt) u']) q;
-- Files whose lists and structs are declared otherwise.
CREATE TYPE nested_wide AS (missing int, d numeric, T varchar, i bigint);
CREATE TYPE nested_exact AS (i int, t text, d numeric(5,2));
CREATE TYPE nested_narrow AS (i int, t varchar(3), d numeric(4,1));
CREATE TYPE nested_positional AS (one int, two text, three numeric);
CREATE FUNCTION declared(columns text, what text, files text[] DEFAULT '{nested.parquet,nested.arrow,nested_encoded.arrow}') RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    kind text;
    engine text;
    scan text;
BEGIN
    FOREACH kind IN ARRAY files LOOP
        EXECUTE format('CREATE FOREIGN TABLE other (id int, %s) SERVER arrow_fdw OPTIONS (file %L)', columns, '/tmp/pg_loom_regress/' || kind);
        PERFORM set_config('pg_loom.enabled', 'on', false);
        engine := answer('SELECT id, ' || what || ' FROM %t ORDER BY id LIMIT 10', 'other');
        PERFORM set_config('pg_loom.enabled', 'off', false);
        scan := answer('SELECT id, ' || what || ' FROM %t ORDER BY id LIMIT 10', 'other');
        PERFORM set_config('pg_loom.enabled', 'on', false);
        RETURN NEXT kind || ' ' || columns || ': ' || CASE WHEN engine = scan THEN 'same: ' || regexp_replace(engine, 'rows.*', 'rows') ELSE engine || ' instead of ' || scan END;
        DROP FOREIGN TABLE other;
    END LOOP;
END $$;
SELECT declared(c, c2) FROM (VALUES ('st nested_wide', 'st'), ('st nested_exact', 'st'), ('st nested_narrow', 'st'),
    ('st nested_positional', 'st'), ('fl bigint[]', 'fl'), ('fl numeric[]', 'fl'), ('lt varchar[]', 'lt'), ('lt bytea[]', 'lt'),
    ('fl int2[]', 'fl'), ('ls nested_positional[]', 'ls')) v(c, c2);
ALTER TYPE nested_exact DROP ATTRIBUTE t;
SELECT declared('st nested_exact', 'st');
CREATE DOMAIN nested_positive AS int CHECK (value > 3);
SELECT declared('fl nested_positive[]', 'fl');
-- Lengths and precisions that are declared; intervals.
SELECT declared(c, 'en, en || ''x'', length(en), octet_length(en)')
FROM unnest('{en varchar(5),en varchar(4),en varchar(2),en char(5),en char(9),en char(3),en bpchar,en char}'::text[]) c;
SELECT declared(c, split_part(c, ' ', 1) || ', ' || split_part(c, ' ', 1) || ' + interval ''1 us''', '{kinds.parquet,kinds.arrow}')
FROM unnest('{iv interval,du interval,iv interval(3)}'::text[]) c;
SELECT declared(c, split_part(c, ' ', 1), '{all_types.parquet,all_types.arrow}')
FROM unnest('{ts_us timestamp(6),ts_us timestamp(3),ts_ms timestamp(3),word varchar(20),word char(30),word varchar(3),uid uuid}'::text[]) c;
SELECT same('SELECT uid FROM %t ORDER BY uid ' || o || ' LIMIT ' || n, 'all_types') FROM unnest('{NULLS LAST,DESC,DESC NULLS LAST,NULLS FIRST}'::text[]) o, unnest('{1,7}'::int[]) n;
-- Types of ordinary tables: passed by value, of fixed length, short, long, compressed, stored elsewhere.
CREATE TYPE nested_color AS ENUM ('red', 'green', 'blue');
CREATE TABLE handed_on AS SELECT g AS id, (enum_range(NULL::nested_color))[1 + g % 3] AS color, g::oid AS o, ('n' || g)::name AS n,
    point(g, -g) AS pt, ('08:00:2b:01:02:' || lpad(to_hex(g % 256), 2, '0'))::macaddr AS mac, '12:00+02'::timetz + g * interval '1 min' AS tt,
    (g % 7)::"char" AS ch, g::money AS m, jsonb_build_object('k', g, 'l', repeat('x', g * 40)) AS j, ARRAY[g, NULL, -g] AS a,
    CASE WHEN g % 5 > 0 THEN ARRAY[repeat('long', g * 30), NULL, md5(g::text)] END AS b, ARRAY[[g, 1], [2, 3]] AS two, int4range(g, g + 3) AS r,
    CASE WHEN g % 11 > 0 THEN (g, 'x' || g, NULL)::nested_positional END AS p, (g + 4)::nested_positive AS dom, (g * 1.5)::numeric(60,3) AS num,
    '[0:1]={7,8}'::int[] AS lower_bound, B'101'::varbit AS bits, to_tsvector('simple', 'w' || g) AS ts FROM generate_series(1, 300) g;
ALTER TABLE handed_on ALTER b SET STORAGE EXTERNAL;
UPDATE handed_on SET b = b || ARRAY[string_agg] FROM (SELECT string_agg(md5(i::text), '') FROM generate_series(1, 200) i) s WHERE id % 9 = 0;
SET pg_loom.shim = on;
CREATE FUNCTION agrees(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    engine text;
    stock text;
BEGIN
    PERFORM set_config('pg_loom.enabled', 'on', false);
    engine := answer(query, '');
    PERFORM set_config('pg_loom.enabled', 'off', false);
    stock := answer(query, '');
    PERFORM set_config('pg_loom.enabled', 'on', false);
    RETURN CASE WHEN engine = stock THEN 'same: ' || regexp_replace(engine, 'rows.*', 'rows') ELSE engine || ' instead of ' || stock END;
END $$;
EXPLAIN (COSTS OFF) SELECT color, o, n, pt, dom, '{1,2}'::int[], '(1,2)'::point, 'red'::nested_color FROM handed_on ORDER BY id LIMIT 3;
SELECT agrees(q) FROM unnest(ARRAY[
    'SELECT * FROM handed_on ORDER BY id',
    'SELECT a.id, a.b, a.j, a.p, b.b AS b2, b.j AS j2, b.p AS p2, b.num FROM handed_on a JOIN handed_on b ON a.id = b.id + 7',
    'SELECT a.id, a.o, a.tt, a.pt, b.o AS o2, b.tt AS t2, b.color, b.n FROM handed_on a LEFT JOIN handed_on b ON a.id = b.id * 2',
    'SELECT id, lag(j) OVER w, lead(pt) OVER w, first_value(b) OVER w, last_value(color) OVER w, lag(m, 2, m) OVER w, lag(p) OVER w FROM handed_on WINDOW w AS (ORDER BY id)',
    'SELECT color, count(*), count(o), count(j), count(a) FROM handed_on GROUP BY color',
    'SELECT dom % 3, count(DISTINCT dom), max(dom), min(dom) FROM handed_on GROUP BY 1',
    'SELECT DISTINCT ch, m > 10::money FROM handed_on',
    'SELECT id, j ->> ''k'', a[1], two[2][1], lower(r), (p).two, n || ''!'', pt <-> point(0, 0), num + 1, bits | B''010'', ts @@ ''w7'' FROM handed_on',
    'SELECT id FROM handed_on WHERE j @> ''{"k": 7}'' OR a @> ARRAY[9] OR color = ''red'' AND o < 20 OR tt > ''16:00+02''',
    'SELECT coalesce(b, ''{}''), CASE WHEN id > 7 THEN j ELSE ''{}'' END, nullif(o, 4), coalesce(p, (1, ''d'', 2)::nested_positional), greatest(r, ''[5,9)'') FROM handed_on',
    'SELECT id, ROW(id, a), ARRAY[a, a], ARRAY(SELECT generate_series(1, 3)), array_append(a, id) FROM handed_on',
    'SELECT x.id, x.j FROM handed_on x WHERE x.o IN (SELECT y.o FROM handed_on y WHERE y.id < 9)',
    'SELECT x.id, (SELECT y.p FROM handed_on y WHERE y.id = x.id + 1) FROM handed_on x',
    'SELECT num, count(*) FROM handed_on GROUP BY num',
    'SELECT sum(num), max(num), avg(dom), array_agg(j ORDER BY id) FROM handed_on',
    'SELECT id, num FROM handed_on ORDER BY num DESC LIMIT 5',
    'SELECT lower_bound, array_lower(lower_bound, 1), pg_typeof(p), pg_typeof(ROW(1, id)), pg_typeof(dom) FROM handed_on ORDER BY id']) q;
-- Parameters and constants of such types.
PREPARE handed(int[], nested_positional, nested_color) AS SELECT $1, $2, $3, coalesce(CASE WHEN id > 3 THEN a END, $1) FROM handed_on WHERE color = $3 ORDER BY id LIMIT 2;
EXECUTE handed('{1,NULL}', '(1,x,2.50)', 'red');
SET plan_cache_mode = force_generic_plan;
EXECUTE handed('{1,NULL}', '(1,x,2.50)', 'red');
EXECUTE handed(NULL, NULL, 'blue');
RESET plan_cache_mode;
DEALLOCATE handed;
-- array_agg, string_agg and others in the order of something.
EXPLAIN (COSTS OFF) SELECT id % 3, array_agg(num ORDER BY id DESC) FILTER (WHERE id > 5) FROM handed_on GROUP BY 1;
SELECT id % 3 AS k, array_agg(id ORDER BY id DESC) FILTER (WHERE id < 12), array_agg(CASE WHEN id % 2 = 0 THEN 'w' || id END ORDER BY id)
    FILTER (WHERE id BETWEEN 7 AND 12), array_agg(p ORDER BY id) FILTER (WHERE id < 13) FROM handed_on GROUP BY 1 ORDER BY 1;
SELECT x, agrees(format(q, x, x)) FROM unnest(ARRAY[
    'SELECT id %% 7, array_agg(%s ORDER BY id), array_agg(%s ORDER BY id DESC) FILTER (WHERE id %% 2 = 0) FROM handed_on GROUP BY 1',
    'SELECT array_agg(%s ORDER BY id) FROM handed_on WHERE id < 0',
    'SELECT id, array_agg(%s ORDER BY id) FILTER (WHERE id %% 2 = 0) FROM handed_on GROUP BY id']) q,
    unnest('{id,id::int2,id::int8,id > 3,id::float4,id / 7::float8,num,id * 1.50,id / 3.0,id::text,b[1],id::text::bpchar,id::text::varchar,md5(id::text)::uuid,
        id::text::bytea,''2020-01-01''::date + id,''2020-01-01''::timestamp + id * interval ''1 min'',id * interval ''1 min'',''1:00''::time + id * interval ''1 min'',
        o,n,pt,mac,tt,ch,m,j,r,p,color,dom,NULL::int,CASE WHEN id % 3 > 0 THEN id END,ts,bits}'::text[]) x;
SELECT agrees(q) FROM unnest(ARRAY[
    'SELECT array_agg(a ORDER BY id) FROM handed_on',
    'SELECT array_agg(DISTINCT id % 5 ORDER BY id % 5) FROM handed_on',
    'SELECT id % 4, string_agg(n::text, '','' ORDER BY id), string_agg(md5(id::text), o::text ORDER BY id DESC, m) FROM handed_on GROUP BY 1',
    'SELECT id % 4, (array_agg(id ORDER BY -id))[1:3], array_length(array_agg(j ORDER BY id), 1), mode() WITHIN GROUP (ORDER BY id % 3 = 0) FROM handed_on GROUP BY 1',
    'SELECT id % 4, array_agg(id ORDER BY id) FROM handed_on GROUP BY ROLLUP (1)',
    'SELECT id % 4, sum(id), array_agg(id ORDER BY id), count(*) FROM handed_on GROUP BY 1 HAVING array_agg(id ORDER BY id) @> ARRAY[7]',
    'SELECT x.id, (SELECT array_agg(y.id ORDER BY y.id DESC) FROM handed_on y WHERE y.id % 10 = x.id) FROM handed_on x WHERE x.id < 15']) q;
-- What depends on a group's key is in the group, too.
ALTER TABLE handed_on ADD PRIMARY KEY (id);
EXPLAIN (COSTS OFF) SELECT id, j, p, count(*), array_agg(color ORDER BY dom) FROM handed_on GROUP BY id ORDER BY id;
SELECT agrees(q) FROM unnest(ARRAY[
    'SELECT id, j, p, b, n, o, color, count(*), array_agg(color ORDER BY dom) FROM handed_on GROUP BY id',
    'SELECT x.id, x.j, x.num, sum(y.id) FROM handed_on x JOIN handed_on y ON y.id % 30 = x.id GROUP BY x.id HAVING x.a @> ARRAY[5] OR count(*) > 3']) q;
-- A group around every batch's size.
CREATE TABLE many AS SELECT g AS id, CASE WHEN g % 3 > 0 THEN g END AS n FROM generate_series(1, 9000) g;
SELECT agrees(format('SELECT id < %s, md5(array_agg(n ORDER BY id)::text), md5(array_agg(n::text ORDER BY id DESC)::text) FROM many WHERE id <= %s GROUP BY 1', x + 1, 2 * x))
FROM unnest('{1,2,7,8,9,1023,1024,1025,2047,2048,2049,4095,4096,4097}'::int[]) x;
RESET pg_loom.shim;
DROP FUNCTION same_images, declared, agrees;
DROP FOREIGN TABLE nested_p, nested_a, nested_e;
DROP TABLE nested_h, handed_on, many;
DROP TYPE nested_wide, nested_exact, nested_narrow, nested_positional, nested_color;
DROP DOMAIN nested_positive;
DO $$
DECLARE name text;
BEGIN
    FOR name IN SELECT oid::regtype FROM pg_type WHERE typtype = 'c' AND typname ~ '^nested_' ORDER BY oid DESC LOOP
        EXECUTE 'DROP TYPE IF EXISTS ' || name || ' CASCADE';
    END LOOP;
END $$;
