//! Plain bit packing: one value after another, lowest bit first, no padding.
//!
//! Used for vectors of fewer than 1,024 values, and as the oracle of the kernels' tests.

/// Bytes of `count` values of `width` bits.
#[must_use]
pub(crate) const fn packed_bytes(count: usize, width: u8) -> usize {
    (count * width as usize).div_ceil(8)
}

/// The significant bits of `value`: 0 to 64.
#[must_use]
pub(crate) const fn bit_width(value: u64) -> u8 {
    #[expect(clippy::cast_possible_truncation, reason = "0 to 64")]
    let width = (64 - value.leading_zeros()) as u8;
    width
}

/// Appends the low `width` bits of each value.
pub(crate) fn pack(values: &[u64], width: u8, out: &mut Vec<u8>) {
    let end = out.len() + packed_bytes(values.len(), width);
    let (mut pending, mut bits) = (0u128, 0u32);
    for &value in values {
        pending |= u128::from(value & low_bits(width)) << bits;
        bits += u32::from(width);
        while bits >= 8 {
            let [low, ..] = pending.to_le_bytes();
            out.push(low);
            pending >>= 8;
            bits -= 8;
        }
    }
    if bits > 0 {
        let [low, ..] = pending.to_le_bytes();
        out.push(low);
    }
    debug_assert_eq!(out.len(), end);
}

/// Calls `put(index, value)` for `count` values of `width` bits; missing bytes read as zeros.
#[inline]
pub(crate) fn unpack(bytes: &[u8], count: usize, width: u8, mut put: impl FnMut(usize, u64)) {
    let low_bits = low_bits(width);
    for index in 0..count {
        let bit = index * usize::from(width);
        let rest = bytes.get(bit / 8..).unwrap_or_default();
        // A value of up to 57 bits is within eight bytes, wherever it begins.
        let value = if width <= 57 {
            u64::from_le_bytes(first(rest)) >> (bit % 8)
        } else {
            #[expect(clippy::cast_possible_truncation, reason = "the low bits are wanted")]
            let low = (u128::from_le_bytes(first(rest)) >> (bit % 8)) as u64;
            low
        };
        put(index, value & low_bits);
    }
}

/// The first N bytes, with zeros after the last.
#[inline]
fn first<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.first_chunk().copied().unwrap_or_else(|| {
        let mut padded = [0; N];
        padded[..bytes.len()].copy_from_slice(bytes);
        padded
    })
}

const fn low_bits(width: u8) -> u64 {
    if width >= 64 { u64::MAX } else { (1 << width) - 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_lie_as_the_spec_says() {
        let mut out = vec![0xAA];
        pack(&[1, 2, 3], 3, &mut out);
        assert_eq!(out, [0xAA, 0b1101_0001, 0b0]);
        let mut values = Vec::new();
        unpack(&out[1..], 3, 3, |_, value| values.push(value));
        assert_eq!(values, [1, 2, 3]);
    }

    #[test]
    fn every_width_survives() {
        for width in 0..=64 {
            for count in [0, 1, 2, 7, 8, 9, 63, 64, 65, 1_023] {
                let values: Vec<u64> = (0..count)
                    .map(|i: u64| (i + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) & low_bits(width))
                    .collect();
                let mut out = Vec::new();
                pack(&values, width, &mut out);
                assert_eq!(out.len(), packed_bytes(values.len(), width));
                let mut again = Vec::new();
                unpack(&out, values.len(), width, |_, value| again.push(value));
                assert_eq!(again, values, "width {width}, count {count}");
            }
        }
    }
}
