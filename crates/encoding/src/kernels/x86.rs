//! The steps of `kernels/primitives.rs` in x86-64 instructions. No other file names intrinsics.
//!
//! Each step was measured against its plain form. Compressing into memory is slow on AMD, so the
//! result goes through a register.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::primitives::{self, Baseline, Primitives};

/// The proof of the features that the `kernels!` wrapper for AVX2 enables.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Avx2(());

/// The proof of the features that the `kernels!` wrapper for AVX-512 enables.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Avx512(());

impl Avx2 {
    pub(super) fn detect() -> Option<Self> {
        let is_available = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("popcnt");
        is_available.then_some(Self(()))
    }
}

impl Avx512 {
    pub(super) fn detect() -> Option<Self> {
        let is_available = Avx2::detect().is_some()
            && is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512cd")
            && is_x86_feature_detected!("avx512vbmi")
            && is_x86_feature_detected!("avx512vbmi2")
            && is_x86_feature_detected!("avx512vpopcntdq");
        is_available.then_some(Self(()))
    }
}

impl Primitives for Baseline {
    #[inline(always)]
    fn word_of(self, bytes: &[u8; 64]) -> u64 {
        let mut word = 0;
        for (index, bytes) in bytes.as_chunks::<16>().0.iter().enumerate() {
            // SAFETY: SSE2 is part of x86-64; 16 bytes are read.
            let bits = unsafe { _mm_movemask_epi8(_mm_loadu_si128(bytes.as_ptr().cast())) };
            word |= u64::from(bits.cast_unsigned()) << (16 * index);
        }
        word
    }

    #[inline(always)]
    fn add_eights(self, bytes: &[u8; 64], sums: &mut [u64; 8]) {
        let (chunks, sums) = (bytes.as_chunks::<16>().0, sums.as_chunks_mut::<2>().0);
        for (bytes, sums) in chunks.iter().zip(sums) {
            // SAFETY: SSE2 is part of x86-64; 16 bytes of each are read, and two sums written.
            unsafe {
                let bytes = _mm_loadu_si128(bytes.as_ptr().cast());
                let more = _mm_sad_epu8(bytes, _mm_setzero_si128());
                let all = _mm_add_epi64(_mm_loadu_si128(sums.as_ptr().cast()), more);
                _mm_storeu_si128(sums.as_mut_ptr().cast(), all);
            }
        }
    }
}

impl Primitives for Avx2 {
    #[inline(always)]
    fn add_eights(self, bytes: &[u8; 64], sums: &mut [u64; 8]) {
        // SAFETY: `self` is the proof of AVX2.
        unsafe { add_eights_avx2(bytes, sums) }
    }

    #[inline(always)]
    fn word_of(self, bytes: &[u8; 64]) -> u64 {
        // SAFETY: `self` is the proof of AVX2.
        unsafe { word_of_avx2(bytes) }
    }

    #[inline(always)]
    fn bytes_of(self, word: u64) -> [u8; 64] {
        // SAFETY: `self` is the proof of AVX2.
        unsafe { bytes_of_avx2(word) }
    }

    #[inline(always)]
    fn extract(self, word: u64, mask: u64) -> u64 {
        // SAFETY: `self` is the proof of BMI2.
        unsafe { extract_bmi2(word, mask) }
    }

    #[inline(always)]
    fn deposit(self, bits: u64, mask: u64) -> u64 {
        // SAFETY: `self` is the proof of BMI2.
        unsafe { deposit_bmi2(bits, mask) }
    }
}

impl Primitives for Avx512 {
    #[inline(always)]
    fn add_eights(self, bytes: &[u8; 64], sums: &mut [u64; 8]) {
        // SAFETY: `self` is the proof of AVX-512.
        unsafe { add_eights_avx512(bytes, sums) }
    }

    #[inline(always)]
    fn word_of(self, bytes: &[u8; 64]) -> u64 {
        // SAFETY: `self` is the proof of AVX-512.
        unsafe { word_of_avx512(bytes) }
    }

    #[inline(always)]
    fn bytes_of(self, word: u64) -> [u8; 64] {
        // SAFETY: `self` is the proof of AVX-512.
        unsafe { bytes_of_avx512(word) }
    }

    #[inline(always)]
    fn extract(self, word: u64, mask: u64) -> u64 {
        // SAFETY: `self` is the proof of BMI2.
        unsafe { extract_bmi2(word, mask) }
    }

    #[inline(always)]
    fn deposit(self, bits: u64, mask: u64) -> u64 {
        // SAFETY: `self` is the proof of BMI2.
        unsafe { deposit_bmi2(bits, mask) }
    }

    #[inline(always)]
    fn expand_u32(self, word: u64, values: &[u32; 64], fill: u32, out: &mut [u32; 64]) {
        // SAFETY: `self` is the proof of AVX-512.
        unsafe { expand_u32_avx512(word, values, fill, out) }
    }

    #[inline(always)]
    fn expand_i64(self, word: u64, values: &[i64; 64], fill: i64, out: &mut [i64; 64]) {
        // SAFETY: `self` is the proof of AVX-512.
        unsafe { expand_i64_avx512(word, values, fill, out) }
    }

    #[inline(always)]
    fn look_up(self, table: &[u32; 32], codes: &[u32; 16]) -> [u32; 16] {
        // SAFETY: `self` is the proof of AVX-512.
        unsafe { look_up_avx512(table, codes) }
    }

    #[inline(always)]
    fn indexes(self, word: u64, base: u32, out: &mut [u32; 64]) {
        // Writing a few one by one is faster than writing 64.
        if word.count_ones() <= 4 {
            return primitives::indexes(word, base, out);
        }
        // SAFETY: `self` is the proof of AVX-512.
        unsafe { indexes_avx512(word, base, out) }
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn add_eights_avx2(bytes: &[u8; 64], sums: &mut [u64; 8]) {
    let (chunks, sums) = (bytes.as_chunks::<32>().0, sums.as_chunks_mut::<4>().0);
    for (bytes, sums) in chunks.iter().zip(sums) {
        // SAFETY: 32 bytes of each are read, and four sums written.
        unsafe {
            let bytes = _mm256_loadu_si256(bytes.as_ptr().cast());
            let more = _mm256_sad_epu8(bytes, _mm256_setzero_si256());
            let all = _mm256_add_epi64(_mm256_loadu_si256(sums.as_ptr().cast()), more);
            _mm256_storeu_si256(sums.as_mut_ptr().cast(), all);
        }
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn add_eights_avx512(bytes: &[u8; 64], sums: &mut [u64; 8]) {
    // SAFETY: 64 bytes of each are read, and eight sums written.
    unsafe {
        let bytes = _mm512_loadu_si512(bytes.as_ptr().cast());
        let more = _mm512_sad_epu8(bytes, _mm512_setzero_si512());
        let all = _mm512_add_epi64(_mm512_loadu_si512(sums.as_ptr().cast()), more);
        _mm512_storeu_si512(sums.as_mut_ptr().cast(), all);
    }
}

#[inline]
#[target_feature(enable = "bmi2")]
fn extract_bmi2(word: u64, mask: u64) -> u64 {
    _pext_u64(word, mask)
}

#[inline]
#[target_feature(enable = "bmi2")]
fn deposit_bmi2(bits: u64, mask: u64) -> u64 {
    _pdep_u64(bits, mask)
}

#[inline]
#[target_feature(enable = "avx2")]
fn word_of_avx2(bytes: &[u8; 64]) -> u64 {
    let mut word = 0;
    for (index, bytes) in bytes.as_chunks::<32>().0.iter().enumerate() {
        // SAFETY: 32 bytes are read.
        let bytes = unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) };
        word |= u64::from(_mm256_movemask_epi8(bytes).cast_unsigned()) << (32 * index);
    }
    word
}

#[inline]
#[target_feature(enable = "avx2")]
fn bytes_of_avx2(word: u64) -> [u8; 64] {
    let bits = _mm256_set1_epi64x(0x8040_2010_0804_0201_u64.cast_signed());
    let spread =
        _mm256_setr_epi64x(0, 0x0101_0101_0101_0101, 0x0202_0202_0202_0202, 0x0303_0303_0303_0303);
    let mut out = [0; 64];
    for (index, out) in out.as_chunks_mut::<32>().0.iter_mut().enumerate() {
        let half = _mm256_set1_epi64x((word >> (32 * index)).cast_signed());
        let kept = _mm256_and_si256(_mm256_shuffle_epi8(half, spread), bits);
        let bytes = _mm256_cmpeq_epi8(kept, bits);
        // SAFETY: 32 bytes are written.
        unsafe { _mm256_storeu_si256(out.as_mut_ptr().cast(), bytes) };
    }
    out
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn word_of_avx512(bytes: &[u8; 64]) -> u64 {
    // SAFETY: 64 bytes are read.
    _mm512_movepi8_mask(unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) })
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn bytes_of_avx512(word: u64) -> [u8; 64] {
    let mut out = [0; 64];
    // SAFETY: 64 bytes are written.
    unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast(), _mm512_movm_epi8(word)) };
    out
}

#[inline]
#[target_feature(enable = "avx512f,popcnt")]
fn expand_u32_avx512(word: u64, values: &[u32; 64], fill: u32, out: &mut [u32; 64]) {
    let fill = _mm512_set1_epi32(fill.cast_signed());
    for (index, out) in out.as_chunks_mut::<16>().0.iter_mut().enumerate() {
        // At most 48 values belong to the previous quarters, so at least 16 are left to read.
        let before = (word & !(u64::MAX << (16 * index))).count_ones() as usize;
        #[expect(clippy::cast_possible_truncation, reason = "a quarter of the word")]
        let quarter = (word >> (16 * index)) as __mmask16;
        let values = values[before..][..16].as_ptr();
        // SAFETY: 16 values are read, and 16 written.
        unsafe {
            let values = _mm512_loadu_si512(values.cast());
            let spread = _mm512_mask_expand_epi32(fill, quarter, values);
            _mm512_storeu_si512(out.as_mut_ptr().cast(), spread);
        }
    }
}

#[inline]
#[target_feature(enable = "avx512f,popcnt")]
fn expand_i64_avx512(word: u64, values: &[i64; 64], fill: i64, out: &mut [i64; 64]) {
    let fill = _mm512_set1_epi64(fill);
    for (index, out) in out.as_chunks_mut::<8>().0.iter_mut().enumerate() {
        // At most 56 values belong to the previous eighths, so at least 8 are left to read.
        let before = (word & !(u64::MAX << (8 * index))).count_ones() as usize;
        #[expect(clippy::cast_possible_truncation, reason = "an eighth of the word")]
        let eighth = (word >> (8 * index)) as __mmask8;
        let values = values[before..][..8].as_ptr();
        // SAFETY: 8 values are read, and 8 written.
        unsafe {
            let values = _mm512_loadu_si512(values.cast());
            let spread = _mm512_mask_expand_epi64(fill, eighth, values);
            _mm512_storeu_si512(out.as_mut_ptr().cast(), spread);
        }
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn look_up_avx512(table: &[u32; 32], codes: &[u32; 16]) -> [u32; 16] {
    let (low, high) = (table[..16].as_ptr(), table[16..].as_ptr());
    let mut out = [0; 16];
    // SAFETY: 16 numbers each are read, and 16 written.
    unsafe {
        let (low, high) = (_mm512_loadu_si512(low.cast()), _mm512_loadu_si512(high.cast()));
        let codes = _mm512_loadu_si512(codes.as_ptr().cast());
        let values = _mm512_permutex2var_epi32(low, codes, high);
        _mm512_storeu_si512(out.as_mut_ptr().cast(), values);
    }
    out
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2")]
fn indexes_avx512(word: u64, base: u32, out: &mut [u32; 64]) {
    const PLACES: [u8; 64] = {
        let mut places = [0; 64];
        let mut place = 0u8;
        while place < 64 {
            places[place as usize] = place;
            place += 1;
        }
        places
    };
    let mut ones = [0u8; 64];
    // SAFETY: 64 bytes are read, and 64 written.
    unsafe {
        let places = _mm512_loadu_si512(PLACES.as_ptr().cast());
        let packed = _mm512_maskz_compress_epi8(word, places);
        _mm512_storeu_si512(ones.as_mut_ptr().cast(), packed);
    }
    for (slot, place) in out.iter_mut().zip(ones) {
        *slot = base.wrapping_add(u32::from(place));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_like_the_plain_form(primitives: impl Primitives) {
        let mut word = 0x9E37_79B9_7F4A_7C15_u64;
        let mut next = 0u32;
        let narrow: [u32; 64] = std::array::from_fn(|_| {
            next += 77;
            next
        });
        let values = narrow.map(|value| 5 - 1_000_003 * i64::from(value));
        for round in 0..4_000u32 {
            word = word.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let word = match round % 4 {
                0 => word,
                1 => word & word >> 17 & word >> 34,
                2 => word | word >> 17 | word << 31,
                _ => [0, u64::MAX, 1, 1 << 63][round as usize / 4 % 4],
            };
            let bytes = primitives::bytes_of(word);
            assert_eq!(primitives.bytes_of(word), bytes);
            assert_eq!(primitives::word_of(&bytes), word);
            assert_eq!(primitives.word_of(&bytes), word);
            assert_eq!(primitives.word_of(&bytes.map(|byte| byte | 0x7F)), word);

            let (mut plain, mut ours) = ([word >> 9; 8], [word >> 9; 8]);
            let mixed =
                std::array::from_fn(|at| word.to_le_bytes()[at % 8].wrapping_add(bytes[at]));
            for bytes in [&bytes, &mixed] {
                primitives::add_eights(bytes, &mut plain);
                primitives.add_eights(bytes, &mut ours);
                assert_eq!(ours, plain);
            }

            let table = std::array::from_fn(|at| narrow[at].rotate_left(round % 32));
            let codes = std::array::from_fn(|at| u32::from(word.to_le_bytes()[at % 8]) % 32);
            assert_eq!(primitives.look_up(&table, &codes), primitives::look_up(&table, &codes));

            let mask = word.rotate_left(13) ^ 0xF0F0;
            assert_eq!(primitives.extract(word, mask), primitives::extract(word, mask));
            assert_eq!(primitives.deposit(word, mask), primitives::deposit(word, mask));

            let (mut plain, mut ours) = ([0; 64], [1; 64]);
            primitives::expand(word, &values, -7, &mut plain);
            primitives.expand_i64(word, &values, -7, &mut ours);
            assert_eq!(ours, plain);
            let (mut plain, mut ours) = ([0; 64], [1; 64]);
            primitives::expand(word, &narrow, 9, &mut plain);
            primitives.expand_u32(word, &narrow, 9, &mut ours);
            assert_eq!(ours, plain);

            let ones = word.count_ones() as usize;
            let (mut plain, mut ours) = ([0; 64], [1; 64]);
            primitives::indexes(word, u32::MAX - 70, &mut plain);
            primitives.indexes(word, u32::MAX - 70, &mut ours);
            assert_eq!(ours[..ones], plain[..ones]);
        }
    }

    #[test]
    fn every_step_is_like_its_plain_form() {
        assert_like_the_plain_form(Baseline);
        if let Some(primitives) = Avx2::detect() {
            assert_like_the_plain_form(primitives);
        }
        if let Some(primitives) = Avx512::detect() {
            assert_like_the_plain_form(primitives);
        }
    }
}
