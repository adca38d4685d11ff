//! What people set for tables, as far as the frontend need it: how old rows may be that come in, and
//! which column says their time.
//!
//! The store of definitions has the last word, leaves have a copy (`restore_settings`). A table
//! that nobody set anything for is *settled* with its first rows: what they tell of its age is
//! written down as its settings, so that it does not change by itself when its rows get older.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hadal_definitions::{DefinitionsError, Versioned};
use hadal_ingest::AgePolicy;
use hadal_peer::{SinkError, TableChange, TableStatus};
use hadal_types::limits::TABLES_MAX;
use hadal_types::{AgeLimit, ColumnName, Micros, TableName, TableSettings};

use crate::error::{ErrorKind, FrontendError};
use crate::frontend::{Backend, Frontend};

/// How long cached settings are valid: another server may share the definitions.
const GOOD_FOR: Duration = Duration::from_secs(5);

/// How often a table is settled anew when others change its settings at the same time.
const TRIES: usize = 8;

/// The settings that were read or written lately.
#[derive(Default)]
pub(crate) struct TableSettingsCache {
    known: Mutex<HashMap<TableName, ColumnStatsCache>>,
}

type Own = Option<Versioned<TableSettings>>;

struct ColumnStatsCache {
    at: Instant,
    own: Own,
}

impl TableSettingsCache {
    /// The settings of a table, perhaps from the cache.
    pub(crate) async fn of(
        &self,
        backend: &Backend,
        table: &TableName,
    ) -> Result<Own, FrontendError> {
        let known = lock(&self.known).get(table).map(|known| (known.at, known.own.clone()));
        match known {
            Some((at, own)) if at.elapsed() < GOOD_FOR => Ok(own),
            Some((_, stale)) => Ok(self.read(backend, table).await.unwrap_or_else(|_| {
                // Rows are still accepted, by the old settings; the log has the reason.
                self.note(table, stale.clone());
                stale
            })),
            None => self.read(backend, table).await,
        }
    }

    /// The settings of a table, read from the definitions.
    pub(crate) async fn read(
        &self,
        backend: &Backend,
        table: &TableName,
    ) -> Result<Own, FrontendError> {
        let own = backend.definitions.table_settings(table).await;
        let own = own.map_err(|error| FrontendError::from(&error))?;
        self.note(table, own.clone());
        Ok(own)
    }

    fn note(&self, table: &TableName, own: Own) {
        let mut known = lock(&self.known);
        if known.len() >= TABLES_MAX && !known.contains_key(table) {
            known.clear();
        }
        known.insert(table.clone(), ColumnStatsCache { at: Instant::now(), own });
    }

    /// Forgets a dropped table.
    pub(crate) fn forget(&self, table: &TableName) {
        lock(&self.known).remove(table);
    }

    async fn set(
        &self,
        backend: &Backend,
        table: &TableName,
        based_on: i64,
        settings: TableSettings,
    ) -> Result<(), FrontendError> {
        let set = backend.definitions.set_table_settings(table, based_on, &settings).await;
        let version = set.map_err(|error| {
            self.forget(table);
            FrontendError::from(&error)
        })?;
        self.note(table, Some(Versioned { version, value: settings.clone() }));
        let configured = configure(backend, table, settings).await;
        configured.map_err(|error| half_done(&error))
    }
}

/// Sends the settings of a table to all leaves.
pub(crate) async fn configure(
    backend: &Backend,
    table: &TableName,
    settings: TableSettings,
) -> Result<(), SinkError> {
    let change = TableChange::Configure { table: table.clone(), settings };
    backend.admin.apply(change).await.map(|_| ())
}

/// Stores the settings of a table, if they are based on the stored version, and sends them to the leaves.
/// Both are done even if the client hangs up.
pub(crate) async fn set(
    frontend: &Arc<Frontend>,
    table: &TableName,
    based_on: i64,
    settings: TableSettings,
) -> Result<(), FrontendError> {
    let (frontend, table) = (Arc::clone(frontend), table.clone());
    let setting = tokio::spawn(async move {
        frontend.table_settings.set(&frontend.backend, &table, based_on, settings).await
    });
    let failed = |error| FrontendError::internal("the settings were not set", &error);
    setting.await.map_err(failed)?
}

/// The error of settings that are stored but did not reach every leaf; the next start sends them again.
pub(crate) fn half_done(error: &SinkError) -> FrontendError {
    FrontendError::from(error).hint("the settings are stored; set them again to tell every leaf")
}

/// The settings that the first rows of a table give it.
pub(crate) struct FirstRowsSettings {
    table: TableName,
    own: Own,
}

impl FirstRowsSettings {
    pub(crate) fn new(table: &TableName, own: Own) -> Self {
        Self { table: table.clone(), own }
    }

    /// The column that a person set.
    pub(crate) fn time_column(&self) -> Option<&ColumnName> {
        self.own.as_ref()?.value.time_column.as_ref()
    }

    /// Stores the age limit that `age` gives the table, unless somebody set one. To be done before
    /// rows are sent, or the first of them could be too old for a limit that nobody meant.
    pub(crate) async fn store(
        &mut self,
        frontend: &Arc<Frontend>,
        age: AgePolicy,
    ) -> Result<(), FrontendError> {
        let (backend, rules) = (&frontend.backend, &frontend.table_settings);
        for _ in 0..TRIES {
            let (based_on, mut settings, lifts_limit) = match &self.own {
                None => (0, TableSettings::of_new(&self.table), age.lifts_limit_of_new_table()),
                Some(own) if age.lifts_unset_limit() && own.value.age.is_none() => {
                    (own.version, own.value.clone(), true)
                }
                Some(_) => return Ok(()),
            };
            if lifts_limit {
                settings.age = Some(AgeLimit::Unlimited);
            }
            match set(frontend, &self.table, based_on, settings).await {
                // Somebody else was quicker: what they set is looked at.
                Err(error) if error.kind == ErrorKind::SettingsConflict => {}
                done => done?,
            }
            self.own = rules.of(backend, &self.table).await?;
        }
        let detail = format!("the settings of table {} change all the time", self.table);
        Err(FrontendError::new(ErrorKind::Busy, detail))
    }
}

/// Why the settings of tables could not be brought back at a start.
#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    /// The definitions cannot be read.
    #[error(transparent)]
    Definitions(#[from] DefinitionsError),
    /// A leaf cannot keep them.
    #[error("the settings of table {table} do not reach every leaf: {error}")]
    Leaf {
        /// The table.
        table: TableName,
        /// Why not.
        error: SinkError,
    },
}

/// Brings definitions and leaves together at a start: leaves are told what is set, and what only a
/// leaf remembers is set again. Tables of which nobody knows anything are settled by their rows.
///
/// # Errors
/// [`RestoreError`]: then no row should be taken or dropped, as limits may not be what they seem.
pub async fn restore_settings(backend: &Backend) -> Result<(), RestoreError> {
    let now = backend.clock.now();
    let stored = backend.definitions.all_table_settings().await?;
    let names: BTreeSet<TableName> = stored.iter().map(|(table, _)| table.clone()).collect();
    let mut missing = Vec::new();
    // To look at tables takes a while after a start, and is not needed where all are known.
    if !backend.ledger.tables().is_subset(&names) {
        let catalog = backend.root.catalog().await;
        let unknown = catalog.tables.iter().filter(|(table, _)| !names.contains(*table));
        missing.extend(unknown.map(|(table, status)| (table.clone(), settled(status, now))));
    }
    let stored = match backend.definitions.add_table_settings(&missing).await {
        Ok(()) if missing.is_empty() => stored,
        Ok(()) => backend.definitions.all_table_settings().await?,
        // A disk that is full must not keep a server from starting: rows can be dropped only by one.
        Err(error) => {
            let tables = missing.len();
            tracing::error!(tables, %error, "settings are not written down: they are told at the next start");
            stored
        }
    };
    for (table, own) in stored {
        let configured = configure(backend, &table, own.value).await;
        configured.map_err(|error| RestoreError::Leaf { table, error })?;
    }
    Ok(())
}

/// The settings of a table that the definitions do not know: what a leaf remembers, or what its
/// rows say.
fn settled(status: &TableStatus, now: Micros) -> TableSettings {
    let oldest = status.schema.time_range.map(|(first, _)| first);
    let limit = match status.waiting_rows {
        0 => AgePolicy::limit_by_rows(oldest, now),
        // Those that are not back yet may be of any age.
        _ => AgeLimit::Unlimited,
    };
    let by_rows = || match limit {
        AgeLimit::Unlimited => {
            TableSettings { age: Some(AgeLimit::Unlimited), ..TableSettings::default() }
        }
        AgeLimit::Seconds(_) => TableSettings::of_new(&status.schema.name),
    };
    status.settings.clone().unwrap_or_else(by_rows)
}

/// How old rows of a table may be, as far as its leaves know.
pub(crate) fn age_limit(status: &TableStatus, now: Micros) -> AgeLimit {
    settled(status, now).age_limit()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
