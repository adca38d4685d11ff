//! The few steps for which the compiler does not find the right instruction from a plain loop.
//!
//! Everything else in the kernels is a loop that LLVM vectorises for each level. Each step has a
//! plain form here, which the other levels are tested against, and other forms in `x86.rs`.

/// The steps of one level. A value proves that the processor has the level's instructions.
pub(super) trait Primitives: Copy {
    /// Bit i of the result is bit 7 of byte i.
    #[inline(always)]
    fn word_of(self, bytes: &[u8; 64]) -> u64 {
        word_of(bytes)
    }

    /// Byte i of the result is 255 if bit i is one, else 0.
    #[inline(always)]
    fn bytes_of(self, word: u64) -> [u8; 64] {
        bytes_of(word)
    }

    /// Adds to sum i the eight bytes from 8 × i on.
    #[inline(always)]
    fn add_eights(self, bytes: &[u8; 64], sums: &mut [u64; 8]) {
        add_eights(bytes, sums);
    }

    /// Element i of the result is the next of `values` if bit i is one, else `fill`.
    #[inline(always)]
    fn expand_u32(self, word: u64, values: &[u32; 64], fill: u32, out: &mut [u32; 64]) {
        expand(word, values, fill, out);
    }

    /// Like [`Primitives::expand_u32`].
    #[inline(always)]
    fn expand_i64(self, word: u64, values: &[i64; 64], fill: i64, out: &mut [i64; 64]) {
        expand(word, values, fill, out);
    }

    /// Element i of the result is `table[codes[i]]`. Codes must be below 32.
    #[inline(always)]
    fn look_up(self, table: &[u32; 32], codes: &[u32; 16]) -> [u32; 16] {
        look_up(table, codes)
    }

    /// Gathers the bits of `word` at the ones of `mask`, from bit 0 on (PEXT).
    #[inline(always)]
    fn extract(self, word: u64, mask: u64) -> u64 {
        extract(word, mask)
    }

    /// Scatters the low bits of `bits` to the ones of `mask` (PDEP).
    #[inline(always)]
    fn deposit(self, bits: u64, mask: u64) -> u64 {
        deposit(bits, mask)
    }

    /// Writes `base` + the positions of the ones to the front of `out`; the rest is unspecified.
    #[inline(always)]
    fn indexes(self, word: u64, base: u32, out: &mut [u32; 64]) {
        indexes(word, base, out);
    }
}

/// The instructions that every processor of the target has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Baseline;

#[cfg(not(target_arch = "x86_64"))]
impl Primitives for Baseline {}

/// One multiplication gathers the top bits of eight bytes: it moves bit 8k of a factor to bit 56 +
/// k, and no two partial products overlap.
#[inline(always)]
pub(super) fn word_of(bytes: &[u8; 64]) -> u64 {
    let (eights, _) = bytes.as_chunks::<8>();
    let mut word = 0;
    for (index, eight) in eights.iter().enumerate() {
        let bits = u64::from_le_bytes(*eight) >> 7 & 0x0101_0101_0101_0101;
        word |= bits.wrapping_mul(0x0102_0408_1020_4080) >> 56 << (8 * index);
    }
    word
}

#[inline(always)]
pub(super) fn bytes_of(word: u64) -> [u8; 64] {
    let mut bytes = [0; 64];
    for (byte, slots) in word.to_le_bytes().into_iter().zip(bytes.as_chunks_mut::<8>().0) {
        // Byte k keeps only bit k; adding 127 carries a set bit to the top.
        let bits = (u64::from(byte) * 0x0101_0101_0101_0101) & 0x8040_2010_0804_0201;
        let ones = (bits + 0x7F7F_7F7F_7F7F_7F7F) >> 7 & 0x0101_0101_0101_0101;
        *slots = (ones * 255).to_le_bytes();
    }
    bytes
}

#[inline(always)]
pub(super) fn add_eights(bytes: &[u8; 64], sums: &mut [u64; 8]) {
    for (sum, bytes) in sums.iter_mut().zip(bytes.as_chunks::<8>().0) {
        *sum += bytes.iter().map(|byte| u64::from(*byte)).sum::<u64>();
    }
}

#[inline(always)]
pub(super) fn expand<T: Copy>(word: u64, values: &[T; 64], fill: T, out: &mut [T; 64]) {
    out.fill(fill);
    let (mut left, mut values) = (word, values.iter());
    while left != 0
        && let Some(value) = values.next()
    {
        // Below 64; the remainder avoids a bounds check.
        out[left.trailing_zeros() as usize % 64] = *value;
        left &= left - 1;
    }
}

#[inline(always)]
pub(super) fn look_up(table: &[u32; 32], codes: &[u32; 16]) -> [u32; 16] {
    // The remainder avoids a bounds check.
    codes.map(|code| table[code as usize % 32])
}

#[inline(always)]
pub(super) fn extract(word: u64, mut mask: u64) -> u64 {
    let (mut out, mut at) = (0, 0);
    while mask != 0 {
        out |= (word >> mask.trailing_zeros() & 1) << at;
        mask &= mask - 1;
        at += 1;
    }
    out
}

#[inline(always)]
pub(super) fn deposit(mut bits: u64, mut mask: u64) -> u64 {
    let mut out = 0;
    while mask != 0 {
        out |= (bits & 1) << mask.trailing_zeros();
        mask &= mask - 1;
        bits >>= 1;
    }
    out
}

#[inline(always)]
pub(super) fn indexes(mut word: u64, base: u32, out: &mut [u32; 64]) {
    let mut slots = out.iter_mut();
    while word != 0
        && let Some(slot) = slots.next()
    {
        *slot = base.wrapping_add(word.trailing_zeros());
        word &= word - 1;
    }
}
