//! Measures of one block: arrays indexed by group number, filled in one pass over the rows;
//! sketches group by group.

use std::cell::OnceCell;

use hadal_aggregate::{Moments, State, Tally, weighted};
use hadal_encoding::Bitmap;
use hadal_query::StateKind;
use hadal_types::{Logical, Weight};

use crate::selection::Selection;
use crate::sketching::Sketching;
use crate::values::{BlockValues, Coded, Doubles, Mixed, Numbers};
use crate::weights::Weights;

/// The selected rows of one block, with their groups and weights.
pub(crate) struct Rows<'r> {
    pub(crate) selection: &'r Selection,
    /// One group number per selected row, each below `space`.
    pub(crate) numbers: &'r [u32],
    pub(crate) space: usize,
    pub(crate) weights: &'r Weights,
    /// Made when first asked for.
    by_group: OnceCell<RowsByGroup>,
}

/// The rows of each group, one after the other.
struct RowsByGroup {
    /// Where the rows of each group number end.
    ends: Vec<u32>,
    rows: Vec<u32>,
}

impl<'r> Rows<'r> {
    pub(crate) fn new(
        selection: &'r Selection,
        numbers: &'r [u32],
        space: usize,
        weights: &'r Weights,
    ) -> Self {
        Self { selection, numbers, space, weights, by_group: OnceCell::new() }
    }

    /// The rows of a group number, in ascending order.
    pub(crate) fn of_group(&self, number: usize) -> &[u32] {
        let by_group = self.by_group.get_or_init(|| self.sort_by_group());
        let start = number.checked_sub(1).map_or(0, |before| by_group.ends[before]);
        &by_group.rows[start as usize..by_group.ends[number] as usize]
    }

    /// A counting sort.
    fn sort_by_group(&self) -> RowsByGroup {
        let mut ends = vec![0u32; self.space];
        self.numbers.iter().for_each(|&number| ends[number as usize] += 1);
        let mut start = 0;
        for end in &mut ends {
            start += std::mem::replace(end, start);
        }
        let mut rows = vec![0u32; self.numbers.len()];
        #[expect(clippy::cast_possible_truncation, reason = "a block has at most 65,536 rows")]
        self.for_each(None, |number, row| {
            // Where the next row of the group goes; after the last one, the group's end.
            let end = &mut ends[number];
            rows[*end as usize] = row as u32;
            *end += 1;
        });
        RowsByGroup { ends, rows }
    }

    /// Calls `visit` with the group number and the row of each selected row that `valid` has.
    #[inline]
    fn for_each(&self, valid: Option<&Bitmap>, mut visit: impl FnMut(usize, usize)) {
        let mut numbers = self.numbers.iter();
        self.selection.for_each(|row| {
            let Some(&number) = numbers.next() else { return };
            if valid.is_none_or(|valid| valid.get(row)) {
                visit(number as usize, row);
            }
        });
    }

    /// The tally of each group's rows that `valid` has.
    pub(crate) fn tallies(&self, valid: Option<&Bitmap>) -> Vec<Tally> {
        let mut tallies = vec![Tally::default(); self.space];
        match self.weights {
            Weights::One => {
                let mut counts = vec![0u64; self.space];
                self.for_each(valid, |number, _| counts[number] += 1);
                for (tally, count) in tallies.iter_mut().zip(counts) {
                    tally.add_rows(count);
                }
            }
            Weights::ByRow(millionths) => {
                let mut sums = vec![(0u64, 0i128, 0i128); self.space];
                self.for_each(valid, |number, row| {
                    let weight = i128::from(millionths[row]);
                    let sum = &mut sums[number];
                    *sum = (sum.0 + 1, sum.1 + weight, sum.2 + weight * weight);
                });
                for (tally, (rows, weight, squares)) in tallies.iter_mut().zip(sums) {
                    tally.add(rows, weight, squares);
                }
            }
        }
        tallies
    }
}

/// What one measure has to say of the block, ready to be added to its groups.
pub(crate) enum Measured<'v> {
    /// A state by group number: what is cheapest in one pass over the rows.
    States(Vec<State>),
    /// Added group by group.
    ByGroup(Sketching<'v>),
}

impl<'v> Measured<'v> {
    /// The measure of this kind of `values`. `tallies` are those of the rows, by group number.
    pub(crate) fn new(
        kind: StateKind,
        values: &'v BlockValues<'_>,
        rows: &Rows<'_>,
        tallies: &[Tally],
    ) -> Self {
        match (kind, values) {
            (StateKind::Moments, BlockValues::Numbers(numbers)) if is_plain(numbers) => {
                Self::States(moments(numbers, rows, tallies))
            }
            (StateKind::Moments, BlockValues::Truths(truths)) => Self::States(moments(
                &truths.to_numbers(rows.selection.block_rows()),
                rows,
                tallies,
            )),
            (StateKind::Moments, BlockValues::Doubles(doubles)) => {
                Self::States(moments_of_doubles(doubles, rows))
            }
            (StateKind::Moments, BlockValues::Mixed(mixed)) => {
                Self::States(moments_of_mixed(mixed, rows))
            }
            (StateKind::Moments, BlockValues::Coded(coded)) if coded.has_no_numbers() => {
                Self::States(counts(coded, rows))
            }
            (StateKind::Extremes, BlockValues::Numbers(numbers)) => {
                Self::States(extremes(numbers, rows))
            }
            _ => Self::ByGroup(Sketching::new(kind, values)),
        }
    }

    /// Adds to `own` the rows of a group number.
    pub(crate) fn add_to(&mut self, own: &mut State, number: usize, rows: &Rows<'_>) {
        match self {
            Self::States(states) => {
                own.merge(&states[number]);
            }
            Self::ByGroup(sketching) => sketching.add_to(own, rows.of_group(number), rows.weights),
        }
    }
}

pub(crate) fn is_plain(numbers: &Numbers) -> bool {
    numbers.logical == Logical::Plain
}

fn moments(numbers: &Numbers, rows: &Rows<'_>, tallies: &[Tally]) -> Vec<State> {
    let valid = numbers.valid.as_deref();
    let own_tallies = valid.map(|valid| rows.tallies(Some(valid)));
    let tallies = own_tallies.as_deref().unwrap_or(tallies);
    let products = match rows.weights {
        Weights::One => {
            let unit = i128::from(Weight::UNIT);
            sums(numbers, rows).into_iter().map(|sum| sum * unit).collect()
        }
        Weights::ByRow(millionths) => {
            let mut products = vec![0i128; rows.space];
            rows.for_each(valid, |number, row| {
                products[number] +=
                    i128::from(numbers.mantissas[row]) * i128::from(millionths[row]);
            });
            products
        }
    };
    let moments = |(tally, product): (&Tally, i128)| {
        let mut moments = Moments { tally: *tally, ..Moments::default() };
        moments.sum.add_decimal(product, numbers.scale);
        State::Moments(moments)
    };
    tallies.iter().zip(products).map(moments).collect()
}

/// The sum of mantissas by group number, in 64 bits where that is certain to do.
fn sums(numbers: &Numbers, rows: &Rows<'_>) -> Vec<i128> {
    let valid = numbers.valid.as_deref();
    let mantissas = numbers.mantissas.as_slice();
    let largest = mantissas.iter().map(|mantissa| mantissa.unsigned_abs()).max().unwrap_or(0);
    if largest.checked_mul(mantissas.len() as u64).is_some_and(|sum| i64::try_from(sum).is_ok()) {
        let mut sums = vec![0i64; rows.space];
        rows.for_each(valid, |number, row| sums[number] += mantissas[row]);
        return sums.into_iter().map(i128::from).collect();
    }
    let mut sums = vec![0i128; rows.space];
    rows.for_each(valid, |number, row| sums[number] += i128::from(mantissas[row]));
    sums
}

/// Moments of values that are no numbers: they are only counted.
fn counts(coded: &Coded<'_>, rows: &Rows<'_>) -> Vec<State> {
    let start = |tally| State::Moments(Moments { tally, ..Moments::default() });
    rows.tallies(Some(&coded.valid())).into_iter().map(start).collect()
}

fn moments_of_doubles(doubles: &Doubles, rows: &Rows<'_>) -> Vec<State> {
    let valid = doubles.valid.as_deref();
    let start = |tally| Moments { tally, ..Moments::default() };
    let mut moments: Vec<Moments> = rows.tallies(valid).into_iter().map(start).collect();
    rows.for_each(valid, |number, row| {
        let product = weighted(doubles.values[row], rows.weights.of(row));
        moments[number].sum.add_double(product);
    });
    moments.into_iter().map(State::Moments).collect()
}

fn moments_of_mixed(mixed: &Mixed, rows: &Rows<'_>) -> Vec<State> {
    let valid = mixed.doubles.valid.as_deref();
    let start = |tally| Moments { tally, ..Moments::default() };
    let mut moments: Vec<Moments> = rows.tallies(valid).into_iter().map(start).collect();
    rows.for_each(valid, |number, row| {
        let (sum, value) = (&mut moments[number].sum, mixed.number(row));
        let weight = rows.weights.of(row);
        match value.to_stored() {
            Some(_) => sum.add(value, weight),
            // The same as adding the number, which would have to look for its double.
            None => sum.add_double(weighted(mixed.doubles.values[row], weight)),
        }
    });
    moments.into_iter().map(State::Moments).collect()
}

/// The smallest and the largest mantissa of each group; where it has none, the smallest is
/// above the largest.
fn ranges(numbers: &Numbers, rows: &Rows<'_>) -> Vec<(i64, i64)> {
    let mut ranges = vec![(i64::MAX, i64::MIN); rows.space];
    rows.for_each(numbers.valid.as_deref(), |number, row| {
        let (mantissa, range) = (numbers.mantissas[row], &mut ranges[number]);
        *range = (range.0.min(mantissa), range.1.max(mantissa));
    });
    ranges
}

fn extremes(numbers: &Numbers, rows: &Rows<'_>) -> Vec<State> {
    let state = |(min, max): (i64, i64)| {
        let mut state = State::new(StateKind::Extremes);
        if min <= max {
            state.add(&numbers.value_of(min), Weight::ONE);
            state.add(&numbers.value_of(max), Weight::ONE);
        }
        state
    };
    ranges(numbers, rows).into_iter().map(state).collect()
}
