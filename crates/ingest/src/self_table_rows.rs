//! Rows of Hadal's self tables.

use hadal_block::{BlockBuilder, BlockError};
use hadal_peer::Batch;
use hadal_types::{BatchId, ColumnName, Kind, Micros, TableName, Value};

/// The time column of self tables.
const TIME: &str = "time";

/// A row of a self table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelfTableRow {
    /// The row's time.
    pub time: Micros,
    /// The other columns: numbers, truth values and strings; a null leaves its cell empty.
    pub cells: Vec<(&'static str, Value)>,
}

/// The batch that logs `rows` to a self table; `None` if there are none. A value that does not fit
/// leaves its cell empty; the other cells are kept.
///
/// # Errors
/// [`BlockError`] if there are more than a block holds.
pub fn self_table_batch(
    table: &str,
    rows: &[SelfTableRow],
    now: Micros,
    id: BatchId,
) -> Result<Option<Batch>, BlockError> {
    let (Ok(table), Ok(time)) = (TableName::new(table), ColumnName::new(TIME)) else {
        return Ok(None);
    };
    if rows.is_empty() {
        return Ok(None);
    }
    let mut builder = BlockBuilder::new(time);
    for row in rows {
        for (name, value) in &row.cells {
            let Ok(name) = ColumnName::new(name) else { continue };
            // A value that does not fit is left out.
            let _ = match value {
                Value::Number(number) => {
                    let id = builder.column(&name, Kind::Number);
                    builder.push_number(id, *number)
                }
                Value::Bool(truth) => {
                    let id = builder.column(&name, Kind::Number);
                    builder.push_bool(id, *truth)
                }
                Value::String(text) => {
                    let id = builder.column(&name, Kind::String);
                    builder.push_string(id, text)
                }
                _ => Ok(()),
            };
        }
        builder.end_row(row.time);
    }
    let rows = builder.rows();
    let block = builder.finish(now, Some((&id, 0)))?;
    Ok(Some(Batch::encoded(table, id, 0, rows, block)))
}

#[cfg(test)]
mod tests {
    use hadal_block::BlockView;

    use super::*;

    #[test]
    fn a_batch_has_all_rows_and_the_columns_that_have_values() {
        let row =
            |at: i64, cells: Vec<(&'static str, Value)>| SelfTableRow { time: Micros(at), cells };
        let rows = [
            row(1, vec![("text", Value::string("a")), ("whole", Value::integer(7))]),
            row(2, vec![("truth", Value::Bool(true)), ("nothing", Value::Null)]),
            row(3, vec![("text", Value::string(&"x".repeat(1 << 20)))]),
        ];
        let id = || BatchId::new("one").expect("an id");
        assert!(self_table_batch("_own", &[], Micros(9), id()).expect("no rows").is_none());
        let batch = self_table_batch("_own", &rows, Micros(9), id()).expect("made").expect("rows");
        assert_eq!((batch.table.as_str(), batch.rows), ("_own", 3));
        let view = BlockView::parse(batch.block()).expect("a block");
        let names: Vec<&str> = view.columns().iter().map(|column| column.name().as_str()).collect();
        assert_eq!(names, ["text", "time", "truth", "whole"]);
    }
}
