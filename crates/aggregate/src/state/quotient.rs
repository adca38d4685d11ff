//! Quotients of integers of any length, and their square roots, rounded once to a double.

use std::cmp::Ordering;

use num_bigint::{BigInt, BigUint, Sign};

/// Bits of a quotient before it is rounded: twice those of its square root.
const BITS: u64 = 132;

/// The double nearest to `dividend` / `divisor`, halves to even. `None` if the divisor is zero, and
/// beyond the range of doubles.
pub(crate) fn quotient(dividend: &BigInt, divisor: &BigInt) -> Option<f64> {
    let (bits, exponent) = leading_bits(dividend.magnitude(), divisor.magnitude())?;
    let size = scaled(&bits, exponent)?;
    Some(if is_negative(dividend, divisor) { -size } else { size })
}

/// The double nearest to the square root of `dividend` / `divisor`. `None` if that is negative or
/// the divisor is zero, and beyond the range of doubles.
pub(crate) fn square_root(dividend: &BigInt, divisor: &BigInt) -> Option<f64> {
    if is_negative(dividend, divisor) {
        return None;
    }
    let (bits, exponent) = leading_bits(dividend.magnitude(), divisor.magnitude())?;
    // The exponent is even, and the root of 132 bits has more than a double.
    let root = bits.sqrt();
    let is_exact = &root * &root == bits;
    scaled(&((root << 1u8) | BigUint::from(u8::from(!is_exact))), exponent / 2 - 1)
}

fn is_negative(dividend: &BigInt, divisor: &BigInt) -> bool {
    (dividend.sign() == Sign::Minus) != (divisor.sign() == Sign::Minus)
}

/// The quotient as bits · 2^exponent. The last bit says whether there are further ones. The
/// exponent is even.
fn leading_bits(dividend: &BigUint, divisor: &BigUint) -> Option<(BigUint, i64)> {
    if *divisor == BigUint::ZERO {
        return None;
    }
    let missing = BITS + divisor.bits();
    let mut up = i64::try_from(missing).ok()? - i64::try_from(dividend.bits()).ok()?;
    // The shift is even once the bit for further ones is appended.
    up += (up + 1).rem_euclid(2);
    let shift = up.unsigned_abs();
    let (dividend, divisor) = match up.cmp(&0) {
        Ordering::Less => (dividend.clone(), divisor << shift),
        _ => (dividend << shift, divisor.clone()),
    };
    let (whole, rest) = (&dividend / &divisor, &dividend % &divisor);
    let has_more = u8::from(rest != BigUint::ZERO);
    Some(((whole << 1u8) | BigUint::from(has_more), -up - 1))
}

/// bits · 2^exponent, rounded once unless it is subnormal.
fn scaled(bits: &BigUint, exponent: i64) -> Option<f64> {
    // So few bits that rounding them is exact arithmetic on 128 bits; the last one stays for the
    // others.
    let down = bits.bits().saturating_sub(64);
    let head = bits >> down;
    let has_more = (&head << down) != *bits;
    let head = u64::try_from(head).ok()?;
    let rounded = ((u128::from(head) << 1) | u128::from(has_more)) as f64;
    let exponent = exponent + i64::try_from(down).ok()? - 1;
    let exponent = i32::try_from(exponent).ok()?;
    // In steps, because neither 2^-1074 nor 2^1024 is a normal number.
    let half = (exponent / 2).clamp(-1_000, 1_000);
    let rest = (exponent - half).clamp(-1_020, 1_020);
    let double = rounded * 2f64.powi(half) * 2f64.powi(rest);
    double.is_finite().then_some(double)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn big(number: i64) -> BigInt {
        BigInt::from(number)
    }

    #[test]
    fn quotients_are_rounded_as_the_machine_rounds() {
        assert_eq!(quotient(&big(1), &big(3)), Some(1.0 / 3.0));
        assert_eq!(quotient(&big(-7), &big(11)), Some(-7.0 / 11.0));
        assert_eq!(quotient(&big(0), &big(5)), Some(0.0));
        assert_eq!(quotient(&big(5), &big(0)), None);
        let large: BigInt = big(1) << 2_000u32;
        assert_eq!(quotient(&large, &(&large * 8)), Some(0.125));
        assert_eq!(quotient(&large, &big(1)), None, "beyond doubles");
        assert_eq!(quotient(&big(1), &large), Some(0.0));
        // Halfway between two doubles; one more decides.
        let half: BigInt = (big(1) << 53u32) + 1;
        assert_eq!(quotient(&half, &big(1)), Some(9_007_199_254_740_992.0));
        assert_eq!(
            quotient(&((half << 900u32) + 1), &(big(1) << 900u32)),
            Some(9_007_199_254_740_994.0)
        );
    }

    #[test]
    fn roots_are_those_of_the_quotient() {
        assert_eq!(square_root(&big(2), &big(1)), Some(2f64.sqrt()));
        assert_eq!(square_root(&big(9), &big(4)), Some(1.5));
        assert_eq!(square_root(&big(0), &big(4)), Some(0.0));
        assert_eq!(square_root(&big(-1), &big(4)), None);
        let large: BigInt = big(1) << 2_000u32;
        assert_eq!(square_root(&large, &big(1)), Some(2f64.powi(1_000)));
    }

    proptest! {
        #[test]
        fn small_quotients_and_roots_are_the_machines(
            left in -(1i64 << 53)..(1 << 53), right in 1i64..(1 << 53),
        ) {
            prop_assert_eq!(quotient(&big(left), &big(right)), Some(left as f64 / right as f64));
            let root = square_root(&big(left.abs()), &big(1));
            prop_assert_eq!(root, Some((left.abs() as f64).sqrt()));
        }
    }
}
