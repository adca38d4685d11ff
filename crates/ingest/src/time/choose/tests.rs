use hadal_types::Micros;
use hadal_types::time::parse_timestamp;

use super::*;
use crate::json::Scratch;
use crate::time::TimeReader;

fn choice_of(records: &[&str], names: Names) -> Choice {
    let now = parse_timestamp("2026-11-27T08:00:00Z").unwrap_or(Micros(0));
    let mut evidence = Evidence::new(TimeReader::new(now));
    let mut scratch = Scratch::default();
    for record in records {
        evidence.add_row(record, &mut scratch);
    }
    choose(&evidence, names)
}

fn column(records: &[&str]) -> Option<String> {
    choice_of(records, Names::OfTimes).column
}

fn codes(records: &[&str]) -> Vec<&'static str> {
    let remarks = choice_of(records, Names::OfTimes).remarks;
    remarks.iter().map(|remark| remark.code).collect()
}

#[test]
fn the_column_with_times_is_the_time_column() {
    for (records, expected) in [
        (&[r#"{"ts":1,"time":"2026-01-01"}"#][..], Some("time")),
        (&[r#"{"ts":1795256000,"time":"10:15"}"#], Some("ts")),
        (&["x", "{}", r#"{"t":"2026-01-01"}"#], Some("t")),
        (&[r#"{"a":1}"#, r#"{"time":"2026-11-21"}"#], Some("time")),
        (&[r#"{"Timestamp":"2026-11-21","a":1}"#], Some("Timestamp")),
        (&["{}"], None),
        (&[], None),
        (&[r#"{"time":"10:15"}"#], None),
        // A duration is called time.
        (&[r#"{"timestamp":"2024-05-01T10:15:00Z","time":0.25}"#], Some("timestamp")),
        (&[r#"{"t":3,"pickup_at":"2024-05-01T10:15:00Z"}"#], Some("pickup_at")),
        (&[r#"{"date":12,"ts":1722236234}"#], Some("ts")),
        // ISO 8601 before other spellings, and these before numbers.
        (&[r#"{"time":1722236234,"ts":"2024-05-01T10:15:00Z"}"#], Some("ts")),
        (&[r#"{"time":"Nov 21 03:51:42","ts":"2024-05-01T10:15:00Z"}"#], Some("ts")),
        (&[r#"{"time":1722236234,"ts":"Nov 21 03:51:42"}"#], Some("ts")),
        // A time after tomorrow is no event's.
        (&[r#"{"time":"9999-12-31","ts":1722236234}"#], Some("ts")),
        (&[r#"{"time":"9999-12-31T00:00:00Z"}"#], Some("time")),
        // Columns in objects come after the others.
        (&[r#"{"meta":{"ts":"2024-05-01T10:15:00Z"},"a":1}"#], Some("meta.ts")),
        (&[r#"{"meta":{"time":"2024-05-01"},"created_at":"2024-05-01"}"#], Some("created_at")),
        // The last resort.
        (&[r#"{"time":5}"#], Some("time")),
        (&[r#"{"time":"300000-01-01T00:00:00Z"}"#], Some("time")),
        (&[r#"{"time":1e30}"#], Some("time")),
        (&[r#"{"born":"1990-05-01","a":1}"#], None),
    ] {
        assert_eq!(column(records).as_deref(), expected, "{records:?}");
    }
    let born = choice_of(&[r#"{"born":"1990-05-01","a":1}"#], Names::Any);
    assert_eq!(born.column.as_deref(), Some("born"));
    let some = choice_of(&[r#"{"born":"1990-05-01"}"#, "{}"], Names::Any);
    assert_eq!((some.column, some.others), (None, vec!["born".to_owned()]));
}

#[test]
fn the_name_for_times_of_arrival_is_unused() {
    let arrival = |record| choice_of(&[record], Names::OfTimes).arrival;
    assert_eq!(arrival("{}"), "time");
    assert_eq!(arrival(r#"{"time":"10:15"}"#), "received");
    assert_eq!(arrival(r#"{"time":"10:15","received":"yes"}"#), "_received");
}

#[test]
fn a_column_called_like_a_time_is_said_if_it_is_not_understood() {
    for record in [
        r#"{"timestamp":"10 past 12"}"#,
        r#"{"date":"monday","created_at":"2020-01-01"}"#,
        r#"{"finished_at":"2026|11|21 10:15"}"#,
        r#"{"when":"2026-11-21 10:15 IST"}"#,
    ] {
        assert_eq!(codes(&[record]), [NOT_A_TIME], "{record}");
    }
    for record in
        [r#"{"wait_time":"3 ms"}"#, r#"{"message":"2026|11|21"}"#, r#"{"timestamp":1722236234}"#]
    {
        assert_eq!(codes(&[record]), [""; 0], "{record}");
    }
    assert_eq!(codes(&[r#"{"time":"10:15"}"#]), [NOT_A_TIME, NO_TIMES]);
    assert_eq!(codes(&[r#"{"time":0.25}"#]), [EARLY_TIMES]);
    let remarks = choice_of(&[r#"{"timestamp":"x"}"#], Names::OfTimes).remarks;
    let expected = "column timestamp: \"x\" is not understood as a time, the rows' time is not \
                    taken from it; --time-format says how times are written, such as %d.%m.%Y %H:%M";
    assert_eq!(remarks[0].message, expected);
}

#[test]
fn most_dates_decide_which_of_day_and_month_is_first() {
    let order = |texts: &[&str]| {
        let records: Vec<String> =
            texts.iter().map(|text| format!(r#"{{"date":{text:?}}}"#)).collect();
        let records: Vec<&str> = records.iter().map(String::as_str).collect();
        let choice = choice_of(&records, Names::OfTimes);
        let words = choice.wording.map(|wording| wording.strptime).unwrap_or_default();
        (words, choice.remarks.len())
    };
    let is = |words: &str, remarks| (words.to_owned(), remarks);
    assert_eq!(order(&["03/04/2003", "27/03/2003"]), is("%d/%m/%Y", 0));
    assert_eq!(order(&["03/04/2003", "03/27/2003"]), is("%m/%d/%Y", 0));
    assert_eq!(order(&["03/04/2003"]), is("%m/%d/%Y", 1));
    assert_eq!(order(&["03.04.2003"]), is("%d.%m.%Y", 0));
    assert_eq!(order(&["03-04-2003 10:15", "13-04-2003 10:15"]), is("%d-%m-%Y %H:%M", 0));
    assert_eq!(order(&["27/03/2003", "28/03/2003", "03/29/2003"]), is("%d/%m/%Y", 1));
}
