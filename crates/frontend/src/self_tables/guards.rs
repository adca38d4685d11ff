//! Guards that log a query or a body when they are dropped.

use std::sync::Arc;
use std::time::Instant;

use hadal_types::{Micros, TableName};

use crate::error::FrontendError;
use crate::self_tables::buffer::LogBuffer;
use crate::self_tables::entries::{IngestLogEntry, QueryLogEntry};

/// A running query. It is logged when this is dropped, so also when its client hangs up.
pub(crate) struct QueryLogGuard {
    buffer: Arc<LogBuffer>,
    start: Instant,
    pub(crate) entry: QueryLogEntry,
}

impl QueryLogGuard {
    pub(super) fn new(buffer: &Arc<LogBuffer>, client: String, at: Micros) -> Self {
        let entry = QueryLogEntry::new(client, at);
        Self { buffer: Arc::clone(buffer), start: Instant::now(), entry }
    }

    /// Sets the outcome.
    pub(crate) fn end<T>(mut self, result: &Result<T, FrontendError>) {
        if result.is_err() {
            self.entry.rows = 0;
        }
        let (expected, scanned) = self.entry.expected;
        self.entry.outcome = match result {
            Err(error) => error.kind.name(),
            Ok(_) if scanned < expected => "partial",
            Ok(_) => "answered",
        };
    }
}

impl Drop for QueryLogGuard {
    fn drop(&mut self) {
        let mut entry = std::mem::take(&mut self.entry);
        entry.duration = self.start.elapsed();
        self.buffer.add_query(entry);
    }
}

/// A body that is being received. It is logged when this is dropped, so also when its client hangs
/// up.
pub(crate) struct IngestLogGuard {
    buffer: Arc<LogBuffer>,
    table: TableName,
    start: Instant,
    pub(crate) entry: IngestLogEntry,
}

impl IngestLogGuard {
    pub(super) fn new(buffer: &Arc<LogBuffer>, table: &TableName) -> Self {
        let entry = IngestLogEntry { is_refused: true, ..IngestLogEntry::default() };
        Self { buffer: Arc::clone(buffer), table: table.clone(), start: Instant::now(), entry }
    }
}

impl Drop for IngestLogGuard {
    fn drop(&mut self) {
        let mut entry = std::mem::take(&mut self.entry);
        entry.duration = self.start.elapsed();
        self.buffer.add_body(&self.table, entry);
    }
}
