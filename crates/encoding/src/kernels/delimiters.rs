//! Finds the bytes that end or split text, 64 bytes at a time.

use super::primitives::Primitives;
use super::simd_level::kernels;

kernels! {
    /// Sets bit i of word w if byte 64 · w + i ends a JSON string or must not stand in it
    /// unescaped. Such bytes are quotes, backslashes and control characters. Bits after the end are
    /// ones.
    ///
    /// # Panics
    /// When `words` does not have one word per 64 bytes, rounded up.
    pub fn mark_delimiters(text: &[u8], words: &mut [u64]) = mark_delimiters_body;
}

#[inline(always)]
fn mark_delimiters_body(primitives: impl Primitives, text: &[u8], words: &mut [u64]) {
    assert_eq!(words.len(), text.len().div_ceil(64), "a word for each 64 bytes");
    let (wholes, tail) = text.as_chunks::<64>();
    for (word, bytes) in words.iter_mut().zip(wholes) {
        *word = delimiters_of(primitives, bytes);
    }
    if !tail.is_empty()
        && let Some(word) = words.last_mut()
    {
        let mut bytes = [0; 64];
        bytes[..tail.len()].copy_from_slice(tail);
        *word = delimiters_of(primitives, &bytes);
    }
}

#[inline(always)]
fn delimiters_of(primitives: impl Primitives, bytes: &[u8; 64]) -> u64 {
    let mut flags = [0; 64];
    for (flag, byte) in flags.iter_mut().zip(bytes) {
        *flag = if matches!(*byte, b'"' | b'\\' | 0..b' ') { u8::MAX } else { 0 };
    }
    primitives.word_of(&flags)
}

#[cfg(test)]
mod tests {
    use super::super::{Level, scalar};

    #[test]
    fn all_levels_mark_as_one_byte_at_a_time() {
        let text: Vec<u8> = (0..=u8::MAX).chain((0..=u8::MAX).rev()).cycle().take(1_000).collect();
        for level in Level::available() {
            for (from, length) in (0..130).flat_map(|length| [(0, length), (length, 700)]) {
                let text = &text[from..from + length];
                let mut words = vec![7; length.div_ceil(64)];
                let mut expected = words.clone();
                level.mark_delimiters(text, &mut words);
                scalar::mark_delimiters(text, &mut expected);
                assert_eq!(words, expected, "{} {from} {length}", level.name());
            }
        }
    }
}
