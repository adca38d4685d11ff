//! The JSON form: its lowering, its SQL, and the positions of its errors.

use hadal_query::{Query, TimeBuckets};
use hadal_types::{Micros, TimeRange};
use proptest::prelude::*;
use serde_json::json;

use super::catalog::{NOW, Tables};
use super::{context, show};
use crate::{Context, QuerySpec, SqlError, Statement, lower, lower_spec, parse_spec};

fn spec(json: serde_json::Value) -> QuerySpec {
    serde_json::from_value(json).expect("a spec")
}

fn to_sql(spec: &QuerySpec, context: &Context<'_>) -> Result<String, SqlError> {
    let parsed = parse_spec(spec, context.now)?;
    Ok(parsed.spec_sql(context).expect("it is a spec"))
}

fn lowered(json: serde_json::Value) -> Query {
    let tables = Tables::new();
    let context = context(&tables);
    let spec = spec(json);
    let sql = to_sql(&spec, &context).expect("SQL");
    match (lower_spec(&spec, &context), lower(&sql, &context)) {
        (Ok(Statement::Query { query, notes }), Ok(said)) => {
            let same = Statement::Query { query: query.clone(), notes };
            assert_eq!(said, same, "{sql}");
            *query
        }
        other => panic!("{sql}: {other:?}"),
    }
}

fn refused(json: serde_json::Value) -> SqlError {
    let tables = Tables::new();
    lower_spec(&spec(json), &context(&tables)).expect_err("an error")
}

fn sql(json: serde_json::Value) -> String {
    to_sql(&spec(json), &context(&Tables::new())).expect("SQL")
}

#[test]
fn a_table_alone_is_its_newest_rows() {
    let query = lowered(json!({"table": "requests"}));
    assert_eq!(query.outputs.len(), 16);
    assert_eq!(show::order(&query), "k0 desc nulls last");
}

#[test]
fn all_fields_together() {
    let asked = json!({
        "table": "requests", "from": "-3h", "to": "now", "filter": ["ok OR latency > 1", "bytes = 2"],
        "search": "it's", "group_by": ["service"], "bucket": "1m",
        "aggregates": ["count(*)", "p95(latency) AS p95"], "order_by": ["time", "p95 DESC"],
        "limit": 10, "offset": 1, "series": 5,
    });
    assert_eq!(
        sql(asked.clone()),
        "SELECT time_bucket('1 minute', time) AS time, service, count(*), p95(latency) AS p95 \
         FROM \"requests\" WHERE time >= now() - INTERVAL '3h' AND time < now() AND \
         search('it''s') AND (ok OR latency > 1) AND (bytes = 2) GROUP BY ALL \
         ORDER BY time, p95 DESC LIMIT 5 SERIES LIMIT 10 OFFSET 1"
    );
    let query = lowered(asked);
    assert_eq!(show::range(&query), "[now-10800, now)");
    assert_eq!(
        show::filter(&query),
        "And(any(it's), Or(ok::number, Greater(latency::number, 1)), Equal(bytes::number, 2))"
    );
    assert_eq!(show::keys(&query), "TimeBucket(time, 60000000); service::string");
    assert_eq!(query.series.map(|series| series.count), Some(5));
}

#[test]
fn deadline_and_completeness_are_not_sql() {
    let spec = spec(json!({"table": "requests", "deadline_ms": 250, "require_complete": true}));
    let Ok(Statement::Query { query, .. }) = lower_spec(&spec, &context(&Tables::new())) else {
        panic!("a query");
    };
    assert_eq!(query.deadline.as_millis(), 250);
    assert!(query.require_complete);
    assert_eq!(
        refused(json!({"table": "requests", "deadline_ms": 0})).field.as_deref(),
        Some("deadline_ms")
    );
}

#[test]
fn times_have_many_spellings() {
    for (from, range) in [
        (json!("-3h"), "[now-10800, …)"),
        (json!("now-90s"), "[now-90, …)"),
        (json!("now"), "[now, …)"),
        (json!("now + 1m"), "[now+60, …)"),
        (json!(1_700_049_000), "[now-600, …)"),
        (json!(1_700_049_000.5), "[now-599500000us, …)"),
        (json!("1700049000"), "[now-600, …)"),
        (json!("2023-11-15T12:00:00+01:00"), "[now-3600, …)"),
        (json!("2023-11-15"), "[now-43200, …)"),
    ] {
        let query = lowered(json!({"table": "requests", "from": from.clone()}));
        assert_eq!(show::range(&query), range, "{from}");
    }
}

#[test]
fn auto_buckets_are_100_to_300() {
    for seconds in [90, 3_600, 10_800, 86_400, 604_800, 2_592_000, 315_360_000] {
        let query = lowered(json!({
            "table": "requests", "from": format!("-{seconds}s"), "to": "now", "bucket": "auto",
        }));
        let (_, buckets) = query.time_key().expect("a bucket");
        let width = buckets.micros_min();
        let buckets = seconds * 1_000_000 / width;
        assert!((100..300).contains(&buckets), "{seconds} s: {buckets} buckets of {width} µs");
    }
    let open = lowered(json!({"table": "requests", "bucket": "auto"}));
    assert_eq!(open.time_key(), Some((0, TimeBuckets::Fixed(300_000_000))), "of the table's day");
}

#[test]
fn groups_without_aggregates_are_counted() {
    let query = lowered(json!({"table": "requests", "group_by": "service"}));
    assert_eq!(show::outputs(&query), "service: string = k0; count(*): number = Count");
}

#[test]
fn a_table_with_another_time_is_asked_by_its_own() {
    let query = lowered(json!({"table": "events", "from": "-1h", "to": "now", "bucket": "1m"}));
    assert_eq!(show::range(&query), "[now-3600, now)");
    assert_eq!(query.time_key(), Some((0, TimeBuckets::Fixed(60_000_000))));
}

#[test]
fn a_comparison_is_one_query_over_both_sides() {
    let query = lowered(json!({
        "table": "requests", "from": "-1h", "to": "now", "compare": {"shift": "7d"},
        "bucket": "1m", "group_by": ["service"], "aggregates": ["count(*)"], "series": 3,
    }));
    assert_eq!(show::range(&query), "[now-608400, now)");
    assert_eq!(
        show::filter(&query),
        "Or(And(GreaterOrEqual(time, now-3600), Less(time, now)), \
         And(GreaterOrEqual(time, now-608400), Less(time, now-604800)))"
    );
    assert_eq!(show::keys(&query), "TimeBucket(time, 60000000); service::string");
    assert_eq!(
        show::outputs(&query),
        "side: string = Case(GreaterOrEqual(k0, now-3600), 'now', 'before'); \
         time: time = Case(GreaterOrEqual(k0, now-3600), k0, AddSeconds(k0, 604800)); \
         service: string = k1; count(*): number = Count"
    );
    let buckets = Some((0, TimeBuckets::Fixed(60_000_000)));
    assert_eq!(query.time_key(), buckets, "series are ranked over both sides");
}

#[test]
fn a_comparison_in_a_time_zone_is_of_wall_clocks() {
    // Berlin's clocks were set back on 2023-10-29.
    let of = |zone: &str, bucket: &str| {
        lowered(json!({
            "table": "requests", "from": "2023-10-30T00:00:00Z", "to": "2023-10-31T00:00:00Z",
            "compare": {"shift": "7d"}, "bucket": bucket, "time_zone": zone,
        }))
    };
    assert_eq!(show::range(&of("UTC", "1d")), "[now-2030400, now-1339200)");
    let query = of("europe/berlin", "1d");
    // From midnight to midnight in Berlin, seven days and an hour before.
    assert_eq!(show::range(&query), "[now-2037600, now-1339200)");
    let day = "Calendar(Bucket)(time, 0, 86400000000, 'Europe/Berlin')";
    assert_eq!(show::keys(&query), day);
    let moved = "Calendar(FromWallClock)(AddSeconds(Calendar(WallClock)(k0, 'Europe/Berlin'), \
                 604800), 'Europe/Berlin')";
    assert!(show::outputs(&query).contains(moved), "{}", show::outputs(&query));
    let minutes = of("Europe/Berlin", "1m");
    assert_eq!(show::keys(&minutes), "TimeBucket(time, 60000000)");
}

#[test]
fn a_time_zone_is_the_calendar_of_all_expressions() {
    // The SQL of such a query has the time zone in its bucket only.
    let kolkata = spec(json!({
        "table": "requests", "time_zone": "Asia/Kolkata",
        "group_by": ["date_trunc('month', time)", "extract(hour FROM time)", "time::date"],
    }));
    let tables = Tables::new();
    let Ok(Statement::Query { query, .. }) = lower_spec(&kolkata, &context(&tables)) else {
        panic!("no query");
    };
    assert_eq!(
        show::keys(&query),
        "Calendar(Bucket)(time, 1, 0, 'Asia/Kolkata'); \
         Extract(Hour)(Calendar(WallClock)(time, 'Asia/Kolkata')); \
         Calendar(Bucket)(time, 0, 86400000000, 'Asia/Kolkata')"
    );
    let unknown = spec(json!({"table": "requests", "time_zone": "Europe/Atlantis"}));
    let error = lower_spec(&unknown, &context(&tables)).expect_err("no such zone");
    assert_eq!(error.field.as_deref(), Some("time_zone"));
}

#[test]
fn a_comparison_begins_where_a_bucket_does() {
    let query = lowered(json!({
        "table": "requests", "from": "2023-11-15T11:30:30Z", "to": "2023-11-15T12:00:00Z",
        "compare": {"shift": "1d"}, "bucket": "1m",
    }));
    assert_eq!(show::range(&query), "[now-88200, now)");
}

#[test]
fn a_comparison_without_buckets_groups_by_side() {
    let query = lowered(json!({
        "table": "requests", "from": "-1h", "compare": {"shift": "1h"}, "group_by": ["service"],
    }));
    assert_eq!(
        show::keys(&query),
        "Case(GreaterOrEqual(time, now-3600), 'now', 'before'); service::string"
    );
}

#[test]
fn a_negative_number_is_a_time_before_1970_and_its_text_is_relative() {
    let from =
        |from: serde_json::Value| lowered(json!({"table": "requests", "from": from})).range.from;
    let seconds = |seconds: i64| Some(Micros(seconds * Micros::SECOND));
    assert_eq!(from(json!(-3_600)), seconds(-3_600));
    assert_eq!(from(json!(-0.5)), Some(Micros(-500_000)));
    assert_eq!(from(json!(3_600)), seconds(3_600));
    assert_eq!(from(json!("-3600")), Some(Micros(NOW.0 - 3_600 * Micros::SECOND)));
    let refused = serde_json::from_value::<QuerySpec>(json!({"table": "t", "from": -1e15}));
    let error = refused.expect_err("there is no such year").to_string();
    assert!(error.contains("-1000000000000000 is not a time"), "{error}");
}

#[test]
fn a_comparison_says_which_times_are_asked_for() {
    let query = lowered(json!({
        "table": "requests", "from": "-1h", "to": "now", "compare": {"shift": "7d"},
        "group_by": ["time_bucket('7 minutes', time)"], "aggregates": ["per_minute(count(*))"],
    }));
    let ago = |seconds: i64| Some(Micros(NOW.0 - seconds * Micros::SECOND));
    let range = |from, to| TimeRange { from: ago(from), to: ago(to) };
    assert_eq!(query.intervals, [range(608_400, 604_800), range(3_600, 0)]);
    let one = lowered(json!({"table": "requests", "from": "-1h", "bucket": "1m"}));
    assert!(one.intervals.is_empty(), "the range says it");
}

#[test]
fn errors_name_the_field_and_the_place_in_it() {
    for (asked, field, at) in [
        (json!({"table": "reqests"}), "table", Some(0)),
        (json!({"table": "requests", "filter": ["ok", "servce = 'x'"]}), "filter[1]", Some(0)),
        (json!({"table": "requests", "filter": "ok AND tags = 'x'"}), "filter", Some(14)),
        (json!({"table": "requests", "filter": ["ok) OR (ok"]}), "filter[0]", Some(2)),
        (json!({"table": "requests", "filter": "ok) OR (1 = 1"}), "filter", Some(2)),
        (json!({"table": "requests", "filter": "ok */ OR /* true"}), "filter", Some(16)),
        (json!({"table": "requests", "filter": "ok LIMIT 1 SERIES"}), "filter", Some(3)),
        (json!({"table": "requests", "filter": ""}), "filter", Some(0)),
        (json!({"table": "requests\" WHERE 1 = 1 --"}), "table", Some(0)),
        (json!({"from": "-1h"}), "table", None),
        (json!({"table": "requests", "columns": "DISTINCT service"}), "columns", Some(0)),
        (json!({"table": "requests", "group_by": ["service", "*"]}), "group_by[1]", Some(0)),
        (json!({"table": "requests", "order_by": "ok, path"}), "order_by", Some(2)),
        (json!({"table": "requests", "series": 5}), "series", Some(0)),
        (json!({"table": "requests", "series": 0, "bucket": "1m"}), "series", Some(0)),
        (
            json!({"table": "requests", "from": "-1d", "to": "now", "bucket": "1s"}),
            "bucket",
            Some(0),
        ),
        (json!({"table": "requests", "from": "-1h' OR '"}), "from", None),
        (json!({"table": "requests", "bucket": "1m' OR '"}), "bucket", None),
        (json!({"table": "requests", "filter": ["ok; DROP TABLE x"]}), "filter[0]", Some(2)),
        (
            json!({"table": "requests", "aggregates": ["count(*)", "sum(servce)"]}),
            "aggregates[1]",
            Some(4),
        ),
        (json!({"table": "requests", "aggregates": ["count(*) FROM x"]}), "aggregates[0]", Some(9)),
        (json!({"table": "requests", "group_by": ["1 +"]}), "group_by[0]", Some(3)),
        (json!({"table": "requests", "order_by": ["nope DESC"]}), "order_by[0]", Some(0)),
        (json!({"table": "requests", "columns": ["service", "x"]}), "columns[1]", Some(0)),
        (json!({"table": "requests", "columns": ["ok"], "group_by": ["ok"]}), "columns[0]", None),
        (json!({"table": "requests", "from": "noon"}), "from", None),
        (json!({"table": "requests", "from": 1_700_049_000_000_i64}), "from", None),
        (json!({"table": "requests", "from": "now", "to": "-1h"}), "to", None),
        (json!({"table": "requests", "bucket": "1 month 1 day"}), "bucket", None),
        (json!({"table": "requests", "bucket": "0s"}), "bucket", None),
        (json!({"table": "requests", "compare": {"shift": "1d"}}), "compare", None),
        (json!({"table": "requests", "from": "-2d", "compare": {"shift": "1d"}}), "compare", None),
        (
            json!({"table": "requests", "from": "-1h", "compare": {"shift": "90m"}, "bucket": "1h"}),
            "compare",
            None,
        ),
    ] {
        let error = refused(asked.clone());
        assert_eq!(error.field.as_deref(), Some(field), "{asked}: {error:?}");
        let offset = error.position.map(|place| place.offset);
        assert_eq!(offset, at, "{asked}: {error:?}");
    }
}

#[test]
fn unknown_fields_are_refused() {
    for bad in [
        json!({"table": "requests", "enabled": true}),
        json!({"table": "requests", "compare": {"shift": "1d", "x": 1}}),
        json!({"table": "requests", "limit": -1}),
    ] {
        assert!(serde_json::from_value::<QuerySpec>(bad.clone()).is_err(), "{bad}");
    }
}

#[test]
fn a_search_is_one_text_whatever_it_holds() {
    let query = lowered(json!({"table": "requests", "search": "x') OR ('\\' --"}));
    assert_eq!(show::filter(&query), "any(x') OR ('\\' --)");
}

#[test]
fn a_comment_in_a_field_ends_there() {
    let query = lowered(json!({"table": "requests", "filter": ["ok -- fine", "bytes = 1"]}));
    assert_eq!(show::filter(&query), "And(ok::number, Equal(bytes::number, 1))");
}

fn texts(choices: &'static [&'static str]) -> impl Strategy<Value = Vec<&'static str>> {
    prop::collection::vec(prop::sample::select(choices), 0..3)
}

proptest! {
    #[test]
    fn sql_says_what_the_spec_says(
        filter in texts(&["ok", "latency > 1 OR ok", "service ~ 'x'", "includes_any(tags, 'a')"]),
        group_by in texts(&["service", "lower(path) AS p", "extract(hour FROM time)", "mixed::string"]),
        aggregates in texts(&["count(*)", "p95(latency) AS p95", "per_minute(sum(bytes))"]),
        bucket in prop::sample::select(vec![None, Some("auto"), Some("1m"), Some("2 weeks")]),
        search in prop::option::of("[a-z'\"\\\\ ]{0,5}"),
        limit in prop::option::of(0_u64..200_000),
        compared in any::<bool>(),
    ) {
        let mut asked = json!({
            "table": "requests", "from": "-1d", "to": "now", "filter": filter,
            "group_by": group_by, "aggregates": aggregates, "bucket": bucket, "search": search,
            "limit": limit,
        });
        if compared {
            asked["compare"] = json!({"shift": "2w"});
        }
        let tables = Tables::new();
        let context = context(&tables);
        let spec = spec(asked);
        let sql = to_sql(&spec, &context).expect("SQL");
        match (lower_spec(&spec, &context), lower(&sql, &context)) {
            (Ok(left), Ok(right)) => prop_assert_eq!(left, right),
            (Err(left), Err(right)) => prop_assert_eq!(left.message, right.message),
            (left, right) => prop_assert!(false, "{sql}: {left:?} {right:?}"),
        }
    }
}

#[test]
fn comparisons_totals_and_months_are_sql_too() {
    let asked = json!({
        "table": "requests", "group_by": ["service"], "aggregates": ["count(*) AS n"],
        "compare": {"where": "ok OR latency > 1", "against": "NOT ok"}, "totals": true,
        "bucket": "3 months", "order_by": ["n_difference DESC"],
    });
    assert_eq!(
        sql(asked.clone()),
        "SELECT time_bucket('3 months', time) AS time, service, count(*) AS n FROM \"requests\" \
         GROUP BY ALL WITH TOTALS COMPARE (ok OR latency > 1) AGAINST (NOT ok) \
         ORDER BY n_difference DESC"
    );
    let query = lowered(asked);
    assert!(query.totals);
    let names: Vec<&str> = query.outputs.iter().map(|output| output.name.as_str()).collect();
    assert_eq!(names, ["time", "service", "n", "n_baseline", "n_difference", "n_percent"]);
    let rest = json!({"table": "requests", "compare": {"where": "ok"}});
    assert!(sql(rest.clone()).ends_with("GROUP BY ALL COMPARE (ok) AGAINST REST"), "{}", sql(rest));
    let shifted = json!({
        "table": "requests", "from": "-1h", "to": "now", "bucket": "5m",
        "aggregates": ["count(*)"], "compare": {"shift": "1d", "columns": true},
    });
    let query = lowered(shifted);
    assert_eq!((query.keys().len(), query.outputs.len(), query.intervals.len()), (1, 5, 2));
    // The ranges of both sides are one range, but neither side is as long.
    let rates = refused(json!({
        "table": "requests", "from": "-1h", "to": "now", "aggregates": ["per_minute(count(*))"],
        "compare": {"shift": "1h", "columns": true},
    }));
    assert!(rates.to_string().contains("need one time range"), "{rates}");
    let years = sql(json!({"table": "requests", "bucket": "1 year", "time_zone": "Europe/Berlin"}));
    assert!(years.contains("time_bucket('1 year', time, 'Europe/Berlin') AS time"), "{years}");
    let mixed = refused(json!({"table": "requests", "bucket": "1 month 1 day"}));
    assert_eq!(mixed.field.as_deref(), Some("bucket"));
    let both = refused(json!({"table": "requests", "compare": {"shift": "1d", "where": "ok"}}));
    assert_eq!(both.field.as_deref(), Some("compare"));
    let within = refused(json!({"table": "requests", "compare": {"where": "oops"}}));
    assert_eq!(within.field.as_deref(), Some("compare.where"));
}
