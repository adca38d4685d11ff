//! The engine below the tree, for tests: builds row blocks from rows, scans them, and returns an
//! answer.

use std::collections::BTreeMap;
use std::sync::Arc;

use hadal_aggregate::{
    Coverage, FinishError, LeafCoverage, LeafOutcome, Partial, QueryErrorCode, ResultSet,
    add_leaf_totals, finish,
};
use hadal_block::{
    BlockBuilder, BlockError, BlockView, Chill, MergeOrder, PushError, Sampling, chill, merge,
    sample,
};
use hadal_query::Query;
use hadal_scan::Scan;
use hadal_types::{BatchId, ColumnName, Kind, LeafName, Micros, Value};
use hadal_wire::{decode_partial, encode_partial};

use crate::oracle::{EngineFault, FaultKind, Produced, Row};
use crate::session::Hops;

/// The time at which test blocks are created.
const CREATED_AT: Micros = Micros(1_700_000_000_000_000);

/// Builds one row block of these rows, at most 65,536.
///
/// # Errors
/// If a value cannot be stored.
pub fn block(rows: &[Row], time_column: &ColumnName, batch: &BatchId) -> Result<Vec<u8>, String> {
    let mut builder = BlockBuilder::new(time_column.clone());
    for row in rows {
        for (name, value) in &row.cells {
            push(&mut builder, name, value).map_err(|error| format!("{name}: {error}"))?;
        }
        builder.end_row(row.time);
    }
    builder.finish(CREATED_AT, Some((batch, 0))).map_err(|error| error.to_string())
}

fn push(builder: &mut BlockBuilder, name: &ColumnName, value: &Value) -> Result<(), PushError> {
    match value {
        Value::Number(number) => {
            let id = builder.column(name, Kind::Number);
            builder.push_number(id, *number)
        }
        Value::Bool(truth) => {
            let id = builder.column(name, Kind::Number);
            builder.push_bool(id, *truth)
        }
        Value::String(text) => {
            let id = builder.column(name, Kind::String);
            builder.push_string(id, text)
        }
        Value::Set(list) | Value::Vector(list) => {
            let kind = if matches!(value, Value::Set(_)) { Kind::Set } else { Kind::Vector };
            let id = builder.column(name, kind);
            builder.push_list(id, &list.iter().map(|text| &**text).collect::<Vec<_>>())
        }
        Value::Time(_) | Value::Histogram(_) | Value::Null => Ok(()),
    }
}

/// How rows are divided into blocks.
#[derive(Clone, Copy, Debug)]
pub enum Cuts {
    /// Blocks of this many rows.
    Rows(usize),
    /// Blocks of this many rows, merged.
    Merged(usize, MergeOrder),
    /// Blocks of this many rows, cold and warm ones in turn.
    Cold(usize),
    /// The same, merged by time.
    ColdMerged(usize),
}

/// Builds the row blocks of these rows.
///
/// # Errors
/// If a value cannot be stored.
pub fn blocks(rows: &[Row], time_column: &ColumnName, cuts: Cuts) -> Result<Vec<Vec<u8>>, String> {
    let (Cuts::Rows(size) | Cuts::Merged(size, _) | Cuts::Cold(size) | Cuts::ColdMerged(size)) =
        cuts;
    let id = |index: usize| BatchId::new(&format!("batch-{index}")).ok_or("batch id");
    let mut small = rows
        .chunks(size.max(1))
        .enumerate()
        .map(|(index, rows)| block(rows, time_column, &id(index)?))
        .collect::<Result<Vec<_>, String>>()?;
    if let Cuts::Cold(_) | Cuts::ColdMerged(_) = cuts {
        small.iter_mut().step_by(2).try_for_each(make_cold)?;
    }
    let order = match cuts {
        Cuts::Merged(_, order) => order,
        Cuts::ColdMerged(_) => MergeOrder::Time,
        Cuts::Rows(_) | Cuts::Cold(_) => return Ok(small),
    };
    if small.is_empty() {
        return Ok(small);
    }
    let views = small.iter().map(|bytes| BlockView::parse(bytes)).collect::<Result<Vec<_>, _>>();
    let views = views.map_err(|error| error.to_string())?;
    merge(&views, order, CREATED_AT).map_err(|error| error.to_string())
}

/// Recompresses all columns of a block for the cold tier.
fn make_cold(bytes: &mut Vec<u8>) -> Result<(), String> {
    let cold = BlockView::parse(bytes).and_then(|block| chill(&block, Chill::All));
    *bytes = cold.map_err(|error| error.to_string())?.ok_or("the block was cold")?;
    Ok(())
}

/// Samples blocks and returns the remaining ones.
///
/// # Errors
/// If a block cannot be read.
pub fn sampled(blocks: &[Vec<u8>], sampling: &Sampling<'_>) -> Result<Vec<Vec<u8>>, String> {
    let sampled = |bytes: &Vec<u8>| sample(&BlockView::parse(bytes)?, sampling);
    let sampled: Result<Vec<_>, BlockError> = blocks.iter().map(sampled).collect();
    Ok(sampled.map_err(|error| error.to_string())?.concat())
}

/// Reads the rows of blocks.
///
/// # Errors
/// If a block cannot be read.
pub fn rows(blocks: &[Vec<u8>]) -> Result<Vec<Row>, String> {
    let mut all = Vec::new();
    for bytes in blocks {
        all.extend(rows_of(bytes).map_err(|error| error.to_string())?);
    }
    Ok(all)
}

fn rows_of(bytes: &[u8]) -> Result<Vec<Row>, BlockError> {
    let block = BlockView::parse(bytes)?;
    let empty = Row { time: Micros(0), cells: BTreeMap::new() };
    let mut rows = vec![empty; block.rows()];
    for column in block.columns() {
        let data = column.decode()?;
        for (row, slot) in rows.iter_mut().enumerate() {
            match data.value(row) {
                Value::Null => {}
                Value::Time(time) => slot.time = time,
                value => drop(slot.cells.insert(column.name().clone(), value)),
            }
        }
    }
    Ok(rows)
}

/// Scans the blocks, every `partials`-th into the same partial result, merges and finishes.
///
/// # Errors
/// Errors of the query, and blocks that cannot be read.
pub fn ask(blocks: &[Vec<u8>], query: &Query, partials: usize) -> Result<Produced, EngineFault> {
    ask_over(blocks, query, partials, Hops::Loopback)
}

/// The memory for computed values of a piece, enough for a few rows.
const PIECE_BYTES: usize = 32 << 10;

/// The same, but partial results pass as `hops` says.
///
/// # Errors
/// As [`ask`].
pub fn ask_over(
    blocks: &[Vec<u8>],
    query: &Query,
    partials: usize,
    hops: Hops,
) -> Result<Produced, EngineFault> {
    let answer = answer(blocks, query, partials, hops)?;
    Ok(Produced {
        rows: answer.rows.iter().map(|row| row.iter().cloned().collect()).collect(),
        raw_counts: answer.raw_counts,
    })
}

/// The whole result set.
///
/// # Errors
/// As [`ask`].
pub fn answer(
    blocks: &[Vec<u8>],
    query: &Query,
    partials: usize,
    hops: Hops,
) -> Result<ResultSet, EngineFault> {
    let scan = scan_of(query, blocks.len())?;
    let mut parts = vec![Partial::empty(query); partials.max(1)];
    for (index, bytes) in blocks.iter().enumerate() {
        let view = BlockView::parse(bytes).map_err(|error| error.to_string())?;
        let part = &mut parts[index % partials.max(1)];
        scan.block(&view, &|_, column| column.verify(), part).map_err(|error| error.to_string())?;
    }
    let parts = parts.into_iter().map(|part| match hops {
        Hops::InProcess | Hops::Grpc => Ok(part),
        Hops::Loopback => through_wire(part, query),
    });
    let parts = parts.collect::<Result<Vec<_>, _>>()?;
    let merged = parts.into_iter().reduce(|mut merged, part| {
        merged.merge(part);
        merged
    });
    finish(merged.unwrap_or_else(|| Partial::empty(query)), query, &|| false).map_err(fault_of)
}

/// The result set of a cluster, by the blocks of the leaves that answer; `missing` rows are on
/// others.
///
/// # Errors
/// As [`ask`].
pub fn answer_of_leaves(
    leaves: &[Vec<Vec<u8>>],
    missing: u64,
    query: &Query,
) -> Result<ResultSet, EngineFault> {
    let mut merged = Partial::empty(query);
    for (number, blocks) in leaves.iter().enumerate() {
        let scan = scan_of(query, blocks.len())?;
        let (mut part, mut rows) = (Partial::empty(query), 0);
        for bytes in blocks {
            let view = BlockView::parse(bytes).map_err(|error| error.to_string())?;
            rows += view.rows() as u64;
            scan.block(&view, &|_, column| column.verify(), &mut part)
                .map_err(|error| error.to_string())?;
        }
        part.coverage = coverage(number, LeafOutcome::Answered, rows, rows);
        add_leaf_totals(&mut part, query, rows);
        merged.merge(through_wire(part, query)?);
    }
    merged.coverage.merge(coverage(leaves.len(), LeafOutcome::Dead, missing, 0));
    finish(merged, query, &|| false).map_err(fault_of)
}

/// The coverage of a leaf that should hold some rows, and scanned others.
fn coverage(
    number: usize,
    outcome: LeafOutcome,
    rows_expected: u64,
    rows_scanned: u64,
) -> Coverage {
    let name = LeafName(format!("leaf-{number:03}").into());
    let leaf =
        LeafCoverage { name, outcome, rows_expected, rows_scanned, as_of: (0, 0), micros: 1 };
    Coverage::of_leaf(leaf, outcome == LeafOutcome::Answered)
}

/// The scan of a query, in half of all runs piece by piece.
fn scan_of(query: &Query, blocks: usize) -> Result<Scan, EngineFault> {
    let invalid = |text: String| EngineFault { kind: FaultKind::Invalid, text };
    let scan = Scan::new(Arc::new(query.clone())).map_err(|error| invalid(error.to_string()))?;
    // Prefixes take memory for each list of the block, which is more than such a piece may have.
    let by_prefix = query.unnested().is_some_and(|unnested| unnested.by_prefix);
    Ok(if blocks % 2 == 1 && !by_prefix { scan.in_pieces_of(PIECE_BYTES) } else { scan })
}

/// The first of the errors with which an answer fails.
fn fault_of(unfinished: FinishError) -> EngineFault {
    let text = format!("{unfinished:?}");
    let code = match unfinished {
        FinishError::Errors(faults) => faults.first().map(|fault| fault.code),
        FinishError::Late => None,
    };
    let kind = match code {
        Some(QueryErrorCode::Invalid) => FaultKind::Invalid,
        Some(QueryErrorCode::Overflow) => FaultKind::Overflow,
        Some(QueryErrorCode::Memory | QueryErrorCode::Busy) | None => FaultKind::Other,
    };
    EngineFault { kind, text }
}

/// The partial result after a hop.
fn through_wire(partial: Partial, query: &Query) -> Result<Partial, String> {
    decode_partial(encode_partial(partial), query).map_err(|error| error.to_string())
}
