//! Packed vectors of every width: unpacked, compared, folded.

use super::*;

/// The layout of `spec/row-block.md` section 4, bit by bit.
fn pack_by_the_spec(values: &[u64; 1_024], width: usize) -> Vec<u8> {
    const ORDER: [usize; 8] = [0, 4, 2, 6, 1, 5, 3, 7];
    let lane_bits = [8, 16, 32, 64].into_iter().find(|&t| width <= t).expect("at most 64");
    let lanes = 1_024 / lane_bits;
    let mut bytes = vec![0u8; 128 * width];
    for lane in 0..lanes {
        for row in 0..lane_bits {
            let value = values[ORDER[row / 8] * 16 + (row % 8) * 128 + lane];
            for bit in (0..width).filter(|bit| value >> bit & 1 == 1) {
                let at = row * width + bit;
                let word = at / lane_bits * lanes + lane;
                let at = word * lane_bits + at % lane_bits;
                bytes[at / 8] |= 1 << (at % 8);
            }
        }
    }
    bytes
}

/// A vector that uses all `width` bits, and its packed form after `offset` other bytes.
fn packed(width: u8, offset: usize) -> ([u64; 1_024], Vec<u8>) {
    let values = noise(1_024, width.into()).try_into().expect("1,024");
    let mut bytes = vec![0xEE; offset];
    bytes.extend(pack_by_the_spec(&values, width.into()));
    let mask = if width == 0 { 0 } else { u64::MAX >> (64 - width) };
    (values.map(|value| value & mask), bytes)
}

#[test]
fn every_width_is_packed_as_the_spec_says_and_survives() {
    for width in 0..=64u8 {
        for offset in 0..8 {
            let (values, bytes) = packed(width, offset);
            let high = noise(1_024, 99);
            let dirty = std::array::from_fn(|index| match width {
                64 => values[index],
                width => values[index] | high[index] << width,
            });
            for level in Level::available() {
                let mut out = vec![0xEE; offset];
                level.pack(&dirty, width, &mut out);
                assert_eq!(out, bytes, "width {width} at {}", level.name());

                let (mut wide, mut narrow) = ([7; 1_024], [7; 1_024]);
                level.unpack_i64(&bytes[offset..], width, -3, &mut wide);
                level.unpack_u32(&bytes[offset..], width, 9, &mut narrow);
                for (index, value) in values.into_iter().enumerate() {
                    assert_eq!(wide[index], value.cast_signed().wrapping_sub(3), "width {width}");
                    assert_eq!(narrow[index], u32::from_u64(value).wrapping_add(9));
                }
            }
        }
    }
}

#[test]
fn every_width_is_compared_without_being_unpacked() {
    for width in 0..=64u8 {
        let (values, bytes) = packed(width, 3);
        let bytes = &bytes[3..];
        let (least, most) = (values.iter().min().copied(), values.iter().max().copied());
        let (least, most) = (least.expect("some"), most.expect("some"));
        let some = values[usize::from(width) * 7];
        let bounds = [
            (0, u64::MAX),
            (0, 0),
            (some, some),
            (least.saturating_add(1), some),
            (some, most - u64::from(most > 0)),
            (some, u64::MAX),
            (u64::MAX, u64::MAX),
            (some.wrapping_add(1), some),
        ];
        for (low, high) in bounds {
            let mut twin = [7; 16];
            scalar::filter_packed(bytes, width, low, high, &mut twin);
            for level in Level::available() {
                let mut words = [9; 16];
                level.filter_packed(bytes, width, low, high, &mut words);
                assert_eq!(words, twin, "width {width}, {low} to {high} at {}", level.name());
            }
        }
    }
    assert!(panics(|| filter_packed(&[0; 127], 1, 0, 0, &mut [0; 16])));
    assert!(panics(|| filter_packed(&[0; 127], 1, 1, 0, &mut [0; 16])));
    assert!(panics(|| filter_packed(&[0; 1], 0, 0, 0, &mut [0; 16])));
    assert!(panics(|| filter_packed(&[0; 65 * 128], 65, 0, 0, &mut [0; 16])));
}

#[test]
fn every_width_folds_chosen_values_and_shows_single_ones() {
    let dense: [u64; 16] = std::array::from_fn(|word| !(1 << (word * 5 % 64)));
    let mixed = selection(1_024, 5).try_into().expect("16 words");
    let choices = [[0; 16], [u64::MAX; 16], dense, mixed, dense.map(|word| !word)];
    for width in 0..=64u8 {
        let (values, random) = packed(width, 5);
        for (place, value) in values.into_iter().enumerate() {
            assert_eq!(packed_value(&random[5..], width, place), value, "width {width}");
        }
        let full = vec![0xFF; 5 + 128 * usize::from(width)];
        for (bytes, words) in [&random, &full].into_iter().flat_map(|b| choices.map(|w| (b, w))) {
            let twin = scalar::fold_packed_where(&bytes[5..], width, &words);
            for level in Level::available() {
                let fold = level.fold_packed_where(&bytes[5..], width, &words);
                assert_eq!(fold, twin, "width {width} at {}", level.name());
                let sum = level.sum_packed_where(&bytes[5..], width, &words);
                assert_eq!(sum, twin.sum, "width {width} at {}", level.name());
            }
        }
    }
    assert!(panics(|| _ = sum_packed_where(&[0; 127], 1, &[0; 16])));
    assert!(panics(|| _ = sum_packed_where(&[0; 1], 0, &[0; 16])));
    assert!(panics(|| _ = fold_packed_where(&[0; 127], 1, &[0; 16])));
    assert!(panics(|| _ = packed_value(&[0; 127], 1, 0)));
    assert!(panics(|| _ = packed_value(&[0; 128], 1, 1_024)));
}

#[test]
fn every_width_folds_without_being_unpacked() {
    for width in 0..=64u8 {
        let mut vectors = vec![packed(width, 3).1, vec![0xFF; 3 + 128 * usize::from(width)]];
        vectors.push(vec![0; 3 + 128 * usize::from(width)]);
        for bytes in vectors {
            let bytes = &bytes[3..];
            let twin = scalar::fold_packed(bytes, width);
            let mut slots = [0i64; 1_024];
            scalar::unpack(bytes, width, 0, &mut slots);
            assert_eq!(twin.sum, slots.map(|slot| u128::from(slot.cast_unsigned())).iter().sum());
            for level in Level::available() {
                assert_eq!(level.fold_packed(bytes, width), twin, "width {width}");
                assert_eq!(level.sum_packed(bytes, width), twin.sum, "width {width}");
            }
        }
    }
}

#[test]
fn a_packed_vector_of_another_length_panics() {
    let bytes = vec![0; 128 * 65];
    for level in Level::available() {
        for (width, length) in [(0, 1), (1, 0), (1, 127), (1, 129), (9, 128 * 8), (64, 128 * 65)] {
            let bytes = &bytes[..length];
            assert!(panics(|| level.unpack_u32(bytes, width, 0, &mut [0; 1_024])));
            assert!(panics(|| level.unpack_i64(bytes, width, 0, &mut [0; 1_024])));
            assert!(panics(|| {
                level.fold_packed(bytes, width);
            }));
        }
        for width in [65, 128, 255] {
            let bytes = vec![0; 128 * usize::from(width)];
            assert!(panics(|| level.unpack_u32(&bytes, width, 0, &mut [0; 1_024])));
            assert!(panics(|| {
                level.sum_packed(&bytes, width);
            }));
            assert!(panics(|| level.pack(&[0; 1_024], width, &mut Vec::new())));
        }
    }
}

proptest! {
    #[test]
    fn random_packed_bytes_never_panic(
        seed in any::<u64>(),
        width in 0u8..=64,
        base in any::<i64>(),
    ) {
        let words = noise(16 * usize::from(width), seed);
        let bytes: Vec<u8> = words.into_iter().flat_map(u64::to_le_bytes).collect();
        let (mut out, mut twin) = ([0; 1_024], [0; 1_024]);
        scalar::unpack(&bytes, width, base, &mut twin);
        for level in Level::available() {
            level.unpack(&bytes, width, base, &mut out);
            prop_assert_eq!(out, twin);
        }
    }
}
