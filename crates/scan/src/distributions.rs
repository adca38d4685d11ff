//! Distributions of decimals of all groups of a block at once: every row is one count, by its cell
//! and its bucket. Only what is counted then goes to the groups' sketches.
//!
//! A sketch also knows its smallest and its largest value. Once it has seen some blocks, hardly any
//! row of another changes them; which rows could, the counts tell.

use std::ops::Range;

use hadal_aggregate::{
    BUCKET_FRACTION_BITS, BUCKET_OFFSET, BucketWeights, Groups, Quantiles, State,
    bucket_of_decimal, bucket_of_number,
};
use hadal_encoding::{
    Bitmap,
    kernels::{self, LeadingBits, Quotients},
};
use hadal_types::{Number, Value};

use crate::mantissas::{Mantissas, Near};
use crate::rows::Rows;
use crate::values::Numbers;
use crate::weights::Weights;

/// So many counts stay in the nearer caches.
const COUNTS_MAX: usize = 1 << 18;
/// The largest integer up to which doubles hold all.
const EXACT_MAX: i64 = 1 << 53;

/// What each cell's values come to.
pub(crate) struct Distributions<'v> {
    numbers: &'v Numbers,
    near: &'v Near,
    buckets: Buckets,
}

/// The buckets that a column's values can be in. Zero is the first, in front of `first`.
struct Buckets {
    first: i32,
    count: usize,
    quotients: Quotients,
    bits: LeadingBits,
}

/// How many rows are in each bucket of each cell.
struct Counts<'d> {
    buckets: &'d Buckets,
    /// By cell, and within it by bucket.
    counts: Vec<u32>,
    /// Cells of a group.
    classes: usize,
}

/// The values that can be the smallest or the largest of a group: those counted up to a place, and
/// those from a place on.
#[derive(Default)]
struct Outer {
    low: Option<usize>,
    high: Option<usize>,
}

impl Buckets {
    /// `None` where values can be negative, or doubles do not hold them.
    fn new(near: &Near, scale: u8) -> Option<Self> {
        if near.from < 0 || near.last() > EXACT_MAX || near.last() == 0 {
            return None;
        }
        let smallest = if near.from == 0 { near.step } else { near.from };
        let (first, last) =
            (bucket_of_decimal(smallest, scale), bucket_of_decimal(near.last(), scale));
        let count = usize::try_from(last - first).ok()? + 2;
        let bits = LeadingBits {
            fraction_bits: BUCKET_FRACTION_BITS,
            first: u32::try_from(first - BUCKET_OFFSET).ok()?,
            width: u32::try_from(count).ok()?,
        };
        let quotients = Quotients {
            from: near.from as f64,
            step: near.step as f64,
            divisor: 10f64.powi(scale.into()),
        };
        Some(Self { first, count, quotients, bits })
    }

    /// Where the value of a step is counted in its cell.
    fn place_of(&self, step: u32) -> usize {
        self.bits.place_of(self.quotients.value(step)) as usize
    }

    /// The number of the bucket at a place.
    fn bucket(&self, place: usize) -> i32 {
        match place {
            0 => 0,
            place => self.first + i32::try_from(place).unwrap_or(i32::MAX) - 1,
        }
    }

    /// How many steps there are, up to `span`, whose values are counted before a place.
    fn steps_before(&self, place: usize, span: u32) -> u64 {
        let (mut low, mut high) = (0, u64::from(span) + 1);
        while low < high {
            let middle = low.midpoint(high);
            let is_before = u32::try_from(middle).is_ok_and(|step| self.place_of(step) < place);
            if is_before { low = middle + 1 } else { high = middle }
        }
        low
    }
}

impl<'v> Distributions<'v> {
    /// `None` where that has to be done group by group.
    pub(crate) fn new(numbers: &'v Numbers, rows: &Rows<'_>) -> Option<Self> {
        let Mantissas::Near(near) = &numbers.mantissas else { return None };
        if matches!(rows.weights, Weights::ByRow(_)) {
            return None;
        }
        let buckets = Buckets::new(near, numbers.scale)?;
        let counts = (rows.cell_count() + 1).saturating_mul(buckets.count);
        (counts <= COUNTS_MAX).then_some(Self { numbers, near, buckets })
    }

    /// Adds the values of all selected rows to the measure of this index of all groups: of their
    /// number here and their place there.
    pub(crate) fn add_to(
        &self,
        groups: &mut Groups,
        measure: usize,
        found: &[(usize, u32)],
        rows: &Rows<'_>,
    ) {
        let (cells, steps) = rows.with_value(&self.near.steps, self.numbers.valid.as_deref());
        let counts = Counts::new(&self.buckets, &cells, &steps, rows);
        let states = groups.states_mut(measure);
        let mut outer = Outer::default();
        for &(number, place) in found {
            if let State::Quantiles(own) = &states[place as usize] {
                outer.widen(own, &counts, number);
            }
        }
        let ends = self.ends(&outer, &cells, &steps, rows.cell_count() + 1);
        for &(number, place) in found {
            let State::Quantiles(own) = &mut states[place as usize] else { continue };
            let count = counts.rows(number);
            if !own.takes_buckets(count) {
                self.add_rows(own, rows, number);
                continue;
            }
            let ends = counts.cells(number).filter_map(|cell| ends.get(cell));
            let (min, max) =
                ends.fold((u32::MAX, 0), |all, own| (all.0.min(own.0), all.1.max(own.1)));
            let found = (min <= max).then(|| (self.number(min), self.number(max)));
            if let Some(ends) = found.or(own.ends()).filter(|_| count > 0) {
                counts.add_to(own.add_rows(count, ends), number, rows.classes());
            }
        }
    }

    /// The smallest and the largest step of each cell's outer rows; where it has none, the smallest
    /// is larger. No cells, where there are no such rows.
    fn ends(&self, outer: &Outer, cells: &[u32], steps: &[u32], count: usize) -> Vec<(u32, u32)> {
        let span = self.near.span;
        let before = |place| self.buckets.steps_before(place, span);
        let low = outer.low.map_or(0, |place| before(place + 1));
        let high = outer.high.map_or(u64::from(span) + 1, before);
        if low == 0 && high > span.into() {
            return Vec::new();
        }
        let mut ends = vec![(u32::MAX, 0); count];
        let (Ok(low), Ok(last)) = (u32::try_from(low), u32::try_from(high.saturating_sub(1)))
        else {
            kernels::ends_by(cells, steps, &mut ends);
            return ends;
        };
        let mut inner = vec![0; steps.len().div_ceil(64)];
        if high > 0 {
            kernels::between_u32(steps, low, last, &mut inner);
        }
        let mut rows = Bitmap::from_words(inner, steps.len());
        rows.not();
        for row in rows.iter_ones() {
            let (own, step) = (&mut ends[cells[row] as usize], steps[row]);
            *own = (own.0.min(step), own.1.max(step));
        }
        ends
    }

    /// Adds the few rows of a group one by one.
    fn add_rows(&self, own: &mut Quantiles, rows: &Rows<'_>, number: usize) {
        for row in rows.of_group(number).iter().map(|&row| row as usize) {
            if self.numbers.has(row) {
                own.add(self.number(self.near.steps[row]), rows.weights.of(row));
            }
        }
    }

    fn number(&self, step: u32) -> Number {
        match self.numbers.value_of(self.near.value(step)) {
            Value::Number(number) => number,
            _ => Number::ZERO,
        }
    }
}

impl<'d> Counts<'d> {
    fn new(buckets: &'d Buckets, cells: &[u32], steps: &[u32], rows: &Rows<'_>) -> Self {
        // One more cell, of rows without a value.
        let mut counts = vec![0; (rows.cell_count() + 1) * buckets.count];
        kernels::count_leading(cells, steps, buckets.quotients, buckets.bits, &mut counts);
        Self { buckets, counts, classes: rows.classes().len() }
    }

    /// The cells of a group number.
    fn cells(&self, number: usize) -> Range<usize> {
        number * self.classes..(number + 1) * self.classes
    }

    fn of_cell(&self, cell: usize) -> &[u32] {
        &self.counts[cell * self.buckets.count..][..self.buckets.count]
    }

    /// How many rows of a group have a value.
    fn rows(&self, number: usize) -> u64 {
        let rows = |cell| kernels::sum_u32(self.of_cell(cell));
        self.cells(number).map(rows).sum()
    }

    /// The first and the last place where a group has rows.
    fn places(&self, number: usize) -> Option<(usize, usize)> {
        let some = |count: &u32| *count > 0;
        let first = |cell| self.of_cell(cell).iter().position(some);
        let last = |cell| self.of_cell(cell).iter().rposition(some);
        let first = self.cells(number).filter_map(first).min()?;
        Some((first, self.cells(number).filter_map(last).max()?))
    }

    /// Adds the rows of a group, which weigh so many millionths by class.
    fn add_to(&self, own: &mut BucketWeights, number: usize, classes: &[i64]) {
        for (cell, &weight) in self.cells(number).zip(classes) {
            let (zeros, others) = self.of_cell(cell).split_at(1);
            own.add_counts(0, zeros, weight.unsigned_abs());
            own.add_counts(self.buckets.first, others, weight.unsigned_abs());
        }
    }
}

impl Outer {
    /// Spans the rows of a group that can change the ends of its sketch.
    fn widen(&mut self, own: &Quantiles, counts: &Counts<'_>, number: usize) {
        let Some((first, last)) = counts.places(number) else { return };
        let [min, max] = match own.ends() {
            Some((min, max)) => [min, max].map(|end| Some(bucket_of_number(end))),
            None => [None; 2],
        };
        if min.is_none_or(|min| counts.buckets.bucket(first) <= min) {
            self.low = Some(self.low.map_or(first, |low| low.max(first)));
        }
        if max.is_none_or(|max| counts.buckets.bucket(last) >= max) {
            self.high = Some(self.high.map_or(last, |high| high.min(last)));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use hadal_aggregate::{Quantiles, bucket_of_decimal};
    use hadal_encoding::Bitmap;
    use hadal_query::{Expr, Measure, Query, Shape, StateKind};
    use hadal_types::{Logical, TableName};
    use proptest::prelude::*;

    use super::*;
    use crate::selection::Selection;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn buckets_are_those_of_the_sketch(
            steps in prop::collection::vec(prop_oneof![0u32..50, 0u32..1_000_000], 1..200),
            from in prop_oneof![Just(0i64), 0i64..1_000, Just(1 << 40)],
            step in prop_oneof![1i64..5, Just(1_000)], scale in 0u8..=18,
        ) {
            let span = steps.iter().copied().max().expect("some");
            let near = Near { from, step, span, steps: Rc::new(steps) };
            let Some(buckets) = Buckets::new(&near, scale) else {
                prop_assert_eq!(near.last(), 0);
                return Ok(());
            };
            let places: Vec<usize> = near.steps.iter().map(|&k| buckets.place_of(k)).collect();
            for (&k, &place) in near.steps.iter().zip(&places) {
                prop_assert!(place < buckets.count);
                prop_assert_eq!(buckets.bucket(place), bucket_of_decimal(near.value(k), scale));
                let before = buckets.steps_before(place, near.span);
                prop_assert!(before <= k.into());
                prop_assert!(buckets.steps_before(place + 1, near.span) > k.into());
                if let Some(other) = u32::try_from(before).ok().and_then(|k| k.checked_sub(1)) {
                    prop_assert!(buckets.place_of(other) < place);
                }
            }
        }

        #[test]
        fn all_groups_at_once_are_those_added_row_by_row(
            values in prop::collection::vec((0u32..4, 0u32..3, any::<bool>()), 1..900),
            wide in any::<bool>(), before in 0i64..300, from in -9i64..1_500, all in any::<bool>(),
            groups in 1usize..4, blocks in 1usize..4,
        ) {
            let spread = if wide { 997 } else { 1 };
            let steps: Vec<u32> = (0u32..).zip(&values).map(|(at, _)| at % 131 * spread).collect();
            let has: Vec<bool> = values.iter().map(|value| value.2 || all).collect();
            let valid = (!all).then(|| Rc::new(crate::bits::bits(has.len(), |row| has[row])));
            let numbers = Numbers {
                mantissas: Mantissas::Near(Near {
                    from: 0, step: 5, span: 131 * spread, steps: Rc::new(steps),
                }),
                scale: 2,
                logical: Logical::Plain,
                valid,
            };
            let mut chosen = Bitmap::ones(values.len());
            if wide {
                chosen = crate::bits::bits(values.len(), |row| row % 3 != 1);
            }
            let mut selection = Selection::all(values.len());
            selection.narrow(&chosen);
            let weights = Weights::Classes {
                millionths: vec![1_000_000, 2_500_000, 7],
                by_row: values.iter().map(|value| value.1).collect(),
            };
            let of_row = |row: usize| values[row].0 as usize % groups;
            let selected = selection.to_rows();
            let by_row: Vec<u32> = selected.iter()
                .map(|&row| u32::try_from(of_row(row as usize)).expect("small")).collect();
            let rows = Rows::new(&selection, &by_row, groups, &weights);
            let all_at_once = Distributions::new(&numbers, &rows).expect("near numbers");
            let literal = || Expr::Literal(Value::Null);
            let measures = vec![Measure { kind: StateKind::Quantiles, argument: literal() }];
            let shape = Shape::Groups { keys: vec![literal()], measures };
            let table = TableName::new("t").expect("a name");
            let mut own = Groups::new(&Query::new(table, shape));
            let mut expected = Vec::new();
            let mut found = Vec::new();
            for number in 0..groups {
                let key = own.key_mut(0).number_of(&Value::integer(i64::try_from(number).expect("small")));
                let place = own.place(&[key]).expect("room");
                let mut state = Quantiles::default();
                let earlier = (from..from + before).map(Number::integer);
                earlier.for_each(|value| state.add(value, weights.of(0)));
                own.states_mut(0)[place as usize] = State::Quantiles(state.clone());
                let of_group = selected.iter().map(|&row| row as usize);
                let of_group: Vec<usize> = of_group.filter(|&row| of_row(row) == number).collect();
                for &row in std::iter::repeat_n(&of_group, blocks).flatten() {
                    if numbers.has(row) {
                        let Value::Number(value) = numbers.value_of(numbers.mantissas.get(row)) else {
                            panic!("a number")
                        };
                        state.add(value, weights.of(row));
                    }
                }
                expected.push(State::Quantiles(state));
                found.push((number, place));
            }
            (0..blocks).for_each(|_| all_at_once.add_to(&mut own, 0, &found, &rows));
            prop_assert_eq!(own.states_mut(0), expected.as_slice());
        }
    }
}
