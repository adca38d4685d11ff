//! The buckets of the quantile sketch: 64 equally wide buckets between two neighbouring powers of
//! two.
//!
//! So the bucket of a positive double is its exponent and the first six bits of its fraction,
//! counted from the smallest double. A negative double has the negated bucket of its absolute
//! value, and bucket 0 holds only zero. Buckets have the order of the values. The relatively widest
//! buckets, just above a power of two, are 1/64 of their values wide, so the middle of a bucket is
//! within 0.8 % of all its values. True logarithms would need half as many buckets for 1 %. But the
//! buckets used here are found by one shift, and are the same bits on every machine.
//!
//! A bucket is represented by its middle, with as few digits as keep it within 1 %. More digits
//! would only look exact.
//!
//! Sources: C. Masson, J. E. Rim, H. K. Lee, "DDSketch: a fast and fully-mergeable quantile sketch
//! with relative-error guarantees", PVLDB 12(12), 2019; this is its linearly interpolated mapping.
//! Also G. Tene, HdrHistogram.

use hadal_types::Number;

/// Number of bits of the fraction that choose the bucket.
pub const BUCKET_FRACTION_BITS: u32 = 6;
/// The bucket of a positive normal double is an integer plus this offset. The integer consists of
/// its exponent bits and the next [`BUCKET_FRACTION_BITS`] bits.
pub const BUCKET_OFFSET: i32 = SUBNORMAL_EXPONENT * WIDTH;
/// The number of a bucket is between the negative of this and this.
pub const QUANTILE_BUCKET_MAX: i32 = 2_047 * WIDTH - 1 + BUCKET_OFFSET;

/// The number of a bucket is within this many buckets of it: the narrowest bucket is 1/127 of its
/// values wide.
pub(crate) const BUCKETS_NEAR: u32 = 2;

/// Buckets between two powers of two.
const WIDTH: i32 = 1 << BUCKET_FRACTION_BITS;
/// 2 to this power scales subnormal doubles into the range of normal ones.
const SUBNORMAL_EXPONENT: i32 = 52;
const SUBNORMAL_SCALE: f64 = (1u64 << SUBNORMAL_EXPONENT) as f64;
/// The exponent of the first bucket's values.
const EXPONENT_MIN: i32 = -1_023 - SUBNORMAL_EXPONENT;
/// The maximum relative error of a bucket's number: 1 %, and room for rounding.
const ERROR_MAX: f64 = 0.010_001;
/// The minimum number of digits of a bucket's number.
const DIGITS_MIN: usize = 4;
/// With this number of digits, rounding stays within the room for it.
const DIGITS_MAX: usize = 7;

/// The bucket of a finite double.
#[must_use]
pub fn bucket_of(value: f64) -> i32 {
    let size = value.abs();
    if size == 0.0 {
        return 0;
    }
    let bucket = match size {
        ..f64::MIN_POSITIVE => leading_bits(size * SUBNORMAL_SCALE),
        _ => leading_bits(size) + BUCKET_OFFSET,
    };
    if value < 0.0 { -bucket } else { bucket }
}

/// The bits of the exponent and the first six of the fraction: 17 bits.
fn leading_bits(size: f64) -> i32 {
    (size.to_bits() >> (f64::MANTISSA_DIGITS - 1 - BUCKET_FRACTION_BITS)) as i32
}

/// The bucket of a stored decimal: that of the nearest double.
#[must_use]
pub fn bucket_of_decimal(mantissa: i64, scale: u8) -> i32 {
    const EXACT: u64 = 1 << 53;
    if mantissa.unsigned_abs() <= EXACT && scale <= 22 {
        // Both are exact doubles, so one division rounds correctly.
        return bucket_of(mantissa as f64 / 10f64.powi(i32::from(scale)));
    }
    let decimal = hadal_types::Decimal::new(i128::from(mantissa), scale);
    decimal.map_or(0, |decimal| bucket_of(decimal.to_f64()))
}

/// The bucket of a number.
#[must_use]
pub(crate) fn bucket_of_number(number: Number) -> i32 {
    bucket_of(number.to_f64())
}

/// The edges of a bucket, the smaller one first; for bucket 0 both are zero.
#[must_use]
pub(crate) fn bucket_edges(bucket: i32) -> (f64, f64) {
    match bucket {
        0 => (0.0, 0.0),
        1.. => (edge(bucket), edge(bucket + 1)),
        _ => (-edge(1 - bucket), -edge(-bucket)),
    }
}

/// The number that represents all values of a bucket: within 1 % of them, with four to seven
/// significant digits.
#[must_use]
pub(crate) fn bucket_number(bucket: i32) -> Number {
    let (low, high) = bucket_edges(bucket);
    let middle = middle(low, high);
    let is_near = |number: &Number| {
        let value = number.to_f64();
        let off = |edge: f64| (value - edge).abs() / edge.abs();
        value == 0.0 || (off(low) <= ERROR_MAX && off(high) <= ERROR_MAX)
    };
    (DIGITS_MIN..=DIGITS_MAX)
        .filter_map(|digits| format!("{middle:.*e}", digits - 1).parse().ok())
        .find(is_near)
        .or_else(|| Number::from_f64(middle))
        .unwrap_or(Number::ZERO)
}

/// The integer that represents all integers of a bucket: within 1 % of them, and the only one if
/// the bucket has no other. Of a bucket without integers, [`bucket_number`].
#[must_use]
pub(crate) fn bucket_integer(bucket: i32) -> Number {
    let number = bucket_number(bucket);
    if number.is_integer() {
        return number;
    }
    let (low, high) = bucket_edges(bucket.abs());
    let (first, last) = (low.ceil(), high.ceil() - 1.0);
    if first > last {
        return number;
    }
    let size = number.to_f64().abs().round().clamp(first, last);
    Number::from_f64(size.copysign(f64::from(bucket))).unwrap_or(number)
}

/// The value within 1 % of all values between these edges: 2·low·high / (low + high), written so
/// that no intermediate result overflows.
fn middle(low: f64, high: f64) -> f64 {
    if low == high { low } else { low * (2.0 / (1.0 + low / high)) }
}

/// The smallest double of a positive bucket, at most the largest double.
fn edge(bucket: i32) -> f64 {
    let exponent = EXPONENT_MIN + bucket / WIDTH;
    let size = 1.0 + f64::from(bucket % WIDTH) / f64::from(WIDTH);
    // In two steps, because neither 2^-1074 nor 2^1024 is a normal number.
    (size * 2f64.powi(exponent / 2) * 2f64.powi(exponent - exponent / 2)).min(f64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_power_of_two_is_the_first_of_its_bucket() {
        let mut value = 2f64.powi(-1_000);
        for exponent in -1_000..=1_023 {
            let bucket = bucket_of(value);
            assert_eq!(bucket, (exponent + 1_075) * 64);
            assert_eq!(bucket_edges(bucket).0, value);
            assert_eq!(bucket_of(value * (1.0 - f64::EPSILON)), bucket - 1);
            value *= 2.0;
        }
        assert_eq!(bucket_of(f64::MAX), QUANTILE_BUCKET_MAX);
    }

    #[test]
    fn the_ends_of_the_range_have_buckets() {
        for size in [5e-324, f64::MIN_POSITIVE, 1.0, f64::MAX] {
            let bucket = bucket_of(size);
            assert!((1..=QUANTILE_BUCKET_MAX).contains(&bucket), "{size} {bucket}");
            assert_eq!(bucket_of(-size), -bucket);
        }
        assert_eq!((bucket_of(0.0), bucket_of(-0.0)), (0, 0));
        assert!((bucket_number(bucket_of(f64::MAX)).to_f64() / f64::MAX - 1.0).abs() < 0.0101);
    }

    #[test]
    fn numbers_of_buckets_are_short() {
        let digits = |bucket: i32| {
            let Some(number) = bucket_number(bucket).to_decimal() else {
                panic!("bucket {bucket}")
            };
            let digits = number.mantissa().to_string();
            digits.trim_start_matches('-').trim_end_matches('0').len()
        };
        assert_eq!(bucket_number(0), Number::ZERO);
        // All buckets of 0.001 to 1,000,000, on either side of zero.
        let buckets = bucket_of(0.001)..=bucket_of(1e6);
        let lengths: Vec<usize> = buckets.flat_map(|b| [digits(b), digits(-b)]).collect();
        assert!(lengths.iter().all(|&length| length <= DIGITS_MAX));
        let short = lengths.iter().filter(|&&length| length <= 5).count();
        assert!(short * 2 > lengths.len(), "{short} of {}", lengths.len());
    }

    proptest! {
        #[test]
        fn a_bucket_stands_for_what_is_within_one_percent(bits in any::<u64>()) {
            let value = f64::from_bits(bits);
            prop_assume!(value.is_normal());
            let (low, high) = bucket_edges(bucket_of(value));
            let error = (middle(low, high) / value - 1.0).abs();
            prop_assert!(error <= 0.010_000_001, "{value} {error}");
            let error = (bucket_number(bucket_of(value)).to_f64() / value - 1.0).abs();
            prop_assert!(error <= 0.010_001_001, "{value} {error}");
        }

        #[test]
        fn integers_of_a_bucket_are_within_one_percent_of_its_integer(
            value in any::<i64>(), cut in 0u32..63,
        ) {
            let value = (value >> cut) as f64;
            let integer = bucket_integer(bucket_of(value));
            prop_assert!(integer.is_integer(), "{value} {integer}");
            if value.abs() < 128.0 {
                prop_assert_eq!(integer.to_f64(), value);
            } else {
                let error = (integer.to_f64() / value - 1.0).abs();
                prop_assert!(error <= 0.010_001_001, "{value} {error}");
            }
        }

        #[test]
        fn buckets_are_in_the_order_of_values(left in any::<f64>(), right in any::<f64>()) {
            prop_assume!(left.is_finite() && right.is_finite());
            let (left, right) = if left <= right { (left, right) } else { (right, left) };
            prop_assert!(bucket_of(left) <= bucket_of(right));
        }

        #[test]
        fn decimals_have_the_bucket_of_their_double(
            mantissa in any::<i64>(), scale in 0u8..=18, cut in 0u32..63,
        ) {
            let mantissa = mantissa >> cut;
            let decimal = hadal_types::Decimal::new(i128::from(mantissa), scale).expect("in range");
            prop_assert_eq!(bucket_of_decimal(mantissa, scale), bucket_of_number(decimal.into()));
        }
    }
}
