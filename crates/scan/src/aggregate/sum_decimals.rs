//! Sums of a block's plain decimals, added to the groups' accumulators as plain integers.
//!
//! With few groups, rows are summed within the block, many columns at a time, and added once per
//! group. If there are many groups of few rows, each row is added to its group's accumulators
//! directly (see `aggregate/scatter_add.rs`).

use std::borrow::Cow;
use std::rc::Rc;

use hadal_aggregate::Groups;
use hadal_aggregate::accumulate::{AccumulatorInput, AccumulatorLayout, DeferredKeys, SumInput};
use hadal_encoding::{Bitmap, kernels};
use hadal_query::StateKind;

use crate::aggregate::block_sums::BlockSums;
use crate::aggregate::scatter_add::{self, ScatterAdd};
use crate::column::column_values::{ColumnValues, Entries, Numbers};
use crate::column::decimals::{DictionaryMantissas, FrameOfReference, MantissaColumn};
use crate::column::weights::Weights;
use crate::group::group_ids::{GroupIds, KeyValues};
use crate::group::group_lookup::{GroupLookup, key_numbers};
use crate::group::grouped_rows::{Addends, GroupedRows, Totals};

/// Sums of one block stay below this, so that accumulators can hold them.
const SUM_MAX: u128 = 1 << 61;

/// The maximum ratio of group numbers to rows for summing by group number.
const SPACE_PER_ROW: usize = 2;

/// The measures of a block that are sums of decimals, summed together.
pub(crate) struct SumDecimals<'v> {
    sums: Vec<SumInput>,
    /// Measures without any value in the block.
    hollow: Vec<usize>,
    /// The values of each sum.
    numbers: Vec<&'v Numbers>,
    /// The rows that have a value, for sums where some rows have none; indexed by
    /// [`SumInput::valid`] − 1.
    valid: Vec<&'v Rc<Bitmap>>,
}

impl<'v> SumDecimals<'v> {
    /// Selects the measures that can be summed this way; none if every row has its own weight.
    pub(crate) fn new<'x: 'v>(
        measures: impl Iterator<Item = (StateKind, &'v ColumnValues<'x>)>,
        rows: &GroupedRows<'_>,
    ) -> Self {
        let (sums, hollow, numbers, valid) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut decimals = Self { sums, hollow, numbers, valid };
        let by_row = matches!(rows.weights, Weights::ByRow(_));
        for (measure, (kind, values)) in measures.enumerate() {
            if let (StateKind::Moments, ColumnValues::Numbers(numbers)) = (kind, values)
                && numbers.is_plain()
                && !by_row
                && let Some(size_max) = size_max(numbers, rows)
            {
                let valid = match numbers.valid.as_ref().map(|valid| (valid, valid.count_ones())) {
                    Some((_, 0)) => {
                        decimals.hollow.push(measure);
                        continue;
                    }
                    Some((valid, count)) if count < valid.len() => decimals.valid_number(valid),
                    _ => 0,
                };
                decimals.sums.push(SumInput { measure, scale: numbers.scale, valid, size_max });
                decimals.numbers.push(numbers);
            }
        }
        decimals
    }

    fn valid_number(&mut self, valid: &'v Rc<Bitmap>) -> usize {
        // Columns that are often null in the same rows share a validity; comparing them is cheap.
        let existing = self.valid.iter().position(|other| *other == valid);
        let index = existing.unwrap_or_else(|| {
            self.valid.push(valid);
            self.valid.len() - 1
        });
        index + 1
    }

    /// Whether the measure of this index is included.
    pub(crate) fn has(&self, measure: usize) -> bool {
        self.hollow.contains(&measure) || self.sums.iter().any(|sum| sum.measure == measure)
    }

    /// Sums the rows by cell.
    pub(crate) fn up(&self, rows: &GroupedRows<'_>) -> BlockSums {
        let counted =
            self.valid.iter().map(|valid| Addends { steps: None, most: 1, valid: Some(valid) });
        let splits: Vec<Split<'_>> =
            self.numbers.iter().map(|numbers| Split::new(numbers)).collect();
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

    /// Adds the block's sums to the groups' accumulators.
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
                return used.for_each(|numbers| {
                    scatter_add::add_up(added, layout, lookup, numbers, cells)
                });
            }
            let sources: Vec<(&[u64], &[i64])> = layout
                .columns
                .iter()
                .map(|column| (added.addends(column), column.factors()))
                .collect();
            for &(number, group_index) in lookup.used_groups(rows) {
                let first = number * layout.classes.len();
                for (incoming, class) in layout.classes.iter().enumerate() {
                    let start = (group_index as usize * layout.class_count + class) * sources.len();
                    let cells = &mut cells[start..start + sources.len()];
                    for (cell, (sums, factors)) in cells.iter_mut().zip(&sources) {
                        if let Some(factor) = factors.get(incoming) {
                            *cell += sums[first + incoming].cast_signed() * factor;
                        }
                    }
                }
            }
        })
    }

    /// Adds the rows to their groups' accumulators, one by one.
    pub(crate) fn add_directly_to(
        &self,
        groups: &mut Groups,
        lookup: &GroupLookup,
        rows: &GroupedRows<'_>,
    ) -> bool {
        let direct = self.scatter_add(rows);
        self.add_to(groups, rows, |layout, cells| {
            direct.add(layout, &lookup.cells(rows, layout), cells);
        })
    }

    /// Sums the rows by group number and defers the lookup of the groups, if possible. Returns
    /// whether it did.
    pub(crate) fn add_later_to(
        &self,
        groups: &mut Groups,
        numbers: &GroupIds<'_>,
        rows: &GroupedRows<'_>,
    ) -> bool {
        // Group numbers without rows cost time too.
        let is_dense = rows.space <= rows.numbers.len() * SPACE_PER_ROW;
        if !is_dense {
            return false;
        }
        let direct = self.scatter_add(rows);
        let incoming = self.incoming(rows);
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

    fn scatter_add<'d>(&'d self, rows: &'d GroupedRows<'d>) -> ScatterAdd<'d> {
        ScatterAdd::new(&self.numbers, &self.valid, rows)
    }

    fn add_to(
        &self,
        groups: &mut Groups,
        rows: &GroupedRows<'_>,
        add: impl FnOnce(&AccumulatorLayout, &mut [i64]),
    ) -> bool {
        groups.add_accumulators(&self.incoming(rows), add)
    }

    fn incoming<'i>(&'i self, rows: &'i GroupedRows<'_>) -> AccumulatorInput<'i> {
        let (classes, sums) = (rows.classes(), &self.sums);
        let rows = rows.numbers.len() as u64;
        AccumulatorInput { classes, sums, rows, weighted: None }
    }
}

/// For each key, returns the dictionary numbers of the group numbers' values; arbitrary if no row
/// has the group number.
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
            used.iter()
                .zip(&*key)
                .for_each(|(&number, &key_number)| all[number as usize] = key_number);
            *key = all;
        }
    }
    keys
}

/// The largest absolute sum of any subset of the rows; `None` if accumulators cannot hold it.
fn size_max(numbers: &Numbers, rows: &GroupedRows<'_>) -> Option<u128> {
    let (first, last) = numbers.mantissas.bounds();
    let size = u128::from(first.unsigned_abs().max(last.unsigned_abs()));
    size.checked_mul(rows.selection.count() as u128).filter(|&size| size <= SUM_MAX)
}

/// Mantissas of the form from + step × k, or a sum of several such terms.
struct Split<'v> {
    from: i64,
    parts: Vec<Part<'v>>,
}

struct Part<'v> {
    step: i64,
    /// An upper bound of k.
    most: u32,
    steps: Cow<'v, [u32]>,
}

impl<'v> Split<'v> {
    fn new(numbers: &'v Numbers) -> Self {
        match &numbers.mantissas {
            // The same value in all rows, such as FILTER makes of count(*).
            MantissaColumn::FrameOfReference(reference) if reference.span == 0 => {
                Self { from: reference.from, parts: Vec::new() }
            }
            MantissaColumn::FrameOfReference(FrameOfReference { from, step, span, steps }) => {
                let steps = Cow::Borrowed(&***steps);
                Self { from: *from, parts: vec![Part { step: *step, most: *span, steps }] }
            }
            MantissaColumn::Dictionary(DictionaryMantissas { codes, values }) => {
                let from = numbers.mantissas.bounds().0;
                let part = |half: Part<'_>| {
                    let mut part = vec![0; codes.len()];
                    kernels::gather_u32(&half.steps, codes, &mut part);
                    Part { steps: Cow::Owned(part), ..half }
                };
                Self { from, parts: halves(values, from).map(part).collect() }
            }
            MantissaColumn::Plain(mantissas) => {
                let from = numbers.mantissas.bounds().0;
                Self { from, parts: halves(mantissas, from).collect() }
            }
        }
    }
}

/// The distance of each mantissa from `from`, the smallest, as two parts of 32 bits. Parts that are
/// all zero are left out.
fn halves(mantissas: &[i64], from: i64) -> impl Iterator<Item = Part<'static>> {
    let part = move |(step, shift): (i64, u32)| {
        let away = |mantissa: &i64| mantissa.wrapping_sub(from).cast_unsigned();
        #[expect(clippy::cast_possible_truncation, reason = "the lower half is wanted")]
        let steps: Vec<u32> =
            mantissas.iter().map(|mantissa| (away(mantissa) >> shift) as u32).collect();
        let most = kernels::min_max_u32(&steps).map_or(0, |ends| ends.1);
        Part { step, most, steps: Cow::Owned(steps) }
    };
    [(1, 0), (1 << 32, 32)].into_iter().map(part).filter(|part| part.most > 0)
}

#[cfg(test)]
mod tests;
