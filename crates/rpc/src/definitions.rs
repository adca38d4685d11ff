//! The definitions of another process, and the answers of this one to those that ask for its own.
//!
//! The process that is asked may have the store, or a copy of it that it keeps up to date. Which
//! process that is may change, so it is looked up with each request.

use std::sync::Arc;
use std::time::Duration;

use hadal_definitions::{
    AllDocuments, AllFunctions, AllTableSettings, DefinitionStore, DefinitionsError, Revocation,
    StoreFuture, Versioned,
};
use hadal_types::limits::RPC_CALL_MILLIS;
use hadal_types::{
    BatchId, Document, DocumentKind, FunctionDefinition, LeafName, TableName, TableSettings,
};
use hadal_wire::{
    DefinitionsAnswer, DefinitionsRequest, DocumentsAnswer, DocumentsRequest, RevokedBatch,
    decode_definitions_answer, encode_definitions_request,
};
use tokio::time::timeout;

use crate::call::CallError;
use crate::connection::Connection;
use crate::method::Method;

mod serve;

pub(crate) use serve::ask;

/// How long a process may take to read its definitions.
const READ_TIME: Duration = Duration::from_millis(RPC_CALL_MILLIS);
/// How long it may take for a change: longer than its database may.
const CHANGE_TIME: Duration = Duration::from_secs(7);

/// A process that has the definitions.
#[derive(Clone)]
pub struct DefinitionsMember {
    /// Its name.
    pub name: LeafName,
    /// The connection to it. It should be the same each time, because it stays open.
    pub connection: Arc<Connection>,
}

/// The definitions of another process.
pub struct RemoteDefinitions {
    find: Box<dyn Fn() -> Option<DefinitionsMember> + Send + Sync>,
}

impl RemoteDefinitions {
    /// The definitions of the process that `find` returns; it is called for each request.
    #[must_use]
    pub fn new(find: impl Fn() -> Option<DefinitionsMember> + Send + Sync + 'static) -> Self {
        Self { find: Box::new(find) }
    }

    /// Asks the process, and reads the expected kind of answer.
    async fn ask<T>(
        &self,
        request: DefinitionsRequest,
        time: Duration,
        read: impl FnOnce(DefinitionsAnswer) -> Option<T> + Send,
    ) -> Result<T, DefinitionsError> {
        let DefinitionsMember { name, connection } =
            (self.find)().ok_or(DefinitionsError::NoMember)?;
        let message = encode_definitions_request(&request);
        let away = |reason| DefinitionsError::MemberAway { member: name.clone(), reason };
        let call = connection.call(Method::AskDefinitions, Some((&name).into()), message);
        let reply = match timeout(time, call).await {
            Ok(Ok(reply)) => reply,
            Ok(Err(failure)) => return Err(failed(CallError::from(failure), &name)),
            Err(_) => return Err(away(format!("no answer within {} ms", time.as_millis()))),
        };
        let failed = |reason| DefinitionsError::Member { member: name.clone(), reason };
        match decode_definitions_answer(reply.message) {
            Ok(DefinitionsAnswer::Conflict(current)) => conflict(request, current)
                .ok_or_else(|| failed("a conflict about nothing".to_owned()))
                .and_then(Err),
            Ok(DefinitionsAnswer::Documents(DocumentsAnswer::Full(reason))) => {
                Err(DefinitionsError::DocumentsFull(reason))
            }
            Ok(DefinitionsAnswer::Failed(reason)) => Err(failed(reason)),
            Ok(answer) => {
                read(answer).ok_or_else(|| failed("an answer of another kind".to_owned()))
            }
            Err(error) => Err(failed(error.to_string())),
        }
    }

    async fn change(&self, request: DefinitionsRequest) -> Result<(), DefinitionsError> {
        let done = |answer| matches!(answer, DefinitionsAnswer::Done).then_some(());
        self.ask(request, CHANGE_TIME, done).await
    }
}

/// The error of a call that has no answer.
fn failed(error: CallError, name: &LeafName) -> DefinitionsError {
    let (member, reason) = (name.clone(), error.to_string());
    match error {
        CallError::Unreachable(reason) | CallError::Lost(reason) => {
            DefinitionsError::MemberAway { member, reason }
        }
        CallError::Refused(_) | CallError::Limit(_) | CallError::Failed(_) => {
            DefinitionsError::Member { member, reason }
        }
    }
}

/// The conflict of a change; `None` if the request changes nothing that could be in conflict.
fn conflict(request: DefinitionsRequest, current: i64) -> Option<DefinitionsError> {
    if let DefinitionsRequest::SetFunction { based_on, definition } = request {
        let (name, based_on) = (definition.name, based_on?);
        return Some(DefinitionsError::FunctionConflict { name, current, based_on });
    }
    let document = match &request {
        DefinitionsRequest::Documents(DocumentsRequest::Set { based_on, document }) => {
            Some((document.kind(), document.name().to_owned(), *based_on))
        }
        DefinitionsRequest::Documents(DocumentsRequest::Remove { kind, name, based_on }) => {
            Some((*kind, name.clone(), *based_on))
        }
        _ => None,
    };
    if let Some((kind, name, based_on)) = document {
        let based_on = based_on?;
        return Some(DefinitionsError::DocumentConflict { kind, name, current, based_on });
    }
    let (table, based_on) = match request {
        DefinitionsRequest::SetTableSettings { table, based_on, .. } => (table, based_on),
        DefinitionsRequest::RemoveTableSettings { table, based_on } => (table, based_on?),
        _ => return None,
    };
    Some(DefinitionsError::Conflict { table, current, based_on })
}

impl DefinitionStore for RemoteDefinitions {
    fn version(&self) -> StoreFuture<'_, i64> {
        Box::pin(self.ask(DefinitionsRequest::Version, READ_TIME, |answer| match answer {
            DefinitionsAnswer::Version(version) => Some(version),
            _ => None,
        }))
    }

    fn table_settings<'a>(
        &'a self,
        table: &'a TableName,
    ) -> StoreFuture<'a, Option<Versioned<TableSettings>>> {
        let request = DefinitionsRequest::TableSettings(table.clone());
        Box::pin(self.ask(request, READ_TIME, |answer| match answer {
            DefinitionsAnswer::Settings(settings) => {
                Some(settings.map(|(version, value)| Versioned { version, value }))
            }
            _ => None,
        }))
    }

    fn all_table_settings(&self) -> StoreFuture<'_, AllTableSettings> {
        let request = DefinitionsRequest::AllTableSettings;
        Box::pin(self.ask(request, READ_TIME, |answer| match answer {
            DefinitionsAnswer::AllSettings(tables) => {
                let tables = tables.into_iter();
                Some(
                    tables
                        .map(|(table, version, value)| (table, Versioned { version, value }))
                        .collect(),
                )
            }
            _ => None,
        }))
    }

    fn add_table_settings<'a>(
        &'a self,
        tables: &'a [(TableName, TableSettings)],
    ) -> StoreFuture<'a, ()> {
        Box::pin(self.change(DefinitionsRequest::AddTableSettings(tables.to_vec())))
    }

    fn set_table_settings<'a>(
        &'a self,
        table: &'a TableName,
        based_on: i64,
        settings: &'a TableSettings,
    ) -> StoreFuture<'a, i64> {
        let (table, settings) = (table.clone(), settings.clone());
        let request = DefinitionsRequest::SetTableSettings { table, based_on, settings };
        Box::pin(self.ask(request, CHANGE_TIME, |answer| match answer {
            DefinitionsAnswer::Version(version) => Some(version),
            _ => None,
        }))
    }

    fn remove_table_settings<'a>(
        &'a self,
        table: &'a TableName,
        based_on: Option<i64>,
    ) -> StoreFuture<'a, bool> {
        let request = DefinitionsRequest::RemoveTableSettings { table: table.clone(), based_on };
        Box::pin(self.ask(request, CHANGE_TIME, |answer| match answer {
            DefinitionsAnswer::Removed(removed) => Some(removed),
            _ => None,
        }))
    }

    fn functions(&self) -> StoreFuture<'_, AllFunctions> {
        Box::pin(self.ask(DefinitionsRequest::Functions, READ_TIME, |answer| {
            match answer {
                DefinitionsAnswer::Functions(functions) => Some(
                    functions
                        .into_iter()
                        .map(|(version, value)| Versioned { version, value })
                        .collect(),
                ),
                _ => None,
            }
        }))
    }

    fn set_function<'a>(
        &'a self,
        based_on: Option<i64>,
        definition: &'a FunctionDefinition,
    ) -> StoreFuture<'a, i64> {
        let definition = definition.clone();
        let request = DefinitionsRequest::SetFunction { based_on, definition };
        Box::pin(self.ask(request, CHANGE_TIME, |answer| match answer {
            DefinitionsAnswer::Version(version) => Some(version),
            _ => None,
        }))
    }

    fn remove_function<'a>(&'a self, name: &'a str) -> StoreFuture<'a, bool> {
        let request = DefinitionsRequest::RemoveFunction(name.to_owned());
        Box::pin(self.ask(request, CHANGE_TIME, |answer| match answer {
            DefinitionsAnswer::Removed(removed) => Some(removed),
            _ => None,
        }))
    }

    fn documents(&self, kind: DocumentKind) -> StoreFuture<'_, AllDocuments> {
        let request = DefinitionsRequest::Documents(DocumentsRequest::List(kind));
        Box::pin(self.ask(request, READ_TIME, |answer| match answer {
            DefinitionsAnswer::Documents(DocumentsAnswer::List(_, all)) => {
                let all = all.into_iter();
                Some(all.map(|(version, value)| Versioned { version, value }).collect())
            }
            _ => None,
        }))
    }

    fn document<'a>(
        &'a self,
        kind: DocumentKind,
        name: &'a str,
    ) -> StoreFuture<'a, Option<Versioned<Document>>> {
        let request = DefinitionsRequest::Documents(DocumentsRequest::Get(kind, name.to_owned()));
        Box::pin(self.ask(request, READ_TIME, |answer| match answer {
            DefinitionsAnswer::Documents(DocumentsAnswer::One(one)) => {
                Some(one.map(|(version, value)| Versioned { version, value }))
            }
            _ => None,
        }))
    }

    fn set_document<'a>(
        &'a self,
        based_on: Option<i64>,
        document: &'a Document,
    ) -> StoreFuture<'a, i64> {
        let document = document.clone();
        let request = DocumentsRequest::Set { based_on, document };
        let request = DefinitionsRequest::Documents(request);
        Box::pin(self.ask(request, CHANGE_TIME, |answer| match answer {
            DefinitionsAnswer::Version(version) => Some(version),
            _ => None,
        }))
    }

    fn remove_document<'a>(
        &'a self,
        kind: DocumentKind,
        name: &'a str,
        based_on: Option<i64>,
    ) -> StoreFuture<'a, bool> {
        let request = DocumentsRequest::Remove { kind, name: name.to_owned(), based_on };
        let request = DefinitionsRequest::Documents(request);
        Box::pin(self.ask(request, CHANGE_TIME, |answer| match answer {
            DefinitionsAnswer::Removed(removed) => Some(removed),
            _ => None,
        }))
    }

    fn record_revocation<'a>(&'a self, revocation: &'a Revocation) -> StoreFuture<'a, Revocation> {
        let request = DefinitionsRequest::RecordRevocation(to_wire(revocation));
        Box::pin(self.ask(request, CHANGE_TIME, |answer| match answer {
            DefinitionsAnswer::Recorded(record) => Some(from_wire(record)),
            _ => None,
        }))
    }

    fn note_held<'a>(
        &'a self,
        table: &'a TableName,
        batch: &'a BatchId,
        leaf: &'a LeafName,
    ) -> StoreFuture<'a, ()> {
        let (table, batch, leaf) = (table.clone(), batch.clone(), leaf.clone());
        Box::pin(self.change(DefinitionsRequest::NoteHeld { table, batch, leaf }))
    }

    fn revocations_of<'a>(
        &'a self,
        leaf: &'a LeafName,
        after: Option<&'a (TableName, BatchId)>,
    ) -> StoreFuture<'a, Vec<Revocation>> {
        let (leaf, after) = (leaf.clone(), after.cloned());
        let request = DefinitionsRequest::Revocations { leaf, after };
        Box::pin(self.ask(request, READ_TIME, |answer| match answer {
            DefinitionsAnswer::Revocations(revoked) => {
                Some(revoked.into_iter().map(from_wire).collect())
            }
            _ => None,
        }))
    }

    fn remove_revocations<'a>(&'a self, revocations: &'a [Revocation]) -> StoreFuture<'a, ()> {
        let revoked = revocations.iter().map(to_wire).collect();
        Box::pin(self.change(DefinitionsRequest::RemoveRevocations(revoked)))
    }
}

fn to_wire(revocation: &Revocation) -> RevokedBatch {
    let Revocation { leaf, table, batch, instead, at, is_held } = revocation.clone();
    RevokedBatch { leaf, table, batch, instead, at, is_held }
}

fn from_wire(revoked: RevokedBatch) -> Revocation {
    let RevokedBatch { leaf, table, batch, instead, at, is_held } = revoked;
    Revocation { leaf, table, batch, instead, at, is_held }
}
