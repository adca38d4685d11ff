//! The oracle: the meaning of a query, computed as plainly as possible, one row at a time.
//!
//! Every engine change runs against it on random rows and queries ([`check_seed`]). It keeps all
//! rows, groups them in ordered maps that hold all values, sorts to find quantiles, and computes
//! with decimals of any length ([`exact::Exact`]). It shares the *vocabulary* of `hadal_query` with
//! the engine, but no code: expressions, patterns, arithmetic and the calendar are written again
//! from the documentation. A difference therefore shows an error on either side (memchr's
//! `naive.rs` and redb's `BTreeMap` model are the examples).
//!
//! Each cell says how far the engine may differ ([`finish::Tolerance`]): quantiles and distinct
//! counts beyond the size up to which they are exact, and sums over columns that blocks store as
//! doubles.

mod arithmetic;
mod calendar;
mod check;
mod comoments;
mod compare;
mod evaluate;
pub mod exact;
pub mod finish;
mod functions;
mod group;
mod histogram;
mod math;
mod pattern;
mod prefixes;
mod row;
mod texts;

use std::cmp::Ordering;
use std::collections::BTreeSet;

use hadal_query::{
    Expr, Function, Measure, OrderKey, Query, QueryKind, RowExpr, RowInput, StateKind, Weighting,
};
use hadal_types::{ColumnName, Value, limits};

pub use check::{
    EngineFault, ExpectationCounts, Expected, Produced, check_query, check_seed, query_that_finds,
};
pub use compare::{Difference, compare};
pub use evaluate::Evaluator;
pub use row::Row;

use exact::Exact;
use finish::Cell;
use group::{Group, GroupValues, Groups, RowValues};

/// Why the oracle has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OracleFault {
    /// A regular expression is invalid.
    #[error("pattern refused: {0}")]
    Pattern(String),
    /// A pattern is not a string literal.
    #[error("a pattern must be a string literal")]
    PatternNotLiteral,
    /// A row has a sample rate that ingest refuses.
    #[error("sample_rate {0} is outside 0.000001 to 1000000000")]
    SampleRate(String),
}

/// Kinds of errors that an engine distinguishes as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// The query cannot run as written.
    Invalid,
    /// A row has an invalid weight.
    SampleRate,
    /// A sum is beyond what a number can hold.
    Overflow,
    /// Any other error: never expected.
    Other,
}

impl OracleFault {
    /// The kind of the error.
    #[must_use]
    pub const fn kind(&self) -> FaultKind {
        match self {
            Self::Pattern(_) | Self::PatternNotLiteral => FaultKind::Invalid,
            Self::SampleRate(_) => FaultKind::SampleRate,
        }
    }
}

/// The exact answer, and where an engine may differ from it.
#[derive(Clone, Debug)]
pub struct OracleAnswer {
    /// The rows, in order, after limit and offset.
    pub rows: Vec<OracleRow>,
    /// All rows before HAVING, order, limit and offset, if those depend on values in which an
    /// engine may differ; otherwise empty.
    pub candidates: Vec<OracleRow>,
    /// The part of the answer that is certain.
    pub standing: Standing,
    /// Whether intermediate sums may exceed doubles, so that an error is also correct.
    pub may_overflow: bool,
}

/// One row of the answer.
#[derive(Clone, Debug)]
pub struct OracleRow {
    /// One cell per output.
    pub cells: Vec<Cell>,
    /// The number of rows in the group; 1 for a raw row.
    pub raw_count: u64,
}

/// The part of an answer that is certain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// The rows and their order.
    Certain,
    /// Every row is one of the candidates; the number of rows is certain too.
    AnyOrder,
    /// Every row is one of the candidates.
    AnyRows,
    /// Only the columns: "other" may contain other series.
    Open,
}

/// A row of the answer before it is finished.
struct Line {
    keys: Vec<Value>,
    group: Group,
    order: Vec<Value>,
}

/// Computes the answer of `query` for `rows` with the time column `time_column`.
///
/// # Errors
/// An invalid pattern or sample rate.
pub fn answer(
    rows: &[Row],
    time_column: &ColumnName,
    query: &Query,
) -> Result<OracleAnswer, OracleFault> {
    let evaluator = Evaluator::default();
    let of_row = |row: &Row, expr: &RowExpr| {
        evaluator.value(expr, &|input: &RowInput| row.input(input, time_column))
    };
    let of_all = |row: &Row, exprs: &[RowExpr]| -> Result<Vec<Value>, OracleFault> {
        exprs.iter().map(|expr| of_row(row, expr)).collect()
    };
    let mut asked = Vec::new();
    for row in rows {
        let passes = match &query.filter {
            Some(filter) => of_row(row, filter)? == Value::Bool(true),
            None => true,
        };
        if passes && query.range.contains(row.time) {
            asked.push(row);
        }
    }
    let mut standing = Standing::Certain;
    let mut may_overflow = false;
    let sums_exactly: Vec<bool> =
        query.measures().iter().map(|measure| is_summed_exactly(&measure.argument, rows)).collect();
    let mut lines = Vec::new();
    match &query.kind {
        QueryKind::Rows { values } => {
            for row in asked {
                let mut group = Group::empty(0);
                group.add(row.weight()?, Vec::new());
                lines.push((of_all(row, values)?, group));
            }
        }
        QueryKind::Groups { keys, measures } => {
            let mut groups = Groups::new();
            if keys.is_empty() {
                groups.insert(Vec::new(), Group::empty(measures.len()));
            }
            let mut everything = Group::empty(measures.len());
            for row in asked {
                let values = row_values(measures, row.weight()?, |expr| of_row(row, expr))?;
                everything.add(row.weight()?, values.clone());
                for keys in keys_of(keys, |expr| of_row(row, expr))? {
                    groups
                        .entry(keys)
                        .or_insert_with(|| Group::empty(measures.len()))
                        .add(row.weight()?, values.clone());
                }
            }
            may_overflow = measures
                .iter()
                .zip(&everything.values)
                .any(|(measure, values)| measure.kind == StateKind::Moments && overflows(values));
            lines = limited(groups, query, &evaluator, &sums_exactly, &mut standing)?;
        }
    }
    finished(lines, query, &evaluator, &sums_exactly, standing, may_overflow)
}

/// The groups within the limit of series or prefixes, and the sums of the others.
fn limited(
    groups: Groups,
    query: &Query,
    evaluator: &Evaluator,
    sums_exactly: &[bool],
    standing: &mut Standing,
) -> Result<Vec<(Vec<Value>, Group)>, OracleFault> {
    match (&query.series, query.prefix_key()) {
        (None, _) => Ok(groups.into_iter().collect()),
        (Some(limit), Some(key)) => {
            prefixes::limit(groups, (limit, key), query, evaluator, sums_exactly, standing)
        }
        (Some(limit), None) => {
            group::limit_series(groups, limit, query, evaluator, sums_exactly, standing)
        }
    }
}

/// The keys of the groups that a row is in: one group, unless a list is unnested.
fn keys_of(
    keys: &[RowExpr],
    value: impl Fn(&RowExpr) -> Result<Value, OracleFault>,
) -> Result<BTreeSet<Vec<Value>>, OracleFault> {
    let mut all = BTreeSet::from([Vec::new()]);
    for key in keys {
        let values = match key {
            Expr::Call { function: Function::Unnest, arguments } => match value(&arguments[0])? {
                Value::Set(elements) | Value::Vector(elements) => {
                    elements.iter().map(|element| Value::string(element)).collect()
                }
                _ => Vec::new(),
            },
            Expr::Call { function: Function::Prefixes, arguments } => match value(&arguments[0])? {
                Value::Vector(elements) => {
                    let lengths = 0..=elements.len();
                    lengths.map(|length| Value::vector(&elements[..length])).collect()
                }
                _ => Vec::new(),
            },
            key => vec![value(key)?],
        };
        let longer = |keys: &Vec<Value>| {
            let keys = keys.clone();
            values.iter().map(move |value| [keys.as_slice(), std::slice::from_ref(value)].concat())
        };
        all = all.iter().flat_map(longer).collect();
    }
    Ok(all)
}

/// The weight and the values of one row for each measure, with the other value of a pair.
fn row_values(
    measures: &[Measure],
    weight: i64,
    value: impl Fn(&RowExpr) -> Result<Value, OracleFault>,
) -> Result<Vec<RowValues>, OracleFault> {
    let of_measure = |measure: &Measure| {
        let weight = match measure.weighting {
            Weighting::Events => Some(weight),
            Weighting::SamplingVariance => sampling_variance(weight),
            Weighting::Leaves(_) => None,
        };
        let second = measure.second.as_ref().map(&value).transpose()?;
        Ok((weight, value(&measure.argument)?, second))
    };
    measures.iter().map(of_measure).collect()
}

/// w(w − 1) of a weight in millionths, rounded down; `None` if it is not above zero.
fn sampling_variance(weight: i64) -> Option<i64> {
    let million = 1_000_000;
    let variance = i128::from(weight) * (i128::from(weight) - million) / million;
    let variance = i64::try_from(variance).unwrap_or(i64::MAX).min(1_000_000_000_000_000);
    (variance > 0).then_some(variance)
}

/// Applies HAVING, order, limit, offset and the outputs.
fn finished(
    groups: Vec<(Vec<Value>, Group)>,
    query: &Query,
    evaluator: &Evaluator,
    sums_exactly: &[bool],
    mut standing: Standing,
    may_overflow: bool,
) -> Result<OracleAnswer, OracleFault> {
    let output = |keys: &[Value], group: &Group, expr| {
        let seconds = group::seconds(query, keys);
        GroupValues { keys, group, sums_exactly, seconds }.output(evaluator, expr)
    };
    let row = |line: &Line| -> Result<OracleRow, OracleFault> {
        let cells =
            query.outputs.iter().map(|column| output(&line.keys, &line.group, &column.expr));
        let raw_count = u64::try_from(line.group.rows.len()).unwrap_or(u64::MAX);
        Ok(OracleRow { cells: cells.collect::<Result<_, _>>()?, raw_count })
    };
    let (mut lines, mut left_out) = (Vec::new(), Vec::new());
    for (keys, group) in groups {
        let mut order = Vec::new();
        for key in &query.order {
            let cell = output(&keys, &group, &key.expr)?;
            standing = standing.after(cell.is_exact(), Standing::AnyOrder);
            order.push(cell.value);
        }
        let kept = match &query.having {
            Some(having) => output(&keys, &group, having)?,
            None => Cell::exact(Value::Bool(true)),
        };
        standing = standing.after(kept.is_exact(), Standing::AnyRows);
        let line = Line { keys, group, order };
        if kept.value == Value::Bool(true) { lines.push(line) } else { left_out.push(line) }
    }
    let mut candidates = Vec::new();
    if matches!(standing, Standing::AnyOrder | Standing::AnyRows) {
        candidates = lines.iter().chain(&left_out).map(row).collect::<Result<_, _>>()?;
    }
    lines.sort_by(|left, right| in_order(&query.order, left, right));
    let (offset, limit) = (to_usize(query.offset), to_usize(query.limit));
    let mut rows: Vec<OracleRow> =
        lines.iter().skip(offset).take(limit).map(row).collect::<Result<_, _>>()?;
    if query.totals {
        // Which groups it is over is as uncertain as the rows, and it is no candidate.
        if !candidates.is_empty() {
            standing = Standing::Open;
        }
        rows.push(row(&total_of(&lines, query))?);
    }
    Ok(OracleAnswer { rows, candidates, standing, may_overflow })
}

/// The sum of all lines, with null keys.
fn total_of(lines: &[Line], query: &Query) -> Line {
    let mut group = Group::empty(query.measures().len());
    lines.iter().for_each(|line| group.add_all(&line.group));
    Line { keys: vec![Value::Null; query.keys().len()], group, order: Vec::new() }
}

impl Standing {
    /// Less certain if something is not exact.
    fn after(self, exact: bool, otherwise: Self) -> Self {
        match (exact, self) {
            (true, _) | (_, Self::Open | Self::AnyRows) => self,
            (false, Self::Certain | Self::AnyOrder) => otherwise,
        }
    }
}

/// Compares by the order keys, with nulls where each key says. Ties are ordered by the group keys
/// in ascending order, nulls last.
fn in_order(order: &[OrderKey], left: &Line, right: &Line) -> Ordering {
    for (key, (left, right)) in order.iter().zip(left.order.iter().zip(&right.order)) {
        let ordering = match (left.is_null(), right.is_null(), key.nulls_first) {
            (true, true, _) => Ordering::Equal,
            (true, false, true) | (false, true, false) => Ordering::Less,
            (true, false, false) | (false, true, true) => Ordering::Greater,
            (false, false, _) if key.descending => right.cmp(left),
            (false, false, _) => left.cmp(right),
        };
        if ordering.is_ne() {
            return ordering;
        }
    }
    left.keys.cmp(&right.keys)
}

fn to_usize(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

/// Whether the engine sums the argument as decimals: no block stores one of its columns as doubles,
/// and it has no function that returns doubles.
fn is_summed_exactly(argument: &RowExpr, rows: &[Row]) -> bool {
    if has_quotient(argument) {
        return false;
    }
    let mut exactly = true;
    argument.for_each_leaf(&mut |input| {
        if let RowInput::Column(column) = input {
            exactly &= is_of_one_scale(&column.name, rows);
        }
    });
    exactly
}

fn has_quotient(expr: &RowExpr) -> bool {
    match expr {
        Expr::Literal(_) | Expr::Leaf(_) => false,
        Expr::Call { function, arguments } => {
            *function == Function::Divide || arguments.iter().any(has_quotient)
        }
    }
}

/// Whether 64 bits hold all numbers of the column at one scale.
fn is_of_one_scale(name: &ColumnName, rows: &[Row]) -> bool {
    let mut numbers = Vec::new();
    for row in rows {
        if let Some(Value::Number(number)) = row.cells.get(name) {
            numbers.push(Exact::from_number(*number));
        }
    }
    let scale = numbers.iter().map(Exact::scale).max().unwrap_or(0);
    if scale > usize::from(limits::DECIMAL_SCALE_MAX) {
        return false;
    }
    let unit = Exact::from_integer(1).shifted_down(scale);
    numbers.iter().all(|number| {
        let mantissa = number.divide(&unit).and_then(|(mantissa, _)| mantissa.to_integer());
        mantissa.is_some_and(|mantissa| i64::try_from(mantissa).is_ok())
    })
}

/// Whether the sum of the values' magnitudes exceeds doubles, while the engine sums some of them as
/// doubles.
fn overflows(values: &[finish::Weighted]) -> bool {
    let mut size = Exact::default();
    for weighted in values {
        if let Value::Number(number) = &weighted.value {
            let weight = Exact::from_integer(weighted.weight.into()).shifted_down(6);
            size = size.plus(&Exact::from_number(*number).abs().times(&weight));
        }
    }
    let doubles = values.iter().any(|weighted| finish::is_double(&weighted.value));
    doubles && !size.to_f64().is_finite()
}

#[cfg(test)]
mod agreement;
#[cfg(test)]
mod tests;
