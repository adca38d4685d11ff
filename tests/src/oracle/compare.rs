//! Whether an engine's answer is the oracle's, as near as each cell asks.

use std::fmt;

use hadal_types::value::HistogramBucket;
use hadal_types::{Number, Value, limits};

use super::exact::Exact;
use super::finish::{Cell, HISTOGRAM_SHARE, Tolerance, Weighted};
use super::{OracleAnswer, OracleRow, Standing};

/// The first place where two answers differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Where: a row and a column, or the whole answer.
    pub place: String,
    /// What the oracle says.
    pub expected: String,
    /// What the engine says.
    pub found: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: expected {}, found {}", self.place, self.expected, self.found)
    }
}

fn differs(place: &str, expected: impl fmt::Debug, found: impl fmt::Debug) -> Difference {
    Difference {
        place: place.to_owned(),
        expected: format!("{expected:?}"),
        found: format!("{found:?}"),
    }
}

/// Compares an engine's rows, and how many rows each stands for, with the oracle's answer.
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
                let Some(found) = left.iter().position(fits) else {
                    return Err(differs(&format!("row {at}"), "a row of any group", row));
                };
                left.swap_remove(found);
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
        Tolerance::Absolute(distance) => is_near(value, &cell.value, |_| *distance),
        Tolerance::Histogram(values, buckets) => match value {
            Value::Histogram(found) => is_histogram(found, values, *buckets),
            other => values.is_empty() && other.is_null(),
        },
    }
}

fn is_near(value: &Value, exact: &Value, distance: impl Fn(f64) -> f64) -> bool {
    match (value, exact) {
        (Value::Number(value), Value::Number(exact)) => {
            let (found, wanted) = (value.to_f64(), exact.to_f64());
            // Where doubles have fewer digits, a share of one is less than the last of them.
            value == exact || (found - wanted).abs() <= distance(wanted.abs()).max(1e-320)
        }
        _ => value == exact,
    }
}

/// Adjacent buckets that hold all of the weight, each of them what lies between its edges; an
/// edge of a sketch may be off by as much as its log buckets are wide.
fn is_histogram(found: &[HistogramBucket], values: &[Weighted], buckets_max: usize) -> bool {
    let share = if values.len() <= limits::QUANTILE_EXACT_ROWS { 0.0 } else { HISTOGRAM_SHARE };
    let adjacent = found.windows(2).all(|pair| pair[0].to == pair[1].from);
    let ascending = found.iter().all(|bucket| bucket.from <= bucket.to);
    if found.len() > buckets_max || !adjacent || !ascending {
        return false;
    }
    let Some(last) = found.len().checked_sub(1) else { return values.is_empty() };
    let mut below = Exact::default();
    let starts = found.iter().enumerate().all(|(at, bucket)| {
        // Nothing may lie below the first bucket.
        let held = is_held(&below, bucket.from, values, share, false);
        below = below.plus(&Exact::from_number(bucket.count));
        held && (at < last || is_held(&below, bucket.to, values, share, true))
    });
    let all = values.iter().map(|weighted| i128::from(weighted.weight)).sum();
    starts && below == Exact::from_integer(all).shifted_down(6)
}

/// Whether `below` can be the weight of the values below `edge`, or up to it.
fn is_held(below: &Exact, edge: Number, values: &[Weighted], share: f64, up_to: bool) -> bool {
    let weight_below = |holds: &dyn Fn(&Number) -> bool| {
        let weights = values.iter().map(|weighted| match &weighted.value {
            Value::Number(number) if holds(number) => i128::from(weighted.weight),
            _ => 0,
        });
        Exact::from_integer(weights.sum()).shifted_down(6)
    };
    if share == 0.0 {
        let inside = |number: &Number| *number < edge || (up_to && *number == edge);
        return *below == weight_below(&inside);
    }
    let (edge, slack) = (edge.to_f64(), edge.to_f64().abs() * share);
    let least = weight_below(&|number| number.to_f64() < edge - slack);
    let most = weight_below(&|number| number.to_f64() <= edge + slack);
    least <= *below && *below <= most
}
