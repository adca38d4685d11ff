//! One seed, one check: random rows and queries through an engine and through the oracle.

use hadal_query::Query;
use hadal_types::{TableSchema, Value};

use super::{Row, answer, compare};
use crate::generate;

/// What an engine answers.
#[derive(Clone, Debug, Default)]
pub struct Produced {
    /// The answer's rows.
    pub rows: Vec<Vec<Value>>,
    /// How many rows of the table each stands for.
    pub raw_counts: Vec<u64>,
}

/// Queries that are asked of the rows of one seed.
const QUERIES: u64 = 8;
/// Rows of the smallest counterexample that are shown.
const ROWS_SHOWN: usize = 12;
/// Runs of the engine that looking for a smaller counterexample may take.
const SHRINK_RUNS: usize = 400;

/// Asks random queries of the random rows of `seed`.
///
/// # Errors
/// A text that names the seed, the query, the first difference, and the fewest rows that were
/// found to still show a difference.
pub fn check_seed(
    seed: u64,
    mut run_engine: impl FnMut(&[Row], &Query) -> Result<Produced, String>,
) -> Result<(), String> {
    let rows = generate::rows(seed, &generate::RowSpec::of_seed(seed));
    let schema = generate::schema(&rows);
    for index in 0..QUERIES {
        let query = generate::query(generate::derive(seed, index), &schema);
        check_query(&rows, &schema, &query, &mut run_engine)
            .map_err(|text| format!("seed {seed}, query {index}: {text}"))?;
    }
    Ok(())
}

/// Asks one query of these rows; see [`check_seed`].
///
/// # Errors
/// A text with the query, the first difference and the fewest rows that still show one.
pub fn check_query(
    rows: &[Row],
    schema: &TableSchema,
    query: &Query,
    mut run_engine: impl FnMut(&[Row], &Query) -> Result<Produced, String>,
) -> Result<(), String> {
    let mut differs = |rows: &[Row]| difference(rows, schema, query, &mut run_engine);
    let Some(first) = differs(rows) else { return Ok(()) };
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

fn difference(
    rows: &[Row],
    schema: &TableSchema,
    query: &Query,
    run_engine: &mut impl FnMut(&[Row], &Query) -> Result<Produced, String>,
) -> Option<String> {
    match (answer(rows, &schema.time_column, query), run_engine(rows, query)) {
        (Ok(expected), Ok(produced)) => {
            let compared = compare(&produced.rows, &produced.raw_counts, &expected);
            compared.err().map(|difference| difference.to_string())
        }
        (Ok(expected), Err(_)) if expected.may_overflow => None,
        (Ok(_), Err(fault)) => Some(format!("expected an answer, found the fault: {fault}")),
        (Err(fault), Ok(_)) => Some(format!("expected the fault: {fault}, found an answer")),
        (Err(_), Err(_)) => None,
    }
}

/// Leaves out runs of rows, ever shorter ones, for as long as a difference remains.
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
