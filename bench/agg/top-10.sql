SELECT lo_revenue, lo_orderkey, lo_linenumber FROM lineorder
ORDER BY lo_revenue DESC, lo_orderkey, lo_linenumber LIMIT 10;
