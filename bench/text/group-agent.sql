SELECT user_agent, method, count(*), sum(bytes) FROM accesslog GROUP BY user_agent, method
ORDER BY count(*) DESC, user_agent, method LIMIT 20;
