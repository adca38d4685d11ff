//! Answers as text: a table for people; CSV, JSON and JSON lines for programs.

mod chart;
mod table;

use std::borrow::Cow;

use hadal_http::{distinct_column_names, write_csv_record};
use serde_json::Value;

use crate::client::Answer;
use crate::error::Error;
use crate::terminal_escape::visible;

/// How an answer is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// Aligned columns, with a chart where there is a series: for people.
    Table,
    /// Comma-separated values with a head line; lists as JSON, null as nothing.
    Csv,
    /// One JSON array of objects.
    Json,
    /// One JSON object per line.
    Jsonl,
}

/// Renders an answer in a format. With `line_width`, which a terminal has, lines are cut to that
/// many columns and a chart is added.
pub(crate) fn render(
    answer: &Answer,
    format: Format,
    line_width: Option<usize>,
) -> Result<String, Error> {
    match format {
        Format::Table => {
            let chart = line_width.map(|width| chart::chart(answer, width)).unwrap_or_default();
            Ok(table::table(answer, line_width) + &chart)
        }
        Format::Csv => Ok(csv(answer)),
        Format::Json => {
            let rows: Vec<String> = rows_as_json(answer).collect();
            Ok(if rows.is_empty() {
                "[]\n".to_owned()
            } else {
                format!("[{}]\n", rows.join(",\n "))
            })
        }
        Format::Jsonl => Ok(rows_as_json(answer).map(|row| row + "\n").collect()),
    }
}

/// A cell for people: one line without characters that control a terminal.
fn show(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::String(text) => visible(text).into_owned(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(show).collect();
            format!("[{}]", items.join(", "))
        }
        other => visible(&other.to_string()).into_owned(),
    }
}

/// Whether a column holds numbers. Numbers with more digits than a double holds arrive as strings.
fn is_numeric(answer: &Answer, column: usize) -> bool {
    let values = || answer.rows.iter().filter_map(|row| row.get(column));
    values().any(Value::is_number)
        || (answer.columns[column].is_number() && values().any(Value::is_string))
}

/// A cell as plain text for programs; null is empty.
fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn csv(answer: &Answer) -> String {
    let mut bytes = Vec::new();
    write_csv_record(&mut bytes, answer.columns.iter().map(|column| Cow::from(&column.name)));
    for row in &answer.rows {
        write_csv_record(&mut bytes, row.iter().map(|value| Cow::from(plain(value))));
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Formats each row as one JSON object, with its columns in the answer's order.
fn rows_as_json(answer: &Answer) -> impl Iterator<Item = String> {
    let names: Vec<&str> = answer.columns.iter().map(|column| column.name.as_str()).collect();
    let names: Vec<Value> = distinct_column_names(&names).into_iter().map(Value::from).collect();
    answer.rows.iter().map(move |row| {
        let pairs: Vec<String> =
            names.iter().zip(row).map(|(name, value)| format!("{name}:{value}")).collect();
        format!("{{{}}}", pairs.join(","))
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn answer(columns: &[(&str, &str)], rows: Value) -> Answer {
        let columns: Vec<Value> = columns
            .iter()
            .map(|(name, kind)| serde_json::json!({"name": name, "type": kind}))
            .collect();
        let coverage = serde_json::json!({"leaves_asked": 1, "leaves_answered": 1,
            "rows_expected": 1, "rows_scanned": 1, "fraction": 1.0});
        let document = serde_json::json!({"columns": columns, "rows": rows, "coverage": coverage,
                "stats": {"elapsed_micros": 1_500}});
        serde_json::from_value(document).expect("an answer")
    }

    fn odd() -> Answer {
        let rows =
            serde_json::json!([["a,\"b\"", 1.5, null], [null, "9007199254740993", ["x", "y"]]]);
        answer(&[("name", "string"), ("n", "number"), ("tags", "set")], rows)
    }

    #[test]
    fn series_beyond_the_limit_are_told_from_a_null_key() {
        let document = serde_json::json!({
            "columns": [{"name": "test", "type": "string"}, {"name": "n", "type": "number"}],
            "rows": [["a", 10], [null, 5], [null, 7]], "row_kinds": ["group", "group", "other"],
            "coverage": {"leaves_asked": 1, "leaves_answered": 1, "rows_expected": 1,
                "rows_scanned": 1, "fraction": 1.0},
            "stats": {"elapsed_micros": 1_500}});
        let answer: Answer = serde_json::from_value(document).expect("an answer");
        let answer = answer.with_row_kind_column();
        let csv = render(&answer, Format::Csv, None).expect("text");
        assert_eq!(csv, "test,n,row_kind\na,10,group\n,5,group\n,7,other\n");
        let lines = render(&answer, Format::Jsonl, None).expect("text");
        assert!(lines.contains(r#"{"test":null,"n":7,"row_kind":"other"}"#), "{lines}");
        let table = render(&answer, Format::Table, Some(80)).expect("text");
        assert!(table.contains("(other)") && table.contains("null"), "{table}");
    }

    #[test]
    fn csv_quotes_what_needs_it() {
        let expected =
            "name,n,tags\n\"a,\"\"b\"\"\",1.5,\n,9007199254740993,\"[\"\"x\"\",\"\"y\"\"]\"\n";
        assert_eq!(render(&odd(), Format::Csv, Some(80)).expect("text"), expected);
    }

    #[test]
    fn json_keeps_the_order_of_columns() {
        let first = r#"{"name":"a,\"b\"","n":1.5,"tags":null}"#;
        let second = r#"{"name":null,"n":"9007199254740993","tags":["x","y"]}"#;
        let lines = render(&odd(), Format::Jsonl, None).expect("text");
        assert_eq!(lines, format!("{first}\n{second}\n"));
        let array = render(&odd(), Format::Json, None).expect("text");
        assert_eq!(array, format!("[{first},\n {second}]\n"));
        let none = answer(&[("n", "number")], serde_json::json!([]));
        assert_eq!(render(&none, Format::Json, None).expect("text"), "[]\n");
    }

    #[test]
    fn keys_of_an_object_are_distinct() {
        let columns = ["a", "a", "b", "a_2", "a", "b"].map(|name| (name, "number"));
        let answer = answer(&columns, serde_json::json!([[1, 2, 3, 4, 5, 6]]));
        let expected = r#"{"a":1,"a_3":2,"b":3,"a_2":4,"a_4":5,"b_2":6}"#;
        assert_eq!(render(&answer, Format::Jsonl, None).expect("text"), format!("{expected}\n"));
        let csv = render(&answer, Format::Csv, None).expect("text");
        assert_eq!(csv, "a,a,b,a_2,a,b\n1,2,3,4,5,6\n");
    }

    #[test]
    fn charts_are_for_people() {
        let rows = serde_json::json!([["x", 2], ["y", 1]]);
        let answer = answer(&[("k", "string"), ("n", "number")], rows);
        let text = |line_width| render(&answer, Format::Table, line_width).expect("text");
        assert!(!text(None).contains('█'), "{}", text(None));
        assert!(text(Some(80)).contains('█'), "{}", text(Some(80)));
    }
}
