//! What a process asks of a store of definitions, wherever it is.

use std::time::Duration;

use hadal_peer::BoxFuture;
use hadal_types::{
    BatchId, Document, DocumentKind, DocumentSummary, FunctionDefinition, LeafName, TableName,
    TableSettings,
};

use crate::definitions::Definitions;
use crate::error::DefinitionsError;
use crate::revocations::Revocation;
use crate::table_settings::Versioned;

/// How long a shared database may take for a request.
const TIME: Duration = Duration::from_secs(5);
/// How long it may take more for each table of several.
const TIME_PER_TABLE: Duration = Duration::from_millis(10);

/// The settings of all tables, by name.
pub type AllTableSettings = Vec<(TableName, Versioned<TableSettings>)>;

/// All user functions, by name.
pub type AllFunctions = Vec<Versioned<FunctionDefinition>>;

/// Summaries of all documents of a kind, by name.
pub type AllDocuments = Vec<Versioned<DocumentSummary>>;

/// The result of a request to a store.
pub type StoreFuture<'a, T> = BoxFuture<'a, Result<T, DefinitionsError>>;

/// A store of definitions: a database ([`Definitions`]), a copy of another store
/// ([`FollowedDefinitions`](crate::FollowedDefinitions)), or another process's.
///
/// Every request fails if the store cannot be reached. A change that fails may have been made
/// nevertheless.
pub trait DefinitionStore: Send + Sync {
    /// The last version of any definition. It is cheap to ask, and it differs after every change of
    /// a table's settings.
    fn version(&self) -> StoreFuture<'_, i64>;

    /// The settings of a table; `None` if nobody set any.
    fn table_settings<'a>(
        &'a self,
        table: &'a TableName,
    ) -> StoreFuture<'a, Option<Versioned<TableSettings>>>;

    /// The settings of all tables, by name.
    fn all_table_settings(&self) -> StoreFuture<'_, AllTableSettings>;

    /// Sets the settings of tables that have none, all at once; other tables keep theirs.
    fn add_table_settings<'a>(
        &'a self,
        tables: &'a [(TableName, TableSettings)],
    ) -> StoreFuture<'a, ()>;

    /// Replaces the settings of a table; returns their new version. `based_on` is the version that
    /// they replace, 0 if there are none. Fails with [`DefinitionsError::Conflict`] if the settings
    /// have another version: then nothing changed.
    fn set_table_settings<'a>(
        &'a self,
        table: &'a TableName,
        based_on: i64,
        settings: &'a TableSettings,
    ) -> StoreFuture<'a, i64>;

    /// Removes the settings of a table; returns whether there were any. `based_on` is their
    /// version, or `None` for any version. Fails with [`DefinitionsError::Conflict`] if the
    /// settings have another version: then nothing changed.
    fn remove_table_settings<'a>(
        &'a self,
        table: &'a TableName,
        based_on: Option<i64>,
    ) -> StoreFuture<'a, bool>;

    /// Records that a leaf must not count a batch that it may hold, because the batch goes to
    /// another leaf. If that is recorded, the record stays. Returns the record that exists now. If
    /// the batch is revoked at the leaf that gets it, too, and so on, the rest of the returned
    /// record is that of the last one: it says where the batch went in the end.
    fn record_revocation<'a>(&'a self, revocation: &'a Revocation) -> StoreFuture<'a, Revocation>;

    /// Notes in all records of a batch that name this leaf as the one that gets it that it holds
    /// the batch durably.
    fn note_held<'a>(
        &'a self,
        table: &'a TableName,
        batch: &'a BatchId,
        leaf: &'a LeafName,
    ) -> StoreFuture<'a, ()>;

    /// The records of the batches that a leaf must not count, with those of other leaves: all
    /// records of one batch follow each other. At most
    /// [`REVOCATIONS_LISTED_MAX`](hadal_types::limits::REVOCATIONS_LISTED_MAX); the next ones are
    /// those `after` the last of these batches, until there are none.
    fn revocations_of<'a>(
        &'a self,
        leaf: &'a LeafName,
        after: Option<&'a (TableName, BatchId)>,
    ) -> StoreFuture<'a, Vec<Revocation>>;

    /// Removes revocations that their leaf has honoured, all at once. Those that are not there are
    /// left out.
    fn remove_revocations<'a>(&'a self, revocations: &'a [Revocation]) -> StoreFuture<'a, ()>;

    /// All user functions, by name.
    fn functions(&self) -> StoreFuture<'_, AllFunctions> {
        Box::pin(async { Ok(Vec::new()) })
    }

    /// Defines a function, or replaces it; returns its new version. `based_on` is the version that
    /// it replaces, 0 if there is none, or `None` for any. Fails with
    /// [`DefinitionsError::FunctionConflict`] if the function has another version: then nothing
    /// changed.
    fn set_function<'a>(
        &'a self,
        based_on: Option<i64>,
        definition: &'a FunctionDefinition,
    ) -> StoreFuture<'a, i64> {
        let _ = (based_on, definition);
        Box::pin(async { Err(keeps_none("functions")) })
    }

    /// Removes a function; returns whether there was one.
    fn remove_function<'a>(&'a self, name: &'a str) -> StoreFuture<'a, bool> {
        let _ = name;
        Box::pin(async { Err(keeps_none("functions")) })
    }

    /// Summaries of all documents of a kind, by name.
    fn documents(&self, kind: DocumentKind) -> StoreFuture<'_, AllDocuments> {
        let _ = kind;
        Box::pin(async { Ok(Vec::new()) })
    }

    /// The document of this kind and name; `None` if there is none.
    fn document<'a>(
        &'a self,
        kind: DocumentKind,
        name: &'a str,
    ) -> StoreFuture<'a, Option<Versioned<Document>>> {
        let _ = (kind, name);
        Box::pin(async { Ok(None) })
    }

    /// Stores a document, or replaces it; returns its new version. `based_on` is the version that
    /// it replaces, 0 if there is none, or `None` for any. Fails with
    /// [`DefinitionsError::DocumentConflict`] if the document has another version, and with
    /// [`DefinitionsError::DocumentsFull`]: then nothing changed.
    fn set_document<'a>(
        &'a self,
        based_on: Option<i64>,
        document: &'a Document,
    ) -> StoreFuture<'a, i64> {
        let _ = (based_on, document);
        Box::pin(async { Err(keeps_none("documents")) })
    }

    /// Removes a document; returns whether there was one. `based_on` is its version, or `None` for
    /// any. Fails with [`DefinitionsError::DocumentConflict`] if the document has another version:
    /// then nothing changed.
    fn remove_document<'a>(
        &'a self,
        kind: DocumentKind,
        name: &'a str,
        based_on: Option<i64>,
    ) -> StoreFuture<'a, bool> {
        let _ = (kind, name, based_on);
        Box::pin(async { Err(keeps_none("documents")) })
    }

    /// Why the definitions may be out of date and cannot be changed, in a sentence; `None` while
    /// all is well. It asks nobody.
    fn outage(&self) -> Option<String> {
        None
    }
}

/// The error of a store that keeps none of these.
fn keeps_none(what: &str) -> DefinitionsError {
    let (location, reason) = ("this store".to_owned(), format!("it keeps no {what}"));
    DefinitionsError::Database { action: "change", location, reason }
}

impl DefinitionStore for Definitions {
    fn functions(&self) -> StoreFuture<'_, AllFunctions> {
        Box::pin(self.within("read", TIME, Self::functions(self)))
    }

    fn set_function<'a>(
        &'a self,
        based_on: Option<i64>,
        definition: &'a FunctionDefinition,
    ) -> StoreFuture<'a, i64> {
        Box::pin(self.within("change", TIME, Self::set_function(self, based_on, definition)))
    }

    fn remove_function<'a>(&'a self, name: &'a str) -> StoreFuture<'a, bool> {
        Box::pin(self.within("change", TIME, Self::remove_function(self, name)))
    }

    fn documents(&self, kind: DocumentKind) -> StoreFuture<'_, AllDocuments> {
        Box::pin(self.within("read", TIME, Self::documents(self, kind)))
    }

    fn document<'a>(
        &'a self,
        kind: DocumentKind,
        name: &'a str,
    ) -> StoreFuture<'a, Option<Versioned<Document>>> {
        Box::pin(self.within("read", TIME, Self::document(self, kind, name)))
    }

    fn set_document<'a>(
        &'a self,
        based_on: Option<i64>,
        document: &'a Document,
    ) -> StoreFuture<'a, i64> {
        Box::pin(self.within("change", TIME, Self::set_document(self, based_on, document)))
    }

    fn remove_document<'a>(
        &'a self,
        kind: DocumentKind,
        name: &'a str,
        based_on: Option<i64>,
    ) -> StoreFuture<'a, bool> {
        Box::pin(self.within("change", TIME, Self::remove_document(self, kind, name, based_on)))
    }

    fn version(&self) -> StoreFuture<'_, i64> {
        Box::pin(self.within("read", TIME, Self::version(self)))
    }

    fn table_settings<'a>(
        &'a self,
        table: &'a TableName,
    ) -> StoreFuture<'a, Option<Versioned<TableSettings>>> {
        Box::pin(self.within("read", TIME, Self::table_settings(self, table)))
    }

    fn all_table_settings(&self) -> StoreFuture<'_, AllTableSettings> {
        Box::pin(self.within("read", TIME, Self::all_table_settings(self)))
    }

    fn add_table_settings<'a>(
        &'a self,
        tables: &'a [(TableName, TableSettings)],
    ) -> StoreFuture<'a, ()> {
        let tables_count = u32::try_from(tables.len()).unwrap_or(u32::MAX);
        let time = TIME + TIME_PER_TABLE * tables_count;
        Box::pin(self.within("change", time, Self::add_table_settings(self, tables)))
    }

    fn set_table_settings<'a>(
        &'a self,
        table: &'a TableName,
        based_on: i64,
        settings: &'a TableSettings,
    ) -> StoreFuture<'a, i64> {
        Box::pin(self.within(
            "change",
            TIME,
            Self::set_table_settings(self, table, based_on, settings),
        ))
    }

    fn remove_table_settings<'a>(
        &'a self,
        table: &'a TableName,
        based_on: Option<i64>,
    ) -> StoreFuture<'a, bool> {
        Box::pin(self.within("change", TIME, Self::remove_table_settings(self, table, based_on)))
    }

    fn record_revocation<'a>(&'a self, revocation: &'a Revocation) -> StoreFuture<'a, Revocation> {
        Box::pin(self.within("change", TIME, Self::record_revocation(self, revocation)))
    }

    fn note_held<'a>(
        &'a self,
        table: &'a TableName,
        batch: &'a BatchId,
        leaf: &'a LeafName,
    ) -> StoreFuture<'a, ()> {
        Box::pin(self.within("change", TIME, Self::note_held(self, table, batch, leaf)))
    }

    fn revocations_of<'a>(
        &'a self,
        leaf: &'a LeafName,
        after: Option<&'a (TableName, BatchId)>,
    ) -> StoreFuture<'a, Vec<Revocation>> {
        Box::pin(self.within("read", TIME, Self::revocations_of(self, leaf, after)))
    }

    fn remove_revocations<'a>(&'a self, revocations: &'a [Revocation]) -> StoreFuture<'a, ()> {
        Box::pin(self.within("change", TIME, Self::remove_revocations(self, revocations)))
    }
}
