//! Compares every kernel at every level of this processor with its scalar twin, for every length up
//! to three vectors and some, from unaligned starts.

use std::num::NonZeroU32;
use std::panic::{AssertUnwindSafe, catch_unwind};

use proptest::prelude::*;

use super::*;

mod packed;

/// Three vectors, and a word and a half.
const LENGTH_MAX: usize = 3 * 1_024 + 96;

/// Words without pattern, the same in every run.
fn noise(count: usize, seed: u64) -> Vec<u64> {
    let mut state = seed;
    let next = |_| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mixed = (state ^ state >> 33).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
        mixed ^ mixed >> 33
    };
    (0..count).map(next).collect()
}

/// Codes below `limit`.
fn codes(count: usize, limit: u64, seed: u64) -> Vec<u32> {
    noise(count, seed).into_iter().map(|word| u32::from_u64(word % limit)).collect()
}

/// Small values of both signs, and some extreme ones.
fn integers(count: usize, seed: u64) -> Vec<i64> {
    let value = |word: u64| match word % 23 {
        0 => i64::MIN,
        1 => i64::MAX,
        2 => word.cast_signed(),
        _ => (word % 64).cast_signed() - 32,
    };
    noise(count, seed).into_iter().map(value).collect()
}

/// Words of bits of changing density; the spare bits of the last word are random too.
fn selection(length: usize, seed: u64) -> Vec<u64> {
    let words = noise(2 * length.div_ceil(64), seed);
    let word = |pair: &[u64]| match pair[0] % 6 {
        0 => 0,
        1 => u64::MAX,
        2 => pair[0] & pair[1] & pair[1] >> 7,
        3 => pair[0] | pair[1] | pair[1] << 9,
        _ => pair[1],
    };
    words.chunks(2).map(word).collect()
}

/// Slices of every length, with changing starts.
fn slices<T>(values: &[T]) -> impl Iterator<Item = &[T]> {
    assert!(values.len() >= LENGTH_MAX + 16);
    (0..=LENGTH_MAX).map(|length| &values[length % 16..][..length])
}

fn words_for<T>(values: &[T]) -> Vec<u64> {
    vec![0xAAAA_AAAA_AAAA_AAAA; values.len().div_ceil(64)]
}

fn panics(run: impl FnOnce()) -> bool {
    catch_unwind(AssertUnwindSafe(run)).is_err()
}

#[test]
fn bits_are_spread_and_put_together() {
    for count in 0..90 {
        let (words, bits) = (selection(count * 64, 3), selection(count * 64, 8));
        for words in [&words, &vec![u64::MAX; count], &vec![0; count]] {
            let (mut spread, mut together) = (vec![9; count], vec![7]);
            scalar::expand_bits(&bits, words, &mut spread);
            scalar::compress_bits(&bits, words, &mut together);
            for level in Level::available() {
                let (mut expanded, mut all) = (vec![8; count], vec![7]);
                level.expand_bits(&bits, words, &mut expanded);
                assert_eq!(expanded, spread, "{count} words at {}", level.name());
                level.compress_bits(&bits, words, &mut all);
                assert_eq!(all, together, "{count} words at {}", level.name());
            }
        }
    }
    assert!(panics(|| expand_bits(&[], &[1], &mut [])));
    assert!(panics(|| compress_bits(&[], &[1], &mut Vec::new())));
}

/// Every comparison at every length, with constants that occur and constants that do not.
fn assert_compares<T: PartialOrd + Copy>(
    values: &[T],
    constants: &[T],
    compare: impl Fn(Level, &[T], Comparison, T, &mut [u64]),
    between: impl Fn(Level, &[T], T, T, &mut [u64]),
) {
    for slice in slices(values) {
        let length = slice.len();
        let (mut twin, mut words) = (words_for(slice), words_for(slice));
        let constant = constants[length % constants.len()];
        let other = constants[length / 7 % constants.len()];
        for level in Level::available() {
            for comparison in Comparison::ALL {
                scalar::compare(slice, comparison, &constant, &mut twin);
                compare(level, slice, comparison, constant, &mut words);
                assert_eq!(words, twin, "{comparison:?}, {length} values, {}", level.name());
            }
            scalar::between(slice, &constant, &other, &mut twin);
            between(level, slice, constant, other, &mut words);
            assert_eq!(words, twin, "between, {length} values, {}", level.name());
        }
    }
}

#[test]
fn comparisons_of_codes_are_those_of_the_twin() {
    let mut values = codes(LENGTH_MAX + 16, 40, 1);
    for index in (0..values.len()).step_by(9) {
        values[index] = [0, u32::MAX, 1 << 31, i32::MAX.cast_unsigned()][index % 4];
    }
    let constants = [20, 0, u32::MAX, 7, 1 << 31, 39, 100];
    assert_compares(&values, &constants, Level::compare_u32, Level::between_u32);
}

#[test]
fn comparisons_of_integers_are_those_of_the_twin() {
    let values = integers(LENGTH_MAX + 16, 2);
    let constants = [0, -5, i64::MIN, i64::MAX, 31, 1 << 40];
    assert_compares(&values, &constants, Level::compare_i64, Level::between_i64);
}

#[test]
fn comparisons_of_doubles_are_those_of_the_twin() {
    let odd = [f64::NAN, -0.0, 0.0, f64::INFINITY, f64::NEG_INFINITY, 5e-324, f64::MAX];
    let value = |word: u64| match word % 3 {
        0 => odd[(word / 3 % 7) as usize],
        _ => (word % 16) as f64 / 4.0 - 2.0,
    };
    let values: Vec<f64> = noise(LENGTH_MAX + 16, 3).into_iter().map(value).collect();
    let constants = [0.0, -0.0, 0.25, f64::NAN, f64::INFINITY, -1.5, f64::NEG_INFINITY];
    assert_compares(&values, &constants, Level::compare_f64, Level::between_f64);
}

#[test]
fn codes_are_looked_up_in_sets_of_any_size() {
    for (words_of_set, limit) in [(0, 9), (1, 64), (1, 70), (2, 128), (3, 100), (70, 5_000)] {
        let set = noise(words_of_set, 4);
        let mut values = codes(LENGTH_MAX + 16, limit, 5);
        for index in (0..values.len()).step_by(11) {
            values[index] = [63, 64, u32::MAX, u32::MAX - 63, 32, 31][index % 6];
        }
        for slice in slices(&values) {
            let (mut twin, mut words) = (words_for(slice), words_for(slice));
            scalar::in_codes(slice, &set, &mut twin);
            for level in Level::available() {
                level.in_codes(slice, &set, &mut words);
                assert_eq!(words, twin, "{} codes, {}", slice.len(), level.name());
            }
        }
    }
}

#[test]
fn words_of_another_length_panic() {
    for level in Level::available() {
        for (length, mut words) in [(0, vec![0]), (1, vec![]), (64, vec![0; 2]), (65, vec![0])] {
            let (narrow, wide) = (vec![0; length], vec![0; length]);
            let (comparison, out) = (Comparison::Less, &mut words);
            assert!(panics(|| level.compare_u32(&narrow, comparison, 1, out)));
            assert!(panics(|| level.between_i64(&wide, 1, 1, out)));
            assert!(panics(|| level.in_codes(&narrow, &[], out)));
            assert!(panics(|| level.in_codes(&narrow, &[1], out)));
            assert!(panics(|| level.expand_u32(&[], out, 0, &mut narrow.clone())));
            assert!(panics(|| {
                level.sum_u32_where(&narrow, out);
            }));
            assert!(panics(|| {
                level.sum_i64_where(&wide, out);
            }));
            assert!(panics(|| {
                level.min_max_i64_where(&wide, out);
            }));
        }
    }
}

#[test]
fn sums_and_extremes_are_those_of_the_twin() {
    let (narrow, wide) = (codes(LENGTH_MAX + 16, 1 << 32, 6), integers(LENGTH_MAX + 16, 7));
    let ends = [vec![i64::MIN; LENGTH_MAX + 16], vec![i64::MAX; LENGTH_MAX + 16]];
    for level in Level::available() {
        for slice in slices(&narrow) {
            assert_eq!(i128::from(level.sum_u32(slice)), scalar::sum(slice));
            assert_eq!(level.min_max_u32(slice), scalar::min_max(slice), "{}", slice.len());
        }
        for slice in slices(&wide) {
            assert_eq!(level.sum_i64(slice), scalar::sum(slice), "{}", slice.len());
            assert_eq!(level.min_max_i64(slice), scalar::min_max(slice), "{}", slice.len());
        }
        for slice in ends.iter().flat_map(|values| slices(values).skip(LENGTH_MAX - 70)) {
            assert_eq!(level.sum_i64(slice), scalar::sum(slice), "{}", slice.len());
            assert_eq!(level.min_max_i64(slice), scalar::min_max(slice), "{}", slice.len());
        }
    }
}

#[test]
fn dot_products_are_those_of_the_twin() {
    let values = codes(LENGTH_MAX + 16, 1 << 32, 10);
    let weights = codes(LENGTH_MAX + 16, 1 << 32, 11);
    for level in Level::available() {
        for (values, weights) in slices(&values).zip(slices(&weights)) {
            let dot = level.dot_u32(values, weights);
            assert_eq!(dot, scalar::dot_u32(values, weights), "{}", values.len());
        }
        assert!(panics(|| {
            level.dot_u32(&[1, 2], &[1]);
        }));
    }
}

#[test]
fn selected_rows_fold_as_if_they_were_alone() {
    let (narrow, wide) = (codes(LENGTH_MAX + 16, 1 << 32, 8), integers(LENGTH_MAX + 16, 9));
    for (narrow, wide) in slices(&narrow).zip(slices(&wide)) {
        let words = selection(narrow.len(), narrow.len() as u64);
        let narrow_selected = scalar::selected(narrow, &words);
        let wide_selected = scalar::selected(wide, &words);
        for level in Level::available() {
            let name = level.name();
            let sum = i128::from(level.sum_u32_where(narrow, &words));
            assert_eq!(sum, scalar::sum(&narrow_selected), "{} at {name}", narrow.len());
            let sum = level.sum_i64_where(wide, &words);
            assert_eq!(sum, scalar::sum(&wide_selected), "{} at {name}", narrow.len());
            let ends = level.min_max_u32_where(narrow, &words);
            assert_eq!(ends, scalar::min_max(&narrow_selected), "{} at {name}", narrow.len());
            let ends = level.min_max_i64_where(wide, &words);
            assert_eq!(ends, scalar::min_max(&wide_selected), "{} at {name}", narrow.len());
            let ones: u64 = words.iter().map(|word| u64::from(word.count_ones())).sum();
            assert_eq!(level.count_ones(&words), ones);
        }
    }
}

#[test]
fn tables_are_gathered_and_codes_beyond_them_panic() {
    for size in [1, 60, 5_000] {
        let table = codes(size, 1 << 32, 10);
        for slice in slices(&codes(LENGTH_MAX + 16, size as u64, 11)) {
            let (mut twin, mut out) = (vec![0; slice.len()], vec![1; slice.len()]);
            scalar::gather_u32(&table, slice, &mut twin);
            for level in Level::available() {
                level.gather_u32(&table, slice, &mut out);
                assert_eq!(out, twin, "{} codes, {}", slice.len(), level.name());
            }
        }
    }
    for level in Level::available() {
        level.gather_u32(&[], &[], &mut []);
        assert!(panics(|| level.gather_u32(&[], &[0], &mut [0])));
        assert!(panics(|| level.gather_u32(&[1, 2], &[0, 1, 2, 0], &mut [0; 4])));
        assert!(panics(|| level.gather_u32(&[1, 2], &[u32::MAX; 40], &mut [0; 40])));
        assert!(panics(|| level.gather_u32(&[1, 2], &[0, 1], &mut [0; 3])));
    }
}

fn assert_adds<const N: usize>(groups: &[u32], group_count: usize, addends: &[Addend<'_>]) {
    let addends: Vec<Addend<'_>> =
        addends.iter().map(|addend| Addend { lane: addend.lane % N, ..*addend }).collect();
    let start = codes(group_count, 1 << 32, 12);
    let start: Vec<[u64; N]> = start.iter().map(|start| [u64::from(*start); N]).collect();
    let mut twin = start.clone();
    scalar::add_lanes_by(groups, &addends, &mut twin);
    for level in Level::available() {
        let mut sums = start.clone();
        level.add_lanes_by(groups, &addends, &mut sums);
        assert_eq!(sums, twin, "{} rows, {group_count} groups, {}", groups.len(), level.name());
    }
}

#[test]
fn groups_are_counted_and_summed() {
    let values: [Vec<u32>; 2] = [13, 14].map(|seed| codes(LENGTH_MAX + 16, 1 << 32, seed));
    let bits: Vec<u64> = codes(LENGTH_MAX, 1 << 32, 15)
        .chunks(2)
        .map(|pair| u64::from(pair[0]) << 32 | u64::from(pair[1]))
        .collect();
    for group_count in [1, 2, 20, 60, 256, 700, 4_000] {
        let groups = codes(LENGTH_MAX + 16, group_count as u64, 17);
        for (index, groups) in slices(&groups).enumerate().filter(|(index, _)| index % 3 != 1) {
            let [a, b] = values.each_ref().map(|values| Some(&values[index % 5..][..groups.len()]));
            let words = Some(&bits[..groups.len().div_ceil(64)]);
            let addend = |values, words, lane, shift| Addend { values, words, lane, shift };
            let addends = [
                addend(a, None, 0, 0),
                addend(None, words, 2, 3),
                addend(b, words, 1, 17),
                addend(None, None, 3, 46),
                addend(a, None, 2, 63),
            ];
            let addends = &addends[index % 4..];
            match index % 5 {
                0 => assert_adds::<1>(groups, group_count, addends),
                1 | 2 => assert_adds::<2>(groups, group_count, addends),
                3 => assert_adds::<3>(groups, group_count, addends),
                _ => assert_adds::<4>(groups, group_count, addends),
            }
            for level in Level::available() {
                let (mut twin, mut counts) = (vec![5; group_count], vec![5; group_count]);
                scalar::count_by(groups, &mut twin);
                level.count_by(groups, &mut counts);
                assert_eq!(counts, twin, "{} rows, {}", groups.len(), level.name());
            }
        }
    }
}

#[test]
fn groups_beyond_the_sums_and_missing_values_panic() {
    let one = Addend { values: Some(&[1]), words: None, lane: 0, shift: 0 };
    for level in Level::available() {
        let (mut counts, mut sums) = (vec![0; 9], vec![[0; 3]; 3]);
        level.add_lanes_by::<2>(&[], &[], &mut []);
        level.count_by(&[], &mut []);
        assert!(panics(|| level.count_by(&[0], &mut [])));
        assert!(panics(|| level.count_by(&[0, 9], &mut counts)));
        assert!(panics(|| level.count_by(&[u32::MAX; 100], &mut counts)));
        let mut panic = |groups: &[u32], addend: Addend<'_>| {
            assert!(panics(|| level.add_lanes_by(groups, &[addend], &mut sums)));
        };
        panic(&[3], one);
        panic(&[2, 2], one);
        panic(&[2], Addend { words: Some(&[]), ..one });
        panic(&[2], Addend { lane: 3, ..one });
        panic(&[2], Addend { shift: 64, ..one });
        assert_eq!((counts, sums), (vec![0; 9], vec![[0; 3]; 3]));
    }
}

/// Values around multiples of the width, near both ends and in the middle.
fn edges(width: u32) -> Vec<u32> {
    let last = u32::MAX / width;
    let frame_of_reference = |quotient: u32| {
        let multiple = width.wrapping_mul(quotient);
        [multiple.wrapping_sub(1), multiple, multiple.wrapping_add(1)]
    };
    [0, 1, 2, 3, last / 2, last / 2 + 1, last - last.min(1), last, last.wrapping_add(1)]
        .into_iter()
        .flat_map(frame_of_reference)
        .chain([0, 1, 1 << 31, (1 << 31) - 1, u32::MAX - 1, u32::MAX])
        .collect()
}

#[test]
fn buckets_are_exact_at_every_edge() {
    let powers = (0..32).flat_map(|bit| [(1u32 << bit) - 1, 1 << bit, (1 << bit) + 1]);
    let some = codes(20_000, 1 << 32, 18);
    let ends = [u32::MAX - 2, u32::MAX - 1, u32::MAX, 60, 1_000, 3_600, 86_400];
    for width in (1..2_000).chain(powers).chain(some).chain(ends) {
        let Some(width) = NonZeroU32::new(width) else { continue };
        let values = edges(width.get());
        let mut out = vec![0; values.len()];
        for level in Level::available() {
            level.bucket_u32(&values, 0, width, &mut out);
            let right = values.iter().zip(&out).all(|(value, bucket)| *value / width == *bucket);
            assert!(right, "{values:?} / {width} = {out:?}");
        }
    }
}

#[test]
fn buckets_are_those_of_the_twin_at_every_length() {
    let values = codes(LENGTH_MAX + 16, 1 << 32, 19);
    for slice in slices(&values) {
        let width =
            u32::try_from(slice.len() + 1).ok().and_then(NonZeroU32::new).expect("not zero");
        let (mut twin, mut out) = (vec![0; slice.len()], vec![1; slice.len()]);
        scalar::bucket_u32(slice, 1 << 20, width, &mut twin);
        for level in Level::available() {
            level.bucket_u32(slice, 1 << 20, width, &mut out);
            assert_eq!(out, twin, "{} values, {}", slice.len(), level.name());
        }
    }
    assert!(panics(|| bucket_u32(&[1], 0, NonZeroU32::MIN, &mut [])));
}

#[test]
fn present_values_are_spread_over_all_rows() {
    let (narrow, wide) = (codes(LENGTH_MAX + 16, 1 << 32, 20), integers(LENGTH_MAX + 16, 21));
    for length in 0..=LENGTH_MAX {
        let words = selection(length, length as u64 + 7);
        let present = scalar::selected(&vec![(); length], &words).len();
        let (narrow, wide) = (&narrow[length % 16..][..present], &wide[length % 8..][..present]);
        let (mut twin, mut wide_twin) = (vec![0; length], vec![0; length]);
        scalar::expand(narrow, &words, 77, &mut twin);
        scalar::expand(wide, &words, -77, &mut wide_twin);
        for level in Level::available() {
            let mut out = vec![1; length];
            level.expand_u32(narrow, &words, 77, &mut out);
            assert_eq!(out, twin, "{length} rows, {}", level.name());
            let mut out = vec![1; length];
            level.expand_i64(wide, &words, -77, &mut out);
            assert_eq!(out, wide_twin, "{length} rows, {}", level.name());
        }
    }
}

#[test]
fn values_that_are_not_those_of_the_present_rows_panic() {
    for level in Level::available() {
        for (values, words, rows) in
            [(0, vec![1], 1), (2, vec![1], 1), (64, vec![!0, 1], 128), (200, vec![!0, !0], 128)]
        {
            let values = vec![5; values];
            assert!(panics(|| level.expand_u32(&values, &words, 0, &mut vec![0; rows])));
            let values = vec![5; values.len()];
            assert!(panics(|| level.expand_i64(&values, &words, 0, &mut vec![0; rows])));
        }
    }
}

#[test]
fn ones_are_rows() {
    for length in 0..=LENGTH_MAX {
        let words = selection(length, length as u64 + 9);
        let mut twin = vec![7];
        scalar::indexes_of(&words, &mut twin);
        for level in Level::available() {
            let mut rows = vec![7];
            level.indexes_of(&words, &mut rows);
            assert_eq!(rows, twin, "{length} rows, {}", level.name());
        }
    }
}

proptest! {
    #[test]
    fn buckets_are_exact(
        values in prop::collection::vec(any::<u32>(), 0..200),
        from in any::<u32>(),
        width in 1u32..,
    ) {
        let width = NonZeroU32::new(width).expect("not zero");
        let (mut out, mut twin) = (vec![0; values.len()], vec![0; values.len()]);
        scalar::bucket_u32(&values, from, width, &mut twin);
        for level in Level::available() {
            level.bucket_u32(&values, from, width, &mut out);
            prop_assert_eq!(&out, &twin);
        }
    }
}
