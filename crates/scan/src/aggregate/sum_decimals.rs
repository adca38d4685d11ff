//! Sums of one block, of plain decimals: added to the cells of groups as plain integers.
//!
//! Where groups are few, rows are added up within the block, many columns at a time, and then once
//! per group. Where they are so many that a group has only some rows here, each row goes straight
//! to its group's cells (see `aggregate/scatter_add.rs`).

use std::borrow::Cow;
use std::rc::Rc;

use hadal_aggregate::{
    AccumulatorColumn, AccumulatorInput, AccumulatorLayout, DeferredKeys, Groups, SumInput,
};
use hadal_encoding::{Bitmap, kernels};
use hadal_query::StateKind;

use crate::aggregate::measures::is_plain;
use crate::aggregate::scatter_add::{self, ScatterAdd};
use crate::column::column_values::{ColumnValues, Entries, Numbers};
use crate::column::decimals::{DictionaryMantissas, FrameOfReference, Mantissas};
use crate::column::weights::Weights;
use crate::group::group_ids::{GroupIds, KeyValues};
use crate::group::group_lookup::{GroupLookup, key_numbers};
use crate::group::grouped_rows::{Addends, GroupedRows, Totals};

/// Sums of one block stay below this, so that cells have room for them.
const SUM_MAX: u128 = 1 << 61;

/// Rows are added up by group number where there are not more numbers than this for each of them.
const SPACE_PER_ROW: usize = 2;

/// The measures of a block that are sums of decimals: added up together.
pub(crate) struct SumDecimals<'v> {
    sums: Vec<SumInput>,
    /// Measures that have no value in the block.
    hollow: Vec<usize>,
    /// The values of each sum.
    pub(crate) numbers: Vec<&'v Numbers>,
    /// The rows that have a value, where not all have: by [`SumInput::valid`], from 1 on.
    pub(crate) valid: Vec<&'v Rc<Bitmap>>,
}

impl<'v> SumDecimals<'v> {
    /// Those of the measures that can be added up so. None where every row has its own weight.
    pub(crate) fn new<'x: 'v>(
        measures: impl Iterator<Item = (StateKind, &'v ColumnValues<'x>)>,
        rows: &GroupedRows<'_>,
    ) -> Self {
        let (sums, hollow, numbers, valid) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut own = Self { sums, hollow, numbers, valid };
        let by_row = matches!(rows.weights, Weights::ByRow(_));
        for (measure, (kind, values)) in measures.enumerate() {
            if let (StateKind::Moments, ColumnValues::Numbers(numbers)) = (kind, values)
                && is_plain(numbers)
                && !by_row
                && let Some(size_max) = size_max(numbers, rows)
            {
                let valid = match numbers.valid.as_ref().map(|valid| (valid, valid.count_ones())) {
                    Some((_, 0)) => {
                        own.hollow.push(measure);
                        continue;
                    }
                    Some((valid, count)) if count < valid.len() => own.valid_number(valid),
                    _ => 0,
                };
                own.sums.push(SumInput { measure, scale: numbers.scale, valid, size_max });
                own.numbers.push(numbers);
            }
        }
        own
    }

    fn valid_number(&mut self, valid: &'v Rc<Bitmap>) -> usize {
        // Columns that are null together are many, and a comparison is cheap.
        let known = self.valid.iter().position(|known| *known == valid);
        let index = known.unwrap_or_else(|| {
            self.valid.push(valid);
            self.valid.len() - 1
        });
        index + 1
    }

    /// Whether the measure of this index is among them.
    pub(crate) fn has(&self, measure: usize) -> bool {
        self.hollow.contains(&measure) || self.sums.iter().any(|sum| sum.measure == measure)
    }

    /// What the rows add up to by cell.
    pub(crate) fn up(&self, rows: &GroupedRows<'_>) -> BlockSums {
        let counted =
            self.valid.iter().map(|valid| Addends { steps: None, most: 1, valid: Some(valid) });
        let splits: Vec<Split<'_>> = self.numbers.iter().map(|own| Split::new(own)).collect();
        let added = splits.iter().zip(&self.sums).flat_map(|(split, sum)| {
            let valid = sum.valid.checked_sub(1).map(|index| &**self.valid[index]);
            split.parts.iter().map(move |part| Addends {
                steps: Some(&part.steps),
                most: part.most,
                valid,
            })
        });
        let Totals { counts, mut sums } =
            rows.totals(&added.chain(counted).collect::<Vec<Addends<'_>>>());
        let mut by_valid = sums.split_off(sums.len() - self.valid.len());
        by_valid.insert(0, counts);
        let mut parts = sums.into_iter();
        let whole = |(split, sum): (&Split<'_>, &SumInput)| {
            let counts = &by_valid[sum.valid];
            let mut steps = split.parts.iter().map(|part| part.step.cast_unsigned());
            let mut whole = match steps.next() {
                Some(step) => {
                    let mut first = parts.next().unwrap_or_default();
                    kernels::scale(step, &mut first);
                    first
                }
                None => vec![0; counts.len()],
            };
            for (step, part) in steps.zip(&mut parts) {
                kernels::add_scaled(&part, step, &mut whole);
            }
            kernels::add_scaled(counts, split.from.cast_unsigned(), &mut whole);
            whole
        };
        let sums = splits.iter().zip(&self.sums).map(whole).collect();
        BlockSums { counts: by_valid, sums }
    }

    /// Adds to the groups' cells what the rows of these places come to.
    pub(crate) fn add_up_to(
        &self,
        groups: &mut Groups,
        added: &BlockSums,
        lookup: &GroupLookup,
        rows: &GroupedRows<'_>,
    ) -> bool {
        self.add_to(groups, rows, |layout, cells| {
            if let Some(runs) = rows.runs()
                && lookup.is_complete
                && layout.class_count == 1
            {
                let used = runs.used();
                return used.for_each(|own| scatter_add::add_up(added, layout, lookup, own, cells));
            }
            let sources = layout.columns.iter().map(|column| match *column {
                AccumulatorColumn::Nothing => (added.counts[0].as_slice(), 0),
                AccumulatorColumn::Count(valid) => (added.counts[valid].as_slice(), 1),
                AccumulatorColumn::Sum { index, factor } => (added.sums[index].as_slice(), factor),
            });
            let sources: Vec<(&[u64], i64)> = sources.collect();
            for &(number, group_index) in lookup.found(rows) {
                let first = number * layout.classes.len();
                for (own, class) in (first..).zip(&layout.classes) {
                    let start = (group_index as usize * layout.class_count + class) * sources.len();
                    let cells = &mut cells[start..start + sources.len()];
                    for (cell, (sums, factor)) in cells.iter_mut().zip(&sources) {
                        *cell += sums[own].cast_signed() * factor;
                    }
                }
            }
        })
    }

    /// Adds the rows to the cells of their groups, one by one.
    pub(crate) fn add_directly_to(
        &self,
        groups: &mut Groups,
        lookup: &GroupLookup,
        rows: &GroupedRows<'_>,
    ) -> bool {
        let direct = ScatterAdd::new(self, rows);
        self.add_to(groups, rows, |layout, cells| {
            direct.add(layout, &lookup.cells(rows, layout), cells);
        })
    }

    /// Adds up the rows by these group numbers, whose groups are looked for later, where that can
    /// be; returns whether it was done.
    pub(crate) fn add_later_to(
        &self,
        groups: &mut Groups,
        numbers: &GroupIds<'_>,
        rows: &GroupedRows<'_>,
    ) -> bool {
        // What no row has costs something, too.
        let is_dense = rows.space <= rows.numbers.len() * SPACE_PER_ROW;
        if !is_dense {
            return false;
        }
        let direct = ScatterAdd::new(self, rows);
        let incoming = AccumulatorInput { classes: rows.classes(), sums: &self.sums };
        let add_later = |groups: &mut Groups, keys: DeferredKeys<'_>| {
            groups.defer(keys, &incoming, |layout, cells| {
                direct.add(layout, &rows.cells_by_number(layout), cells);
            })
        };
        let Some(key) = numbers.only_key() else {
            let keys = later_numbers(numbers, rows, groups);
            return add_later(groups, DeferredKeys::Numbers(&keys));
        };
        match (key, key.wholes()) {
            (_, Some(wholes)) => add_later(groups, DeferredKeys::Ints(&wholes)),
            (KeyValues::Entries(Entries::Lifted { texts, .. }), _) => {
                add_later(groups, DeferredKeys::Templates(texts))
            }
            (KeyValues::Entries(Entries::Strings { dictionary, .. }), _) => {
                add_later(groups, DeferredKeys::Strings(&dictionary.iter().collect::<Vec<&str>>()))
            }
            _ => false,
        }
    }

    fn add_to(
        &self,
        groups: &mut Groups,
        rows: &GroupedRows<'_>,
        add: impl FnOnce(&AccumulatorLayout, &mut [i64]),
    ) -> bool {
        groups
            .add_accumulators(&AccumulatorInput { classes: rows.classes(), sums: &self.sums }, add)
    }
}

/// By key: the numbers that groups have for the values of each group number; any where no row has
/// it.
fn later_numbers(
    numbers: &GroupIds<'_>,
    rows: &GroupedRows<'_>,
    groups: &mut Groups,
) -> Vec<Vec<u32>> {
    let used = rows.used();
    let mut keys = key_numbers(numbers, &used, groups);
    if used.len() < rows.space {
        for key in &mut keys {
            let mut all = vec![0; rows.space];
            used.iter().zip(&*key).for_each(|(&number, &own)| all[number as usize] = own);
            *key = all;
        }
    }
    keys
}

/// What the rows of a block add up to, by cell.
pub(crate) struct BlockSums {
    /// By [`SumInput::valid`]: how many rows have a value.
    pub(crate) counts: Vec<Vec<u64>>,
    /// By sum; modulo 2^64.
    pub(crate) sums: Vec<Vec<u64>>,
}

/// The most that rows can add up to, in whatever order and however few of them; `None` where that
/// does not fit cells.
fn size_max(numbers: &Numbers, rows: &GroupedRows<'_>) -> Option<u128> {
    let (first, last) = numbers.mantissas.bounds();
    let size = u128::from(first.unsigned_abs().max(last.unsigned_abs()));
    size.checked_mul(rows.selection.count() as u128).filter(|&size| size <= SUM_MAX)
}

/// Mantissas from + step × k, or the sum of several such.
struct Split<'v> {
    from: i64,
    parts: Vec<Part<'v>>,
}

struct Part<'v> {
    step: i64,
    /// No k is larger.
    most: u32,
    steps: Cow<'v, [u32]>,
}

impl<'v> Split<'v> {
    fn new(numbers: &'v Numbers) -> Self {
        match &numbers.mantissas {
            // The same in all rows, as what FILTER makes of count(*).
            Mantissas::FrameOfReference(reference) if reference.span == 0 => {
                Self { from: reference.from, parts: Vec::new() }
            }
            Mantissas::FrameOfReference(FrameOfReference { from, step, span, steps }) => {
                let steps = Cow::Borrowed(&***steps);
                Self { from: *from, parts: vec![Part { step: *step, most: *span, steps }] }
            }
            Mantissas::Dictionary(DictionaryMantissas { codes, values }) => {
                let from = numbers.mantissas.bounds().0;
                let part = |half: Part<'_>| {
                    let mut part = vec![0; codes.len()];
                    kernels::gather_u32(&half.steps, codes, &mut part);
                    Part { steps: Cow::Owned(part), ..half }
                };
                Self { from, parts: halves(values, from).map(part).collect() }
            }
            Mantissas::Plain(mantissas) => {
                let from = numbers.mantissas.bounds().0;
                Self { from, parts: halves(mantissas, from).collect() }
            }
        }
    }
}

/// What must be added to `from`, the smallest, to get each mantissa: in two parts of 32 bits, of
/// which those that are nothing are left out.
fn halves(mantissas: &[i64], from: i64) -> impl Iterator<Item = Part<'static>> {
    let part = move |(step, shift): (i64, u32)| {
        let away = |mantissa: &i64| mantissa.wrapping_sub(from).cast_unsigned();
        #[expect(clippy::cast_possible_truncation, reason = "the lower half is wanted")]
        let steps: Vec<u32> = mantissas.iter().map(|own| (away(own) >> shift) as u32).collect();
        let most = kernels::min_max_u32(&steps).map_or(0, |ends| ends.1);
        Part { step, most, steps: Cow::Owned(steps) }
    };
    [(1, 0), (1 << 32, 32)].into_iter().map(part).filter(|part| part.most > 0)
}

#[cfg(test)]
mod tests;
