//! The types of PostgreSQL that columns of answers have.
//!
//! | in Hadal | in PostgreSQL |
//! |---|---|
//! | string | `text` |
//! | bool | `boolean` |
//! | time | `timestamp with time zone` |
//! | set, vector | `text[]` |
//! | histogram | `json` |
//! | number: count, length, a field of the calendar | `bigint` |
//! | number: average, percentile, quotient | `double precision` |
//! | any other number | `bigint` if all numbers of the column in the answer are whole and fit, else `double precision` if a double holds each of them exactly, else `numeric` |
//!
//! So an answer never loses digits, and programs get native numbers wherever these suffice. A
//! client that asks for the types of a prepared statement gets them before there are rows: then the
//! last line is `numeric`.

use hadal_frontend::{NumberClass, NumberForm};
use hadal_query::Type;
use hadal_types::Value;

/// A type of PostgreSQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ColumnType {
    Bool,
    Int4,
    Int8,
    Oid,
    Float8,
    Numeric,
    Text,
    Name,
    Char,
    Timestamptz,
    TextArray,
    Json,
}

impl ColumnType {
    /// The number of the type in `pg_type`.
    pub(crate) const fn oid(self) -> u32 {
        match self {
            Self::Bool => 16,
            Self::Char => 18,
            Self::Name => 19,
            Self::Int8 => 20,
            Self::Int4 => 23,
            Self::Text => 25,
            Self::Oid => 26,
            Self::Json => 114,
            Self::Float8 => 701,
            Self::TextArray => 1009,
            Self::Timestamptz => 1184,
            Self::Numeric => 1700,
        }
    }

    /// The bytes of a value, or −1 if they differ.
    pub(crate) const fn length(self) -> i16 {
        match self {
            Self::Bool | Self::Char => 1,
            Self::Int4 | Self::Oid => 4,
            Self::Int8 | Self::Float8 | Self::Timestamptz => 8,
            Self::Name => 64,
            Self::Numeric | Self::Text | Self::TextArray | Self::Json => -1,
        }
    }

    /// The type of a column before its values are known.
    pub(crate) const fn in_advance(value_type: Type, numbers: NumberClass) -> Self {
        match value_type {
            Type::Bool => Self::Bool,
            Type::Number => match numbers {
                NumberClass::Whole => Self::Int8,
                NumberClass::Real => Self::Float8,
                NumberClass::Any => Self::Numeric,
            },
            Type::Time => Self::Timestamptz,
            Type::Null | Type::String => Self::Text,
            Type::Set | Type::Vector => Self::TextArray,
            Type::Histogram => Self::Json,
        }
    }

    /// The type of a column with these values.
    pub(crate) fn of_values<'v>(
        value_type: Type,
        numbers: NumberClass,
        values: impl Iterator<Item = &'v Value>,
    ) -> Self {
        if value_type != Type::Number {
            return Self::in_advance(value_type, numbers);
        }
        match NumberForm::of_values(numbers, values) {
            NumberForm::Whole => Self::Int8,
            NumberForm::Double => Self::Float8,
            NumberForm::Decimal => Self::Numeric,
        }
    }

    /// Whether the type holds the value.
    pub(crate) fn holds(self, value: &Value) -> bool {
        match (self, value) {
            (_, Value::Null) => true,
            (Self::Int8, Value::Number(number)) => number.to_i64().is_some(),
            (Self::Float8 | Self::Numeric, Value::Number(_))
            | (Self::Bool, Value::Bool(_))
            | (Self::Timestamptz, Value::Time(_))
            | (Self::TextArray, Value::Set(_) | Value::Vector(_))
            | (Self::Json, Value::Histogram(_))
            | (Self::Text, _) => true,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(numbers: NumberClass, texts: &[&str]) -> ColumnType {
        let value = |text: &&str| Value::Number(text.parse().expect("a number"));
        let values: Vec<Value> = texts.iter().map(value).chain([Value::Null]).collect();
        let chosen = ColumnType::of_values(Type::Number, numbers, values.iter());
        assert!(values.iter().all(|value| chosen.holds(value)), "{texts:?}");
        chosen
    }

    #[test]
    fn no_digit_is_lost_and_native_numbers_come_first() {
        use ColumnType::{Float8, Int8, Numeric};
        let any = |texts: &[&str]| of(NumberClass::Any, texts);
        assert_eq!(any(&["1", "-9223372036854775808"]), Int8);
        assert_eq!(any(&["1", "0.1"]), Float8);
        assert_eq!(any(&["1e300", "2"]), Float8);
        assert_eq!(any(&["0.12345678901234567890"]), Numeric);
        assert_eq!(any(&["9223372036854775808"]), Numeric, "2^63 has more digits than its double");
        assert_eq!(any(&["9223372036854775809"]), Numeric);
        assert_eq!(any(&["9007199254740993", "0.5"]), Numeric, "2^53 + 1 is no double");
        assert_eq!(any(&["0.5", "9007199254740993"]), Numeric);
        assert_eq!(any(&[]), Int8);
        assert_eq!(of(NumberClass::Whole, &["3"]), Int8);
        assert_eq!(of(NumberClass::Whole, &["3.5"]), Float8, "a fractional weight");
        assert_eq!(of(NumberClass::Real, &["3"]), Float8);
    }

    #[test]
    fn a_type_is_known_in_advance() {
        let of = ColumnType::in_advance;
        assert_eq!(of(Type::Number, NumberClass::Any), ColumnType::Numeric);
        assert_eq!(of(Type::Number, NumberClass::Whole), ColumnType::Int8);
        assert_eq!(of(Type::Null, NumberClass::Any), ColumnType::Text);
        assert_eq!(of(Type::Vector, NumberClass::Any), ColumnType::TextArray);
    }
}
