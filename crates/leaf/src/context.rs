//! The data that all parts of a leaf share, and the two locks that serialize changes.
//!
//! Locks are taken in this order: `merging`, `changing`, the map of tables, the locks of one table
//! (`table.rs`). A thread that waits for another thread holds neither the map of tables nor a lock
//! of a table.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;

use hadal_peer::SinkError;
use hadal_store::{Durability, Error, Store};
use hadal_types::{Clock, LeafName, LeafState, Micros, TableName, limits};
use parking_lot::{Mutex, MutexGuard, RwLock};

use crate::limits::LeafLimits;
use crate::refused_batches::RefusedBatches;
use crate::table::Table;
use crate::table_changes::TableChanges;
use crate::wakeup::Wakeup;

/// The data of one leaf.
pub(crate) struct LeafContext {
    pub(crate) name: LeafName,
    pub(crate) clock: Arc<dyn Clock>,
    /// When it was opened, in microseconds since the Unix epoch: later than any process before,
    /// even if the clock was set back.
    pub(crate) started: u64,
    pub(crate) store: Store,
    pub(crate) has_folder: bool,
    pub(crate) durability: Durability,
    pub(crate) tables: RwLock<BTreeMap<TableName, Arc<Table>>>,
    /// Which tables have changed.
    pub(crate) changes: Arc<TableChanges>,
    pub(crate) limits: LeafLimits,
    /// Wakes the merge thread.
    pub(crate) wakeup: Arc<Wakeup>,
    /// Batches that the leaf has promised not to accept.
    pub(crate) refused: Mutex<RefusedBatches>,
    /// No batch that came later, in microseconds since the Unix epoch, may be settled by a merge.
    revocations_read: AtomicI64,
    is_stopping: AtomicBool,
    /// True once the leaf has announced that it will stop soon.
    is_preparing: AtomicBool,
    /// Held by each merge and each pass that picks blocks, so that no two pick the same.
    merging: Mutex<()>,
    /// Held while the store's content and the visible blocks change together.
    changing: Mutex<()>,
}

impl LeafContext {
    /// Makes the context of a leaf with these tables.
    pub(crate) fn new(
        (name, store): (LeafName, Store),
        tables: BTreeMap<TableName, Arc<Table>>,
        limits: LeafLimits,
        clock: Arc<dyn Clock>,
        (has_folder, durability): (bool, Durability),
    ) -> Self {
        let changes = Arc::default();
        for table in tables.values() {
            table.report_changes(&changes);
        }
        let (started, noted) = store.note_start(u64::try_from(clock.now().0).unwrap_or(0));
        if let Err(error) = noted {
            tracing::warn!(
                leaf = %name,
                "{error}: if the clock is set back before the next start, others may take that start \
                 for an earlier one"
            );
        }
        Self {
            name,
            started,
            clock,
            store,
            has_folder,
            durability,
            tables: RwLock::new(tables),
            changes,
            limits,
            wakeup: Arc::default(),
            refused: Mutex::default(),
            revocations_read: AtomicI64::new(i64::MAX),
            is_stopping: AtomicBool::new(false),
            is_preparing: AtomicBool::new(false),
            merging: Mutex::new(()),
            changing: Mutex::new(()),
        }
    }

    /// Whether changes are forbidden because the leaf stops.
    pub(crate) fn is_stopping(&self) -> bool {
        self.is_stopping.load(Ordering::SeqCst)
    }

    /// Forbids changes from now on, and wakes the merge thread.
    pub(crate) fn stop_changes(&self) {
        self.is_stopping.store(true, Ordering::SeqCst);
        self.wakeup.wake();
    }

    /// Reports [`LeafState::Prepare`] from now on.
    pub(crate) fn prepare_to_stop(&self) {
        self.is_preparing.store(true, Ordering::SeqCst);
    }

    /// The time that decides which batches merges may settle: now, or when the leaf
    /// last read the records of its revoked batches.
    pub(crate) fn settling_time(&self, now: Micros) -> Micros {
        now.min(Micros(self.revocations_read.load(Ordering::Relaxed)))
    }

    /// Notes when the leaf last read the records of its revoked batches.
    pub(crate) fn note_revocations_read(&self, time: Micros) {
        self.revocations_read.store(time.0, Ordering::Relaxed);
    }

    /// Waits for the exclusive right to pick blocks for a merge or a rewrite.
    pub(crate) fn turn_to_merge(&self) -> MutexGuard<'_, ()> {
        self.merging.lock()
    }

    /// Waits for the exclusive right to change the store's content and the visible blocks together;
    /// returns `None` when the leaf stops.
    pub(crate) fn turn_to_change(&self) -> Option<MutexGuard<'_, ()>> {
        let turn = self.changing.lock();
        (!self.is_stopping()).then_some(turn)
    }

    /// Waits for the right to make the last change of a leaf that stops.
    pub(crate) fn last_turn(&self) -> MutexGuard<'_, ()> {
        self.changing.lock()
    }

    /// The table of this name.
    pub(crate) fn table(&self, name: &TableName) -> Option<Arc<Table>> {
        self.tables.read().get(name).cloned()
    }

    /// All tables, in the order of their names.
    pub(crate) fn all_tables(&self) -> Vec<Arc<Table>> {
        self.tables.read().values().cloned().collect()
    }

    /// Creates a table of this name unless it exists.
    ///
    /// # Errors
    /// [`SinkError::Limit`] when the leaf already has the maximum number of tables.
    pub(crate) fn create_table(&self, name: &TableName) -> Result<(), SinkError> {
        if self.tables.read().contains_key(name) {
            return Ok(());
        }
        let mut tables = self.tables.write();
        if tables.len() >= limits::TABLES_MAX && !tables.contains_key(name) {
            let message = format!(
                "too many tables: the limit is {}; {name} would be one more",
                limits::TABLES_MAX
            );
            return Err(SinkError::Limit(message));
        }
        let table = tables.entry(name.clone());
        table.or_insert_with(|| Arc::new(Table::new(name.clone()))).report_changes(&self.changes);
        Ok(())
    }

    /// The state of the leaf.
    pub(crate) fn state(&self) -> LeafState {
        if self.is_stopping() || self.is_preparing.load(Ordering::SeqCst) {
            return LeafState::Prepare;
        }
        state_of(self.tables.read().values())
    }

    /// Returns the time before which the manifest may forget batch ids: no table remembers an
    /// earlier id. Returns `None` when no id is remembered. Cost: one lock per table.
    pub(crate) fn forget_before(&self) -> Option<Micros> {
        let tables = self.tables.read();
        tables.values().filter_map(|table| table.batch_ids.lock().least_time()).min()
    }

    /// Parks the thread until the clock's running time reaches `due`; returns false when the leaf
    /// stops. The thread that stops the leaf must unpark this one.
    pub(crate) fn wait_until(&self, due: Duration) -> bool {
        while !self.is_stopping()
            && let Some(pause) = due.checked_sub(self.clock.running())
            && !pause.is_zero()
        {
            std::thread::park_timeout(pause);
        }
        !self.is_stopping()
    }

    /// Converts an error of the store to the client's error. File paths go to the process log only.
    pub(crate) fn sink_error(&self, error: Error) -> SinkError {
        sink_error(&self.name, error)
    }

    /// The error for a client that must send its change again.
    pub(crate) fn busy(&self) -> SinkError {
        SinkError::Busy(self.name.to_string())
    }

    /// The error for a client when the leaf stops.
    pub(crate) fn unavailable(&self) -> SinkError {
        SinkError::Unavailable(self.name.to_string())
    }
}

/// Converts an error of a leaf's store to the client's error.
pub(crate) fn sink_error(name: &LeafName, error: Error) -> SinkError {
    match error {
        Error::Busy(_) => SinkError::Busy(name.to_string()),
        Error::Full(_) => SinkError::Full(name.to_string()),
        Error::Closed => SinkError::Unavailable(name.to_string()),
        error if error.names_a_path() => {
            // File paths are for the operator, not for clients.
            tracing::error!(leaf = %name, "{error}");
            SinkError::Store(format!("{name}'s files fail; the server's log says more"))
        }
        other => SinkError::Store(other.to_string()),
    }
}

/// The state of a set of tables since the start: the state of the table whose recovery is least
/// advanced.
pub(crate) fn state_of<'a>(tables: impl IntoIterator<Item = &'a Arc<Table>>) -> LeafState {
    tables.into_iter().map(|table| table.state()).max().unwrap_or(LeafState::Alive)
}
