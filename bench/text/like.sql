SELECT date_trunc('hour', ts) AS hour, count(*) FROM accesslog WHERE url LIKE '%shop%7%' GROUP BY 1 ORDER BY 1;
