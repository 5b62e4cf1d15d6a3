SELECT count(DISTINCT lo_orderkey) FROM lineorder;
