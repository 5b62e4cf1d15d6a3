SELECT count(*), sum(lo_revenue)
FROM (SELECT lo_revenue FROM lineorder ORDER BY lo_extendedprice, lo_orderkey, lo_linenumber OFFSET 1000) AS s;
