//! The mantissas of a column, in the narrowest form that holds them.
//!
//! The values of one block are mostly close together. Their distance from the smallest value, in
//! units of a common divisor, then fits 32 bits. This halves the memory to read, doubles the values
//! per register, and gives numbers that can serve as an index.

use std::cell::RefCell;
use std::num::NonZeroU32;
use std::rc::Rc;

use hadal_encoding::{Bitmap, Buffer, kernels};
use hashbrown::HashSet;

use crate::column::bitmaps::bits;

/// A few values are compared with all rows one after the other; more are looked up for each row.
pub(crate) const COMPARED_MAX: usize = 8;

/// One mantissa per row; arbitrary where the row has no value.
#[derive(Clone, Debug)]
pub(crate) enum MantissaColumn {
    /// Mantissas that are close together.
    FrameOfReference(FrameOfReference),
    /// Mantissas that repeat.
    Dictionary(DictionaryMantissas),
    /// Any mantissas.
    Plain(Rc<Vec<i64>>),
}

/// Repeating mantissas: a dictionary indexed by the row's code.
#[derive(Clone, Debug)]
pub(crate) struct DictionaryMantissas {
    /// One code per row, each below the number of values.
    pub(crate) codes: Rc<Buffer>,
    /// The mantissas by code, in no particular order.
    pub(crate) values: Rc<Vec<i64>>,
}

/// Mantissas of the form `from` + `step` × k.
#[derive(Clone, Debug)]
pub(crate) struct FrameOfReference {
    pub(crate) from: i64,
    /// At least 1.
    pub(crate) step: i64,
    /// The largest possible k; `from` + `step` × `span` does not overflow.
    pub(crate) span: u32,
    /// The k of each row.
    pub(crate) steps: Rc<Buffer>,
}

impl MantissaColumn {
    /// The size in bytes of all data by row.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::FrameOfReference(reference) => size_of_val(&reference.steps[..]),
            Self::Dictionary(coded) => {
                size_of_val(&coded.codes[..]) + size_of_val(&coded.values[..])
            }
            Self::Plain(values) => size_of_val(&values[..]),
        }
    }
}

impl FrameOfReference {
    /// Returns the same mantissa for `rows` rows.
    pub(crate) fn same(from: i64, rows: usize) -> Self {
        Self { from, step: 1, span: 0, steps: zeros(rows) }
    }

    #[inline]
    pub(crate) fn get(&self, row: usize) -> i64 {
        self.value(self.steps[row])
    }

    /// The mantissa for a k.
    #[inline]
    pub(crate) fn value(&self, k: u32) -> i64 {
        self.from + self.step * i64::from(k)
    }

    /// The largest possible mantissa.
    pub(crate) fn last(&self) -> i64 {
        self.value(self.span)
    }

    /// The first and the last k of mantissas within `from..=to`; `None` if there are none.
    fn steps_between(&self, from: i64, to: i64) -> Option<(u32, u32)> {
        let away = |bound: i64| i128::from(bound) - i128::from(self.from);
        let step = i128::from(self.step);
        let first = (away(from) + step - 1).div_euclid(step).max(0);
        let last = away(to).div_euclid(step).min(self.span.into());
        if first > last {
            return None;
        }
        Some((u32::try_from(first).ok()?, u32::try_from(last).ok()?))
    }

    /// Returns (mantissa − `origin`) / `width`, rounded down, for each row; `width` is positive.
    /// `None` if the fast form does not apply.
    pub(crate) fn quotients(&self, width: i64, origin: i64) -> Option<Self> {
        let rule = FloorDivision::new((self.from, self.step, self.span), width, origin)?;
        if rule.span == 0 {
            return Some(Self::same(rule.from, self.steps.len()));
        }
        let mut steps = Buffer::of(self.steps.len());
        rule.of(&self.steps, &mut steps);
        Some(rule.with(steps))
    }

    /// Returns the same k with another `from` and `step`; `None` on overflow or a `step` below 1.
    pub(crate) fn with(&self, from: Option<i64>, step: Option<i64>) -> Option<Self> {
        let (from, step) = (from?, step.filter(|&step| step > 0)?);
        step.checked_mul(self.span.into())?.checked_add(from)?;
        Some(Self { from, step, span: self.span, steps: Rc::clone(&self.steps) })
    }
}

/// Returns `count` zeros. Each thread keeps the buffer of its last call: blocks mostly have the
/// same number of rows and ask for it repeatedly.
pub(crate) fn zeros(count: usize) -> Rc<Buffer> {
    thread_local! {
        static KEPT: RefCell<Rc<Buffer>> = RefCell::default();
    }
    KEPT.with_borrow_mut(|kept| {
        if kept.len() != count {
            *kept = Rc::new(vec![0; count].into());
        }
        Rc::clone(kept)
    })
}

/// Computes (mantissa − origin) / width, rounded down, as `from` + k.
#[derive(Clone, Copy)]
pub(crate) struct FloorDivision {
    from: i64,
    /// The largest k of a quotient.
    span: u32,
    /// The remainder of the smallest mantissa, in the unit of `step` and `width`.
    rest: i64,
    step: i64,
    width: i64,
    /// The distance of the largest mantissa from the start of the first quotient, in that unit.
    last: i64,
}

impl FloorDivision {
    /// Prepares the division of mantissas `from` + `step` × (0 to `span`) by a positive width;
    /// `None` on overflow.
    pub(crate) fn new(
        (from, step, span): (i64, i64, u32),
        width: i64,
        origin: i64,
    ) -> Option<Self> {
        let away = from.checked_sub(origin)?;
        step.checked_mul(span.into())?.checked_add(from)?.checked_sub(origin)?;
        let (from, rest) = (away.div_euclid(width), away.rem_euclid(width));
        // Dividing all by the common unit keeps numbers small: whole seconds are 60 to a minute,
        // whatever unit they are stored in.
        let unit = if rest % step == 0 && width % step == 0 { step } else { 1 };
        let (rest, width, step) = (rest / unit, width / unit, step / unit);
        let last = step.checked_mul(span.into())?.checked_add(rest)?;
        let span = u32::try_from(last / width).ok()?;
        Some(Self { from, span, rest, step, width, last })
    }

    /// The quotient of one mantissa; `None` if it is beyond the last.
    pub(crate) fn of_one(&self, k: u32) -> Option<u32> {
        let away = self.step.checked_mul(k.into())?.checked_add(self.rest)?;
        u32::try_from(away / self.width).ok().filter(|&quotient| quotient <= self.span)
    }

    /// Computes the quotients of mantissas; no mantissa may be beyond the last.
    pub(crate) fn of(&self, steps: &[u32], out: &mut [u32]) {
        let small = (u32::try_from(self.last), u32::try_from(self.rest), self.narrow_width());
        match small {
            _ if self.span == 0 => out.fill(0),
            (Ok(_), Ok(rest), Some(width)) if self.step == 1 => {
                kernels::bucket_u32(steps, 0u32.wrapping_sub(rest), width, out);
            }
            _ => {
                let of_one = |k: &u32| self.of_one(*k).unwrap_or(self.span);
                out.iter_mut().zip(steps).for_each(|(slot, k)| *slot = of_one(k));
            }
        }
    }

    fn narrow_width(&self) -> Option<NonZeroU32> {
        u32::try_from(self.width).ok().and_then(NonZeroU32::new)
    }

    /// Returns the quotients that have these k.
    pub(crate) fn with(&self, steps: Buffer) -> FrameOfReference {
        FrameOfReference { from: self.from, step: 1, span: self.span, steps: Rc::new(steps) }
    }
}

impl MantissaColumn {
    /// Returns the mantissas in the narrowest form. Costs two passes.
    pub(crate) fn new(mantissas: Vec<i64>) -> Self {
        let from = mantissas.iter().copied().fold(i64::MAX, i64::min);
        let last = mantissas.iter().copied().fold(i64::MIN, i64::max);
        let span = last.checked_sub(from).and_then(|span| u32::try_from(span).ok());
        let Some(span) = span else { return Self::Plain(Rc::new(mantissas)) };
        #[expect(clippy::cast_possible_truncation, reason = "up to span, a u32")]
        #[expect(clippy::cast_sign_loss, reason = "from is the smallest")]
        let steps = mantissas.into_iter().map(|mantissa| (mantissa - from) as u32).collect();
        Self::FrameOfReference(FrameOfReference { from, step: 1, span, steps: Rc::new(steps) })
    }

    /// The number of mantissas.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::FrameOfReference(reference) => reference.steps.len(),
            Self::Dictionary(coded) => coded.codes.len(),
            Self::Plain(mantissas) => mantissas.len(),
        }
    }

    /// The mantissa of a row.
    #[inline]
    pub(crate) fn get(&self, row: usize) -> i64 {
        match self {
            Self::FrameOfReference(reference) => reference.get(row),
            Self::Dictionary(coded) => coded.values[coded.codes[row] as usize],
            Self::Plain(mantissas) => mantissas[row],
        }
    }

    /// A lower and an upper bound of all mantissas.
    pub(crate) fn bounds(&self) -> (i64, i64) {
        match self {
            Self::FrameOfReference(reference) => (reference.from, reference.last()),
            Self::Dictionary(DictionaryMantissas { values: mantissas, .. })
            | Self::Plain(mantissas) => kernels::min_max_i64(mantissas).unwrap_or_default(),
        }
    }

    /// The rows whose mantissa is within `from..=to`.
    pub(crate) fn between(&self, from: i64, to: i64) -> Bitmap {
        match self {
            Self::FrameOfReference(reference) => match reference.steps_between(from, to) {
                None => Bitmap::zeros(reference.steps.len()),
                Some((0, last)) if last == reference.span => Bitmap::ones(reference.steps.len()),
                Some((first, last)) => {
                    let mut words = vec![0; reference.steps.len().div_ceil(64)];
                    kernels::between_u32(&reference.steps, first, last, &mut words);
                    Bitmap::from_words(words, reference.steps.len())
                }
            },
            Self::Dictionary(DictionaryMantissas { codes, values }) => {
                let set = bits(values.len(), |code| (from..=to).contains(&values[code]));
                let mut words = vec![0; codes.len().div_ceil(64)];
                kernels::in_codes(codes, set.words(), &mut words);
                Bitmap::from_words(words, codes.len())
            }
            Self::Plain(mantissas) => {
                let mut words = vec![0; mantissas.len().div_ceil(64)];
                kernels::between_i64(mantissas, from, to, &mut words);
                Bitmap::from_words(words, mantissas.len())
            }
        }
    }

    /// The rows whose mantissa is one of `listed`.
    pub(crate) fn among(&self, listed: &[i64]) -> Bitmap {
        if listed.len() <= COMPARED_MAX {
            let mut all = Bitmap::zeros(self.len());
            listed.iter().for_each(|&value| all.or(&self.between(value, value)));
            return all;
        }
        let listed: HashSet<i64> = listed.iter().copied().collect();
        match self {
            Self::FrameOfReference(reference) => {
                bits(reference.steps.len(), |row| listed.contains(&reference.get(row)))
            }
            Self::Dictionary(DictionaryMantissas { codes, values }) => {
                let set = bits(values.len(), |code| listed.contains(&values[code]));
                let mut words = vec![0; codes.len().div_ceil(64)];
                kernels::in_codes(codes, set.words(), &mut words);
                Bitmap::from_words(words, codes.len())
            }
            Self::Plain(mantissas) => bits(mantissas.len(), |row| listed.contains(&mantissas[row])),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn mantissa() -> impl Strategy<Value = i64> {
        prop_oneof![-9i64..9, any::<i64>(), Just(i64::MIN), Just(i64::MAX)]
    }

    proptest! {
        #[test]
        fn quotients_are_those_of_the_mantissas(
            steps in prop::collection::vec(
                prop_oneof![0u32..200, any::<u32>(), Just(u32::MAX)], 1..20,
            ),
            from in mantissa(), step in prop_oneof![1i64..9, Just(1_000_000), any::<i64>()],
            width in prop_oneof![1i64..99, Just(60_000_000), any::<i64>()], origin in mantissa(),
        ) {
            let span = steps.iter().copied().max().expect("some");
            let reference = FrameOfReference { from: 0, step: 1, span, steps: Rc::new(steps.into()) };
            let Some(reference) = reference.with(Some(from), Some(step.saturating_abs().max(1))) else {
                return Ok(());
            };
            let width = width.saturating_abs().max(1);
            let Some(quotients) = reference.quotients(width, origin) else { return Ok(()) };
            for row in 0..reference.steps.len() {
                let away = i128::from(reference.get(row)) - i128::from(origin);
                let expected = away.div_euclid(width.into());
                prop_assert_eq!(i128::from(quotients.get(row)), expected);
                prop_assert!(quotients.steps[row] <= quotients.span);
            }
        }

        #[test]
        fn both_forms_hold_the_same(
            mantissas in prop_oneof![
                prop::collection::vec(mantissa(), 1..9),
                prop::collection::vec(-300i64..300, 1..200),
            ],
            step in 1i64..4_000_000_000, by in -5i64..5, from in mantissa(), to in mantissa(),
        ) {
            let narrow = MantissaColumn::new(mantissas.clone());
            let narrow = match &narrow {
                _ if by == 4 => {
                    let mut values = mantissas.clone();
                    values.rotate_left(1);
                    let code = |mantissa| values.iter().position(|value| value == mantissa);
                    let codes = mantissas.iter().filter_map(code);
                    let codes = codes.map(|code| u32::try_from(code).expect("small")).collect();
                    let (codes, values) = (Rc::new(codes), Rc::new(values));
                    MantissaColumn::Dictionary(DictionaryMantissas { codes, values })
                }
                MantissaColumn::FrameOfReference(reference) => reference
                    .with(reference.from.checked_add(by), Some(step))
                    .map_or(narrow, MantissaColumn::FrameOfReference),
                MantissaColumn::Dictionary(_) | MantissaColumn::Plain(_) => narrow,
            };
            let far: Vec<i64> = (0..narrow.len()).map(|row| narrow.get(row)).collect();
            if let MantissaColumn::Plain(_) = narrow {
                prop_assert_eq!(&far, &mantissas);
            }
            let bounds = narrow.bounds();
            prop_assert!(far.iter().all(|mantissa| (bounds.0..=bounds.1).contains(mantissa)));
            for (from, to) in [(from, to), (far[0], far[0]), bounds] {
                let expected = bits(far.len(), |row| (from..=to).contains(&far[row]));
                prop_assert_eq!(narrow.between(from, to), expected, "{} to {}", from, to);
            }
        }
    }
}
