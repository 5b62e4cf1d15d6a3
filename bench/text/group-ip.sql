SELECT count(*), max(hits), sum(hits) FROM (SELECT ip, count(*) AS hits FROM accesslog GROUP BY ip) AS g;
