SELECT count(*) FROM accesslog WHERE user_agent ~ 'Firefox/[0-9]+';
