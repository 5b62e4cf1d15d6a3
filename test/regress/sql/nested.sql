-- Structs, lists, maps and unions of every depth, rare scalars, every layout of Arrow: the values are
-- those of test/data/nested_files.cpp.
IMPORT FOREIGN SCHEMA nested_p FROM SERVER arrow_fdw INTO public OPTIONS (file '/tmp/pg_loom_regress/nested.parquet');
IMPORT FOREIGN SCHEMA nested_a FROM SERVER arrow_fdw INTO public OPTIONS (file '/tmp/pg_loom_regress/nested.arrow');
IMPORT FOREIGN SCHEMA nested_e FROM SERVER arrow_fdw INTO public OPTIONS (file '/tmp/pg_loom_regress/nested_encoded.arrow');
\d nested_p
\d nested_p_ss
SELECT id, st, ss, sl FROM nested_p;
SELECT id, ls, ll, lt, fl FROM nested_p;
SELECT id, mt, mi, lm FROM nested_p;
SELECT id, js, en FROM nested_p;
-- The same rows from each layout.
SELECT p::text = a::text AND p::text = e::text AS same FROM nested_p p JOIN nested_a a USING (id) JOIN nested_e e USING (id);
-- Elements, members, keys.
SELECT id, (st).i, (st).t, (ss).inner, ((ss).inner).c, (sl).l[1], (sl).m -> 'a' AS a FROM nested_a;
SELECT id, ls[1], (ls[3]).v, ll -> 0 -> 1 AS l01, lt[2], fl[2], cardinality(ls) FROM nested_e;
SELECT id, mt -> 'b' AS b, mi -> '1' ->> 'y' AS y, lm[1] -> 'a' AS a, js::jsonb -> 'a' -> 1 AS js FROM nested_p;
-- Conditions on them: NULL, empty and NULL inside are three things.
SELECT array_agg(id) FILTER (WHERE st IS NULL AND st IS NOT DISTINCT FROM NULL) AS null_struct,
       array_agg(id) FILTER (WHERE st IS NULL) AS null_members_too,
       array_agg(id) FILTER (WHERE ls IS NULL) AS null_list, array_agg(id) FILTER (WHERE ls = '{}') AS empty_list,
       array_agg(id) FILTER (WHERE mt IS NULL) AS null_map, array_agg(id) FILTER (WHERE mt = '{}') AS empty_map
FROM nested_p;
SELECT id FROM nested_e WHERE (st).i >= 4 AND fl[1] = 9;
SELECT id FROM nested_a WHERE 'x,y' = ANY (lt) OR mt ? 'k' ORDER BY id;
SELECT en, count(*), array_agg(id ORDER BY id) FROM nested_e GROUP BY en ORDER BY en;
SELECT id, u.k, u.v FROM nested_p, unnest(ls) u ORDER BY id, u.k;
SELECT id, m.key, m.value FROM nested_a, jsonb_each(mi) m ORDER BY id, m.key;
-- What is read of the file.
EXPLAIN (COSTS OFF) SELECT (st).i, ls[1], mt FROM nested_p WHERE (ss).a = 1;
SELECT * FROM explained('SELECT lt FROM nested_a WHERE lt IS NULL') line WHERE line !~ 'Read|File 0';
SELECT count(*), count(st), count(ll), count(js) FROM nested_p;
-- Declared otherwise.
CREATE TYPE entry AS (key text, value int);
CREATE TYPE keyed AS (k bigint, v varchar);
CREATE TYPE positional AS (one numeric, two text, three numeric);
CREATE TYPE partly AS (t text, missing int);
CREATE FOREIGN TABLE other (id int, st jsonb, ss json, ls keyed[], ll text, lt jsonb, fl bigint[], mt entry[], mi text, lm jsonb,
    sl text, js jsonb, en varchar(5)) SERVER arrow_fdw OPTIONS (file '/tmp/pg_loom_regress/nested.arrow');
SELECT id, st, ss, ls FROM other;
SELECT id, ll, lt, fl, mt FROM other;
SELECT id, mi, lm, sl FROM other;
SELECT id, js, en FROM other;
CREATE TABLE other_a AS SELECT * FROM other;
ALTER FOREIGN TABLE other OPTIONS (SET file '/tmp/pg_loom_regress/nested.parquet');
SELECT count(*) AS same FROM other p JOIN other_a a ON p::text = a::text;
DROP TABLE other_a;
CREATE FOREIGN TABLE other_e (id int, st positional, ss jsonb, ls text[], ll json[], lt varchar[], mt jsonb[], js json, en text)
    SERVER arrow_fdw OPTIONS (file '/tmp/pg_loom_regress/nested_encoded.arrow');
SELECT id, st, ls, ll FROM other_e;
SELECT id, ss, mt, js FROM other_e;
CREATE FOREIGN TABLE some_members (id int, st partly) SERVER arrow_fdw OPTIONS (file '/tmp/pg_loom_regress/nested.parquet');
SELECT * FROM some_members;
CREATE TYPE color AS ENUM ('red', 'green', 'blue');
CREATE FOREIGN TABLE colors (id int, en color) SERVER arrow_fdw OPTIONS (file '/tmp/pg_loom_regress/nested.parquet');
SELECT en, count(*) FROM colors WHERE en > 'red' GROUP BY en ORDER BY en;
-- Types that do not fit: the error names column, declared type and the file's type.
CREATE FUNCTION try(declaration text, file text DEFAULT 'nested.parquet') RETURNS text LANGUAGE plpgsql AS $$
DECLARE result text;
BEGIN
    EXECUTE format('CREATE FOREIGN TABLE wrong (%s) SERVER arrow_fdw OPTIONS (file %L)', declaration,
                   '/tmp/pg_loom_regress/' || file);
    EXECUTE 'SELECT string_agg(w::text, '' '') FROM wrong w' INTO result;
    DROP FOREIGN TABLE wrong;
    RETURN result;
EXCEPTION WHEN OTHERS THEN
    RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
SELECT try(d) FROM unnest(ARRAY['lt bigint', 'lt int[]', 'st int', 'st entry', 'mt int', 'mt int[]', 'll int[]', 'ls entry[]', 'id int[]',
    'en color[]', 'fl int', 'mi entry[]']) d;
-- JSON as jsonb by the import's choice.
IMPORT FOREIGN SCHEMA nested_j FROM SERVER arrow_fdw INTO public
    OPTIONS (file '/tmp/pg_loom_regress/nested.arrow', json_type 'jsonb');
SELECT pg_typeof(js), js, js -> 'a' AS a FROM nested_j;
-- Hints, declarations and rare scalars.
IMPORT FOREIGN SCHEMA kinds_a FROM SERVER arrow_fdw INTO public OPTIONS (file '/tmp/pg_loom_regress/kinds.arrow');
IMPORT FOREIGN SCHEMA kinds_p FROM SERVER arrow_fdw INTO public OPTIONS (file '/tmp/pg_loom_regress/kinds.parquet');
\d kinds_a
\d kinds_p
SELECT id, ip4, ip6, ip, mac, code FROM kinds_a;
SELECT id, ip4, ip6, ip, mac, code FROM kinds_p;
SELECT id, iv, du, f16, d64 FROM kinds_a;
SELECT id, iv, du, f16, d64 FROM kinds_p;
SELECT id FROM kinds_a WHERE ip4 << '192.168.0.0/16' OR family(ip) = 6 OR d64 < '1970-01-01' ORDER BY id;
CREATE FOREIGN TABLE kinds_d (id int, ip4 inet, ip6 inet, ip inet, mac macaddr, code bpchar(4), iv text, f16 float8, d64 timestamp)
    SERVER arrow_fdw OPTIONS (file '/tmp/pg_loom_regress/kinds.parquet');
SELECT id, ip4, ip6, ip, mac, '<' || code || '>' AS code, iv, f16, d64 FROM kinds_d;
SELECT try(d, 'kinds.arrow')
FROM unnest('{ip4 macaddr,code uuid,code text,du int,f16 int,iv interval(0),mac inet,ip6 inet,code bpchar(3)}'::text[]) d;
-- Unions, dictionaries, runs, large offsets and views.
IMPORT FOREIGN SCHEMA layouts FROM SERVER arrow_fdw INTO public OPTIONS (file '/tmp/pg_loom_regress/layouts.arrow');
\d layouts
SELECT id, du, su, du IS NULL AS no_du, su IS NULL AS no_su FROM layouts;
SELECT id, dict1, dict2, dict4, dict8, dict_n, dict_list, run_n, run_t FROM layouts;
SELECT id, large_t, large_b, large_l, view_t, view_b, view_l FROM layouts;
SELECT id, months, day_ms, mdn FROM layouts;
SELECT id FROM layouts WHERE dict1 = 'b' AND dict_n < 0 OR run_n = 1 AND view_t > 's';
SELECT dict4, run_n, count(*) FROM layouts GROUP BY 1, 2 ORDER BY 1, 2;
SELECT try(d, 'layouts.arrow') FROM unnest(ARRAY['du text, su json', 'du int', 'dict_list int[]', 'run_n int2, dict_n int2']) d;
-- Variants as jsonb, json and text.
IMPORT FOREIGN SCHEMA variants FROM SERVER arrow_fdw INTO public OPTIONS (file '/tmp/pg_loom_regress/variants.parquet');
\d variants
SELECT id, v, v IS NULL AS no_v, sh, lv, sv, mv FROM variants;
SELECT id, v -> 'b' AS b, lv[1] AS l1, (sv).v -> 'b' AS svb, mv -> 'k' AS k FROM variants;
SELECT id FROM variants WHERE v = '7' OR sh = 'true' ORDER BY id;
CREATE FOREIGN TABLE variants_d (id int, v text, sh json, lv jsonb, sv jsonb, mv entry[])
    SERVER arrow_fdw OPTIONS (file '/tmp/pg_loom_regress/variants.parquet');
SELECT id, v, sh, lv, sv FROM variants_d;
SELECT try(d, 'variants.parquet') FROM unnest('{v int,mv entry[],lv text[],sv text}'::text[]) d;
-- Twice over, sorted, grouped: nothing of a batch is kept by reference.
SELECT max(mt::text), min(lt), max((st).t), count(DISTINCT ls) FROM nested_e;
SELECT a.id, b.st, b.mt FROM nested_p a JOIN nested_e b ON a.lt = b.lt ORDER BY 1;
DROP FUNCTION try;
DROP FOREIGN TABLE nested_p, nested_a, nested_e, nested_j, other, other_e, some_members, colors, kinds_a, kinds_p, kinds_d, layouts,
    variants, variants_d;
DROP TYPE entry, keyed, positional, partly, color;
DO $$
DECLARE name text;
BEGIN
    FOR name IN SELECT oid::regtype FROM pg_type WHERE typtype = 'c' AND typname ~ '^(nested_|variants_)' ORDER BY oid DESC LOOP
        EXECUTE 'DROP TYPE IF EXISTS ' || name || ' CASCADE';
    END LOOP;
END $$;
