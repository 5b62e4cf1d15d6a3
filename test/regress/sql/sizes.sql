-- Row counts around every batch and block size, in both formats.
IMPORT FOREIGN SCHEMA "/tmp/pg_loom_regress/sizes" FROM SERVER arrow_fdw INTO public;
DO $$
DECLARE t regclass; n bigint; expected bigint; got text;
BEGIN
    FOR t, expected IN SELECT oid::regclass, substr(relname, 2, 5)::int FROM pg_class
                       WHERE relkind = 'f' AND relname ~ '^s\d{5}' ORDER BY relname LOOP
        EXECUTE format('SELECT concat_ws('' '', count(*), count(id), coalesce(sum(id), 0), count(t), count(n), '
                       'count(*) FILTER (WHERE t = ''t'' || id %% 17)) FROM %s', t) INTO got;
        IF got <> concat_ws(' ', expected, expected, expected * (expected - 1) / 2,
                            expected - (expected + 2) / 3, 0, expected - (expected + 2) / 3) THEN
            RAISE WARNING '% gave %', t, got;
        END IF;
        EXECUTE format('SELECT count(*) FROM %s', t) INTO n;
        IF n <> expected THEN RAISE WARNING '% counts %', t, n; END IF;
        EXECUTE format('DROP FOREIGN TABLE %s', t);
    END LOOP;
END $$;
