//! Codec of batches, their receipts and their lookups.

use bytes::Bytes;
use hadal_peer::{Batch, BatchLookup, ForeignBatch, Receipt, SinkError};
use hadal_types::limits::{BLOCK_BYTES_MAX, BLOCK_ROWS_MAX, MESSAGE_BYTES_MAX, QUERY_BYTES_MAX};
use hadal_types::{BatchId, TableName};
use prost::Message;

use crate::error::{At, DecodeError, at_most, required};
use crate::expr::{decode_index, encode_index};
use crate::proto::{self, accept_response, sink_error};
use crate::size_guard;
use crate::status::{decode_report_message, encode_report_message};
use crate::value::{decode_batch_id, decode_table};

/// The maximum bytes of every message of this file but a batch: names and a few words.
pub(crate) const SMALL_BYTES_MAX: usize = QUERY_BYTES_MAX;

/// Encodes a batch.
#[must_use]
pub fn encode_batch(batch: Batch) -> Bytes {
    encode_foreign(batch.into())
}

/// Encodes a batch with an unverified block.
pub(crate) fn encode_foreign(batch: ForeignBatch) -> Bytes {
    let batch = proto::Batch {
        table: batch.table.to_string(),
        id: batch.id.to_string(),
        content_hash: batch.content_hash,
        rows: encode_index(batch.rows),
        block: batch.block.into(),
        first_try: batch.first_try,
    };
    batch.encode_to_vec().into()
}

/// Decodes the output of [`encode_batch`]. The row block is not examined: [`ForeignBatch::verify`]
/// does that, before a sink takes the batch.
///
/// # Errors
/// [`DecodeError`] for anything else.
pub fn decode_batch(bytes: Bytes) -> Result<ForeignBatch, DecodeError> {
    size_guard::decode(bytes, MESSAGE_BYTES_MAX, |batch: proto::Batch| {
        at_most("bytes", batch.block.len(), BLOCK_BYTES_MAX).at("block")?;
        Ok(ForeignBatch {
            table: decode_table(&batch.table).at("table")?,
            id: decode_batch_id(&batch.id).at("id")?,
            content_hash: batch.content_hash,
            first_try: batch.first_try,
            rows: decode_rows(batch.rows).at("rows")?,
            block: batch.block.into(),
        })
    })
}

/// Encodes the outcome of a batch.
#[must_use]
pub fn encode_accepted(accepted: &Result<Receipt, SinkError>) -> Bytes {
    let response = match accepted {
        Ok(receipt) => accept_response::Response::Receipt(proto::Receipt {
            rows: encode_index(receipt.rows),
            duplicate: receipt.duplicate,
            durable: receipt.durable,
            overflowing: receipt.overflowing,
            report: receipt.report.as_ref().map(encode_report_message),
        }),
        Err(error) => accept_response::Response::Error(encode_error(error)),
    };
    proto::AcceptResponse { response: Some(response) }.encode_to_vec().into()
}

/// Decodes the output of [`encode_accepted`].
///
/// # Errors
/// [`DecodeError`] for anything else.
pub fn decode_accepted(bytes: Bytes) -> Result<Result<Receipt, SinkError>, DecodeError> {
    size_guard::decode(bytes, MESSAGE_BYTES_MAX, |response: proto::AcceptResponse| {
        Ok(match required(response.response)? {
            accept_response::Response::Receipt(receipt) => Ok(Receipt {
                rows: decode_rows(receipt.rows).at("rows")?,
                duplicate: receipt.duplicate,
                durable: receipt.durable,
                overflowing: receipt.overflowing,
                report: receipt.report.map(decode_report_message).transpose().at("report")?,
            }),
            accept_response::Response::Error(error) => Err(decode_error(error).at("error")?),
        })
    })
}

/// Encodes the request to look up a batch.
#[must_use]
pub fn encode_look_up(table: &TableName, id: &BatchId) -> Bytes {
    proto::LookUpRequest { table: table.to_string(), id: id.to_string() }.encode_to_vec().into()
}

/// Decodes the output of [`encode_look_up`].
///
/// # Errors
/// [`DecodeError`] for anything else.
pub fn decode_look_up(bytes: Bytes) -> Result<(TableName, BatchId), DecodeError> {
    size_guard::decode(bytes, SMALL_BYTES_MAX, |request: proto::LookUpRequest| {
        Ok((decode_table(&request.table).at("table")?, decode_batch_id(&request.id).at("id")?))
    })
}

/// Encodes the result of a lookup.
#[must_use]
pub fn encode_lookup(lookup: BatchLookup) -> Bytes {
    let BatchLookup { is_known: known, is_accepted: accepted, is_revoked: revoked, .. } = lookup;
    let BatchLookup { is_refused: refused, takes_batches, free_bytes, .. } = lookup;
    let lookup =
        proto::BatchLookup { known, takes_batches, free_bytes, accepted, revoked, refused };
    lookup.encode_to_vec().into()
}

/// Decodes the output of [`encode_lookup`].
///
/// # Errors
/// [`DecodeError`] for anything else.
pub fn decode_lookup(bytes: Bytes) -> Result<BatchLookup, DecodeError> {
    size_guard::decode(bytes, SMALL_BYTES_MAX, |lookup: proto::BatchLookup| {
        let proto::BatchLookup { known, takes_batches, free_bytes, accepted, revoked, refused } =
            lookup;
        Ok(BatchLookup {
            is_answered: true,
            is_known: known || accepted,
            is_accepted: accepted,
            is_revoked: revoked,
            is_refused: refused && !known && !accepted,
            takes_batches,
            free_bytes,
        })
    })
}

fn decode_rows(rows: u64) -> Result<usize, DecodeError> {
    let rows = decode_index(rows)?;
    at_most("rows", rows, BLOCK_ROWS_MAX).map(|()| rows)
}

pub(crate) fn encode_error(error: &SinkError) -> proto::SinkError {
    let error = match error.clone() {
        SinkError::Conflict { id } => {
            sink_error::Error::Conflict(proto::BatchConflict { id: id.to_string() })
        }
        SinkError::Corrupt { id, table, reason } => {
            let (id, table) = (id.to_string(), table.to_string());
            sink_error::Error::Corrupt(proto::BatchCorrupt { id, table, reason })
        }
        SinkError::Busy(who) => sink_error::Error::Busy(who),
        SinkError::Limit(words) => sink_error::Error::Limit(words),
        SinkError::Full(words) => sink_error::Error::Full(words),
        SinkError::Store(words) => sink_error::Error::Store(words),
        SinkError::Unavailable(who) => sink_error::Error::Unavailable(who),
        SinkError::OutcomeUnknown(who) => sink_error::Error::OutcomeUnknown(who),
    };
    proto::SinkError { error: Some(error) }
}

pub(crate) fn decode_error(error: proto::SinkError) -> Result<SinkError, DecodeError> {
    Ok(match required(error.error)? {
        sink_error::Error::Conflict(conflict) => {
            SinkError::Conflict { id: decode_batch_id(&conflict.id).at("id")? }
        }
        sink_error::Error::Corrupt(corrupt) => SinkError::Corrupt {
            id: decode_batch_id(&corrupt.id).at("id")?,
            table: decode_table(&corrupt.table).at("table")?,
            reason: corrupt.reason,
        },
        sink_error::Error::Busy(who) => SinkError::Busy(who),
        sink_error::Error::Limit(words) => SinkError::Limit(words),
        sink_error::Error::Full(words) => SinkError::Full(words),
        sink_error::Error::Store(words) => SinkError::Store(words),
        sink_error::Error::Unavailable(who) => SinkError::Unavailable(who),
        sink_error::Error::OutcomeUnknown(who) => SinkError::OutcomeUnknown(who),
    })
}
