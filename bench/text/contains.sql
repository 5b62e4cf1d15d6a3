SELECT count(*), sum(bytes) FROM accesslog WHERE url LIKE '%news%';
