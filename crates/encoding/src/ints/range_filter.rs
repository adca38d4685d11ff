//! Which values of a stream are in a range, computed on encoded data without decoding it.
//!
//! A vector's zone may decide the whole vector. Packed values are compared while they are unpacked,
//! in registers. Runs, codes and progressions are compared once for many rows.

use std::ops::Range;

use hadal_types::limits::VECTOR_VALUES;

use super::vector::{Delta, Vector};
use super::view::{Form, IntsView, Progression};
use crate::bitmap::{self, Bitmap};
use crate::kernels;

/// Words of one bit per value of a vector.
const VECTOR_WORDS: usize = VECTOR_VALUES / 64;

impl IntsView<'_> {
    /// One bit per value: whether `low` <= value <= `high`. For streams that no writer produces,
    /// any bits.
    #[must_use]
    pub fn between(&self, low: i64, high: i64) -> Bitmap {
        if low > high {
            return Bitmap::zeros(self.length);
        }
        match &self.form {
            Form::Constant(value) if (low..=high).contains(value) => Bitmap::ones(self.length),
            Form::Constant(_) => Bitmap::zeros(self.length),
            Form::Vectors(vectors) => {
                let mut words = vec![0; self.length.div_ceil(64)];
                let chunks = words.chunks_mut(VECTOR_WORDS);
                for (index, (vector, words)) in vectors.iter().zip(chunks).enumerate() {
                    vector.between(self.vector_length(index), low, high, words);
                }
                Bitmap::from_words(words, self.length)
            }
            Form::Progression(steps) => match steps.between(low, high) {
                Some((low, high)) => steps.counts.between(low, high),
                None => Bitmap::zeros(self.length),
            },
            Form::Runs(runs) => {
                let mut bits = Bitmap::zeros(self.length);
                let mut start = 0;
                for (value, &end) in runs.values.iter().zip(&runs.ends) {
                    if (low..=high).contains(value) {
                        bits.set_range(start, end as usize);
                    }
                    start = end as usize;
                }
                bits
            }
            Form::Dictionary(dictionary) => {
                let table = dictionary.table();
                let first = table.partition_point(|&value| value < low);
                let end = table.partition_point(|&value| value <= high);
                let code = |index| i64::try_from(index).unwrap_or(i64::MAX);
                dictionary.codes.between(code(first), code(end) - 1)
            }
        }
    }

    /// One bit per code: the code's bit in `set`, and zero beyond the end of `set`.
    #[must_use]
    pub fn in_set(&self, set: &Bitmap) -> Bitmap {
        let mut inverse = set.clone();
        inverse.not();
        let code = |index: usize| i64::try_from(index).unwrap_or(i64::MAX);
        // Dictionaries are sorted, so most sets are one code or a range of codes.
        if let Some(range) = set.range_of_ones() {
            return self.between(code(range.start), code(range.end) - 1);
        }
        if let Some(range) = inverse.range_of_ones() {
            let mut bits = self.between(code(range.start), code(range.end) - 1);
            bits.not();
            return bits;
        }
        let mut words = vec![0; self.length.div_ceil(64)];
        let mut codes = [0u32; VECTOR_VALUES];
        for (vector, words) in words.chunks_mut(VECTOR_WORDS).enumerate() {
            let length = self.decode_vector(vector, &mut codes);
            kernels::in_codes(&codes[..length], set.words(), words);
        }
        Bitmap::from_words(words, self.length)
    }
}

impl Progression<'_> {
    /// The first and the last count of the values from `low` to `high`, if there are any.
    fn between(&self, low: i64, high: i64) -> Option<(i64, i64)> {
        let away = |bound: i64| i128::from(bound) - i128::from(self.base);
        if self.step == 0 {
            return (low..=high).contains(&self.base).then_some((i64::MIN, i64::MAX));
        }
        let step = i128::from(self.step);
        let first = -(-away(low)).div_euclid(step);
        let last = away(high).div_euclid(step);
        // A bound outside of the range of i64 is beyond all counts.
        let count = |count: i128| i64::try_from(count.clamp(i64::MIN.into(), i64::MAX.into())).ok();
        if first > last { None } else { Some((count(first)?, count(last)?)) }
    }
}

impl Vector<'_> {
    /// Sets the bits of the vector's `length` values; spare bits become unspecified.
    fn between(&self, length: usize, low: i64, high: i64, words: &mut [u64]) {
        if high < self.min || self.max < low {
            return words.fill(0);
        }
        if low <= self.min && self.max <= high {
            return words.fill(u64::MAX);
        }
        if let Some(delta) = self.delta.filter(|_| self.width == 0)
            && self.progress_between(delta, length, low, high, words).is_some()
        {
            return;
        }
        let offset = |bound: i64| bound.wrapping_sub(self.min).cast_unsigned();
        let offsets = (offset(low.max(self.min)), offset(high.min(self.max)));
        if self.delta.is_none()
            && let Ok(words) = <&mut [u64; VECTOR_WORDS]>::try_from(&mut *words)
            && length == VECTOR_VALUES
        {
            self.packed_between(offsets, words);
        } else if self.is_narrow()
            && let (Ok(from), Ok(to)) = (u32::try_from(offsets.0), u32::try_from(offsets.1))
        {
            self.narrow_between(length, from, to, words);
        } else {
            self.wide_between(length, low, high, words);
        }
    }

    /// For a full vector: which values have an offset from the min in this range.
    fn packed_between(&self, (from, to): (u64, u64), words: &mut [u64; VECTOR_WORDS]) {
        kernels::filter_packed(self.packed, self.width, from, to, words);
        let low_bits = u64::MAX.checked_shr(64 - u32::from(self.width)).unwrap_or_default();
        self.for_each_patch(|place, extra| {
            let (least, most) = (extra, extra | low_bits);
            // In most cases that decides, whatever the packed bits are.
            let is_between = match (from <= least && most <= to, to < least || most < from) {
                (true, _) => true,
                (_, true) => false,
                _ => {
                    let low = kernels::packed_value(self.packed, self.width, place);
                    (from..=to).contains(&(extra | low))
                }
            };
            bitmap::put(words, place, is_between);
        });
    }

    // Not inlined: a vector's buffer on the stack is touched page by page, so only this path should
    // pay.
    #[inline(never)]
    fn narrow_between(&self, length: usize, from: u32, to: u32, words: &mut [u64]) {
        let mut offsets = [0u32; VECTOR_VALUES];
        self.decode(length, self.narrow_bias(), &mut offsets);
        kernels::between_u32(&offsets[..length], from, to, words);
    }

    #[inline(never)]
    fn wide_between(&self, length: usize, low: i64, high: i64, words: &mut [u64]) {
        let mut values = [0i64; VECTOR_VALUES];
        self.decode(length, 0, &mut values);
        kernels::between_i64(&values[..length], low, high, words);
    }

    /// [`Self::between`] for vectors whose differences are equal except at patches: from patch to
    /// patch, values ascend or descend evenly. `None` if values go beyond 64 bits.
    fn progress_between(
        &self,
        delta: Delta,
        length: usize,
        low: i64,
        high: i64,
        words: &mut [u64],
    ) -> Option<()> {
        words.fill(0);
        let mut first = delta.first;
        let mut start = 0;
        let mut stretch = |first: i64, range: Range<usize>| {
            let matches = progression_between(first, delta.step, range.len(), low, high)?;
            bitmap::set_bits(words, range.start + matches.start, range.start + matches.end);
            Some(())
        };
        let mut all = Some(());
        self.for_each_patch(|place, extra| {
            all = all
                .and_then(|()| if start < place { stretch(first, start..place) } else { Some(()) });
            let steps = i64::try_from(place - start).unwrap_or_default();
            first = first
                .wrapping_add(delta.step.wrapping_mul(steps))
                .wrapping_add(extra.cast_signed());
            start = place;
        });
        all?;
        if start < length { stretch(first, start..length) } else { Some(()) }
    }
}

/// Which of `count` values, from `first` on in steps of `step`, are from `low` to `high`. `None` if
/// they go beyond 64 bits. `count` must be at least one.
fn progression_between(
    first: i64,
    step: i64,
    count: usize,
    low: i64,
    high: i64,
) -> Option<Range<usize>> {
    let last = first.checked_add(step.checked_mul(i64::try_from(count).ok()? - 1)?)?;
    let (least, most) = (first.min(last), first.max(last));
    // The number of values below a bound, counted from the smallest.
    let below = |bound: i64| match bound {
        bound if bound <= least => 0,
        bound if bound > most => count,
        bound => {
            let away = bound.wrapping_sub(least).cast_unsigned();
            usize::try_from(away.div_ceil(step.unsigned_abs())).unwrap_or(count)
        }
    };
    let (from, to) = (below(low), high.checked_add(1).map_or(count, below));
    Some(if step < 0 { count - to..count - from } else { from..to.max(from) })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn progressions_are_compared_like_their_values(
            first in prop_oneof![-40i64..40, Just(i64::MIN), i64::MAX - 300..i64::MAX],
            step in -9i64..9, count in 1usize..30, low in -60i64..60, span in -2i64..90,
        ) {
            let low = low.saturating_add(first);
            let high = low.saturating_add(span);
            prop_assume!(low <= high);
            let away = |index: usize| step * i64::try_from(index).expect("small");
            let value = |index: usize| first.checked_add(away(index));
            let values: Option<Vec<i64>> = (0..count).map(value).collect();
            let matches = progression_between(first, step, count, low, high);
            prop_assert_eq!(matches.is_some(), values.is_some());
            for (index, value) in values.unwrap_or_default().into_iter().enumerate() {
                let is_found = matches.as_ref().is_some_and(|matches| matches.contains(&index));
                prop_assert_eq!(is_found, (low..=high).contains(&value));
            }
        }
    }
}
