SELECT count(*), max(running), sum(running)
FROM (SELECT sum(lo_revenue) OVER (PARTITION BY lo_custkey ORDER BY lo_orderkey, lo_linenumber) AS running
      FROM lineorder) AS w;
