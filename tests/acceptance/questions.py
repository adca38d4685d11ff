"""Ten questions on each of three real data sets, as Hadal and as DuckDB spell them.

A question is (what it asks, Hadal's SQL, DuckDB's SQL, tolerances of the columns that Hadal estimates). An empty DuckDB
text means that the same SQL does for both. What has no tolerance is exact.
"""

# Percentiles are within 1 %. A count of more than 1,024 different values is a HyperLogLog of 2^14
# registers with a standard error of 0.81 %: three of them.
PERCENTILE, DISTINCT = 0.01, 0.025

FLIGHTS = [
    ("all of it at once", "SELECT count(*), sum(distance), avg(delay), min(delay), max(delay) FROM flights", "", {}),
    ("the busiest airports and their delay", """
        SELECT origin, count(*) AS n, avg(delay) FROM flights GROUP BY origin ORDER BY n DESC, origin LIMIT 10""", "", {}),
    ("flights and delay day by day", """
        SELECT date_trunc('day', date) AS day, count(*), sum(delay) FROM flights GROUP BY day ORDER BY day""", "", {}),
    ("when in the day it gets late", """
        SELECT extract(hour FROM date) AS hour, avg(delay), count(*) FROM flights GROUP BY hour ORDER BY hour""", "", {}),
    ("where Chicago's late flights go", """
        SELECT destination, count(*) AS n, max(delay) FROM flights WHERE origin = 'ORD' AND delay > 60
        GROUP BY destination ORDER BY n DESC, destination LIMIT 20""", "", {}),
    ("how far the flights of big airports go", """
        SELECT origin, count(*) AS n, p50(distance), p95(distance) FROM flights
        GROUP BY origin HAVING count(*) > 50000 ORDER BY origin""", """
        SELECT origin, count(*) AS n, quantile_cont(distance, 0.5), quantile_cont(distance, 0.95) FROM flights
        GROUP BY origin HAVING count(*) > 50000 ORDER BY origin""", {2: PERCENTILE, 3: PERCENTILE}),
    ("how many different ones there are", """
        SELECT count(DISTINCT origin), count(DISTINCT destination), count(DISTINCT distance) FROM flights""", "", {2: DISTINCT}),
    ("a fortnight to places with S", """
        SELECT destination, count(*) AS n, avg(distance) FROM flights WHERE destination LIKE 'S%'
        AND date >= TIMESTAMP '2001-03-01' AND date < TIMESTAMP '2001-03-15'
        GROUP BY destination ORDER BY n DESC, destination""", "", {}),
    ("from the bay, by a pattern", """
        SELECT origin, destination, count(*) AS n FROM flights WHERE origin ~ '^(SFO|OAK|SJC)$'
        GROUP BY origin, destination ORDER BY n DESC, origin, destination LIMIT 25""", """
        SELECT origin, destination, count(*) AS n FROM flights WHERE regexp_matches(origin, '^(SFO|OAK|SJC)$')
        GROUP BY origin, destination ORDER BY n DESC, origin, destination LIMIT 25""", {}),
    ("delays by the half hour", """
        SELECT bucket(delay, 30) AS late, count(*) AS n FROM flights WHERE delay BETWEEN -60 AND 240
        AND NOT origin IN ('ATL', 'ORD') GROUP BY late ORDER BY late""", """
        SELECT floor(delay / 30) * 30 AS late, count(*) AS n FROM flights WHERE delay BETWEEN -60 AND 240
        AND NOT origin IN ('ATL', 'ORD') GROUP BY late ORDER BY late""", {}),
]

NYC = [
    ("rows, and rows that have a departure", "SELECT count(*), count(dep_time), count(arr_delay), count(tailnum) FROM nyc", "", {}),
    ("cancelled by carrier", """
        SELECT carrier, count(*) AS n FROM nyc WHERE dep_time IS NULL GROUP BY carrier ORDER BY n DESC, carrier""", "", {}),
    ("delay on arrival by carrier", """
        SELECT carrier, avg(arr_delay), min(arr_delay), max(arr_delay) FROM nyc GROUP BY carrier ORDER BY carrier""", "", {}),
    ("per week, of one airport", """
        SELECT date_trunc('week', time_hour) AS week, count(*), avg(dep_delay) FROM nyc WHERE origin = 'JFK'
        GROUP BY week ORDER BY week""", "", {}),
    ("planes of one letter, whatever its case", """
        SELECT carrier, count(*) AS n FROM nyc WHERE tailnum ILIKE 'n1%a_' GROUP BY carrier ORDER BY carrier""", "", {}),
    ("earlier than planned", """
        SELECT origin, count(*) AS n, sum(CASE WHEN arr_delay < 0 THEN 1 ELSE 0 END) AS early FROM nyc
        WHERE arr_delay IS NOT NULL GROUP BY origin ORDER BY origin""", "", {}),
    ("minutes in the air", """
        SELECT dest, median(air_time), p99(air_time), count(air_time) AS n FROM nyc
        GROUP BY dest HAVING count(air_time) > 5000 ORDER BY dest""", """
        SELECT dest, quantile_cont(air_time, 0.5), quantile_cont(air_time, 0.99), count(air_time) AS n FROM nyc
        GROUP BY dest HAVING count(air_time) > 5000 ORDER BY dest""", {1: PERCENTILE, 2: PERCENTILE}),
    ("miles an hour", """
        SELECT carrier, sum(distance) / sum(air_time) * 60 AS mph FROM nyc WHERE air_time > 0
        GROUP BY carrier ORDER BY carrier""", "", {}),
    ("different planes and places", "SELECT count(DISTINCT tailnum), count(DISTINCT dest), count(DISTINCT flight) FROM nyc", "", {0: DISTINCT, 2: DISTINCT}),
    ("the longest delays, row by row", """
        SELECT time_hour, carrier, flight, dep_delay FROM nyc WHERE dep_delay > 800
        ORDER BY dep_delay DESC, flight LIMIT 20""", "", {}),
]

QUAKES = [
    ("all of them", "SELECT count(*), max(mag), min(mag), count(felt), sum(felt) FROM quakes", "", {}),
    ("by network", "SELECT net, count(*) AS n, avg(mag) FROM quakes GROUP BY net ORDER BY n DESC, net", "", {}),
    ("that have a shake map", """
        SELECT count(*), avg(mag) FROM quakes WHERE includes_any(types, 'shakemap')""", """
        SELECT count(*), avg(mag) FROM quakes WHERE list_has_any(types, ['shakemap'])""", {}),
    ("that have one of three things", """
        SELECT net, count(*) AS n FROM quakes WHERE includes_any(types, 'dyfi', 'losspager', 'moment-tensor')
        GROUP BY net ORDER BY net""", """
        SELECT net, count(*) AS n FROM quakes WHERE list_has_any(types, ['dyfi', 'losspager', 'moment-tensor'])
        GROUP BY net ORDER BY net""", {}),
    ("that have both", """
        SELECT count(*) FROM quakes WHERE includes_all(types, 'dyfi', 'shakemap')""", """
        SELECT count(*) FROM quakes WHERE list_has_all(types, ['dyfi', 'shakemap'])""", {}),
    ("that have neither", """
        SELECT status, count(*) AS n FROM quakes WHERE includes_none(types, 'phase-data', 'dyfi')
        GROUP BY status ORDER BY status""", """
        SELECT status, count(*) AS n FROM quakes WHERE NOT list_has_any(types, ['phase-data', 'dyfi'])
        GROUP BY status ORDER BY status""", {}),
    ("by how many sources they have", """
        SELECT cardinality(sources) AS many, count(*) AS n FROM quakes GROUP BY many ORDER BY many""", """
        SELECT len(sources) AS many, count(*) AS n FROM quakes GROUP BY many ORDER BY many""", {}),
    ("by their very sources", """
        SELECT sources, count(*) AS n FROM quakes GROUP BY sources HAVING count(*) > 3 ORDER BY n DESC""", """
        SELECT list_sort(sources) AS sources, count(*) AS n FROM quakes GROUP BY ALL HAVING count(*) > 3 ORDER BY n DESC""", {}),
    ("a day's, by the hour, without what is missing", """
        SELECT date_trunc('hour', time) AS hour, count(*) AS n, max(sig) FROM quakes
        WHERE time >= TIMESTAMP '2018-02-05' AND time < TIMESTAMP '2018-02-06' AND nst IS NOT NULL
        GROUP BY hour ORDER BY hour""", "", {}),
    ("in Alaska, strong ones", """
        SELECT place, mag, "magType" FROM quakes WHERE place LIKE '%Alaska' AND mag >= 3.5
        ORDER BY mag DESC, place""", "", {}),
]
