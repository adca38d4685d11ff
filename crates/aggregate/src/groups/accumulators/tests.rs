use proptest::prelude::*;

use super::*;
use crate::state::sum::Sum;
use crate::state::{Moments, State};

const PLACES: usize = 3;
const MEASURES: usize = 3;

/// One row: its place, its weight's class, and the mantissa of each measure; `None`: no value.
type Row = (usize, usize, [Option<i64>; MEASURES]);

/// Rows that come in together.
#[derive(Clone, Debug)]
struct Block {
    classes: Vec<i64>,
    /// By measure: the scale, or `None` where nothing comes in.
    scales: [Option<u8>; MEASURES],
    rows: Vec<Row>,
}

impl Block {
    /// The rows that have a value of a measure.
    fn valid(&self, measure: usize) -> Vec<bool> {
        self.rows.iter().map(|row| row.2[measure].is_some()).collect()
    }

    /// A number for each different set of rows that have a value; 0 for all.
    fn valid_number(&self, measure: usize) -> usize {
        let own = self.valid(measure);
        match own.iter().all(|valid| *valid) {
            true => 0,
            false => {
                (0..=measure).position(|other| self.valid(other) == own).map_or(0, |at| at + 1)
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

    /// Adds the rows to cells; `false` where there is no room.
    fn add_to(&self, cells: &mut Cells) -> bool {
        let sums = self.sums();
        let incoming = AccumulatorInput { classes: &self.classes, sums: &sums };
        let Some(layout) = cells.prepare(&incoming) else { return false };
        let numbers = cells.numbers_mut(PLACES);
        let width = layout.columns.len();
        for (place, class, values) in &self.rows {
            let start = (place * layout.class_count + layout.classes[*class]) * width;
            for (number, column) in numbers[start..start + width].iter_mut().zip(&layout.columns) {
                *number += match column {
                    AccumulatorColumn::Nothing | AccumulatorColumn::Count(0) => {
                        i64::from(*column == AccumulatorColumn::Count(0))
                    }
                    AccumulatorColumn::Count(valid) => {
                        let measure = (0..MEASURES).find(|own| self.valid_number(*own) == *valid);
                        i64::from(values[measure.expect("asked for")].is_some())
                    }
                    AccumulatorColumn::Sum { index, factor } => {
                        values[sums[*index].measure].unwrap_or(0) * factor
                    }
                };
            }
        }
        true
    }
}

/// What rows come to, one by one.
#[derive(Clone)]
struct Plain {
    tallies: Vec<WeightedCount>,
    states: Vec<Vec<State>>,
}

impl Plain {
    fn new() -> Self {
        let state =
            || State::Moments(Moments { tally: WeightedCount::default(), sum: Sum::default() });
        let states = (0..PLACES).map(|_| (0..MEASURES).map(|_| state()).collect()).collect();
        Self { tallies: vec![WeightedCount::default(); PLACES], states }
    }

    fn add(&mut self, block: &Block) {
        for (place, class, values) in &block.rows {
            let weight = i128::from(block.classes[*class]);
            let mut tally = WeightedCount::default();
            tally.add(1, weight, weight * weight);
            self.tallies[*place].merge(tally);
            for (measure, scale) in block.scales.iter().enumerate() {
                if let (Some(scale), Some(value)) = (scale, values[measure]) {
                    let product = i128::from(value) * weight;
                    self.states[*place][measure].add_decimal(tally, product, *scale);
                }
            }
        }
    }

    /// Adds what the cells hold, and empties them.
    fn take(&mut self, cells: &mut Cells) {
        for place in 0..PLACES {
            self.tallies[place].merge(cells.tally(place));
            for measure in cells.measures() {
                let (tally, product, scale) = cells.decimal(place, measure).expect("it has some");
                self.states[place][measure].add_decimal(tally, product, scale);
            }
        }
        *cells = Cells::new(MEASURES);
    }
}

fn block() -> impl Strategy<Value = Block> {
    let value = prop_oneof![4 => -99i64..99, 1 => Just(1 << 59), 1 => Just(-(1 << 59))];
    // Columns that are null together, and one that is null elsewhere.
    let nulls =
        prop_oneof![Just([false, false, false]), Just([true, true, false]), any::<[bool; 3]>()];
    let weights = prop_oneof![Just(1_000_000i64), Just(2_500_000), 1i64..9_000_000];
    (
        prop::collection::vec(weights, 1..9),
        prop::array::uniform3(prop::option::weighted(0.8, 0u8..4)),
        prop::collection::vec((0..PLACES, any::<u8>(), prop::array::uniform3(value), nulls), 1..9),
    )
        .prop_map(|(classes, scales, rows)| {
            let row = |(place, class, values, nulls): (usize, u8, [i64; 3], [bool; 3])| {
                let value = |at: usize| (!nulls[at] && scales[at].is_some()).then_some(values[at]);
                (place, usize::from(class) % classes.len(), [0, 1, 2].map(value))
            };
            let rows = rows.into_iter().map(row).collect();
            Block { rows, classes, scales }
        })
}

#[test]
fn the_largest_weights_do_not_wrap() {
    let mut cells = Cells::new(0);
    let largest = hadal_types::Weight::MILLIONTHS_MAX;
    cells.prepare(&AccumulatorInput { classes: &[largest], sums: &[] }).expect("room");
    cells.numbers_mut(1)[ALL_ROWS] = 1 << 40;
    let tally = cells.tally(0);
    assert_eq!((tally.rows(), tally.weight_squares()), (1 << 40, i128::MAX));
    assert_eq!(cells.weights().next(), Some(i128::from(largest) << 40));
}

proptest! {
    #[test]
    fn cells_come_to_what_rows_come_to(blocks in prop::collection::vec(block(), 1..8)) {
        let (mut plain, mut taken) = (Plain::new(), Plain::new());
        let mut cells = Cells::new(MEASURES);
        for block in &blocks {
            plain.add(block);
            if !block.add_to(&mut cells) {
                taken.take(&mut cells);
                prop_assert!(block.add_to(&mut cells), "there is room in empty cells");
            }
        }
        let kept = cells.kept(&[2, 0]);
        for (own, place) in [2, 0].into_iter().enumerate() {
            prop_assert_eq!(kept.tally(own), cells.tally(place));
            for measure in cells.measures() {
                prop_assert_eq!(kept.decimal(own, measure), cells.decimal(place, measure));
            }
        }
        taken.take(&mut cells);
        prop_assert_eq!(&taken.tallies, &plain.tallies);
        prop_assert_eq!(&taken.states, &plain.states);
    }

    #[test]
    fn merged_cells_are_those_of_all_rows(
        left in prop::collection::vec(block(), 0..4), right in prop::collection::vec(block(), 1..4),
    ) {
        let (mut plain, mut taken) = (Plain::new(), Plain::new());
        let mut both = [Cells::new(MEASURES), Cells::new(MEASURES)];
        for (cells, blocks) in both.iter_mut().zip([&left, &right]) {
            for block in blocks {
                plain.add(block);
                if !block.add_to(cells) {
                    taken.take(cells);
                    prop_assert!(block.add_to(cells));
                }
            }
        }
        let [mut own, mut other] = both;
        let places: Vec<Option<u32>> = (0..).take(PLACES).map(Some).collect();
        if !own.merge(&other, 0, &places, PLACES) {
            taken.take(&mut other);
        }
        taken.take(&mut own);
        prop_assert_eq!(&taken.tallies, &plain.tallies);
        prop_assert_eq!(&taken.states, &plain.states);
    }
}
