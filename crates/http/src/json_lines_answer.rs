//! Answers as JSON lines: an object per row, with its columns in the answer's order.

use std::collections::HashSet;
use std::io::Write;

use hadal_aggregate::RowColumns;
use hadal_frontend::AnswerColumn;

use crate::answer_format::{AnswerEncoder, AnswerFormat};
use crate::json_value::JsonValue;

/// JSON lines.
#[derive(Debug)]
pub(crate) struct JsonLines;

/// Writes one answer; has the keys of its objects as JSON, each with its colon.
struct JsonLinesEncoder(Vec<String>);

impl AnswerFormat for JsonLines {
    fn media_type(&self) -> &'static str {
        "application/x-ndjson"
    }

    fn begin(
        &self,
        columns: &[AnswerColumn],
        _summary: &str,
        _out: &mut Vec<u8>,
    ) -> Result<Box<dyn AnswerEncoder>, String> {
        let key = |column: &AnswerColumn| serde_json::to_string(&column.name).map(|key| key + ":");
        let keys = columns.iter().map(key).collect::<Result<_, _>>();
        Ok(Box::new(JsonLinesEncoder(keys.map_err(|error| error.to_string())?)))
    }
}

impl AnswerEncoder for JsonLinesEncoder {
    fn batch(&mut self, rows: &RowColumns, out: &mut Vec<u8>) -> Result<(), String> {
        for row in 0..rows.rows() {
            out.push(b'{');
            for (index, (key, column)) in self.0.iter().zip(rows.columns()).enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                out.extend_from_slice(key.as_bytes());
                let written = serde_json::to_writer(out.by_ref(), &JsonValue(&column.get(row)));
                written.map_err(|error| error.to_string())?;
            }
            out.extend_from_slice(b"}\n");
        }
        Ok(())
    }

    fn end(self: Box<Self>, _summary: &str, _out: &mut Vec<u8>) -> Result<(), String> {
        Ok(())
    }
}

/// Distinct names for columns: a repeated name gets a number, `a`, `a_2`.
#[must_use]
pub fn distinct_column_names(names: &[&str]) -> Vec<String> {
    let all: HashSet<&str> = names.iter().copied().collect();
    let mut taken: HashSet<String> = HashSet::new();
    let mut distinct = Vec::with_capacity(names.len());
    for &name in names {
        let is_free = |free: &String| !taken.contains(free) && !all.contains(free.as_str());
        let free = match taken.contains(name) {
            false => Some(name.to_owned()),
            true => (2..).map(|number: u64| format!("{name}_{number}")).find(is_free),
        };
        let free = free.unwrap_or_default();
        taken.insert(free.clone());
        distinct.push(free);
    }
    distinct
}

#[cfg(test)]
mod tests {
    use hadal_aggregate::SparseRow;
    use hadal_frontend::ColumnForm;
    use hadal_types::Value;

    use super::*;

    #[test]
    fn a_row_is_an_object_on_a_line() {
        let column = |name: &str| AnswerColumn { name: name.to_owned(), form: ColumnForm::Text };
        let mut out = Vec::new();
        let mut encoder = JsonLines.begin(&["b\"", "a"].map(column), "", &mut out).expect("begun");
        let rows = [
            SparseRow::from([Value::integer(1), Value::string("x\n"), Value::Null]),
            SparseRow::from([Value::Null, Value::vector(["y"]), Value::integer(7)]),
        ];
        encoder.batch(&RowColumns::of_rows(&rows, 3), &mut out).expect("rows");
        encoder.end("", &mut out).expect("an end");
        let expected = "{\"b\\\"\":1,\"a\":\"x\\n\"}\n{\"b\\\"\":null,\"a\":[\"y\"]}\n";
        assert_eq!(String::from_utf8(out).expect("UTF-8"), expected);
    }

    #[test]
    fn repeated_names_get_numbers_that_are_free() {
        let names = distinct_column_names(&["a", "a", "b", "a_2", "a", "b", ""]);
        assert_eq!(names, ["a", "a_3", "b", "a_2", "a_4", "b_2", ""]);
    }
}
