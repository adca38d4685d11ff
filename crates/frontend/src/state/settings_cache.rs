//! A cache of table settings, which ingestion needs for each body: the age limit of its rows, and
//! the column that holds their time.
//!
//! If copies differ, the store of definitions is right; each leaf has a copy (`restore_settings`).
//! If a table has no settings, an age limit is derived from its first rows. That limit is stored,
//! so that it does not change when the rows get older.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use hadal_definitions::{DefinitionsError, Versioned};
use hadal_ingest::AgePolicy;
use hadal_peer::{SinkError, TableChange, TableStatus};
use hadal_types::limits::TABLES_MAX;
use hadal_types::{AgeLimit, ColumnName, Micros, TableName, TableSettings};
use parking_lot::Mutex;
use tokio::time::timeout;

use crate::backend::Backend;
use crate::error::{ErrorKind, FrontendError};

/// How long cached settings are valid: another server may share the definitions, and changes are in
/// force everywhere within two seconds.
const GOOD_FOR: Duration = Duration::from_secs(1);
/// How long they are valid when they could not be read again.
const GOOD_FOR_IN_OUTAGE: Duration = Duration::from_secs(5);
/// How long reading may take when there are old settings to continue with.
const READ_AGAIN_TIME: Duration = Duration::from_millis(500);

/// How often first settings are tried to be stored while others change the settings.
const TRIES: usize = 8;

/// The settings that were read or written lately.
pub(crate) struct TableSettingsCache {
    backend: Backend,
    tables: Mutex<HashMap<TableName, CachedSettings>>,
}

/// The settings in the definitions; `None` if none are set.
type StoredSettings = Option<Versioned<TableSettings>>;

#[derive(Clone)]
struct CachedSettings {
    good_until: Instant,
    stored: StoredSettings,
}

impl TableSettingsCache {
    pub(crate) fn new(backend: Backend) -> Self {
        Self { backend, tables: Mutex::default() }
    }

    /// The settings of a table, perhaps from the cache.
    pub(crate) async fn of(&self, table: &TableName) -> Result<StoredSettings, FrontendError> {
        let cached = self.tables.lock().get(table).cloned();
        match cached {
            Some(cached) if Instant::now() < cached.good_until => Ok(cached.stored),
            Some(stale) => match timeout(READ_AGAIN_TIME, self.read(table)).await {
                Ok(Ok(stored)) => Ok(stored),
                // Rows are still accepted, by the old settings.
                _ => Ok(self.go_on_with(table, stale.stored)),
            },
            None => match self.read(table).await {
                Ok(stored) => Ok(stored),
                Err(error) => {
                    let of_leaves = self.of_leaves(table).await.ok_or(error)?;
                    Ok(self.go_on_with(table, Some(of_leaves)))
                }
            },
        }
    }

    /// The settings by which the leaves treat a table, when the definitions cannot be read.
    async fn of_leaves(&self, table: &TableName) -> Option<Versioned<TableSettings>> {
        let status = self.backend.root.table(table.as_str()).await?;
        status.settings.map(|value| Versioned { version: 0, value })
    }

    fn go_on_with(&self, table: &TableName, stored: StoredSettings) -> StoredSettings {
        self.insert_for(table, stored.clone(), GOOD_FOR_IN_OUTAGE);
        stored
    }

    /// The settings of a table, read from the definitions.
    pub(crate) async fn read(&self, table: &TableName) -> Result<StoredSettings, FrontendError> {
        let stored = self.backend.definitions.table_settings(table).await;
        let stored = stored.map_err(|error| FrontendError::from(&error))?;
        self.insert(table, stored.clone());
        Ok(stored)
    }

    fn insert(&self, table: &TableName, stored: StoredSettings) {
        self.insert_for(table, stored, GOOD_FOR);
    }

    fn insert_for(&self, table: &TableName, stored: StoredSettings, time: Duration) {
        let mut tables = self.tables.lock();
        if tables.len() >= TABLES_MAX && !tables.contains_key(table) {
            tables.clear();
        }
        tables.insert(table.clone(), CachedSettings { good_until: Instant::now() + time, stored });
    }

    /// Forgets a dropped table.
    pub(crate) fn forget(&self, table: &TableName) {
        self.tables.lock().remove(table);
    }

    /// Stores the settings of a table, if they are based on the stored version, and sends them to
    /// the leaves. Both are done even if the client hangs up.
    pub(crate) async fn set(
        self: &Arc<Self>,
        table: &TableName,
        based_on: i64,
        settings: TableSettings,
    ) -> Result<(), FrontendError> {
        let (cache, table) = (Arc::clone(self), table.clone());
        let setting =
            tokio::spawn(async move { cache.set_to_end(&table, based_on, settings).await });
        let failed = |error| FrontendError::internal("the settings were not set", &error);
        setting.await.map_err(failed)?
    }

    async fn set_to_end(
        &self,
        table: &TableName,
        based_on: i64,
        settings: TableSettings,
    ) -> Result<(), FrontendError> {
        let set = self.backend.definitions.set_table_settings(table, based_on, &settings).await;
        let version = set.map_err(|error| {
            self.forget(table);
            FrontendError::from(&error)
        })?;
        self.insert(table, Some(Versioned { version, value: settings.clone() }));
        let configured = configure(&self.backend, table, settings).await;
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

/// The error of settings that are stored but did not reach every leaf; the next start sends them
/// again.
pub(crate) fn half_done(error: &SinkError) -> FrontendError {
    FrontendError::from(error).hint("the settings are stored; set them again to tell every leaf")
}

/// The settings that the first rows of a table give it.
pub(crate) struct FirstRowsSettings {
    table: TableName,
    stored: StoredSettings,
}

impl FirstRowsSettings {
    pub(crate) fn new(table: &TableName, stored: StoredSettings) -> Self {
        Self { table: table.clone(), stored }
    }

    /// The column that a person set.
    pub(crate) fn time_column(&self) -> Option<&ColumnName> {
        self.stored.as_ref()?.value.time_column.as_ref()
    }

    /// Stores the age limit that `age` gives the table, unless one is set. Call this before sending
    /// rows; otherwise the first rows could be too old for an unintended limit.
    pub(crate) async fn store(
        &mut self,
        cache: &Arc<TableSettingsCache>,
        age: AgePolicy,
    ) -> Result<(), FrontendError> {
        for _ in 0..TRIES {
            let (based_on, mut settings, lifts_limit) = match &self.stored {
                None => (0, TableSettings::of_new(&self.table), age.lifts_limit_of_new_table()),
                Some(stored) if age.lifts_unset_limit() && stored.value.age.is_none() => {
                    (stored.version, stored.value.clone(), true)
                }
                Some(_) => return Ok(()),
            };
            if lifts_limit {
                settings.age = Some(AgeLimit::Unlimited);
            }
            if self.stored.is_none() && cache.backend.definitions.outage().is_some() {
                // The definitions are known to have none, so this is a new table: it begins without
                // them, and later rows store its settings.
                let configured = configure(&cache.backend, &self.table, settings).await;
                return configured.map_err(|error| FrontendError::from(&error));
            }
            match cache.set(&self.table, based_on, settings).await {
                // Another client changed them first: read its settings and try again.
                Err(error) if error.kind == ErrorKind::SettingsConflict => {}
                result => result?,
            }
            self.stored = cache.of(&self.table).await?;
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

/// Makes definitions and leaves agree at a start: leaves get the stored settings, and settings that
/// only a leaf has are stored. The settings of other tables are derived from their rows.
///
/// # Errors
/// [`RestoreError`]: then no row may be accepted or dropped, because limits may be missing.
pub async fn restore_settings(backend: &Backend) -> Result<(), RestoreError> {
    let now = backend.clock.now();
    let stored = backend.definitions.all_table_settings().await?;
    let names: BTreeSet<TableName> = stored.iter().map(|(table, _)| table.clone()).collect();
    let mut missing = Vec::new();
    // The first status of tables after a start is slow, and not needed where all have settings.
    if !backend.ledger.tables().is_subset(&names) {
        let catalog = backend.root.cluster_status().await;
        let unknown = catalog.tables.iter().filter(|(table, _)| !names.contains(*table));
        missing
            .extend(unknown.map(|(table, status)| (table.clone(), derived_settings(status, now))));
    }
    let stored = match backend.definitions.add_table_settings(&missing).await {
        Ok(()) if missing.is_empty() => stored,
        Ok(()) => backend.definitions.all_table_settings().await?,
        // A full disk must not keep a server from starting: only a server can drop rows.
        Err(error) => {
            let tables = missing.len();
            tracing::error!(tables, %error, "derived settings are not stored; the next start derives them again");
            stored
        }
    };
    for (table, stored) in stored {
        let configured = configure(backend, &table, stored.value).await;
        configured.map_err(|error| RestoreError::Leaf { table, error })?;
    }
    Ok(())
}

/// Returns the settings of a table that the definitions lack: the leaf's settings, or settings
/// derived from the table's rows.
fn derived_settings(status: &TableStatus, now: Micros) -> TableSettings {
    let oldest = status.schema.time_range.map(|(first, _)| first);
    let limit = match status.waiting_rows {
        0 => AgePolicy::limit_by_rows(oldest, now),
        // Rows that are not restored yet may be of any age.
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
    derived_settings(status, now).age_limit()
}
