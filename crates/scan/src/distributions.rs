//! Distributions of decimals of all groups of a block at once: every row is one count, by its cell
//! and its bucket. Only what is counted then goes to the groups' sketches.

use hadal_aggregate::{Groups, LOG_BUCKETS, State};
use hadal_encoding::kernels::{self, LogCounts, LogScale, Quotients};
use hadal_types::{Number, Value};

use crate::mantissas::{Mantissas, Near};
use crate::rows::Rows;
use crate::values::Numbers;
use crate::weights::Weights;

/// So many counts stay in the nearer caches.
const COUNTS_MAX: usize = 1 << 17;
/// The largest integer up to which doubles hold all.
const EXACT_MAX: i64 = 1 << 53;

/// What each cell's values come to.
pub(crate) struct Distributions<'v> {
    numbers: &'v Numbers,
    near: &'v Near,
    buckets: Buckets,
    /// By cell, and within it by bucket.
    counts: Vec<u64>,
    /// The smallest and the largest k of each cell; where it has none, the smallest is larger.
    ends: Vec<(u32, u32)>,
}

/// The buckets that a column's values can be in. Zero is the first, in front of `first`.
struct Buckets {
    first: i32,
    count: usize,
    quotients: Quotients,
    scale: LogScale,
}

impl Buckets {
    /// `None` where values can be negative, or doubles do not hold them.
    fn new(near: &Near, scale: u8) -> Option<Self> {
        if near.from < 0 || near.last() > EXACT_MAX || near.last() == 0 {
            return None;
        }
        let (factor, cubic, bias) = LOG_BUCKETS;
        let log = LogScale { factor, cubic, bias };
        let quotients = Quotients {
            from: near.from as f64,
            step: near.step as f64,
            divisor: 10f64.powi(scale.into()),
        };
        let smallest = if near.from == 0 { near.step } else { near.from };
        let bucket = |mantissa: i64| log.bucket(mantissa as f64 / quotients.divisor);
        let (first, last) = (bucket(smallest), bucket(near.last()));
        let count = usize::try_from(last - first).ok()? + 2;
        Some(Self { first, count, quotients, scale: log })
    }

    /// Where the rows of these cells and values are counted.
    fn places(&self, cells: &[u32], steps: &[u32]) -> Vec<u32> {
        let width = u32::try_from(self.count).unwrap_or(u32::MAX);
        let counts = LogCounts { scale: self.scale, first: self.first, width };
        let mut places = vec![0; steps.len()];
        kernels::log_places(cells, steps, self.quotients, counts, &mut places);
        places
    }

    /// The number of the bucket at a place.
    fn bucket(&self, place: usize) -> i32 {
        match place {
            0 => 0,
            place => self.first + i32::try_from(place).unwrap_or(i32::MAX) - 1,
        }
    }
}

impl<'v> Distributions<'v> {
    /// Counts the values of all selected rows; `None` where that has to be done group by group.
    pub(crate) fn new(numbers: &'v Numbers, rows: &Rows<'_>) -> Option<Self> {
        let Mantissas::Near(near) = &numbers.mantissas else { return None };
        if matches!(rows.weights, Weights::ByRow(_)) {
            return None;
        }
        let buckets = Buckets::new(near, numbers.scale)?;
        let cell_count = rows.cell_count() + 1;
        if cell_count.saturating_mul(buckets.count) > COUNTS_MAX {
            return None;
        }
        let (cells, steps) = rows.with_value(&near.steps, numbers.valid.as_deref());
        let (counts, ends) = counted(&cells, &steps, cell_count, &buckets);
        Some(Self { numbers, near, buckets, counts, ends })
    }

    /// Adds to the measure of this index of all groups: of their number here and their place there.
    pub(crate) fn add_to(
        &self,
        groups: &mut Groups,
        measure: usize,
        found: &[(usize, u32)],
        rows: &Rows<'_>,
    ) {
        let states = groups.states_mut(measure);
        let classes = rows.classes();
        let mut counted = Vec::new();
        for &(number, place) in found {
            let cells = number * classes.len()..(number + 1) * classes.len();
            let of_cell =
                |cell: usize| &self.counts[cell * self.buckets.count..][..self.buckets.count];
            let count: u64 = cells.clone().flat_map(of_cell).sum();
            let State::Quantiles(own) = &mut states[place as usize] else { continue };
            if count == 0 {
                continue;
            }
            if !own.takes_buckets(count) {
                self.add_rows(own, rows, number);
                continue;
            }
            counted.clear();
            for at in 0..self.buckets.count {
                let counts = cells.clone().map(|cell| of_cell(cell)[at]);
                if counts.clone().any(|count| count > 0) {
                    let weight = |(count, &weight)| i128::from(count) * i128::from(weight);
                    let weight: i128 = counts.zip(classes).map(weight).sum();
                    counted.push((self.buckets.bucket(at), weight));
                }
            }
            let ends = &self.ends[cells];
            let min = ends.iter().map(|ends| ends.0).min().unwrap_or(0);
            let max = ends.iter().map(|ends| ends.1).max().unwrap_or(0);
            own.add_buckets(count, (self.number(min), self.number(max)), &counted);
        }
    }

    /// Adds the few rows of a group one by one.
    fn add_rows(&self, own: &mut hadal_aggregate::Quantiles, rows: &Rows<'_>, number: usize) {
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

/// How many rows are in each bucket of each cell, and the ends of each cell.
fn counted(
    cells: &[u32],
    steps: &[u32],
    cell_count: usize,
    buckets: &Buckets,
) -> (Vec<u64>, Vec<(u32, u32)>) {
    let mut counts = vec![0; cell_count * buckets.count];
    kernels::count_by(&buckets.places(cells, steps), &mut counts);
    let mut ends = vec![(u32::MAX, 0); cell_count];
    kernels::ends_by(cells, steps, &mut ends);
    (counts, ends)
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
            let cells = vec![0; near.steps.len()];
            for (&k, place) in near.steps.iter().zip(buckets.places(&cells, &near.steps)) {
                let place = place as usize;
                prop_assert!(place < buckets.count);
                prop_assert_eq!(buckets.bucket(place), bucket_of_decimal(near.value(k), scale));
            }
        }

        #[test]
        fn all_groups_at_once_are_those_added_row_by_row(
            values in prop::collection::vec((0u32..4, 0u32..3, any::<bool>()), 1..900),
            wide in any::<bool>(), before in 0u32..300, all in any::<bool>(), groups in 1usize..4,
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
                by_row: values.iter().map(|value| u8::try_from(value.1).expect("small")).collect(),
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
                (0..before).for_each(|value| state.add(Number::integer(value.into()), weights.of(0)));
                own.states_mut(0)[place as usize] = State::Quantiles(state.clone());
                for row in selected.iter().map(|&row| row as usize).filter(|&row| of_row(row) == number) {
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
            all_at_once.add_to(&mut own, 0, &found, &rows);
            prop_assert_eq!(own.states_mut(0), expected.as_slice());
        }
    }
}
