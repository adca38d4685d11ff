//! Errors: their message, position and hint.

use super::catalog::Tables;
use super::{context, error};
use crate::{Message, QuerySpec, lower_spec};

/// Checks the error of each text: words of the message, the start of its position (if any), and
/// words of the hint.
#[track_caller]
fn check(cases: &[(&str, &str, &str, &str)]) {
    for &(sql, message, at, hint) in cases {
        let error = error(sql);
        assert!(error.to_string().contains(message), "{sql}: {error:?}");
        assert!(error.hint.clone().unwrap_or_default().contains(hint), "{sql}: {error:?}");
        if !at.is_empty() {
            let place = error.position.unwrap_or_else(|| panic!("{sql}: no place in {error:?}"));
            assert!(sql[place.offset..].starts_with(at), "{sql}: {error:?}");
            assert_eq!((place.line, place.column), (1, place.offset as u64 + 1), "{sql}");
        }
        let words = error.to_string();
        let word = words.split(' ').next().expect("a word");
        let lower = !word.starts_with(char::is_uppercase);
        assert!(lower || word == "Hadal" || word == word.to_uppercase(), "{error:?}");
        assert!(!words.ends_with('.'), "{error:?}");
    }
}

#[test]
fn names_that_are_not_there() {
    check(&[
        ("SELECT servce FROM requests", "no column servce", "servce", "did you mean service?"),
        ("SELECT 1 FROM reqests", "no table reqests", "reqests", "did you mean requests?"),
        ("SELECT nosuchthing FROM requests", "no column nosuchthing", "nosuchthing", "DESCRIBE"),
        ("SELECT cuont(*) FROM requests", "no function cuont", "cuont", "did you mean count?"),
        (
            "SELECT lenght(service) FROM requests",
            "no function lenght",
            "lenght",
            "did you mean length?",
        ),
        ("SELECT latency::banana FROM requests", "no type banana", "latency", "kinds"),
    ]);
}

#[test]
fn an_unknown_table_is_told_from_other_errors() {
    let unknown = |name: &str, nearest: &[&str]| Message::UnknownTable {
        name: name.to_owned(),
        nearest: nearest.iter().copied().map(str::to_owned).collect(),
    };
    for (sql, expected) in [
        ("SELECT servce FROM reqests", unknown("reqests", &["requests"])),
        ("DESCRIBE my.table", unknown("my.table", &["my-table", "mytable"])),
        ("SUMMARIZE nothing_like_it", unknown("nothing_like_it", &[])),
    ] {
        let error = error(sql);
        assert_eq!(error.message, expected, "{sql}");
        assert_eq!(error.message.code(), "unknown_table");
    }
    let spec = QuerySpec { table: "reqests".to_owned(), ..QuerySpec::default() };
    let unknown_table = lower_spec(&spec, &context(&Tables::new())).expect_err("no such table");
    assert_eq!(unknown_table.message, unknown("reqests", &["requests"]));
    assert_eq!(unknown_table.field.as_deref(), Some("table"));
    for other in ["SELECT servce FROM requests", "SELECT reqests.service FROM requests", ""] {
        assert_eq!(error(other).message.code(), "bad_query", "{other}");
    }
}

#[test]
fn kinds_that_do_not_meet() {
    check(&[
        (
            "SELECT tags FROM requests WHERE tags = 5",
            "a set cannot be compared with a number",
            "5",
            "includes_any",
        ),
        (
            "SELECT 1 FROM requests WHERE tags = 'x'",
            "a set cannot be compared with a string",
            "'x'",
            "includes_any",
        ),
        (
            "SELECT 1 FROM requests WHERE service < bytes",
            "a string cannot be compared",
            "service",
            "to_number",
        ),
        (
            "SELECT 1 FROM requests WHERE service < 5",
            "a string cannot be compared",
            "5",
            "to_number",
        ),
        (
            "SELECT 1 FROM requests WHERE ok = 'maybe'",
            "a bool cannot be compared with a string",
            "'maybe'",
            "",
        ),
        ("SELECT 1 FROM requests WHERE latency", "must be a bool", "latency", "<> 0"),
        ("SELECT 1 FROM requests WHERE service ~ '('", "not a regular expression", "'('", ""),
        ("SELECT 1 FROM requests WHERE service ~ user", "a constant text", "user", ""),
        (
            "SELECT 1 FROM requests WHERE tags LIKE 'x'",
            "matched with a string",
            "tags",
            "includes_any",
        ),
        ("SELECT 1 FROM requests WHERE service LIKE 'x' ESCAPE '!'", "escapes with", "'!'", ""),
        ("SELECT 1 FROM requests WHERE ok IN (true, 'maybe')", "cannot be compared", "'maybe'", ""),
        ("SELECT 1 FROM requests WHERE tags IN (bytes)", "cannot be compared", "bytes", "any"),
        (
            "SELECT includes_start(tags, 'a') FROM requests",
            "needs a vector",
            "tags",
            "includes_all",
        ),
        (
            "SELECT includes_any(service, 'a') FROM requests",
            "needs a set or vector",
            "service",
            "LIKE",
        ),
        ("SELECT service + 1 FROM requests", "this is a string", "service", "to_number"),
        ("SELECT round(bytes, -19) FROM requests", "-18 to 18", "19", ""),
        ("SELECT abs(1, 2) FROM requests", "takes 1 argument, not 2", "abs", ""),
    ]);
}

#[test]
fn times_and_lengths() {
    check(&[
        (
            "SELECT 1 FROM requests WHERE time > 1700049600000",
            "milliseconds?",
            "1700049600000",
            "divide",
        ),
        ("SELECT 1 FROM requests WHERE time > 'noon'", "not a time", "'noon'", "INTERVAL"),
        ("SELECT 1 FROM requests WHERE time > now() - 1e15", "years 1 to 9999", "now", ""),
        ("SELECT time_bucket('1 month 1 day', time) FROM requests", "not both", "'1 month", ""),
        ("SELECT time_bucket('1.5 months', time) FROM requests", "1.5", "'1.5", "whole months"),
        ("SELECT time_bucket(0, time) FROM requests", "more than zero", "0", ""),
        ("SELECT date_trunc('epoch', time) FROM requests", "epoch", "'epoch'", "quarter"),
        ("SELECT INTERVAL '1 month' FROM requests", "no fixed length", "'1 month'", "add it"),
        ("SELECT now() + INTERVAL '9999 years' FROM requests", "years 1 to 9999", "now", ""),
        ("SELECT extract(century FROM time) FROM requests", "no field", "time", "isodow"),
    ]);
}

#[test]
fn a_time_is_no_number() {
    check(&[
        ("SELECT time/60*60 FROM requests", "no number", "time", "time_bucket('1 minute', time)"),
        ("SELECT time % 7200 FROM requests", "no number", "time", "time_bucket('2 hours', time)"),
        ("SELECT abs(time) FROM requests", "a time is no number", "time", "epoch(time)"),
        ("SELECT time + sent FROM requests", "cannot be added", "time", "time - other"),
        ("SELECT date_trunc('day', bytes) FROM requests", "a time is needed", "date_trunc", "1000"),
        ("SELECT to_timestamp(1700049600000)", "milliseconds?", "1700049600000", "/ 1000"),
        ("SELECT to_timestamp(1700049600000000)", "microseconds?", "17", "/ 1000000"),
        ("SELECT to_timestamp('1', 'YYYY')", "takes 1 argument", "to_timestamp", "text::timestamp"),
    ]);
}

#[test]
fn time_zones_and_formats() {
    check(&[
        (
            "SELECT time AT TIME ZONE 'Europe/Berln' FROM requests",
            "no time zone",
            "'Europe/Berln'",
            "did you mean Europe/Berlin?",
        ),
        ("SELECT time AT TIME ZONE '+02' FROM requests", "no time zone", "'+02'", "IANA"),
        ("SELECT time AT TIME ZONE service FROM requests", "a constant", "service", "Berlin"),
        (
            "SELECT time_bucket('90 minutes', time, 'Europe/Berlin') FROM requests",
            "do not divide a day",
            "'90 minutes'",
            "12 hours",
        ),
        ("SELECT strftime(time, '%Z') FROM requests", "no format", "'%Z'", "%Y-%m-%d"),
        ("SELECT to_char(time, 'YYYY-XX') FROM requests", "no pattern", "'YYYY-XX'", "HH24"),
    ]);
}

#[test]
fn functions_of_texts_and_lists() {
    check(&[
        ("SELECT left(service) FROM requests", "takes 2 arguments, not 1", "left", ""),
        ("SELECT log(1, 2, 3) FROM requests", "takes 1 to 2 arguments, not 3", "log", ""),
        ("SELECT trim(tags) FROM requests", "trim takes a string", "tags", ""),
        ("SELECT left(service, user) FROM requests", "a number is needed", "user", "to_number"),
        ("SELECT splitpart(user, ',', 1) FROM requests", "no function", "splitpart", "split_part"),
        ("SELECT to_number(user, 'x') FROM requests", "decimal sign", "'x'", "1299.99"),
        ("SELECT regexp_extract(user, '(') FROM requests", "not a regular", "'('", ""),
        ("SELECT regexp_extract(user, 'a', 1) FROM requests", "no group 1", "1", "it has 0"),
        ("SELECT regexp_replace(user, 'a', 'b', 'q') FROM requests", "no flag", "'q'", "(?s)"),
        ("SELECT regexp_matches(user, 'a', 'g') FROM requests", "no flag", "'g'", "flags are"),
        ("SELECT regexp_replace(user, path, '') FROM requests", "a constant text", "path", ""),
        ("SELECT 1 FROM requests WHERE bytes = ANY(latency)", "a list of values", "latency", "IN"),
        ("SELECT 1 FROM requests WHERE user = ANY(tags)", "a constant text", "user", "includes"),
        ("SELECT 1 FROM requests WHERE ok < ANY(ARRAY['x'])", "cannot be compared", "'x'", ""),
        ("SELECT greatest() FROM requests", "at least one", "greatest", ""),
        ("SELECT greatest(tags, 1) FROM requests", "different types", "greatest", ""),
    ]);
}

#[test]
fn aggregates_and_their_arguments() {
    check(&[
        ("SELECT 1 FROM requests WHERE count(*) > 5", "WHERE has none", "count", "HAVING"),
        ("SELECT sum(count(*)) FROM requests", "inside another", "count", ""),
        ("SELECT sum(service) FROM requests", "a number is needed", "service", "to_number"),
        ("SELECT sum(*) FROM requests", "not *", "sum", ""),
        ("SELECT sum(DISTINCT bytes) FROM requests", "no DISTINCT", "sum", "count(DISTINCT"),
        ("SELECT min(tags) FROM requests", "min of a set", "tags", "strings"),
        ("SELECT percentile(latency, 101) FROM requests", "between 0 and 100", "101", "0.95"),
        ("SELECT p200(latency) FROM requests", "no percentile p200", "p200", "percentile(x, 12.5)"),
        ("SELECT p101(latency) FROM requests", "no percentile p101", "p101", "p100 is the maximum"),
        ("SELECT p9999999(latency) FROM requests", "no percentile", "p9999999", "p999 is 99.9"),
        ("SELECT histogram(latency, 0) FROM requests", "1 to 1000", "0", ""),
        (
            "SELECT service, count(*) FROM requests",
            "service is neither in GROUP BY",
            "service",
            "add service",
        ),
        ("SELECT *, count(*) FROM requests", "raw rows", "*", "count(*)"),
        ("SELECT count(*) FROM requests GROUP BY 1", "is an aggregate", "1", ""),
        ("SELECT count(*) FROM requests GROUP BY 2", "no output 2", "2", ""),
        ("SELECT bytes FROM requests ORDER BY count(*)", "is an aggregate", "count", ""),
        (
            "SELECT 1, per_minute(count(*)) FROM requests WHERE time < '2023-01-01' OR time > now()",
            "one time range",
            "per_minute",
            "time_bucket",
        ),
        (
            "SELECT service FROM requests WHERE time IN ('2023-11-15', now()) GROUP BY service \
             HAVING per_second(count(*)) > 1",
            "one time range",
            "per_second",
            "time_bucket",
        ),
        ("SELECT per_minute(bytes) FROM requests", "takes an aggregate", "bytes", "sum(x)"),
        (
            "SELECT percentile_cont(0.5, 1) WITHIN GROUP (ORDER BY bytes) FROM requests",
            "takes one argument",
            "percentile_cont",
            "",
        ),
    ]);
}

#[test]
fn clauses_and_spelling() {
    check(&[
        ("SELECT 1 FROM requests LIMIT -1", "not negative", "1", ""),
        ("SELECT 1 FROM requests LIMIT 0 SERIES", "count of series", "0", ""),
        ("SELECT 1 FROM requests LIMIT 5 SERIES", "needs a time bucket", "5", "time_bucket"),
        ("SELECT 1 FROM requests AS r(a)", "renamed after FROM", "a", "AS name"),
        ("SELECT 1 FROM requests WHERE", "end of the text", "", ""),
        ("SELECT 1 FROM requests WHERE x y", "unexpected y", "y", ""),
        ("SELECT 'open FROM requests", "unterminated", "'open", ""),
    ]);
}

#[test]
fn places_count_lines_and_characters() {
    let error = error("SELECT 'é',\n  servce\nFROM requests");
    let place = error.position.expect("a place");
    assert_eq!((place.line, place.column, place.offset), (2, 3, 15));
}
