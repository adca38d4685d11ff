//! The entries of self tables that wait to be written.

use std::collections::BTreeMap;

use hadal_types::{TableName, limits};
use parking_lot::Mutex;

use crate::self_tables::entries::{IngestLogEntry, IngestLogSums, QueryLogEntry};

/// The entries since they were last taken.
#[derive(Default)]
pub(super) struct LogBuffer(Mutex<Entries>);

#[derive(Default)]
pub(super) struct Entries {
    pub(super) queries: Vec<QueryLogEntry>,
    pub(super) ingest: BTreeMap<TableName, IngestLogSums>,
    /// Entries beyond the limit.
    pub(super) lost: u64,
}

impl Entries {
    pub(super) fn is_empty(&self) -> bool {
        self.queries.is_empty() && self.ingest.is_empty()
    }
}

impl LogBuffer {
    /// Adds a query, unless it was over a self table.
    pub(super) fn add_query(&self, entry: QueryLogEntry) {
        if entry.table.as_ref().is_some_and(TableName::is_own) {
            return;
        }
        let mut entries = self.0.lock();
        match entries.queries.len() < limits::JOURNAL_ROWS_MAX {
            true => entries.queries.push(entry),
            false => entries.lost += 1,
        }
    }

    /// Adds the outcome of a body.
    pub(super) fn add_body(&self, table: &TableName, body: IngestLogEntry) {
        let mut entries = self.0.lock();
        let has_room = entries.ingest.len() < limits::JOURNAL_ROWS_MAX;
        match entries.ingest.get_mut(table) {
            Some(entry) => entry.add(body),
            None if has_room => {
                entries.ingest.entry(table.clone()).or_default().add(body);
            }
            None => entries.lost += 1,
        }
    }

    /// All entries; the buffer is empty afterwards.
    pub(super) fn take(&self) -> Entries {
        std::mem::take(&mut *self.0.lock())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_beyond_the_limit_are_counted_as_lost() {
        let buffer = LogBuffer::default();
        let table = |name: String| TableName::new(&name).expect("a name");
        let add_query = |name: &str| {
            let mut entry = QueryLogEntry::default();
            entry.table = Some(table(name.to_owned()));
            buffer.add_query(entry);
        };
        let add_body = |number: usize| {
            buffer.add_body(&table(format!("t{number}")), IngestLogEntry::default())
        };
        for number in 1..limits::JOURNAL_ROWS_MAX {
            add_query("t");
            add_body(number);
        }
        let waiting = || {
            let entries = buffer.0.lock();
            (entries.queries.len(), entries.ingest.len(), entries.lost)
        };
        let most = limits::JOURNAL_ROWS_MAX;
        assert_eq!(waiting(), (most - 1, most - 1, 0));
        add_query("t");
        add_body(most);
        assert_eq!(waiting(), (most, most, 0));
        add_query("_queries");
        add_body(1);
        assert_eq!(waiting(), (most, most, 0), "these lose no entry");
        add_query("t");
        add_body(most + 1);
        add_body(most + 2);
        assert_eq!(waiting(), (most, most, 3));
    }
}
