SELECT url, count(*) AS hits, sum(bytes) FROM accesslog GROUP BY url ORDER BY hits DESC, url LIMIT 10;
