//! Measures of one block: arrays indexed by group number, filled in one pass over the rows.

use hadal_aggregate::{
    Distinct, Moments, Quantiles, State, Tally, bucket_of, bucket_of_decimal, hash_decimal,
    hash_text, hash_value, weighted,
};
use hadal_encoding::Bitmap;
use hadal_query::StateKind;
use hadal_types::{Logical, Number, Value, Weight};

use crate::selection::Selection;
use crate::values::{BlockValues, Coded, Doubles, Entries, Numbers};
use crate::weights::Weights;

/// Cells that a table of group number × code (or bucket) may have.
const TABLE_CELLS_MAX: usize = 1 << 20;

/// The selected rows of one block, with their groups and weights.
pub(crate) struct Rows<'r> {
    pub(crate) selection: &'r Selection,
    /// One group number per selected row, each below `space`.
    pub(crate) numbers: &'r [u32],
    pub(crate) space: usize,
    pub(crate) weights: &'r Weights,
}

impl Rows<'_> {
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

/// The state of each group's values, by group number.
pub(crate) fn states(
    kind: StateKind,
    values: &BlockValues<'_>,
    rows: &Rows<'_>,
    tallies: &[Tally],
) -> Vec<State> {
    match (kind, values) {
        (StateKind::Moments, BlockValues::Numbers(numbers)) if is_plain(numbers) => {
            moments(numbers, rows, tallies)
        }
        (StateKind::Moments, BlockValues::Doubles(doubles)) => moments_of_doubles(doubles, rows),
        (StateKind::Extremes, BlockValues::Numbers(numbers)) => extremes(numbers, rows),
        (StateKind::Quantiles, BlockValues::Numbers(numbers)) if is_plain(numbers) => {
            quantiles(numbers, rows)
        }
        (StateKind::Quantiles, BlockValues::Doubles(doubles)) => {
            quantiles_of_doubles(doubles, rows)
        }
        (StateKind::Distinct, BlockValues::Coded(coded)) => distinct(coded, rows),
        (StateKind::Distinct, BlockValues::Numbers(numbers)) if is_plain(numbers) => {
            distinct_numbers(numbers, rows)
        }
        _ => by_value(kind, values, rows),
    }
}

fn is_plain(numbers: &Numbers) -> bool {
    numbers.logical == Logical::Plain
}

fn by_value(kind: StateKind, values: &BlockValues<'_>, rows: &Rows<'_>) -> Vec<State> {
    let mut states = vec![State::new(kind); rows.space];
    rows.for_each(None, |number, row| {
        states[number].add(&values.value(row), rows.weights.of(row));
    });
    states
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

fn quantiles(numbers: &Numbers, rows: &Rows<'_>) -> Vec<State> {
    /// Up to here integers are exact doubles, and so is 10^22.
    const EXACT: u64 = 1 << 53;
    let valid = numbers.valid.as_deref();
    let mantissas = numbers.mantissas.as_slice();
    let divisor = 10f64.powi(i32::from(numbers.scale));
    let exact = mantissas.iter().all(|mantissa| mantissa.unsigned_abs() <= EXACT);
    let bucket = |row: usize| match exact {
        true => bucket_of(mantissas[row] as f64 / divisor),
        false => bucket_of_decimal(mantissas[row], numbers.scale),
    };
    let number_of = |mantissa| match numbers.value_of(mantissa) {
        Value::Number(number) => number,
        _ => Number::ZERO,
    };
    let ranges = ranges(numbers, rows)
        .into_iter()
        .map(|(min, max)| (min <= max).then(|| (number_of(min), number_of(max))))
        .collect();
    distributions(rows, valid, ranges, bucket, |row| number_of(mantissas[row]))
}

fn quantiles_of_doubles(doubles: &Doubles, rows: &Rows<'_>) -> Vec<State> {
    let valid = doubles.valid.as_deref();
    let mut ranges = vec![None; rows.space];
    rows.for_each(valid, |number, row| {
        let value = doubles.values[row];
        let (min, max) = ranges[number].unwrap_or((value, value));
        ranges[number] = Some((value.min(min), value.max(max)));
    });
    let number_of = |value: f64| Number::from_f64(value).unwrap_or(Number::ZERO);
    let ranges = ranges
        .into_iter()
        .map(|range| range.map(|(min, max)| (number_of(min), number_of(max))))
        .collect();
    let bucket = |row: usize| bucket_of(doubles.values[row]);
    distributions(rows, valid, ranges, bucket, |row| number_of(doubles.values[row]))
}

/// Distributions by group number: counted by bucket in a table where that is small enough.
fn distributions(
    rows: &Rows<'_>,
    valid: Option<&Bitmap>,
    ranges: Vec<Option<(Number, Number)>>,
    bucket: impl Fn(usize) -> i32,
    number_of: impl Fn(usize) -> Number,
) -> Vec<State> {
    let mut found: Vec<(u32, i32, i64)> = Vec::with_capacity(rows.numbers.len());
    let (mut first, mut last) = (i32::MAX, i32::MIN);
    let mut counts = vec![0u64; rows.space];
    #[expect(clippy::cast_possible_truncation, reason = "group numbers are below 2^32")]
    rows.for_each(valid, |number, row| {
        let bucket = bucket(row);
        (first, last) = (first.min(bucket), last.max(bucket));
        counts[number] += 1;
        found.push((number as u32, bucket, rows.weights.of(row).millionths()));
    });
    let span = usize::try_from(i64::from(last) - i64::from(first) + 1).unwrap_or(0);
    let mut states = vec![Quantiles::default(); rows.space];
    let mut one_by_one = vec![true; rows.space];
    if span.saturating_mul(rows.space) <= TABLE_CELLS_MAX {
        let mut table = vec![0i128; span * rows.space];
        for (number, bucket, weight) in found {
            let offset = usize::try_from(bucket - first).unwrap_or(0);
            table[number as usize * span + offset] += i128::from(weight);
        }
        for (number, range) in ranges.into_iter().enumerate() {
            let Some(range) = range else { continue };
            let cells = (first..).zip(&table[number * span..(number + 1) * span]);
            let buckets =
                cells.filter(|(_, weight)| **weight > 0).map(|(at, &weight)| (at, weight));
            one_by_one[number] = !states[number].add_buckets(counts[number], range, buckets);
        }
    }
    rows.for_each(valid, |number, row| {
        if one_by_one[number] {
            states[number].add(number_of(row), rows.weights.of(row));
        }
    });
    states.into_iter().map(State::Quantiles).collect()
}

/// Distinct values of each group, each code hashed once and added once where a table of group
/// number × code is small enough.
fn distinct(coded: &Coded<'_>, rows: &Rows<'_>) -> Vec<State> {
    let mut states = vec![Distinct::default(); rows.space];
    let codes = coded.entries.len();
    let mut hashes: Vec<Option<Option<u64>>> = vec![None; codes];
    let small = codes.saturating_mul(rows.space) <= TABLE_CELLS_MAX;
    let mut seen = Bitmap::zeros(if small { codes * rows.space } else { 0 });
    rows.for_each(None, |number, row| {
        let code = coded.codes[row] as usize;
        if small {
            let cell = number * codes + code;
            if seen.get(cell) {
                return;
            }
            seen.set(cell);
        }
        if let Some(hash) = *hashes[code].get_or_insert_with(|| hash_of(&coded.entries, code)) {
            states[number].add_hash(hash);
        }
    });
    states.into_iter().map(State::Distinct).collect()
}

fn distinct_numbers(numbers: &Numbers, rows: &Rows<'_>) -> Vec<State> {
    let mut states = vec![Distinct::default(); rows.space];
    rows.for_each(numbers.valid.as_deref(), |number, row| {
        states[number].add_hash(hash_decimal(numbers.mantissas[row], numbers.scale));
    });
    states.into_iter().map(State::Distinct).collect()
}

fn hash_of(entries: &Entries<'_>, code: usize) -> Option<u64> {
    match entries {
        Entries::Strings { dictionary, .. } => {
            u32::try_from(code).ok().and_then(|code| dictionary.get(code)).map(hash_text)
        }
        Entries::Values(values) => {
            values.get(code).filter(|value| !value.is_null()).map(hash_value)
        }
    }
}
