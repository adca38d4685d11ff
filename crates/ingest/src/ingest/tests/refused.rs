//! A refused record leaves nothing in the rows after it.

use super::*;

/// Records with values in old and new columns, before or after the error that they are refused for.
const REFUSED: [&str; 12] = [
    r#"{"a":7,"s":"no","v":["no"],"only":1,"time":true}"#,
    r#"{"time":true,"a":7,"s":"no","v":["no"],"only":1}"#,
    r#"{"a":7,"s":"no","sample_rate":0}"#,
    r#"{"sample_rate":"x","a":7,"s":"no"}"#,
    r#"{"sample_rate":5,"a":7,"time":1700000000,"s":1e400}"#,
    r#"{"a":7,"s":"no","v":["no"],"only":{"deep":1},"b":1e400}"#,
    r#"{"a":7,"s":"no","time":99999999999}"#,
    r#"{"time":99999999999,"a":7,"a":8,"s":"no","s":9}"#,
    r#"{"a":"other kind","s":7,"v":{"$set":["no"]},"time":true}"#,
    r#"{"a":7,"s":"no","":1}"#,
    r#"{"a":7,"s":"no","v":["no"],"b":tru}"#,
    r#"{"sample_rate":5,"a":7,"only":"no","time":true}"#,
];

/// Records that lack some columns, so that leftovers of a refused record would show.
const TAKEN: [&str; 5] = [
    r#"{"time":1700000000}"#,
    r#"{"time":1700000001,"a":1}"#,
    r#"{"time":1700000002,"s":"yes","b":true}"#,
    r#"{"time":1700000003,"v":["yes"],"a":"text"}"#,
    r#"{"time":1700000004,"a":1,"s":"yes","v":["yes"],"b":false,"sample_rate":2}"#,
];

/// The rows, and the column names of all batches.
fn read(batches: &[Batch]) -> (Vec<BTreeMap<String, Value>>, Vec<String>) {
    let mut names = Vec::new();
    for batch in batches {
        let view = BlockView::parse(batch.block()).expect("parses");
        names.extend(view.columns().iter().map(|column| column.name().to_string()));
    }
    (rows(batches), names)
}

/// The rows, column names and summary of a body of these lines.
fn taken(format: Format, lines: &[&str]) -> (Vec<BTreeMap<String, Value>>, Vec<String>, Summary) {
    let body = lines.join("\n");
    let (batches, summary) = ingest_as(settings(), format, body.as_bytes(), body.len());
    let (rows, names) = read(&batches);
    (rows, names, summary)
}

#[test]
fn no_cell_of_a_refused_record_is_in_the_row_after_it() {
    for refused in REFUSED {
        for next in TAKEN {
            // Once with known columns, and once with the refused record first.
            for before in [&TAKEN[..], &[]] {
                let without = [before, &[next]].concat();
                let with = [before, &[refused, next]].concat();
                let (rows, names, summary) = taken(Format::Json, &with);
                assert_eq!(summary.rejected_count, 1, "{refused}");
                let expected = taken(Format::Json, &without);
                assert_eq!((rows, names), (expected.0, expected.1), "{refused} before {next}");
            }
        }
    }
}

#[test]
fn nor_of_a_refused_row_of_a_table_of_text() {
    let head = "time,a,s,b";
    let with = [head, "never,7,no,no", "1700000000,,,yes", "99999999999,7,no,", "1700000001,1,,"];
    let (rows, names, summary) = taken(Format::Csv, &with);
    assert_eq!((summary.accepted, summary.rejected_count), (2, 2), "{summary:?}");
    let expected = taken(Format::Csv, &[head, with[2], with[4]]);
    assert_eq!((rows, names), (expected.0, expected.1));
}

#[test]
fn nor_of_a_refused_line() {
    let with = ["2099-01-01T00:00:00Z no", "2026-11-21T11:00:00Z yes", "2099-01-01T00:00:00Z no"];
    let (rows, _, summary) = taken(Format::Lines, &with);
    assert_eq!((summary.accepted, summary.rejected_count), (1, 2), "{summary:?}");
    assert_eq!(rows, taken(Format::Lines, &with[1..2]).0);
}
