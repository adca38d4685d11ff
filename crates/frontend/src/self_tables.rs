//! Self tables: Hadal logs its queries, its ingestion and its leaves as rows of its own tables.
//!
//! | table | a row is | written |
//! |---|---|---|
//! | `_queries` | a query and its outcome | every [`limits::JOURNAL_SECONDS`] |
//! | `_ingest` | the bodies for one table since the row before | every [`limits::JOURNAL_SECONDS`] |
//! | `_leaves` | the state and size of a leaf | every [`limits::LEAVES_SECONDS`], and when a state changes |
//!
//! (The fourth, `_rejects`, is written with each body: `ingest/rejects.rs`.)
//!
//! **Never about themselves**: queries over self tables are not logged, and rows of self tables are
//! not counted. **Bounded**: at most [`limits::JOURNAL_ROWS_MAX`] rows of each table wait to be
//! written; further rows, and rows that no leaf accepts, are counted as lost. The tables have
//! limits of size ([`limits::OWN_TABLE_BYTES`]) and age like all others, and people may change
//! these.

mod entries;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hadal_ingest::{AgePolicy, SelfTableRow, self_table_batch};
use hadal_types::{LeafName, LeafState, TableName, limits};
use tokio::sync::watch;
use tokio::time::{MissedTickBehavior, interval};

use crate::batch_id::random_id;
use crate::counters::count;
use crate::error::FrontendError;
use crate::frontend::Frontend;
use crate::tables::settings_cache::FirstRowsSettings;
pub(crate) use entries::{IngestLogEntry, IngestLogGuard, QueryLogEntry, QueryLogGuard};
use entries::{IngestLogSums, leaf_rows};

/// The table of queries.
const QUERIES_TABLE: &str = "_queries";
/// The table of ingestion.
const INGEST_TABLE: &str = "_ingest";
/// The table of leaves.
const LEAVES_TABLE: &str = "_leaves";

/// The rows that are not written yet.
#[derive(Default)]
pub(crate) struct SelfTables {
    entries: Mutex<Entries>,
    /// The last known states of the leaves.
    states: Mutex<Vec<(LeafName, LeafState)>>,
}

#[derive(Default)]
struct Entries {
    queries: Vec<QueryLogEntry>,
    ingest: BTreeMap<TableName, IngestLogSums>,
    /// Entries beyond the limit.
    lost: u64,
}

impl Entries {
    fn is_empty(&self) -> bool {
        self.queries.is_empty() && self.ingest.is_empty()
    }
}

impl SelfTables {
    /// Adds a query, unless it was over a self table.
    fn add_query(&self, entry: QueryLogEntry) {
        if entry.table.as_ref().is_some_and(TableName::is_own) {
            return;
        }
        let mut entries = self.lock();
        match entries.queries.len() < limits::JOURNAL_ROWS_MAX {
            true => entries.queries.push(entry),
            false => entries.lost += 1,
        }
    }

    /// Adds the outcome of a body.
    fn add_body(&self, table: &TableName, body: IngestLogEntry) {
        let mut entries = self.lock();
        let has_room = entries.ingest.len() < limits::JOURNAL_ROWS_MAX;
        match entries.ingest.get_mut(table) {
            Some(entry) => entry.add(body),
            None if has_room => {
                entries.ingest.entry(table.clone()).or_default().add(body);
            }
            None => entries.lost += 1,
        }
    }

    /// Writes all entries, and a row for each leaf if the state of any leaf has changed. Rows that
    /// no leaf accepts are lost and counted.
    pub(crate) async fn flush(&self, frontend: &Arc<Frontend>) {
        let entries = std::mem::take(&mut *self.lock());
        let states = frontend.backend.root.states().await;
        if self.is_change(states, !entries.is_empty()) {
            write_leaves(frontend).await;
        }
        let Entries { queries, ingest, lost } = entries;
        count(&frontend.counters.self_rows_lost, lost);
        let now = frontend.backend.clock.now();
        let queries: Vec<SelfTableRow> = queries.into_iter().map(QueryLogEntry::into_row).collect();
        write(frontend, QUERIES_TABLE, &queries).await;
        let ingest: Vec<SelfTableRow> =
            ingest.iter().map(|(table, entry)| entry.to_row(table, now)).collect();
        write(frontend, INGEST_TABLE, &ingest).await;
    }

    /// Whether the states of the leaves differ from the last known ones. The first states count as
    /// a change only if a leaf is not alive yet, or a query was answered (`has_asked`): until then,
    /// reading the tables' status may be the first access since the start, which is slow.
    fn is_change(&self, states: Vec<(LeafName, LeafState)>, has_asked: bool) -> bool {
        let mut known = self.states.lock().unwrap_or_else(PoisonError::into_inner);
        let is_alive = states.iter().all(|(_, state)| *state == LeafState::Alive);
        if *known == states || known.is_empty() && is_alive && !has_asked {
            return false;
        }
        *known = states;
        true
    }

    fn lock(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Writes the self tables until the server stops; then the caller flushes them once more.
pub(crate) async fn keep(frontend: Arc<Frontend>, mut stop: watch::Receiver<bool>) {
    let mut flush = interval(Duration::from_secs(limits::JOURNAL_SECONDS));
    let mut leaves = interval(Duration::from_secs(limits::LEAVES_SECONDS));
    flush.set_missed_tick_behavior(MissedTickBehavior::Delay);
    leaves.set_missed_tick_behavior(MissedTickBehavior::Delay);
    // Skip the immediate first tick: the first status after a start is slow.
    leaves.tick().await;
    loop {
        tokio::select! {
            () = async { drop(stop.wait_for(|stop| *stop).await) } => return,
            _ = flush.tick() => frontend.self_tables.flush(&frontend).await,
            _ = leaves.tick() => write_leaves(&frontend).await,
        }
    }
}

/// Writes a row for each leaf.
async fn write_leaves(frontend: &Arc<Frontend>) {
    let status = frontend.backend.root.status().await;
    write(frontend, LEAVES_TABLE, &leaf_rows(&status, frontend.backend.clock.now())).await;
}

/// Writes rows to a self table.
async fn write(frontend: &Arc<Frontend>, table: &'static str, rows: &[SelfTableRow]) {
    if let Err(error) = try_write(frontend, table, rows).await {
        tracing::debug!(table, ?error, "own rows could not be written");
        count(&frontend.counters.self_rows_lost, rows.len() as u64);
    }
}

async fn try_write(
    frontend: &Arc<Frontend>,
    table: &'static str,
    rows: &[SelfTableRow],
) -> Result<(), FrontendError> {
    let now = frontend.backend.clock.now();
    let batch = self_table_batch(table, rows, now, random_id()?)
        .map_err(|error| FrontendError::internal("own rows cannot be encoded", &error))?;
    let Some(batch) = batch else { return Ok(()) };
    let own = frontend.table_settings.of(&frontend.backend, &batch.table).await?;
    FirstRowsSettings::new(&batch.table, own).store(frontend, AgePolicy::default()).await?;
    let receipt = frontend.backend.sink.accept(batch).await;
    receipt.map(drop).map_err(|error| FrontendError::from(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_of_state_is_seen_once_and_the_first_states_cost_nobody_anything() {
        let journal = SelfTables::default();
        let states = |state| vec![(LeafName("leaf-0".into()), state)];
        assert!(!journal.is_change(states(LeafState::Alive), false), "nobody has asked");
        assert!(journal.is_change(states(LeafState::Alive), true));
        assert!(!journal.is_change(states(LeafState::Alive), true));
        assert!(journal.is_change(states(LeafState::Prepare), false));
        let journal = SelfTables::default();
        assert!(journal.is_change(states(LeafState::MemoryRecovery), false));
        assert!(!journal.is_change(states(LeafState::MemoryRecovery), true));
        assert!(journal.is_change(states(LeafState::Alive), false));
    }

    #[test]
    fn so_many_notes_wait_and_further_ones_are_counted_as_lost() {
        let journal = SelfTables::default();
        let table = |name: String| TableName::new(&name).expect("a name");
        let ask = |name: &str| {
            let mut entry = QueryLogEntry::default();
            entry.table = Some(table(name.to_owned()));
            journal.add_query(entry);
        };
        let take = |number: usize| {
            journal.add_body(&table(format!("t{number}")), IngestLogEntry::default())
        };
        for number in 1..limits::JOURNAL_ROWS_MAX {
            ask("t");
            take(number);
        }
        let waiting = || {
            let entries = journal.lock();
            (entries.queries.len(), entries.ingest.len(), entries.lost)
        };
        let most = limits::JOURNAL_ROWS_MAX;
        assert_eq!(waiting(), (most - 1, most - 1, 0));
        ask("t");
        take(most);
        assert_eq!(waiting(), (most, most, 0));
        ask("_queries");
        take(1);
        assert_eq!(waiting(), (most, most, 0), "no entry is lost by these");
        ask("t");
        take(most + 1);
        take(most + 2);
        assert_eq!(waiting(), (most, most, 3));
    }
}
