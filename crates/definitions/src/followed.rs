//! A copy of the settings in another store, kept up to date: reads never wait, and work while the
//! store is down.

mod configure;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use hadal_peer::Admin;
use hadal_types::limits::DEFINITIONS_POLL_MILLIS;
use hadal_types::{
    BatchId, Document, DocumentKind, FunctionDefinition, LeafName, TableName, TableSettings,
};
use parking_lot::RwLock;
use tokio::time::{MissedTickBehavior, interval};

use crate::error::DefinitionsError;
use crate::revocations::Revocation;
use crate::store::{AllDocuments, AllFunctions, AllTableSettings, DefinitionStore, StoreFuture};
use crate::table_settings::Versioned;
use configure::Configured;

/// A store of definitions, and a copy of its settings. Changes go to the store.
///
/// [`Self::follow`] polls the store and brings every change to the leaves. Until the first poll
/// succeeds, reads ask the store.
pub struct FollowedDefinitions {
    store: Arc<dyn DefinitionStore>,
    copy: RwLock<Copy>,
}

/// What is known of the store.
#[derive(Default)]
struct Copy {
    /// The store's version when the settings were read; `None` before that.
    version: Option<i64>,
    tables: BTreeMap<TableName, Versioned<TableSettings>>,
    functions: AllFunctions,
    /// Why the last poll failed.
    failure: Option<String>,
    /// How many polls have failed one after the other.
    failed_polls: u32,
}

/// After this many failed polls, it is reported that the store cannot be read. A process that
/// starts may not have heard of the other members yet, and a cluster that stops ends its processes
/// one after the other.
const FAILED_POLLS_REPORTED: u32 = 4;

impl FollowedDefinitions {
    /// Without a copy yet.
    #[must_use]
    pub fn new(store: Arc<dyn DefinitionStore>) -> Self {
        Self { store, copy: RwLock::default() }
    }

    /// Follows the store, for ever: asks it for its version twice a second, reads all settings if
    /// it is another one, and configures the leaves behind `admin` where their settings differ. A
    /// leaf that refuses is asked again with the next poll. The first pass configures every table,
    /// so that a leaf which was away gets what it missed when its process starts.
    pub async fn follow(&self, admin: Option<Arc<dyn Admin>>) {
        let mut polls = interval(Duration::from_millis(DEFINITIONS_POLL_MILLIS));
        polls.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut configured = Configured::default();
        loop {
            polls.tick().await;
            // The failure is kept in the copy.
            self.poll().await.ok();
            if let Some(admin) = &admin {
                let missing = configured.missing(&self.copy.read().tables);
                configured.configure(&**admin, missing).await;
            }
        }
    }

    /// Brings the copy up to date.
    ///
    /// # Errors
    /// If the store cannot be read: then the copy stays as it is.
    pub async fn poll(&self) -> Result<(), DefinitionsError> {
        let polled = self.read_changes().await;
        let failure = polled.as_ref().err().map(ToString::to_string);
        let mut copy = self.copy.write();
        match &failure {
            Some(reason) => {
                copy.failed_polls = copy.failed_polls.saturating_add(1);
                if copy.failed_polls == FAILED_POLLS_REPORTED {
                    tracing::error!("{reason}; settings stay as they are");
                }
            }
            None => {
                if copy.failed_polls >= FAILED_POLLS_REPORTED {
                    tracing::info!("the definitions can be read again");
                }
                copy.failed_polls = 0;
            }
        }
        copy.failure = failure;
        polled
    }

    async fn read_changes(&self) -> Result<(), DefinitionsError> {
        let version = self.store.version().await?;
        if self.copy.read().version == Some(version) {
            return Ok(());
        }
        let read = self.store.all_table_settings().await?;
        let functions = self.store.functions().await?;
        let mut copy = self.copy.write();
        let mut tables: BTreeMap<_, _> = read.into_iter().collect();
        // Changes of this process that came while the store was being read.
        for (table, settings) in std::mem::take(&mut copy.tables) {
            let is_older = tables.get(&table).is_none_or(|read| read.version < settings.version);
            if settings.version > version && is_older {
                tables.insert(table, settings);
            }
        }
        copy.tables = tables;
        copy.functions = functions;
        copy.version = Some(version);
        Ok(())
    }

    fn insert(&self, table: &TableName, version: i64, value: &TableSettings) {
        let mut copy = self.copy.write();
        if copy.version.is_some() {
            copy.tables.insert(table.clone(), Versioned { version, value: value.clone() });
        }
    }

    /// Runs a change of a table. After a conflict the copy is brought up to date, so that the next
    /// attempt is based on what the store has.
    async fn change<T>(&self, change: StoreFuture<'_, T>) -> Result<T, DefinitionsError> {
        let changed = change.await;
        if matches!(changed, Err(DefinitionsError::Conflict { .. })) {
            self.poll().await.ok();
        }
        changed
    }
}

impl DefinitionStore for FollowedDefinitions {
    fn version(&self) -> StoreFuture<'_, i64> {
        let version = self.copy.read().version;
        match version {
            Some(version) => Box::pin(async move { Ok(version) }),
            None => self.store.version(),
        }
    }

    fn table_settings<'a>(
        &'a self,
        table: &'a TableName,
    ) -> StoreFuture<'a, Option<Versioned<TableSettings>>> {
        let copied = {
            let copy = self.copy.read();
            copy.version.map(|_| copy.tables.get(table).cloned())
        };
        match copied {
            Some(settings) => Box::pin(async move { Ok(settings) }),
            None => self.store.table_settings(table),
        }
    }

    fn all_table_settings(&self) -> StoreFuture<'_, AllTableSettings> {
        let copied = {
            let copy = self.copy.read();
            copy.version.map(|_| copy.tables.clone())
        };
        match copied {
            Some(tables) => Box::pin(async move { Ok(tables.into_iter().collect()) }),
            None => self.store.all_table_settings(),
        }
    }

    fn add_table_settings<'a>(
        &'a self,
        tables: &'a [(TableName, TableSettings)],
    ) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            self.store.add_table_settings(tables).await?;
            self.poll().await
        })
    }

    fn set_table_settings<'a>(
        &'a self,
        table: &'a TableName,
        based_on: i64,
        settings: &'a TableSettings,
    ) -> StoreFuture<'a, i64> {
        Box::pin(async move {
            let change = self.store.set_table_settings(table, based_on, settings);
            let version = self.change(change).await?;
            self.insert(table, version, settings);
            Ok(version)
        })
    }

    fn remove_table_settings<'a>(
        &'a self,
        table: &'a TableName,
        based_on: Option<i64>,
    ) -> StoreFuture<'a, bool> {
        Box::pin(async move {
            let removed = self.change(self.store.remove_table_settings(table, based_on)).await?;
            self.copy.write().tables.remove(table);
            Ok(removed)
        })
    }

    fn functions(&self) -> StoreFuture<'_, AllFunctions> {
        let copied = {
            let copy = self.copy.read();
            copy.version.map(|_| copy.functions.clone())
        };
        match copied {
            Some(functions) => Box::pin(async move { Ok(functions) }),
            None => self.store.functions(),
        }
    }

    /// The copy has the change when this returns.
    fn set_function<'a>(
        &'a self,
        based_on: Option<i64>,
        definition: &'a FunctionDefinition,
    ) -> StoreFuture<'a, i64> {
        Box::pin(async move {
            let version = self.change(self.store.set_function(based_on, definition)).await?;
            self.poll().await?;
            Ok(version)
        })
    }

    fn remove_function<'a>(&'a self, name: &'a str) -> StoreFuture<'a, bool> {
        Box::pin(async move {
            let removed = self.change(self.store.remove_function(name)).await?;
            self.poll().await?;
            Ok(removed)
        })
    }

    fn record_revocation<'a>(&'a self, revocation: &'a Revocation) -> StoreFuture<'a, Revocation> {
        self.store.record_revocation(revocation)
    }

    fn note_held<'a>(
        &'a self,
        table: &'a TableName,
        batch: &'a BatchId,
        leaf: &'a LeafName,
    ) -> StoreFuture<'a, ()> {
        self.store.note_held(table, batch, leaf)
    }

    fn revocations_of<'a>(
        &'a self,
        leaf: &'a LeafName,
        after: Option<&'a (TableName, BatchId)>,
    ) -> StoreFuture<'a, Vec<Revocation>> {
        self.store.revocations_of(leaf, after)
    }

    fn remove_revocations<'a>(&'a self, revocations: &'a [Revocation]) -> StoreFuture<'a, ()> {
        self.store.remove_revocations(revocations)
    }

    // Documents are not copied: every process shows what the store has.
    fn documents(&self, kind: DocumentKind) -> StoreFuture<'_, AllDocuments> {
        self.store.documents(kind)
    }

    fn document<'a>(
        &'a self,
        kind: DocumentKind,
        name: &'a str,
    ) -> StoreFuture<'a, Option<Versioned<Document>>> {
        self.store.document(kind, name)
    }

    fn set_document<'a>(
        &'a self,
        based_on: Option<i64>,
        document: &'a Document,
    ) -> StoreFuture<'a, i64> {
        self.store.set_document(based_on, document)
    }

    fn remove_document<'a>(
        &'a self,
        kind: DocumentKind,
        name: &'a str,
        based_on: Option<i64>,
    ) -> StoreFuture<'a, bool> {
        self.store.remove_document(kind, name, based_on)
    }

    fn outage(&self) -> Option<String> {
        let copy = self.copy.read();
        let reason = copy.failure.as_ref()?;
        Some(match copy.version {
            Some(_) => format!("{reason}; until then settings of tables cannot be changed"),
            None => format!("{reason}; until then only leaves know the settings of tables"),
        })
    }
}
