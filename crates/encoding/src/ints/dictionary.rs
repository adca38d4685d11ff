//! Streams of numbers that repeat, such as identifiers: the sorted distinct values, and per row the
//! index of its value. Sorted values have small differences, and codes are shorter than values.

use super::encode_simple::encode_simple;
use super::{DICTIONARY, plan::bounds};
use crate::cursor::{write_length, write_prefixed};
use crate::packing::{bit_width, packed_bytes};

/// A dictionary must save 1/8 of the bytes, because each value then takes one more look-up.
const GAIN_PART: usize = 8;
/// Streams that take fewer bits per value than this are not worth a try.
const VALUE_BITS_MIN: usize = 2;
/// Maximum bits of one digit of a radix sort.
const DIGIT_BITS_MAX: u32 = 12;

/// Appends the stream as a dictionary and returns true, if that saves enough of `bytes`, the
/// estimate for the stream without one. Does not sort if a dictionary cannot win.
pub(super) fn encode(values: &[i64], bytes: usize, out: &mut Vec<u8>) -> bool {
    let most = bytes - bytes / GAIN_PART;
    if bytes * 8 <= values.len() * VALUE_BITS_MIN || u32::try_from(values.len()).is_err() {
        return false;
    }
    let (min, max) = bounds(values);
    let range = max.wrapping_sub(min).cast_unsigned();
    let small = usize::try_from(range).ok().filter(|&range| range < values.len() * 2);
    let (distinct, marks) = match small {
        Some(range) => {
            let marks = mark_distinct(values, min, range);
            (marks.iter().filter(|&&mark| mark).count(), Some(marks))
        }
        None => (estimate_distinct(values), None),
    };
    if estimated_bytes(values.len(), distinct, range) > most {
        return false;
    }
    let (entries, codes) = match marks {
        Some(marks) => number_marked(values, min, &marks),
        None => sort_distinct(values, min, range),
    };
    let start = out.len();
    out.push(DICTIONARY);
    write_length(entries.len(), out);
    write_prefixed(out, |out| encode_simple(&entries, out));
    encode_simple(&codes, out);
    let wins = out.len() - start <= most;
    if !wins {
        out.truncate(start);
    }
    wins
}

fn estimated_bytes(count: usize, distinct: usize, range: u64) -> usize {
    let last = distinct.saturating_sub(1) as u64;
    // Differences of random sorted values: the largest of a vector is a few times the mean.
    let difference_bits = bit_width(range / last.max(1)) + 2;
    packed_bytes(count, bit_width(last)) + packed_bytes(distinct, difference_bits)
}

/// Estimates the number of distinct values: hashes set bits, and the remaining zeros give the
/// number (Whang et al., "A Linear-Time Probabilistic Counting Algorithm", TODS 1990).
fn estimate_distinct(values: &[i64]) -> usize {
    const HASH: u64 = 0x9E37_79B9_7F4A_7C15;
    let bits_log = bit_width(values.len() as u64).max(6) + 1;
    let mut bits = vec![0u64; 1 << (bits_log - 6)];
    for value in values {
        let mixed = value.cast_unsigned().wrapping_mul(HASH);
        let hash = (mixed ^ (mixed >> 32)).wrapping_mul(HASH) >> (64 - bits_log);
        bits[usize::try_from(hash >> 6).unwrap_or_default()] |= 1 << (hash % 64);
    }
    let zeros: u32 = bits.iter().map(|word| word.count_zeros()).sum();
    let all = f64::from(1u32 << bits_log);
    let distinct = -all * (f64::from(zeros.max(1)) / all).ln();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an estimate")]
    let distinct = distinct.round() as usize;
    distinct.clamp(1, values.len())
}

/// For each offset from `min`, up to `range`: whether a value has it.
fn mark_distinct(values: &[i64], min: i64, range: usize) -> Vec<bool> {
    let mut marks = vec![false; range + 1];
    values.iter().for_each(|&value| marks[place(value, min)] = true);
    marks
}

/// The result of [`sort_distinct`], for values that are marked by their offset.
fn number_marked(values: &[i64], min: i64, marks: &[bool]) -> (Vec<i64>, Vec<i64>) {
    let mut codes_by_place = vec![0i64; marks.len()];
    let mut entries = Vec::new();
    let mut code = 0;
    for ((&is_marked, slot), value) in marks.iter().zip(&mut codes_by_place).zip(min..) {
        if is_marked {
            *slot = code;
            code += 1;
            entries.push(value);
        }
    }
    (entries, values.iter().map(|&value| codes_by_place[place(value, min)]).collect())
}

fn place(value: i64, min: i64) -> usize {
    usize::try_from(value.wrapping_sub(min)).unwrap_or_default()
}

/// The distinct values, ascending, and each row's index among them.
fn sort_distinct(values: &[i64], min: i64, range: u64) -> (Vec<i64>, Vec<i64>) {
    let offset = |&value: &i64| value.wrapping_sub(min).cast_unsigned();
    let bits = u32::from(bit_width(range));
    let row_bits = u32::from(bit_width(values.len() as u64));
    if bits + row_bits <= u64::BITS {
        // Value and row fit one word, which halves the memory to move.
        let word = |(value, row): (&i64, u64)| offset(value) << row_bits | row;
        let words: Vec<u64> = values.iter().zip(0..).map(word).collect();
        let sorted = sort_by_radix(words, bits, |word| word >> row_bits);
        number_distinct(
            min,
            sorted.iter().map(|word| (word >> row_bits, word & !(u64::MAX << row_bits))),
            values.len(),
        )
    } else {
        let pairs: Vec<(u64, u64)> = values.iter().map(offset).zip(0..).collect();
        let sorted = sort_by_radix(pairs, bits, |(offset, _)| offset);
        number_distinct(min, sorted.into_iter(), values.len())
    }
}

/// The result of [`sort_distinct`], from sorted pairs of an offset from `min` and a row.
fn number_distinct(
    min: i64,
    sorted: impl Iterator<Item = (u64, u64)>,
    count: usize,
) -> (Vec<i64>, Vec<i64>) {
    let mut entries: Vec<i64> = Vec::new();
    let mut codes = vec![0; count];
    let (mut code, mut last) = (-1, None);
    for (offset, row) in sorted {
        if last != Some(offset) {
            last = Some(offset);
            entries.push(min.wrapping_add(offset.cast_signed()));
            code += 1;
        }
        codes[usize::try_from(row).unwrap_or_default()] = code;
    }
    (entries, codes)
}

/// Sorts by the low `bits` of the keys, lowest digit first. Cost: linear for any keys.
fn sort_by_radix<T: Copy>(mut rows: Vec<T>, bits: u32, key: impl Fn(T) -> u64) -> Vec<T> {
    let digit_bits = bits.div_ceil(bits.div_ceil(DIGIT_BITS_MAX).max(1)).max(1);
    let mut sorted = rows.clone();
    let mut places = vec![0usize; 1 << digit_bits];
    for shift in (0..bits).step_by(digit_bits as usize) {
        let digit = |row| {
            let digit = key(row) >> shift & ((1 << digit_bits) - 1);
            usize::try_from(digit).unwrap_or_default()
        };
        places.fill(0);
        rows.iter().for_each(|&row| places[digit(row)] += 1);
        let mut next = 0;
        for place in &mut places {
            next += std::mem::replace(place, next);
        }
        for &row in &rows {
            let place = &mut places[digit(row)];
            sorted[*place] = row;
            *place += 1;
        }
        std::mem::swap(&mut rows, &mut sorted);
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distinct_values_are_counted_about_right() {
        for distinct in [1, 2, 50, 1_000, 30_000, 60_000] {
            let values: Vec<i64> = (0..65_536).map(|i| i % distinct * 1_000_003).collect();
            let distinct = usize::try_from(distinct).expect("small");
            let estimate = estimate_distinct(&values);
            assert!(estimate.abs_diff(distinct) <= 1 + distinct / 50, "{estimate} of {distinct}");
        }
    }

    #[test]
    fn distinct_values_are_sorted() {
        let values = [i64::MAX, 3, i64::MIN, 3, -1, i64::MAX];
        let (entries, codes) = sort_distinct(&values, i64::MIN, u64::MAX);
        assert_eq!(entries, [i64::MIN, -1, 3, i64::MAX]);
        assert_eq!(codes, [3, 2, 0, 2, 1, 3]);
        let values = [-5, 3, -5, 0];
        let marks = mark_distinct(&values, -5, 8);
        assert_eq!(number_marked(&values, -5, &marks), (vec![-5, 0, 3], vec![0, 2, 0, 1]));
        assert_eq!(number_marked(&values, -5, &marks), sort_distinct(&values, -5, 8));
    }
}
