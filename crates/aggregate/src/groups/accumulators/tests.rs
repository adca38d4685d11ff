use proptest::prelude::*;

use super::*;
use crate::state::sum::Sum;
use crate::state::{Moments, State};

const GROUPS: usize = 3;
const MEASURES: usize = 3;

/// One row: its group index, its weight class, and the mantissa of each measure, or `None`.
type Row = (usize, usize, [Option<i64>; MEASURES]);

/// Rows that come in together.
#[derive(Clone, Debug)]
struct Block {
    classes: Vec<i64>,
    /// By measure: the scale, or `None` if no sum comes in.
    scales: [Option<u8>; MEASURES],
    rows: Vec<Row>,
}

impl Block {
    /// Which rows have a value of a measure.
    fn valid(&self, measure: usize) -> Vec<bool> {
        self.rows.iter().map(|row| row.2[measure].is_some()).collect()
    }

    /// A number for each different set of rows with a value; 0 for all rows.
    fn valid_number(&self, measure: usize) -> usize {
        let rows = self.valid(measure);
        match rows.iter().all(|valid| *valid) {
            true => 0,
            false => {
                (0..=measure).position(|other| self.valid(other) == rows).map_or(0, |at| at + 1)
            }
        }
    }

    fn sums(&self) -> Vec<SumInput> {
        let sum = |measure| {
            let values = self.rows.iter().filter_map(|row: &Row| row.2[measure]);
            Some(SumInput {
                measure,
                scale: self.scales[measure]?,
                valid: self.valid_number(measure),
                size_max: values.map(|value| u128::from(value.unsigned_abs())).sum(),
            })
        };
        (0..MEASURES).filter_map(sum).collect()
    }

    /// Adds the rows to accumulators; `false` if they do not fit.
    fn add_to(&self, accumulators: &mut Accumulators) -> bool {
        let sums = self.sums();
        let rows = self.rows.len() as u64;
        let incoming =
            AccumulatorInput { classes: &self.classes, sums: &sums, rows, weighted: None };
        let Some(layout) = accumulators.prepare(&incoming) else { return false };
        let numbers = accumulators.numbers_mut(GROUPS);
        let width = layout.columns.len();
        for (group_index, class, values) in &self.rows {
            let start = (group_index * layout.class_count + layout.classes[*class]) * width;
            for (number, column) in numbers[start..start + width].iter_mut().zip(&layout.columns) {
                let addend = match column {
                    AccumulatorColumn::Nothing => 0,
                    AccumulatorColumn::Count { valid: 0, .. }
                    | AccumulatorColumn::Squares { valid: 0, .. } => 1,
                    AccumulatorColumn::Count { valid, .. }
                    | AccumulatorColumn::Squares { valid, .. } => {
                        let measure =
                            (0..MEASURES).find(|measure| self.valid_number(*measure) == *valid);
                        i64::from(values[measure.expect("asked for")].is_some())
                    }
                    AccumulatorColumn::Sum { index, .. } => {
                        values[sums[*index].measure].unwrap_or(0)
                    }
                };
                *number += column.factors().get(*class).map_or(0, |factor| addend * factor);
            }
        }
        true
    }
}

/// The expected counts and states, computed row by row.
#[derive(Clone)]
struct Plain {
    counts: Vec<WeightedCount>,
    states: Vec<Vec<State>>,
}

impl Plain {
    fn new() -> Self {
        let state =
            || State::Moments(Moments { count: WeightedCount::default(), sum: Sum::default() });
        let states = (0..GROUPS).map(|_| (0..MEASURES).map(|_| state()).collect()).collect();
        Self { counts: vec![WeightedCount::default(); GROUPS], states }
    }

    fn add(&mut self, block: &Block) {
        for (group_index, class, values) in &block.rows {
            let weight = i128::from(block.classes[*class]);
            let mut count = WeightedCount::default();
            count.add(1, weight, weight * weight);
            self.counts[*group_index].merge(count);
            for (measure, scale) in block.scales.iter().enumerate() {
                if let (Some(scale), Some(value)) = (scale, values[measure]) {
                    let product = i128::from(value) * weight;
                    self.states[*group_index][measure].add_decimal(count, product, *scale);
                }
            }
        }
    }

    /// Adds the content of the accumulators, and empties them.
    fn take(&mut self, accumulators: &mut Accumulators) {
        for group_index in 0..GROUPS {
            self.counts[group_index].merge(accumulators.count(group_index));
            for measure in accumulators.measures() {
                let (count, product, scale) =
                    accumulators.decimal(group_index, measure).expect("it has some");
                self.states[group_index][measure].add_decimal(count, product, scale);
            }
        }
        *accumulators = Accumulators::new(MEASURES);
    }
}

fn block() -> impl Strategy<Value = Block> {
    let value = prop_oneof![4 => -99i64..99, 1 => Just(1 << 59), 1 => Just(-(1 << 59))];
    // Columns that are null in the same rows, and one that is null in others.
    let nulls =
        prop_oneof![Just([false, false, false]), Just([true, true, false]), any::<[bool; 3]>()];
    let weights = prop_oneof![Just(1_000_000i64), Just(2_500_000), 1i64..9_000_000];
    (
        prop::collection::vec(weights, 1..9),
        prop::array::uniform3(prop::option::weighted(0.8, 0u8..4)),
        prop::collection::vec((0..GROUPS, any::<u8>(), prop::array::uniform3(value), nulls), 1..9),
    )
        .prop_map(|(classes, scales, rows)| {
            let row = |(group_index, class, values, nulls): (usize, u8, [i64; 3], [bool; 3])| {
                let value = |at: usize| (!nulls[at] && scales[at].is_some()).then_some(values[at]);
                (group_index, usize::from(class) % classes.len(), [0, 1, 2].map(value))
            };
            let rows = rows.into_iter().map(row).collect();
            Block { rows, classes, scales }
        })
}

#[test]
fn few_small_weights_share_the_accumulators_of_a_group() {
    let layout_of = |classes: &[i64], rows| {
        let incoming = AccumulatorInput { classes, sums: &[], rows, weighted: None };
        let layout = Accumulators::new(0).prepare(&incoming).expect("room");
        (layout.class_count, layout.columns.len())
    };
    assert_eq!(layout_of(&[1_000_000], 9), (1, 1));
    assert_eq!(layout_of(&[1_000_000, 100_000_000, 2_500_000], 9), (1, 2));
    // Large multiples of the unit, or many rows, leave no room.
    assert_eq!(layout_of(&[1_000_000, 1_000_001], 9), (2, 1));
    assert_eq!(layout_of(&[1_000_000, 2_000_000], 1 << 27), (2, 1));
}

#[test]
fn the_largest_weights_do_not_wrap() {
    let mut accumulators = Accumulators::new(0);
    let largest = hadal_types::Weight::MILLIONTHS_MAX;
    let incoming =
        AccumulatorInput { classes: &[largest], sums: &[], rows: 1 << 40, weighted: None };
    accumulators.prepare(&incoming).expect("room");
    accumulators.numbers_mut(1)[ALL_ROWS] = 1 << 40;
    let count = accumulators.count(0);
    assert_eq!((count.rows(), count.weight_squares()), (1 << 40, i128::MAX));
    assert_eq!(accumulators.weights().next(), Some(i128::from(largest) << 40));
}

proptest! {
    #[test]
    fn cells_come_to_what_rows_come_to(blocks in prop::collection::vec(block(), 1..8)) {
        let (mut plain, mut taken) = (Plain::new(), Plain::new());
        let mut accumulators = Accumulators::new(MEASURES);
        for block in &blocks {
            plain.add(block);
            if !block.add_to(&mut accumulators) {
                taken.take(&mut accumulators);
                prop_assert!(block.add_to(&mut accumulators), "there is room in empty cells");
            }
        }
        let kept = accumulators.kept(&[2, 0]);
        for (kept_index, group_index) in [2, 0].into_iter().enumerate() {
            prop_assert_eq!(kept.count(kept_index), accumulators.count(group_index));
            for measure in accumulators.measures() {
                let expected = accumulators.decimal(group_index, measure);
                prop_assert_eq!(kept.decimal(kept_index, measure), expected);
            }
        }
        taken.take(&mut accumulators);
        prop_assert_eq!(&taken.counts, &plain.counts);
        prop_assert_eq!(&taken.states, &plain.states);
    }

    #[test]
    fn merged_cells_are_those_of_all_rows(
        left in prop::collection::vec(block(), 0..4), right in prop::collection::vec(block(), 1..4),
    ) {
        let (mut plain, mut taken) = (Plain::new(), Plain::new());
        let mut both = [Accumulators::new(MEASURES), Accumulators::new(MEASURES)];
        for (accumulators, blocks) in both.iter_mut().zip([&left, &right]) {
            for block in blocks {
                plain.add(block);
                if !block.add_to(accumulators) {
                    taken.take(accumulators);
                    prop_assert!(block.add_to(accumulators));
                }
            }
        }
        let [mut merged, mut other] = both;
        let group_indexes: Vec<Option<u32>> = (0..).take(GROUPS).map(Some).collect();
        if !merged.merge(&other, 0, &group_indexes, GROUPS) {
            taken.take(&mut other);
        }
        taken.take(&mut merged);
        prop_assert_eq!(&taken.counts, &plain.counts);
        prop_assert_eq!(&taken.states, &plain.states);
    }
}
