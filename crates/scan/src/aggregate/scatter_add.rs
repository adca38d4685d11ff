//! Adds rows one by one to the accumulators of their groups. Each column is converted to plain
//! integers for some hundred rows at a time, so that the inner loop only adds.

use std::borrow::Cow;
use std::ops::Range;
use std::rc::Rc;

use hadal_aggregate::accumulate::{AccumulatorColumn, AccumulatorLayout};
use hadal_encoding::{Bitmap, kernels};

use crate::aggregate::block_sums::BlockSums;
use crate::column::column_values::Numbers;
use crate::column::decimals::{DictionaryMantissas, FrameOfReference, MantissaColumn};
use crate::group::group_lookup::GroupLookup;
use crate::group::group_runs::GroupRuns;
use crate::group::grouped_rows::GroupedRows;

/// Rows at a time; their numbers stay in the L1 cache.
const TILE: usize = 256;
/// The number of columns that are added in one pass.
const COLUMNS_AT_ONCE: usize = 8;

/// The values of the selected rows of one block.
pub(crate) struct ScatterAdd<'d> {
    /// The selected rows that have a value, by validity number, counted from 1.
    valid: Vec<Cow<'d, Bitmap>>,
    /// The values and the validity number of each sum.
    sums: Vec<(Selected<'d>, usize)>,
    rows: &'d GroupedRows<'d>,
}

/// Mantissas of the selected rows; arbitrary where a row has no value.
pub(crate) enum Selected<'d> {
    /// `from` + `step` × k.
    FrameOfReference {
        from: i64,
        step: i64,
        /// The largest mantissa.
        last: i64,
        steps: Cow<'d, [u32]>,
    },
    DictionaryMantissas {
        values: &'d [i64],
        codes: Cow<'d, [u32]>,
    },
    Plain(Cow<'d, [i64]>),
}

impl<'d> ScatterAdd<'d> {
    /// Prepares the sums of `numbers`. `all_valid` has the rows with a value of each column that is
    /// null in some rows.
    pub(crate) fn new(
        numbers: &[&'d Numbers],
        all_valid: &[&'d Rc<Bitmap>],
        rows: &'d GroupedRows<'d>,
    ) -> Self {
        let selected = all_valid.iter().map(|valid| rows.selected_bits(valid)).collect();
        let sum = |numbers: &&'d Numbers| {
            let valid = numbers.valid.as_ref();
            let valid =
                valid.and_then(|bitmap| all_valid.iter().position(|valid| *valid == bitmap));
            (Selected::new(numbers, rows), valid.map_or(0, |index| index + 1))
        };
        Self { valid: selected, sums: numbers.iter().map(sum).collect(), rows }
    }

    /// Adds all rows to `cells` by this layout; `targets` has the accumulator of each row.
    pub(crate) fn add(&self, layout: &AccumulatorLayout, targets: &[u32], cells: &mut [i64]) {
        let differ = |factors: &[i64]| !factors.is_empty() && only(factors).is_none();
        let is_weighted = layout.columns.iter().any(|column| differ(column.factors()));
        let classes = if is_weighted { self.rows.selected_classes() } else { Cow::default() };
        add_tiles(targets, layout, cells, |column, start, tile| {
            self.fill(column, &classes, start, tile)
        });
    }

    /// Fills a tile with the addends of one column, from row `start` on. `classes` has the class of
    /// each row, if the column's factors differ.
    fn fill(&self, column: &AccumulatorColumn, classes: &[u32], start: usize, tile: &mut [i64]) {
        let classes = classes.get(start..start + tile.len()).unwrap_or_default();
        match column {
            AccumulatorColumn::Nothing => tile.fill(0),
            AccumulatorColumn::Count { valid, factors }
            | AccumulatorColumn::Squares { valid, factors } => {
                match only(factors) {
                    Some(factor) => tile.fill(factor),
                    None => kernels::gather_i64(factors, classes, tile),
                }
                self.keep(*valid, start, tile);
            }
            AccumulatorColumn::Sum { index, factors } => {
                let (selected, valid) = &self.sums[*index];
                match only(factors) {
                    Some(factor) => selected.fill(start, factor, tile),
                    None => selected.fill_by_class(start, factors, classes, tile),
                }
                self.keep(*valid, start, tile);
            }
        }
    }

    /// Zeros the numbers of a tile whose rows have no value; validity 0 keeps all.
    fn keep(&self, valid: usize, start: usize, tile: &mut [i64]) {
        if let Some(valid) = valid.checked_sub(1).map(|valid| &self.valid[valid]) {
            kernels::mask_i64(tile, words(valid, start, tile.len()), 0);
        }
    }
}

impl<'d> Selected<'d> {
    pub(crate) fn new(numbers: &'d Numbers, rows: &'d GroupedRows<'_>) -> Self {
        match &numbers.mantissas {
            MantissaColumn::FrameOfReference(FrameOfReference { from, step, steps, .. }) => {
                let (last, steps) = (numbers.mantissas.bounds().1, rows.selected(steps));
                Self::FrameOfReference { from: *from, step: *step, last, steps }
            }
            MantissaColumn::Dictionary(DictionaryMantissas { codes, values }) => {
                let codes = rows.selected(codes);
                Self::DictionaryMantissas { values, codes }
            }
            MantissaColumn::Plain(values) => Self::Plain(rows.selected_wide(values)),
        }
    }

    /// Fills a tile with mantissas × the factor of each row's class, from row `start` on.
    fn fill_by_class(&self, start: usize, factors: &[i64], classes: &[u32], tile: &mut [i64]) {
        if let Self::FrameOfReference { from, step: 1, last, steps } = self
            && let (Ok(from), Ok(_)) = (u32::try_from(*from), u32::try_from(*last))
            && let Ok(table) = factors.iter().map(|&factor| factor.try_into()).collect()
        {
            let (table, mut weights): (Vec<u32>, [u32; TILE]) = (table, [0; TILE]);
            let weights = &mut weights[..tile.len()];
            kernels::gather_u32(&table, classes, weights);
            return kernels::weigh_u32(&steps[start..start + tile.len()], from, weights, tile);
        }
        self.fill(start, 1, tile);
        for (slot, &class) in tile.iter_mut().zip(classes) {
            *slot = slot.wrapping_mul(factors[class as usize]);
        }
    }

    /// Fills a tile with mantissas × `factor`, from row `start` on.
    pub(crate) fn fill(&self, start: usize, factor: i64, tile: &mut [i64]) {
        let range = start..start + tile.len();
        match self {
            Self::FrameOfReference { from, step, steps, .. } => {
                let (from, step) = (from.wrapping_mul(factor), step.wrapping_mul(factor));
                kernels::widen_u32(&steps[range], from, step, tile);
            }
            Self::DictionaryMantissas { values, codes } => {
                kernels::gather_i64(values, &codes[range], tile);
                times(tile, factor);
            }
            Self::Plain(values) => {
                tile.copy_from_slice(&values[range]);
                times(tile, factor);
            }
        }
    }
}

/// Adds the block sums of these group numbers to their groups' accumulators.
pub(crate) fn add_up(
    added: &BlockSums,
    layout: &AccumulatorLayout,
    lookup: &GroupLookup,
    numbers: Range<usize>,
    cells: &mut [i64],
) {
    let first = numbers.start;
    add_tiles(lookup.of_numbers(numbers), layout, cells, |column, start, tile| {
        // Runs have rows of one class.
        let Some(&factor) = column.factors().first() else { return tile.fill(0) };
        for (slot, sum) in tile.iter_mut().zip(&added.addends(column)[first + start..]) {
            *slot = sum.cast_signed();
        }
        times(tile, factor);
    });
}

/// Adds to accumulators, tile by tile. `fill` computes the addends of a column from a target on.
fn add_tiles(
    targets: &[u32],
    layout: &AccumulatorLayout,
    cells: &mut [i64],
    fill: impl Fn(&AccumulatorColumn, usize, &mut [i64]),
) {
    let width = layout.columns.len();
    let mut tiles = vec![[0i64; TILE]; width];
    for (start, targets) in (0..).step_by(TILE).zip(targets.chunks(TILE)) {
        for (tile, column) in tiles.iter_mut().zip(&layout.columns) {
            fill(column, start, &mut tile[..targets.len()]);
        }
        let columns: Vec<&[i64]> = tiles.iter().map(|tile| &tile[..targets.len()]).collect();
        for (first, columns) in (0..).step_by(COLUMNS_AT_ONCE).zip(columns.chunks(COLUMNS_AT_ONCE))
        {
            add_columns(targets, columns, width, first, cells);
        }
    }
}

/// The factor of all classes; `None` if factors differ.
fn only(factors: &[i64]) -> Option<i64> {
    let (first, rest) = factors.split_first()?;
    rest.iter().all(|factor| factor == first).then_some(*first)
}

fn times(tile: &mut [i64], factor: i64) {
    if factor != 1 {
        tile.iter_mut().for_each(|value| *value = value.wrapping_mul(factor));
    }
}

fn add_columns(targets: &[u32], columns: &[&[i64]], width: usize, first: usize, cells: &mut [i64]) {
    match *columns {
        [a] => kernels::add_side_by_side(targets, [a], width, first, cells),
        [a, b] => kernels::add_side_by_side(targets, [a, b], width, first, cells),
        [a, b, c] => kernels::add_side_by_side(targets, [a, b, c], width, first, cells),
        [a, b, c, d] => kernels::add_side_by_side(targets, [a, b, c, d], width, first, cells),
        [a, b, c, d, e] => kernels::add_side_by_side(targets, [a, b, c, d, e], width, first, cells),
        [a, b, c, d, e, f] => {
            kernels::add_side_by_side(targets, [a, b, c, d, e, f], width, first, cells);
        }
        [a, b, c, d, e, f, g] => {
            kernels::add_side_by_side(targets, [a, b, c, d, e, f, g], width, first, cells);
        }
        [a, b, c, d, e, f, g, h] => {
            kernels::add_side_by_side(targets, [a, b, c, d, e, f, g, h], width, first, cells);
        }
        _ => {}
    }
}

/// Widens the ranges by group index, row by row.
pub(crate) fn widen(
    numbers: &Numbers,
    rows: &GroupedRows<'_>,
    lookup: &GroupLookup,
    factor: i64,
    ranges: &mut [(i64, i64)],
) {
    if let (Some(runs), MantissaColumn::FrameOfReference(reference), None) =
        (rows.runs(), &numbers.mantissas, &numbers.valid)
    {
        return widen_stretches(runs, reference, rows, lookup, factor, ranges);
    }
    let selected = Selected::new(numbers, rows);
    let valid = numbers.valid.as_ref().map(|valid| rows.selected_bits(valid));
    let group_indexes = lookup.by_row(rows);
    let (mut low, mut high) = ([0i64; TILE], [0i64; TILE]);
    for (start, group_indexes) in (0..).step_by(TILE).zip(group_indexes.chunks(TILE)) {
        let low = &mut low[..group_indexes.len()];
        selected.fill(start, factor, low);
        let Some(valid) = &valid else {
            kernels::widen_ranges_by(group_indexes, low, low, ranges);
            continue;
        };
        let high = &mut high[..group_indexes.len()];
        high.copy_from_slice(low);
        kernels::mask_i64(low, words(valid, start, group_indexes.len()), i64::MAX);
        kernels::mask_i64(high, words(valid, start, group_indexes.len()), i64::MIN);
        kernels::widen_ranges_by(group_indexes, low, high, ranges);
    }
}

/// The bitmap words of a tile's rows.
fn words(bits: &Bitmap, start: usize, length: usize) -> &[u64] {
    &bits.words()[start / 64..(start + length).div_ceil(64)]
}

const _: () = assert!(TILE.is_multiple_of(64), "tiles begin with a word");

/// As [`widen`], for rows that form runs and all have a value.
fn widen_stretches(
    runs: &GroupRuns,
    reference: &FrameOfReference,
    rows: &GroupedRows<'_>,
    lookup: &GroupLookup,
    factor: i64,
    ranges: &mut [(i64, i64)],
) {
    let steps = rows.selected(&reference.steps);
    let (lows, highs) = runs.ends(&steps, rows.space);
    let (from, step) = (reference.from.wrapping_mul(factor), reference.step.wrapping_mul(factor));
    let (mut low, mut high) = ([0i64; TILE], [0i64; TILE]);
    for numbers in runs.used() {
        let group_indexes = lookup.of_numbers(numbers.clone());
        for (start, group_indexes) in numbers.step_by(TILE).zip(group_indexes.chunks(TILE)) {
            let (low, high) = (&mut low[..group_indexes.len()], &mut high[..group_indexes.len()]);
            kernels::widen_u32(&lows[start..start + group_indexes.len()], from, step, low);
            kernels::widen_u32(&highs[start..start + group_indexes.len()], from, step, high);
            kernels::widen_ranges_by(group_indexes, low, high, ranges);
        }
    }
}
