//! Codec of the status of leaves.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use hadal_peer::{
    ExpiryForecast, LeafLoss, LeafStatus, MemberState, PeerStatus, StatusScope, TableReport,
    TableStatus,
};
use hadal_types::limits::{
    LEAF_LOSSES_MAX, LEAVES_MAX, MESSAGE_BYTES_MAX, NOTE_BYTES_MAX, TABLES_MAX,
};
use hadal_types::{
    ColumnPart, ColumnSchema, LeafState, Micros, TableName, TableSchema, TableSettings,
};
use prost::Message;

use crate::codes::Code;
use crate::error::{At, DecodeError, at_most, each, required, unfit};
use crate::frames::{self, Frames};
use crate::proto::{self, status_request};
use crate::size_guard;
use crate::value::{decode_column, decode_leaf_name, decode_settings, decode_table};

/// Encodes the request for a status.
#[must_use]
pub fn encode_scope(scope: &StatusScope) -> Bytes {
    let scope = match scope {
        StatusScope::All => status_request::Scope::All(proto::Empty {}),
        StatusScope::Tables(tables) => {
            let names = tables.iter().map(ToString::to_string).collect();
            status_request::Scope::Tables(proto::TableNames { names })
        }
        StatusScope::Leaves => status_request::Scope::Leaves(proto::Empty {}),
    };
    proto::StatusRequest { scope: Some(scope) }.encode_to_vec().into()
}

/// Decodes the output of [`encode_scope`].
///
/// # Errors
/// [`DecodeError`] for anything else.
pub fn decode_scope(bytes: Bytes) -> Result<StatusScope, DecodeError> {
    size_guard::decode(bytes, MESSAGE_BYTES_MAX, |request: proto::StatusRequest| {
        Ok(match required(request.scope)? {
            status_request::Scope::All(_) => StatusScope::All,
            status_request::Scope::Tables(tables) => {
                at_most("names", tables.names.len(), TABLES_MAX).at("tables")?;
                let names = each("names", tables.names, |name| decode_table(&name));
                StatusScope::Tables(names.at("tables")?)
            }
            status_request::Scope::Leaves(_) => StatusScope::Leaves,
        })
    })
}

/// Encodes a status.
#[must_use]
pub fn encode_status(status: &PeerStatus) -> Bytes {
    let leaves = status.leaves.iter().map(encode_leaf).collect();
    proto::Status { leaves }.encode_to_vec().into()
}

/// Decodes the output of [`encode_status`].
///
/// # Errors
/// [`DecodeError`] for anything else.
pub fn decode_status(bytes: Bytes) -> Result<PeerStatus, DecodeError> {
    size_guard::decode(bytes, MESSAGE_BYTES_MAX, decode_peer)
}

/// Encodes a report.
#[must_use]
pub fn encode_report(report: &TableReport) -> Bytes {
    encode_report_message(report).encode_to_vec().into()
}

/// Decodes the output of [`encode_report`].
///
/// # Errors
/// [`DecodeError`] for anything else.
pub fn decode_report(bytes: Bytes) -> Result<TableReport, DecodeError> {
    size_guard::decode(bytes, MESSAGE_BYTES_MAX, decode_report_message)
}

pub(crate) fn encode_report_message(report: &TableReport) -> proto::TableReport {
    proto::TableReport {
        leaf: report.leaf.to_string(),
        table: report.table.to_string(),
        version: report.version,
        status: report.status.as_deref().map(encode_table),
        started_micros: report.started,
        recovered_rows: report.recovered_rows,
        accepted_rows: report.accepted_rows,
    }
}

pub(crate) fn decode_report_message(
    report: proto::TableReport,
) -> Result<TableReport, DecodeError> {
    let table = decode_table(&report.table).at("table")?;
    let status = report.status.map(decode_table_status).transpose().at("status")?;
    if let Some(status) = &status
        && status.schema.name != table
    {
        return Err(unfit(&status.schema.name, format!("table {table}"))).at("status");
    }
    Ok(TableReport {
        leaf: decode_leaf_name(report.leaf).at("leaf")?,
        table,
        started: report.started_micros,
        version: report.version,
        recovered_rows: report.recovered_rows,
        accepted_rows: report.accepted_rows,
        status: status.map(Arc::new),
    })
}

fn decode_peer(status: proto::Status) -> Result<PeerStatus, DecodeError> {
    at_most("leaves", status.leaves.len(), LEAVES_MAX)?;
    let leaves = each("leaves", status.leaves, decode_leaf)?;
    if !leaves.is_sorted_by(|left, right| left.name <= right.name) {
        return Err(unfit("leaves out of order", "ascending names"));
    }
    Ok(PeerStatus { leaves })
}

fn encode_leaf(leaf: &LeafStatus) -> proto::LeafStatus {
    proto::LeafStatus {
        name: leaf.name.to_string(),
        state: match leaf.state {
            MemberState::Announced(state) => state.code(),
            MemberState::Silent => proto::LeafState::Unspecified.into(),
        },
        block_bytes: leaf.block_bytes,
        tables: frames::encode(leaf.tables.values().map(|table| encode_table(table))),
        losses: leaf.losses.iter().map(encode_loss).collect(),
    }
}

fn decode_leaf(leaf: proto::LeafStatus) -> Result<LeafStatus, DecodeError> {
    at_most("losses", leaf.losses.len(), LEAF_LOSSES_MAX)?;
    let mut tables: BTreeMap<TableName, Arc<TableStatus>> = BTreeMap::new();
    for (index, table) in Frames::new(leaf.tables).enumerate() {
        at_most("tables", index + 1, TABLES_MAX)?;
        let table = table.and_then(decode_table_status).at_index("tables", index)?;
        let name = table.schema.name.clone();
        if tables.last_key_value().is_some_and(|(last, _)| *last >= name) {
            return Err(unfit("tables out of order", "ascending names")).at_index("tables", index);
        }
        tables.insert(name, Arc::new(table));
    }
    Ok(LeafStatus {
        name: decode_leaf_name(leaf.name).at("name")?,
        state: match leaf.state {
            0 => MemberState::Silent,
            code => MemberState::Announced(Code::of_code(code).at("state")?),
        },
        block_bytes: leaf.block_bytes,
        tables: Arc::new(tables),
        losses: each("losses", leaf.losses, decode_loss)?,
    })
}

fn encode_loss(loss: &LeafLoss) -> proto::LeafLoss {
    proto::LeafLoss { found_micros: loss.found.0, what: loss.what.clone() }
}

fn decode_loss(loss: proto::LeafLoss) -> Result<LeafLoss, DecodeError> {
    at_most("what", loss.what.len(), NOTE_BYTES_MAX)?;
    Ok(LeafLoss { found: Micros(loss.found_micros), what: loss.what })
}

fn encode_table(table: &TableStatus) -> proto::TableStatus {
    proto::TableStatus {
        schema: Some(encode_schema(&table.schema)),
        blocks: table.blocks,
        block_bytes: table.block_bytes,
        raw_bytes: table.raw_bytes,
        dropped_rows: table.dropped_rows,
        dropped_bytes: table.dropped_bytes,
        dropped_until_micros: table.dropped_until.map(|until| until.0),
        expired_rows: table.expired_rows,
        expired_until_micros: table.expired_until.map(|until| until.0),
        lost_rows: table.lost_rows,
        waiting_rows: table.waiting_rows,
        state: table.state.code(),
        settings: table.settings.as_ref().map(TableSettings::to_json),
        expiry: table.expiry.map(|expiry| proto::ExpiryForecast {
            at_micros: expiry.at.0,
            until_micros: expiry.until.0,
            rows: expiry.rows,
            bytes: expiry.bytes,
        }),
        archive_error: table.archive_error.clone(),
    }
}

fn decode_table_status(table: proto::TableStatus) -> Result<TableStatus, DecodeError> {
    Ok(TableStatus {
        schema: Arc::new(required(table.schema).and_then(decode_schema).at("schema")?),
        blocks: table.blocks,
        block_bytes: table.block_bytes,
        raw_bytes: table.raw_bytes,
        dropped_rows: table.dropped_rows,
        dropped_bytes: table.dropped_bytes,
        dropped_until: table.dropped_until_micros.map(Micros),
        expired_rows: table.expired_rows,
        expired_until: table.expired_until_micros.map(Micros),
        lost_rows: table.lost_rows,
        waiting_rows: table.waiting_rows,
        state: match table.state {
            0 => LeafState::Alive,
            code => Code::of_code(code).at("state")?,
        },
        settings: table.settings.as_deref().map(decode_settings).transpose().at("settings")?,
        expiry: table.expiry.map(decode_expiry),
        archive_error: table.archive_error,
    })
}

fn decode_expiry(expiry: proto::ExpiryForecast) -> ExpiryForecast {
    ExpiryForecast {
        at: Micros(expiry.at_micros),
        until: Micros(expiry.until_micros),
        rows: expiry.rows,
        bytes: expiry.bytes,
    }
}

fn encode_schema(schema: &TableSchema) -> proto::TableSchema {
    let span = |(first, last): (Micros, Micros)| proto::TimeSpan {
        first_micros: first.0,
        last_micros: last.0,
    };
    proto::TableSchema {
        name: schema.name.to_string(),
        time_column: schema.time_column.to_string(),
        columns: schema.columns.iter().map(encode_column).collect(),
        rows: schema.rows,
        time_span: schema.time_range.map(span),
    }
}

fn decode_schema(schema: proto::TableSchema) -> Result<TableSchema, DecodeError> {
    let columns = each("columns", schema.columns, decode_column_schema)?;
    if !columns.is_sorted_by(|left, right| left.name < right.name) {
        return Err(unfit("columns out of order", "ascending names"));
    }
    Ok(TableSchema {
        name: decode_table(&schema.name).at("name")?,
        time_column: decode_column(&schema.time_column).at("time_column")?,
        columns,
        rows: schema.rows,
        time_range: schema.time_span.map(decode_span).transpose().at("time_span")?,
    })
}

fn decode_span(span: proto::TimeSpan) -> Result<(Micros, Micros), DecodeError> {
    let proto::TimeSpan { first_micros, last_micros } = span;
    if first_micros <= last_micros {
        Ok((Micros(first_micros), Micros(last_micros)))
    } else {
        Err(unfit(format!("{first_micros} to {last_micros}"), "the first time before the last"))
    }
}

fn encode_column(column: &ColumnSchema) -> proto::ColumnSchema {
    let parts = column.parts.iter().map(|part| proto::ColumnPart {
        kind: part.kind.code(),
        logical: part.logical.code(),
        rows: part.rows,
    });
    proto::ColumnSchema { name: column.name.to_string(), parts: parts.collect() }
}

fn decode_column_schema(column: proto::ColumnSchema) -> Result<ColumnSchema, DecodeError> {
    let parts = each("parts", column.parts, |part| {
        Ok(ColumnPart {
            kind: Code::of_code(part.kind).at("kind")?,
            logical: Code::of_code(part.logical).at("logical")?,
            rows: part.rows,
        })
    })?;
    if parts.is_empty() || !parts.is_sorted_by(|left, right| left.kind < right.kind) {
        return Err(unfit("parts missing or out of order", "ascending kinds")).at("parts");
    }
    Ok(ColumnSchema { name: decode_column(&column.name).at("name")?, parts })
}

#[cfg(test)]
mod tests;
