SELECT status, count(*) FROM accesslog WHERE url ~ '/(news|sport)/.*[13579]$' GROUP BY status ORDER BY status;
