//! The entries of self tables, and their conversion to rows.

use std::collections::BTreeMap;
use std::time::Duration;

use hadal_aggregate::{Coverage, ScanStats};
use hadal_ingest::{SelfTableRow, Warning, counted};
use hadal_peer::{LeafStatus, PeerStatus, TableStatus};
use hadal_types::{Decimal, Micros, TableName, Value, limits};

/// One query and its outcome.
#[derive(Debug, Default)]
pub(crate) struct QueryLogEntry {
    pub(crate) table: Option<TableName>,
    /// The query as SQL.
    pub(crate) sql: String,
    /// The name that the client gives itself.
    pub(crate) client: String,
    /// Rows of the result.
    pub(super) rows: u64,
    stats: ScanStats,
    /// Expected and scanned rows of the table.
    pub(super) expected: (u64, u64),
    at: Micros,
    pub(super) duration: Duration,
    pub(super) outcome: &'static str,
}

impl QueryLogEntry {
    /// A query that begins; it counts as cancelled until it has another outcome.
    pub(super) fn new(client: String, at: Micros) -> Self {
        Self { client, at, outcome: "cancelled", ..Self::default() }
    }

    /// Sets the figures of the result.
    pub(crate) fn set_result(&mut self, rows: usize, stats: ScanStats, coverage: &Coverage) {
        self.rows = rows as u64;
        self.stats = stats;
        self.expected = (coverage.rows_expected, coverage.rows_scanned);
    }

    pub(super) fn into_row(self) -> SelfTableRow {
        let (expected, scanned) = self.expected;
        let stats = self.stats;
        let cells = vec![
            ("table", self.table.map_or(Value::Null, |table| Value::string(table.as_str()))),
            ("sql", text(&self.sql, limits::JOURNAL_SQL_BYTES)),
            ("client", text(&self.client, limits::JOURNAL_CLIENT_BYTES)),
            ("outcome", Value::string(self.outcome)),
            ("duration_ms", millis(self.duration)),
            ("rows", whole(self.rows)),
            ("rows_read", whole(stats.rows_read)),
            ("rows_matched", whole(stats.rows_matched)),
            ("rows_expected", whole(expected)),
            ("rows_scanned", whole(scanned)),
            ("blocks", whole(stats.blocks)),
            ("blocks_skipped", whole(stats.blocks_skipped)),
            ("bytes_read", whole(stats.bytes_read)),
            ("scan_ms", millis(Duration::from_micros(stats.scan_micros))),
        ];
        SelfTableRow { time: self.at, cells }
    }
}

/// One body and its outcome.
#[derive(Debug, Default)]
pub(crate) struct IngestLogEntry {
    pub(crate) rows: u64,
    pub(crate) rejected: u64,
    pub(crate) batches: u64,
    /// Batches that had been accepted before.
    pub(crate) duplicates: u64,
    pub(crate) bytes: u64,
    /// Whether the body was not accepted, or not to its end.
    pub(crate) is_refused: bool,
    pub(crate) warnings: Vec<Warning>,
    pub(crate) duration: Duration,
}

/// The sums over all bodies for one table.
#[derive(Debug, Default)]
pub(super) struct IngestLogSums {
    bodies: u64,
    refused: u64,
    sum: IngestLogEntry,
    /// One warning of each code, with the sum of its counts.
    warnings: BTreeMap<&'static str, Warning>,
    slowest: Duration,
}

impl IngestLogSums {
    pub(super) fn add(&mut self, body: IngestLogEntry) {
        self.bodies += 1;
        self.refused += u64::from(body.is_refused);
        self.sum.rows += body.rows;
        self.sum.rejected += body.rejected;
        self.sum.batches += body.batches;
        self.sum.duplicates += body.duplicates;
        self.sum.bytes += body.bytes;
        self.slowest = self.slowest.max(body.duration);
        for warning in body.warnings {
            self.warn(warning);
        }
    }

    /// Adds the warning of a body. Of messages that name more than a count, the last one stays.
    fn warn(&mut self, warning: Warning) {
        let before = self.warnings.get(warning.code).map_or(0, |before| before.count);
        let count = before.saturating_add(warning.count);
        let message = counted(warning.code, count).unwrap_or(warning.message);
        self.warnings.insert(warning.code, Warning { code: warning.code, count, message });
    }

    pub(super) fn to_row(&self, table: &TableName, time: Micros) -> SelfTableRow {
        let cells = vec![
            ("table", Value::string(table.as_str())),
            ("bodies", whole(self.bodies)),
            ("refused", whole(self.refused)),
            ("rows", whole(self.sum.rows)),
            ("rejected", whole(self.sum.rejected)),
            ("batches", whole(self.sum.batches)),
            ("duplicates", whole(self.sum.duplicates)),
            ("bytes", whole(self.sum.bytes)),
            ("slowest_ms", millis(self.slowest)),
            ("warning_codes", self.warning_codes()),
            ("warnings", self.warning_messages()),
        ];
        SelfTableRow { time, cells }
    }

    fn warning_codes(&self) -> Value {
        if self.warnings.is_empty() { Value::Null } else { Value::set(self.warnings.keys()) }
    }

    fn warning_messages(&self) -> Value {
        let cut = |warning: &Warning| {
            let end = warning.message.floor_char_boundary(limits::NOTE_BYTES_MAX);
            warning.message[..end].to_owned()
        };
        match self.warnings.is_empty() {
            true => Value::Null,
            false => Value::vector(self.warnings.values().map(cut)),
        }
    }
}

/// A row for each leaf, without its self tables.
pub(super) fn leaf_rows(status: &PeerStatus, time: Micros) -> Vec<SelfTableRow> {
    let row = |leaf: &LeafStatus| {
        let tables: Vec<_> =
            leaf.tables.iter().filter(|(name, _)| !name.is_own()).map(|(_, table)| table).collect();
        let sum = |of: fn(&TableStatus) -> u64| whole(tables.iter().map(|table| of(table)).sum());
        let cells = vec![
            ("leaf", Value::string(&leaf.name.to_string())),
            ("state", Value::string(leaf.state.name())),
            ("tables", whole(tables.len() as u64)),
            ("rows", sum(|table| table.schema.rows)),
            ("blocks", sum(|table| table.blocks)),
            ("block_bytes", sum(|table| table.block_bytes)),
            ("raw_bytes", sum(|table| table.raw_bytes)),
            ("rows_waiting", sum(|table| table.waiting_rows)),
            ("rows_lost", sum(|table| table.lost_rows)),
            ("unknown_losses", whole(leaf.losses.len() as u64)),
            ("rows_dropped", sum(|table| table.dropped_rows)),
            ("rows_expired", sum(|table| table.expired_rows)),
        ];
        SelfTableRow { time, cells }
    };
    status.leaves.iter().map(row).collect()
}

fn whole(number: u64) -> Value {
    Value::integer(i64::try_from(number).unwrap_or(i64::MAX))
}

/// Milliseconds, to the microsecond.
fn millis(time: Duration) -> Value {
    let micros = i128::try_from(time.as_micros()).unwrap_or(i128::MAX);
    Decimal::new(micros, 3).map_or(Value::Null, |millis| Value::Number(millis.into()))
}

/// Returns the beginning of a text, limited in bytes.
fn text(text: &str, bytes_max: usize) -> Value {
    match &text[..text.floor_char_boundary(bytes_max)] {
        "" => Value::Null,
        kept => Value::string(kept),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warning(code: &'static str, count: u64, message: &str) -> Warning {
        Warning { code, count, message: message.to_owned() }
    }

    #[test]
    fn bodies_add_up() {
        let body = |rows, is_refused, duration| IngestLogEntry {
            rows,
            rejected: 1,
            batches: 2,
            duplicates: 3,
            bytes: 4,
            is_refused,
            warnings: vec![warning("arrival_time", 2, ""), warning("x", rows, "rows are odd")],
            duration: Duration::from_micros(duration),
        };
        let mut sums = IngestLogSums::default();
        [body(10, false, 2_500), body(5, true, 1)].into_iter().for_each(|body| sums.add(body));
        let row = sums.to_row(&TableName::new("t").expect("a name"), Micros(7));
        assert_eq!(row.time, Micros(7));
        let cells: Vec<String> =
            row.cells.iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(
            cells.join(" "),
            "table=t bodies=2 refused=1 rows=15 rejected=2 batches=4 duplicates=6 bytes=8 \
             slowest_ms=2.5 warning_codes=[arrival_time, x] warnings=[4 rows have no time of \
             their own; they got the time of arrival, rows are odd]"
        );
    }

    #[test]
    fn long_texts_are_cut_between_letters() {
        assert_eq!(text("éé", 3), Value::string("é"));
        assert_eq!(text("", 3), Value::Null);
    }
}
