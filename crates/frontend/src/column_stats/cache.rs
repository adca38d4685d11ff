//! ColumnStats of columns, kept for a while where they took long.
//!
//! ColumnStats look at every row, and of ten million rows that takes seconds; but a page that opens
//! wants the columns at once. So whoever asks waits for [`PATIENCE`] at most, and is told without
//! the facts that are not found by then; the search goes on, and whoever asks again has them.
//!
//! ColumnStats of a table that has not changed are as good as new. Of one that has, they are searched
//! for again; those that took long are good for [`GOOD_FOR`] times as long as they took, and are
//! told even then, while the new ones are searched for. So a live table costs a twentieth of the
//! machine at most, however often it is asked for.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hadal_peer::TableStatus;
use hadal_types::{ColumnName, ColumnSchema, Micros, TableName, TableSchema, Value};
use tokio::time::timeout_at;

use crate::column_stats::{COLUMNS_AT_ONCE, ColumnStats, StatsQueries};
use crate::error::FrontendError;
use crate::frontend::Frontend;

/// How long somebody who asks waits for facts.
const PATIENCE: Duration = Duration::from_millis(200);
/// How many times as long as they took facts are good for.
const GOOD_FOR: u32 = 20;
/// How long a search may take.
const SEARCH: Duration = Duration::from_secs(60);
/// Tables whose facts are kept; with one more, all are forgotten.
const TABLES_MAX: usize = 100;
/// Characters of a text that are kept of it.
const TEXT_CHARS_MAX: usize = 256;

/// What was found of all tables.
#[derive(Default)]
pub(crate) struct ColumnStatsCache {
    tables: Mutex<HashMap<TableName, Arc<Table>>>,
}

/// What was found of one table.
#[derive(Default)]
struct Table {
    columns: Mutex<HashMap<ColumnName, Column>>,
    /// One search at a time.
    searching: Arc<tokio::sync::Mutex<()>>,
}

/// What was found of one column.
#[derive(Clone, Debug)]
struct Column {
    facts: ColumnStats,
    of: Version,
    at: Instant,
    took: Duration,
    /// Every row was looked at.
    complete: bool,
}

/// What tells one state of a table from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Version {
    rows: u64,
    dropped_rows: u64,
    times: Option<(Micros, Micros)>,
}

impl Version {
    fn of(status: &TableStatus) -> Self {
        let TableSchema { rows, time_range, .. } = *status.schema;
        Self { rows, dropped_rows: status.dropped_rows, times: time_range }
    }
}

impl Column {
    /// Whether a search would find nothing else, or would be too soon.
    fn is_fresh(&self, version: Version, now: Instant) -> bool {
        let good_for = self.took.saturating_mul(GOOD_FOR);
        self.of == version || self.took_long() && now.saturating_duration_since(self.at) < good_for
    }

    /// Whether to tell it, if there is nothing newer.
    fn is_usable(&self, version: Version) -> bool {
        self.of == version || self.took_long()
    }

    fn took_long(&self) -> bool {
        self.took >= PATIENCE
    }
}

impl ColumnStatsCache {
    /// The facts of each column, in the order of `columns`, as far as they are found soon, and
    /// whether they are all, of all rows.
    async fn of(
        &self,
        frontend: &Arc<Frontend>,
        status: &TableStatus,
        columns: &[&ColumnSchema],
    ) -> Result<(Vec<Option<ColumnStats>>, bool), FrontendError> {
        let (table, version) = (self.table(&status.schema.name), Version::of(status));
        let now = Instant::now();
        let wanted = table.stale(columns, version, now);
        if !wanted.is_empty() {
            // What can be told at once is not waited for.
            let until = match table.lacks(&wanted, version) {
                true => now + PATIENCE,
                false => now,
            };
            search(frontend, &table, status, wanted, until).await?;
        }
        Ok(table.tell(columns, version))
    }

    /// Forgets a table that is no more.
    pub(crate) fn forget(&self, table: &TableName) {
        lock(&self.tables).remove(table);
    }

    fn table(&self, name: &TableName) -> Arc<Table> {
        let mut tables = lock(&self.tables);
        if tables.len() >= TABLES_MAX && !tables.contains_key(name) {
            tables.clear();
        }
        Arc::clone(tables.entry(name.clone()).or_default())
    }
}

impl Frontend {
    /// The statistics of each column, in the order of `columns`, as far as they are found within
    /// [`PATIENCE`], and whether they are all, of all rows.
    ///
    /// # Errors
    /// [`FrontendError`] when a query for them fails.
    pub async fn column_stats(
        self: &Arc<Self>,
        status: &TableStatus,
        columns: &[&ColumnSchema],
    ) -> Result<(Vec<Option<ColumnStats>>, bool), FrontendError> {
        self.column_stats.of(self, status, columns).await
    }
}

impl Table {
    /// The columns to search for.
    fn stale(
        &self,
        columns: &[&ColumnSchema],
        version: Version,
        now: Instant,
    ) -> Vec<ColumnSchema> {
        let known = lock(&self.columns);
        let is_fresh = |column: &&&ColumnSchema| {
            known.get(&column.name).is_some_and(|known| known.is_fresh(version, now))
        };
        columns.iter().filter(|column| !is_fresh(column)).map(|column| (*column).clone()).collect()
    }

    /// Whether there is nothing to tell of some column.
    fn lacks(&self, columns: &[ColumnSchema], version: Version) -> bool {
        let known = lock(&self.columns);
        let is_usable = |column: &ColumnSchema| {
            known.get(&column.name).is_some_and(|known| known.is_usable(version))
        };
        !columns.iter().all(is_usable)
    }

    fn tell(
        &self,
        columns: &[&ColumnSchema],
        version: Version,
    ) -> (Vec<Option<ColumnStats>>, bool) {
        let known = lock(&self.columns);
        let told: Vec<Option<&Column>> = columns
            .iter()
            .map(|column| known.get(&column.name).filter(|known| known.is_usable(version)))
            .collect();
        let complete = told.iter().all(|column| column.is_some_and(|column| column.complete));
        (
            told.into_iter().map(|column| column.map(|column| column.facts.clone())).collect(),
            complete,
        )
    }
}

/// Searches for facts, or leaves it to whoever does already; returns when they are found, or at
/// `until`, whatever comes first.
async fn search(
    frontend: &Arc<Frontend>,
    table: &Arc<Table>,
    status: &TableStatus,
    wanted: Vec<ColumnSchema>,
    until: Instant,
) -> Result<(), FrontendError> {
    let searching = Arc::clone(&table.searching).lock_owned();
    let Ok(turn) = timeout_at(until.into(), searching).await else { return Ok(()) };
    let (frontend, table, status) = (Arc::clone(frontend), Arc::clone(table), status.clone());
    let found = tokio::spawn(async move {
        let _turn = turn;
        let found = find(&frontend, &table, &status, &wanted).await;
        if let Err(error) = &found {
            tracing::warn!(table = %status.schema.name, ?error, "columns have no facts");
        }
        found
    });
    match timeout_at(until.into(), found).await {
        Err(_) => Ok(()),
        Ok(Ok(found)) => found,
        Ok(Err(error)) => Err(FrontendError::internal("the columns' facts were not found", &error)),
    }
}

async fn find(
    frontend: &Arc<Frontend>,
    table: &Table,
    status: &TableStatus,
    wanted: &[ColumnSchema],
) -> Result<(), FrontendError> {
    let version = Version::of(status);
    // Somebody else may have found them while this one waited for its turn.
    let wanted = table.stale(&wanted.iter().collect::<Vec<_>>(), version, Instant::now());
    let asker = StatsQueries::new(frontend, &status.schema, SEARCH);
    for columns in wanted.chunks(COLUMNS_AT_ONCE) {
        let start = Instant::now();
        let found = asker.facts(&columns.iter().collect::<Vec<_>>()).await?;
        let (at, complete) = (Instant::now(), found.coverage.fraction() >= 1.0);
        let mut known = lock(&table.columns);
        for (column, facts) in columns.iter().zip(found.found) {
            let facts =
                ColumnStats { min: shortened(facts.min), max: shortened(facts.max), ..facts };
            let column_found = Column { facts, of: version, at, took: at - start, complete };
            known.insert(column.name.clone(), column_found);
        }
    }
    Ok(())
}

/// The value, of a text only the beginning.
fn shortened(value: Value) -> Value {
    match &value {
        Value::String(text) => match text.char_indices().nth(TEXT_CHARS_MAX) {
            Some((end, _)) => Value::string(&text[..end]),
            None => value,
        },
        _ => value,
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: Version = Version { rows: 1, dropped_rows: 0, times: None };
    const NEW: Version = Version { rows: 2, ..OLD };

    fn column(took: Duration, at: Instant) -> Column {
        let null = || Value::Null;
        let facts =
            ColumnStats { distinct: null(), min: null(), max: null(), p50: null(), p95: null() };
        Column { facts, of: OLD, at, took, complete: true }
    }

    #[test]
    fn what_took_little_is_told_of_an_unchanged_table_only() {
        let at = Instant::now();
        let quick = column(PATIENCE - Duration::from_millis(1), at);
        assert!(quick.is_fresh(OLD, at + SEARCH) && quick.is_usable(OLD));
        assert!(!quick.is_fresh(NEW, at) && !quick.is_usable(NEW));
    }

    #[test]
    fn what_took_long_is_good_for_a_while_and_told_longer() {
        let at = Instant::now();
        let slow = column(PATIENCE, at);
        assert!(slow.is_fresh(OLD, at + SEARCH));
        let end = at + PATIENCE * GOOD_FOR;
        assert!(slow.is_fresh(NEW, end - Duration::from_millis(1)));
        assert!(!slow.is_fresh(NEW, end) && slow.is_usable(NEW));
    }

    #[test]
    fn long_texts_are_shortened() {
        let text = "ä".repeat(TEXT_CHARS_MAX);
        assert_eq!(shortened(Value::string(&text)), Value::string(&text));
        assert_eq!(shortened(Value::string(&format!("{text}x"))), Value::string(&text));
    }
}
