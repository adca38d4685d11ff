//! Answers those that ask this process for its definitions.

use hadal_definitions::{DefinitionStore, DefinitionsError};
use hadal_wire::{DefinitionsAnswer, DefinitionsRequest, DocumentsAnswer, DocumentsRequest};

use super::{from_wire, to_wire};

/// Answers a request from `store`. Errors become answers.
pub(crate) async fn ask(
    store: &dyn DefinitionStore,
    request: DefinitionsRequest,
) -> DefinitionsAnswer {
    match answer(store, request).await {
        Ok(answer) => answer,
        Err(
            DefinitionsError::Conflict { current, .. }
            | DefinitionsError::FunctionConflict { current, .. }
            | DefinitionsError::DocumentConflict { current, .. },
        ) => DefinitionsAnswer::Conflict(current),
        Err(DefinitionsError::DocumentsFull(reason)) => {
            DefinitionsAnswer::Documents(DocumentsAnswer::Full(reason))
        }
        Err(error) => DefinitionsAnswer::Failed(error.to_string()),
    }
}

async fn answer(
    store: &dyn DefinitionStore,
    request: DefinitionsRequest,
) -> Result<DefinitionsAnswer, DefinitionsError> {
    Ok(match request {
        DefinitionsRequest::Version => DefinitionsAnswer::Version(store.version().await?),
        DefinitionsRequest::TableSettings(table) => {
            let settings = store.table_settings(&table).await?;
            DefinitionsAnswer::Settings(settings.map(|settings| (settings.version, settings.value)))
        }
        DefinitionsRequest::AllTableSettings => {
            let all = store.all_table_settings().await?.into_iter();
            let all = all.map(|(table, settings)| (table, settings.version, settings.value));
            DefinitionsAnswer::AllSettings(all.collect())
        }
        DefinitionsRequest::AddTableSettings(tables) => {
            store.add_table_settings(&tables).await?;
            DefinitionsAnswer::Done
        }
        DefinitionsRequest::SetTableSettings { table, based_on, settings } => {
            let version = store.set_table_settings(&table, based_on, &settings).await?;
            DefinitionsAnswer::Version(version)
        }
        DefinitionsRequest::RemoveTableSettings { table, based_on } => {
            DefinitionsAnswer::Removed(store.remove_table_settings(&table, based_on).await?)
        }
        DefinitionsRequest::Functions => {
            let all = store.functions().await?.into_iter();
            DefinitionsAnswer::Functions(all.map(|one| (one.version, one.value)).collect())
        }
        DefinitionsRequest::SetFunction { based_on, definition } => {
            DefinitionsAnswer::Version(store.set_function(based_on, &definition).await?)
        }
        DefinitionsRequest::RemoveFunction(name) => {
            DefinitionsAnswer::Removed(store.remove_function(&name).await?)
        }
        DefinitionsRequest::Documents(request) => documents(store, request).await?,
        DefinitionsRequest::RecordRevocation(revoked) => {
            let record = store.record_revocation(&from_wire(revoked)).await?;
            DefinitionsAnswer::Recorded(to_wire(&record))
        }
        DefinitionsRequest::NoteHeld { table, batch, leaf } => {
            store.note_held(&table, &batch, &leaf).await?;
            DefinitionsAnswer::Done
        }
        DefinitionsRequest::Revocations { leaf, after } => {
            let revocations = store.revocations_of(&leaf, after.as_ref()).await?;
            DefinitionsAnswer::Revocations(revocations.iter().map(to_wire).collect())
        }
        DefinitionsRequest::RemoveRevocations(revoked) => {
            let revocations: Vec<_> = revoked.into_iter().map(from_wire).collect();
            store.remove_revocations(&revocations).await?;
            DefinitionsAnswer::Done
        }
    })
}

async fn documents(
    store: &dyn DefinitionStore,
    request: DocumentsRequest,
) -> Result<DefinitionsAnswer, DefinitionsError> {
    Ok(match request {
        DocumentsRequest::List(kind) => {
            let all = store.documents(kind).await?.into_iter();
            let all = all.map(|one| (one.version, one.value)).collect();
            DefinitionsAnswer::Documents(DocumentsAnswer::List(kind, all))
        }
        DocumentsRequest::Get(kind, name) => {
            let one = store.document(kind, &name).await?.map(|one| (one.version, one.value));
            DefinitionsAnswer::Documents(DocumentsAnswer::One(one))
        }
        DocumentsRequest::Set { based_on, document } => {
            DefinitionsAnswer::Version(store.set_document(based_on, &document).await?)
        }
        DocumentsRequest::Remove { kind, name, based_on } => {
            DefinitionsAnswer::Removed(store.remove_document(kind, &name, based_on).await?)
        }
    })
}
