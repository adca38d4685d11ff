//! Processes the selected rows of one block: all at once, or in pieces if their values are large.
//!
//! A piece is half of the rows, a quarter, and so on, until its computed values fit the limit of
//! one piece.

use std::rc::Rc;

use hadal_aggregate::{Partial, PartialBody};
use hadal_encoding::Bitmap;
use hadal_query::Query;

use crate::aggregate::{block, unnest};
use crate::column::bitmaps::filled;
use crate::column::lazy_columns::LazyColumns;
use crate::column::selection::Selection;
use crate::expr::eval::eval;
use crate::expr::plan::{PreparedExpr, PreparedQuery};
use crate::scan_memory::Interrupt;
use crate::top_k::rows;

/// Adds the selected rows of blocks to the partial results of one query.
pub(crate) struct PiecewiseAdder<'s> {
    pub(crate) query: &'s Query,
    pub(crate) plan: &'s PreparedQuery,
    /// Whether values may be taken from zones.
    pub(crate) use_zones: bool,
}

impl PiecewiseAdder<'_> {
    /// Adds the selected rows: all at once, or in pieces if their values are large. Pieces go to a
    /// partial result of their own first, so that nothing is added if a later piece cannot be read.
    pub(crate) fn add(
        &self,
        columns: &LazyColumns<'_, '_>,
        selection: &Selection,
        partial: &mut Partial,
    ) -> Result<(), Interrupt> {
        match self.add_piece(columns, selection, partial) {
            Err(Interrupt::TooManyBytes) => {}
            added => return added,
        }
        columns.memory().split_rows();
        // Some columns may have been decoded for the best rows only.
        columns.want(selection);
        columns.drop_decoded();
        let mut pieces =
            Partial { reservation: partial.reservation.new_empty(), ..Partial::empty(self.query) };
        self.add_pieces(columns, selection, &mut pieces)?;
        partial.merge(pieces);
        Ok(())
    }

    fn add_pieces(
        &self,
        columns: &LazyColumns<'_, '_>,
        selection: &Selection,
        partial: &mut Partial,
    ) -> Result<(), Interrupt> {
        let mark = columns.memory().mark();
        match self.add_piece(columns, selection, partial) {
            Err(Interrupt::TooManyBytes) if selection.count() > 1 => {}
            added => return added,
        }
        columns.memory().forget(mark);
        let halves = selection.halves();
        halves.iter().try_for_each(|half| self.add_pieces(columns, half, partial))
    }

    fn add_piece(
        &self,
        columns: &LazyColumns<'_, '_>,
        selection: &Selection,
        partial: &mut Partial,
    ) -> Result<(), Interrupt> {
        let Partial { body, reservation, .. } = partial;
        match (body, self.plan.unnested) {
            (PartialBody::Groups(_), Some(unnested)) => {
                // The rows are added several times, so they are merged once all of them were.
                let reservation = reservation.new_empty();
                let mut added = Partial { reservation, ..Partial::empty(self.query) };
                unnest::add(self.query, self.plan, unnested, columns, selection, &mut added)?;
                partial.merge(added);
            }
            (PartialBody::Groups(groups), None) => {
                block::add(self.query, self.plan, columns, selection, groups, self.use_zones)?;
            }
            (PartialBody::Rows(best), _) => {
                rows::add(self.plan, columns, selection, best, reservation)?
            }
        }
        columns.memory().forget(0);
        if columns.memory().is_splitting() {
            partial.try_hold(usize::MAX)?;
            columns.memory().go_on()?;
        }
        Ok(())
    }
}

/// Returns the rows of `selection` that meet all `conditions`.
pub(crate) fn filter_rows(
    mut selection: Selection,
    conditions: &[PreparedExpr],
    columns: &LazyColumns<'_, '_>,
) -> Result<Selection, Interrupt> {
    for condition in conditions {
        if selection.count() == 0 {
            break;
        }
        columns.want(&selection);
        let yes = met(condition, columns, &selection)?;
        selection.narrow(&yes);
    }
    Ok(selection)
}

/// Returns the rows of `selection` where the condition is true. Evaluates in pieces if its values
/// are large.
fn met(
    condition: &PreparedExpr,
    columns: &LazyColumns<'_, '_>,
    selection: &Selection,
) -> Result<Bitmap, Interrupt> {
    let memory = columns.memory();
    let mark = memory.mark();
    match eval(condition, columns, selection) {
        Ok(values) => {
            let yes = values.truths(columns.rows()).yes;
            drop(values);
            memory.forget(mark);
            return Ok(Rc::unwrap_or_clone(yes));
        }
        Err(Interrupt::TooManyBytes) if selection.count() > 1 => {}
        Err(interrupt) => return Err(interrupt),
    }
    memory.go_on()?;
    memory.split_rows();
    let mut all = filled(columns.rows(), false);
    for half in selection.halves() {
        let mut yes = met(condition, columns, &half)?;
        half.chosen().into_iter().for_each(|chosen| yes.and(chosen));
        all.or(&yes);
    }
    Ok(all)
}

#[cfg(test)]
mod tests;
