//! Variances and covariances from the deviations of all values, as fractions of integers.

use hadal_query::AggregateFunction;
use hadal_types::{Number, Value};
use num_bigint::BigInt;

use super::finish::{Cell, NULL, Tolerance, Weighted};

/// Units of a value: no stored decimal and no double has a finer one.
const DECIMAL_DIGITS: u32 = 18;
const DOUBLE_BITS: i32 = 1_074;
/// Decimal digits of a quotient before it is rounded.
const DIGITS: i64 = 60;
/// The error of a square root of a rounded number.
const ROOT_SHARE: f64 = 4.0 * f64::EPSILON;

/// Sums over all events; a row of weight w counts as w events.
struct Deviations {
    /// The sum of the weights, in millionths.
    events: BigInt,
    /// The sums of both values times weight, in millionths of a unit.
    left: BigInt,
    right: BigInt,
    /// The sums of products of deviations, each times the number of events.
    left_squares: BigInt,
    right_squares: BigInt,
    products: BigInt,
}

/// Computes an aggregate of variances or covariances.
pub(super) fn comoments(finish: AggregateFunction, values: &[Weighted]) -> Cell {
    let rows: Option<Vec<(BigInt, BigInt, BigInt)>> = values
        .iter()
        .map(|weighted| {
            let second = if weighted.second.is_null() { &weighted.value } else { &weighted.second };
            Some((BigInt::from(weighted.weight), units(&weighted.value)?, units(second)?))
        })
        .collect();
    let Some(all) = rows.filter(|rows| !rows.is_empty()).map(|rows| Deviations::of(&rows)) else {
        return NULL;
    };
    let cell = |double: Option<f64>| {
        double.and_then(Number::from_f64).map_or(NULL, |number| Cell::exact(Value::Number(number)))
    };
    match finish {
        AggregateFunction::VarPop => cell(all.per_event(&all.left_squares, 0)),
        AggregateFunction::VarSamp => cell(all.per_event(&all.left_squares, 1)),
        AggregateFunction::StddevPop => root(all.per_event(&all.left_squares, 0)),
        AggregateFunction::StddevSamp => root(all.per_event(&all.left_squares, 1)),
        AggregateFunction::CovarPop => cell(all.per_event(&all.products, 0)),
        AggregateFunction::CovarSamp => cell(all.per_event(&all.products, 1)),
        AggregateFunction::Corr => {
            let squares = &all.left_squares * &all.right_squares;
            let share = nearest(&(&all.products * &all.products), &squares).map(f64::sqrt);
            let sign = if all.products < BigInt::ZERO { -1.0 } else { 1.0 };
            let cell = cell(share.map(|share| sign * share));
            Cell { tolerance: Tolerance::Relative(ROOT_SHARE), ..cell }
        }
        AggregateFunction::RegrSlope => cell(nearest(&all.products, &all.right_squares)),
        AggregateFunction::RegrIntercept => {
            let dividend = &all.left * &all.right_squares - &all.products * &all.right;
            cell(nearest(&dividend, &(&all.events * &all.right_squares * unit())))
        }
        _ => unreachable!("{finish:?} is none of variances"),
    }
}

impl Deviations {
    fn of(rows: &[(BigInt, BigInt, BigInt)]) -> Self {
        let sum = |of: &dyn Fn(&(BigInt, BigInt, BigInt)) -> BigInt| rows.iter().map(of).sum();
        let events: BigInt = sum(&|row| row.0.clone());
        let left: BigInt = sum(&|row| &row.0 * &row.1);
        let right: BigInt = sum(&|row| &row.0 * &row.2);
        // Each deviation from the mean, times the number of events.
        let from_left = |row: &(BigInt, BigInt, BigInt)| &row.1 * &events - &left;
        let from_right = |row: &(BigInt, BigInt, BigInt)| &row.2 * &events - &right;
        Self {
            left_squares: sum(&|row| &row.0 * from_left(row) * from_left(row)),
            right_squares: sum(&|row| &row.0 * from_right(row) * from_right(row)),
            products: sum(&|row| &row.0 * from_left(row) * from_right(row)),
            events,
            left,
            right,
        }
    }

    /// Products of deviations divided by the events, or by `fewer` less.
    fn per_event(&self, products: &BigInt, fewer: i64) -> Option<f64> {
        let divisor = &self.events - BigInt::from(fewer * 1_000_000);
        let whole = &self.events * &self.events * &divisor * unit().pow(2);
        if divisor > BigInt::ZERO { nearest(products, &whole) } else { None }
    }
}

fn root(variance: Option<f64>) -> Cell {
    match variance.map(|variance| (variance, Number::from_f64(variance.sqrt()))) {
        None => NULL,
        Some((variance, Some(root))) if variance == 0.0 || variance.is_normal() => {
            let tolerance = Tolerance::Relative(ROOT_SHARE);
            Cell { value: Value::Number(root), tolerance }
        }
        // The variance is out of range, but its root is not.
        Some(_) => Cell { value: Value::Null, tolerance: Tolerance::Open },
    }
}

fn unit() -> BigInt {
    BigInt::from(10).pow(DECIMAL_DIGITS) << DOUBLE_BITS
}

/// The value in units; `None` if it is no number.
fn units(value: &Value) -> Option<BigInt> {
    let number = match value {
        Value::Number(number) => *number,
        Value::Bool(truth) => Number::integer((*truth).into()),
        _ => return None,
    };
    if let Some((mantissa, scale)) = number.to_stored() {
        let finer = DECIMAL_DIGITS - u32::from(scale);
        return Some((BigInt::from(mantissa) * BigInt::from(10).pow(finer)) << DOUBLE_BITS);
    }
    // Any other number counts as its nearest double, which is doubled until it is whole.
    let (mut double, mut bits) = (number.to_f64(), 0);
    while double.fract() != 0.0 {
        (double, bits) = (double * 2.0, bits + 1);
    }
    let whole: BigInt = format!("{double:.0}").parse().ok()?;
    Some((whole * BigInt::from(10).pow(DECIMAL_DIGITS)) << (DOUBLE_BITS - bits))
}

/// The double nearest to the quotient, by its decimal digits; infinite beyond the doubles. `None`
/// if the divisor is zero.
fn nearest(dividend: &BigInt, divisor: &BigInt) -> Option<f64> {
    if *divisor == BigInt::ZERO {
        return None;
    }
    let digits = |number: &BigInt| i64::try_from(number.magnitude().to_string().len()).ok();
    let up = DIGITS + digits(divisor)? - digits(dividend)?;
    let ten = |power: i64| Some(BigInt::from(10).pow(u32::try_from(power.max(0)).ok()?));
    let (dividend, divisor) = (dividend * ten(up)?, divisor * ten(-up)?);
    let (quotient, rest) = (&dividend / &divisor, &dividend % &divisor);
    // Further digits only matter in whether they are all zero.
    let last = u8::from(rest != BigInt::ZERO);
    format!("{quotient}{last}e{}", -up - 1).parse().ok()
}
