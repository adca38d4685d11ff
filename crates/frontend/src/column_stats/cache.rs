//! A cache of column statistics.
//!
//! Computing statistics scans every row, which takes seconds for ten million rows, but an opening
//! page needs its columns immediately. So a request waits at most [`PATIENCE`], and its answer
//! omits statistics that are not ready by then. The query for these statistics continues, and a
//! later request gets the result.
//!
//! The statistics of an unchanged table stay valid. Statistics of a changed table are computed
//! again, unless the computation took long. Then the old statistics are served for [`GOOD_FOR`]
//! times as long as it took, and also while new statistics are computed. So a live table costs at
//! most a twentieth of the machine, regardless of the number of requests.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hadal_peer::TableStatus;
use hadal_types::{ColumnName, ColumnSchema, Micros, TableName, TableSchema, Value};
use parking_lot::Mutex;
use tokio::time::timeout_at;

use crate::column_stats::{COLUMNS_AT_ONCE, ColumnStats, StatsQueries};
use crate::error::FrontendError;
use crate::query_runner::QueryRunner;

/// How long a request waits for statistics.
const PATIENCE: Duration = Duration::from_millis(200);
/// Factor by which statistics are served longer than their query took.
const GOOD_FOR: u32 = 20;
/// The deadline of a query for statistics.
const QUERY_TIME: Duration = Duration::from_secs(60);
/// Tables in the cache; one more empties it.
const TABLES_MAX: usize = 100;
/// Characters of a text in the cache.
const TEXT_CHARS_MAX: usize = 256;

/// The statistics of all tables.
pub(crate) struct ColumnStatsCache {
    runner: QueryRunner,
    tables: Mutex<HashMap<TableName, Arc<Table>>>,
}

/// The statistics of one table.
#[derive(Default)]
struct Table {
    columns: Mutex<HashMap<ColumnName, Column>>,
    /// Held while statistics of the table are computed.
    computing: Arc<tokio::sync::Mutex<()>>,
}

/// The statistics of one column, and when they were computed.
#[derive(Clone, Debug)]
struct Column {
    stats: ColumnStats,
    version: Version,
    computed_at: Instant,
    duration: Duration,
    /// Whether every row was scanned.
    complete: bool,
}

/// Identifies a state of a table.
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
    /// Whether the statistics need not be computed again now.
    fn is_fresh(&self, version: Version, now: Instant) -> bool {
        let good_for = self.duration.saturating_mul(GOOD_FOR);
        self.version == version
            || self.took_long() && now.saturating_duration_since(self.computed_at) < good_for
    }

    /// Returns whether the statistics may be served, if no newer ones exist.
    fn is_usable(&self, version: Version) -> bool {
        self.version == version || self.took_long()
    }

    fn took_long(&self) -> bool {
        self.duration >= PATIENCE
    }
}

impl ColumnStatsCache {
    pub(crate) fn new(runner: QueryRunner) -> Self {
        Self { runner, tables: Mutex::default() }
    }

    /// The statistics of each column, in the order of `columns`, as far as they are computed within
    /// [`PATIENCE`], and whether they are all, of all rows.
    pub(crate) async fn of(
        &self,
        status: &TableStatus,
        columns: &[&ColumnSchema],
    ) -> Result<(Vec<Option<ColumnStats>>, bool), FrontendError> {
        let (table, version) = (self.table(&status.schema.name), Version::of(status));
        let now = Instant::now();
        let stale = table.stale(columns, version, now);
        if !stale.is_empty() {
            // Do not wait if every column can be served from the cache.
            let until = match table.lacks(&stale, version) {
                true => now + PATIENCE,
                false => now,
            };
            compute_within(&self.runner, &table, status, stale, until).await?;
        }
        Ok(table.serve(columns, version))
    }

    /// Forgets a dropped table.
    pub(crate) fn forget(&self, table: &TableName) {
        self.tables.lock().remove(table);
    }

    fn table(&self, name: &TableName) -> Arc<Table> {
        let mut tables = self.tables.lock();
        if tables.len() >= TABLES_MAX && !tables.contains_key(name) {
            tables.clear();
        }
        Arc::clone(tables.entry(name.clone()).or_default())
    }
}

impl Table {
    /// The columns whose statistics must be computed.
    fn stale(
        &self,
        columns: &[&ColumnSchema],
        version: Version,
        now: Instant,
    ) -> Vec<ColumnSchema> {
        let cached = self.columns.lock();
        let is_fresh = |column: &&&ColumnSchema| {
            cached.get(&column.name).is_some_and(|cached| cached.is_fresh(version, now))
        };
        columns.iter().filter(|column| !is_fresh(column)).map(|column| (*column).clone()).collect()
    }

    /// Whether some column has no statistics that may be served.
    fn lacks(&self, columns: &[ColumnSchema], version: Version) -> bool {
        let cached = self.columns.lock();
        let is_usable = |column: &ColumnSchema| {
            cached.get(&column.name).is_some_and(|cached| cached.is_usable(version))
        };
        !columns.iter().all(is_usable)
    }

    fn serve(
        &self,
        columns: &[&ColumnSchema],
        version: Version,
    ) -> (Vec<Option<ColumnStats>>, bool) {
        let cached = self.columns.lock();
        let served: Vec<Option<&Column>> = columns
            .iter()
            .map(|column| cached.get(&column.name).filter(|cached| cached.is_usable(version)))
            .collect();
        let complete = served.iter().all(|column| column.is_some_and(|column| column.complete));
        (
            served.into_iter().map(|column| column.map(|column| column.stats.clone())).collect(),
            complete,
        )
    }
}

/// Computes statistics, unless another request already does; returns when they are ready, or at
/// `until`, whichever comes first.
async fn compute_within(
    runner: &QueryRunner,
    table: &Arc<Table>,
    status: &TableStatus,
    stale: Vec<ColumnSchema>,
    until: Instant,
) -> Result<(), FrontendError> {
    let computing = Arc::clone(&table.computing).lock_owned();
    let Ok(turn) = timeout_at(until.into(), computing).await else { return Ok(()) };
    let (runner, table, status) = (runner.clone(), Arc::clone(table), status.clone());
    let computed = tokio::spawn(async move {
        let _turn = turn;
        let computed = compute(runner, &table, &status, &stale).await;
        if let Err(error) = &computed {
            tracing::warn!(table = %status.schema.name, ?error, "column statistics failed");
        }
        computed
    });
    match timeout_at(until.into(), computed).await {
        Err(_) => Ok(()),
        Ok(Ok(computed)) => computed,
        Ok(Err(error)) => {
            Err(FrontendError::internal("the statistics of columns were not computed", &error))
        }
    }
}

async fn compute(
    runner: QueryRunner,
    table: &Table,
    status: &TableStatus,
    stale: &[ColumnSchema],
) -> Result<(), FrontendError> {
    let version = Version::of(status);
    // Another request may have computed them while this one waited for the lock.
    let stale = table.stale(&stale.iter().collect::<Vec<_>>(), version, Instant::now());
    let queries = StatsQueries::new(runner, &status.schema, QUERY_TIME);
    for columns in stale.chunks(COLUMNS_AT_ONCE) {
        let start = Instant::now();
        let computed = queries.stats(&columns.iter().collect::<Vec<_>>()).await?;
        let (computed_at, complete) = (Instant::now(), computed.coverage.fraction() >= 1.0);
        let mut cached = table.columns.lock();
        for (column, stats) in columns.iter().zip(computed.value) {
            let stats =
                ColumnStats { min: shortened(stats.min), max: shortened(stats.max), ..stats };
            let entry =
                Column { stats, version, computed_at, duration: computed_at - start, complete };
            cached.insert(column.name.clone(), entry);
        }
    }
    Ok(())
}

/// The value; a text is cut to [`TEXT_CHARS_MAX`].
fn shortened(value: Value) -> Value {
    match &value {
        Value::String(text) => match text.char_indices().nth(TEXT_CHARS_MAX) {
            Some((end, _)) => Value::string(&text[..end]),
            None => value,
        },
        _ => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: Version = Version { rows: 1, dropped_rows: 0, times: None };
    const NEW: Version = Version { rows: 2, ..OLD };

    fn column(duration: Duration, computed_at: Instant) -> Column {
        let null = || Value::Null;
        let stats =
            ColumnStats { distinct: null(), min: null(), max: null(), p50: null(), p95: null() };
        Column { stats, version: OLD, computed_at, duration, complete: true }
    }

    #[test]
    fn quick_statistics_are_served_for_an_unchanged_table_only() {
        let at = Instant::now();
        let quick = column(PATIENCE - Duration::from_millis(1), at);
        assert!(quick.is_fresh(OLD, at + QUERY_TIME) && quick.is_usable(OLD));
        assert!(!quick.is_fresh(NEW, at) && !quick.is_usable(NEW));
    }

    #[test]
    fn slow_statistics_are_fresh_for_a_while_and_usable_longer() {
        let at = Instant::now();
        let slow = column(PATIENCE, at);
        assert!(slow.is_fresh(OLD, at + QUERY_TIME));
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
