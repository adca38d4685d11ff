//! Codec of changes to tables.

use bytes::Bytes;
use hadal_peer::{SinkError, TableChange};
use hadal_types::{BatchId, TableName};
use prost::Message;

use crate::batch::{SMALL_BYTES_MAX, decode_error, encode_error};
use crate::error::{At, DecodeError, required};
use crate::proto::{self, apply_response, table_change};
use crate::size_guard;
use crate::value::{decode_batch_id, decode_settings, decode_table};

/// Encodes a change.
#[must_use]
pub fn encode_change(change: &TableChange) -> Bytes {
    use table_change::Change;
    let revoke = |table: &TableName, batch: &BatchId| proto::Revoke {
        table: table.to_string(),
        batch: batch.to_string(),
    };
    let change = match change {
        TableChange::Drop { table } => Change::Drop(proto::TableName { table: table.to_string() }),
        TableChange::Configure { table, settings } => Change::Configure(proto::Configure {
            table: table.to_string(),
            settings: settings.to_json(),
        }),
        TableChange::CheckRevoke { table, batch } => Change::CheckRevoke(revoke(table, batch)),
        TableChange::Revoke { table, batch } => Change::Revoke(revoke(table, batch)),
        TableChange::AcknowledgeLosses { table } => {
            let table = table.as_ref().map(ToString::to_string);
            Change::AcknowledgeLosses(proto::AcknowledgeLosses { table })
        }
    };
    proto::TableChange { change: Some(change) }.encode_to_vec().into()
}

/// Decodes the output of [`encode_change`].
///
/// # Errors
/// [`DecodeError`] for anything else.
pub fn decode_change(bytes: Bytes) -> Result<TableChange, DecodeError> {
    use table_change::Change;
    let name = |table: &str| decode_table(table).at("table");
    let revoke = |revoke: &proto::Revoke| {
        Ok((name(&revoke.table)?, decode_batch_id(&revoke.batch).at("batch")?))
    };
    size_guard::decode(bytes, SMALL_BYTES_MAX, |change: proto::TableChange| {
        Ok(match required(change.change)? {
            Change::Drop(drop) => TableChange::Drop { table: name(&drop.table).at("drop")? },
            Change::Configure(configure) => {
                let settings = decode_settings(&configure.settings).at("settings");
                let table = name(&configure.table).at("configure")?;
                TableChange::Configure { table, settings: settings.at("configure")? }
            }
            Change::CheckRevoke(check) => {
                let (table, batch) = revoke(&check).at("check_revoke")?;
                TableChange::CheckRevoke { table, batch }
            }
            Change::Revoke(change) => {
                let (table, batch) = revoke(&change).at("revoke")?;
                TableChange::Revoke { table, batch }
            }
            Change::AcknowledgeLosses(losses) => {
                let table = losses.table.as_deref().map(name).transpose();
                TableChange::AcknowledgeLosses { table: table.at("acknowledge_losses")? }
            }
        })
    })
}

/// Encodes the result of a change.
#[must_use]
pub fn encode_applied(applied: &Result<u64, SinkError>) -> Bytes {
    let response = match applied {
        Ok(rows) => apply_response::Response::Rows(*rows),
        Err(error) => apply_response::Response::Error(encode_error(error)),
    };
    proto::ApplyResponse { response: Some(response) }.encode_to_vec().into()
}

/// Decodes the output of [`encode_applied`].
///
/// # Errors
/// [`DecodeError`] for anything else.
pub fn decode_applied(bytes: Bytes) -> Result<Result<u64, SinkError>, DecodeError> {
    size_guard::decode(bytes, SMALL_BYTES_MAX, |response: proto::ApplyResponse| {
        Ok(match required(response.response)? {
            apply_response::Response::Rows(rows) => Ok(rows),
            apply_response::Response::Error(error) => Err(decode_error(error).at("error")?),
        })
    })
}
