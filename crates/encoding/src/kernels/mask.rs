//! Keeps the values of some rows and overwrites the values of all other rows.

use super::primitives::Primitives;
use super::simd_level::kernels;

kernels! {
    /// Overwrites with `fill` each value whose row's bit is zero. Bits after the last row are
    /// ignored.
    ///
    /// # Panics
    /// When `words` does not have one word per 64 rows, rounded up.
    pub fn mask_u32(values: &mut [u32], words: &[u64], fill: u32) = mask_body;

    /// Like [`mask_u32`].
    ///
    /// # Panics
    /// When `words` does not have one word per 64 rows, rounded up.
    pub fn mask_i64(values: &mut [i64], words: &[u64], fill: i64) = mask_body;
}

#[inline(always)]
fn mask_body<T: Copy>(_: impl Primitives, values: &mut [T], words: &[u64], fill: T) {
    assert_eq!(words.len(), values.len().div_ceil(64), "words for the rows");
    let (chunks, tail) = values.as_chunks_mut::<64>();
    for (chunk, &word) in chunks.iter_mut().zip(words) {
        if word == u64::MAX {
            continue;
        }
        // No branch per row, so that many rows are processed at a time.
        for (row, value) in chunk.iter_mut().enumerate() {
            *value = if word >> row & 1 == 1 { *value } else { fill };
        }
    }
    if let Some(&word) = words.get(chunks.len()) {
        for (row, value) in tail.iter_mut().enumerate() {
            *value = if word >> row & 1 == 1 { *value } else { fill };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Level;

    #[test]
    fn only_rows_with_a_bit_keep_their_value() {
        let mut seed = 1u64;
        for length in (0usize..400).chain([1_024, 3_071]) {
            let words: Vec<u64> = (0..length.div_ceil(64))
                .map(|word| {
                    seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    if word % 3 == 2 { u64::MAX } else { seed }
                })
                .collect();
            let values: Vec<u32> = (10..).take(length).collect();
            let kept = |row: usize| words[row / 64] >> (row % 64) & 1 == 1;
            let expected: Vec<u32> =
                (0..length).map(|row| if kept(row) { values[row] } else { 7 }).collect();
            for level in Level::available() {
                let mut masked = values.clone();
                level.mask_u32(&mut masked, &words, 7);
                assert_eq!(masked, expected, "{} values, {}", length, level.name());
                let mut masked: Vec<i64> = values.iter().map(|&value| -i64::from(value)).collect();
                level.mask_i64(&mut masked, &words, -7);
                let expected = expected.iter().map(|&value| -i64::from(value));
                assert_eq!(masked, expected.collect::<Vec<i64>>(), "{}", level.name());
            }
        }
    }
}
