//! What Hadal writes down about itself, as rows of tables of its own.
//!
//! | table | a row is | written |
//! |---|---|---|
//! | `_queries` | a question, and what became of it | every [`limits::JOURNAL_SECONDS`] |
//! | `_ingest` | what came in for one table since the row before | every [`limits::JOURNAL_SECONDS`] |
//! | `_leaves` | how a leaf is | every [`limits::LEAVES_SECONDS`], and when the state of one changes |
//!
//! (`_rejects`, the fourth of them, is written with each body: `ingest.rs`.)
//!
//! **Never about themselves**: questions to own tables leave no trace, and own rows are counted
//! nowhere here. **Bounded**: what is not written yet is [`limits::JOURNAL_ROWS_MAX`] rows of each
//! table, further ones are counted as lost, and so is what no leaf takes; the tables have a size
//! ([`limits::OWN_TABLE_BYTES`]) and an age as all others, that people may set.

mod notes;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hadal_ingest::{OwnRow, own_batch};
use hadal_types::{LeafName, LeafState, TableName, limits};
use tokio::sync::watch;
use tokio::time::{MissedTickBehavior, interval};

use crate::counters::count;
use crate::error::FrontendError;
use crate::frontend::Frontend;
use crate::ingest::random_id;
use crate::tables::settings_cache::FirstRowsSettings;
pub(crate) use notes::{IngestLogEntry, IngestLogGuard, QueryLogEntry, QueryLogGuard};
use notes::{IngestLogSums, leaf_rows};

/// The table of questions.
const QUERIES_TABLE: &str = "_queries";
/// The table of what came in.
const INGEST_TABLE: &str = "_ingest";
/// The table of leaves.
const LEAVES_TABLE: &str = "_leaves";

/// What is not written yet.
#[derive(Default)]
pub(crate) struct SelfTables {
    notes: Mutex<Notes>,
    /// The states of the leaves, as they were last seen.
    states: Mutex<Vec<(LeafName, LeafState)>>,
}

#[derive(Default)]
struct Notes {
    queries: Vec<QueryLogEntry>,
    ingest: BTreeMap<TableName, IngestLogSums>,
    /// Notes for which there was no room.
    lost: u64,
}

impl Notes {
    fn is_empty(&self) -> bool {
        self.queries.is_empty() && self.ingest.is_empty()
    }
}

impl SelfTables {
    /// Notes a question, unless it was about Hadal's own tables.
    fn note_query(&self, note: QueryLogEntry) {
        if note.table.as_ref().is_some_and(TableName::is_own) {
            return;
        }
        let mut notes = self.lock();
        match notes.queries.len() < limits::JOURNAL_ROWS_MAX {
            true => notes.queries.push(note),
            false => notes.lost += 1,
        }
    }

    /// Notes what became of a body.
    fn note_body(&self, table: &TableName, body: IngestLogEntry) {
        let mut notes = self.lock();
        let has_room = notes.ingest.len() < limits::JOURNAL_ROWS_MAX;
        match notes.ingest.get_mut(table) {
            Some(note) => note.add(body),
            None if has_room => {
                notes.ingest.entry(table.clone()).or_default().add(body);
            }
            None => notes.lost += 1,
        }
    }

    /// Writes down what was noted, and how the leaves are where the state of one has changed. What no
    /// leaf takes is lost, and counted.
    pub(crate) async fn flush(&self, frontend: &Arc<Frontend>) {
        let notes = std::mem::take(&mut *self.lock());
        let states = frontend.backend.root.states().await;
        if self.is_change(states, !notes.is_empty()) {
            look(frontend).await;
        }
        let Notes { queries, ingest, lost } = notes;
        count(&frontend.counters.self_rows_lost, lost);
        let now = frontend.backend.clock.now();
        let queries: Vec<OwnRow> = queries.into_iter().map(QueryLogEntry::into_row).collect();
        write(frontend, QUERIES_TABLE, &queries).await;
        let ingest: Vec<OwnRow> =
            ingest.iter().map(|(table, note)| note.to_row(table, now)).collect();
        write(frontend, INGEST_TABLE, &ingest).await;
    }

    /// Whether these states of the leaves are others than before. The first ones are where some leaf
    /// is not alive yet, or somebody `has_asked`: before that, a look at tables might be the first one
    /// since the start, which takes a while.
    fn is_change(&self, states: Vec<(LeafName, LeafState)>, has_asked: bool) -> bool {
        let mut known = self.states.lock().unwrap_or_else(PoisonError::into_inner);
        let is_alive = states.iter().all(|(_, state)| *state == LeafState::Alive);
        if *known == states || known.is_empty() && is_alive && !has_asked {
            return false;
        }
        *known = states;
        true
    }

    fn lock(&self) -> MutexGuard<'_, Notes> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Keeps the journal until the server stops; then the caller flushes it once more.
pub(crate) async fn keep(frontend: Arc<Frontend>, mut stop: watch::Receiver<bool>) {
    let mut flush = interval(Duration::from_secs(limits::JOURNAL_SECONDS));
    let mut looks = interval(Duration::from_secs(limits::LEAVES_SECONDS));
    flush.set_missed_tick_behavior(MissedTickBehavior::Delay);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    // Not at once: to look at leaves takes a while after a start.
    looks.tick().await;
    loop {
        tokio::select! {
            () = async { drop(stop.wait_for(|stop| *stop).await) } => return,
            _ = flush.tick() => frontend.self_tables.flush(&frontend).await,
            _ = looks.tick() => look(&frontend).await,
        }
    }
}

/// Writes down how the leaves are.
async fn look(frontend: &Arc<Frontend>) {
    let status = frontend.backend.root.status().await;
    write(frontend, LEAVES_TABLE, &leaf_rows(&status, frontend.backend.clock.now())).await;
}

/// Logs rows to a table of Hadal's own.
async fn write(frontend: &Arc<Frontend>, table: &'static str, rows: &[OwnRow]) {
    if let Err(error) = try_write(frontend, table, rows).await {
        tracing::debug!(table, ?error, "own rows could not be written");
        count(&frontend.counters.self_rows_lost, rows.len() as u64);
    }
}

async fn try_write(
    frontend: &Arc<Frontend>,
    table: &'static str,
    rows: &[OwnRow],
) -> Result<(), FrontendError> {
    let now = frontend.backend.clock.now();
    let batch = own_batch(table, rows, now, random_id()?)
        .map_err(|error| FrontendError::internal("own rows cannot be encoded", &error))?;
    let Some(batch) = batch else { return Ok(()) };
    let own = frontend.table_settings.of(&frontend.backend, &batch.table).await?;
    FirstRowsSettings::new(&batch.table, own, false, None, now).settle(frontend, false).await?;
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
            let mut note = QueryLogEntry::default();
            note.table = Some(table(name.to_owned()));
            journal.note_query(note);
        };
        let take = |number: usize| {
            journal.note_body(&table(format!("t{number}")), IngestLogEntry::default())
        };
        for number in 1..limits::JOURNAL_ROWS_MAX {
            ask("t");
            take(number);
        }
        let waiting = || {
            let notes = journal.lock();
            (notes.queries.len(), notes.ingest.len(), notes.lost)
        };
        let most = limits::JOURNAL_ROWS_MAX;
        assert_eq!(waiting(), (most - 1, most - 1, 0));
        ask("t");
        take(most);
        assert_eq!(waiting(), (most, most, 0));
        ask("_queries");
        take(1);
        assert_eq!(waiting(), (most, most, 0), "no note is lost by these");
        ask("t");
        take(most + 1);
        take(most + 2);
        assert_eq!(waiting(), (most, most, 3));
    }
}
