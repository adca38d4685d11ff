//! Self tables: Hadal logs its queries, its ingestion and its leaves as rows of its own tables.
//!
//! | table | a row is | written |
//! |---|---|---|
//! | `_queries` | a query and its outcome | every [`limits::JOURNAL_SECONDS`] |
//! | `_ingest` | the bodies for one table since the previous row | every [`limits::JOURNAL_SECONDS`] |
//! | `_leaves` | the state and size of a leaf | every [`limits::LEAVES_SECONDS`], and when a state changes |
//!
//! (The fourth, `_rejects`, is written with each body: `ingest/rejects.rs`.)
//!
//! **Self tables do not record themselves**: queries over self tables are not logged, and rows of
//! self tables are not counted. **Self tables are bounded**: at most [`limits::JOURNAL_ROWS_MAX`]
//! rows of each table wait to be written; further rows, and rows that no leaf accepts, are counted
//! as lost. The tables have limits of size ([`limits::OWN_TABLE_BYTES`]) and age like all other
//! tables, and people may change these limits.

mod buffer;
pub(crate) mod entries;
pub(crate) mod guards;

use std::sync::Arc;
use std::time::Duration;

use hadal_ingest::{AgePolicy, SelfTableRow, self_table_batch};
use hadal_peer::MemberState;
use hadal_types::{LeafName, LeafState, TableName, limits};
use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::time::{MissedTickBehavior, interval};

use crate::backend::Backend;
use crate::batch_id::random_id;
use crate::error::FrontendError;
use crate::self_tables::buffer::{Entries, LogBuffer};
use crate::self_tables::entries::{QueryLogEntry, leaf_rows};
use crate::self_tables::guards::{IngestLogGuard, QueryLogGuard};
use crate::state::counters::{Counters, count};
use crate::state::settings_cache::{FirstRowsSettings, TableSettingsCache};

/// The table of queries.
const QUERIES_TABLE: &str = "_queries";
/// The table of ingestion.
const INGEST_TABLE: &str = "_ingest";
/// The table of leaves.
const LEAVES_TABLE: &str = "_leaves";

/// The writer of self tables, and the entries that are not written yet.
pub(crate) struct SelfTables {
    backend: Backend,
    table_settings: Arc<TableSettingsCache>,
    counters: Arc<Counters>,
    buffer: Arc<LogBuffer>,
    states: LeafStates,
}

/// The last known states of the leaves.
#[derive(Default)]
struct LeafStates(Mutex<Vec<(LeafName, MemberState)>>);

impl SelfTables {
    pub(crate) fn new(
        backend: &Backend,
        table_settings: &Arc<TableSettingsCache>,
        counters: &Arc<Counters>,
    ) -> Arc<Self> {
        Arc::new(Self {
            backend: backend.clone(),
            table_settings: Arc::clone(table_settings),
            counters: Arc::clone(counters),
            buffer: Arc::default(),
            states: LeafStates::default(),
        })
    }

    /// Begins the entry of a query.
    pub(crate) fn begin_query(&self, client: String) -> QueryLogGuard {
        QueryLogGuard::new(&self.buffer, client, self.backend.clock.now())
    }

    /// Begins the entry of a body.
    pub(crate) fn begin_body(&self, table: &TableName) -> IngestLogGuard {
        IngestLogGuard::new(&self.buffer, table)
    }

    /// Writes the self tables until the server stops; then the caller flushes them once more.
    pub(crate) async fn keep(self: Arc<Self>, mut stop: watch::Receiver<bool>) {
        let mut flush = interval(Duration::from_secs(limits::JOURNAL_SECONDS));
        let mut leaves = interval(Duration::from_secs(limits::LEAVES_SECONDS));
        flush.set_missed_tick_behavior(MissedTickBehavior::Delay);
        leaves.set_missed_tick_behavior(MissedTickBehavior::Delay);
        // Not at once: the first status after a start is slow.
        leaves.tick().await;
        loop {
            tokio::select! {
                () = async { drop(stop.wait_for(|stop| *stop).await) } => return,
                _ = flush.tick() => self.flush().await,
                _ = leaves.tick() => self.write_leaves().await,
            }
        }
    }

    /// Writes all entries, and a row for each leaf if the state of any leaf has changed. Rows that
    /// no leaf accepts are lost and counted.
    pub(crate) async fn flush(&self) {
        let entries = self.buffer.take();
        let states = self.backend.root.states().await;
        if self.states.is_change(states, !entries.is_empty()) {
            self.write_leaves().await;
        }
        let Entries { queries, ingest, lost } = entries;
        count(&self.counters.self_rows_lost, lost);
        let now = self.backend.clock.now();
        let queries: Vec<SelfTableRow> = queries.into_iter().map(QueryLogEntry::into_row).collect();
        self.write(QUERIES_TABLE, &queries).await;
        let ingest: Vec<SelfTableRow> =
            ingest.iter().map(|(table, entry)| entry.to_row(table, now)).collect();
        self.write(INGEST_TABLE, &ingest).await;
    }

    /// Writes a row for each leaf.
    async fn write_leaves(&self) {
        let status = self.backend.root.status().await;
        self.write(LEAVES_TABLE, &leaf_rows(&status, self.backend.clock.now())).await;
    }

    /// Writes rows to a self table.
    async fn write(&self, table: &'static str, rows: &[SelfTableRow]) {
        if let Err(error) = self.try_write(table, rows).await {
            tracing::debug!(table, ?error, "cannot write rows of a self table");
            count(&self.counters.self_rows_lost, rows.len() as u64);
        }
    }

    async fn try_write(
        &self,
        table: &'static str,
        rows: &[SelfTableRow],
    ) -> Result<(), FrontendError> {
        let now = self.backend.clock.now();
        let batch = self_table_batch(table, rows, now, random_id()?).map_err(|error| {
            FrontendError::internal("rows of a self table cannot be encoded", &error)
        })?;
        let Some(mut batch) = batch else { return Ok(()) };
        batch.first_try = true;
        let stored = self.table_settings.of(&batch.table).await?;
        let mut settings = FirstRowsSettings::new(&batch.table, stored);
        settings.store(&self.table_settings, AgePolicy::default()).await?;
        let receipt = self.backend.sink.accept(batch).await;
        receipt.map(drop).map_err(|error| FrontendError::from(&error))
    }
}

impl LeafStates {
    /// Whether the states of the leaves differ from the last known ones. The first states count as
    /// a change only if a leaf is not alive yet, or a query was answered (`had_queries`): until
    /// then, reading the tables' status may be the first access since the start, which is slow.
    fn is_change(&self, states: Vec<(LeafName, MemberState)>, had_queries: bool) -> bool {
        let mut last = self.0.lock();
        let is_alive =
            states.iter().all(|(_, state)| *state == MemberState::Announced(LeafState::Alive));
        if *last == states || last.is_empty() && is_alive && !had_queries {
            return false;
        }
        *last = states;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_of_state_is_reported_once_and_first_states_only_after_a_query() {
        let last = LeafStates::default();
        let states = |state| vec![(LeafName("leaf-0".into()), MemberState::Announced(state))];
        assert!(!last.is_change(states(LeafState::Alive), false), "no query has run");
        assert!(last.is_change(states(LeafState::Alive), true));
        assert!(!last.is_change(states(LeafState::Alive), true));
        assert!(last.is_change(states(LeafState::Prepare), false));
        let last = LeafStates::default();
        assert!(last.is_change(states(LeafState::MemoryRecovery), false));
        assert!(!last.is_change(states(LeafState::MemoryRecovery), true));
        assert!(last.is_change(states(LeafState::Alive), false));
    }
}
