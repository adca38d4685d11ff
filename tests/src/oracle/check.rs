//! The check of one seed: random rows and queries through an engine and through the oracle.

use std::fmt;

use hadal_query::Query;
use hadal_types::{TableSchema, Value};

use super::{FaultKind, Row, answer, compare};
use crate::generate::{self, Facts, Random, derive};

/// An engine's answer.
#[derive(Clone, Debug, Default)]
pub struct Produced {
    /// The answer's rows.
    pub rows: Vec<Vec<Value>>,
    /// The number of the table's rows that each row stands for.
    pub raw_counts: Vec<u64>,
}

/// An engine's error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineFault {
    /// Its kind, which must equal that of the oracle's error.
    pub kind: FaultKind,
    /// The engine's message.
    pub text: String,
}

impl From<String> for EngineFault {
    fn from(text: String) -> Self {
        Self { kind: FaultKind::Other, text }
    }
}

impl fmt::Display for EngineFault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:?}: {}", self.kind, self.text)
    }
}

/// The oracle's expectation for a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// This many rows.
    Rows(usize),
    /// No answer, but an error.
    Fault(FaultKind),
}

/// The number of queries with each expectation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExpectationCounts {
    /// No row.
    pub none: usize,
    /// One row.
    pub one: usize,
    /// At least two rows.
    pub more: usize,
    /// An error.
    pub faults: usize,
}

impl ExpectationCounts {
    /// Counts a query.
    pub fn add(&mut self, expected: Expected) {
        *match expected {
            Expected::Rows(0) => &mut self.none,
            Expected::Rows(1) => &mut self.one,
            Expected::Rows(_) => &mut self.more,
            Expected::Fault(_) => &mut self.faults,
        } += 1;
    }

    /// Adds another count.
    pub fn merge(&mut self, other: Self) {
        self.none += other.none;
        self.one += other.one;
        self.more += other.more;
        self.faults += other.faults;
    }

    /// The percentage of queries that expect at least two rows.
    #[must_use]
    pub fn more_percent(&self) -> usize {
        self.more * 100 / (self.none + self.one + self.more + self.faults).max(1)
    }
}

/// Queries per seed.
const QUERIES: u64 = 8;
/// The percentage of queries that may return any number of rows. Any other query is generated again
/// while it returns fewer than two rows.
const ANY_PERCENT: usize = 8;
/// The maximum number of attempts.
const TRIES: u64 = 20;
/// The rows of the smallest counterexample that are shown.
const ROWS_SHOWN: usize = 12;
/// The maximum number of engine runs in the search for a smaller counterexample.
const SHRINK_RUNS: usize = 400;

/// Runs random queries on the random rows of `seed`.
///
/// # Errors
/// A text with the seed, the query, the first difference, and the fewest rows found that still show
/// a difference.
pub fn check_seed(
    seed: u64,
    mut run_engine: impl FnMut(&[Row], &Query) -> Result<Produced, EngineFault>,
) -> Result<ExpectationCounts, String> {
    let rows = generate::rows(seed, &generate::RowSpec::of_seed(seed));
    let facts = generate::facts(&rows);
    let mut counts = ExpectationCounts::default();
    for index in 0..QUERIES {
        let query = query_that_finds(derive(seed, index), &rows, &facts, generate::query);
        let expected = check_query(&rows, &facts.schema, &query, &mut run_engine)
            .map_err(|text| format!("seed {seed}, query {index}: {text}"))?;
        counts.add(expected);
    }
    Ok(counts)
}

/// Generates queries from seeds derived from this one until a query returns at least two rows, or
/// an error. Some queries are kept whatever they return.
pub fn query_that_finds(
    seed: u64,
    rows: &[Row],
    facts: &Facts,
    make: impl Fn(u64, &Facts) -> Query,
) -> Query {
    let mut query = make(seed, facts);
    if Random::new(derive(seed, 4_000)).percent(ANY_PERCENT) {
        return query;
    }
    let is_poor = |query: &Query| {
        let expected = answer(rows, &facts.schema.time_column, query);
        expected.is_ok_and(|expected| expected.rows.len() < 2)
    };
    for index in 0..TRIES {
        // Queries of no rows return nothing.
        if rows.len() < 2 || !is_poor(&query) {
            break;
        }
        query = make(derive(seed, 5_000 + index), facts);
    }
    query
}

/// Runs one query on these rows; see [`check_seed`].
///
/// # Errors
/// A text with the query, the first difference and the fewest rows that still show one.
pub fn check_query(
    rows: &[Row],
    schema: &TableSchema,
    query: &Query,
    mut run_engine: impl FnMut(&[Row], &Query) -> Result<Produced, EngineFault>,
) -> Result<Expected, String> {
    let first = match compared(rows, schema, query, &mut run_engine) {
        Ok(expected) => return Ok(expected),
        Err(first) => first,
    };
    let differs = |rows: &[Row]| compared(rows, schema, query, &mut run_engine).err();
    let (fewest, last) = shrink(rows.to_vec(), first.clone(), differs);
    let shown: Vec<String> =
        fewest.iter().take(ROWS_SHOWN).map(|row| format!("  {row:?}\n")).collect();
    Err(format!(
        "{first}\n{query:#?}\nof {} rows; {} of them show: {last}\n{}",
        rows.len(),
        fewest.len(),
        shown.concat()
    ))
}

/// Returns the expectation, or how the engine's answer differs from it.
fn compared(
    rows: &[Row],
    schema: &TableSchema,
    query: &Query,
    run_engine: &mut impl FnMut(&[Row], &Query) -> Result<Produced, EngineFault>,
) -> Result<Expected, String> {
    match (answer(rows, &schema.time_column, query), run_engine(rows, query)) {
        (Ok(expected), Ok(produced)) => {
            let compared = compare(&produced.rows, &produced.raw_counts, &expected);
            compared.map_err(|difference| difference.to_string())?;
            Ok(Expected::Rows(expected.rows.len()))
        }
        (Ok(expected), Err(fault))
            if expected.may_overflow && fault.kind == FaultKind::Overflow =>
        {
            Ok(Expected::Fault(fault.kind))
        }
        (Ok(_), Err(fault)) => Err(format!("expected an answer, found the fault {fault}")),
        (Err(fault), Ok(_)) => Err(format!("expected the fault: {fault}, found an answer")),
        (Err(fault), Err(engine_fault)) if fault.kind() == engine_fault.kind => {
            Ok(Expected::Fault(engine_fault.kind))
        }
        (Err(fault), Err(engine_fault)) => Err(format!(
            "expected the fault {:?}: {fault}, found the fault {engine_fault}",
            fault.kind()
        )),
    }
}

/// Removes runs of rows, ever shorter ones, while a difference remains.
fn shrink(
    mut rows: Vec<Row>,
    mut last: String,
    mut differs: impl FnMut(&[Row]) -> Option<String>,
) -> (Vec<Row>, String) {
    let mut runs = 0;
    let mut length = rows.len().div_ceil(2);
    while length > 0 && runs < SHRINK_RUNS {
        let mut start = 0;
        while start < rows.len() && runs < SHRINK_RUNS {
            let mut fewer = rows.clone();
            fewer.drain(start..(start + length).min(rows.len()));
            runs += 1;
            match differs(&fewer) {
                Some(difference) => (rows, last) = (fewer, difference),
                None => start += length,
            }
        }
        length /= 2;
    }
    (rows, last)
}
