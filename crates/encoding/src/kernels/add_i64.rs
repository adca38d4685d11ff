//! Sums of 64-bit numbers by group. Several columns are added at once to adjacent sums. Unlike
//! `scatter.rs`, this file keeps no copies of the sums: with many groups, copies would not fit into
//! the cache.
#![allow(unsafe_code)]

use super::primitives::Primitives;
use super::simd_level::kernels;

kernels! {
    /// Sets `out[i]` to `from` + `step` × `steps[i]`, modulo 2^64.
    ///
    /// # Panics
    /// When `out` is not as long as `steps`.
    pub fn widen_u32(steps: &[u32], from: i64, step: i64, out: &mut [i64]) = widen_body;

    /// Sets `out[i]` to (`from` + `steps[i]`) × `weights[i]`, where sums are modulo 2^32.
    ///
    /// # Panics
    /// When `steps` or `weights` is not as long as `out`.
    pub fn weigh_u32(steps: &[u32], from: u32, weights: &[u32], out: &mut [i64]) = weigh_body;

    /// Sets `out[i]` to `table[codes[i]]`.
    ///
    /// # Panics
    /// When `out` is not as long as `codes`, or a code is not below the length of `table`.
    pub fn gather_i64(table: &[i64], codes: &[u32], out: &mut [i64]) = gather_body;

    /// Adds `values[c][i]` to column `first` + c of row `rows[i]` of `sums`, modulo 2^64. A row of
    /// `sums` is `width` numbers wide.
    ///
    /// # Panics
    /// When one of `values` is not as long as `rows`, or a column of a row is beyond the sums.
    pub fn add_side_by_side[const N: usize](
        rows: &[u32], values: [&[i64]; N], width: usize, first: usize, sums: &mut [i64],
    ) = add_body;

    /// Widens the range `ranges[places[i]]`, a smallest and a largest value, to include `low[i]`
    /// and `high[i]`.
    ///
    /// # Panics
    /// When the lengths differ, or a place is not below the number of ranges.
    pub fn widen_ranges_by(
        places: &[u32], low: &[i64], high: &[i64], ranges: &mut [(i64, i64)],
    ) = ranges_body;
}

#[inline(always)]
fn widen_body(_: impl Primitives, steps: &[u32], from: i64, step: i64, out: &mut [i64]) {
    assert_eq!(out.len(), steps.len(), "places for what is widened");
    if step == 1 {
        for (out, k) in out.iter_mut().zip(steps) {
            *out = from.wrapping_add(i64::from(*k));
        }
        return;
    }
    for (out, k) in out.iter_mut().zip(steps) {
        *out = from.wrapping_add(step.wrapping_mul(i64::from(*k)));
    }
}

#[inline(always)]
fn weigh_body(_: impl Primitives, steps: &[u32], from: u32, weights: &[u32], out: &mut [i64]) {
    assert!(steps.len() == out.len() && weights.len() == out.len(), "a step and a weight for each");
    for ((out, step), weight) in out.iter_mut().zip(steps).zip(weights) {
        let value = u64::from(from.wrapping_add(*step));
        *out = (value * u64::from(*weight)).cast_signed();
    }
}

#[inline(always)]
fn gather_body(_: impl Primitives, table: &[i64], codes: &[u32], out: &mut [i64]) {
    assert_eq!(out.len(), codes.len(), "places for what is gathered");
    let last = codes.iter().fold(0, |last, code| *code.max(&last)) as usize;
    assert!(codes.is_empty() || last < table.len(), "a code beyond the table");
    for (out, code) in out.iter_mut().zip(codes) {
        // SAFETY: no code is above `last`, which is below the table's length.
        *out = unsafe { *table.get_unchecked(*code as usize) };
    }
}

#[inline(always)]
fn add_body<const N: usize>(
    _: impl Primitives,
    rows: &[u32],
    values: [&[i64]; N],
    width: usize,
    first: usize,
    sums: &mut [i64],
) {
    assert!(values.iter().all(|values| values.len() == rows.len()), "a value for each row");
    let last = rows.iter().fold(0, |last, row| *row.max(&last)) as usize;
    let end = last.checked_mul(width).and_then(|start| start.checked_add(first + N));
    let fits = first + N <= width && end.is_some_and(|end| end <= sums.len());
    assert!(rows.is_empty() || fits, "a column beyond the sums");
    if let Some(start) = first_of_stretch(rows) {
        let sums = &mut sums[start * width..];
        return if width == N {
            add_adjacent(values, sums.as_chunks_mut().0);
        } else {
            for (index, row) in sums.chunks_mut(width).take(rows.len()).enumerate() {
                for (sum, values) in row[first..].iter_mut().zip(&values) {
                    *sum = sum.wrapping_add(values[index]);
                }
            }
        };
    }
    for (index, row) in rows.iter().enumerate() {
        let start = *row as usize * width + first;
        for (column, values) in values.iter().enumerate() {
            // SAFETY: `index` is below the length of each of `values`. No row is above `last`, and
            // the assertion above checked that its N columns from `first` on are within the sums.
            unsafe {
                let sum = sums.get_unchecked_mut(start + column);
                *sum = sum.wrapping_add(*values.get_unchecked(index));
            }
        }
    }
}

/// Adds row by row to sums that have no other columns.
#[inline(always)]
fn add_adjacent<const N: usize>(values: [&[i64]; N], sums: &mut [[i64; N]]) {
    let length = values.iter().fold(sums.len(), |length, values| length.min(values.len()));
    for (index, row) in sums[..length].iter_mut().enumerate() {
        for (sum, values) in row.iter_mut().zip(&values) {
            // SAFETY: `length` is at most the number of values in each column.
            *sum = sum.wrapping_add(unsafe { *values.get_unchecked(index) });
        }
    }
}

/// The first number, if each number is one more than the previous one.
#[inline(always)]
fn first_of_stretch(numbers: &[u32]) -> Option<usize> {
    let (first, last) = (*numbers.first()?, *numbers.last()?);
    if last.checked_sub(first)? as usize != numbers.len() - 1 {
        return None;
    }
    // Testing all is faster than stopping at the first that differs.
    let wrong =
        numbers.iter().zip(first..).fold(0, |wrong, (number, next)| wrong | (number ^ next));
    (wrong == 0).then_some(first as usize)
}

#[inline(always)]
fn ranges_body(
    _: impl Primitives,
    places: &[u32],
    low: &[i64],
    high: &[i64],
    ranges: &mut [(i64, i64)],
) {
    assert!(low.len() == places.len() && high.len() == places.len(), "values for each row");
    let last = places.iter().fold(0, |last, place| *place.max(&last)) as usize;
    assert!(places.is_empty() || last < ranges.len(), "a place beyond the ranges");
    if let Some(start) = first_of_stretch(places) {
        for ((range, low), high) in ranges[start..].iter_mut().zip(low).zip(high) {
            *range = (range.0.min(*low), range.1.max(*high));
        }
        return;
    }
    for ((place, low), high) in places.iter().zip(low).zip(high) {
        // SAFETY: no place is above `last`, which is below the number of ranges.
        let range = unsafe { ranges.get_unchecked_mut(*place as usize) };
        // Both are rare after the first rows: a well-predicted branch costs less than waiting for
        // the previous store.
        if *low < range.0 {
            range.0 = *low;
        }
        if *high > range.1 {
            range.1 = *high;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Level;

    /// Pseudo-random numbers.
    fn numbers(seed: u64) -> impl Iterator<Item = u64> {
        let next = |seed: &u64| {
            Some(seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(0x9e37_79b9_7f4a_7c15))
        };
        std::iter::successors(Some(seed), next).skip(1).map(|seed| seed ^ (seed >> 29))
    }

    fn signed(seed: u64, length: usize) -> Vec<i64> {
        let value = |number: u64| number.cast_signed() >> (number % 64);
        numbers(seed).take(length).map(value).collect()
    }

    fn rows(length: usize) -> Vec<u32> {
        numbers(7).take(length).map(|number| u32::try_from(number % 5).expect("small")).collect()
    }

    const LENGTHS: [usize; 8] = [0, 1, 2, 63, 64, 65, 1_024, 3_001];

    #[test]
    fn steps_are_widened_to_what_they_stand_for() {
        for length in LENGTHS {
            let steps: Vec<u32> =
                numbers(3).take(length).map(|number| (number >> 32) as u32).collect();
            for (from, step) in [(0, 1), (-5, 1), (i64::MAX, 1), (7, 1_000), (-1, i64::MIN)] {
                let plain = |k: &u32| from.wrapping_add(step.wrapping_mul(i64::from(*k)));
                let expected: Vec<i64> = steps.iter().map(plain).collect();
                for level in Level::available() {
                    let mut out = vec![0; length];
                    level.widen_u32(&steps, from, step, &mut out);
                    assert_eq!(out, expected, "{length} steps of {step}, {}", level.name());
                }
            }
        }
    }

    #[test]
    fn steps_are_weighed() {
        for length in LENGTHS {
            let low = |number: u64| u32::try_from(number >> 32).unwrap_or(0);
            let steps: Vec<u32> = numbers(3).take(length).map(low).collect();
            let weights: Vec<u32> =
                numbers(5).take(length).map(|number| low(number) >> 1).collect();
            for from in [0, 7, u32::MAX] {
                let product = |(step, weight): (&u32, &u32)| {
                    i64::from(from.wrapping_add(*step)) * i64::from(*weight)
                };
                let expected: Vec<i64> = steps.iter().zip(&weights).map(product).collect();
                for level in Level::available() {
                    let mut out = vec![0; length];
                    level.weigh_u32(&steps, from, &weights, &mut out);
                    assert_eq!(out, expected, "{length} steps from {from}, {}", level.name());
                }
            }
        }
    }

    #[test]
    fn values_are_gathered() {
        for length in LENGTHS {
            let (codes, table) = (rows(length), signed(1, 5));
            let gathered: Vec<i64> = codes.iter().map(|code| table[*code as usize]).collect();
            for level in Level::available() {
                let mut out = vec![7; length];
                level.gather_i64(&table, &codes, &mut out);
                assert_eq!(out, gathered, "{length}, {}", level.name());
            }
        }
    }

    #[test]
    #[should_panic(expected = "a code beyond the table")]
    fn a_code_without_a_value_panics() {
        super::gather_i64(&[1, 2], &[0, 2], &mut [0; 2]);
    }

    #[test]
    fn columns_are_added_side_by_side() {
        for length in LENGTHS {
            let (rows, left, right) = (rows(length), signed(1, length), signed(2, length));
            let mut expected = signed(3, 5 * 4);
            let before = expected.clone();
            for (index, row) in rows.iter().enumerate() {
                let start = *row as usize * 4 + 1;
                expected[start] = expected[start].wrapping_add(left[index]);
                expected[start + 1] = expected[start + 1].wrapping_add(right[index]);
            }
            for level in Level::available() {
                let mut sums = before.clone();
                level.add_side_by_side(&rows, [&left, &right], 4, 1, &mut sums);
                assert_eq!(sums, expected, "{length} rows, {}", level.name());
            }
        }
    }

    #[test]
    fn rows_that_follow_each_other_are_like_others() {
        for length in LENGTHS {
            let rows: Vec<u32> = (2..).take(length).collect();
            let values = [signed(1, length), signed(2, length)];
            let [left, right] = &values;
            for width in [2, 3] {
                let first = width - 2;
                // No columns need follow the last one.
                let before = signed(3, (length + 2) * width);
                let mut expected = before.clone();
                for (index, row) in rows.iter().enumerate() {
                    for (column, values) in values.iter().enumerate() {
                        let sum = &mut expected[*row as usize * width + first + column];
                        *sum = sum.wrapping_add(values[index]);
                    }
                }
                let mut ranges = vec![(5, -5); length + 2];
                let widened = (2..length + 2).map(|row| {
                    let (low, high) = (left[row - 2], right[row - 2]);
                    (low.min(5), high.max(-5))
                });
                let wide: Vec<(i64, i64)> = [(5, -5); 2].into_iter().chain(widened).collect();
                for level in Level::available() {
                    let mut sums = before.clone();
                    level.add_side_by_side(&rows, [left, right], width, first, &mut sums);
                    assert_eq!(sums, expected, "{length} rows, {}", level.name());
                    ranges.fill((5, -5));
                    level.widen_ranges_by(&rows, left, right, &mut ranges);
                    assert_eq!(ranges, wide, "{length} rows, {}", level.name());
                }
            }
        }
    }

    #[test]
    fn ranges_have_the_smallest_and_the_largest() {
        for length in LENGTHS {
            let (places, low, high) = (rows(length), signed(1, length), signed(2, length));
            let mut expected = vec![(i64::MAX, i64::MIN); 5];
            for (index, place) in places.iter().enumerate() {
                let range = &mut expected[*place as usize];
                *range = (range.0.min(low[index]), range.1.max(high[index]));
            }
            for level in Level::available() {
                let mut ranges = vec![(i64::MAX, i64::MIN); 5];
                level.widen_ranges_by(&places, &low, &high, &mut ranges);
                assert_eq!(ranges, expected, "{length} rows, {}", level.name());
            }
        }
    }

    #[test]
    #[should_panic(expected = "a column beyond the sums")]
    fn a_row_without_sums_panics() {
        super::add_side_by_side(&[1], [&[7], &[8]], 3, 2, &mut [0; 6]);
    }

    #[test]
    #[should_panic(expected = "a place beyond the ranges")]
    fn a_place_without_a_range_panics() {
        super::widen_ranges_by(&[2], &[7], &[7], &mut [(i64::MAX, i64::MIN); 2]);
    }
}
