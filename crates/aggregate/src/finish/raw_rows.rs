//! Raw rows of a result: they stay columns, sorted and cut already.

use std::sync::Arc;

use hadal_query::{EvalError, Expr, GroupInput, Output, Prepared, Query};
use hadal_types::Value;
use hadal_types::limits::LIMIT_DEFAULT;

use crate::finish::{LINES_AT_ONCE, ResultSet, RowKind, bounds, finish};
use crate::partial::top_rows::TopRows;
use crate::partial::warnings::WarningCode;
use crate::partial::{Partial, PartialBody};
use crate::query_error::{FinishError, invalid, out_of_memory};
use crate::row_columns::RowColumns;
use crate::row_columns::value_column::ValueColumn;

/// As [`finish`], but returns the rows as columns; those of the result set are empty.
///
/// # Errors
/// As [`finish`].
pub fn finish_columns(
    partial: Partial,
    query: &Query,
    is_late: &dyn Fn() -> bool,
) -> Result<(ResultSet, RowColumns), FinishError> {
    if applies(&partial, query) {
        return finish_rows(partial, query, is_late);
    }
    let mut answer = finish(partial, query, is_late)?;
    let rows = RowColumns::of_rows(&std::mem::take(&mut answer.rows), query.outputs.len());
    Ok((answer, rows))
}

/// Whether the result is the rows of the partial result as they are.
pub(super) fn applies(partial: &Partial, query: &Query) -> bool {
    let is_plain = query.having.is_none() && query.confidence.is_none() && !query.totals;
    matches!(partial.body, PartialBody::Rows(_)) && is_plain && partial.errors.is_empty()
}

/// Finishes raw rows as rows.
pub(super) fn finish_boxed(
    partial: Partial,
    query: &Query,
    is_late: &dyn Fn() -> bool,
) -> Result<ResultSet, FinishError> {
    let (mut answer, rows) = finish_rows(partial, query, is_late)?;
    let bytes = rows.bytes_as_rows() + rows.flat_bytes();
    answer.reservation.resize(bytes).map_err(|spent| out_of_memory(bytes, spent))?;
    answer.rows = rows.to_rows();
    drop(rows);
    let bytes = answer.bytes();
    answer.reservation.resize(bytes).map_err(|spent| out_of_memory(bytes, spent))?;
    Ok(answer)
}

fn finish_rows(
    partial: Partial,
    query: &Query,
    is_late: &dyn Fn() -> bool,
) -> Result<(ResultSet, RowColumns), FinishError> {
    let Partial { body, coverage, stats, mut warnings, mut reservation, .. } = partial;
    let rows = match body {
        PartialBody::Rows(rows) => rows,
        PartialBody::Groups(_) => TopRows::new(query).map_err(|error| invalid(&error))?,
    };
    if is_late() {
        return Err(FinishError::Late);
    }
    let end = query.offset.saturating_add(query.limit);
    let beyond = stats.rows_matched.saturating_sub(end);
    // A client that sets a lower limit knows that there may be more rows.
    if beyond > 0 && query.limit >= LIMIT_DEFAULT {
        warnings.add(WarningCode::LimitReached, "", beyond);
    }
    // Sorting copies the rows.
    let bytes = rows.flat_bytes();
    let needed = reservation.bytes() + bytes;
    reservation.grow(bytes).map_err(|spent| out_of_memory(needed, spent))?;
    let mut rows = rows.into_columns();
    let (offset, _) = bounds(query);
    if offset > 0 {
        let last = u32::try_from(rows.rows()).unwrap_or(u32::MAX);
        let first = u32::try_from(offset).unwrap_or(u32::MAX).min(last);
        rows = rows.gather(&(first..last).collect::<Vec<u32>>());
    }
    let mut columns = Vec::with_capacity(query.outputs.len());
    for output in &query.outputs {
        columns.push(computed(output, query, &rows, is_late)?);
    }
    if let Some(error) = query.functions.failure() {
        return Err(EvalError::from(error).into());
    }
    let rows = RowColumns::of_columns(rows.rows(), columns);
    let bytes = rows.bytes();
    reservation.resize(bytes).map_err(|spent| out_of_memory(bytes, spent))?;
    let columns = query.outputs.iter().map(|output| (output.name.clone(), output.value_type));
    let answer = ResultSet {
        columns: columns.collect(),
        rows: Vec::new(),
        raw_counts: vec![1; rows.rows()],
        intervals: Vec::new(),
        kinds: vec![RowKind::Group; rows.rows()],
        coverage,
        stats,
        warnings: warnings.iter().collect(),
        reservation,
    };
    Ok((answer, rows))
}

/// The column of an output.
fn computed(
    output: &Output,
    query: &Query,
    rows: &RowColumns,
    is_late: &dyn Fn() -> bool,
) -> Result<Arc<ValueColumn>, FinishError> {
    if let Expr::Leaf(GroupInput::Key(index)) = output.expr
        && let Some(column) = rows.columns().get(index)
    {
        return Ok(Arc::clone(column));
    }
    let prepared = Prepared::with_functions(&output.expr, &query.functions);
    let prepared = prepared.map_err(|error| invalid(&error))?;
    let mut column = ValueColumn::nulls(0);
    for row in 0..rows.rows() {
        if row % LINES_AT_ONCE == 0 && is_late() {
            return Err(FinishError::Late);
        }
        let slot = |slot: &GroupInput| match slot {
            GroupInput::Key(index) => rows.value(row, *index),
            _ => Value::Null,
        };
        column.put(row, prepared.value(&slot)?);
    }
    Ok(Arc::new(column))
}
