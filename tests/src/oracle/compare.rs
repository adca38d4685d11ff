//! Compares an engine's answer with the oracle's, within each cell's tolerance.

use std::fmt;

use hadal_types::Value;

use super::finish::{Cell, Tolerance};
use super::{OracleAnswer, OracleRow, Standing};

/// The first place where two answers differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Where: a row and a column, or the whole answer.
    pub place: String,
    /// The oracle's value.
    pub expected: String,
    /// The engine's value.
    pub actual: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: expected {}, found {}", self.place, self.expected, self.actual)
    }
}

fn differs(place: &str, expected: impl fmt::Debug, actual: impl fmt::Debug) -> Difference {
    Difference {
        place: place.to_owned(),
        expected: format!("{expected:?}"),
        actual: format!("{actual:?}"),
    }
}

/// Compares an engine's rows, and the number of rows that each stands for, with the oracle's
/// answer.
///
/// # Errors
/// The first difference.
pub fn compare(
    rows: &[Vec<Value>],
    raw_counts: &[u64],
    expected: &OracleAnswer,
) -> Result<(), Difference> {
    if raw_counts.len() != rows.len() {
        return Err(differs("raw counts", rows.len(), raw_counts.len()));
    }
    let certain = matches!(expected.standing, Standing::Certain | Standing::AnyOrder);
    if certain && rows.len() != expected.rows.len() {
        return Err(differs("rows", expected.rows.len(), rows.len()));
    }
    match expected.standing {
        Standing::Open => Ok(()),
        Standing::Certain => {
            for (at, (row, expected)) in rows.iter().zip(&expected.rows).enumerate() {
                compare_row(at, row, raw_counts[at], expected)?;
            }
            Ok(())
        }
        Standing::AnyOrder | Standing::AnyRows => {
            let mut left: Vec<&OracleRow> = expected.candidates.iter().collect();
            for (at, row) in rows.iter().enumerate() {
                let fits = |other: &&OracleRow| compare_row(at, row, raw_counts[at], other).is_ok();
                let Some(position) = left.iter().position(fits) else {
                    return Err(differs(&format!("row {at}"), "a row of any group", row));
                };
                left.swap_remove(position);
            }
            Ok(())
        }
    }
}

fn compare_row(
    at: usize,
    row: &[Value],
    raw_count: u64,
    expected: &OracleRow,
) -> Result<(), Difference> {
    if row.len() != expected.cells.len() {
        return Err(differs(&format!("columns of row {at}"), expected.cells.len(), row.len()));
    }
    for (column, (value, cell)) in row.iter().zip(&expected.cells).enumerate() {
        if !meets(value, cell) {
            return Err(differs(&format!("row {at} column {column}"), cell, value));
        }
    }
    match raw_count == expected.raw_count {
        true => Ok(()),
        false => Err(differs(&format!("raw count of row {at}"), expected.raw_count, raw_count)),
    }
}

fn meets(value: &Value, cell: &Cell) -> bool {
    match &cell.tolerance {
        Tolerance::Open => true,
        Tolerance::Exact => *value == cell.value,
        Tolerance::Relative(share) => is_near(value, &cell.value, |size| share * size),
        Tolerance::RelativeInteger(share) => {
            let is_integer = matches!(value, Value::Number(number) if number.is_integer());
            is_integer && is_near(value, &cell.value, |size| share * size)
        }
        Tolerance::Absolute(distance) => is_near(value, &cell.value, |_| *distance),
    }
}

fn is_near(value: &Value, exact: &Value, distance: impl Fn(f64) -> f64) -> bool {
    match (value, exact) {
        (Value::Number(value), Value::Number(exact)) => {
            let (actual, expected) = (value.to_f64(), exact.to_f64());
            // Subnormal doubles have fewer digits, so a share of one may be less than its last
            // digit.
            value == exact || (actual - expected).abs() <= distance(expected.abs()).max(1e-320)
        }
        _ => value == exact,
    }
}
