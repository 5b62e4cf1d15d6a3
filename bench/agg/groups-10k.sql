SELECT count(*), sum(c), max(s), min(s)
FROM (SELECT lo_suppkey, count(*) AS c, sum(lo_revenue) AS s FROM lineorder GROUP BY lo_suppkey) AS g;
