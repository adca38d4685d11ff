//! Records that were refused: kept, with the reason, as rows of a table of Hadal's own.

use hadal_block::{BlockBuilder, BlockError};
use hadal_types::{BatchId, ColumnName, Kind, Micros, Number, TableName};
use hadal_wire::Batch;

/// The table of rejected records.
pub const REJECTS_TABLE: &str = "_rejects";
/// Characters of a rejected record that are kept.
const EXCERPT_CHARS: usize = 200;

/// A record that was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reject {
    /// The line, or the number of the array element, counted from 1.
    pub line: u64,
    /// Why.
    pub reason: String,
    /// The record's first characters.
    pub excerpt: String,
}

impl Reject {
    pub(crate) fn new(line: u64, reason: String, record: &[u8]) -> Self {
        let text = String::from_utf8_lossy(&record[..record.len().min(4 * EXCERPT_CHARS)]);
        Self { line, reason, excerpt: text.chars().take(EXCERPT_CHARS).collect() }
    }
}

/// The batch that logs `rejects` of records that `source` sent for `table`; `None` without any.
///
/// # Errors
/// [`BlockError`] when they are more than a block holds.
pub fn rejects_batch(
    rejects: &[Reject],
    table: &TableName,
    source: &str,
    now: Micros,
    id: BatchId,
) -> Result<Option<Batch>, BlockError> {
    let names = ["time", "table", "source", "line", "reason", "excerpt"].map(ColumnName::new);
    let [Ok(time), Ok(table_column), Ok(source_column), Ok(line), Ok(reason), Ok(excerpt)] = names
    else {
        return Ok(None);
    };
    let Ok(rejects_table) = TableName::new(REJECTS_TABLE) else { return Ok(None) };
    if rejects.is_empty() {
        return Ok(None);
    }
    let mut builder = BlockBuilder::new(time);
    for reject in rejects {
        let line_id = builder.column(&line, Kind::Number);
        let number = i64::try_from(reject.line).unwrap_or(i64::MAX);
        // A value that does not fit leaves its cell empty; the others still tell.
        let _ = builder.push_number(line_id, Number::integer(number));
        for (column, text) in [
            (&table_column, table.as_str()),
            (&source_column, source),
            (&reason, &reject.reason),
            (&excerpt, &reject.excerpt),
        ] {
            let id = builder.column(column, Kind::String);
            let _ = builder.push_string(id, text);
        }
        builder.end_row(now);
    }
    let rows = builder.rows();
    let block = builder.finish(now, Some((&id, 0)))?;
    Ok(Some(Batch { table: rejects_table, id, content_hash: 0, rows, block }))
}
