//! Answers as CSV (RFC 4180): a head line, then a line per row. Null is nothing, lists are JSON.

use std::borrow::Cow;

use hadal_aggregate::RowColumns;
use hadal_frontend::AnswerColumn;
use hadal_types::Value;

use crate::answer_format::{AnswerEncoder, AnswerFormat};
use crate::json_value::json_text;

/// CSV.
#[derive(Debug)]
pub(crate) struct Csv;

/// Writes one answer with this many columns.
struct CsvEncoder(usize);

impl AnswerFormat for Csv {
    fn media_type(&self) -> &'static str {
        "text/csv"
    }

    fn content_type(&self) -> &'static str {
        "text/csv; charset=utf-8; header=present"
    }

    fn begin(
        &self,
        columns: &[AnswerColumn],
        _summary: &str,
        out: &mut Vec<u8>,
    ) -> Result<Box<dyn AnswerEncoder>, String> {
        write_csv_record(out, columns.iter().map(|column| Cow::from(&column.name)));
        Ok(Box::new(CsvEncoder(columns.len())))
    }
}

impl AnswerEncoder for CsvEncoder {
    fn batch(&mut self, rows: &RowColumns, out: &mut Vec<u8>) -> Result<(), String> {
        for row in 0..rows.rows() {
            let columns = rows.columns().iter().take(self.0);
            write_csv_record(out, columns.map(|column| cell(column.get(row))));
        }
        Ok(())
    }

    fn end(self: Box<Self>, _summary: &str, _out: &mut Vec<u8>) -> Result<(), String> {
        Ok(())
    }
}

/// The text of a value: as in JSON, but texts without quotes, all digits of numbers, and null as
/// nothing.
fn cell(value: Cow<'_, Value>) -> Cow<'_, str> {
    match value {
        Cow::Borrowed(Value::String(text)) => Cow::Borrowed(text),
        value => match &*value {
            Value::Null => Cow::Borrowed(""),
            Value::String(text) => Cow::Owned(text.to_string()),
            Value::Time(time) => Cow::Owned(time.to_string()),
            value => {
                let text = json_text(value);
                // Numbers that a double loses are strings in JSON.
                let is_number = matches!(value, Value::Number(_));
                Cow::Owned(if is_number { text.trim_matches('"').to_owned() } else { text })
            }
        },
    }
}

/// Appends one record of CSV with its line end. Cells are quoted where they must be.
pub fn write_csv_record<'c>(out: &mut Vec<u8>, cells: impl Iterator<Item = Cow<'c, str>>) {
    let start = out.len();
    for (index, cell) in cells.enumerate() {
        if index > 0 {
            out.push(b',');
        }
        let bytes = cell.as_bytes();
        if !bytes.iter().any(|byte| matches!(byte, b',' | b'"' | b'\n' | b'\r')) {
            out.extend_from_slice(bytes);
            continue;
        }
        out.push(b'"');
        for part in bytes.split_inclusive(|byte| *byte == b'"') {
            out.extend_from_slice(part);
            if part.ends_with(b"\"") {
                out.push(b'"');
            }
        }
        out.push(b'"');
    }
    // A line without bytes is no record for many readers.
    if out.len() == start {
        out.extend_from_slice(b"\"\"");
    }
    out.push(b'\n');
}

#[cfg(test)]
mod tests {
    use hadal_aggregate::SparseRow;
    use hadal_frontend::ColumnForm;
    use hadal_types::Micros;

    use super::*;

    fn csv(names: &[&str], rows: &[SparseRow]) -> String {
        let column =
            |name: &&str| AnswerColumn { name: (*name).to_owned(), form: ColumnForm::Text };
        let columns: Vec<AnswerColumn> = names.iter().map(column).collect();
        let mut out = Vec::new();
        let mut encoder = Csv.begin(&columns, "", &mut out).expect("begun");
        let count = rows.first().map_or(0, SparseRow::len);
        encoder.batch(&RowColumns::of_rows(rows, count), &mut out).expect("rows");
        encoder.end("", &mut out).expect("an end");
        String::from_utf8(out).expect("UTF-8")
    }

    #[test]
    fn cells_are_quoted_where_they_must_be() {
        let row = |texts: [&str; 2]| SparseRow::from(texts.map(Value::string));
        let rows = [row(["a,b", "say \"x\""]), row(["\n", "\"\""]), row(["", "é"])];
        let expected = "x,\"y,z\"\n\"a,b\",\"say \"\"x\"\"\"\n\"\n\",\"\"\"\"\"\"\n,é\n";
        assert_eq!(csv(&["x", "y,z"], &rows), expected);
    }

    #[test]
    fn other_values_keep_their_digits() {
        let number = |text: &str| Value::Number(text.parse().expect("a number"));
        let row = SparseRow::from(vec![
            number("9007199254740993"),
            number("0.5"),
            Value::Time(Micros(1)),
            Value::set(["a", "b"]),
            Value::Bool(true),
            Value::Null,
            Value::string("beyond the columns"),
        ]);
        let expected = "a,b,c,d,e,f\n9007199254740993,0.5,1970-01-01T00:00:00.000001Z,\
                        \"[\"\"a\"\",\"\"b\"\"]\",true,\n";
        assert_eq!(csv(&["a", "b", "c", "d", "e", "f"], &[row]), expected);
    }

    #[test]
    fn a_record_of_one_empty_cell_is_a_line_with_bytes() {
        assert_eq!(csv(&["a"], &[SparseRow::from([Value::Null])]), "a\n\"\"\n");
    }
}
