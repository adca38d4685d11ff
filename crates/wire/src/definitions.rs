//! Codec of what processes ask of the one that has the definitions.

use bytes::Bytes;
use hadal_types::limits::{
    FUNCTION_NAME_BYTES_MAX, FUNCTIONS_MAX, MESSAGE_BYTES_MAX, NOTE_BYTES_MAX, QUERY_BYTES_MAX,
    REVOCATIONS_LISTED_MAX, TABLES_MAX,
};
use hadal_types::{BatchId, FunctionDefinition, LeafName, Micros, TableName, TableSettings};
use prost::Message;

use crate::error::{At, DecodeError, at_most, each, required, unfit};
use crate::frames::{self, Frames};
use crate::proto::{self, definitions_answer, definitions_request};
use crate::size_guard;
use crate::value::{decode_batch_id, decode_leaf_name, decode_settings, decode_table};

mod documents;

pub use documents::{DocumentsAnswer, DocumentsRequest};

/// The settings of a table and their version.
pub type TableSettingsVersion = (TableName, i64, TableSettings);

/// What a process asks of the one that has the definitions.
#[derive(Clone, Debug, PartialEq)]
pub enum DefinitionsRequest {
    /// The last version of any definition.
    Version,
    /// The settings of a table.
    TableSettings(TableName),
    /// The settings of all tables.
    AllTableSettings,
    /// To set the settings of those tables that have none.
    AddTableSettings(Vec<(TableName, TableSettings)>),
    /// To replace the settings of a table.
    SetTableSettings {
        /// The table.
        table: TableName,
        /// The version that is replaced, 0 if there are no settings.
        based_on: i64,
        /// The settings.
        settings: TableSettings,
    },
    /// To remove the settings of a table.
    RemoveTableSettings {
        /// The table.
        table: TableName,
        /// Their version, or `None` for any.
        based_on: Option<i64>,
    },
    /// All user functions.
    Functions,
    /// To define or replace a user function.
    SetFunction {
        /// The version that is replaced, 0 if there is none, or `None` for any.
        based_on: Option<i64>,
        /// The function.
        definition: FunctionDefinition,
    },
    /// To remove the user function of this name.
    RemoveFunction(String),
    /// About dashboards, saved views and frozen answers.
    Documents(DocumentsRequest),
    /// To record that a leaf must not count a batch.
    RecordRevocation(RevokedBatch),
    /// The batches that a leaf must not count.
    Revocations {
        /// The leaf.
        leaf: LeafName,
        /// Only batches later than this one.
        after: Option<(TableName, BatchId)>,
    },
    /// To note that a leaf holds a batch.
    NoteHeld {
        /// The table.
        table: TableName,
        /// The batch.
        batch: BatchId,
        /// The leaf.
        leaf: LeafName,
    },
    /// To remove revocations that were honoured.
    RemoveRevocations(Vec<RevokedBatch>),
}

/// A batch that a leaf must not count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RevokedBatch {
    /// The leaf.
    pub leaf: LeafName,
    /// The table.
    pub table: TableName,
    /// The batch.
    pub batch: BatchId,
    /// The leaf that gets the batch instead.
    pub instead: LeafName,
    /// When it was revoked.
    pub at: Micros,
    /// Whether that leaf holds the batch durably, or held it.
    pub is_held: bool,
}

/// The answer to a [`DefinitionsRequest`].
#[derive(Clone, Debug, PartialEq)]
pub enum DefinitionsAnswer {
    /// The change has been made.
    Done,
    /// The last version, or that of the settings that were set.
    Version(i64),
    /// The settings of a table and their version, if there are any.
    Settings(Option<(i64, TableSettings)>),
    /// The settings of all tables, by name.
    AllSettings(Vec<TableSettingsVersion>),
    /// Whether there were settings to remove.
    Removed(bool),
    /// All user functions and their versions.
    Functions(Vec<(i64, FunctionDefinition)>),
    /// The answer about dashboards, saved views and frozen answers.
    Documents(DocumentsAnswer),
    /// The records of all batches that a leaf must not count.
    Revocations(Vec<RevokedBatch>),
    /// The revocation is recorded: the record that exists now.
    Recorded(RevokedBatch),
    /// Nothing changed, because the settings have this version and not the one that was replaced.
    Conflict(i64),
    /// The definitions cannot be read or changed, in words.
    Failed(String),
}

/// Encodes a request.
#[must_use]
pub fn encode_definitions_request(request: &DefinitionsRequest) -> Bytes {
    use definitions_request::Request;
    let empty = proto::Empty {};
    let request = match request {
        DefinitionsRequest::Version => Request::Version(empty),
        DefinitionsRequest::TableSettings(table) => {
            Request::TableSettings(proto::TableName { table: table.to_string() })
        }
        DefinitionsRequest::AllTableSettings => Request::AllTableSettings(empty),
        DefinitionsRequest::AddTableSettings(tables) => {
            let tables = tables.iter().map(|(table, settings)| proto::Configure {
                table: table.to_string(),
                settings: settings.to_json(),
            });
            Request::AddTableSettings(proto::AddTableSettings { tables: tables.collect() })
        }
        DefinitionsRequest::SetTableSettings { table, based_on, settings } => {
            Request::SetTableSettings(proto::SetTableSettings {
                table: table.to_string(),
                based_on: *based_on,
                settings: settings.to_json(),
            })
        }
        DefinitionsRequest::RemoveTableSettings { table, based_on } => {
            let (table, based_on) = (table.to_string(), *based_on);
            Request::RemoveTableSettings(proto::RemoveTableSettings { table, based_on })
        }
        DefinitionsRequest::Functions => Request::Functions(empty),
        DefinitionsRequest::SetFunction { based_on, definition } => {
            let (based_on, definition) = (*based_on, definition.to_json());
            Request::SetFunction(proto::SetFunction { based_on, definition })
        }
        DefinitionsRequest::RemoveFunction(name) => Request::RemoveFunction(name.clone()),
        DefinitionsRequest::Documents(request) => documents::encode_request(request),
        DefinitionsRequest::RecordRevocation(revocation) => {
            Request::RecordRevocation(encode_revocation(revocation))
        }
        DefinitionsRequest::Revocations { leaf, after } => {
            let key = |(table, batch): &(TableName, BatchId)| proto::BatchKey {
                table: table.to_string(),
                batch: batch.to_string(),
            };
            let (leaf, after) = (leaf.to_string(), after.as_ref().map(key));
            Request::Revocations(proto::RevocationsRequest { leaf, after })
        }
        DefinitionsRequest::NoteHeld { table, batch, leaf } => Request::NoteHeld(proto::NoteHeld {
            table: table.to_string(),
            batch: batch.to_string(),
            leaf: leaf.to_string(),
        }),
        DefinitionsRequest::RemoveRevocations(revocations) => {
            Request::RemoveRevocations(encode_revocations(revocations))
        }
    };
    proto::DefinitionsRequest { request: Some(request) }.encode_to_vec().into()
}

/// Decodes the output of [`encode_definitions_request`].
///
/// # Errors
/// [`DecodeError`] for anything else.
pub fn decode_definitions_request(bytes: Bytes) -> Result<DefinitionsRequest, DecodeError> {
    use definitions_request::Request;
    size_guard::decode(bytes, QUERY_BYTES_MAX, |request: proto::DefinitionsRequest| {
        Ok(match required(request.request)? {
            Request::Version(_) => DefinitionsRequest::Version,
            Request::TableSettings(name) => {
                DefinitionsRequest::TableSettings(decode_table(&name.table).at("table_settings")?)
            }
            Request::AllTableSettings(_) => DefinitionsRequest::AllTableSettings,
            Request::AddTableSettings(add) => {
                at_most("tables", add.tables.len(), TABLES_MAX).at("add_table_settings")?;
                let tables = each("tables", add.tables, |table| {
                    let settings = decode_settings(&table.settings).at("settings")?;
                    Ok((decode_table(&table.table).at("table")?, settings))
                });
                DefinitionsRequest::AddTableSettings(tables.at("add_table_settings")?)
            }
            Request::SetTableSettings(set) => DefinitionsRequest::SetTableSettings {
                table: decode_table(&set.table).at("table").at("set_table_settings")?,
                based_on: set.based_on,
                settings: decode_settings(&set.settings).at("settings").at("set_table_settings")?,
            },
            Request::RemoveTableSettings(remove) => DefinitionsRequest::RemoveTableSettings {
                table: decode_table(&remove.table).at("table").at("remove_table_settings")?,
                based_on: remove.based_on,
            },
            Request::Functions(_) => DefinitionsRequest::Functions,
            Request::SetFunction(set) => DefinitionsRequest::SetFunction {
                based_on: set.based_on,
                definition: decode_function(&set.definition).at("definition").at("set_function")?,
            },
            Request::RemoveFunction(name) => {
                at_most("bytes", name.len(), FUNCTION_NAME_BYTES_MAX).at("remove_function")?;
                DefinitionsRequest::RemoveFunction(name)
            }
            request @ (Request::Documents(_)
            | Request::Document(_)
            | Request::SetDocument(_)
            | Request::RemoveDocument(_)) => {
                DefinitionsRequest::Documents(documents::decode_request(request)?)
            }
            Request::RecordRevocation(revocation) => DefinitionsRequest::RecordRevocation(
                decode_revocation(revocation).at("record_revocation")?,
            ),
            Request::Revocations(request) => {
                decode_revocations_request(request).at("revocations")?
            }
            Request::NoteHeld(held) => DefinitionsRequest::NoteHeld {
                table: decode_table(&held.table).at("table").at("note_held")?,
                batch: decode_batch_id(&held.batch).at("batch").at("note_held")?,
                leaf: decode_leaf_name(held.leaf).at("leaf").at("note_held")?,
            },
            Request::RemoveRevocations(revocations) => DefinitionsRequest::RemoveRevocations(
                decode_revocations(revocations).at("remove_revocations")?,
            ),
        })
    })
}

/// Encodes an answer.
#[must_use]
pub fn encode_definitions_answer(answer: &DefinitionsAnswer) -> Bytes {
    use definitions_answer::Answer;
    let answer = match answer {
        DefinitionsAnswer::Done => Answer::Done(proto::Empty {}),
        DefinitionsAnswer::Version(version) => Answer::Version(*version),
        DefinitionsAnswer::Settings(None) => Answer::NoSettings(proto::Empty {}),
        DefinitionsAnswer::Settings(Some((version, settings))) => {
            let settings = settings.to_json();
            Answer::Settings(proto::VersionedSettings { version: *version, settings })
        }
        DefinitionsAnswer::AllSettings(tables) => {
            let tables = tables.iter().map(|(table, version, settings)| {
                let (table, settings) = (table.to_string(), settings.to_json());
                proto::VersionedTable { table, version: *version, settings }
            });
            Answer::AllSettings(frames::encode(tables))
        }
        DefinitionsAnswer::Removed(removed) => Answer::Removed(*removed),
        DefinitionsAnswer::Functions(functions) => {
            let functions = functions.iter().map(|(version, definition)| {
                let (version, definition) = (*version, definition.to_json());
                proto::VersionedFunction { version, definition }
            });
            Answer::Functions(frames::encode(functions))
        }
        DefinitionsAnswer::Documents(answer) => documents::encode_answer(answer),
        DefinitionsAnswer::Revocations(revocations) => {
            Answer::Revocations(encode_revocations(revocations))
        }
        DefinitionsAnswer::Recorded(record) => Answer::Recorded(encode_revocation(record)),
        DefinitionsAnswer::Conflict(current) => Answer::Conflict(*current),
        DefinitionsAnswer::Failed(reason) => {
            let end = reason.floor_char_boundary(NOTE_BYTES_MAX);
            Answer::Failed(reason[..end].to_owned())
        }
    };
    proto::DefinitionsAnswer { answer: Some(answer) }.encode_to_vec().into()
}

/// Decodes the output of [`encode_definitions_answer`].
///
/// # Errors
/// [`DecodeError`] for anything else.
pub fn decode_definitions_answer(bytes: Bytes) -> Result<DefinitionsAnswer, DecodeError> {
    use definitions_answer::Answer;
    size_guard::decode(bytes, MESSAGE_BYTES_MAX, |answer: proto::DefinitionsAnswer| {
        Ok(match required(answer.answer)? {
            Answer::Done(_) => DefinitionsAnswer::Done,
            Answer::Version(version) => DefinitionsAnswer::Version(version),
            Answer::NoSettings(_) => DefinitionsAnswer::Settings(None),
            Answer::Settings(found) => {
                let settings = decode_settings(&found.settings).at("settings").at("settings")?;
                DefinitionsAnswer::Settings(Some((found.version, settings)))
            }
            Answer::AllSettings(tables) => {
                DefinitionsAnswer::AllSettings(decode_all(tables).at("all_settings")?)
            }
            Answer::Removed(removed) => DefinitionsAnswer::Removed(removed),
            Answer::Functions(functions) => {
                DefinitionsAnswer::Functions(decode_functions(functions).at("functions")?)
            }
            answer @ (Answer::Documents(_)
            | Answer::Document(_)
            | Answer::NoDocument(_)
            | Answer::DocumentsFull(_)) => {
                DefinitionsAnswer::Documents(documents::decode_answer(answer)?)
            }
            Answer::Revocations(revocations) => {
                DefinitionsAnswer::Revocations(decode_revocations(revocations).at("revocations")?)
            }
            Answer::Recorded(record) => {
                DefinitionsAnswer::Recorded(decode_revocation(record).at("recorded")?)
            }
            Answer::Conflict(current) => DefinitionsAnswer::Conflict(current),
            Answer::Failed(reason) => {
                at_most("bytes", reason.len(), NOTE_BYTES_MAX).at("failed")?;
                DefinitionsAnswer::Failed(reason)
            }
        })
    })
}

/// Decodes the settings of all tables, which ascend by name.
fn decode_all(tables: Bytes) -> Result<Vec<TableSettingsVersion>, DecodeError> {
    let mut all: Vec<TableSettingsVersion> = Vec::new();
    for (index, table) in Frames::<proto::VersionedTable>::new(tables).enumerate() {
        let decode = || {
            let table = table?;
            at_most("tables", index + 1, TABLES_MAX)?;
            let name = decode_table(&table.table).at("table")?;
            if all.last().is_some_and(|(last, ..)| *last >= name) {
                return Err(unfit(name, "a later name"));
            }
            Ok((name, table.version, decode_settings(&table.settings).at("settings")?))
        };
        let table: Result<_, DecodeError> = decode();
        all.push(table.at_index("tables", index)?);
    }
    Ok(all)
}

/// Decodes user functions.
fn decode_functions(functions: Bytes) -> Result<Vec<(i64, FunctionDefinition)>, DecodeError> {
    let mut all = Vec::new();
    for (index, function) in Frames::<proto::VersionedFunction>::new(functions).enumerate() {
        let decode = || {
            let function = function?;
            at_most("functions", index + 1, FUNCTIONS_MAX)?;
            Ok((function.version, decode_function(&function.definition).at("definition")?))
        };
        let function: Result<_, DecodeError> = decode();
        all.push(function.at_index("functions", index)?);
    }
    Ok(all)
}

fn decode_function(text: &str) -> Result<FunctionDefinition, DecodeError> {
    FunctionDefinition::from_json(text).map_err(|error| unfit(error, "a definition"))
}

fn encode_revocation(revocation: &RevokedBatch) -> proto::RevokedBatch {
    let RevokedBatch { leaf, table, batch, instead, at, is_held } = revocation;
    proto::RevokedBatch {
        leaf: leaf.to_string(),
        table: table.to_string(),
        batch: batch.to_string(),
        at_micros: at.0,
        instead: instead.to_string(),
        held: *is_held,
    }
}

fn decode_revocations_request(
    request: proto::RevocationsRequest,
) -> Result<DefinitionsRequest, DecodeError> {
    let key = |key: proto::BatchKey| {
        let table = decode_table(&key.table).at("table")?;
        Ok((table, decode_batch_id(&key.batch).at("batch")?))
    };
    let after: Result<_, DecodeError> = request.after.map(key).transpose();
    let leaf = decode_leaf_name(request.leaf).at("leaf")?;
    Ok(DefinitionsRequest::Revocations { leaf, after: after.at("after")? })
}

fn decode_revocation(revocation: proto::RevokedBatch) -> Result<RevokedBatch, DecodeError> {
    Ok(RevokedBatch {
        leaf: decode_leaf_name(revocation.leaf).at("leaf")?,
        table: decode_table(&revocation.table).at("table")?,
        batch: decode_batch_id(&revocation.batch).at("batch")?,
        instead: decode_leaf_name(revocation.instead).at("instead")?,
        at: Micros(revocation.at_micros),
        is_held: revocation.held,
    })
}

fn encode_revocations(revocations: &[RevokedBatch]) -> proto::RevokedBatches {
    proto::RevokedBatches { batches: revocations.iter().map(encode_revocation).collect() }
}

fn decode_revocations(
    revocations: proto::RevokedBatches,
) -> Result<Vec<RevokedBatch>, DecodeError> {
    at_most("batches", revocations.batches.len(), REVOCATIONS_LISTED_MAX)?;
    each("batches", revocations.batches, decode_revocation)
}

#[cfg(test)]
mod tests;
