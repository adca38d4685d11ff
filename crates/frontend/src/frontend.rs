//! The state that all doors share, and the tree and stores behind it.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hadal_peer::TableStatus;
use hadal_query::FunctionHost;
use hadal_tree::{ExpectedRows, Root};
use hadal_types::{Clock, ColumnSchema, MemoryReservation, limits};
use parking_lot::Mutex;
use tokio::sync::{Semaphore, watch};

use crate::backend::Backend;
use crate::cluster::rollover::Rollover;
use crate::column_stats::ColumnStats;
use crate::column_stats::cache::ColumnStatsCache;
use crate::dashboard_files::DashboardFiles;
use crate::error::FrontendError;
use crate::principal::Principal;
use crate::query_runner::QueryRunner;
use crate::query_turn::QueryTurns;
use crate::self_tables::SelfTables;
use crate::state::backpressure::Backpressure;
use crate::state::counters::Counters;
use crate::state::in_flight::InFlight;
use crate::state::live_columns::LiveColumns;
use crate::state::memory_gauge::MemoryUse;
use crate::state::settings_cache::TableSettingsCache;
use crate::state::shutdown::Shutdown;

/// The configuration of the front.
#[derive(Clone, Debug)]
pub struct FrontendConfig {
    /// Default limit of a table's encoded bytes over all leaves.
    pub table_bytes_max: u64,
    /// The place where rows of archived tables are stored before they are dropped, in words. With
    /// `None`, no table can be archived.
    pub archive: Option<String>,
    /// Why the last probe of the archive failed, written by the task that probes it.
    pub archive_error: Arc<Mutex<Option<String>>>,
    /// Whether queries, bodies and leaves are logged in Hadal's self tables.
    pub keeps_self_tables: bool,
    /// Makes user functions of their definitions; `None` if they are off.
    pub functions: Option<Arc<dyn FunctionHost>>,
    /// The dashboards of files, replaced by the task that reads them.
    pub dashboard_files: Arc<Mutex<Arc<DashboardFiles>>>,
}

impl Default for FrontendConfig {
    fn default() -> Self {
        Self {
            table_bytes_max: limits::TABLE_BYTES_MAX,
            archive: None,
            archive_error: Arc::default(),
            keeps_self_tables: true,
            functions: None,
            dashboard_files: Arc::default(),
        }
    }
}

/// The front of the database, called by every door.
pub struct Frontend {
    pub(crate) backend: Backend,
    pub(crate) config: FrontendConfig,
    pub(crate) counters: Arc<Counters>,
    pub(crate) self_tables: Arc<SelfTables>,
    pub(crate) column_stats: ColumnStatsCache,
    pub(crate) table_settings: Arc<TableSettingsCache>,
    /// Limits the bodies parsed concurrently to the number of cores.
    pub(crate) parsers: Semaphore,
    /// The queries that run and wait.
    turns: QueryTurns,
    pub(crate) in_flight: InFlight,
    pub(crate) live_columns: LiveColumns,
    pub(crate) backpressure: Backpressure,
    /// Signals that queries and bodies must end.
    pub(crate) shutdown: Shutdown,
    /// Whether the disk was full for the last batch that could otherwise have been accepted.
    pub(crate) is_disk_full: AtomicBool,
    /// The rollover that this process drives, or the last one that it has driven.
    pub(crate) rollover: Mutex<Option<Rollover>>,
    started: Instant,
}

impl Frontend {
    /// Returns a front for `backend`.
    #[must_use]
    pub fn new(config: FrontendConfig, backend: Backend) -> Arc<Self> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let (counters, shutdown) = (Arc::new(Counters::default()), Shutdown::default());
        let table_settings = Arc::new(TableSettingsCache::new(backend.clone()));
        let turns = QueryTurns::new(cores);
        let runner = QueryRunner::new(&backend, &shutdown, &turns);
        Arc::new(Self {
            self_tables: SelfTables::new(&backend, &table_settings, &counters),
            column_stats: ColumnStatsCache::new(runner),
            backend,
            config,
            counters,
            table_settings,
            parsers: Semaphore::new(cores),
            turns,
            in_flight: InFlight::default(),
            live_columns: LiveColumns::default(),
            backpressure: Backpressure::default(),
            shutdown,
            is_disk_full: AtomicBool::new(false),
            rollover: Mutex::default(),
            started: Instant::now(),
        })
    }

    /// Returns the counters since the start.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Returns the time since the start.
    #[must_use]
    pub fn uptime(&self) -> Duration {
        self.started.elapsed()
    }

    /// The tree's root.
    #[must_use]
    pub fn root(&self) -> &Root {
        &self.backend.root
    }

    /// The rows that each leaf should hold.
    #[must_use]
    pub fn ledger(&self) -> &ExpectedRows {
        &self.backend.ledger
    }

    /// The wall clock.
    #[must_use]
    pub fn clock(&self) -> &dyn Clock {
        &*self.backend.clock
    }

    /// Returns the damage that keeps leaves with rows from serving, a sentence each.
    #[must_use]
    pub fn damage(&self) -> &[String] {
        &self.backend.damage
    }

    /// Why settings of tables may be out of date and cannot be changed, in a sentence.
    #[must_use]
    pub fn definitions_outage(&self) -> Option<String> {
        self.backend.definitions.outage()
    }

    /// Returns the place where rows of archived tables are stored, in words.
    #[must_use]
    pub fn archive(&self) -> Option<&str> {
        self.config.archive.as_deref()
    }

    /// Why the last probe of the archive failed.
    #[must_use]
    pub fn archive_error(&self) -> Option<String> {
        self.config.archive_error.lock().clone()
    }

    /// Returns the process's current memory use in bytes.
    #[must_use]
    pub fn memory_use(&self) -> MemoryUse {
        (self.backend.memory)()
    }

    /// Returns an empty reservation in the memory pool of queries and their answers.
    #[must_use]
    pub fn hold(&self) -> MemoryReservation {
        self.backend.root.budget().reservation()
    }

    /// Returns whether the last batch was refused because the disk was full.
    #[must_use]
    pub fn is_disk_full(&self) -> bool {
        self.is_disk_full.load(Ordering::Relaxed)
    }

    /// Returns the signal that ends queries and bodies; a stopping door triggers it.
    #[must_use]
    pub fn shutdown(&self) -> &Shutdown {
        &self.shutdown
    }

    /// Returns the statistics of each column in the order of `columns`, as far as they are computed
    /// within 200 ms, and whether they are complete.
    ///
    /// # Errors
    /// [`FrontendError`] when a query for them fails.
    pub async fn column_stats(
        &self,
        status: &TableStatus,
        columns: &[&ColumnSchema],
    ) -> Result<(Vec<Option<ColumnStats>>, bool), FrontendError> {
        self.column_stats.of(status, columns).await
    }

    /// Returns the runner of the server's queries; it stops with this front.
    pub(crate) fn runner(&self) -> QueryRunner {
        QueryRunner::new(&self.backend, &self.shutdown, &self.turns)
    }

    /// Returns the runner of a principal's queries; it stops with this front.
    pub(crate) fn runner_of(&self, principal: &Principal) -> QueryRunner {
        self.runner().of_client(principal.client())
    }

    /// Writes the self tables while `doors` run, and writes their last rows after the doors have
    /// ended.
    pub async fn keep_self_tables_while<T>(self: &Arc<Self>, doors: impl Future<Output = T>) -> T {
        if !self.config.keeps_self_tables {
            return doors.await;
        }
        let (stop, stop_receiver) = watch::channel(false);
        let writer = tokio::spawn(Arc::clone(&self.self_tables).keep(stop_receiver));
        let output = doors.await;
        let _ = stop.send(true);
        // The task ends by itself. If it died, its unwritten rows are still flushed below.
        let _ = writer.await;
        self.self_tables.flush().await;
        output
    }
}

/// Runs blocking work on a thread for blocking work.
///
/// # Errors
/// [`crate::ErrorKind::Internal`] when it panics.
pub async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, FrontendError> {
    tokio::task::spawn_blocking(work).await.map_err(|error| match error.try_into_panic() {
        Ok(panic) => FrontendError::of_panic(&*panic),
        Err(error) => FrontendError::internal("the server is stopping", &error),
    })
}

impl FrontendError {
    /// A request that panicked.
    #[must_use]
    pub fn of_panic(panic: &(dyn Any + Send)) -> Self {
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
        Self::internal("the request failed by a fault of the server", &text)
    }
}
