//! Functions over whole columns of numbers and times.
//!
//! Each returns `None` if its fast form does not apply (another type, an overflow, a literal of
//! finer scale). The caller then uses `query::call` row by row.

use std::cell::Cell;
use std::rc::Rc;

use hadal_query::{Function, TimeField, eval_scalar};
use hadal_types::{Logical, Micros, Number, Value, limits};

use crate::column::bitmaps::both;
use crate::column::column_values::Numbers;
use crate::column::decimals::{DictionaryMantissas, FrameOfReference, MantissaColumn};
use crate::column::wide_division::WideDivision;

/// Whole numbers up to this are doubles.
const WHOLE_DOUBLE_MAX: i64 = 1 << 53;

/// Decimals with a mantissa below this, fifteen digits, are the shortest digits of their doubles.
const DOUBLE_DIGITS_END: i64 = 1_000_000_000_000_000;

/// Applies `function` to a column and a literal, in this order.
pub(crate) fn with_literal(
    numbers: &Numbers,
    function: Function,
    literals: &[&Value],
) -> Option<Numbers> {
    match (function, literals) {
        (Function::Add, [Value::Number(other)]) => shift(numbers, *other, 1),
        (Function::Subtract, [Value::Number(other)]) => shift(numbers, *other, -1),
        (Function::Multiply, [Value::Number(other)]) => multiply(numbers, *other),
        (Function::Divide, [Value::Number(other)]) => divide(numbers, other.to_i64()?),
        (Function::DivideWhole, [Value::Number(other)]) => divide_whole(numbers, other.to_i64()?),
        (Function::Bucket, [Value::Number(width)]) => bucket(numbers, *width),
        (Function::SecondsBetween, [Value::Time(earlier)]) => seconds_since(numbers, *earlier, 1),
        (Function::TimeBucket, [Value::Number(width)]) => time_bucket(numbers, width.to_i64()?, 0),
        (Function::TimeBucket, [Value::Number(width), Value::Number(origin)]) => {
            time_bucket(numbers, width.to_i64()?, origin.to_i64()?)
        }
        (Function::Coalesce, [Value::Number(default)]) => with_default(numbers, *default),
        (Function::Extract(field), []) => extract(numbers, field),
        (Function::AddSeconds, [Value::Number(seconds)]) => {
            if numbers.logical != Logical::Time {
                return None;
            }
            let micros = i64::try_from(exact_at(*seconds, 6)?).ok()?;
            in_range(affine(numbers, 0, Logical::Time, 1, micros)?)
        }
        _ => None,
    }
}

/// Applies `function` to a literal and a column, in this order.
pub(crate) fn of_literal(
    literal: &Value,
    function: Function,
    numbers: &Numbers,
) -> Option<Numbers> {
    match (function, literal) {
        (Function::Add, Value::Number(other)) => shift(numbers, *other, 1),
        (Function::Multiply, Value::Number(other)) => multiply(numbers, *other),
        (Function::SecondsBetween, Value::Time(later)) => seconds_since(numbers, *later, -1),
        (Function::AddSeconds, Value::Time(time)) if numbers.logical == Logical::Plain => {
            if numbers.scale != 0 {
                return None;
            }
            in_range(affine(numbers, 0, Logical::Time, Micros::SECOND, time.0)?)
        }
        _ => None,
    }
}

/// Applies `function` to two columns, row by row.
pub(crate) fn of_columns(left: &Numbers, function: Function, right: &Numbers) -> Option<Numbers> {
    plain(left).and(plain(right))?;
    let checked: fn(i64, i64) -> Option<i64> = match function {
        Function::Add => i64::checked_add,
        Function::Subtract => i64::checked_sub,
        Function::Multiply => i64::checked_mul,
        _ => return None,
    };
    let (scale, factors) = match function {
        Function::Multiply => (left.scale.checked_add(right.scale)?, (1, 1)),
        _ => {
            let scale = left.scale.max(right.scale);
            (scale, (factor(scale - left.scale)?, factor(scale - right.scale)?))
        }
    };
    if scale > limits::DECIMAL_SCALE_MAX {
        return None;
    }
    let rows = left.mantissas.len();
    let valid = both(left.valid.as_ref(), right.valid.as_ref());
    let mantissa = |row: usize| {
        let left = left.mantissas.get(row).checked_mul(factors.0)?;
        checked(left, right.mantissas.get(row).checked_mul(factors.1)?)
    };
    let mut mantissas = Vec::with_capacity(rows);
    for row in 0..rows {
        match mantissa(row) {
            Some(mantissa) => mantissas.push(mantissa),
            None if valid.as_ref().is_some_and(|valid| !valid.get(row)) => mantissas.push(0),
            None => return None,
        }
    }
    let mantissas = MantissaColumn::new(mantissas);
    Some(Numbers { mantissas, scale, logical: Logical::Plain, valid })
}

/// The numbers, and `default` where there is none.
fn with_default(numbers: &Numbers, default: Number) -> Option<Numbers> {
    plain(numbers)?;
    let Some(valid) = &numbers.valid else { return Some(numbers.clone()) };
    let default = i64::try_from(exact_at(default, numbers.scale)?).ok()?;
    let mantissa = |row| if valid.get(row) { numbers.mantissas.get(row) } else { default };
    let mantissas = (0..numbers.mantissas.len()).map(mantissa).collect();
    Some(Numbers { mantissas: MantissaColumn::new(mantissas), valid: None, ..numbers.clone() })
}

/// Returns −x.
pub(crate) fn negate(numbers: &Numbers) -> Option<Numbers> {
    plain(numbers)?;
    map(numbers, numbers.scale, Logical::Plain, i64::checked_neg)
}

fn plain(numbers: &Numbers) -> Option<()> {
    (numbers.logical == Logical::Plain).then_some(())
}

/// Returns the number × 10^scale if that is an integer.
fn exact_at(number: Number, scale: u8) -> Option<i128> {
    number.to_decimal()?.mantissa_at(scale)
}

/// Applies `function` to every mantissa; `None` if it fails for a row that has a value.
pub(super) fn map(
    numbers: &Numbers,
    scale: u8,
    logical: Logical,
    function: impl Fn(i64) -> Option<i64>,
) -> Option<Numbers> {
    let mut failed = false;
    let mut mantissas: Vec<i64> = Vec::with_capacity(numbers.mantissas.len());
    for row in 0..numbers.mantissas.len() {
        let result = function(numbers.mantissas.get(row));
        failed |= result.is_none() && numbers.has(row);
        mantissas.push(result.unwrap_or_default());
    }
    let mantissas = MantissaColumn::new(mantissas);
    (!failed).then(|| Numbers { mantissas, scale, logical, valid: numbers.valid.clone() })
}

/// Returns `factor` × mantissa + `by`. A frame of reference or a dictionary needs no pass over the
/// rows.
fn affine(numbers: &Numbers, scale: u8, logical: Logical, factor: i64, by: i64) -> Option<Numbers> {
    let moved = |mantissa: i64| mantissa.checked_mul(factor)?.checked_add(by);
    if let MantissaColumn::FrameOfReference(reference) = &numbers.mantissas
        && let Some(reference) =
            reference.with(moved(reference.from), reference.step.checked_mul(factor))
    {
        let (mantissas, valid) =
            (MantissaColumn::FrameOfReference(reference), numbers.valid.clone());
        return Some(Numbers { mantissas, scale, logical, valid });
    }
    if let MantissaColumn::Dictionary(DictionaryMantissas { codes, values }) = &numbers.mantissas
        && let Some(values) = values.iter().map(|&value| moved(value)).collect::<Option<Vec<i64>>>()
    {
        let (codes, values) = (Rc::clone(codes), Rc::new(values));
        let (mantissas, valid) = (
            MantissaColumn::Dictionary(DictionaryMantissas { codes, values }),
            numbers.valid.clone(),
        );
        return Some(Numbers { mantissas, scale, logical, valid });
    }
    map(numbers, scale, logical, moved)
}

/// Rounds every mantissa down to `origin` + a multiple of `width`, which is positive.
fn floored(numbers: &Numbers, width: i64, origin: i64) -> Option<Numbers> {
    let Numbers { scale, logical, .. } = *numbers;
    let quotients = match &numbers.mantissas {
        MantissaColumn::FrameOfReference(reference) => {
            reference.quotients(width, origin).map(MantissaColumn::FrameOfReference)
        }
        MantissaColumn::Plain(mantissas) => {
            let rule = WideDivision::new(numbers.mantissas.bounds(), width, origin);
            rule.map(|rule| MantissaColumn::FrameOfReference(rule.quotients(mantissas)))
        }
        MantissaColumn::Dictionary(_) => None,
    };
    let quotients = match quotients {
        Some(mantissas) => Numbers { mantissas, ..numbers.clone() },
        None => map(numbers, scale, logical, |mantissa| {
            Some(mantissa.checked_sub(origin)?.div_euclid(width))
        })?,
    };
    affine(&quotients, scale, logical, width, origin)
}

/// Returns `origin` + quotient × `width` for each quotient.
pub(crate) fn buckets(
    quotients: FrameOfReference,
    scale: u8,
    logical: Logical,
    (width, origin): (i64, i64),
) -> Option<Numbers> {
    let mantissas = MantissaColumn::FrameOfReference(quotients);
    affine(&Numbers { mantissas, scale, logical, valid: None }, scale, logical, width, origin)
}

fn shift(numbers: &Numbers, other: Number, sign: i64) -> Option<Numbers> {
    plain(numbers)?;
    let other = other.to_decimal()?;
    let scale = numbers.scale.max(other.scale());
    if scale > limits::DECIMAL_SCALE_MAX {
        return None;
    }
    let factor = factor(scale - numbers.scale)?;
    let by = i64::try_from(other.mantissa_at(scale)?).ok()?.checked_mul(sign)?;
    affine(numbers, scale, Logical::Plain, factor, by)
}

fn multiply(numbers: &Numbers, other: Number) -> Option<Numbers> {
    plain(numbers)?;
    let (by, other_scale) = other.to_stored()?;
    let scale = numbers.scale.checked_add(other_scale)?;
    if scale > limits::DECIMAL_SCALE_MAX {
        return None;
    }
    affine(numbers, scale, Logical::Plain, by, 0)
}

/// Divides whole numbers by a whole number whose quotients end: 1000, 60,000 not.
///
/// The result is the shortest decimal that rounds to the same double as the quotient. A quotient of
/// at most fifteen digits is that decimal, and then its mantissa is a multiple of the number.
fn divide(numbers: &Numbers, by: i64) -> Option<Numbers> {
    plain(numbers)?;
    if numbers.scale > 0 || by.unsigned_abs() > WHOLE_DOUBLE_MAX.unsigned_abs() {
        return None;
    }
    let mut scales =
        (0..=limits::DECIMAL_SCALE_MAX).filter_map(|scale| Some((scale, factor(scale)?)));
    let (scale, power) = scales.find(|(_, power)| power.checked_rem(by) == Some(0))?;
    let quotients = affine(numbers, scale, Logical::Plain, power / by, 0)?;
    let (first, last) = quotients.mantissas.bounds();
    (first > -DOUBLE_DIGITS_END && last < DOUBLE_DIGITS_END).then_some(quotients)
}

fn divide_whole(numbers: &Numbers, by: i64) -> Option<Numbers> {
    plain(numbers)?;
    let by = by.checked_mul(factor(numbers.scale)?).filter(|&by| by != 0)?;
    map(numbers, 0, Logical::Plain, |mantissa| mantissa.checked_div(by))
}

fn bucket(numbers: &Numbers, width: Number) -> Option<Numbers> {
    plain(numbers)?;
    let width = i64::try_from(exact_at(width, numbers.scale)?).ok().filter(|&width| width > 0)?;
    floored(numbers, width, 0)
}

fn seconds_since(numbers: &Numbers, other: Micros, sign: i64) -> Option<Numbers> {
    if numbers.logical != Logical::Time {
        return None;
    }
    affine(numbers, 6, Logical::Plain, sign, other.0.checked_mul(-sign)?)
}

fn time_bucket(numbers: &Numbers, width: i64, origin: i64) -> Option<Numbers> {
    if numbers.logical != Logical::Time || width <= 0 {
        return None;
    }
    floored(numbers, width, origin)
}

/// Extracts a field of times. The calendar is computed once per run of rows of one day.
fn extract(numbers: &Numbers, field: TimeField) -> Option<Numbers> {
    const HOUR: i64 = 3_600 * Micros::SECOND;
    const DAY: i64 = 24 * HOUR;
    if numbers.logical != Logical::Time {
        return None;
    }
    let of_clock = |scale, function: fn(i64) -> i64| {
        map(numbers, scale, Logical::Plain, |time| Some(function(time)))
    };
    match field {
        TimeField::Hour => of_clock(0, |time| time.rem_euclid(DAY) / HOUR),
        TimeField::Minute => of_clock(0, |time| time.rem_euclid(HOUR) / (60 * Micros::SECOND)),
        TimeField::Second => of_clock(6, |time| time.rem_euclid(60 * Micros::SECOND)),
        TimeField::Millisecond => of_clock(3, |time| time.rem_euclid(60 * Micros::SECOND)),
        TimeField::Epoch => of_clock(6, |time| time),
        TimeField::Year
        | TimeField::Month
        | TimeField::Day
        | TimeField::DayOfWeek
        | TimeField::Quarter
        | TimeField::Week
        | TimeField::IsoYear
        | TimeField::DayOfYear
        | TimeField::IsoDayOfWeek => {
            let cached = Cell::new(None);
            map(numbers, 0, Logical::Plain, |time| {
                let day = time.div_euclid(DAY);
                if let Some((of, value)) = cached.get()
                    && of == day
                {
                    return Some(value);
                }
                let value = eval_scalar(Function::Extract(field), &[Value::Time(Micros(time))]);
                let Ok(Value::Number(number)) = value else { return None };
                let value = number.to_i64()?;
                cached.set(Some((day, value)));
                Some(value)
            })
        }
    }
}

/// Returns `None` if a time is outside the years 1 to 9999: such times are null, which only the
/// row-by-row form supports.
fn in_range(times: Numbers) -> Option<Numbers> {
    let (first, last) = times.mantissas.bounds();
    [first, last].iter().all(|&time| Micros(time).in_range().is_some()).then_some(times)
}

fn factor(exponent: u8) -> Option<i64> {
    10i64.checked_pow(u32::from(exponent))
}

#[cfg(test)]
mod tests {
    use hadal_encoding::Bitmap;
    use hadal_types::Decimal;
    use proptest::prelude::*;

    use super::*;
    use crate::column::filter_numbers;

    fn mantissa() -> impl Strategy<Value = i64> {
        prop_oneof![
            -99i64..99,
            (-999i64..999, 0u32..16).prop_map(|(digits, power)| digits * 10i64.pow(power)),
            (1i64 << 50)..(1 << 54),
            any::<i64>(),
        ]
    }

    fn column(mantissas: &[i64], scale: u8, gap: usize) -> Numbers {
        let valid = Bitmap::from_words(vec![!(1 << gap)], mantissas.len());
        let (mantissas, logical) = (MantissaColumn::new(mantissas.to_vec()), Logical::Plain);
        Numbers { mantissas, scale, logical, valid: Some(Rc::new(valid)) }
    }

    fn value(numbers: &Numbers, row: usize) -> Value {
        if !numbers.has(row) {
            return Value::Null;
        }
        numbers.value_of(numbers.mantissas.get(row))
    }

    proptest! {
        #[test]
        fn quotients_are_those_of_the_slow_form(
            mantissas in prop::collection::vec(mantissa(), 1..9), scale in 0u8..2, gap in 0usize..9,
            by in prop_oneof![
                (1i64..100, 0u32..12).prop_map(|(by, power)| by * 10i64.pow(power)),
                (0u32..63, any::<bool>())
                    .prop_map(|(power, is_negative)| (1 << power) * if is_negative { -1 } else { 1 }),
                Just(0),
            ],
        ) {
            let numbers = column(&mantissas, scale, gap);
            let by = Value::integer(by);
            if let Some(fast) = with_literal(&numbers, Function::Divide, &[&by]) {
                for row in 0..mantissas.len() {
                    let slow = eval_scalar(Function::Divide, &[value(&numbers, row), by.clone()]);
                    prop_assert_eq!(value(&fast, row), slow.expect("no string"));
                }
            }
        }

        #[test]
        fn functions_of_two_columns_are_those_of_the_slow_form(
            rows in prop::collection::vec((mantissa(), mantissa()), 1..9),
            scales in (0u8..=18, 0u8..=18), gaps in (0usize..9, 0usize..9),
        ) {
            let (left, right): (Vec<i64>, Vec<i64>) = rows.iter().copied().unzip();
            let left = column(&left, scales.0, gaps.0);
            let right = column(&right, scales.1, gaps.1);
            let slow = |function, row| {
                let call = eval_scalar(function, &[value(&left, row), value(&right, row)]);
                call.expect("no string")
            };
            for function in [Function::Add, Function::Subtract, Function::Multiply] {
                let Some(fast) = of_columns(&left, function, &right) else { continue };
                for row in 0..rows.len() {
                    prop_assert_eq!(value(&fast, row), slow(function, row), "{:?}", function);
                }
            }
            for function in Function::COMPARISONS {
                let fast = filter_numbers::columns(&left, function, &right).expect("comparable");
                for row in 0..rows.len() {
                    prop_assert_eq!(fast.value(row), slow(function, row), "{:?}", function);
                }
            }
        }
    }

    /// Quotients by which people change units have the fast form.
    #[test]
    fn units_are_changed_without_doubles() {
        let micros = column(&[1, 1_234_567, 86_400_000], 0, 9);
        for by in [1_000, 1_000_000, 1_024, 100, 8, -2] {
            let by = Value::integer(by);
            assert!(with_literal(&micros, Function::Divide, &[&by]).is_some(), "by {by}");
        }
        let millis = with_literal(&micros, Function::Divide, &[&Value::integer(1_000)]);
        let expected = Value::Number(Decimal::new(1_234_567, 3).expect("fits").into());
        assert_eq!(value(&millis.expect("a fast form"), 1), expected);
        assert!(with_literal(&micros, Function::Divide, &[&Value::integer(60)]).is_none());
    }

    #[test]
    fn fields_of_times_are_those_of_the_slow_form() {
        const DAY: i64 = 86_400 * Micros::SECOND;
        let times: Vec<i64> = (-40..40)
            .flat_map(|n| [n * 97 * DAY - 1, n * 97 * DAY, n * 97 * DAY + 45_296_789_012])
            .chain([Micros(0).0, 951_782_400 * Micros::SECOND])
            .collect();
        let numbers = Numbers {
            mantissas: MantissaColumn::new(times.clone()),
            scale: 0,
            logical: Logical::Time,
            valid: None,
        };
        for field in [
            TimeField::Year,
            TimeField::Month,
            TimeField::Day,
            TimeField::Hour,
            TimeField::Minute,
            TimeField::Second,
            TimeField::DayOfWeek,
            TimeField::Epoch,
            TimeField::Quarter,
            TimeField::Week,
            TimeField::IsoYear,
            TimeField::DayOfYear,
            TimeField::IsoDayOfWeek,
            TimeField::Millisecond,
        ] {
            let fast = with_literal(&numbers, Function::Extract(field), &[]).expect("a fast form");
            for (row, &time) in times.iter().enumerate() {
                let slow = eval_scalar(Function::Extract(field), &[Value::Time(Micros(time))]);
                assert_eq!(
                    fast.value_of(fast.mantissas.get(row)),
                    slow.expect("a number"),
                    "{field:?} of {time}"
                );
            }
        }
    }
}
