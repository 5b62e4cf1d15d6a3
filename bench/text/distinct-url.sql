SELECT count(DISTINCT url) FROM accesslog;
