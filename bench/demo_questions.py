"""The questions about the demo's table that are measured; all end at a time, as live rows keep arriving."""

QUESTIONS = [
    ("the newest 50 rows", "SELECT * FROM requests WHERE time < {end} LIMIT 50"),
    ("count and sum of all rows", "SELECT count(*), sum(latency_us) FROM requests WHERE time < {end}"),
    ("count by service", "SELECT service, count(*) FROM requests WHERE time < {end} GROUP BY 1 ORDER BY 2 DESC LIMIT 10"),
    ("p95 by service", "SELECT service, p95(latency_us) FROM requests WHERE time < {end} GROUP BY 1 ORDER BY 2 DESC LIMIT 10"),
    ("errors per hour", "SELECT date_trunc('hour', time) AS hour, count(*) FROM requests WHERE status >= 500 AND time < {end} GROUP BY 1"),
    ("different users", "SELECT count(DISTINCT user_id) FROM requests WHERE time < {end}"),
    ("by country, of one endpoint", "SELECT country, count(*), avg(latency_us) FROM requests WHERE endpoint LIKE '%checkout%' AND time < {end} GROUP BY 1 ORDER BY 2 DESC LIMIT 10"),
    ("rows with a word anywhere", "SELECT count(*) FROM requests WHERE search('timeout') AND time < {end}"),
    ("a day, per 10 minutes, by service", "SELECT time_bucket('10 minutes', time) AS t, service, count(*) FROM requests WHERE time >= {end} - INTERVAL '1 day' AND time < {end} GROUP BY 1, 2"),
]
