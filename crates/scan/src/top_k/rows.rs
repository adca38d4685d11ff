//! Offers the raw rows of one block to the best rows so far.
//!
//! A query's order is total: first by its ORDER BY, then by all values. Candidates of a block are
//! found by one value after another, as long as rows tie. Only the candidates have all values
//! decoded, as columns.

use hadal_aggregate::{RowColumns, TopRows, out_of_memory};
use hadal_block::BlockView;
use hadal_query::Function;
use hadal_types::MemoryReservation;

use crate::column::lazy_columns::LazyColumns;
use crate::column::selection::Selection;
use crate::expr::eval::eval;
use crate::expr::plan::{PreparedExpr, PreparedQuery};
use crate::expr::zone_map;
use crate::scan_memory::Interrupt;
use crate::top_k::gathered_column::gathered;
use crate::top_k::sort_ranks::ranks;

/// Whether the zones show that no row of the block can be among the best.
pub(crate) fn is_beaten(plan: &PreparedQuery, block: &BlockView<'_>, best: &TopRows) -> bool {
    let bar = bar(plan, best);
    best.rows_max() == 0 || bar.is_some_and(|bar| zone_map::can_skip(block, &[bar]))
}

/// The granularity of reservations for rows, in bytes.
const HELD_AT_ONCE: usize = 256 << 10;
/// The maximum bytes of decoded columns that are kept for later blocks' rows.
const DECODED_BYTES_MAX: usize = 4 << 20;

/// Adds the selected rows of one block that are among the best.
///
/// # Errors
/// [`Interrupt`]; then `best` is unchanged, unless memory for the rows ran out.
pub(crate) fn add(
    plan: &PreparedQuery,
    columns: &LazyColumns<'_, '_>,
    selection: &Selection,
    best: &mut TopRows,
    held: &mut MemoryReservation,
) -> Result<(), Interrupt> {
    let memory = columns.memory();
    let mark = memory.mark();
    let mut selection = selection.clone();
    if let Some(bar) = bar(plan, best) {
        let reached = eval(&bar, columns, &selection)?;
        selection.narrow(&reached.truths(columns.rows()).yes);
        drop(reached);
        memory.forget(mark);
    }
    let rows = candidates(plan, columns, &selection, best)?;
    if rows.is_empty() {
        return Ok(());
    }
    let kept = Selection::of(columns.rows(), &rows);
    if !memory.is_splitting() {
        columns.want(&kept);
    }
    let mut all = Vec::with_capacity(plan.keys.len());
    let mut bytes = best.bytes();
    let mark = memory.mark();
    for value in &plan.keys {
        let values = eval(value, columns, &kept)?;
        all.push(gathered(&values, &rows, &mut |more| {
            bytes += more;
            hold(bytes, held)
        })?);
        drop(values);
        memory.forget(mark);
        // Limits the decoded columns of a wide table.
        if memory.decoded() > DECODED_BYTES_MAX {
            columns.drop_decoded();
        }
    }
    best.add_columns(RowColumns::new(rows.len(), all))?;
    Ok(())
}

/// The selected rows that may be among the best.
fn candidates(
    plan: &PreparedQuery,
    columns: &LazyColumns<'_, '_>,
    selection: &Selection,
    best: &TopRows,
) -> Result<Vec<u32>, Interrupt> {
    if selection.count() <= best.rows_max().saturating_sub(best.len()) {
        return Ok(selection.to_rows().to_vec());
    }
    let mut rows = best_first(plan, columns, selection, best)?;
    if let Some((first, _)) = best.comparison().by.first().filter(|_| !best.is_empty()) {
        let mark = columns.memory().mark();
        let values = eval(&plan.keys[*first], columns, &Selection::of(columns.rows(), &rows))?;
        let firsts = rows.iter().map(|&row| values.value(row as usize));
        rows.truncate(best.could_keep_of(firsts));
        drop(values);
        columns.memory().forget(mark);
    }
    Ok(rows)
}

/// Reserves at least `bytes`.
fn hold(bytes: usize, held: &mut MemoryReservation) -> Result<(), Interrupt> {
    if bytes <= held.bytes() {
        return Ok(());
    }
    let bytes = bytes.next_multiple_of(HELD_AT_ONCE);
    Ok(held.resize(bytes).map_err(|spent| out_of_memory(bytes, spent))?)
}

/// A condition that holds for every row that can be among the best; `None` while fewer rows than
/// needed are known. Rows that tie with the worst row meet it.
fn bar(plan: &PreparedQuery, best: &TopRows) -> Option<PreparedExpr> {
    let worst = best.bar()?;
    let (index, direction) = best.comparison().by.first()?;
    let value = || plan.keys[*index].clone();
    let is_null = || PreparedExpr::Call { function: Function::IsNull, arguments: vec![value()] };
    if worst.is_null() {
        return direction.nulls_first.then(is_null);
    }
    let reaches = PreparedExpr::Call {
        function: match direction.descending {
            true => Function::GreaterOrEqual,
            false => Function::LessOrEqual,
        },
        arguments: vec![value(), PreparedExpr::Literal(worst)],
    };
    Some(match direction.nulls_first {
        true => PreparedExpr::Call { function: Function::Or, arguments: vec![is_null(), reaches] },
        false => reaches,
    })
}

/// The selected rows that can be among the best of their block, ordered by the first sort value.
fn best_first(
    plan: &PreparedQuery,
    columns: &LazyColumns<'_, '_>,
    selection: &Selection,
    best: &TopRows,
) -> Result<Vec<u32>, Interrupt> {
    let comparison = best.comparison();
    let ranked = |(index, direction), rows: Vec<u32>| -> Result<Vec<(i128, u32)>, Interrupt> {
        let mark = columns.memory().mark();
        let values = eval(&plan.keys[index], columns, &Selection::of(columns.rows(), &rows))?;
        let ranks = ranks(&values, direction, &rows);
        drop(values);
        columns.memory().forget(mark);
        Ok(ranks.into_iter().zip(rows).collect())
    };
    let (mut chosen, mut tied) = (Vec::new(), selection.to_rows().to_vec());
    for &by in &comparison.by {
        let memory = best.rows_max() - chosen.len();
        if tied.len() <= memory {
            break;
        }
        let mut rows = ranked(by, std::mem::take(&mut tied))?;
        let edge = rows.select_nth_unstable(memory).1.0;
        chosen.extend(rows.iter().filter(|(rank, _)| *rank < edge).map(|(_, row)| *row));
        tied.extend(rows.iter().filter(|(rank, _)| *rank == edge).map(|(_, row)| *row));
    }
    if comparison.is_whole {
        tied.truncate(best.rows_max() - chosen.len());
    }
    chosen.append(&mut tied);
    let Some(&first) = comparison.by.first() else { return Ok(chosen) };
    let mut rows = ranked(first, chosen)?;
    rows.sort_unstable();
    Ok(rows.into_iter().map(|(_, row)| row).collect())
}
