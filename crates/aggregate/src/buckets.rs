//! The logarithmic buckets of the quantile sketch.
//!
//! Bucket b > 0 holds the positive doubles x with ⌈K · L(x)⌉ = b − BIAS, bucket −b the same
//! with the other sign, bucket 0 only zero; so buckets are in the order of the values. L is a
//! logarithm to base 2 in which a cubic polynomial stands for the curve between two powers of
//! two. K makes every bucket narrow enough that its middle is within 1 % of all it holds, which
//! costs 1 % more buckets than true logarithms. In return there are only multiplications and
//! additions, which are fast and give the same bits on every machine; `ln` is neither.
//!
//! A bucket stands for its middle in as few digits as keep it within 1 %: more would only look
//! exact. Where buckets are narrower than they may be, four are enough; the widest take seven.
//!
//! Source: C. Masson, J. E. Rim, H. K. Lee, "DDSketch: a fast and fully-mergeable quantile sketch
//! with relative-error guarantees", PVLDB 12(12), 2019; the cubic form is from its authors' code.

use hadal_types::Number;

/// Bucket numbers are in −BUCKET_MAX..=BUCKET_MAX.
pub const BUCKET_MAX: i32 = 2 * BIAS;

/// For code that finds many buckets at a time: K, the cubic's coefficients from the first power on,
/// and the bucket of 1. The bucket of a positive normal double 2^e · (1 + p) is
/// ⌈K · (e + cubic(p))⌉ + the bucket of 1.
pub const LOG_BUCKETS: (f64, [f64; 3], i32) = (K, CUBIC, BIAS);

/// Above the size of the smallest and the largest exponent of a double, times K.
const BIAS: i32 = 40_000;
/// The most that the logarithm of a value grows while L grows by one: 0.7, at powers of two; a
/// bucket spans 1 / K of L and ln(1.01 / 0.99) of the logarithm at most.
const K: f64 = 0.7 / 0.020_000_666_706_669_52;
/// How far what a bucket stands for may be from what it holds: 1 %, and room for rounding.
const ERROR_MAX: f64 = 0.010_001;
/// The fewest digits that a bucket's number is given in.
const DIGITS_MIN: usize = 4;
/// With so many, rounding costs less than there is room for.
const DIGITS_MAX: usize = 7;
const CUBIC: [f64; 3] = [10.0 / 7.0, -3.0 / 5.0, 6.0 / 35.0];
/// 2^52: scales subnormal doubles into the range of normal ones.
const SUBNORMAL_SCALE: f64 = 4_503_599_627_370_496.0;

/// The bucket of a finite double.
#[must_use]
pub fn bucket_of(value: f64) -> i32 {
    let size = value.abs();
    if size == 0.0 {
        return 0;
    }
    let bucket = BIAS + rank(size);
    if value < 0.0 { -bucket } else { bucket }
}

/// The bucket of a stored decimal: that of the double nearest to it.
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
pub fn bucket_of_number(number: Number) -> i32 {
    bucket_of(number.to_f64())
}

fn rank(size: f64) -> i32 {
    let (size, scaled) =
        if size < f64::MIN_POSITIVE { (size * SUBNORMAL_SCALE, -52) } else { (size, 0) };
    let bits = size.to_bits();
    let exponent = i32::try_from(bits >> 52).unwrap_or(0) - 1023 + scaled;
    let part = f64::from_bits((bits & ((1 << 52) - 1)) | (1023 << 52)) - 1.0;
    let log = f64::from(exponent) + cubic(part);
    #[expect(clippy::cast_possible_truncation, reason = "log is within ±1,075, so K·log is small")]
    let rank = (log * K).ceil() as i32;
    rank
}

fn cubic(part: f64) -> f64 {
    ((CUBIC[2] * part + CUBIC[1]) * part + CUBIC[0]) * part
}

/// The edges of a bucket, the smaller one first; for bucket 0 both are zero.
#[must_use]
pub(crate) fn bucket_edges(bucket: i32) -> (f64, f64) {
    let rank = bucket.abs() - BIAS;
    match bucket {
        0 => (0.0, 0.0),
        1.. => (edge(rank - 1), edge(rank)),
        _ => (-edge(rank), -edge(rank - 1)),
    }
}

/// The number that stands for all that the bucket holds: within 1 % of it, in four to seven
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

/// The value that is within 1 % of all between these edges: 2·low·high / (low + high), written so
/// that nothing in between overflows.
fn middle(low: f64, high: f64) -> f64 {
    if low == high { low } else { low * (2.0 / (1.0 + low / high)) }
}

/// The largest double of this rank, as near as bisection gets.
fn edge(rank: i32) -> f64 {
    let log = f64::from(rank) / K;
    let exponent = log.floor();
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..53 {
        let middle = (low + high) / 2.0;
        if cubic(middle) < log - exponent { low = middle } else { high = middle }
    }
    #[expect(clippy::cast_possible_truncation, reason = "ranks are bounded, and so is log")]
    let exponent = exponent as i32;
    // In two steps, because 2^-1074 alone is no normal number.
    ((1.0 + high) * 2f64.powi(exponent / 2) * 2f64.powi(exponent - exponent / 2)).min(f64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn constants_are_what_they_claim() {
        assert!((K - 0.7 / (1.01f64 / 0.99).ln()).abs() < 1e-9);
        assert!((cubic(1.0) - 1.0).abs() < 1e-15);
    }

    #[test]
    fn the_ends_of_the_range_have_buckets() {
        for size in [5e-324, f64::MIN_POSITIVE, 1.0, f64::MAX] {
            let bucket = bucket_of(size);
            assert!((1..=BUCKET_MAX).contains(&bucket), "{size} {bucket}");
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
        // All that holds 0.001 to 1,000,000, on either side of zero.
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
