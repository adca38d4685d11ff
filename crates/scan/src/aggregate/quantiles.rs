//! Quantiles of decimals, for all groups of a block at once. Each row adds one to the count of its
//! group, weight and bucket. The counts are moved to the groups' sketches after many blocks.
//!
//! A sketch also has its minimum and maximum. After some blocks, hardly any row changes them; the
//! counts show which rows could change them.

use hadal_aggregate::accumulate::{
    BUCKET_FRACTION_BITS, BUCKET_OFFSET, BucketInput, bucket_of_decimal,
};
use hadal_aggregate::{Groups, State};
use hadal_encoding::kernels::{self, BucketCounts, ExponentBuckets, ScaledSteps};
use hadal_types::{Number, Value, Weight};

use crate::column::column_values::Numbers;
use crate::column::decimals::{FrameOfReference, MantissaColumn};
use crate::column::weights::Weights;
use crate::group::grouped_rows::GroupedRows;

/// Doubles represent all integers up to this one exactly.
const EXACT_MAX: i64 = 1 << 53;

/// The quantile input of one column.
pub(crate) struct QuantileRows<'v> {
    pub(crate) numbers: &'v Numbers,
    reference: &'v FrameOfReference,
    buckets: Buckets,
}

/// The range of buckets of a column's values, apart from the bucket of zero.
struct Buckets {
    first: i32,
    last: i32,
    quotients: ScaledSteps,
}

impl Buckets {
    /// `None` if values can be negative, or doubles cannot represent them.
    fn new(reference: &FrameOfReference, scale: u8) -> Option<Self> {
        if reference.from < 0 || reference.last() > EXACT_MAX || reference.last() == 0 {
            return None;
        }
        let smallest = if reference.from == 0 { reference.step } else { reference.from };
        let quotients = ScaledSteps {
            from: reference.from as f64,
            step: reference.step as f64,
            divisor: 10f64.powi(scale.into()),
        };
        let bucket = |mantissa| bucket_of_decimal(mantissa, scale);
        Some(Self { first: bucket(smallest), last: bucket(reference.last()), quotients })
    }
}

impl<'v> QuantileRows<'v> {
    /// `None` if the values must be added group by group.
    pub(crate) fn new(numbers: &'v Numbers, rows: &GroupedRows<'_>) -> Option<Self> {
        let MantissaColumn::FrameOfReference(reference) = &numbers.mantissas else { return None };
        if matches!(rows.weights, Weights::ByRow(_)) {
            return None;
        }
        let buckets = Buckets::new(reference, numbers.scale)?;
        Some(Self { numbers, reference, buckets })
    }

    /// Adds the values of all selected rows to measure `measure` of all groups. `used_groups` has
    /// the group number in this block and the group index of each group. Returns false if there was
    /// no space for the counts.
    pub(crate) fn add_to(
        &self,
        groups: &mut Groups,
        measure: usize,
        used_groups: &[(usize, u32)],
        rows: &GroupedRows<'_>,
    ) -> bool {
        let (cells, steps) = rows.with_value(&self.reference.steps, self.numbers.valid.as_deref());
        let (classes, ends) = (rows.classes(), (self.buckets.first, self.buckets.last));
        let incoming = BucketInput { classes, ends, group_indexes: used_groups };
        let Some((counts, states)) = groups.quantile_counts(measure, &incoming) else {
            return false;
        };
        let Ok(first) = u32::try_from(counts.first() - BUCKET_OFFSET) else { return false };
        let mut starts = vec![0; rows.cell_count() + 1];
        for &(number, group_index) in used_groups {
            let class_starts = &mut starts[number * classes.len()..];
            for (start, &weight) in class_starts.iter_mut().zip(classes) {
                *start = u32::try_from(counts.start_of(group_index, weight)).unwrap_or(0);
            }
        }
        let (bits, mut marked) =
            (ExponentBuckets { fraction_bits: BUCKET_FRACTION_BITS, first }, Vec::new());
        let (starts, into) = (starts.as_slice(), counts.counts_mut());
        let mut full = Vec::new();
        let into = BucketCounts { starts, counts: into, marked: &mut marked, full: &mut full };
        kernels::count_exponent_buckets(&cells, &steps, self.buckets.quotients, bits, into);
        counts.note_full(&full);
        // The cell and the step of the rows that went to marked counts.
        let marked =
            || marked.iter().map(|&row| (cells[row as usize] as usize, steps[row as usize]));
        let mut ends = vec![(u32::MAX, 0); rows.space];
        for (cell, step) in marked() {
            let range: &mut (u32, u32) = &mut ends[cell / classes.len()];
            *range = (range.0.min(step), range.1.max(step));
        }
        let mut few = vec![None; rows.space];
        for &(number, group_index) in used_groups {
            let State::Quantiles(quantiles) = &mut states[group_index as usize] else { continue };
            let ((min, max), before) = (ends[number], quantiles.ends());
            if before.is_none() && !quantiles.takes_buckets(counts.rows_of(group_index)) {
                counts.forget(group_index);
                few[number] = Some(group_index);
            } else if min <= max {
                quantiles.span((self.number(min), self.number(max)));
                if quantiles.ends() != before {
                    counts.span(group_index, quantiles);
                }
            }
        }
        // Groups with so few rows that each value is kept; all their rows were marked.
        for (cell, step) in marked() {
            if let Some(group_index) = few[cell / classes.len()]
                && let State::Quantiles(quantiles) = &mut states[group_index as usize]
            {
                let weight = Weight::from_millionths(classes[cell % classes.len()]);
                quantiles.add(self.number(step), weight.unwrap_or(Weight::ONE));
            }
        }
        if self.numbers.scale > 0 {
            let by_number = cells.iter().map(|&cell| cell as usize / classes.len());
            self.note_fractions(states, used_groups, rows.space, by_number.zip(steps.iter()));
        }
        true
    }

    /// Notes which sketches have a value that is no integer. A row is its group number and its
    /// step; the group number is `space` if the row does not count.
    fn note_fractions<'s>(
        &self,
        states: &mut [State],
        used_groups: &[(usize, u32)],
        space: usize,
        rows: impl Iterator<Item = (usize, &'s u32)>,
    ) {
        // The sketches without such a value so far, by group number; mostly there are none.
        let mut open = vec![None; space + 1];
        for &(number, group_index) in used_groups {
            let State::Quantiles(quantiles) = &states[group_index as usize] else { continue };
            if !quantiles.is_exact() && quantiles.may_be_integers() {
                open[number] = Some(group_index);
            }
        }
        let mut left = open.iter().flatten().count();
        let unit = 10i64.pow(self.numbers.scale.into());
        for (number, &step) in rows {
            if left == 0 {
                return;
            }
            if let Some(group_index) = open[number]
                && self.reference.value(step) % unit != 0
                && let State::Quantiles(quantiles) = &mut states[group_index as usize]
            {
                quantiles.note_fraction();
                open[number] = None;
                left -= 1;
            }
        }
    }

    fn number(&self, step: u32) -> Number {
        match self.numbers.value_of(self.reference.value(step)) {
            Value::Number(number) => number,
            _ => Number::ZERO,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use hadal_aggregate::Quantiles;
    use hadal_aggregate::accumulate::bucket_of_decimal;
    use hadal_encoding::Bitmap;
    use hadal_query::{Expr, Measure, Query, QueryKind, StateKind};
    use hadal_types::{Logical, TableName};
    use proptest::prelude::*;

    use super::*;
    use crate::column::selection::Selection;

    /// The groups of a query for one distribution by one key.
    fn no_groups() -> Groups {
        let literal = || Expr::Literal(Value::Null);
        let measures = vec![Measure::new(StateKind::Quantiles, literal())];
        let shape = QueryKind::Groups { keys: vec![literal()], measures };
        Groups::new(&Query::new(TableName::new("t").expect("a name"), shape))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn buckets_are_those_of_the_sketch(
            steps in prop::collection::vec(prop_oneof![0u32..50, 0u32..1_000_000], 1..200),
            from in prop_oneof![Just(0i64), 0i64..1_000, Just(1 << 40)],
            step in prop_oneof![1i64..5, Just(1_000)], scale in 0u8..=18,
        ) {
            let span = steps.iter().copied().max().expect("some");
            let reference = FrameOfReference { from, step, span, steps: Rc::new(steps.into()) };
            let Some(buckets) = Buckets::new(&reference, scale) else {
                prop_assert_eq!(reference.last(), 0);
                return Ok(());
            };
            let first = u32::try_from(buckets.first - BUCKET_OFFSET).expect("above all others");
            let bits = ExponentBuckets { fraction_bits: BUCKET_FRACTION_BITS, first };
            for &k in reference.steps.iter() {
                let expected = bucket_of_decimal(reference.value(k), scale);
                let group_index = bits.place_of(buckets.quotients.value(k));
                let group_index = i32::try_from(group_index).expect("small");
                let bucket = if group_index == 0 { 0 } else { buckets.first + group_index - 1 };
                prop_assert_eq!(bucket, expected);
                prop_assert!(bucket <= buckets.last);
            }
        }

        #[test]
        fn all_groups_at_once_are_those_added_row_by_row(
            values in prop::collection::vec((0u32..4, 0u32..3, any::<bool>()), 1..900),
            wide in any::<bool>(), before in 0i64..300, from in -9i64..1_500, all in any::<bool>(),
            groups in 1usize..4, blocks in 1u32..4,
            are_twins in any::<bool>(), scale in 0u8..3, step in prop_oneof![Just(5i64), Just(100)],
        ) {
            // Different blocks may use different buckets.
            let spread = |block: u32| if wide { 997 * (block * 5_000 + 1) } else { 1 };
            let has: Vec<bool> = values.iter().map(|value| value.2 || all).collect();
            let valid = (!all).then(|| Rc::new(crate::column::bitmaps::bits(has.len(), |row| has[row])));
            let numbers = |block: u32| {
                let steps = (0u32..).take(values.len()).map(|at| at % 131 * spread(block));
                let reference = FrameOfReference {
                    from: 0, step, span: 131 * spread(block), steps: Rc::new(steps.collect()),
                };
                let (mantissas, logical) = (MantissaColumn::FrameOfReference(reference), Logical::Plain);
                Numbers { mantissas, scale, logical, valid: valid.clone() }
            };
            let columns: Vec<Numbers> = (0..blocks).map(numbers).collect();
            let mut chosen = Bitmap::ones(values.len());
            if wide {
                chosen = crate::column::bitmaps::bits(values.len(), |row| row % 3 != 1);
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
            let rows = GroupedRows::new(&selection, &by_row, groups, &weights);
            let mut batched = no_groups();
            let mut expected = Vec::new();
            let mut used_groups = Vec::new();
            // Two group numbers may belong to the same group.
            let group_of = |number: usize| if are_twins { number / 2 } else { number };
            for group in 0..=group_of(groups - 1) {
                let key = Value::integer(i64::try_from(group).expect("small"));
                let key = batched.key_mut(0).number_of(&key);
                let group_index = batched.find_or_insert(&[key]).expect("room");
                let mut state = Quantiles::default();
                (from..from + before).for_each(|n| state.add(Number::integer(n), weights.of(0)));
                batched.states_mut(0)[group_index as usize] = State::Quantiles(state.clone());
                let of_group = |row: &&u32| group_of(of_row(**row as usize)) == group;
                let of_group: Vec<usize> =
                    selected.iter().filter(of_group).map(|&row| row as usize).collect();
                for numbers in &columns {
                    for &row in of_group.iter().filter(|&&row| numbers.has(row)) {
                        let value = numbers.value_of(numbers.mantissas.get(row));
                        let Value::Number(value) = value else { panic!("a number") };
                        state.add(value, weights.of(row));
                    }
                }
                expected.push(State::Quantiles(state));
                let numbers = (0..groups).filter(|&number| group_of(number) == group);
                used_groups.extend(numbers.map(|number| (number, group_index)));
            }
            for numbers in &columns {
                let all_at_once = QuantileRows::new(numbers, &rows).expect("near numbers");
                prop_assert!(all_at_once.add_to(&mut batched, 0, &used_groups, &rows));
            }
            let (mut merged, mut other) = (batched.clone(), batched.clone());
            other.states_mut(0).fill(State::new(StateKind::Quantiles));
            merged.merge(other);
            prop_assert_eq!(merged.states_mut(0), expected.as_slice());
            prop_assert_eq!(batched.states_mut(0), expected.as_slice());
        }
    }
}
