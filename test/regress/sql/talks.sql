-- What the talks about Arrow_Fdw show on their slides, as written there apart from the paths.
CREATE FOREIGN TABLE f_mytest (
    id int,
    ts timestamp,
    x float8,
    y text,
    z numeric
) SERVER arrow_fdw
  OPTIONS (file '/tmp/pg_loom_regress/mytest.arrow');
SELECT * FROM f_mytest;
drop foreign table f_mytest ;
import foreign schema f_mytest
  from server arrow_fdw
  into public
options (file '/tmp/pg_loom_regress/mytest.arrow');
\d f_mytest
SELECT count(*), sum(id), max(z) FROM f_mytest;
import foreign schema my_packets from server arrow_fdw into public options (file '/tmp/pg_loom_regress/my_packets.arrow');
select timestamp, src_addr, dst_addr, protocol, length(payload) from my_packets;
import foreign schema flineorder from server arrow_fdw into public options (file '/tmp/pg_loom_regress/flineorder.arrow');
select count(*),sum(lo_revenue) from flineorder where lo_orderdate between 19930101 and 19930331;
SET pg_loom.enabled = off;
SELECT * FROM explained('select count(*),sum(lo_revenue) from flineorder where lo_orderdate between 19930101 and 19930331');
RESET pg_loom.enabled;
select pgstrom.arrow_fdw_import_file('f_mytable', -- relation name
    '/tmp/pg_loom_regress/mytable.arrow'); -- file name
select c0, c1999 from f_mytable;
IMPORT FOREIGN SCHEMA f_small_lineorder
  FROM SERVER arrow_fdw
  INTO public OPTIONS (dir '/tmp/pg_loom_regress/mydata');
SET pg_loom.enabled = off;
explain (costs off) select count(*),sum(lo_revenue),lo_shipmode from f_small_lineorder group by lo_shipmode;
RESET pg_loom.enabled;
select count(*),sum(lo_revenue),lo_shipmode from f_small_lineorder group by lo_shipmode order by lo_shipmode;
-- The options of the syntax slide.
CREATE FOREIGN TABLE f_options (
    revenue int OPTIONS (field 'lo_revenue'),
    year int OPTIONS (virtual 'year')
) SERVER arrow_fdw
  OPTIONS (dir '/tmp/pg_loom_regress/mydata', pattern 'small_lineorder_@{year}.parquet', parallel_workers '2');
select year, sum(revenue) from f_options where year > 1995 group by year order by year;
CREATE FOREIGN TABLE f_files (lo_revenue int) SERVER arrow_fdw
  OPTIONS (files '/tmp/pg_loom_regress/mydata/small_lineorder_1993.parquet,/tmp/pg_loom_regress/flineorder.arrow');
select count(*) from f_files;
drop foreign table f_mytest, my_packets, flineorder, f_mytable, f_small_lineorder, f_options, f_files;
