//! From selected rows to all rows and back: expands values by validity, compresses bits, and turns
//! bits into row numbers.

use super::primitives::Primitives;
use super::simd_level::kernels;

kernels! {
    /// Fills `out`: the next of `values` at each row whose bit is one, `fill` at the others. Bits
    /// after the last row are ignored.
    ///
    /// # Panics
    /// When `words` does not have one word per 64 rows of `out`, rounded up, or the number of
    /// `values` differs from the number of ones.
    pub fn expand_u32(values: &[u32], words: &[u64], fill: u32, out: &mut [u32]) = expand_u32_body;

    /// Like [`expand_u32`].
    ///
    /// # Panics
    /// When `words` does not have one word per 64 rows of `out`, rounded up, or the number of
    /// `values` differs from the number of ones.
    pub fn expand_i64(values: &[i64], words: &[u64], fill: i64, out: &mut [i64]) = expand_i64_body;

    /// Fills `out`: the next of `bits` at each row whose bit is one, zero at the others. Missing
    /// bits are zeros.
    ///
    /// # Panics
    /// When `out` and `words` differ in length.
    pub fn expand_bits(bits: &[u64], words: &[u64], out: &mut [u64]) = expand_bits_body;

    /// Appends the bits of the rows whose bit in `words` is one, without gaps, and zeros up to the
    /// end of the last word.
    ///
    /// # Panics
    /// When `bits` and `words` differ in length.
    pub fn compress_bits(bits: &[u64], words: &[u64], out: &mut Vec<u64>) = compress_bits_body;

    /// Appends the numbers of the rows whose bits are one, in order.
    ///
    /// # Panics
    /// When there are more than 2^26 words.
    pub fn indexes_of(words: &[u64], out: &mut Vec<u32>) = indexes_of_body;
}

#[inline(always)]
fn expand_u32_body(
    primitives: impl Primitives,
    values: &[u32],
    words: &[u64],
    fill: u32,
    out: &mut [u32],
) {
    expand(values, words, fill, out, |word, values, out| {
        primitives.expand_u32(word, values, fill, out);
    });
}

#[inline(always)]
fn expand_i64_body(
    primitives: impl Primitives,
    values: &[i64],
    words: &[u64],
    fill: i64,
    out: &mut [i64],
) {
    expand(values, words, fill, out, |word, values, out| {
        primitives.expand_i64(word, values, fill, out);
    });
}

/// `some` handles chunks with both present and missing rows, when at least 64 values are left.
#[inline(always)]
fn expand<T: Copy>(
    mut values: &[T],
    words: &[u64],
    fill: T,
    out: &mut [T],
    some: impl Fn(u64, &[T; 64], &mut [T; 64]),
) {
    assert_eq!(words.len(), out.len().div_ceil(64), "words of a validity");
    let (chunks, rest) = out.as_chunks_mut::<64>();
    for (word, chunk) in words.iter().zip(chunks.iter_mut()) {
        if let Some(next) = values.first_chunk() {
            match *word {
                0 => chunk.fill(fill),
                u64::MAX => *chunk = *next,
                word => some(word, next, chunk),
            }
            values = &values[word.count_ones() as usize..];
        } else {
            values = expand_slowly(values, *word, fill, chunk);
        }
    }
    if let Some(word) = words.get(chunks.len()) {
        values = expand_slowly(values, word & !(u64::MAX << rest.len()), fill, rest);
    }
    assert!(values.is_empty(), "values of present rows");
}

/// [`expand`] of up to 64 rows, for any number of values; returns the values that are left.
fn expand_slowly<'a, T: Copy>(values: &'a [T], word: u64, fill: T, out: &mut [T]) -> &'a [T] {
    let (now, later) = values.split_at(word.count_ones() as usize);
    let mut now = now.iter();
    for (bit, slot) in out.iter_mut().enumerate() {
        let value = if word >> bit & 1 == 1 { now.next() } else { None };
        *slot = value.copied().unwrap_or(fill);
    }
    later
}

#[inline(always)]
fn expand_bits_body(primitives: impl Primitives, bits: &[u64], words: &[u64], out: &mut [u64]) {
    assert_eq!(words.len(), out.len(), "words of the rows");
    let word_at = |index: usize| bits.get(index).copied().unwrap_or_default();
    let mut at = 0;
    for (word, out) in words.iter().zip(out) {
        let (index, shift) = (at / 64, at % 64);
        // Shifted in two steps, because all 64 bits may be from the first word.
        let next = word_at(index) >> shift | word_at(index + 1) << 1 << (63 - shift);
        *out = primitives.deposit(next, *word);
        at += word.count_ones() as usize;
    }
}

#[inline(always)]
fn compress_bits_body(
    primitives: impl Primitives,
    bits: &[u64],
    words: &[u64],
    out: &mut Vec<u64>,
) {
    assert_eq!(bits.len(), words.len(), "words of the rows");
    let (mut pending, mut count) = (0, 0);
    for (bits, word) in bits.iter().zip(words) {
        let next = primitives.extract(*bits, *word);
        pending |= next << count;
        let all = count + word.count_ones();
        if all >= 64 {
            out.push(pending);
            // The bits that did not fit. Shifted in two steps, because all 64 bits may have fitted.
            pending = next >> 1 >> (63 - count);
        }
        count = all % 64;
    }
    if count > 0 {
        out.push(pending);
    }
}

#[inline(always)]
fn indexes_of_body(primitives: impl Primitives, words: &[u64], out: &mut Vec<u32>) {
    assert!(words.len() <= 1 << 26, "words of a selection");
    let ones = |word: &u64| word.count_ones() as usize;
    let mut end = out.len();
    // 64 numbers are written per word; those after the last one of the word are overwritten or
    // dropped.
    out.resize(end + words.iter().map(ones).sum::<usize>() + 64, 0);
    for (base, word) in (0u32..).step_by(64).zip(words) {
        if *word != 0
            && let Some(slots) = out[end..].first_chunk_mut()
        {
            primitives.indexes(*word, base, slots);
            end += ones(word);
        }
    }
    out.truncate(end);
}
