//! Makes bitmaps by row.

use std::rc::Rc;

use hadal_encoding::Bitmap;

/// Returns `length` bits, all equal to `bit`.
pub(crate) fn filled(length: usize, bit: bool) -> Bitmap {
    if bit { Bitmap::ones(length) } else { Bitmap::zeros(length) }
}

/// Returns `length` bits; the bit of a row is `bit(row)`.
#[inline]
pub(crate) fn bits(length: usize, bit: impl Fn(usize) -> bool) -> Bitmap {
    let word = |first: usize| {
        (first..(first + 64).min(length))
            .fold(0u64, |word, row| word | (u64::from(bit(row)) << (row - first)))
    };
    Bitmap::from_words((0..length).step_by(64).map(word).collect(), length)
}

/// The rows that have both values; `None`: all.
pub(crate) fn both(left: Option<&Rc<Bitmap>>, right: Option<&Rc<Bitmap>>) -> Option<Rc<Bitmap>> {
    match (left, right) {
        (Some(left), Some(right)) => {
            let mut both = (**left).clone();
            both.and(right);
            Some(Rc::new(both))
        }
        (one, other) => one.or(other).cloned(),
    }
}
