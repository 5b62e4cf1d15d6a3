SELECT lo_shipmode, count(DISTINCT lo_custkey), count(*) FROM lineorder GROUP BY lo_shipmode ORDER BY lo_shipmode;
