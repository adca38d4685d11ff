//! Hashes of values: equal on every machine for equal values.
//!
//! XXH3 (64 bits) of the value's canonical bytes. The seed separates types, so the string "1" and
//! the number 1 differ. Numbers are canonical already (see [`Number`]); decimals of 64 bits are
//! hashed directly instead of by their bytes.

use hadal_types::{Decimal, Number, NumberRepr, Value};
use twox_hash::XxHash3_64;

/// 2^64 / φ: separates equal mantissas of different scales.
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// For code that hashes many integers at once: the hash of a 64-bit integer is MurmurHash3's
/// finalizer of integer ^ `INTEGER_SALT`.
pub const INTEGER_SALT: u64 = GOLDEN;

const SEED_BOOL: u64 = 1;
const SEED_DECIMAL: u64 = 2;
const SEED_DOUBLE: u64 = 3;
const SEED_TIME: u64 = 4;
const SEED_STRING: u64 = 5;
const SEED_SET: u64 = 6;
const SEED_VECTOR: u64 = 7;
const SEED_HISTOGRAM: u64 = 8;
const SEED_NULL: u64 = 9;

/// The hash of a value: equal values have equal hashes.
#[must_use]
pub fn hash_value(value: &Value) -> u64 {
    match value {
        Value::Bool(truth) => hash(SEED_BOOL, &[u8::from(*truth)]),
        Value::Number(number) => hash_number(*number),
        Value::Time(time) => hash(SEED_TIME, &time.0.to_le_bytes()),
        Value::String(text) => hash_text(text),
        Value::Set(elements) => hash_all(SEED_SET, elements.iter().map(|text| hash_text(text))),
        Value::Vector(elements) => {
            hash_all(SEED_VECTOR, elements.iter().map(|text| hash_text(text)))
        }
        Value::Histogram(buckets) => {
            let numbers = buckets.iter().flat_map(|bucket| [bucket.from, bucket.to, bucket.count]);
            hash_all(SEED_HISTOGRAM, numbers.map(hash_number))
        }
        Value::Null => hash(SEED_NULL, &[]),
    }
}

/// The hash of a string value.
#[must_use]
pub fn hash_text(text: &str) -> u64 {
    hash(SEED_STRING, text.as_bytes())
}

/// The hash of a stored decimal, which equals that of the same number.
#[must_use]
#[inline]
pub fn hash_decimal(mantissa: i64, scale: u8) -> u64 {
    let (mut mantissa, mut scale) = (mantissa, scale);
    while scale > 0 && mantissa % 10 == 0 {
        mantissa /= 10;
        scale = if mantissa == 0 { 0 } else { scale - 1 };
    }
    hash_lowest_terms(i128::from(mantissa), scale)
}

/// The hash of a number.
#[must_use]
fn hash_number(number: Number) -> u64 {
    match number.form() {
        NumberRepr::Decimal(decimal) => {
            hash_lowest_terms(Decimal::mantissa(decimal), decimal.scale())
        }
        NumberRepr::Double(double) => hash(SEED_DOUBLE, &double.to_bits().to_le_bytes()),
    }
}

fn hash_lowest_terms(mantissa: i128, scale: u8) -> u64 {
    if let Ok(mantissa) = i64::try_from(mantissa) {
        return mix(mantissa.cast_unsigned() ^ (u64::from(scale) + 1).wrapping_mul(GOLDEN));
    }
    let mut bytes = [scale; 17];
    bytes[..16].copy_from_slice(&mantissa.to_le_bytes());
    hash(SEED_DECIMAL, &bytes)
}

/// The finalizer of MurmurHash3 (A. Appleby). It is a bijection, and every bit of the result
/// depends on all of `bits`. Most numbers are hashed by it, in a tenth of the time of hashing their
/// bytes.
#[inline]
const fn mix(bits: u64) -> u64 {
    let bits = (bits ^ (bits >> 33)).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    let bits = (bits ^ (bits >> 33)).wrapping_mul(0xC4CE_B9FE_1A85_EC53);
    bits ^ (bits >> 33)
}

fn hash_all(seed: u64, hashes: impl Iterator<Item = u64>) -> u64 {
    let bytes: Vec<u8> = hashes.flat_map(u64::to_le_bytes).collect();
    hash(seed, &bytes)
}

fn hash(seed: u64, bytes: &[u8]) -> u64 {
    XxHash3_64::oneshot_with_seed(seed, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn hashes_never_change() {
        // Hashes travel between machines and releases.
        assert_eq!(hash_text("hadal"), 15_454_688_506_019_710_418);
        assert_eq!(hash_decimal(-15, 1), 12_965_063_494_944_147_495);
        assert_eq!(hash_value(&Value::vector(["a", "b"])), 531_032_948_578_748_286);
    }

    #[test]
    fn values_of_different_types_differ() {
        let values = [
            Value::Null,
            Value::Bool(true),
            Value::integer(1),
            Value::Time(hadal_types::Micros(1)),
            Value::string("1"),
            Value::set(["1"]),
            Value::vector(["1"]),
            Value::vector(["1", ""]),
            Value::vector::<&str>([]),
            Value::Number("1e300".parse().expect("a number")),
        ];
        let mut hashes: Vec<u64> = values.iter().map(hash_value).collect();
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), values.len());
    }

    proptest! {
        #[test]
        fn stored_decimals_hash_like_their_number(
            mantissa in any::<i64>(), scale in 0u8..=18, zeros in 0u32..4,
        ) {
            let mantissa = (mantissa / 10_000).saturating_mul(10i64.pow(zeros));
            let number = Number::from(Decimal::new(mantissa.into(), scale).expect("in range"));
            prop_assert_eq!(hash_decimal(mantissa, scale), hash_value(&Value::Number(number)));
        }
    }
}
