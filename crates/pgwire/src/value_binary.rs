//! Values in the binary format of PostgreSQL. Sources: the `send` functions of its types in
//! `src/backend/utils/adt` (`numeric.c`, `timestamp.c`, `arrayfuncs.c`).

use std::sync::Arc;

use bytes::{BufMut, BytesMut};
use hadal_types::{Number, Value};
use jiff::tz::TimeZone;

use crate::column_type::ColumnType;
use crate::value_text::write_value;

/// Microseconds from the Unix epoch to that of PostgreSQL, 2000-01-01.
pub(crate) const EPOCH_MICROS: i64 = 946_684_800_000_000;
/// Decimal digits in one digit of a `numeric`.
pub(crate) const NUMERIC_GROUP: usize = 4;
/// The sign of a negative `numeric`.
pub(crate) const NUMERIC_NEGATIVE: u16 = 0x4000;

/// Appends the value, which is not null, in the binary format of this type. Types whose binary
/// format is their text are written as text.
pub(crate) fn put_value(buffer: &mut BytesMut, value: &Value, column_type: ColumnType) {
    match (column_type, value) {
        (ColumnType::Bool, Value::Bool(truth)) => buffer.put_u8(u8::from(*truth)),
        (ColumnType::Bool, Value::Number(number)) => {
            buffer.put_u8(u8::from(number.to_i64() != Some(0)));
        }
        (ColumnType::Int8, Value::Number(number)) => {
            buffer.put_i64(number.to_i64().unwrap_or_default());
        }
        (ColumnType::Int4, Value::Number(number)) => {
            buffer.put_i32(whole(*number).unwrap_or_default());
        }
        (ColumnType::Oid, Value::Number(number)) => {
            buffer.put_u32(whole(*number).unwrap_or_default());
        }
        (ColumnType::Float8, Value::Number(number)) => buffer.put_f64(number.to_f64()),
        (ColumnType::Numeric, Value::Number(number)) => put_numeric(buffer, *number),
        (ColumnType::Timestamptz, Value::Time(time)) => {
            buffer.put_i64(time.0.saturating_sub(EPOCH_MICROS));
        }
        (ColumnType::TextArray, Value::Set(elements) | Value::Vector(elements)) => {
            put_array(buffer, elements);
        }
        _ => {
            let mut text = String::new();
            write_value(&mut text, value, column_type, &TimeZone::UTC);
            buffer.put_slice(text.as_bytes());
        }
    }
}

fn whole<T: TryFrom<i64>>(number: Number) -> Option<T> {
    number.to_i64().and_then(|number| number.try_into().ok())
}

/// Groups of four decimal digits, the weight of the first group, the sign, and the number of
/// decimal digits after the point.
fn put_numeric(buffer: &mut BytesMut, number: Number) {
    let (mantissa, exponent) = number.digits();
    let mut digits: Vec<u8> = mantissa.unsigned_abs().to_string().into_bytes();
    // Digits after the point, and zeros before it that `digits` lacks.
    let fraction = usize::try_from(exponent.min(0).unsigned_abs()).unwrap_or_default();
    digits.extend(std::iter::repeat_n(b'0', usize::try_from(exponent.max(0)).unwrap_or_default()));
    if digits.len() < fraction {
        digits.splice(0..0, std::iter::repeat_n(b'0', fraction - digits.len()));
    }
    let before_point = digits.len() - fraction;
    // The point is between two groups.
    let lead = (NUMERIC_GROUP - before_point % NUMERIC_GROUP) % NUMERIC_GROUP;
    digits.splice(0..0, std::iter::repeat_n(b'0', lead));
    let tail = (NUMERIC_GROUP - fraction % NUMERIC_GROUP) % NUMERIC_GROUP;
    digits.extend(std::iter::repeat_n(b'0', tail));
    let value = |group: &[u8]| {
        group.iter().fold(0_u16, |value, digit| value * 10 + u16::from(digit - b'0'))
    };
    let groups: Vec<u16> = digits.chunks(NUMERIC_GROUP).map(value).collect();
    let groups_before_point = (before_point + lead) / NUMERIC_GROUP;
    let zeros = groups.iter().take_while(|group| **group == 0).count();
    let end = groups.iter().rposition(|group| *group != 0).map_or(zeros, |last| last + 1);
    let significant = groups.get(zeros..end).unwrap_or_default();
    let weight = i64::try_from(groups_before_point).unwrap_or_default()
        - i64::try_from(zeros).unwrap_or_default()
        - 1;
    let weight = if significant.is_empty() { 0 } else { weight };
    buffer.put_u16(u16::try_from(significant.len()).unwrap_or_default());
    buffer.put_i16(i16::try_from(weight).unwrap_or_default());
    buffer.put_u16(if mantissa < 0 { NUMERIC_NEGATIVE } else { 0 });
    buffer.put_u16(u16::try_from(fraction).unwrap_or_default());
    significant.iter().for_each(|group| buffer.put_u16(*group));
}

/// One dimension of texts without nulls.
fn put_array(buffer: &mut BytesMut, elements: &[Arc<str>]) {
    let count = u32::try_from(elements.len()).unwrap_or_default();
    buffer.put_u32(u32::from(count > 0));
    buffer.put_u32(0);
    buffer.put_u32(ColumnType::Text.oid());
    if count == 0 {
        return;
    }
    buffer.put_u32(count);
    buffer.put_u32(1);
    for element in elements {
        buffer.put_u32(u32::try_from(element.len()).unwrap_or_default());
        buffer.put_slice(element.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn binary(value: &Value, column_type: ColumnType) -> Vec<u8> {
        let mut buffer = BytesMut::new();
        put_value(&mut buffer, value, column_type);
        buffer.to_vec()
    }

    /// The groups, the weight, the sign, and the digits after the point.
    fn numeric(text: &str) -> (Vec<u16>, i16, u16, u16) {
        let number = Value::Number(text.parse().expect("a number"));
        let bytes = binary(&number, ColumnType::Numeric);
        let parts: Vec<u16> =
            bytes.chunks(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]])).collect();
        let weight = i16::from_be_bytes([bytes[2], bytes[3]]);
        assert_eq!(usize::from(parts[0]), parts.len() - 4);
        (parts[4..].to_vec(), weight, parts[2], parts[3])
    }

    #[test]
    fn a_numeric_is_groups_of_four_digits() {
        assert_eq!(numeric("0"), (vec![], 0, 0, 0));
        assert_eq!(numeric("1"), (vec![1], 0, 0, 0));
        assert_eq!(numeric("-12345.678"), (vec![1, 2345, 6780], 1, NUMERIC_NEGATIVE, 3));
        assert_eq!(numeric("0.0001"), (vec![1], -1, 0, 4));
        assert_eq!(numeric("0.00001"), (vec![1000], -2, 0, 5));
        assert_eq!(numeric("10000"), (vec![1], 1, 0, 0));
        assert_eq!(numeric("1e300").0, vec![1]);
        assert_eq!(numeric("1e300").1, 75);
    }

    #[test]
    fn times_count_from_the_year_2000() {
        let time = hadal_types::time::parse_timestamp("2000-01-01T00:00:01Z").expect("a time");
        assert_eq!(
            binary(&Value::Time(time), ColumnType::Timestamptz),
            1_000_000_i64.to_be_bytes()
        );
    }

    #[test]
    fn an_array_has_one_dimension() {
        let bytes = binary(&Value::vector(["ab"]), ColumnType::TextArray);
        assert_eq!(bytes, b"\0\0\0\x01\0\0\0\0\0\0\0\x19\0\0\0\x01\0\0\0\x01\0\0\0\x02ab");
        assert_eq!(binary(&Value::set::<&str>([]), ColumnType::TextArray).len(), 12);
    }
}
