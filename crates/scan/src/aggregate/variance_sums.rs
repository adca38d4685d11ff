//! Variances of decimals whose rows have a few weights: Σx and Σx² of each cell are summed as the
//! decimals of sums are, and weighted once per cell.

use std::rc::Rc;

use hadal_aggregate::{Groups, State, WeightedCount};
use hadal_encoding::Buffer;
use hadal_query::StateKind;

use crate::aggregate::block_sums::BlockSums;
use crate::aggregate::sum_decimals::SumDecimals;
use crate::column::column_values::{ColumnValues, Numbers};
use crate::column::decimals::{DictionaryMantissas, FrameOfReference, MantissaColumn};
use crate::group::grouped_rows::GroupedRows;

/// The sums of one block by cell.
pub(crate) struct VarianceSums {
    sums: BlockSums,
    /// The weight of each class in millionths; rows that weigh nothing do not count.
    classes: Vec<i64>,
    scale: u8,
}

impl VarianceSums {
    /// Sums the rows; `classes` has what the rows of each class weigh here. `None` if each row has
    /// its own weight, if a sum may be too long, or if there are many groups: cells would take more
    /// memory than the rows.
    pub(crate) fn new(
        numbers: &Numbers,
        rows: &GroupedRows<'_>,
        classes: Vec<i64>,
    ) -> Option<Self> {
        if classes.is_empty() || rows.has_many_groups() {
            return None;
        }
        let heaviest = u128::try_from(classes.iter().copied().max()?).ok()?;
        if heaviest == 0 {
            let sums = BlockSums { counts: Vec::new(), sums: Vec::new() };
            return Some(Self { sums, classes, scale: numbers.scale });
        }
        let (longest, halves) = halves_of_squares(&numbers.mantissas)?;
        let count = rows.selection.count() as u128;
        let most = u128::from(longest).checked_mul(count)?.checked_mul(heaviest)?;
        i128::try_from(most).ok()?;
        let column = |mantissas| ColumnValues::Numbers(Numbers { mantissas, ..numbers.clone() });
        let columns = [numbers.mantissas.clone()].into_iter().chain(halves).map(column);
        let columns: Vec<ColumnValues<'_>> = columns.collect();
        let moments = columns.iter().map(|values| (StateKind::Moments, values));
        let decimals = SumDecimals::new(moments, rows);
        if !(0..columns.len()).all(|index| decimals.has(index)) {
            return None;
        }
        Some(Self { sums: decimals.up(rows), classes, scale: numbers.scale })
    }

    /// Adds to measure `measure` of all groups. `used_groups` has the group number in this block
    /// and the group index of each group.
    pub(crate) fn add_to(&self, groups: &mut Groups, measure: usize, used_groups: &[(usize, u32)]) {
        // A block without any value, or without weights, has no sums.
        let ([sums, low, high], Some(counts)) =
            (self.sums.sums.as_slice(), self.sums.counts.last())
        else {
            return;
        };
        let states = groups.states_mut(measure);
        for &(number, group_index) in used_groups {
            let State::Comoments(comoments) = &mut states[group_index as usize] else { continue };
            let mut count = WeightedCount::default();
            let (mut sum, mut sum_of_squares) = (0i128, 0i128);
            let first = number * self.classes.len();
            for (cell, &weight) in (first..).zip(&self.classes).filter(|(_, weight)| **weight > 0) {
                let (rows, weight) = (i128::from(counts[cell]), i128::from(weight));
                count.add(counts[cell], rows * weight, rows * weight * weight);
                sum += i128::from(sums[cell].cast_signed()) * weight;
                sum_of_squares += (i128::from(low[cell]) + (i128::from(high[cell]) << 32)) * weight;
            }
            if count.rows() > 0 {
                comoments.add_decimals(count, (sum, sum_of_squares), self.scale);
            }
        }
    }
}

/// The largest possible square, and the lower and the upper 32 bits of all squares, whose sums are
/// short. `None` if a square is longer than 64 bits.
fn halves_of_squares(mantissas: &MantissaColumn) -> Option<(u64, [MantissaColumn; 2])> {
    let (min, max) = mantissas.bounds();
    let longest = min.unsigned_abs().max(max.unsigned_abs());
    let longest = longest.checked_mul(longest)?;
    let squares: Vec<u64> = match mantissas {
        MantissaColumn::FrameOfReference(reference) => {
            reference.steps.iter().map(|&k| square(reference.value(k))).collect()
        }
        MantissaColumn::Dictionary(DictionaryMantissas { codes, values }) => {
            let squares: Vec<u64> = values.iter().map(|&value| square(value)).collect();
            codes.iter().map(|&code| squares[code as usize]).collect()
        }
        MantissaColumn::Plain(values) => values.iter().map(|&value| square(value)).collect(),
    };
    let half = |shift: u32| {
        let span = u32::try_from((longest >> shift).min(u32::MAX.into())).unwrap_or(u32::MAX);
        if span == 0 {
            return MantissaColumn::FrameOfReference(FrameOfReference::same(0, squares.len()));
        }
        #[expect(clippy::cast_possible_truncation, reason = "the lower half is wanted")]
        let steps: Buffer = squares.iter().map(|&square| (square >> shift) as u32).collect();
        let steps = Rc::new(steps);
        MantissaColumn::FrameOfReference(FrameOfReference { from: 0, step: 1, span, steps })
    };
    Some((longest, [half(0), half(32)]))
}

/// The square of a number of at most 32 bits.
const fn square(number: i64) -> u64 {
    number.unsigned_abs() * number.unsigned_abs()
}

#[cfg(test)]
mod tests {
    use hadal_encoding::Bitmap;
    use hadal_query::{Expr, Measure, Query, QueryKind};
    use hadal_types::{Logical, TableName, Value, Weight};
    use proptest::prelude::*;

    use super::*;
    use crate::column::bitmaps::bits;
    use crate::column::selection::Selection;
    use crate::column::weights::Weights;

    fn no_groups() -> Groups {
        let literal = || Expr::Literal(Value::Null);
        let measures = vec![Measure::new(StateKind::Variance, literal())];
        let shape = QueryKind::Groups { keys: vec![literal()], measures };
        Groups::new(&Query::new(TableName::new("t").expect("a name"), shape))
    }

    fn mantissas() -> impl Strategy<Value = MantissaColumn> {
        let values = prop_oneof![
            prop::collection::vec(-90i64..90, 40..300),
            prop::collection::vec(prop_oneof![Just(1_700_000_000i64), 0..1i64 << 32], 40..300),
            prop::collection::vec(any::<i64>(), 40..300),
        ];
        (values, 0..3).prop_map(|(values, form)| match form {
            0 => MantissaColumn::Plain(Rc::new(values)),
            1 => MantissaColumn::Dictionary(DictionaryMantissas {
                codes: Rc::new((0u32..).take(values.len()).collect()),
                values: Rc::new(values),
            }),
            _ => MantissaColumn::new(values),
        })
    }

    #[test]
    fn sums_that_may_be_too_long_are_not_begun() {
        let has_sums = |count: usize| {
            let mantissas = MantissaColumn::Plain(Rc::new(vec![u32::MAX.into(); count]));
            let numbers = Numbers { mantissas, scale: 0, logical: Logical::Plain, valid: None };
            let millionths = vec![Weight::MILLIONTHS_MAX];
            let weights = Weights::Classes { millionths, by_row: vec![0; count].into() };
            let (selection, by_number) = (Selection::all(count), vec![0; count]);
            let rows = GroupedRows::new(&selection, &by_number, 1, &weights);
            VarianceSums::new(&numbers, &rows, weights.variance_classes()).is_some()
        };
        // 9,223 squares of nearly 2^64, each with 10^15 millionths, reach 2^127.
        assert!(has_sums(9_000));
        assert!(!has_sums(10_000));
    }

    proptest! {
        #[test]
        fn all_groups_at_once_are_those_added_row_by_row(
            mantissas in mantissas(), scale in 0u8..=18, is_sampling in any::<bool>(),
            has_nulls in any::<bool>(), is_part in any::<bool>(), space in 1usize..3,
            millionths in prop::collection::vec(
                prop_oneof![Just(1_000_000i64), 1i64..9_000_000, Just(1_000_000_000_000_000)], 1..4,
            ),
        ) {
            let count = match &mantissas {
                MantissaColumn::FrameOfReference(reference) => reference.steps.len(),
                MantissaColumn::Dictionary(coded) => coded.codes.len(),
                MantissaColumn::Plain(values) => values.len(),
            };
            let valid = has_nulls.then(|| Rc::new(bits(count, |row| row % 7 != 3)));
            let numbers = Numbers { mantissas, scale, logical: Logical::Plain, valid };
            let mut selection = Selection::all(count);
            let chosen = if is_part { bits(count, |row| row % 5 < 3) } else { Bitmap::ones(count) };
            selection.narrow(&chosen);
            let classes = u32::try_from(millionths.len()).expect("few");
            let by_row = (0u32..).map(|row| row % classes).take(count).collect();
            let weights = Weights::Classes { millionths, by_row };
            let by_number: Vec<u32> = selection.to_rows().iter()
                .map(|row| row * row % u32::try_from(space).expect("small")).collect();
            let rows = GroupedRows::new(&selection, &by_number, space, &weights);
            let used: Vec<(usize, u32)> = (0..space).zip(0u32..).collect();
            let classes =
                if is_sampling { weights.variance_classes() } else { rows.classes().to_vec() };
            let Some(sums) = VarianceSums::new(&numbers, &rows, classes) else {
                let (min, max) = numbers.mantissas.bounds();
                let longest = min.unsigned_abs().max(max.unsigned_abs());
                prop_assert!(longest > u32::MAX.into() || rows.has_many_groups());
                return Ok(());
            };
            let (mut batched, mut plain) = (no_groups(), no_groups());
            for (_, key) in &used {
                for groups in [&mut batched, &mut plain] {
                    let key = groups.key_mut(0).number_of(&Value::integer((*key).into()));
                    groups.find_or_insert(&[key]).expect("room");
                }
            }
            sums.add_to(&mut batched, 0, &used);
            for (&row, &number) in selection.to_rows().iter().zip(&by_number) {
                let row = row as usize;
                let weight = weights.of(row);
                let weight = if is_sampling { weight.sampling_variance() } else { Some(weight) };
                if numbers.has(row) && let Some(weight) = weight {
                    let value = numbers.value_of(numbers.mantissas.get(row));
                    plain.states_mut(0)[number as usize].add(&value, weight);
                }
            }
            prop_assert_eq!(batched.states_mut(0), plain.states_mut(0));
        }
    }
}
