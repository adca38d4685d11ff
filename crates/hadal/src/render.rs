//! Answers as text: a table for people; CSV, JSON and JSON lines for programs.

mod chart;
mod table;

use serde_json::Value;

use crate::client::Answer;
use crate::error::Error;

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

/// The answer in a format. Charts are only drawn for people.
pub(crate) fn render(answer: &Answer, format: Format, with_chart: bool) -> Result<String, Error> {
    match format {
        Format::Table => {
            let chart = if with_chart { chart::chart(answer) } else { String::new() };
            Ok(table::table(answer) + &chart)
        }
        Format::Csv => csv(answer),
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

/// A cell as plain text; null is empty.
fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn csv(answer: &Answer) -> Result<String, Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let failed = |error: csv::Error| Error::io("write", "csv")(error.into());
    writer.write_record(answer.columns.iter().map(|column| &column.name)).map_err(failed)?;
    for row in &answer.rows {
        writer.write_record(row.iter().map(plain)).map_err(failed)?;
    }
    let bytes =
        writer.into_inner().map_err(|error| Error::io("write", "csv")(error.into_error()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Each row as one JSON object, its columns in the answer's order.
fn rows_as_json(answer: &Answer) -> impl Iterator<Item = String> {
    let names: Vec<Value> =
        answer.columns.iter().map(|column| Value::from(column.name.as_str())).collect();
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
    fn csv_quotes_what_needs_it() {
        let expected =
            "name,n,tags\n\"a,\"\"b\"\"\",1.5,\n,9007199254740993,\"[\"\"x\"\",\"\"y\"\"]\"\n";
        assert_eq!(render(&odd(), Format::Csv, true).expect("text"), expected);
    }

    #[test]
    fn json_keeps_the_order_of_columns() {
        let first = r#"{"name":"a,\"b\"","n":1.5,"tags":null}"#;
        let second = r#"{"name":null,"n":"9007199254740993","tags":["x","y"]}"#;
        let lines = render(&odd(), Format::Jsonl, true).expect("text");
        assert_eq!(lines, format!("{first}\n{second}\n"));
        let array = render(&odd(), Format::Json, true).expect("text");
        assert_eq!(array, format!("[{first},\n {second}]\n"));
        let none = answer(&[("n", "number")], serde_json::json!([]));
        assert_eq!(render(&none, Format::Json, true).expect("text"), "[]\n");
    }
}
