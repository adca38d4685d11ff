//! The scan of one query, block by block.

use std::sync::Arc;

use hadal_aggregate::{Partial, PartialBody, QueryError, WarningCode};
use hadal_block::{BlockError, BlockView, ColumnView};
use hadal_query::{Function, Query, RowInput};
use hadal_types::limits::PIECE_BYTES_MAX;
use hadal_types::{ColumnName, Kind, Value};

use crate::column::interner::{Checked, Holder};
use crate::column::lazy_columns::Columns;
use crate::column::selection::Selection;
use crate::expr::plan::{Plan, PlanError, PlanExpr};
use crate::expr::visible_kinds::{SeenColumns, Unseen, seen_by};
use crate::expr::zone_map;
use crate::piecewise::narrowed;
use crate::scan_memory::{Halt, Room};
use crate::top_k::rows;

/// Why a block was not looked at.
#[derive(Debug, thiserror::Error)]
pub enum Unlooked {
    /// Its bytes are damaged.
    #[error(transparent)]
    Damaged(#[from] BlockError),
    /// The query fails: an expression computes too long a string, or there is no room for what is
    /// computed or found.
    #[error("{}", _0.message)]
    Failed(Box<QueryError>),
    /// Nobody waits for the answer any more.
    #[error("nobody waits for the answer any more")]
    Over,
}

/// In which order blocks are best looked at, so that later ones can be skipped. The answer is the
/// same for every order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockOrder {
    /// All are the same to the query.
    Any,
    /// By their last times, descending.
    NewestFirst,
    /// By their first times, ascending.
    OldestFirst,
}

/// A query made ready to be run over row blocks. Made once per query and leaf.
#[derive(Debug)]
pub struct Scan {
    pub(crate) query: Arc<Query>,
    pub(crate) plan: Plan,
    seen: SeenColumns,
    pub(crate) use_zones: bool,
    /// Bytes of values that are computed at a time.
    piece_bytes_max: usize,
}

impl Scan {
    /// Makes `query` ready.
    ///
    /// # Errors
    /// When an expression is nested too deep or a pattern is refused.
    pub fn new(query: Arc<Query>) -> Result<Self, PlanError> {
        let plan = Plan::new(&query)?;
        let seen = seen_by(&query);
        Ok(Self { query, plan, seen, use_zones: true, piece_bytes_max: PIECE_BYTES_MAX })
    }

    /// The same, but no value is taken from a zone instead of from rows: to measure what reading
    /// them takes. Zones still tell which blocks have no row to look at.
    #[must_use]
    pub fn without_zone_answers(self) -> Self {
        Self { use_zones: false, ..self }
    }

    /// The same, but so many bytes of values are computed at a time: to test that pieces come to what
    /// all rows at once do.
    #[must_use]
    pub fn in_pieces_of(self, bytes: usize) -> Self {
        Self { piece_bytes_max: bytes, ..self }
    }

    /// In which order blocks are best looked at.
    #[must_use]
    pub fn block_order(&self) -> BlockOrder {
        let PartialBody::Rows(best) = Partial::empty(&self.query).body else {
            return BlockOrder::Any;
        };
        match best.comparison().by.first() {
            Some((index, direction)) if self.plan.keys[*index].is_time() => {
                match direction.descending {
                    true => BlockOrder::NewestFirst,
                    false => BlockOrder::OldestFirst,
                }
            }
            _ => BlockOrder::Any,
        }
    }

    /// Adds the rows of one block to `partial`.
    ///
    /// `check` is called with the index of each row block column that is needed and the column,
    /// before a value of it is used; it verifies the checksum where that has not been done.
    ///
    /// # Errors
    /// As [`Self::block_of`].
    pub fn block<'a>(
        &self,
        block: &BlockView<'a>,
        check: &dyn Fn(usize, &ColumnView<'a>) -> Result<(), BlockError>,
        partial: &mut Partial,
    ) -> Result<(), Unlooked> {
        self.block_of(block, &Checked(check), partial)
    }

    /// The same with all that the block's holder knows.
    ///
    /// # Errors
    /// [`Unlooked`]; the partial then holds nothing of the block.
    pub fn block_of<'a>(
        &self,
        block: &BlockView<'a>,
        holder: &dyn Holder<'a>,
        partial: &mut Partial,
    ) -> Result<(), Unlooked> {
        let is_over = || holder.is_over();
        let room = Room::new(&partial.reservation, self.piece_bytes_max, &is_over);
        self.add_block(block, holder, &room, partial).map_err(|halt| match halt {
            Halt::Damaged(error) => Unlooked::Damaged(error),
            Halt::Over => Unlooked::Over,
            Halt::Failed(fault) => Unlooked::Failed(fault),
            Halt::TooMany => Unlooked::Failed(Box::new(room.too_much_of_one_row())),
        })
    }

    fn add_block<'a>(
        &self,
        block: &BlockView<'a>,
        holder: &dyn Holder<'a>,
        room: &Room<'_>,
        partial: &mut Partial,
    ) -> Result<(), Halt> {
        partial.stats.blocks += 1;
        let (first, last) = block.time_range();
        if !self.query.range.overlaps(first, last) {
            partial.stats.blocks_skipped += 1;
            return Ok(());
        }
        let columns = Columns::new(block, holder, room);
        let reached = || self.reached(block, &columns);
        if zone_map::is_hopeless(block, &self.plan.conditions) {
            let left_out = self.left_out(&columns, &reached, None)?;
            partial.stats.blocks_skipped += 1;
            warn(left_out, partial);
            return Ok(());
        }
        let reached = reached()?;
        let selection = narrowed(reached.clone(), &self.plan.conditions, &columns)?;
        let left_out = self.left_out(&columns, &|| Ok(reached.clone()), Some(&selection))?;
        let mut is_beaten = false;
        columns.want(&selection);
        if let PartialBody::Rows(best) = &partial.body {
            is_beaten = rows::is_beaten(&self.plan, block, best);
        }
        if selection.count() > 0 && !is_beaten {
            self.add(&columns, &selection, partial)?;
        }
        match is_beaten && columns.bytes_read() == 0 {
            true => partial.stats.blocks_skipped += 1,
            false => partial.stats.rows_read += block.rows() as u64,
        }
        partial.stats.rows_matched += selection.count() as u64;
        partial.stats.bytes_read += columns.bytes_read();
        warn(left_out, partial);
        Ok(())
    }

    /// The rows in the time range.
    fn reached(&self, block: &BlockView<'_>, columns: &Columns<'_, '_>) -> Result<Selection, Halt> {
        narrowed(Selection::all(block.rows()), &self.range_conditions(block), columns)
    }

    /// What is left to ask of the rows' times, the block's range being known.
    fn range_conditions(&self, block: &BlockView<'_>) -> Vec<PlanExpr> {
        let (first, last) = block.time_range();
        let range = &self.query.range;
        let time = |function, bound| PlanExpr::Call {
            function,
            arguments: vec![
                PlanExpr::RowInput(RowInput::Time),
                PlanExpr::Literal(Value::Time(bound)),
            ],
        };
        let from = range.from.filter(|&from| first < from);
        let to = range.to.filter(|&to| to <= last);
        let from = from.map(|from| time(Function::GreaterOrEqual, from));
        from.into_iter().chain(to.map(|to| time(Function::Less, to))).collect()
    }

    /// How many rows the query leaves out because they have a column as another kind: rows of
    /// the time range, `reached`, that the filter does not see, and `selected` ones that the
    /// outputs do not. Blocks that zones skip are counted too, so that it is the same however rows
    /// lie in blocks.
    fn left_out<'s>(
        &'s self,
        columns: &Columns<'_, '_>,
        reached: &dyn Fn() -> Result<Selection, Halt>,
        selected: Option<&Selection>,
    ) -> Result<Vec<LeftOut<'s>>, Halt> {
        let mut all = Vec::new();
        for (name, seen) in &self.seen {
            let mut rows = 0;
            for kind in Kind::ALL {
                let Some(unseen) = seen.unseen(kind) else { continue };
                let Some(index) = columns.find(name.as_str(), kind) else { continue };
                rows += match (unseen, selected) {
                    (Unseen::ByFilter, _) => columns.count_values(index, &reached()?)?,
                    (Unseen::ByOutputs, Some(selected)) => columns.count_values(index, selected)?,
                    (Unseen::ByOutputs, None) => 0,
                };
            }
            if rows > 0 {
                all.push(LeftOut { name, rows });
            }
        }
        Ok(all)
    }
}

/// Rows of one block that have a column as a kind that is not seen.
struct LeftOut<'s> {
    name: &'s ColumnName,
    rows: u64,
}

fn warn(left_out: Vec<LeftOut<'_>>, partial: &mut Partial) {
    for LeftOut { name, rows } in left_out {
        partial.warn(WarningCode::OtherKindSkipped, name.as_str(), rows);
    }
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod turn_tests;
