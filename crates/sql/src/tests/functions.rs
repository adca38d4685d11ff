//! The lowered form of functions: their spellings, and what a time zone changes.

use hadal_query::Expr;

use super::catalog::Tables;
use super::{context, query, show};
use crate::{Statement, parse};

#[track_caller]
fn table(cases: &[(&str, &str)]) {
    for (expr, expected) in cases {
        let query = query(&format!("SELECT {expr} FROM requests"));
        let shown = match &query.outputs[0].expr {
            constant @ Expr::Literal(_) => show::output(constant),
            _ => show::keys(&query),
        };
        let shown = shown.strip_prefix("rows ").unwrap_or(&shown);
        assert_eq!(shown.strip_suffix("; time").unwrap_or(shown), *expected, "{expr}");
    }
}

#[test]
fn spellings_of_functions_of_strings() {
    table(&[
        ("substring(user FROM 2 FOR 3)", "Text(Substring)(user::string, 2, 3)"),
        ("substring(user FOR 3)", "Text(Substring)(user::string, 1, 3)"),
        ("substr(user, 2)", "Text(Substring)(user::string, 2)"),
        ("substring(user FROM 'a(b)')", "RegexpExtract(user::string, 'a(b)', 1)"),
        ("trim(user)", "Text(Trim)(user::string)"),
        ("trim(LEADING 'x' FROM user)", "Text(TrimStart)(user::string, 'x')"),
        ("trim(BOTH 'x' FROM user)", "Text(Trim)(user::string, 'x')"),
        ("trim(user, 'x')", "Text(Trim)(user::string, 'x')"),
        ("position('x' IN user)", "Text(Position)(user::string, 'x')"),
        ("strpos(user, 'x')", "Text(Position)(user::string, 'x')"),
        ("left(bytes, 2)", "Text(Left)(bytes::string, 2)"),
        ("regexp_replace(user, 'a', 'b', 'gi')", "RegexpReplaceAll(user::string, '(?i)a', 'b')"),
        ("regexp_matches(user, 'a')", "Matches(Regex)(user::string, 'a')"),
        ("greatest(bytes, latency, NULL)", "Greatest(bytes::number, latency::number, null)"),
        ("left('abc', 2)", "'ab'"),
    ]);
}

#[test]
fn lists_and_null_safe_comparisons() {
    table(&[
        ("bytes = ANY(ARRAY[1, 2])", "In(bytes::number, 1, 2)"),
        ("bytes <> ALL(ARRAY[1, 2])", "Not(In(bytes::number, 1, 2))"),
        ("bytes > ALL(ARRAY[1, 2])", "And(Greater(bytes::number, 1), Greater(bytes::number, 2))"),
        ("bytes = ANY(ARRAY[]::int[])", "false"),
        ("user = ANY('{a,\"b, c\",NULL}'::text[])", "In(user::string, 'a', 'b, c', null)"),
        (
            "user LIKE ANY(ARRAY['a%', '%b'])",
            "Or(Matches(Like)(user::string, 'a%'), Matches(Like)(user::string, '%b'))",
        ),
        ("'a' = ANY(tags)", "IncludesAny(tags::set, 'a')"),
        ("bytes IS NOT DISTINCT FROM 1", "Coalesce(Equal(bytes::number, 1), false)"),
        (
            "bytes IS DISTINCT FROM latency",
            "Not(Coalesce(Equal(bytes::number, latency::number), And(IsNull(bytes::number), IsNull(latency::number))))",
        ),
        ("bytes IS DISTINCT FROM NULL", "Not(IsNull(bytes::number))"),
    ]);
}

#[test]
fn texts_can_be_times() {
    table(&[
        ("user::timestamp", "ToTime(user::string)"),
        ("user - path", "SecondsBetween(ToTime(user::string), ToTime(path::string))"),
        ("sent > user", "Greater(sent::number, ToTime(user::string))"),
        ("date_trunc('hour', user)", "TimeBucket(ToTime(user::string), 3600000000)"),
        ("to_timestamp(user)", "ToTime(user::string)"),
        ("sent - INTERVAL '1 month'", "Calendar(AddMonths)(sent::number, -1)"),
        ("time_bucket('1 quarter', sent)", "Calendar(Bucket)(sent::number, 3, 0, 'UTC')"),
        ("to_char(sent, 'YYYY')", "Calendar(Format)(sent::number, '%Y')"),
    ]);
}

#[test]
fn at_time_zone_leads_to_the_wall_clock_and_back() {
    table(&[
        ("sent AT TIME ZONE 'UTC'", "sent::number"),
        ("sent AT TIME ZONE 'europe/berlin'", "Calendar(WallClock)(sent::number, 'Europe/Berlin')"),
        (
            "sent AT TIME ZONE 'UTC' AT TIME ZONE 'Europe/Berlin'",
            "Calendar(FromWallClock)(sent::number, 'Europe/Berlin')",
        ),
        (
            "user::timestamp AT TIME ZONE 'Europe/Berlin'",
            "Calendar(FromWallClock)(ToTime(user::string), 'Europe/Berlin')",
        ),
        ("extract(epoch FROM TIMESTAMP '2026-07-01' AT TIME ZONE 'Europe/Berlin')", "1782856800"),
        (
            "date_trunc('day', sent, 'Europe/Berlin')",
            "Calendar(Bucket)(sent::number, 0, 86400000000, 'Europe/Berlin')",
        ),
    ]);
}

#[test]
fn a_session_has_a_time_zone() {
    let tables = Tables::new();
    let zone = hadal_query::TimeZone::named("Europe/Berlin").expect("a zone");
    let keys = |expr: &str| {
        let parsed = parse(&format!("SELECT {expr} FROM requests")).expect("a statement");
        match parsed.bind_in_zone(&context(&tables), &zone).expect("a query") {
            Statement::Query { query, .. } => show::keys(&query),
            other => panic!("{other:?}"),
        }
    };
    for (expr, expected) in [
        (
            "time_bucket('1 hour', sent)",
            "Calendar(Bucket)(sent::number, 0, 3600000000, 'Europe/Berlin')",
        ),
        ("time_bucket('5 minutes', sent)", "TimeBucket(sent::number, 300000000)"),
        ("time_bucket('90 minutes', sent)", "TimeBucket(sent::number, 5400000000)"),
        ("time_bucket('1 day', sent, 'UTC')", "TimeBucket(sent::number, 86400000000)"),
        ("extract(second FROM sent)", "Extract(Second)(sent::number)"),
        ("extract(hour FROM sent AT TIME ZONE 'UTC')", "Extract(Hour)(sent::number)"),
        (
            "sent + INTERVAL '1 month 1 day'",
            "AddSeconds(Calendar(FromWallClock)(Calendar(AddMonths)(Calendar(WallClock)(sent::number, \
             'Europe/Berlin'), 1), 'Europe/Berlin'), 86400)",
        ),
    ] {
        let shown = keys(expr);
        assert!(shown.contains(expected), "{expr}: {shown}");
    }
}
