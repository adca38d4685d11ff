//! 384-bit integers: wide enough that no sum of products of two stored decimals can overflow.
//!
//! A stored decimal is an `i64` mantissa of scale 0 to 18, and a weight is below 2^50 millionths.
//! So one weighted product at the finest scale is below 2^126 · 2^50 · 10^36 < 2^296, and 2^64 of
//! them stay below 2^360. Merging is plain addition: order-free, bit for bit.

use num_bigint::{BigInt, Sign};

/// Number of 64-bit digits.
const DIGITS: usize = 6;

/// A signed integer of 384 bits, in two's complement, the lowest digit first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Int384([u64; DIGITS]);

impl Int384 {
    /// The product of a number and these factors, modulo 2^384.
    pub(crate) fn product(number: i128, factors: [u64; 3]) -> Self {
        let size = number.unsigned_abs();
        #[expect(clippy::cast_possible_truncation, reason = "the lower half is wanted")]
        let mut digits = [size as u64, (size >> 64) as u64, 0, 0, 0, 0];
        for factor in factors.into_iter().filter(|&factor| factor != 1) {
            let mut carry = 0;
            for digit in &mut digits {
                let wide = u128::from(*digit) * u128::from(factor) + carry;
                #[expect(clippy::cast_possible_truncation, reason = "the lower half is wanted")]
                let low = wide as u64;
                (*digit, carry) = (low, wide >> 64);
            }
        }
        if number < 0 { Self(digits).negated() } else { Self(digits) }
    }

    /// Adds `other`, wrapping at 384 bits.
    pub(crate) fn add(&mut self, other: Self) {
        let mut carry = false;
        for (digit, other) in self.0.iter_mut().zip(other.0) {
            let (sum, first) = digit.overflowing_add(other);
            let (sum, second) = sum.overflowing_add(u64::from(carry));
            (*digit, carry) = (sum, first | second);
        }
    }

    fn negated(self) -> Self {
        let mut negated = Self(self.0.map(|digit| !digit));
        negated.add(Self([1, 0, 0, 0, 0, 0]));
        negated
    }

    /// The quotient by the product of these divisors, which must not be zero. `None` if it is no
    /// integer of 128 bits.
    pub(crate) fn divided(self, divisors: [u64; 3]) -> Option<i128> {
        let is_negative = self.0[DIGITS - 1] >> 63 == 1;
        let Self(mut digits) = if is_negative { self.negated() } else { self };
        for divisor in divisors.map(u128::from) {
            let mut rest = 0u128;
            for digit in digits.iter_mut().rev() {
                let upper = (rest << 64) | u128::from(*digit);
                #[expect(clippy::cast_possible_truncation, reason = "rest < divisor, so it fits")]
                let quotient = (upper / divisor) as u64;
                (*digit, rest) = (quotient, upper % divisor);
            }
            if rest != 0 {
                return None;
            }
        }
        let [low, high, others @ ..] = digits;
        let size = i128::try_from((u128::from(high) << 64) | u128::from(low)).ok()?;
        let is_short = others.iter().all(|&digit| digit == 0);
        is_short.then_some(if is_negative { -size } else { size })
    }

    /// The same number with any number of digits.
    pub(crate) fn to_bigint(self) -> BigInt {
        let is_negative = self.0[DIGITS - 1] >> 63 == 1;
        let (sign, size) =
            if is_negative { (Sign::Minus, self.negated()) } else { (Sign::Plus, self) };
        let bytes: Vec<u8> = size.0.iter().flat_map(|digit| digit.to_le_bytes()).collect();
        BigInt::from_bytes_le(sign, &bytes)
    }

    /// The number of these digits; `None` beyond 384 bits.
    pub(crate) fn of_bigint(number: &BigInt) -> Option<Self> {
        let (sign, size) = number.to_u64_digits();
        let mut digits = [0; DIGITS];
        digits.get_mut(..size.len())?.copy_from_slice(&size);
        if digits[DIGITS - 1] >> 63 == 1 {
            return None;
        }
        Some(if sign == Sign::Minus { Self(digits).negated() } else { Self(digits) })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn arithmetic_agrees_with_integers_of_any_length(
            left in any::<i128>(), right in any::<i128>(),
            factors in any::<[u64; 3]>(), weight in 1u64..1_000_000_000_000_000,
        ) {
            let factors = [weight, 1_000_000_000_000_000_000, factors[0] >> 4];
            let big = |number: i128| {
                factors.iter().fold(BigInt::from(number >> 2), |product, &factor| product * factor)
            };
            let of = |number: i128| Int384::product(number >> 2, factors);
            prop_assert_eq!(of(left).to_bigint(), big(left));
            let mut sum = of(left);
            sum.add(of(right));
            prop_assert_eq!(sum.to_bigint(), big(left) + big(right));
            prop_assert_eq!(Int384::of_bigint(&sum.to_bigint()), Some(sum));
            let [first, second, third] = [weight, 1_000_000_000_000_000_000, 3];
            let product = Int384::product(left >> 2, [first, second, third]);
            prop_assert_eq!(product.divided([first, second, third]), Some(left >> 2));
            prop_assert_eq!(product.divided([third, second, first]), Some(left >> 2));
            let odd = Int384::product(left | 1, [1; 3]);
            prop_assert_eq!(odd.divided([1, 2, 1]), None);
        }
    }

    #[test]
    fn integers_that_are_too_long_are_refused() {
        let power = |bits: u32| BigInt::from(1) << bits;
        assert!(Int384::of_bigint(&(power(383) - BigInt::from(1))).is_some());
        assert!(Int384::of_bigint(&-(power(383) - BigInt::from(1))).is_some());
        assert_eq!(Int384::of_bigint(&power(383)), None);
        assert_eq!(Int384::of_bigint(&power(500)), None);
        assert_eq!(Int384::of_bigint(&BigInt::ZERO), Some(Int384::default()));
    }
}
