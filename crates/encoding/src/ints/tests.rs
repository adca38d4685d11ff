use proptest::prelude::*;

use super::*;
use crate::{Bitmap, EncodingError};

fn bytes_of(values: &[i64]) -> Vec<u8> {
    let mut out = Vec::new();
    encode(values, &mut out);
    out
}

fn assert_survives(values: &[i64]) {
    // An odd start: decoding may not depend on alignment.
    let mut out = vec![0xEE];
    encode(values, &mut out);
    let view = IntsView::parse(&out[1..], values.len()).expect("parses");
    let mut again = vec![42];
    view.decode_into(&mut again);
    assert_eq!(again[1..], *values);
    for (vector, chunk) in values.chunks(1_024).enumerate() {
        let mut slots = [0i64; 1_024];
        assert_eq!(view.decode_vector(vector, &mut slots), chunk.len());
        assert_eq!(slots[..chunk.len()], *chunk);
        let zone = (*chunk.iter().min().expect("some"), *chunk.iter().max().expect("some"));
        assert_eq!(view.zone(vector), zone);
    }
    assert_folds(&view, values);
    assert_some_are_told(&view, values);
    assert_is_near(&view, values);
    if let Some(Runs { values: heads, ends }) = view.runs() {
        let lengths = ends.iter().scan(0, |start, &end| Some(end - std::mem::replace(start, end)));
        let runs = heads.iter().zip(lengths);
        let again = runs.flat_map(|(&value, length)| std::iter::repeat_n(value, length as usize));
        assert_eq!(again.collect::<Vec<_>>(), values);
    }
    if let Some((entries, codes)) = view.dictionary() {
        let (mut table, mut indexes) = (Vec::new(), Vec::new());
        entries.decode_into(&mut table);
        assert!(table.is_sorted_by(|left, right| left < right));
        codes.decode_codes_into(table.len(), &mut indexes).expect("below");
        let again: Vec<i64> = indexes.into_iter().map(|code| table[code as usize]).collect();
        assert_eq!(again, values);
    }
}

fn assert_folds(view: &IntsView<'_>, values: &[i64]) {
    let expected = Fold {
        sum: values.iter().copied().map(i128::from).sum(),
        min: values.iter().copied().min().unwrap_or(i64::MAX),
        max: values.iter().copied().max().unwrap_or(i64::MIN),
    };
    assert_eq!(view.fold(), expected);
    assert_eq!(view.sum(), expected.sum);
}

/// Asserts that results for some rows, or for a range of values, equal those of the decoded values.
fn assert_some_are_told(view: &IntsView<'_>, values: &[i64]) {
    let bits = |test: &dyn Fn(usize) -> bool| {
        let mut bits = Bitmap::zeros(values.len());
        (0..values.len()).filter(|&row| test(row)).for_each(|row| bits.set(row));
        bits
    };
    let mix = |row: usize| row.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
    for chosen in [
        bits(&|_| true),
        bits(&|_| false),
        bits(&|row| !mix(row).is_multiple_of(300)),
        bits(&|row| mix(row).is_multiple_of(300)),
        bits(&|row| row / 700 % 3 == 1),
        bits(&|row| mix(row).is_multiple_of(3)),
    ] {
        let some = || values.iter().enumerate().filter(|(row, _)| chosen.get(*row));
        let expected = Fold {
            sum: some().map(|(_, value)| i128::from(*value)).sum(),
            min: some().map(|(_, value)| *value).min().unwrap_or(i64::MAX),
            max: some().map(|(_, value)| *value).max().unwrap_or(i64::MIN),
        };
        assert_eq!(view.fold_where(&chosen), expected);
        assert_eq!(view.sum_where(&chosen), expected.sum);
        if let Some(frame_of_reference) = view.frame_of_reference() {
            let steps =
                view.steps_where(&frame_of_reference, Some(&chosen)).expect("below the span");
            assert_eq!(steps.len(), values.len());
            for (row, value) in some() {
                assert_eq!(
                    frame_of_reference.from + frame_of_reference.step * i64::from(steps[row]),
                    *value
                );
            }
        }
    }
    for row in (0..values.len()).step_by(97) {
        assert!(view.value_at(row).is_none_or(|value| value == values[row]));
    }
    let Some(&some) = values.get(values.len() / 2) else { return };
    let other = values[values.len() / 3];
    for (low, high) in [
        (some, some),
        (some.min(other), some.max(other)),
        (i64::MIN, some),
        (some.saturating_add(1), i64::MAX),
        (i64::MIN, i64::MAX),
        (some.saturating_sub(3), other.saturating_add(3)),
        (i64::MIN, i64::MIN),
    ] {
        let expected = bits(&|row| (low..=high).contains(&values[row]));
        assert_eq!(view.between(low, high), expected, "{low} to {high}");
    }
}

fn assert_is_near(view: &IntsView<'_>, values: &[i64]) {
    let (min, max) = (values.iter().min(), values.iter().max());
    let range = min.zip(max).map_or(0, |(&min, &max)| i128::from(max) - i128::from(min));
    let Some(frame_of_reference) = view.frame_of_reference() else {
        return assert!(range > i128::from(u32::MAX) || values.is_empty());
    };
    let steps = view.steps_where(&frame_of_reference, None).expect("below the span");
    let again: Vec<i64> = steps
        .iter()
        .map(|&k| frame_of_reference.from + frame_of_reference.step * i64::from(k))
        .collect();
    assert_eq!(again, values);
    if let Some((&min, &max)) = min.zip(max) {
        assert_eq!((frame_of_reference.from, frame_of_reference.to()), (min, max));
        let narrow = FrameOfReference {
            span: frame_of_reference.span.wrapping_sub(1),
            ..frame_of_reference
        };
        assert_eq!(view.steps_where(&narrow, None).is_err(), frame_of_reference.span > 0);
    }
}

/// Encodes the values, and asserts that they survive and that the stream has this form and size.
fn assert_form(values: &[i64], form: &str, bytes_max: usize) {
    assert_survives(values);
    let bytes = bytes_of(values);
    println!("{} bytes as {:?}, expected {form} and {bytes_max}", bytes.len(), form_name(&bytes));
    assert_eq!(form_name(&bytes), Some(form));
    assert!(bytes.len() <= bytes_max);
}

fn pseudo_random(count: usize, width: u32, seed: u64) -> Vec<i64> {
    let mut state = seed;
    let next = |_| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let value = state ^ (state >> 31);
        if width == 0 { 0 } else { (value >> (64 - width)).cast_signed() }
    };
    (0..count).map(next).collect()
}

#[test]
fn codes_are_looked_for_in_sets() {
    for (limit, count) in [(1, 5), (5, 3_000), (200, 2_048), (9_000, 3_000)] {
        let codes: Vec<u32> =
            pseudo_random(count, 20, 4).iter().map(|value| low(value % limit)).collect();
        let mut bytes = Vec::new();
        encode_codes(&codes, &mut bytes);
        let view = IntsView::parse(&bytes, count).expect("parses");
        let all = usize::try_from(limit).expect("small");
        let sets: [&dyn Fn(usize) -> bool; 6] = [
            &|_| false,
            &|_| true,
            &|code| code == all / 2,
            &|code| code != all / 2,
            &|code| code > all / 3 && code < all / 2,
            &|code| code % 3 == 1,
        ];
        for (index, test) in sets.into_iter().enumerate() {
            let mut set = Bitmap::zeros(all);
            (0..all).filter(|&code| test(code)).for_each(|code| set.set(code));
            let mut expected = Bitmap::zeros(count);
            let is_in_set = |row: &usize| test(codes[*row] as usize);
            (0..count).filter(is_in_set).for_each(|row| expected.set(row));
            assert_eq!(view.in_set(&set), expected, "set {index} of {limit}");
            let some = view.codes_where(all, Some(&expected)).expect("below the limit");
            expected.iter_ones().for_each(|row| assert_eq!(some[row], codes[row]));
        }
    }
}

#[test]
fn every_width_and_length_survives() {
    for width in 0..=64 {
        for count in [0, 1, 2, 3, 1_023, 1_024, 1_025, 2_047, 2_048, 2_049, 3_072] {
            let mut values = pseudo_random(count, width, u64::from(width) + 1);
            assert_survives(&values);
            values.sort_unstable();
            assert_survives(&values);
        }
    }
}

#[test]
fn the_ends_of_the_range_survive() {
    for count in [2, 1_024, 1_030] {
        let ends = [i64::MIN, i64::MAX, 0, -1];
        assert_survives(&(0..count).map(|i| ends[i % 4]).collect::<Vec<_>>());
        assert_survives(&(0..count).map(|i| ends[i % 2]).collect::<Vec<_>>());
    }
}

#[test]
fn small_and_regular_streams_are_small() {
    assert_eq!(bytes_of(&[]), [0, 0]);
    assert_eq!(bytes_of(&[5]), [0, 10]);
    assert_eq!(bytes_of(&[-1; 65_536]), [0, 1]);
    let every_second: Vec<i64> =
        (0..65_536).map(|i| 1_700_000_000_000_000 + i * 1_000_000).collect();
    assert!(bytes_of(&every_second).len() < 64 * 20);
    let bits: Vec<i64> = pseudo_random(65_536, 1, 3);
    assert!(bytes_of(&bits).len() <= 8_192 + 1 + 64 * 3);
}

#[test]
fn counters_that_begin_again_are_tiny() {
    let counter: Vec<i64> = (0..65_536).map(|i| i % 10_000).collect();
    assert_form(&counter, "packed", 64 * 18);
    let backwards: Vec<i64> = counter.iter().map(|value| 7 - value * 3).collect();
    assert_form(&backwards, "steps", 64 * 18);
}

#[test]
fn values_that_repeat_are_runs() {
    let minutes: Vec<i64> = (0..65_536).map(|i| 1_700_000_000 + i / 10_000 * 60).collect();
    assert_form(&minutes, "steps", 40);
    let uneven: Vec<i64> = (0..65_536).map(|i: i64| (i / 100).pow(2) % 7_919).collect();
    assert_form(&uneven, "runs", 656 * 2 + 30);
}

#[test]
fn a_common_factor_is_written_once() {
    let random = pseudo_random(65_536, 20, 5);
    let seconds: Vec<i64> = random.iter().map(|k| 1_700_000_000_000_000 + k * 1_000_000).collect();
    assert_form(&seconds, "steps", 65_536 * 20 / 8 + 64 * 8 + 20);
    let frame_of_reference =
        IntsView::parse(&bytes_of(&seconds), seconds.len()).expect("parses").frame_of_reference();
    assert_eq!(
        frame_of_reference.map(|frame_of_reference| frame_of_reference.step),
        Some(1_000_000)
    );
    let whole_range: Vec<i64> =
        random.iter().map(|k| if k % 2 == 0 { i64::MIN } else { 0 }).collect();
    assert_form(&whole_range, "steps", 8_192 + 64 * 5);
}

#[test]
fn outliers_do_not_widen_a_vector() {
    for outlier in [1 << 14, 1 << 22, 1 << 40, i64::MAX] {
        let mut values = pseudo_random(4_096, 10, 6);
        let plain = bytes_of(&values).len();
        values.iter_mut().step_by(300).for_each(|value| *value = outlier - *value);
        assert_form(&values, "packed", plain + 14 * 10 + 4 * 12);
    }
    // Regular times with gaps.
    let mut time = 0;
    let gaps: Vec<i64> = (0..4_096)
        .map(|i| {
            time += if i % 500 == 499 { 1 << 45 } else { 1_000 + i % 3 };
            time
        })
        .collect();
    assert_form(&gaps, "packed", 4_096 / 4 + 9 * 10 + 4 * 20);
}

#[test]
fn numbers_that_repeat_have_a_dictionary() {
    let ids = pseudo_random(40_000, 34, 7);
    let picks = pseudo_random(65_536, 15, 8);
    let column: Vec<i64> =
        picks.iter().map(|&pick| ids[usize::try_from(pick).expect("small")]).collect();
    // 15 bits for a code, and 28,000 differences of about 20.
    assert_form(&column, "dictionary", 65_536 * 15 / 8 + 28_800 * 22 / 8);
    let rates = [1, 10, 100, 1_001];
    let column: Vec<i64> =
        picks.iter().map(|&pick| rates[usize::try_from(pick % 4).expect("4")]).collect();
    assert_form(&column, "dictionary", 65_536 / 4 + 64 * 4 + 20);
    // Values that hardly repeat have no dictionary.
    assert_form(&pseudo_random(65_536, 34, 9), "packed", 65_536 * 34 / 8 + 64 * 14);
}

#[test]
fn patches_add_up_whatever_is_below_them() {
    // Outliers so far away that their extra has the sign bit, in full vectors and in the last one.
    for (base, outlier) in [(i64::MIN, i64::MAX), (-7, 1 << 40), (3, 70_000)] {
        let mut values: Vec<i64> =
            pseudo_random(2_500, 9, 5).into_iter().map(|value| base + value).collect();
        for (at, value) in values.iter_mut().enumerate().filter(|(at, _)| at % 101 == 7) {
            *value = outlier - i64::try_from(at).expect("small");
        }
        assert_form(&values, "packed", 2_500 * 9 / 8 + 25 * 14 + 50);
    }
}

#[test]
fn bad_forms_are_refused() {
    let parse = |bytes: &[u8], length| IntsView::parse(bytes, length).map(|view| view.len());
    // Runs of 30 zeros and 34 ones.
    let runs = [3, 2, 5, 1, 0, 0, 1, 0b10, 1, 0, 60, 4, 0b10_0000];
    assert_eq!(parse(&runs, 64), Ok(64));
    for length in [0, 15, 16, 63, 65, 1 << 20] {
        assert!(parse(&runs, length).is_err(), "{length}");
    }
    assert!(parse(&[3, 1, 2, 0, 2, 0, 124], 62).is_ok());
    assert!(parse(&[3, 1, 2, 0, 2, 0, 0], 0).is_err(), "runs of nothing");
    let nothing = [3, 2, 2, 0, 2, 1, 0, 0, 64, 0, 0b10_0000];
    assert!(matches!(parse(&nothing, 64), Err(EncodingError::Order { index: 0, .. })));
    // Nested steps, nested runs, and a dictionary without entries.
    assert!(parse(&[2, 0, 2, 0, 4], 9).is_ok());
    assert!(parse(&[2, 0, 2, 2, 0, 2, 0, 4], 9).is_err());
    assert!(parse(&[3, 1, 7, 3, 1, 2, 0, 2, 0, 16, 0, 16], 8).is_err());
    assert!(parse(&[4, 1, 2, 0, 2, 0, 0], 8).is_ok());
    assert!(parse(&[4, 0, 2, 0, 2, 0, 0], 8).is_err());
}

#[test]
fn patches_that_do_not_ascend_or_lie_behind_the_end_are_none() {
    let all = Bitmap::from_words(vec![0x1FF], 9);
    for (positions, values) in [
        ([3, 8], [(3, 1), (8, 127)]),
        ([3, 3], [(3, 1), (3, 1)]),
        ([4, 3], [(4, 1), (4, 1)]),
        ([3, 9], [(3, 1), (3, 1)]),
        ([9, 3], [(3, 127), (3, 127)]),
        ([9, 10], [(0, 0), (0, 0)]),
    ] {
        let bytes = [1, 66, 0, 127, 2, 1, positions[0], 0, positions[1], 0, 1, 127];
        let view = IntsView::parse(&bytes, 9).expect("parses");
        let mut expected = [0i64; 9];
        values.into_iter().for_each(|(place, value)| expected[place] = value);
        let mut decoded = Vec::new();
        view.decode_into(&mut decoded);
        assert_eq!(decoded, expected, "{positions:?}");
        assert_eq!(view.sum(), expected.iter().map(|&value| i128::from(value)).sum());
        assert_eq!(view.fold_where(&all).sum, view.sum());
    }
}

#[test]
fn codes_are_checked_against_their_limit() {
    for count in [2, 1_024, 1_500] {
        let codes: Vec<u32> = (0..count).map(|i| i % 7).collect();
        let mut out = Vec::new();
        encode_codes(&codes, &mut out);
        let view = IntsView::parse(&out, codes.len()).expect("parses");
        let mut again = Vec::new();
        let limit = usize::try_from(count.min(7)).expect("small");
        view.decode_codes_into(limit, &mut again).expect("below");
        assert_eq!(again, codes);
        let error = view.decode_codes_into(limit - 1, &mut again).expect_err("one too many");
        assert!(matches!(error, EncodingError::Limit { what: "a code", .. }), "{error}");
    }
    let wide = bytes_of(&[0, 1 << 40, 1]);
    let view = IntsView::parse(&wide, 3).expect("parses");
    // Modulo 2^32 the value would be a valid code, so the limit must be checked before.
    assert!(view.decode_codes_into(1, &mut Vec::new()).is_err());
}

#[test]
fn a_stream_must_be_exact() {
    let bytes = bytes_of(&pseudo_random(1_500, 9, 4));
    assert!(IntsView::parse(&bytes, 1_500).is_ok());
    for length in [0, 1, 1_024, 1_499 - 8, 1_501 + 8, usize::MAX >> 8] {
        assert!(IntsView::parse(&bytes, length).is_err(), "{length}");
    }
    for cut in 0..bytes.len() {
        assert!(IntsView::parse(&bytes[..cut], 1_500).is_err(), "{cut}");
    }
}

fn values_of_some_shape() -> impl Strategy<Value = Vec<i64>> {
    let value = prop_oneof![
        any::<i64>(),
        -3i64..3,
        Just(i64::MIN),
        Just(i64::MAX),
        1_700_000_000_000_000i64..1_700_000_100_000_000,
    ];
    (prop::collection::vec(value, 1..60), 0usize..2_600, any::<bool>()).prop_map(
        |(pool, count, sorted)| {
            let mut values: Vec<i64> = (0..count)
                .map(|i| pool[i * i % pool.len()].wrapping_add(i64::try_from(i).expect("small")))
                .collect();
            if sorted {
                values.sort_unstable();
            }
            values
        },
    )
}

/// Values of the shapes that each form other than plain vectors is made for.
fn values_of_some_form() -> impl Strategy<Value = Vec<i64>> {
    let factor = prop_oneof![Just(1i64), Just(60), Just(1_000_000), any::<i64>()];
    let pool = prop::collection::vec(prop_oneof![any::<i64>(), 0i64..99], 1..30);
    let shape = (0usize..2_600, 1usize..300, 1usize..40, any::<bool>());
    (pool, factor, any::<i64>(), shape).prop_map(
        |(pool, factor, base, (count, period, repeat, counts))| {
            let value = |i: usize| {
                let i = i / repeat;
                let small = i64::try_from(i % period).expect("small");
                if counts && !i.is_multiple_of(97) { small } else { pool[i * i % pool.len()] }
            };
            let value = |i| base.wrapping_add(factor.wrapping_mul(value(i)));
            (0..count).map(value).collect()
        },
    )
}

/// Calls every method of a view of arbitrary bytes.
fn use_all(view: &IntsView<'_>) {
    let _ = view.decode_codes_into(100, &mut Vec::new());
    for vector in 0..view.vector_count() {
        let _ = view.zone(vector);
    }
    let _ = (view.fold(), view.constant());
    let mut some = Bitmap::zeros(view.len());
    (0..view.len()).filter(|row| row % 7 < 4 || row % 1_024 > 900).for_each(|row| some.set(row));
    let _ = (view.fold_where(&some), view.fold_where(&Bitmap::zeros(view.len())));
    let _ = (view.sum(), view.sum_where(&some), view.sum_where(&Bitmap::zeros(view.len())));
    for (low, high) in [(0, 0), (-3, 99), (i64::MIN, 7), (1 << 40, i64::MAX)] {
        assert_eq!(view.between(low, high).len(), view.len());
    }
    let _ = view.in_set(&Bitmap::from_words(vec![0b1011_0011], 9));
    (0..view.len()).step_by(61).for_each(|row| _ = view.value_at(row));
    let _ = view.codes_where(100, Some(&some));
    if let Some(frame_of_reference) = view.frame_of_reference() {
        for chosen in [None, Some(&some)] {
            let steps = view.steps_where(&frame_of_reference, chosen);
            assert!(
                steps.is_err()
                    || steps
                        .iter()
                        .flat_map(|buffer| buffer.iter())
                        .all(|&k| k <= frame_of_reference.span)
            );
        }
        let _ = frame_of_reference.to();
    }
    if let Some(runs) = view.runs() {
        assert_eq!(runs.values.len(), runs.ends.len());
        assert!(runs.ends.is_sorted_by(|left, right| left < right));
        assert_eq!(runs.ends.last().map_or(0, |&end| end as usize), view.len());
    }
    if let Some((entries, codes)) = view.dictionary() {
        entries.decode_into(&mut Vec::new());
        let _ = codes.decode_codes_into(entries.len(), &mut Vec::new());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn random_values_survive(values in values_of_some_shape()) {
        assert_survives(&values);
    }

    #[test]
    fn random_forms_survive(values in values_of_some_form()) {
        assert_survives(&values);
    }

    #[test]
    fn mutated_forms_never_panic(
        values in values_of_some_form(),
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut bytes = bytes_of(&values);
        for (at, byte) in flips {
            let at = at.index(bytes.len().min(60));
            bytes[at] = byte;
        }
        if let Ok(view) = IntsView::parse(&bytes, values.len()) {
            use_all(&view);
        }
    }

    #[test]
    fn random_bytes_never_panic(
        mut bytes in prop::collection::vec(any::<u8>(), 0..400),
        form in 0u8..6,
        length in 0usize..2_100,
    ) {
        if let Some(first) = bytes.first_mut() {
            *first = form;
        }
        if let Ok(view) = IntsView::parse(&bytes, length) {
            let mut values = Vec::new();
            view.decode_into(&mut values);
            prop_assert_eq!(values.len(), length);
            use_all(&view);
        }
    }

    #[test]
    fn mutated_streams_never_panic(
        values in values_of_some_shape(),
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut bytes = bytes_of(&values);
        for (at, byte) in flips {
            let at = at.index(bytes.len().min(120));
            bytes[at] = byte;
        }
        if let Ok(view) = IntsView::parse(&bytes, values.len()) {
            view.decode_into(&mut Vec::new());
            use_all(&view);
        }
    }
}
