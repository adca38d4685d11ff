//! A range filter on packed vectors, without unpacking to memory.

use hadal_types::limits::VECTOR_VALUES;

use super::{Lane, Rows, by_lane, for_rows, is_empty};
use crate::kernels::primitives::Primitives;
use crate::kernels::simd_level::kernels;

kernels! {
    /// Sets bit i of `words` to whether `low` <= packed value i <= `high`, of 1,024 values.
    ///
    /// # Panics
    /// When `width` is over 64, or `bytes` is not 128 × width long.
    pub fn filter_packed(
        bytes: &[u8], width: u8, low: u64, high: u64, words: &mut [u64; VECTOR_VALUES / 64],
    ) = between_body;
}

/// 255 or 0 per value: whether it is one of the `span` + 1 values from `low` on.
struct Between<'a, T> {
    low: T,
    span: T,
    matches: &'a mut [u8; VECTOR_VALUES],
}

impl<T: Lane> Rows<T> for Between<'_, T> {
    #[inline(always)]
    fn row(&mut self, start: usize, value: impl Fn(usize) -> T) {
        for (lane, byte) in self.matches[start..][..T::LANES].iter_mut().enumerate() {
            // Values below `low` wrap to large ones: one comparison instead of two.
            *byte = if value(lane).minus(self.low) <= self.span { u8::MAX } else { 0 };
        }
    }
}

#[inline(always)]
fn between_body(
    primitives: impl Primitives,
    bytes: &[u8],
    width: u8,
    low: u64,
    high: u64,
    words: &mut [u64; VECTOR_VALUES / 64],
) {
    #[inline(always)]
    fn mark<T: Lane>(
        bytes: &[u8],
        width: usize,
        (low, high): (u64, u64),
        matches: &mut [u8; 1_024],
    ) {
        let (low, span) = (T::cut(low), T::cut(high - low));
        for_rows(bytes, width, 0..T::BITS, &mut Between { low, span, matches });
    }

    if is_empty(bytes, width) {
        return words.fill(if low == 0 { u64::MAX } else { 0 });
    }
    assert!(width <= 64, "a packed vector's width");
    let high = high.min(u64::MAX >> (64 - width));
    if low > high {
        assert_eq!(bytes.len(), usize::from(width) * 128, "a packed vector's length");
        return words.fill(0);
    }
    let mut matches = [0; VECTOR_VALUES];
    by_lane!(width, mark(bytes, width.into(), (low, high), &mut matches));
    for (word, bytes) in words.iter_mut().zip(matches.as_chunks::<64>().0) {
        *word = primitives.word_of(bytes);
    }
}
