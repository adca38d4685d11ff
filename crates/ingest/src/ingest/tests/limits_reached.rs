//! Limits of a body: a value at the limit passes, one above it does not.

use hadal_types::limits::{FUTURE_SECONDS_MAX, REJECTS_KEPT_MAX, TABLE_AGE_DAYS};
use hadal_types::{AgeLimit, TableSettings};

use super::*;

const SECOND: i64 = 1_000_000;
const DAY: i64 = 86_400 * SECOND;

/// The summary of a row at `offset` microseconds from now, in a table with rows of today.
fn row_at(offset: i64) -> Summary {
    let settings = Settings { age: by_rows(Some(now())), ..settings() };
    let body = format!("{{\"time\":\"{}\"}}", Micros(now().0 + offset));
    ingest_as(settings, Format::Json, body.as_bytes(), 1_000).1
}

#[test]
fn rows_may_be_a_day_ahead() {
    assert_eq!(FUTURE_SECONDS_MAX, 86_400);
    assert_eq!(row_at(DAY).accepted, 1);
    let beyond = row_at(DAY + SECOND);
    assert_eq!(beyond.accepted, 0);
    let reason = "its time 2026-11-22T12:00:01Z is more than a day in the future; --time received \
                  takes the time of arrival";
    assert_eq!(reasons(&beyond), [(1, reason.to_owned())]);
}

#[test]
fn rows_may_be_thirty_days_old() {
    assert_eq!(TABLE_AGE_DAYS, 30);
    assert_eq!(row_at(-30 * DAY).accepted, 1);
    let beyond = row_at(-30 * DAY - SECOND);
    assert_eq!(beyond.accepted, 0);
    let reason = "its time 2026-10-22T11:59:59Z is older than the table's limit of 30 days";
    assert_eq!(reasons(&beyond), [(1, reason.to_owned())]);
}

#[test]
fn a_table_is_of_any_age_when_its_oldest_row_is_older_than_the_limit() {
    let accepted = |oldest: i64| {
        let age = by_rows(Some(Micros(now().0 - oldest)));
        let settings = Settings { age, ..settings() };
        let body = b"{\"time\":\"2001-01-01\"}";
        ingest_as(settings, Format::Json, body, 1_000).1.accepted
    };
    assert_eq!((accepted(30 * DAY), accepted(30 * DAY + SECOND)), (0, 1));
}

#[test]
fn settings_rule_over_what_the_data_says() {
    let week = "7d".parse().expect("an age");
    let taken = |age_limit, any_age, oldest: Option<&str>, time: &str| {
        let stored = TableSettings { age: age_limit, ..TableSettings::default() };
        let oldest = oldest.and_then(parse_timestamp);
        let age = AgePolicy::new(Some(&stored), any_age, oldest, now());
        let settings = Settings { age, ..settings() };
        let body = format!("{{\"time\":\"{time}\"}}");
        ingest_as(settings, Format::Json, body.as_bytes(), 1_000).1
    };
    for any_age in [false, true] {
        let refused = taken(Some(week), any_age, Some("2001-01-01"), "2026-11-14T11:59:59Z");
        let reason = "its time 2026-11-14T11:59:59Z is older than the table's limit of 7 days";
        assert_eq!(reasons(&refused), [(1, reason.to_owned())]);
        assert_eq!(taken(Some(week), any_age, None, "2026-11-14T12:00:00Z").accepted, 1);
    }
    let any = taken(Some(AgeLimit::Unlimited), false, Some("2026-11-20"), "2001-01-01");
    assert_eq!((any.accepted, warned(&any)), (1, vec![("no_age_limit", 1)]));
    let quarter = "90d".parse().expect("an age");
    let old = taken(Some(quarter), false, None, "2026-09-21");
    assert_eq!((old.accepted, warned(&old)), (1, vec![]));
}

#[test]
fn it_is_told_which_tables_are_of_any_age() {
    let makes = |any_age, time: &str| {
        let age = AgePolicy::new(None, any_age, None, now());
        let settings = Settings { age, ..settings() };
        let body = format!("{{\"time\":\"{time}\"}}");
        ingest_as(settings, Format::Json, body.as_bytes(), 1_000).1.age.lifts_unset_limit()
    };
    assert!(!makes(false, "2026-11-21"), "of today");
    assert!(makes(false, "2026-11-01"), "most of the first rows are older than a day");
    assert!(!makes(true, "2026-11-01"), "any age was asked for, and is not needed");
    assert!(makes(true, "2026-09-01"));
}

#[test]
fn a_thousand_rejected_rows_are_kept_and_all_are_counted() {
    assert_eq!(REJECTS_KEPT_MAX, 1_000);
    for (bad, kept) in [(999, 999), (1_000, 1_000), (1_001, 1_000)] {
        let body = "x\n".repeat(bad) + "{\"a\":1}\n";
        let (_, summary) = ingest(&body);
        assert_eq!((summary.rejected_count, summary.rejected.len()), (bad as u64, kept));
        assert_eq!(summary.accepted, 1);
        // The first rejected records are kept, each with its line.
        let last = summary.rejected.last().map(|reject| reject.line);
        assert_eq!(last, Some(kept as u64));
    }
}
