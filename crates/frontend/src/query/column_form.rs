//! The types with which columns of answers are sent to clients that have several types of number.
//!
//! An answer never loses digits, and programs get native numbers wherever these suffice: 64-bit
//! integers if all numbers of a column are whole and fit, else doubles if these hold each of them
//! exactly, else decimals.

use hadal_query::Type;
use hadal_types::number::NumberRepr;
use hadal_types::{Number, Value};

use crate::query::number_class::NumberClass;

/// The narrowest type that holds all numbers of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberForm {
    /// 64-bit integers.
    Whole,
    /// Doubles, whose shortest digits are the numbers.
    Double,
    /// Numbers with more digits.
    Decimal,
}

/// The type of a column of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnForm {
    /// Truth values.
    Bool,
    /// 64-bit integers.
    Whole,
    /// Doubles.
    Double,
    /// Decimals of up to 38 digits, this many of them after the point.
    Decimal {
        /// Digits after the point, at most 36.
        scale: u8,
    },
    /// Points in time, to the microsecond, in UTC.
    Time,
    /// Texts.
    Text,
    /// Lists of texts without nulls: sets and vectors.
    Texts,
    /// A histogram, as a JSON array of `[from, to, count]`.
    Histogram,
}

/// Digits of a decimal of 16 bytes.
const DECIMAL_DIGITS: u32 = 38;

impl NumberForm {
    /// The form of a column of numbers with these values.
    pub fn of_values<'v>(class: NumberClass, values: impl Iterator<Item = &'v Value>) -> Self {
        if class == NumberClass::Real {
            return Self::Double;
        }
        let (mut are_whole, mut are_doubles) = (true, true);
        for value in values {
            let Value::Number(number) = value else { continue };
            are_whole = are_whole && number.to_i64().is_some();
            are_doubles = are_doubles && is_double(*number);
            if !are_whole && !are_doubles {
                return Self::Decimal;
            }
        }
        if are_whole { Self::Whole } else { Self::Double }
    }
}

impl ColumnForm {
    /// The form of a column that has these values and no others. Numbers that no decimal holds
    /// beside numbers that no double holds become the nearest doubles.
    pub fn of_values<'v>(
        value_type: Type,
        class: NumberClass,
        values: impl Iterator<Item = &'v Value> + Clone,
    ) -> Self {
        match value_type {
            Type::Bool => Self::Bool,
            Type::Time => Self::Time,
            Type::Null | Type::String => Self::Text,
            Type::Set | Type::Vector => Self::Texts,
            Type::Histogram => Self::Histogram,
            Type::Number => match NumberForm::of_values(class, values.clone()) {
                NumberForm::Whole => Self::Whole,
                NumberForm::Double => Self::Double,
                NumberForm::Decimal => decimal(values),
            },
        }
    }

    /// Whether the form holds the value; any number counts as a double.
    #[must_use]
    pub fn holds(self, value: &Value) -> bool {
        match (self, value) {
            (_, Value::Null)
            | (Self::Double, Value::Number(_))
            | (Self::Bool, Value::Bool(_))
            | (Self::Time, Value::Time(_))
            | (Self::Texts, Value::Set(_) | Value::Vector(_))
            | (Self::Histogram, Value::Histogram(_))
            | (Self::Text, _) => true,
            (Self::Whole, Value::Number(number)) => number.to_i64().is_some(),
            (Self::Decimal { scale }, Value::Number(number)) => {
                Self::mantissa(*number, scale).is_some()
            }
            _ => false,
        }
    }

    /// The number × 10^scale, if a decimal of 38 digits and of that scale is the number.
    #[must_use]
    pub fn mantissa(number: Number, scale: u8) -> Option<i128> {
        let mantissa = number.to_decimal()?.mantissa_at(scale)?;
        (mantissa.unsigned_abs() < 10u128.pow(DECIMAL_DIGITS)).then_some(mantissa)
    }
}

/// The narrowest decimals that hold all numbers.
fn decimal<'v>(values: impl Iterator<Item = &'v Value> + Clone) -> ColumnForm {
    let numbers = values.filter_map(|value| match value {
        Value::Number(number) => Some(*number),
        _ => None,
    });
    let scales = numbers.clone().map(|number| number.to_decimal().map(|decimal| decimal.scale()));
    let scale = scales.collect::<Option<Vec<u8>>>().map(|all| all.into_iter().max().unwrap_or(0));
    match scale {
        Some(scale)
            if numbers.clone().all(|number| ColumnForm::mantissa(number, scale).is_some()) =>
        {
            ColumnForm::Decimal { scale }
        }
        _ => ColumnForm::Double,
    }
}

/// Whether the shortest digits of a double are the number.
fn is_double(number: Number) -> bool {
    match number.form() {
        NumberRepr::Double(_) => true,
        NumberRepr::Decimal(_) => Number::from_f64(number.to_f64()) == Some(number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(texts: &[&str]) -> ColumnForm {
        let value = |text: &&str| Value::Number(text.parse().expect("a number"));
        let values: Vec<Value> = texts.iter().map(value).chain([Value::Null]).collect();
        let form = ColumnForm::of_values(Type::Number, NumberClass::Any, values.iter());
        assert!(values.iter().all(|value| form.holds(value)), "{texts:?}");
        form
    }

    #[test]
    fn numbers_keep_their_digits_in_the_narrowest_form() {
        assert_eq!(of(&["1", "-9223372036854775808"]), ColumnForm::Whole);
        assert_eq!(of(&["1", "0.1"]), ColumnForm::Double);
        assert_eq!(of(&["1e300", "2"]), ColumnForm::Double);
        assert_eq!(of(&["9007199254740993", "0.5"]), ColumnForm::Decimal { scale: 1 });
        assert_eq!(of(&["0.12345678901234567890"]), ColumnForm::Decimal { scale: 19 });
        assert_eq!(of(&["9223372036854775809"]), ColumnForm::Decimal { scale: 0 });
        assert_eq!(of(&["9223372036854775809", "1e300"]), ColumnForm::Double, "no decimal");
        assert_eq!(of(&[]), ColumnForm::Whole);
    }

    #[test]
    fn a_form_holds_only_its_values() {
        let half = Value::Number("0.5".parse().expect("a number"));
        for (form, value, holds) in [
            (ColumnForm::Whole, &half, false),
            (ColumnForm::Decimal { scale: 0 }, &half, false),
            (ColumnForm::Decimal { scale: 1 }, &half, true),
            (ColumnForm::Double, &half, true),
            (ColumnForm::Text, &half, true),
            (ColumnForm::Bool, &half, false),
            (ColumnForm::Bool, &Value::Null, true),
            (ColumnForm::Texts, &Value::vector(["a"]), true),
        ] {
            assert_eq!(form.holds(value), holds, "{form:?} {value:?}");
        }
    }
}
