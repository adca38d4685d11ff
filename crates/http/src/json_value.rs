//! Values as JSON. A reader whose numbers are doubles loses no digit.
//!
//! | value | JSON |
//! |---|---|
//! | integer up to ±2^53, decimal whose digits a double keeps, number that no decimal holds | number |
//! | other integers and decimals | string of their digits |
//! | time | string, RFC 3339 |
//! | set, vector | array of strings |
//! | histogram | array of `[from, to, count]` |

use hadal_types::{Decimal, Number, Value};
use serde::{Serialize, Serializer};

/// A value that is written as JSON.
pub(crate) struct JsonValue<'v>(pub(crate) &'v Value);

/// The JSON of a value, as in answers.
#[must_use]
pub fn json_text(value: &Value) -> String {
    serde_json::to_string(&JsonValue(value)).unwrap_or_default()
}

/// Doubles represent all integers up to this limit exactly.
const WHOLE_MAX: u128 = 1 << 53;
/// Doubles distinguish all decimals below this mantissa: 15 digits (IEEE 754, `DBL_DIG`).
const DIGITS_MAX: u128 = 1_000_000_000_000_000;

impl Serialize for JsonValue<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Null => serializer.serialize_unit(),
            Value::Bool(truth) => serializer.serialize_bool(*truth),
            Value::Number(number) => Digits(*number).serialize(serializer),
            Value::Time(time) => serializer.collect_str(time),
            Value::String(text) => serializer.serialize_str(text),
            Value::Set(texts) | Value::Vector(texts) => {
                serializer.collect_seq(texts.iter().map(|text| &**text))
            }
            Value::Histogram(buckets) => serializer.collect_seq(
                buckets.iter().map(|b| (Digits(b.from), Digits(b.to), Digits(b.count))),
            ),
        }
    }
}

/// A number that is written as JSON.
struct Digits(Number);

impl Serialize for Digits {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // The JSON depends on the number, not on its representation.
        let Some(decimal) = self.0.to_decimal() else {
            return serializer.serialize_f64(self.0.to_f64());
        };
        let small = decimal.mantissa().unsigned_abs() <= WHOLE_MAX;
        match i64::try_from(decimal.mantissa()) {
            Ok(whole) if decimal.is_integer() && small => serializer.serialize_i64(whole),
            _ if !decimal.is_integer() && is_kept(decimal) => {
                serializer.serialize_f64(decimal.to_f64())
            }
            _ => serializer.collect_str(&decimal),
        }
    }
}

/// Returns whether the shortest form of the nearest double has the decimal's digits, here and in
/// other implementations. They may differ: two decimals may have equally few digits and be equally
/// near to the double.
fn is_kept(decimal: Decimal) -> bool {
    if decimal.mantissa().unsigned_abs() < DIGITS_MAX {
        return true;
    }
    let double = decimal.to_f64();
    let written = serde_json::to_string(&double).ok();
    Number::from_f64(double) == Some(decimal.into())
        && written.and_then(|digits| digits.parse().ok()) == Some(Number::from(decimal))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use hadal_types::Micros;
    use hadal_types::value::HistogramBucket;
    use proptest::prelude::*;

    use super::*;

    fn json(value: &Value) -> String {
        serde_json::to_string(&JsonValue(value)).expect("JSON")
    }

    fn decimal(mantissa: i128, scale: u8) -> String {
        let decimal = Decimal::new(mantissa, scale).expect("a decimal");
        json(&Value::Number(decimal.into()))
    }

    #[test]
    fn integers_beyond_doubles_are_strings() {
        for (mantissa, expected) in [
            (0, "0"),
            (-7, "-7"),
            (1 << 53, "9007199254740992"),
            (-(1 << 53), "-9007199254740992"),
            ((1 << 53) + 1, "\"9007199254740993\""),
            ((1 << 53) + 2, "\"9007199254740994\""),
            (-(1 << 53) - 1, "\"-9007199254740993\""),
            (i128::from(u64::MAX), "\"18446744073709551615\""),
            (10i128.pow(19), "\"10000000000000000000\""),
            (10i128.pow(30), "\"1000000000000000000000000000000\""),
        ] {
            assert_eq!(decimal(mantissa, 0), expected);
        }
    }

    #[test]
    fn decimals_that_a_double_loses_are_strings() {
        assert_eq!(decimal(5, 1), "0.5");
        assert_eq!(decimal(1, 1), "0.1");
        assert_eq!(decimal(-125, 2), "-1.25");
        assert_eq!(decimal(1, 20), "1e-20");
        assert_eq!(decimal(12_345_678_901_234_567_890_123, 5), "\"123456789012345678.90123\"");
        assert_eq!(decimal(100_000_000_000_000_000_001, 20), "\"1.00000000000000000001\"");
        assert_eq!(decimal(12_345_678_901_234_567, 1), "\"1234567890123456.7\"");
        // 17 digits that happen to be the shortest of a double.
        assert_eq!(decimal(30_000_000_000_000_004, 17), "0.30000000000000004");
        assert_eq!(decimal(30_000_000_000_000_005, 17), "\"0.30000000000000005\"");
    }

    #[test]
    fn other_values() {
        assert_eq!(json(&Value::Null), "null");
        assert_eq!(json(&Value::Bool(true)), "true");
        assert_eq!(json(&Value::string("a\"\n\u{1}é")), "\"a\\\"\\n\\u0001é\"");
        assert_eq!(json(&Value::Time(Micros(1_500_000))), "\"1970-01-01T00:00:01.5Z\"");
        assert_eq!(json(&Value::set(["b", "a"])), "[\"a\",\"b\"]");
        assert_eq!(json(&Value::vector(["b", "a"])), "[\"b\",\"a\"]");
        assert_eq!(json(&Value::Number("1e300".parse().expect("a number"))), "1e+300");
        let bucket = HistogramBucket {
            from: Number::integer(1),
            to: Decimal::new(25, 1).expect("a decimal").into(),
            count: Number::integer(3),
        };
        assert_eq!(json(&Value::Histogram(Arc::new([bucket]))), "[[1,2.5,3]]");
    }

    #[test]
    fn a_decimal_halfway_to_its_neighbour_keeps_its_digits() {
        for text in ["82772539291838.13", "82772539291838.12", "0.3000000000000000444"] {
            let number: Number = text.parse().expect("a number");
            let written = json(&Value::Number(number));
            assert_eq!(written.trim_matches('"').parse::<Number>(), Ok(number), "{written}");
        }
    }

    proptest! {
        /// A reader that parses numbers as doubles and prints their shortest form gets all digits.
        /// Of two that are equally near, the even one is printed, as JavaScript and Python do.
        #[test]
        fn no_digit_is_lost(
            mantissa in prop_oneof![any::<i64>(), -99_999_999_999_999_999i64..99_999_999_999_999_999],
            scale in 0u8..=18,
        ) {
            let decimal = Decimal::new(mantissa.into(), scale).expect("a decimal");
            let written = json(&Value::Number(decimal.into()));
            let digits = match written.strip_prefix('"') {
                Some(text) => text.trim_end_matches('"').to_owned(),
                None => {
                    let double: f64 = written.parse().expect("a double");
                    serde_json::to_string(&double).expect("digits")
                }
            };
            prop_assert_eq!(digits.parse::<Number>(), Ok(Number::from(decimal)));
            let unquoted = written.trim_matches('"');
            prop_assert_eq!(unquoted.parse::<Number>(), Ok(Number::from(decimal)));
        }
    }
}
