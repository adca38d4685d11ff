//! Merges small blocks into large ones, column by column: decodes each input column once, maps its
//! dictionary to one dictionary for all blocks, and gathers its rows in their new order.

use std::ops::Range;

use hadal_encoding::Bitmap;
use hadal_types::limits::{BLOCK_BYTES_MAX, BLOCK_ROWS_MAX};
use hadal_types::{ColumnName, Decimal, Kind, Logical, Micros, Number};

use crate::assemble::assemble;
use crate::data::{ColumnData, Values};
use crate::encode::{Dense, DenseValues, EncodedColumn, Encoder};
use crate::error::BlockError;
use crate::header::BatchRows;
use crate::interner::{ListInterner, StringInterner};
use crate::view::{BlockView, ColumnView};
use crate::weighted_sums::is_rates;

mod concatenate;
mod expire;
mod revoke;
mod sample;
mod settle;

use concatenate::Concatenated;
pub use expire::merge_from;
pub use revoke::merge_without;
pub use sample::{Sampling, sample};
use settle::settle;

/// An output is closed when it has this many raw bytes, by the average of its inputs.
/// [`merge_rows`] handles outputs that are still too large.
const OUTPUT_RAW_BYTES: u64 = BLOCK_BYTES_MAX as u64 / 2;
const DAY: i64 = 86_400 * Micros::SECOND;

/// The order of rows in merged blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MergeOrder {
    /// Order of arrival, block after block. Batches are kept, so each can still be revoked.
    Arrival,
    /// By time, stably; no block has rows of two days (UTC). Batches are dropped: they can no
    /// longer be revoked.
    Time,
}

/// Makes blocks of at most 65,536 rows with exactly the rows of `blocks`. Verifies checksums on the
/// way. A single block that is already in this order keeps its columns as they are.
///
/// # Errors
/// When an input is corrupt, or the inputs differ in time column or sample factor.
pub fn merge(
    blocks: &[BlockView<'_>],
    order: MergeOrder,
    created_at: Micros,
) -> Result<Vec<Vec<u8>>, BlockError> {
    if let ([block], MergeOrder::Time) = (blocks, order)
        && let Some(settled) = settle(block, created_at)?
    {
        return Ok(vec![settled]);
    }
    merge_rows(blocks, order, &Kept::All, created_at)
}

/// Which rows of blocks are kept.
enum Kept {
    All,
    /// Rows whose time is not before this one. Only with the order of time.
    From(Micros),
    /// Rows whose numbers are in none of these ranges. Only with the order of arrival.
    Outside(Vec<Range<usize>>),
}

/// Merges the rows that are kept.
fn merge_rows(
    blocks: &[BlockView<'_>],
    order: MergeOrder,
    kept: &Kept,
    created_at: Micros,
) -> Result<Vec<Vec<u8>>, BlockError> {
    // Outputs are cut by the average size of rows. If large rows happen to be neighbours, the cut
    // is repeated with fewer rows per block.
    let mut rows_max = BLOCK_ROWS_MAX;
    loop {
        match merge_into_blocks_of(rows_max, blocks, order, kept, created_at) {
            Err(BlockError::TooLarge(_)) if rows_max > 1 => rows_max /= 2,
            merged => return merged,
        }
    }
}

fn merge_into_blocks_of(
    rows_max: usize,
    blocks: &[BlockView<'_>],
    order: MergeOrder,
    kept: &Kept,
    created_at: Micros,
) -> Result<Vec<Vec<u8>>, BlockError> {
    let Some(time_column) = time_column(blocks)? else { return Ok(Vec::new()) };
    let kept_one_in = kept_one_in(blocks)?;
    let inputs = Inputs::new(blocks);
    let outputs = plan_outputs(&inputs, time_column, order, kept, rows_max)?;
    let rates = inputs.rates()?;
    let encoder = |rows: &Vec<u32>| {
        Encoder::new(rates.as_ref().and_then(|rates| rates.gather(rows)).as_ref())
    };
    let mut columns: Vec<(Vec<EncodedColumn>, Encoder)> =
        outputs.iter().map(|rows| (Vec::new(), encoder(rows))).collect();
    drop(rates);
    for (name, kind) in inputs.columns() {
        let column = Concatenated::new(&inputs, name, kind)?;
        for (rows, (columns, encoder)) in outputs.iter().zip(&mut columns) {
            let encoded = column.gather(rows).map(|column| encoder.encode(column));
            columns.extend(encoded.transpose()?);
        }
    }
    let outputs = outputs.iter().zip(columns);
    let finished = outputs.map(|(rows, (columns, _))| {
        let batches = match order {
            MergeOrder::Arrival => inputs.batches_of(rows),
            MergeOrder::Time => Vec::new(),
        };
        assemble(time_column, rows.len(), created_at, &batches, kept_one_in, columns)
    });
    finished.collect()
}

fn time_column<'b>(blocks: &'b [BlockView<'_>]) -> Result<Option<&'b ColumnName>, BlockError> {
    let mut names = blocks.iter().map(|block| block.time_column().name());
    let Some(first) = names.next() else { return Ok(None) };
    match names.find(|&name| name != first) {
        Some(other) => Err(BlockError::TimeColumns { first: first.clone(), other: other.clone() }),
        None => Ok(Some(first)),
    }
}

fn kept_one_in(blocks: &[BlockView<'_>]) -> Result<u16, BlockError> {
    let mut all = blocks.iter().map(BlockView::kept_one_in);
    let Some(first) = all.next() else { return Ok(1) };
    match all.find(|&kept| kept != first) {
        Some(other) => Err(BlockError::Samples { first, other }),
        None => Ok(first),
    }
}

/// The input blocks, with consecutive row numbers across all.
struct Inputs<'b, 'a> {
    blocks: &'b [BlockView<'a>],
    /// The number of each block's first row, and the end of the last block.
    starts: Vec<usize>,
}

impl<'b, 'a> Inputs<'b, 'a> {
    fn new(blocks: &'b [BlockView<'a>]) -> Self {
        let mut starts = vec![0];
        let mut end = 0;
        for block in blocks {
            end += block.rows();
            starts.push(end);
        }
        Self { blocks, starts }
    }

    fn rows(&self) -> usize {
        self.starts.last().copied().unwrap_or_default()
    }

    /// All names and kinds, ascending and without duplicates.
    fn columns(&self) -> Vec<(&'b ColumnName, Kind)> {
        let columns = self.blocks.iter().flat_map(BlockView::columns);
        let mut keys: Vec<_> = columns.map(|column| (column.name(), column.kind())).collect();
        keys.sort_unstable();
        keys.dedup();
        keys
    }

    /// The column of sample rates.
    fn rates(&self) -> Result<Option<Concatenated<'b>>, BlockError> {
        let rates = self.columns().into_iter().find(|(name, kind)| is_rates(name, *kind));
        rates.map(|(name, kind)| Concatenated::new(self, name, kind)).transpose()
    }

    /// Each row's share of its block's raw bytes, by row number.
    fn raw_bytes(&self) -> impl Fn(u32) -> u64 {
        let share = |block: &BlockView<'_>| block.raw_bytes() / block.rows() as u64 + 1;
        let shares: Vec<u64> = self.blocks.iter().map(share).collect();
        let starts = self.starts.clone();
        move |row| shares[starts.partition_point(|&start| start <= row as usize) - 1]
    }

    /// The batches of an output in the order of arrival.
    fn batches_of(&self, rows: &[u32]) -> Vec<BatchRows> {
        let position = |row: usize| rows.partition_point(|&other| (other as usize) < row);
        let mut batches = Vec::new();
        for (block, start) in self.blocks.iter().zip(&self.starts) {
            for batch in block.batches() {
                let first = start + batch.first_row;
                let (first_row, end) = (position(first), position(first + batch.rows));
                if first_row < end {
                    batches.push(BatchRows { first_row, rows: end - first_row, ..batch.clone() });
                }
            }
        }
        batches
    }
}

/// The row numbers of each output, in their new order.
fn plan_outputs(
    inputs: &Inputs<'_, '_>,
    time_column: &ColumnName,
    order: MergeOrder,
    kept: &Kept,
    rows_max: usize,
) -> Result<Vec<Vec<u32>>, BlockError> {
    let mut rows: Vec<u32> = (0u32..).take(inputs.rows()).collect();
    if let Kept::Outside(ranges) = kept {
        rows.retain(|&row| !ranges.iter().any(|range| range.contains(&(row as usize))));
    }
    let mut days = Vec::new();
    if order == MergeOrder::Time {
        let times = Concatenated::new(inputs, time_column, Kind::Number)?.into_times();
        let mut timed: Vec<(i64, u32)> = times.iter().copied().zip(rows).collect();
        if let Kept::From(from) = kept {
            timed.retain(|(time, _)| *time >= from.0);
        }
        timed.sort_unstable();
        rows = timed.into_iter().map(|(_, row)| row).collect();
        days = times.into_iter().map(|time| time.div_euclid(DAY)).collect();
    }
    let day = |row: u32| days.get(row as usize).copied();
    // Even sizes: a small remainder would have to be merged again.
    let most = rows.len().div_ceil(rows.len().div_ceil(rows_max).max(1));
    let raw_bytes = inputs.raw_bytes();
    let mut outputs: Vec<Vec<u32>> = Vec::new();
    let mut output: Vec<u32> = Vec::new();
    let mut output_bytes = 0;
    for row in rows {
        let full = output.len() >= most || output_bytes >= OUTPUT_RAW_BYTES;
        if output.last().is_some_and(|&last| full || day(last) != day(row)) {
            outputs.push(std::mem::take(&mut output));
            output_bytes = 0;
        }
        output.push(row);
        output_bytes += raw_bytes(row);
    }
    if !output.is_empty() {
        outputs.push(output);
    }
    Ok(outputs)
}
