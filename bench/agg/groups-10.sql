SELECT lo_discount, count(*), sum(lo_revenue) FROM lineorder GROUP BY lo_discount ORDER BY lo_discount;
