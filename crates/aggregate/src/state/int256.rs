//! 256-bit integers: wide enough that no sum of stored decimals can overflow.
//!
//! A stored decimal is an `i64` mantissa of scale 0 to 18, and a weight is below 2^50 millionths.
//! So one product at the finest scale is below 2^63 · 2^50 · 10^18 < 2^173, and 2^64 products stay
//! below 2^237. So sums need no overflow flag and no common scale. Merging them is plain addition:
//! order-free, bit for bit.

use hadal_types::decimal::power_of_ten;
use hadal_types::{Decimal, Number};

/// A signed integer of 256 bits, in two's complement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Int256 {
    high: i128,
    low: u128,
}

impl Int256 {
    /// Bytes of one number.
    pub(crate) const BYTES: usize = 32;

    /// left × right. The right factor must be below 2^64; its type ensures this.
    pub(crate) fn product(left: i128, right: u64) -> Self {
        const HALF: u128 = u64::MAX as u128;
        let (size, right) = (left.unsigned_abs(), u128::from(right));
        let bottom = (size & HALF) * right;
        let top = (size >> 64) * right + (bottom >> 64);
        let magnitude =
            Self { high: (top >> 64).cast_signed(), low: (top << 64) | (bottom & HALF) };
        if left < 0 { magnitude.negated() } else { magnitude }
    }

    /// Adds `other`, wrapping at 256 bits.
    pub(crate) fn add(&mut self, other: Self) {
        let (low, carry) = self.low.overflowing_add(other.low);
        self.low = low;
        self.high = self.high.wrapping_add(other.high).wrapping_add(i128::from(carry));
    }

    pub(crate) fn is_negative(self) -> bool {
        self.high < 0
    }

    /// Bits of the absolute value: 0 for zero.
    pub(crate) fn magnitude_bits(self) -> u32 {
        let digits = self.magnitude_digits();
        let top = digits.iter().rposition(|&digit| digit != 0);
        top.map_or(0, |top| {
            (32 - digits[top].leading_zeros()) + 32 * u32::try_from(top).unwrap_or(0)
        })
    }

    fn is_zero(self) -> bool {
        self == Self::default()
    }

    /// The absolute value as 32-bit digits, the lowest first.
    pub(crate) fn magnitude_digits(self) -> [u32; 8] {
        let size = if self.is_negative() { self.negated() } else { self };
        let bytes = size.to_bytes();
        std::array::from_fn(|index| {
            let at = index * 4;
            u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        })
    }

    /// The quotient and the remainder by `divisor`, which must not be zero. The remainder has the
    /// sign of the number, and its absolute value is below the divisor.
    pub(crate) fn divided(self, divisor: u32) -> (Self, i64) {
        let mut digits = self.magnitude_digits();
        let mut rest = 0u64;
        for digit in digits.iter_mut().rev() {
            let upper = (rest << 32) | u64::from(*digit);
            rest = upper % u64::from(divisor);
            #[expect(clippy::cast_possible_truncation, reason = "rest < divisor, so it fits")]
            let quotient = (upper / u64::from(divisor)) as u32;
            *digit = quotient;
        }
        let quotient = Self::from_digits(digits);
        let rest = rest.cast_signed();
        if self.is_negative() { (quotient.negated(), -rest) } else { (quotient, rest) }
    }

    /// The number × 10^−scale: exact if a decimal holds it, else the nearest double.
    pub(crate) fn to_number(self, scale: u8) -> Option<Number> {
        let (mut value, mut scale) = (self, scale);
        // Many zeros at the end at once, and then fewer.
        for (zeros, power) in [(9, 1_000_000_000), (9, 1_000_000_000), (6, 1_000_000), (3, 1_000)] {
            if zeros <= scale
                && let (quotient, 0) = value.divided(power)
            {
                (value, scale) = (quotient, scale - zeros);
            }
        }
        while scale > 0 {
            let (quotient, rest) = value.divided(10);
            if rest != 0 {
                break;
            }
            (value, scale) = (quotient, scale - 1);
        }
        let exact = value.to_i128().and_then(|mantissa| Decimal::new(mantissa, scale));
        match exact {
            Some(decimal) => Some(Number::from(decimal)),
            // The text is exact, and parsing it rounds once.
            None => Number::from_f64(format!("{}e-{scale}", value.to_text()).parse().ok()?),
        }
    }

    /// The value as an `i128`, if it fits.
    pub(crate) fn to_i128(self) -> Option<i128> {
        let low = self.low.cast_signed();
        (self.high == low >> 127).then_some(low)
    }

    pub(crate) fn to_bytes(self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[..16].copy_from_slice(&self.low.to_le_bytes());
        bytes[16..].copy_from_slice(&self.high.to_le_bytes());
        bytes
    }

    pub(crate) fn from_bytes(bytes: [u8; Self::BYTES]) -> Self {
        let (mut low, mut high) = ([0; 16], [0; 16]);
        low.copy_from_slice(&bytes[..16]);
        high.copy_from_slice(&bytes[16..]);
        Self { high: i128::from_le_bytes(high), low: u128::from_le_bytes(low) }
    }

    fn from_digits(digits: [u32; 8]) -> Self {
        let mut bytes = [0; Self::BYTES];
        for (bytes_of_digit, digit) in bytes.chunks_exact_mut(4).zip(digits) {
            bytes_of_digit.copy_from_slice(&digit.to_le_bytes());
        }
        Self::from_bytes(bytes)
    }

    fn negated(self) -> Self {
        let (low, carry) = (!self.low).overflowing_add(1);
        Self { high: (!self.high).wrapping_add(i128::from(carry)), low }
    }

    fn to_text(self) -> String {
        let mut value = self;
        let mut digits = Vec::new();
        while !value.is_zero() {
            let (quotient, rest) = value.divided(10);
            digits.push(char::from(b'0' + u8::try_from(rest.abs()).unwrap_or(0)));
            value = quotient;
        }
        digits.push(if self.is_negative() { '-' } else { '0' });
        digits.iter().rev().collect()
    }
}

/// 10^exponent as a factor; `None` beyond 10^19.
pub(crate) fn factor(exponent: u8) -> Option<u64> {
    u64::try_from(power_of_ten(exponent)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_are_exact_as_long_as_decimals_are() {
        let total = |left: i128, right: u64, scale| Int256::product(left, right).to_number(scale);
        assert_eq!(total(15, 1_000_000, 7), "1.5".parse().ok());
        assert_eq!(total(-15, 1_000_000, 7), "-1.5".parse().ok());
        assert_eq!(total(0, 5, 24), Some(Number::ZERO));
        let largest = total(i128::MAX, 10_000_000_000, 10).expect("fits");
        assert_eq!(largest, Number::from(Decimal::new(i128::MAX, 0).expect("fits")));
        let beyond = total(i128::MIN, 10, 0).expect("a double holds it");
        assert_eq!(Some(beyond), Number::from_f64(i128::MIN as f64 * 10.0));
    }

    proptest! {
        #[test]
        fn arithmetic_agrees_with_native_integers(
            left in any::<i64>(), right in any::<u64>(), other in any::<i128>(), by in 1u32..,
        ) {
            let product = i128::from(left).checked_mul(i128::from(right));
            let wide = Int256::product(i128::from(left), right);
            prop_assert_eq!(wide.to_i128(), product);
            let mut sum = wide;
            sum.add(Int256::product(other, 1));
            prop_assert_eq!(sum.to_i128(), product.and_then(|product| product.checked_add(other)));
            let (quotient, rest) = Int256::product(other, 1).divided(by);
            prop_assert_eq!(quotient.to_i128(), Some(other / i128::from(by)));
            prop_assert_eq!(i128::from(rest), other % i128::from(by));
            prop_assert_eq!(Int256::from_bytes(sum.to_bytes()), sum);
            let shown: i128 = Int256::product(other, 1).to_text().parse().expect("digits");
            prop_assert_eq!(shown, other);
        }
    }
}
