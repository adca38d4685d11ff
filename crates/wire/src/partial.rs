//! Codec of partials.
//!
//! The possible contents of a partial depend on its query, so decoding needs the query. Groups are
//! decoded column by column (see `groups.rs`), and rows one by one (see `frames.rs`), because there
//! may be very many.

use bytes::Bytes;
use hadal_aggregate::{
    Coverage, LeafCoverage, Partial, PartialBody, QueryError, QueryErrors, ScanStats, SparseRow,
    TopRows, Warnings,
};
use hadal_query::{Query, QueryKind};
use hadal_types::limits::{
    FAULTS_MAX, LEAVES_MAX, MESSAGE_BYTES_MAX, NOTE_BYTES_MAX, PARTIAL_PIECE_BYTES_MAX,
    WARNINGS_MAX,
};
use hadal_types::{MemoryReservation, Micros, Value};
use prost::Message;

use crate::codes::Code;
use crate::error::{At, DecodeError, at_most, each, required, unfit};
use crate::frames::{self, Frames};
use crate::groups::{decode_groups, encode_groups};
use crate::proto::{self, partial};
use crate::size_guard;
use crate::value::{decode_leaf_name, decode_value, encode_value};

/// Bytes of a piece before its content.
const PIECE_HEAD_BYTES_MAX: usize = 11;

/// Encodes a partial; equal partials have equal bytes.
#[must_use]
pub fn encode_partial(partial: Partial) -> Bytes {
    let answering = match partial.body {
        PartialBody::Groups(groups) => partial::Answering::Groups(encode_groups(groups)),
        PartialBody::Rows(rows) => {
            let rows = rows.into_sorted();
            let rows = rows
                .iter()
                .map(|row| proto::Row { values: row.iter().map(encode_value).collect() });
            partial::Answering::Rows(proto::Rows { rows: frames::encode(rows) })
        }
    };
    let warnings = partial.warnings.iter().map(|warning| proto::Warning {
        code: warning.code.code(),
        subject: warning.subject,
        count: warning.count,
        until_micros: warning.until.map(|until| until.0),
    });
    let faults = partial
        .errors
        .iter()
        .map(|fault| proto::Fault { code: fault.code.code(), message: fault.message.clone() });
    let message = proto::Partial {
        answering: Some(answering),
        coverage: Some(encode_coverage(partial.coverage)),
        stats: Some(encode_stats(partial.stats)),
        warnings: warnings.collect(),
        faults: faults.collect(),
    };
    message.encode_to_vec().into()
}

/// Decodes the output of [`encode_partial`] for a partial of `query`.
///
/// # Errors
/// [`DecodeError`] for anything else.
pub fn decode_partial(bytes: Bytes, query: &Query) -> Result<Partial, DecodeError> {
    size_guard::decode(bytes, MESSAGE_BYTES_MAX, |message| decode_message(message, query))
}

/// Cuts the next piece off an encoded partial, and encodes it.
#[must_use]
pub fn encode_piece(rest: &mut Bytes) -> Bytes {
    let content = rest.split_to(rest.len().min(PARTIAL_PIECE_BYTES_MAX));
    proto::PartialPiece { content }.encode_to_vec().into()
}

/// Decodes the output of [`encode_piece`].
///
/// # Errors
/// [`DecodeError`] for anything else.
pub fn decode_piece(bytes: Bytes) -> Result<Bytes, DecodeError> {
    let bytes_max = PARTIAL_PIECE_BYTES_MAX + PIECE_HEAD_BYTES_MAX;
    size_guard::decode(bytes, bytes_max, |piece: proto::PartialPiece| {
        at_most("bytes", piece.content.len(), PARTIAL_PIECE_BYTES_MAX).at("content")?;
        Ok(piece.content)
    })
}

fn decode_message(message: proto::Partial, query: &Query) -> Result<Partial, DecodeError> {
    let body = match required(message.answering).at("answering")? {
        partial::Answering::Groups(groups) => {
            PartialBody::Groups(decode_groups(&groups, query).at("groups")?)
        }
        partial::Answering::Rows(rows) => PartialBody::Rows(decode_rows(rows, query).at("rows")?),
    };
    Ok(Partial {
        body,
        coverage: required(message.coverage).and_then(decode_coverage).at("coverage")?,
        stats: required(message.stats).map(decode_stats).at("stats")?,
        warnings: decode_warnings(message.warnings).at("warnings")?,
        errors: decode_faults(message.faults).at("faults")?,
        reservation: MemoryReservation::default(),
    })
}

/// Decodes values; there must be `count` of them.
fn decode_values(values: Vec<proto::Value>, count: usize) -> Result<Box<[Value]>, DecodeError> {
    if values.len() != count {
        return Err(unfit(format!("{} values", values.len()), count));
    }
    each("values", values, decode_value).map(Vec::into_boxed_slice)
}

fn decode_rows(message: proto::Rows, query: &Query) -> Result<TopRows, DecodeError> {
    let QueryKind::Rows { values } = &query.kind else {
        return Err(unfit("rows", "groups"));
    };
    let rows_max = query.offset.saturating_add(query.limit);
    let rows_max = usize::try_from(rows_max).unwrap_or(usize::MAX);
    let mut rows = Vec::new();
    for (index, row) in Frames::<proto::Row>::new(message.rows).enumerate() {
        at_most("rows", index + 1, rows_max)?;
        let row = row.and_then(|row| decode_values(row.values, values.len()));
        rows.push(SparseRow::from(row.at_index("rows", index)?.into_vec()));
    }
    TopRows::from_parts(query, rows).ok_or_else(|| unfit("rows", "such as the query asks for"))
}

fn encode_coverage(coverage: Coverage) -> proto::Coverage {
    let leaves = coverage.leaves.into_iter().map(|leaf| proto::LeafCoverage {
        name: leaf.name.to_string(),
        outcome: leaf.outcome.code(),
        rows_expected: leaf.rows_expected,
        rows_scanned: leaf.rows_scanned,
        micros: leaf.micros,
        started: leaf.as_of.0,
        version: leaf.as_of.1,
    });
    proto::Coverage {
        leaves_asked: coverage.leaves_asked,
        leaves_answered: coverage.leaves_answered,
        leaves_with_table: coverage.leaves_with_table,
        rows_expected: coverage.rows_expected,
        rows_scanned: coverage.rows_scanned,
        leaves: leaves.collect(),
        unknown_losses: coverage.unknown_losses,
    }
}

fn decode_coverage(coverage: proto::Coverage) -> Result<Coverage, DecodeError> {
    at_most("leaves", coverage.leaves.len(), LEAVES_MAX)?;
    let leaves = each("leaves", coverage.leaves, |leaf| {
        Ok(LeafCoverage {
            name: decode_leaf_name(leaf.name).at("name")?,
            outcome: Code::of_code(leaf.outcome).at("outcome")?,
            rows_expected: leaf.rows_expected,
            rows_scanned: leaf.rows_scanned,
            micros: leaf.micros,
            as_of: (leaf.started, leaf.version),
        })
    })?;
    if !leaves.is_sorted() {
        return Err(unfit("leaves out of order", "ascending names"));
    }
    Ok(Coverage {
        leaves_asked: coverage.leaves_asked,
        leaves_answered: coverage.leaves_answered,
        leaves_with_table: coverage.leaves_with_table,
        rows_expected: coverage.rows_expected,
        rows_scanned: coverage.rows_scanned,
        unknown_losses: coverage.unknown_losses,
        leaves,
    })
}

fn encode_stats(stats: ScanStats) -> proto::ScanStats {
    let ScanStats { rows_read, rows_matched, blocks, blocks_skipped, bytes_read, scan_micros } =
        stats;
    proto::ScanStats { rows_read, rows_matched, blocks, blocks_skipped, bytes_read, scan_micros }
}

fn decode_stats(stats: proto::ScanStats) -> ScanStats {
    let proto::ScanStats {
        rows_read,
        rows_matched,
        blocks,
        blocks_skipped,
        bytes_read,
        scan_micros,
    } = stats;
    ScanStats { rows_read, rows_matched, blocks, blocks_skipped, bytes_read, scan_micros }
}

fn decode_warnings(list: Vec<proto::Warning>) -> Result<Warnings, DecodeError> {
    at_most("warnings", list.len(), WARNINGS_MAX)?;
    let mut warnings = Warnings::default();
    for warning in list {
        at_most("bytes of a subject", warning.subject.len(), NOTE_BYTES_MAX)?;
        let (code, until) = (Code::of_code(warning.code)?, warning.until_micros.map(Micros));
        warnings.add_until(code, &warning.subject, warning.count, until);
    }
    Ok(warnings)
}

fn decode_faults(list: Vec<proto::Fault>) -> Result<QueryErrors, DecodeError> {
    at_most("faults", list.len(), FAULTS_MAX)?;
    let mut faults = QueryErrors::default();
    for fault in list {
        at_most("bytes of a message", fault.message.len(), NOTE_BYTES_MAX)?;
        faults.add(QueryError::new(Code::of_code(fault.code)?, &fault.message));
    }
    Ok(faults)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_in_a_row_are_the_bytes() {
        for length in [0, 1, PARTIAL_PIECE_BYTES_MAX, PARTIAL_PIECE_BYTES_MAX + 1] {
            let whole: Bytes = (0..length).map(|index| index.to_le_bytes()[0]).collect();
            let (mut rest, mut pieces) = (whole.clone(), vec![]);
            while pieces.is_empty() || !rest.is_empty() {
                pieces.push(decode_piece(encode_piece(&mut rest)).expect("a piece"));
            }
            assert_eq!(pieces.len(), length.div_ceil(PARTIAL_PIECE_BYTES_MAX).max(1));
            assert_eq!(Bytes::from(pieces.concat()), whole);
        }
    }

    #[test]
    fn a_piece_beyond_its_limit_is_refused() {
        let of = |length| proto::PartialPiece { content: vec![0; length].into() }.encode_to_vec();
        assert!(decode_piece(of(PARTIAL_PIECE_BYTES_MAX).into()).is_ok());
        let refused = decode_piece(of(PARTIAL_PIECE_BYTES_MAX + 1).into()).expect_err("too long");
        assert!(refused.is_limit(), "{refused}");
    }
}
