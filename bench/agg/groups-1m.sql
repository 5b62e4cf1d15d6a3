SELECT count(*), sum(c), max(s), min(s)
FROM (SELECT lo_partkey, count(*) AS c, sum(lo_revenue) AS s FROM lineorder GROUP BY lo_partkey) AS g;
