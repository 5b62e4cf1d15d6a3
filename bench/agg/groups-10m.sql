SELECT count(*), sum(c), max(s), min(s)
FROM (SELECT lo_orderkey, count(*) AS c, sum(lo_revenue) AS s FROM lineorder GROUP BY lo_orderkey) AS g;
