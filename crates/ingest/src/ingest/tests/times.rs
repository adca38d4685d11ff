//! The times of rows, and the rows that are too old.

use super::*;

#[test]
fn times_of_the_far_future_and_past_are_refused() {
    let mut settings = settings();
    settings.age = by_rows(Some(now()));
    let body = "{\"time\":\"2026-11-22T11:00:00Z\"}\n{\"time\":\"2026-11-22T13:00:00Z\"}\n\
                {\"time\":\"2026-10-23T00:00:00Z\"}\n{\"time\":\"2026-10-21T00:00:00Z\"}";
    let (_, summary) = ingest_as(settings, Format::Json, body.as_bytes(), 1_000);
    assert_eq!((summary.accepted, warned(&summary)), (2, vec![("too_old", 1)]));
    let reasons = reasons(&summary);
    assert!(reasons[0].1.contains("future"), "{reasons:?}");
    assert!(reasons[1].1.contains("limit of 30 days"), "{reasons:?}");
}

#[test]
fn a_table_that_begins_with_old_rows_has_no_age_limit() {
    let ask = |oldest: Option<Micros>, body: &str| {
        let settings = Settings { age: by_rows(oldest), ..settings() };
        ingest_as(settings, Format::Json, body.as_bytes(), 1_000).1
    };
    let old_first = ask(None, "{\"date\":\"2001-01-01\"}\n{\"date\":\"2001-06-30\"}");
    assert_eq!((old_first.accepted, warned(&old_first)), (2, vec![("no_age_limit", 2)]));
    assert_eq!(ask(None, "{\"date\":\"2026-11-21\"}\n{\"date\":\"2001-06-30\"}").accepted, 1);
    let old_table = parse_timestamp("2001-01-01");
    assert_eq!(ask(old_table, "{\"date\":\"2002-01-01\"}").accepted, 1);
}

#[test]
fn one_old_row_among_the_first_does_not_lift_the_age_limit() {
    let settings = || Settings { age: by_rows(None), ..settings() };
    let (new, old) = ("{\"date\":\"2026-11-21\"}\n", "{\"date\":\"2001-06-30\"}\n");
    let ask = |body: String| ingest_as(settings(), Format::Json, body.as_bytes(), 7).1;
    let mostly_new = ask(old.to_owned() + &new.repeat(2));
    assert_eq!((mostly_new.accepted, mostly_new.rejected[0].line), (2, 1));
    let mostly_old = ask(new.to_owned() + &old.repeat(2));
    assert_eq!((mostly_old.accepted, warned(&mostly_old)), (3, vec![("no_age_limit", 2)]));
    // Only the first records decide.
    let old_later = ask(new.repeat(FIRST_RECORDS + 1) + &old.repeat(FIRST_RECORDS + 2));
    assert_eq!(old_later.accepted, FIRST_RECORDS as u64 + 1);
    // A record that is not a row does not count.
    let some_bad = ask("x\n".repeat(5) + old);
    assert_eq!((some_bad.accepted, some_bad.rejected_count), (1, 5));
    let lines = "2001-06-30T00:00:00Z up\n";
    assert_eq!(ingest_as(settings(), Format::Lines, lines.as_bytes(), 7).1.accepted, 1);
}

#[test]
fn the_time_column_is_the_first_that_holds_a_time() {
    for (body, time_from) in [
        (r#"{"ts":1700000000,"timestamp":1600000000}"#, "column timestamp"),
        (r#"{"date":"monday","created_at":"2020-01-01"}"#, "column created_at"),
        (r#"{"a":1}"#, "arrival time"),
        (r#"{"time":"2020-01-01","ts":5}"#, "column time"),
    ] {
        let (_, summary) = ingest(body);
        assert_eq!(summary.time_from, time_from, "{body}");
        assert_eq!(summary.accepted, 1);
    }
    let named = Settings { time_column: ColumnName::new("at").ok(), ..settings() };
    let body = br#"{"at":1700000000000,"time":5}"#;
    let (batches, _) = ingest_as(named, Format::Json, body, 1_000);
    let row = &rows(&batches)[0];
    assert_eq!(row["at::number"], Value::Time(Micros(1_700_000_000_000_000)));
    assert_eq!(row["time::number"], Value::integer(5));
}

#[test]
fn a_table_keeps_its_time_column() {
    let settings = Settings { table_time_column: ColumnName::new("ts").ok(), ..settings() };
    let body = b"{\"ts\":1700000000}\n{\"timestamp\":1600000000,\"a\":1}\n{\"a\":2}";
    let (batches, summary) = ingest_as(settings.clone(), Format::Json, body, 1_000);
    let times: Vec<Value> = rows(&batches).iter().map(|row| row["ts::number"].clone()).collect();
    let seconds = |seconds: i64| Value::Time(Micros(seconds * 1_000_000));
    assert_eq!(times, [seconds(1_700_000_000), seconds(1_600_000_000), Value::Time(now())]);
    assert_eq!(warned(&summary), [("arrival_time", 1), ("no_age_limit", 2)]);
    assert_eq!(summary.time_from, "column ts");
    let body = b"{\"timestamp\":1600000000}\n{\"a\":2}";
    let (_, summary) = ingest_as(settings, Format::Json, body, 1_000);
    assert_eq!(summary.time_from, "column timestamp", "where they did come from");
}

/// The rows' times, from the column of this name.
fn times(batches: &[Batch], column: &str) -> Vec<Value> {
    rows(batches).iter().map(|row| row[&format!("{column}::number")].clone()).collect()
}

fn arrivals(count: i64) -> Vec<Value> {
    (0..count).map(|after| Value::Time(Micros(now().0 + after))).collect()
}

#[test]
fn rows_that_arrive_together_keep_their_order() {
    for format in [Format::Json, Format::Lines] {
        let (batches, _) = ingest_as(settings(), format, b"{\"a\":2}\nx\n{\"a\":1}\n{}\n", 5);
        let accepted = if format == Format::Lines { 4 } else { 3 };
        assert_eq!(times(&batches, "time"), arrivals(accepted), "{format:?}");
    }
    let mut ingest = Ingest::new(settings(), Format::Lines, now());
    let many = "x\n".repeat(2_000);
    ingest.push(many.as_bytes()).expect("encodes");
    let later = Micros(now().0 + 5_000_000);
    ingest.arrive(later);
    ingest.push(b"y\n").expect("encodes");
    let (batches, _) = ingest.finish().expect("encodes");
    let times = times(&batches, "time");
    assert_eq!(times[1_999], Value::Time(Micros(now().0 + 1_999)));
    assert_eq!(times[2_000], Value::Time(later));
}

#[test]
fn times_of_arrival_stay_near_the_clock() {
    let mut ingest = Ingest::new(settings(), Format::Lines, now());
    let many = "x\n".repeat(100_000);
    let mut batches = Vec::new();
    for _ in 0..11 {
        batches.extend(ingest.push(many.as_bytes()).expect("encodes"));
    }
    batches.extend(ingest.finish().expect("encodes").0);
    let last = times(&batches[batches.len() - 1..], "time").pop();
    assert_eq!(last, Some(Value::Time(Micros(now().0 + 1_000_000))));
}

#[test]
fn a_column_called_time_may_hold_none() {
    let body = b"{\"time\":\"10:15\",\"a\":1}\n{\"time\":\"10:16\"}";
    let (batches, summary) = ingest_as(settings(), Format::Json, body, 1_000);
    assert_eq!(times(&batches, "received"), arrivals(2));
    assert_eq!(rows(&batches)[1]["time::string"], Value::string("10:16"));
    assert_eq!(summary.time_from, "arrival time");
    assert_eq!(warned(&summary), [("arrival_time", 2), ("no_times", 1), ("not_a_time", 1)]);
    assert!(summary.warnings[1].message.contains("in column received"));
    // A column that has times only in later records is chosen; so is the next candidate.
    let (_, summary) = ingest("{\"a\":1}\n{\"time\":\"2026-11-21\"}");
    assert_eq!(summary.time_from, "column time");
    let (_, summary) = ingest("{\"time\":\"10:15\",\"ts\":1795256000}");
    assert_eq!((summary.time_from.as_str(), summary.rejected_count), ("column ts", 0));
    let (_, summary) = ingest_as(settings(), Format::Csv, b"time,a\n10:15,1\n10:16,2\n", 1_000);
    assert_eq!((summary.time_from.as_str(), summary.accepted), ("arrival time", 2));
}

#[test]
fn a_named_time_column_is_the_only_one() {
    let named = Settings { time_column: ColumnName::new("received").ok(), ..settings() };
    let body = b"{\"time\":\"2026-11-01\",\"ts\":5}";
    let (batches, summary) = ingest_as(named, Format::Json, body, 1_000);
    assert_eq!(times(&batches, "received"), arrivals(1), "a name that no row has: arrival");
    assert_eq!(rows(&batches)[0]["time::string"], Value::string("2026-11-01"));
    assert_eq!(summary.time_from, "arrival time");
}

#[test]
fn a_named_time_column_overwrites_no_other() {
    let settings = Settings {
        time_column: ColumnName::new("seen").ok(),
        table_time_column: ColumnName::new("time").ok(),
        ..settings()
    };
    let body = br#"{"seen":1795256000,"time":1795256001}
        {"time":1795256001,"seen":1795256000}
        {"seen":1795256002}
        {"time":1795256003,"seen":"monday"}"#;
    let (batches, summary) = ingest_as(settings, Format::Json, body, 1_000);
    let time = |seconds: i64| Value::Time(Micros(seconds * 1_000_000));
    assert_eq!(times(&batches, "time"), [time(1_795_256_002), time(1_795_256_003)]);
    let reason = "it has a value in seen, named as its time, and one in time, which is the time \
                  column of its table; name time or none";
    assert_eq!(reasons(&summary), [(1, reason.to_owned()), (2, reason.to_owned())]);
}

#[test]
fn times_in_several_units_are_told() {
    let (batches, summary) = ingest("{\"time\":1795256000123}\n{\"time\":1795256000}");
    let millis = |millis: i64| Value::Time(Micros(millis * 1_000));
    assert_eq!(times(&batches, "time"), [millis(1_795_256_000_123), millis(1_795_256_000)]);
    // The time of 1970 that results is beyond the default limit.
    assert_eq!(warned(&summary), [("mixed_time_units", 1), ("no_age_limit", 1)]);
    let (_, summary) = ingest("{\"time\":1795256000}\n{\"time\":1795256000123}");
    let reason = "column time: \"1795256000123\" is not a time in seconds, the unit of its batch";
    assert_eq!(reasons(&summary), [(2, reason.to_owned())]);
}

/// The rows' times and the number of rejected rows of lines of JSON, read with these options.
fn read_with(options: &[(&str, &str)], body: &str) -> (Vec<String>, Summary) {
    let mut settings = Settings { age: AgePolicy::UNLIMITED, ..settings() };
    for (name, value) in options {
        settings.read.set(name, value).expect("an option");
    }
    let (batches, summary) = ingest_as(settings, Format::Json, body.as_bytes(), 7);
    let time =
        |row: &BTreeMap<String, Value>| match row.values().find(|v| matches!(v, Value::Time(_))) {
            Some(Value::Time(time)) => time.to_string(),
            _ => String::new(),
        };
    (rows(&batches).iter().map(time).collect(), summary)
}

#[test]
fn times_of_the_first_rows_decide_how_the_others_are_read() {
    let body = "{\"date\":\"03/04/2003\"}\n{\"date\":\"27/03/2003 14:55\"}";
    let (times, summary) = read_with(&[], body);
    assert_eq!(times, ["2003-04-03T00:00:00Z", "2003-03-27T14:55:00Z"]);
    let wording = summary.time_wording.expect("a wording");
    assert_eq!(wording.words(), " as %d/%m/%Y, zone UTC assumed");
    let ambiguous = "{\"date\":\"03/04/2003\",\"other\":\"2003-03-04\"}";
    let (times, summary) = read_with(&[], ambiguous);
    assert_eq!(times, ["2003-03-04T00:00:00Z"]);
    assert_eq!(warned(&summary), [("ambiguous_dates", 1), ("no_age_limit", 1)]);
    assert_eq!(summary.other_times, ["other"]);
    let (times, summary) = read_with(&[("time-format", "day-first")], ambiguous);
    assert_eq!((times[0].as_str(), summary.warnings.len()), ("2003-04-03T00:00:00Z", 1));
    let zone = [("zone", "Europe/Berlin"), ("time-format", "%d/%m/%Y")];
    assert_eq!(read_with(&zone, ambiguous).0, ["2003-04-02T22:00:00Z"]);
    let syslog = "{\"timestamp\":\"Jan 10 06:07:06\"}\n{\"timestamp\":\"Dec 31 23:59:59\"}";
    assert_eq!(read_with(&[], syslog).0, ["2026-01-10T06:07:06Z", "2025-12-31T23:59:59Z"]);
}

#[test]
fn rows_without_a_time_are_kept_apart_in_a_file_that_has_times() {
    let body = "{\"ts\":1795256000}\n{\"a\":1}\n{\"ts\":1795256000}\n{\"ts\":\"soon\"}\n";
    let (times, summary) = read_with(&[("untimed", "detect")], body);
    assert_eq!((times.len(), summary.rejected_count), (2, 2));
    let reasons = reasons(&summary);
    let way_out = "; --untimed received takes it with its time of arrival";
    assert_eq!(reasons[0], (2, format!("it has no time{way_out}")));
    assert_eq!(reasons[1], (4, format!("column ts: \"soon\" is not a time{way_out}")));
    assert_eq!(summary.untimed, Some(Untimed::Reject));
    for options in [&[][..], &[("untimed", "received")]] {
        let (times, summary) = read_with(options, body);
        assert_eq!((times.len(), summary.rejected_count), (4, 0));
        assert_eq!(warned(&summary), [("arrival_time", 1), ("unread_time", 1)]);
    }
    let (batches, _) = ingest(body);
    let overflow = rows(&batches)[3]["_overflow::string"].clone();
    assert_eq!(overflow, Value::string("{\"ts\":\"soon\"}"));
    let (times, summary) = read_with(&[("untimed", "detect")], "{\"a\":1}\n{\"a\":2}\n");
    assert_eq!((times.len(), summary.untimed), (2, Some(Untimed::Received)));
    let (times, summary) = read_with(&[("untimed", "reject")], "{\"a\":1}\n");
    assert_eq!((times.len(), summary.rejected_count), (0, 1));
}
