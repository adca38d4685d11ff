//! The lowered form of each kind of expression and clause.

use hadal_query::TimeBuckets;

use super::{noted, query, show};

/// The filter of a condition, without the time range.
fn filter(condition: &str) -> String {
    show::filter(&query(&format!("SELECT count(*) FROM requests WHERE {condition}")))
}

/// One expression over raw rows.
fn value(expr: &str) -> String {
    let query = query(&format!("SELECT {expr} FROM requests"));
    let shown = show::keys(&query);
    let shown = shown.strip_prefix("rows ").expect("raw rows");
    shown.strip_suffix("; time").unwrap_or(shown).to_owned()
}

/// The only output of one expression over all rows, and its measures.
fn aggregate(expr: &str) -> String {
    let query =
        query(&format!("SELECT {expr} FROM requests WHERE time >= now() - 60 AND time < now()"));
    let output = show::output(&query.outputs[0].expr);
    format!("{output} | {}", show::measures(&query))
}

#[track_caller]
fn table(lowered: impl Fn(&str) -> String, cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        assert_eq!(lowered(text), *expected, "{text}");
    }
}

#[test]
fn the_papers_queries_run_as_printed() {
    let first = query(
        "SELECT count(*), SUM(column1) as sum1,\n   SUM(column2) as sum2\n\
         FROM mytable\nWHERE time >= now()-3*3600",
    );
    assert_eq!(show::range(&first), "[now-10800, …)");
    assert_eq!(first.filter, None);
    assert_eq!(
        show::outputs(&first),
        "count(*): number = Count; sum1: number = m0.Sum; sum2: number = m1.Sum"
    );
    for comma in [",", ""] {
        let second = query(&format!(
            "SELECT count(*), sum(column1) as sum1,\n    service,\n    \
             (time - now())/60*60 + now() as minute{comma}\nFROM mytable\n\
             WHERE time >= now()-3*3600\n    and time <= now()\nGROUP BY service, minute\n\
             ORDER BY sum1 DESC\nLIMIT 1800"
        ));
        assert_eq!(show::range(&second), "[now-10800, now+1us)");
        assert_eq!(
            show::keys(&second),
            "service::string; \
             AddSeconds(now, Multiply(DivideWhole(SecondsBetween(time, now), 60), 60))"
        );
        assert_eq!(
            show::outputs(&second),
            "count(*): number = Count; sum1: number = m0.Sum; service: string = k0; \
             minute: time = k1"
        );
        assert_eq!(show::order(&second), "m0.Sum desc nulls first");
        assert_eq!((second.limit, second.offset), (1_800, 0));
    }
}

#[test]
fn conditions() {
    table(
        filter,
        &[
            ("latency > 5", "Greater(latency::number, 5)"),
            ("latency != .5", "NotEqual(latency::number, 0.5)"),
            ("service = 'api'", "Equal(service::string, 'api')"),
            (
                "latency BETWEEN 1 AND 2",
                "And(GreaterOrEqual(latency::number, 1), LessOrEqual(latency::number, 2))",
            ),
            (
                "latency NOT BETWEEN 1 AND 2",
                "Not(And(GreaterOrEqual(latency::number, 1), LessOrEqual(latency::number, 2)))",
            ),
            ("service IN ('a', 'b')", "In(service::string, 'a', 'b')"),
            ("service NOT IN ('a')", "Not(In(service::string, 'a'))"),
            (
                "latency IN (1, bytes)",
                "Or(In(latency::number, 1), Equal(latency::number, bytes::number))",
            ),
            ("ok", "ok::number"),
            ("NOT ok", "Not(ok::number)"),
            ("ok = true", "Equal(ok::number, true)"),
            ("ok = 1", "Equal(ok::number, true)"),
            ("ok = 'false'", "Equal(ok::number, false)"),
            ("ok IN (0, 1)", "In(ok::number, false, true)"),
            ("ok IS TRUE", "And(Not(IsNull(ok::number)), ok::number)"),
            ("ok IS NOT FALSE", "Not(And(Not(IsNull(ok::number)), Not(ok::number)))"),
            ("service IS NULL", "IsNull(service::string)"),
            ("mixed IS NOT NULL", "Not(And(IsNull(mixed::number), IsNull(mixed::string)))"),
            (
                "(latency > 1 OR ok) AND (bytes = 2)",
                "And(Or(Greater(latency::number, 1), ok::number), Equal(bytes::number, 2))",
            ),
            ("1 = 1", "none"),
            ("search('Timeout')", "any(Timeout)"),
        ],
    );
}

#[test]
fn is_true_is_two_conditions_where_both_must_hold() {
    // IS TRUE is an AND, so in WHERE it becomes two conditions of the filter.
    let query = query("SELECT count(*) FROM requests WHERE ok IS TRUE AND latency > 1");
    assert_eq!(
        show::filter(&query),
        "And(Not(IsNull(ok::number)), ok::number, Greater(latency::number, 1))"
    );
}

#[test]
fn kinds_meet() {
    table(
        filter,
        &[
            ("mixed = 'x'", "Equal(mixed::string, 'x')"),
            ("latency = '500'", "Equal(latency::string, '500')"),
            ("latency IN (1, '2')", "In(latency::string, '1', '2')"),
            ("latency >= '500'", "GreaterOrEqual(latency::number, 500)"),
            ("latency < 'x'", "Less(latency::string, 'x')"),
            ("service = 5", "Equal(service::string, '5')"),
            ("'5' = latency", "Equal('5', latency::string)"),
            ("service = latency", "Equal(service::string, latency::string)"),
            ("ok = latency", "Equal(ToNumber(ok::number), latency::number)"),
            ("ok = 2", "Equal(ToNumber(ok::number), 2)"),
            ("ok IN (1, 2)", "In(ToNumber(ok::number), 1, 2)"),
            ("ok IN ('true', 2)", "In(ToNumber(ok::number), 1, 2)"),
            ("latency IN (true, 'a')", "In(latency::string, '1', 'a')"),
            ("'5' IN (latency, 5)", "Or(Equal('5', latency::string), true)"),
            ("'2023-11-15 12:00:00' IN (now())", "none"),
            ("sent > '2023-11-15'", "Greater(sent::number, now-43200)"),
            ("sent = 1700049600", "Equal(sent::number, now)"),
            ("sent IN ('2023-11-15', NULL)", "In(sent::number, now-43200, null)"),
            ("sent > bytes", "Greater(ToNumber(sent::number), bytes::number)"),
            ("latency = NULL", "Equal(latency::number, null)"),
        ],
    );
}

#[test]
fn patterns() {
    table(
        filter,
        &[
            ("service LIKE 'a%'", "Matches(Like)(service::string, 'a%')"),
            ("service NOT LIKE 'a%'", "Not(Matches(Like)(service::string, 'a%'))"),
            ("service ILIKE 'a_'", "Matches(ILike)(service::string, 'a_')"),
            ("service ~ '^a'", "Matches(Regex)(service::string, '^a')"),
            ("service ~* '^a'", "Matches(IRegex)(service::string, '^a')"),
            ("service !~ '^a'", "Not(Matches(Regex)(service::string, '^a'))"),
            ("service !~* '^a'", "Not(Matches(IRegex)(service::string, '^a'))"),
            ("mixed LIKE '5%'", "Matches(Like)(mixed::string, '5%')"),
            ("ok ~ 't'", "Matches(Regex)(ToText(ok::number), 't')"),
            (r"service LIKE 'a\%' ESCAPE '\'", r"Matches(Like)(service::string, 'a\%')"),
        ],
    );
}

#[test]
fn lists() {
    table(
        filter,
        &[
            ("includes_any(tags, 'a', 'b')", "IncludesAny(tags::set, 'a', 'b')"),
            ("includes_all(tags, ARRAY['a', 'b'])", "IncludesAll(tags::set, 'a', 'b')"),
            ("NOT includes_none(stack, 'a')", "Not(IncludesNone(stack::vector, 'a'))"),
            ("includes_start(stack, 'a', 5)", "IncludesStart(stack::vector, 'a', '5')"),
            ("includes_end(stack, 'a')", "IncludesEnd(stack::vector, 'a')"),
            ("includes_within(stack, ['a', 'b'])", "IncludesWithin(stack::vector, 'a', 'b')"),
            ("is_empty(tags)", "IsEmpty(tags::set)"),
            ("length(tags) = 2", "Equal(Length(tags::set), 2)"),
        ],
    );
}

#[test]
fn arithmetic_and_functions() {
    table(
        value,
        &[
            ("latency + bytes * 2", "Add(latency::number, Multiply(bytes::number, 2))"),
            ("latency / 2", "Divide(latency::number, 2)"),
            ("length(service) / 2", "DivideWhole(Length(service::string), 2)"),
            ("length(service) * 1.0 / 2", "Divide(Multiply(Length(service::string), 1), 2)"),
            ("(time - now()) / 60", "DivideWhole(SecondsBetween(time, now), 60)"),
            ("extract(hour FROM time) / 6", "DivideWhole(Extract(Hour)(time), 6)"),
            ("extract(epoch FROM time) / 6", "Divide(Extract(Epoch)(time), 6)"),
            ("date_part('dow', time)", "Extract(DayOfWeek)(time)"),
            ("epoch(time)", "Extract(Epoch)(time)"),
            ("-latency % 3", "Remainder(Negate(latency::number), 3)"),
            ("latency + ok", "Add(latency::number, ToNumber(ok::number))"),
            ("time + 60", "AddSeconds(time, 60)"),
            ("60 + time", "AddSeconds(time, 60)"),
            ("time - INTERVAL '2 hours'", "AddSeconds(time, -7200)"),
            ("time - INTERVAL '90' MINUTE", "AddSeconds(time, -5400)"),
            ("sent - '2023-11-15'", "SecondsBetween(sent::number, now-43200)"),
            ("time_bucket('1 minute', time)", "TimeBucket(time, 60000000)"),
            ("time_bucket(0.5, time)", "TimeBucket(time, 500000)"),
            ("time_bucket(INTERVAL '1h', time)", "TimeBucket(time, 3600000000)"),
            ("date_trunc('day', time)", "TimeBucket(time, 86400000000)"),
            ("date_trunc('week', time)", "TimeBucket(time, 604800000000, 345600000000)"),
            ("time::date", "TimeBucket(time, 86400000000)"),
            ("lower(service)", "Lower(service::string)"),
            ("UPPER(latency)", "Upper(latency::string)"),
            ("service || '-' || latency", "Concat(service::string, '-', latency::number)"),
            ("concat(service, ok)", "Concat(service::string, ok::number)"),
            ("round(latency, 2)", "Round(latency::number, 2)"),
            ("round(latency, -2)", "Round(latency::number, -2)"),
            ("floor(latency)", "Floor(latency::number)"),
            ("ceil(latency) + ceiling(1.5)", "Add(Ceil(latency::number), 2)"),
            ("bucket(latency, 10)", "Bucket(latency::number, 10)"),
            ("coalesce(service, 'none')", "Coalesce(service::string, 'none')"),
            ("coalesce(latency, 'none')", "Coalesce(latency::string, 'none')"),
            ("nullif(bytes, 0)", "Case(Equal(bytes::number, 0), null, bytes::number)"),
            ("CASE WHEN ok THEN 1 ELSE 2 END", "Case(ok::number, 1, 2)"),
            ("CASE service WHEN 'a' THEN 1 END", "Case(Equal(service::string, 'a'), 1)"),
            ("to_number(service)", "ToNumber(service::string)"),
            ("to_timestamp(bytes)", "AddSeconds(now-1700049600, bytes::number)"),
        ],
    );
}

#[test]
fn casts_pick_parts_of_columns_and_turn_other_values() {
    table(
        value,
        &[
            ("mixed", "mixed::number"),
            ("mixed::string", "mixed::string"),
            ("(mixed)::text", "mixed::string"),
            ("CAST(mixed AS varchar(20))", "mixed::string"),
            ("mixed::number", "mixed::number"),
            ("mixed::double precision", "mixed::number"),
            ("tags::set", "tags::set"),
            ("tags::vector", "tags::vector"),
            ("ok::string", "ToText(ok::number)"),
            ("ok::int", "ok::number"),
            ("time::string", "ToText(time)"),
            ("time::number", "ToNumber(time)"),
            ("lower(service)::number", "ToNumber(Lower(service::string))"),
            ("latency::bool", "NotEqual(latency::number, 0)"),
            ("latency::timestamp", "AddSeconds(now-1700049600, latency::number)"),
        ],
    );
    let (_, notes) = noted("SELECT service::number FROM requests WHERE time > now()");
    assert_eq!(notes[0].code, "no_such_part");
    assert!(notes[0].message.contains("to_number(service)"), "{}", notes[0].message);
}

#[test]
fn aggregates() {
    table(
        aggregate,
        &[
            ("count(*)", "Count | "),
            ("count(1)", "Count | "),
            ("raw_count(*)", "RawCount | "),
            ("count(latency)", "m0.Count | Moments of latency::number"),
            ("raw_count(latency)", "m0.RawCount | Moments of latency::number"),
            ("count(service)", "m0.Count | Moments of Case(Not(IsNull(service::string)), 1)"),
            ("count(DISTINCT service)", "m0.Distinct | Distinct of service::string"),
            ("approx_count_distinct(tags)", "m0.Distinct | Distinct of tags::set"),
            ("avg(ok)", "m0.Avg | Moments of ToNumber(ok::number)"),
            ("min(service)", "m0.Min | MinMax of service::string"),
            ("max(time)", "m0.Max | MinMax of time"),
            ("p95(latency)", "m0.QuantileCont(950000) | Quantiles of latency::number"),
            ("p5(latency)", "m0.QuantileCont(50000) | Quantiles of latency::number"),
            ("p999(latency)", "m0.QuantileCont(999000) | Quantiles of latency::number"),
            ("p025(latency)", "m0.QuantileCont(25000) | Quantiles of latency::number"),
            ("p975(latency)", "m0.QuantileCont(975000) | Quantiles of latency::number"),
            ("p05(latency)", "m0.QuantileCont(50000) | Quantiles of latency::number"),
            ("p9999(latency)", "m0.QuantileCont(999900) | Quantiles of latency::number"),
            ("p999999(latency)", "m0.QuantileCont(999999) | Quantiles of latency::number"),
            ("p100(latency)", "m0.QuantileCont(1000000) | Quantiles of latency::number"),
            ("percentile(latency, 99.9)", "m0.QuantileCont(999000) | Quantiles of latency::number"),
            ("quantile(latency, 0.5)", "m0.QuantileCont(500000) | Quantiles of latency::number"),
            ("median(latency)", "m0.QuantileCont(500000) | Quantiles of latency::number"),
            (
                "percentile_cont(0.9) WITHIN GROUP (ORDER BY latency)",
                "m0.QuantileCont(900000) | Quantiles of latency::number",
            ),
            (
                "percentile_disc(0.9) WITHIN GROUP (ORDER BY latency DESC)",
                "m0.Quantile(100000) | Quantiles of latency::number",
            ),
            ("histogram(latency)", "m0.Histogram(20) | Histogram(20) of latency::number"),
            ("histogram(latency, 5)", "m0.Histogram(5) | Histogram(5) of latency::number"),
            ("per_second(count(*))", "Divide(Count, Seconds) | "),
            (
                "per_minute(sum(bytes))",
                "Divide(Multiply(m0.Sum, 60), Seconds) | Moments of bytes::number",
            ),
            ("sum(bytes) / count(*)", "Divide(m0.Sum, Count) | Moments of bytes::number"),
            ("count(*) FILTER (WHERE ok)", "m0.Count | Moments of Case(ok::number, 1)"),
            (
                "max(latency) FILTER (WHERE ok)",
                "m0.Max | MinMax of Case(ok::number, latency::number)",
            ),
        ],
    );
}

#[test]
fn rates_are_over_the_range_the_bucket_or_the_table() {
    let rate = |rest: &str| {
        let query = query(&format!("SELECT per_second(count(*)) FROM requests {rest}"));
        show::output(&query.outputs[0].expr)
    };
    let day = "Divide(Count, 86400)";
    for (rest, expected) in [
        ("", day),
        ("WHERE ok", day),
        ("WHERE time >= now() - 60", "Divide(Count, 60)"),
        ("WHERE time < now() - 80000", "Divide(Count, 6400)"),
        ("WHERE time > now() + 60", "Divide(Count, 0)"),
        ("WHERE time >= now() - 60 AND time < now()", "Divide(Count, Seconds)"),
        ("WHERE time < now() - 60 AND time > now()", "Divide(Count, Seconds)"),
        ("GROUP BY service", day),
        ("GROUP BY time_bucket('1m', time)", "Divide(Count, Seconds)"),
        ("WHERE time >= now() - 60 GROUP BY time_bucket('1s', time)", "Divide(Count, Seconds)"),
    ] {
        assert_eq!(rate(rest), expected, "{rest}");
    }
}

#[test]
fn aggregates_of_one_thing_share_one_state() {
    let query = query(
        "SELECT sum(latency), avg(latency), count(latency), p50(latency), p95(latency), \
         max(latency), min(latency), sum(bytes), histogram(latency, 5), histogram(latency), \
         histogram(latency, 20) FROM requests",
    );
    assert_eq!(
        show::measures(&query),
        "Moments of latency::number; Quantiles of latency::number; \
         MinMax of latency::number; Moments of bytes::number; \
         Histogram(5) of latency::number; Histogram(20) of latency::number"
    );
}

#[test]
fn groups_by_name_alias_position_expression_and_all() {
    for group in [
        "service, time_bucket('1m', time)",
        "service, minute",
        "1, 2",
        "SERVICE, 2",
        "ALL",
        "1, service, 2, minute",
    ] {
        let query = query(&format!(
            "SELECT service, time_bucket('1m', time) AS minute, count(*) AS n FROM requests \
             WHERE time >= now() - 60 AND time < now() GROUP BY {group}"
        ));
        assert_eq!(show::keys(&query), "service::string; TimeBucket(time, 60000000)", "{group}");
        assert_eq!(query.time_key(), Some((1, TimeBuckets::Fixed(60_000_000))), "{group}");
    }
    let distinct = query("SELECT DISTINCT service, ok FROM requests");
    assert_eq!(show::keys(&distinct), "service::string; ok::number");
    let none = query("SELECT lower(service) AS service, count(*) FROM requests GROUP BY service");
    assert_eq!(show::keys(&none), "Lower(service::string)", "the alias is meant, not the column");
}

#[test]
fn having_and_order_see_aliases_and_aggregates() {
    let query = query(
        "SELECT service, count(*) AS n, avg(latency) AS latency FROM requests GROUP BY service \
         HAVING n > 5 AND sum(latency) > 1 ORDER BY latency DESC, 2, max(bytes) NULLS FIRST",
    );
    assert_eq!(
        query.having.as_ref().map(show::output).as_deref(),
        Some("And(Greater(Count, 5), Greater(m0.Sum, 1))")
    );
    assert_eq!(
        show::order(&query),
        "m0.Avg desc nulls first; Count asc nulls last; m1.Max asc nulls first"
    );
}

#[test]
fn raw_rows_come_newest_first() {
    let newest = query("SELECT service, latency FROM requests LIMIT 5 OFFSET 2");
    assert_eq!(show::keys(&newest), "rows service::string; latency::number; time");
    assert_eq!(show::order(&newest), "k2 desc nulls last");
    assert_eq!(newest.outputs.len(), 2);
    assert_eq!((newest.limit, newest.offset), (5, 2));
    let slowest = query("SELECT latency, latency AS again FROM requests ORDER BY 1 DESC");
    assert_eq!(show::keys(&slowest), "rows latency::number");
    assert_eq!(show::order(&slowest), "k0 desc nulls first");
}

#[test]
fn a_star_is_every_column_and_every_kind() {
    let query = query("SELECT * FROM requests");
    let names: Vec<&str> = query.outputs.iter().map(|output| output.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "time",
            "Country",
            "a b",
            "bytes",
            "http.status",
            "latency",
            "mixed",
            "mixed::string",
            "ok",
            "path",
            "sent",
            "service",
            "stack",
            "tags",
            "time_taken",
            "user",
        ]
    );
}

#[test]
fn time_conditions_become_the_range() {
    for (condition, range, filter) in [
        ("time >= now() - 3600", "[now-3600, …)", "none"),
        ("time > now()", "[now+1us, …)", "none"),
        ("time <= now() AND now() - 60 < time", "[now-59999999us, now+1us)", "none"),
        ("time = '2023-11-15 12:00:00'", "[now, now+1us)", "none"),
        ("time BETWEEN 1700049600 AND '2023-11-15T12:01:00Z'", "[now, now+60000001us)", "none"),
        ("time >= TIMESTAMP '2023-11-15' AND ok", "[now-43200, …)", "ok::number"),
        (
            "time >= now() - INTERVAL '1 day' AND time < now() - INTERVAL '2h'",
            "[now-86400, now-7200)",
            "none",
        ),
        ("time < now() - 60 AND time > now()", "[now-1700049600, now-1700049600)", "none"),
        ("time <> now()", "[…, …)", "NotEqual(time, now)"),
        ("sent > now()", "[…, …)", "Greater(sent::number, now)"),
        ("requests.time < now()", "[…, now)", "none"),
    ] {
        let query = query(&format!("SELECT count(*) FROM requests WHERE {condition}"));
        assert_eq!(show::range(&query), range, "{condition}");
        assert_eq!(show::filter(&query), filter, "{condition}");
    }
}

#[test]
fn what_the_asker_should_know_is_noted() {
    let codes = |sql: &str| noted(sql).1.iter().map(|note| note.code).collect::<Vec<_>>();
    assert_eq!(codes("SELECT 1 FROM requests"), ["no_time_range"]);
    assert_eq!(codes("SELECT 1 FROM requests WHERE time > 0"), [""; 0]);
    let capped = "SELECT 1 FROM requests WHERE time > 0 LIMIT 100001";
    assert_eq!(codes(capped), ["limit_lowered"]);
    assert_eq!(query(capped).limit, 100_000);
    assert_eq!(query("SELECT 1 FROM requests LIMIT ALL").limit, 100_000);
    assert_eq!(query("SELECT 1 FROM requests LIMIT 0").limit, 0);
}

#[test]
fn series_are_limited_over_the_whole_range() {
    let query = query(
        "SELECT time_bucket('1m', time) AS minute, service, sum(bytes), count(*) FROM requests \
         WHERE time >= now() - 600 GROUP BY ALL LIMIT 3 SERIES LIMIT 50",
    );
    let series = query.series.as_ref().expect("a series limit");
    assert_eq!((series.count, query.limit), (3, 50));
    assert_eq!(show::output(&series.rank), "m0.Sum");
}
