//! Rejected records: kept, with the reason, as rows of a self table.

use hadal_block::BlockError;
use hadal_peer::Batch;
use hadal_types::limits::NOTE_BYTES_MAX;
use hadal_types::{BatchId, Micros, TableName, Value};

use crate::self_table_rows::{SelfTableRow, self_table_batch};

/// The table of rejected records.
const REJECTS_TABLE: &str = "_rejects";
/// The number of characters that are kept of a rejected record.
const EXCERPT_CHARS: usize = 200;

/// A rejected record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reject {
    /// The line, or the number of the array element, counted from 1.
    pub line: u64,
    /// The reason.
    pub reason: String,
    /// The record's first characters.
    pub excerpt: String,
}

impl Reject {
    pub(crate) fn new(line: u64, reason: String, record: &[u8]) -> Self {
        let text = String::from_utf8_lossy(&record[..record.len().min(4 * EXCERPT_CHARS)]);
        let (reason, excerpt) = (shortened(reason), text.chars().take(EXCERPT_CHARS).collect());
        Self { line, reason, excerpt }
    }
}

/// Limits a reason to [`NOTE_BYTES_MAX`] bytes by cutting its middle: a reason may contain a value
/// of a megabyte.
fn shortened(reason: String) -> String {
    if reason.len() <= NOTE_BYTES_MAX {
        return reason;
    }
    let head = reason.floor_char_boundary(NOTE_BYTES_MAX / 2);
    let tail = reason.ceil_char_boundary(reason.len() - NOTE_BYTES_MAX / 4);
    format!("{} ... {}", &reason[..head], &reason[tail..])
}

/// The batch that logs `rejects` of records from `source` for `table`; `None` if there are none.
///
/// # Errors
/// [`BlockError`] if there are more than a block holds.
pub fn rejects_batch(
    rejects: &[Reject],
    table: &TableName,
    source: &str,
    now: Micros,
    id: BatchId,
) -> Result<Option<Batch>, BlockError> {
    let rows: Vec<SelfTableRow> = rejects
        .iter()
        .map(|reject| SelfTableRow {
            time: now,
            cells: vec![
                ("table", Value::string(table.as_str())),
                ("source", Value::string(source)),
                ("line", Value::integer(i64::try_from(reject.line).unwrap_or(i64::MAX))),
                ("reason", Value::string(&reject.reason)),
                ("excerpt", Value::string(&reject.excerpt)),
            ],
        })
        .collect();
    self_table_batch(REJECTS_TABLE, &rows, now, id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_reason_keeps_its_beginning_and_its_end() {
        let of = |digits: usize| {
            let reason = format!("column é: number {} is beyond ±1.8e308", "9".repeat(digits));
            Reject::new(1, reason, b"{}").reason
        };
        assert_eq!(of(300).len(), 300 + of(0).len());
        let long = of(1_000_000);
        assert!(long.len() <= NOTE_BYTES_MAX, "{}", long.len());
        assert!(long.starts_with("column é: number 999") && long.ends_with("is beyond ±1.8e308"));
    }
}
