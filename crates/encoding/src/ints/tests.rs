use proptest::prelude::*;

use super::*;
use crate::EncodingError;

fn bytes_of(values: &[i64]) -> Vec<u8> {
    let mut out = Vec::new();
    encode(values, &mut out);
    out
}

fn assert_survives(values: &[i64]) {
    // An odd start: nothing may depend on alignment.
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
        assert!(view.decode_codes_vector(0, limit - 1, &mut [0; 1_024]).is_err());
    }
    let wide = bytes_of(&[0, 1 << 40, 1]);
    let view = IntsView::parse(&wide, 3).expect("parses");
    // Modulo 2^32 it is a code, so what matters is that it is below the limit.
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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn random_values_survive(values in values_of_some_shape()) {
        assert_survives(&values);
    }

    #[test]
    fn random_bytes_never_panic(
        mut bytes in prop::collection::vec(any::<u8>(), 0..400),
        form in 0u8..3,
        length in 0usize..2_100,
    ) {
        if let Some(first) = bytes.first_mut() {
            *first = form;
        }
        if let Ok(view) = IntsView::parse(&bytes, length) {
            let mut values = Vec::new();
            view.decode_into(&mut values);
            prop_assert_eq!(values.len(), length);
            let _ = view.decode_codes_into(100, &mut Vec::new());
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
            for vector in 0..view.vector_count() {
                let _ = view.zone(vector);
            }
        }
    }
}
