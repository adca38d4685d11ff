//! Exact, order-independent sums of doubles: a superaccumulator.
//!
//! Every finite double is an integer multiple of 2^-1074 below 2^2098 units, so one long integer
//! holds any sum without rounding. It has 68 digits of 32 bits, each in an `i64`. So 2^30 doubles
//! can be added before carries must be propagated.
//!
//! ```text
//! digit   0        1        2                   66       67
//!       |32 bits |32 bits |32 bits |   ...    |32 bits |signed: sign and room for 2^64 rows|
//!        ^ 2^-1074
//! ```
//!
//! Source: R. M. Neal, "Fast exact summation using small and large superaccumulators", 2015
//! (arXiv:1505.05571): the paper's small superaccumulator, but with three digits per addend instead
//! of two. So an addition needs no rounding and no branch.

/// Number of digits: 2098 bits of doubles, 64 bits of rows, a sign.
pub(crate) const DIGITS: usize = 68;
/// Addends between two propagations of carries; each adds less than 2^32 to a digit.
const PENDING_MAX: u32 = 1 << 30;
const DIGIT_MASK: i64 = 0xffff_ffff;
/// The bound of the top digit of a sum from outside, so that merging such sums cannot wrap.
const TOP_MAX: i64 = 1 << 40;

/// An exact sum of finite doubles.
#[derive(Clone, Debug)]
pub(crate) struct Superaccumulator {
    digits: [i64; DIGITS],
    pending: u32,
}

impl Superaccumulator {
    pub(crate) const fn new() -> Self {
        Self { digits: [0; DIGITS], pending: 0 }
    }

    /// Adds a double, which must be finite.
    pub(crate) fn add(&mut self, double: f64) {
        let bits = double.to_bits();
        let exponent = u32::try_from((bits >> 52) & 0x7ff).unwrap_or(0);
        let fraction = bits & ((1 << 52) - 1);
        // A subnormal has the same unit as the smallest normal numbers, without the hidden bit.
        let (mantissa, shift) =
            if exponent == 0 { (fraction, 0) } else { (fraction | (1 << 52), exponent - 1) };
        self.add_shifted(mantissa, shift, double.is_sign_negative());
    }

    /// Adds mantissa × 2^shift units of 2^-1074; the mantissa must be below 2^64 and the shift
    /// at most 2,045.
    fn add_shifted(&mut self, mantissa: u64, shift: u32, negative: bool) {
        if self.pending == PENDING_MAX {
            self.carry();
        }
        self.pending += 1;
        let wide = u128::from(mantissa) << (shift % 32);
        let first = usize::try_from(shift / 32).unwrap_or(0);
        for (index, digit) in self.digits[first..first + 3].iter_mut().enumerate() {
            let part = i64::try_from((wide >> (32 * index)) & 0xffff_ffff).unwrap_or(0);
            *digit += if negative { -part } else { part };
        }
    }

    /// Adds an integer given by the digits of its absolute value, the lowest first.
    pub(crate) fn add_integer(&mut self, digits: &[u32], negative: bool) {
        const ONE_SHIFT: u32 = 1074;
        for (index, &digit) in (0u32..).zip(digits) {
            self.add_shifted(u64::from(digit), ONE_SHIFT + 32 * index, negative);
        }
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.carry();
        for (digit, other) in self.digits.iter_mut().zip(other.canonical()) {
            *digit = digit.wrapping_add(other);
        }
        self.carry();
    }

    /// Propagates carries, so that all digits but the top one are in 0..2^32. This form is unique
    /// for each value of the sum.
    fn carry(&mut self) {
        let mut carry = 0;
        for digit in &mut self.digits[..DIGITS - 1] {
            let sum = *digit + carry;
            *digit = sum & DIGIT_MASK;
            carry = sum >> 32;
        }
        let top = &mut self.digits[DIGITS - 1];
        *top = top.wrapping_add(carry);
        self.pending = 0;
    }

    /// The digits in the form that is unique for each value of the sum.
    pub(crate) fn canonical(&self) -> [i64; DIGITS] {
        let mut copy = self.clone();
        copy.carry();
        copy.digits
    }

    /// The sum of digits from [`Self::canonical`]; `None` for anything else.
    pub(crate) fn from_canonical(digits: &[i64]) -> Option<Self> {
        let digits: [i64; DIGITS] = digits.try_into().ok()?;
        let (&top, rest) = digits.split_last()?;
        let fits = rest.iter().all(|digit| (0..=DIGIT_MASK).contains(digit));
        (fits && (-TOP_MAX..TOP_MAX).contains(&top)).then_some(Self { digits, pending: 0 })
    }

    /// The nearest double, halves to even; `None` beyond the range of doubles.
    pub(crate) fn total(&self) -> Option<f64> {
        let mut size = self.clone();
        size.carry();
        let negative = size.digits[DIGITS - 1] < 0;
        if negative {
            size.digits.iter_mut().for_each(|digit| *digit = digit.wrapping_neg());
            size.carry();
        }
        let magnitude = round(&size.digits)?;
        Some(if negative { -magnitude } else { magnitude })
    }
}

impl PartialEq for Superaccumulator {
    fn eq(&self, other: &Self) -> bool {
        self.canonical() == other.canonical()
    }
}

impl Eq for Superaccumulator {}

/// The double nearest to a sum in canonical form that is not negative.
fn round(digits: &[i64; DIGITS]) -> Option<f64> {
    let Some(top) = digits.iter().rposition(|&digit| digit != 0) else { return Some(0.0) };
    // If there are digits below the three highest, these three have at least 65 bits. So the lower
    // digits can only break a tie.
    let low = top.saturating_sub(2);
    let head = digits[low..=top]
        .iter()
        .rev()
        .fold(0u128, |head, &digit| (head << 32) | u128::from(digit.unsigned_abs()));
    let tail = digits[..low].iter().any(|&digit| digit != 0);
    let cut = (128 - head.leading_zeros()).saturating_sub(53);
    let mut mantissa = u64::try_from(head >> cut).ok()?;
    if cut > 0 {
        let (rest, half) = (head & ((1 << cut) - 1), 1u128 << (cut - 1));
        let above = rest > half || (rest == half && tail);
        mantissa += u64::from(above || (rest == half && mantissa % 2 == 1));
    }
    // A double with exponent e ≥ 1 and mantissa m has the bits (e − 1) · 2^52 + m; so has a
    // subnormal with e = 1. A mantissa rounded up to 2^53 carries into the exponent by itself.
    let shift = u64::from(cut) + 32 * u64::try_from(low).ok()?;
    let double = f64::from_bits((shift << 52).checked_add(mantissa).filter(|_| shift < 2046)?);
    double.is_finite().then_some(double)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sum(doubles: &[f64]) -> Superaccumulator {
        let mut sum = Superaccumulator::new();
        doubles.iter().for_each(|&double| sum.add(double));
        sum
    }

    #[test]
    fn nothing_is_lost_between_large_and_small() {
        assert_eq!(sum(&[1e308, 1.0, -1e308]).total(), Some(1.0));
        assert_eq!(sum(&[1e16, 1.0, 1.0]).total(), Some(1e16 + 2.0));
        assert_eq!(sum(&[5e-324, 1e308, -1e308]).total(), Some(5e-324));
        assert_eq!(sum(&[]).total(), Some(0.0));
        assert_eq!(sum(&[0.1; 10]).total(), Some(1.0));
    }

    #[test]
    fn range_ends_where_doubles_end() {
        assert_eq!(sum(&[f64::MAX]).total(), Some(f64::MAX));
        assert_eq!(sum(&[f64::MAX, f64::MAX]).total(), None);
        assert_eq!(sum(&[f64::MAX, f64::MAX, -f64::MAX]).total(), Some(f64::MAX));
        assert_eq!(sum(&[f64::MIN, f64::MIN]).total(), None);
        let half_unit = 2f64.powi(970);
        assert_eq!(sum(&[f64::MAX, half_unit]).total(), None);
        assert_eq!(sum(&[f64::MAX, half_unit, -5e-324]).total(), Some(f64::MAX));
    }

    #[test]
    fn ties_go_to_even() {
        assert_eq!(sum(&[2f64.powi(53), 1.0]).total(), Some(2f64.powi(53)));
        assert_eq!(sum(&[2f64.powi(53), 3.0]).total(), Some(2f64.powi(53) + 4.0));
        assert_eq!(sum(&[2f64.powi(53), 1.0, 1e-300]).total(), Some(2f64.powi(53) + 2.0));
    }

    #[test]
    fn integers_are_added_exactly() {
        let mut sum = Superaccumulator::new();
        sum.add_integer(&[7, 1], false);
        sum.add(-4_294_967_296.0);
        assert_eq!(sum.total(), Some(7.0));
        sum.add_integer(&[7], true);
        assert_eq!(sum, Superaccumulator::new());
    }

    #[test]
    fn digits_from_outside_are_checked() {
        let digits = sum(&[-1.5, 1e300]).canonical();
        assert_eq!(Superaccumulator::from_canonical(&digits), Some(sum(&[-1.5, 1e300])));
        assert_eq!(Superaccumulator::from_canonical(&digits[1..]), None);
        for (index, bad) in [(0, -1), (5, 1 << 32), (DIGITS - 1, i64::MAX)] {
            let mut digits = digits;
            digits[index] = bad;
            assert_eq!(Superaccumulator::from_canonical(&digits), None, "{index} {bad}");
        }
    }

    fn finite() -> impl Strategy<Value = f64> {
        any::<u64>().prop_map(f64::from_bits).prop_filter("finite", |double| double.is_finite())
    }

    proptest! {
        #[test]
        fn one_double_is_itself(double in finite()) {
            prop_assert_eq!(sum(&[double]).total(), Some(double));
        }

        #[test]
        fn two_doubles_round_as_the_machine_does(
            left in finite(), right in finite(), near in -60i32..60,
        ) {
            // The second number is scaled near the first, where rounding is hardest.
            let near = left * (right.to_bits() as f64 / u64::MAX as f64) * 2f64.powi(near);
            for right in [right, near].into_iter().filter(|right| right.is_finite()) {
                let machine = Some(left + right).filter(|total| total.is_finite());
                prop_assert_eq!(sum(&[left, right]).total(), machine);
            }
        }

        #[test]
        fn order_and_grouping_do_not_matter(
            mut doubles in prop::collection::vec(finite(), 0..40), cut in 0usize..40,
        ) {
            let forward = sum(&doubles);
            let (left, right) = doubles.split_at(cut.min(doubles.len()));
            let mut merged = sum(right);
            merged.merge(&sum(left));
            prop_assert_eq!(&merged, &forward);
            doubles.reverse();
            prop_assert_eq!(sum(&doubles), forward);
        }
    }
}
