//! Division of integers that are too far apart for a [`FrameOfReference`], such as times of several
//! hours in microseconds.
//!
//! Halving dividend and divisor equally often does not change a quotient that is rounded down, as
//! long as the divisor stays whole: ⌊x / (w × 2^s)⌋ = ⌊⌊x / 2^s⌋ / w⌋. An hour has 2^10 × 3,515,625
//! microseconds. So distances of up to 50 days become numbers of 32 bits, which a kernel divides.

use std::num::NonZeroU32;
use std::rc::Rc;

use hadal_encoding::{Buffer, kernels};
use hadal_types::limits::VECTOR_VALUES;

use crate::column::decimals::FrameOfReference;

/// Computes (integer − origin) / width, rounded down, as `from` + k.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WideDivision {
    /// The quotient of the smallest integer.
    from: i64,
    /// The largest k.
    span: u32,
    /// The smallest integer with the quotient `from`, modulo 2^64.
    start: i64,
    width: u64,
    /// How often distances are halved before they are divided.
    halvings: u32,
    /// The width after that; `None` if it or a distance does not fit 32 bits.
    narrow_width: Option<NonZeroU32>,
}

impl WideDivision {
    /// Prepares the division of integers from `first` to `last` by a positive width; `None` on
    /// overflow.
    pub(crate) fn new((first, last): (i64, i64), width: i64, origin: i64) -> Option<Self> {
        let (from, to) = (first.checked_sub(origin)?, last.checked_sub(origin)?);
        let rest = from.rem_euclid(width);
        let (from, to) = (from.div_euclid(width), to.div_euclid(width));
        let start = first.wrapping_sub(rest);
        let halvings = width.trailing_zeros();
        let distance = i128::from(last) - i128::from(first) + i128::from(rest);
        let distance = u64::try_from(distance).ok()? >> halvings;
        let narrow_width = u32::try_from(width >> halvings).ok().and_then(NonZeroU32::new);
        Some(Self {
            from,
            span: u32::try_from(to.checked_sub(from)?).ok()?,
            start,
            width: u64::try_from(width).ok()?,
            halvings,
            narrow_width: narrow_width.filter(|_| u32::try_from(distance).is_ok()),
        })
    }

    /// The k of one integer; at most the span, whatever the integer.
    pub(crate) fn of_one(&self, integer: i64) -> u32 {
        u32::try_from(self.distance(integer) / self.width).map_or(self.span, |k| k.min(self.span))
    }

    /// Computes the k of each integer; at most the span, whatever the integer.
    pub(crate) fn of(&self, integers: &[i64], out: &mut [u32]) {
        let Some(width) = self.narrow_width.filter(|_| self.span > 0) else {
            out.iter_mut().zip(integers).for_each(|(slot, integer)| *slot = self.of_one(*integer));
            return;
        };
        let mut near = [0; VECTOR_VALUES];
        for (out, integers) in out.chunks_mut(VECTOR_VALUES).zip(integers.chunks(VECTOR_VALUES)) {
            let near = &mut near[..integers.len()];
            for (slot, integer) in near.iter_mut().zip(integers) {
                #[expect(clippy::cast_possible_truncation, reason = "up to the last, a u32")]
                let halved = (self.distance(*integer) >> self.halvings) as u32;
                *slot = halved;
            }
            kernels::bucket_u32(near, 0, width, &mut out[..integers.len()]);
            out.iter_mut().for_each(|k| *k = (*k).min(self.span));
        }
    }

    /// Returns the quotients that have these k.
    pub(crate) fn with(&self, steps: Buffer) -> FrameOfReference {
        FrameOfReference { from: self.from, step: 1, span: self.span, steps: Rc::new(steps) }
    }

    /// Returns the quotients of integers.
    pub(crate) fn quotients(&self, integers: &[i64]) -> FrameOfReference {
        if self.span == 0 {
            return FrameOfReference::same(self.from, integers.len());
        }
        let mut steps = Buffer::of(integers.len());
        self.of(integers, &mut steps);
        self.with(steps)
    }

    /// The distance of an integer from the start of the first quotient.
    fn distance(&self, integer: i64) -> u64 {
        integer.wrapping_sub(self.start).cast_unsigned()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn integer() -> impl Strategy<Value = i64> {
        prop_oneof![
            -99i64..99,
            -9_000_000_000_000i64..9_000_000_000_000,
            any::<i64>(),
            Just(i64::MIN),
            Just(i64::MAX)
        ]
    }

    proptest! {
        #[test]
        fn quotients_are_those_of_the_integers(
            integers in prop::collection::vec(integer(), 1..2_100),
            width in prop_oneof![1i64..99, Just(600_000_000), Just(3_600_000_000), Just(1 << 40),
                any::<i64>()],
            origin in integer(), strange in integer(),
        ) {
            let width = width.saturating_abs().max(1);
            let bounds = kernels::min_max_i64(&integers).expect("some");
            let Some(rule) = WideDivision::new(bounds, width, origin) else { return Ok(()) };
            let quotients = rule.quotients(&integers);
            for (row, &integer) in integers.iter().enumerate() {
                let away = i128::from(integer) - i128::from(origin);
                prop_assert_eq!(i128::from(quotients.get(row)), away.div_euclid(width.into()));
                let k = i128::from(rule.from) + i128::from(rule.of_one(integer));
                prop_assert_eq!(k, away.div_euclid(width.into()));
            }
            // An integer beyond the bounds, as in bytes that no writer produces.
            let mut out = [0];
            rule.of(&[strange], &mut out);
            prop_assert!(out[0] <= rule.span && rule.of_one(strange) <= rule.span);
        }
    }

    #[test]
    fn hours_of_a_week_are_divided_by_the_kernel() {
        let rule = WideDivision::new((1, 7 * 86_400_000_000), 3_600_000_000, 0).expect("a rule");
        assert_eq!((rule.halvings, rule.narrow_width.map(NonZeroU32::get)), (10, Some(3_515_625)));
    }
}
