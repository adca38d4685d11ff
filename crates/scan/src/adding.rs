//! Sums of one block: all columns of small numbers are added up together, by cell, in few passes.

use std::borrow::Cow;
use std::rc::Rc;

use hadal_aggregate::{Groups, Tally};
use hadal_encoding::{Bitmap, kernels};
use hadal_query::StateKind;

use crate::accumulate::is_plain;
use crate::mantissas::{ByCode, Mantissas};
use crate::rows::{Addends, Rows};
use crate::values::{BlockValues, Numbers};
use crate::weights::Weights;

/// n, Σw, Σw² and Σwx of decimals, by group number.
pub(crate) struct Decimals {
    /// `None`: the same as that of all rows.
    tallies: Option<Rc<Vec<Tally>>>,
    /// Σ mantissa · weight in millionths.
    products: Vec<i128>,
    scale: u8,
}

impl Decimals {
    /// Adds to the measure of this index of all groups: of their number here and their place
    /// there. `whole` are the tallies of all their rows.
    pub(crate) fn add_to(
        &self,
        groups: &mut Groups,
        measure: usize,
        found: &[(usize, u32)],
        whole: &[Tally],
    ) {
        let tallies = self.tallies.as_ref().map_or(whole, |tallies| tallies.as_slice());
        for &(number, place) in found {
            let product = self.products[number];
            groups.add_decimal(measure, place, tallies[number], product, self.scale);
        }
    }
}

/// The measures of a block that are sums of decimals: added up together.
pub(crate) struct Adding<'v> {
    /// By measure.
    sums: Vec<Option<Split<'v>>>,
    /// The rows that have a value, where not all have.
    valid: Vec<&'v Rc<Bitmap>>,
}

/// Mantissas from + step × k, or the sum of several such.
struct Split<'v> {
    numbers: &'v Numbers,
    from: i64,
    parts: Vec<(i64, Cow<'v, [u32]>)>,
}

impl<'v> Split<'v> {
    fn new(numbers: &'v Numbers) -> Self {
        match &numbers.mantissas {
            Mantissas::Near(near) => {
                let parts = vec![(near.step, Cow::Borrowed(near.steps.as_slice()))];
                Self { numbers, from: near.from, parts }
            }
            Mantissas::ByCode(ByCode { codes, values }) => {
                let from = numbers.mantissas.bounds().0;
                let part = |(step, table): (i64, Vec<u32>)| {
                    let mut part = vec![0; codes.len()];
                    kernels::gather_u32(&table, codes, &mut part);
                    (step, Cow::Owned(part))
                };
                Self { numbers, from, parts: halves(values, from).map(part).into() }
            }
            Mantissas::Far(mantissas) => {
                let from = numbers.mantissas.bounds().0;
                let part = |(step, part)| (step, Cow::Owned(part));
                Self { numbers, from, parts: halves(mantissas, from).map(part).into() }
            }
        }
    }
}

/// What must be added to `from`, the smallest, to get each mantissa: in two parts of 32 bits.
fn halves(mantissas: &[i64], from: i64) -> [(i64, Vec<u32>); 2] {
    let away = |mantissa: i64| mantissa.wrapping_sub(from).cast_unsigned();
    #[expect(clippy::cast_possible_truncation, reason = "the lower half is wanted")]
    let half = |shift: u32| mantissas.iter().map(|&own| (away(own) >> shift) as u32).collect();
    [(1, half(0)), (1 << 32, half(32))]
}

/// Whether weighted sums fit 128 bits, whatever the rows have and in whatever order they are added
/// up: always, but for the largest numbers of the largest weights.
fn fits(numbers: &Numbers, rows: &Rows<'_>) -> bool {
    let (first, last) = numbers.mantissas.bounds();
    let size = i128::from(first.unsigned_abs()) + i128::from(last.abs_diff(first));
    let weight = rows.classes().iter().copied().max().unwrap_or(0);
    let count = i128::try_from(numbers.mantissas.len()).unwrap_or(i128::MAX);
    let whole = size.checked_mul(weight.into()).and_then(|product| product.checked_mul(count));
    whole.is_some_and(|whole| whole < i128::MAX / 4)
}

impl<'v> Adding<'v> {
    pub(crate) fn new<'x: 'v>(
        measures: impl Iterator<Item = (StateKind, &'v BlockValues<'x>)>,
        rows: &Rows<'_>,
    ) -> Self {
        let by_row = matches!(rows.weights, Weights::ByRow(_));
        let split = |(kind, values): (StateKind, &'v BlockValues<'_>)| match (kind, values) {
            (StateKind::Moments, BlockValues::Numbers(numbers))
                if is_plain(numbers) && !by_row && fits(numbers, rows) =>
            {
                Some(Split::new(numbers))
            }
            _ => None,
        };
        let sums: Vec<_> = measures.map(split).collect();
        // Columns that are null together are many, and a comparison is cheap.
        let mut valid: Vec<&Rc<Bitmap>> = Vec::new();
        for own in sums.iter().flatten().filter_map(|split| split.numbers.valid.as_ref()) {
            if !valid.contains(&own) {
                valid.push(own);
            }
        }
        Self { sums, valid }
    }

    /// The tally of each group, and by measure its moments.
    pub(crate) fn up(&self, rows: &Rows<'_>) -> (Vec<Tally>, Vec<Option<Decimals>>) {
        if matches!(rows.weights, Weights::ByRow(_)) {
            return (rows.tallies_where(None), self.sums.iter().map(|_| None).collect());
        }
        let ones = vec![1; if self.valid.is_empty() { 0 } else { rows.selection.block_rows() }];
        let counted = self.valid.iter().map(|valid| Addends { steps: &ones, valid: Some(valid) });
        let added = self.sums.iter().flatten().flat_map(|split| {
            let valid = split.numbers.valid.as_deref();
            split.parts.iter().map(move |(_, steps)| Addends { steps, valid })
        });
        let mut totals = rows.totals(&added.chain(counted).collect::<Vec<_>>());
        let counts = totals.sums.split_off(totals.sums.len() - self.valid.len());
        let tallies: Vec<Rc<Vec<Tally>>> =
            counts.iter().map(|counts| Rc::new(rows.tallies(counts))).collect();
        let mut sums = totals.sums.iter();
        let mut decimals = |split: &Split<'_>| {
            let own = split.numbers.valid.as_ref();
            let own = own.and_then(|own| self.valid.iter().position(|valid| *valid == own));
            let counts = own.map_or(&totals.counts, |own| &counts[own]);
            let mut products = rows.weighted(counts, split.from);
            for ((step, _), sums) in split.parts.iter().zip(&mut sums) {
                products
                    .iter_mut()
                    .zip(rows.weighted(sums, *step))
                    .for_each(|(all, own)| *all += own);
            }
            let tallies = own.map(|own| Rc::clone(&tallies[own]));
            Decimals { tallies, products, scale: split.numbers.scale }
        };
        let by_measure = self.sums.iter().map(|split| split.as_ref().map(&mut decimals));
        let by_measure = by_measure.collect();
        (rows.tallies(&totals.counts), by_measure)
    }
}
