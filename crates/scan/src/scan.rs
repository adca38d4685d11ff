//! The scan of one query, block by block.

use std::sync::Arc;

use hadal_aggregate::{Partial, PartialBody, QueryError, WarningCode};
use hadal_block::{BlockError, BlockView, ColumnView};
use hadal_query::{Function, PrepareError, Query, RowInput};
use hadal_types::limits::PIECE_BYTES_MAX;
use hadal_types::{ColumnName, Kind, Value};

use crate::column::interner::{BlockContext, ChecksumContext};
use crate::column::lazy_columns::LazyColumns;
use crate::column::selection::Selection;
use crate::expr::plan::{Plan, PreparedExpr, is_time};
use crate::expr::visible_kinds::{Hidden, VisibleColumns, visible_columns};
use crate::expr::zone_map;
use crate::piecewise::filter_rows;
use crate::scan_memory::{Interrupt, ScanMemory};
use crate::top_k::rows;

/// Why a block was not looked at.
#[derive(Debug, thiserror::Error)]
pub enum ScanError {
    /// Its bytes are damaged.
    #[error(transparent)]
    Damaged(#[from] BlockError),
    /// The query fails: an expression computes too long a string, or there is no room for what is
    /// computed or found.
    #[error("{}", _0.message)]
    Failed(Box<QueryError>),
    /// Nobody waits for the answer any more.
    #[error("nobody waits for the answer any more")]
    Cancelled,
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
    visible: VisibleColumns,
    pub(crate) use_zones: bool,
    /// Bytes of values that are computed at a time.
    piece_bytes_max: usize,
}

impl Scan {
    /// Makes `query` ready.
    ///
    /// # Errors
    /// When an expression is nested too deep or a pattern is refused.
    pub fn new(query: Arc<Query>) -> Result<Self, PrepareError> {
        let plan = Plan::new(&query)?;
        let visible = visible_columns(&query);
        Ok(Self { query, plan, visible, use_zones: true, piece_bytes_max: PIECE_BYTES_MAX })
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
            Some((index, direction)) if is_time(&self.plan.keys[*index]) => {
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
    ) -> Result<(), ScanError> {
        self.block_of(block, &ChecksumContext(check), partial)
    }

    /// The same with all that the block's holder knows.
    ///
    /// # Errors
    /// [`ScanError`]; the partial then holds nothing of the block.
    pub fn block_of<'a>(
        &self,
        block: &BlockView<'a>,
        context: &dyn BlockContext<'a>,
        partial: &mut Partial,
    ) -> Result<(), ScanError> {
        let is_cancelled = || context.is_cancelled();
        let memory = ScanMemory::new(&partial.reservation, self.piece_bytes_max, &is_cancelled);
        self.add_block(block, context, &memory, partial).map_err(|interrupt| match interrupt {
            Interrupt::Damaged(error) => ScanError::Damaged(error),
            Interrupt::Cancelled => ScanError::Cancelled,
            Interrupt::Failed(fault) => ScanError::Failed(fault),
            Interrupt::TooManyBytes => ScanError::Failed(Box::new(memory.too_much_of_one_row())),
        })
    }

    fn add_block<'a>(
        &self,
        block: &BlockView<'a>,
        context: &dyn BlockContext<'a>,
        memory: &ScanMemory<'_>,
        partial: &mut Partial,
    ) -> Result<(), Interrupt> {
        partial.stats.blocks += 1;
        let (first, last) = block.time_range();
        if !self.query.range.overlaps(first, last) {
            partial.stats.blocks_skipped += 1;
            return Ok(());
        }
        let columns = LazyColumns::new(block, context, memory);
        let reached = || self.reached(block, &columns);
        if zone_map::can_skip(block, &self.plan.conditions) {
            let hidden_rows = self.hidden_rows(&columns, &reached, None)?;
            partial.stats.blocks_skipped += 1;
            warn(hidden_rows, partial);
            return Ok(());
        }
        let reached = reached()?;
        let selection = filter_rows(reached.clone(), &self.plan.conditions, &columns)?;
        let hidden_rows = self.hidden_rows(&columns, &|| Ok(reached.clone()), Some(&selection))?;
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
        warn(hidden_rows, partial);
        Ok(())
    }

    /// The rows in the time range.
    fn reached(
        &self,
        block: &BlockView<'_>,
        columns: &LazyColumns<'_, '_>,
    ) -> Result<Selection, Interrupt> {
        filter_rows(Selection::all(block.rows()), &self.range_conditions(block), columns)
    }

    /// What is left to ask of the rows' times, the block's range being known.
    fn range_conditions(&self, block: &BlockView<'_>) -> Vec<PreparedExpr> {
        let (first, last) = block.time_range();
        let range = &self.query.range;
        let time = |function, bound| PreparedExpr::Call {
            function,
            arguments: vec![
                PreparedExpr::Leaf(RowInput::Time),
                PreparedExpr::Literal(Value::Time(bound)),
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
    fn hidden_rows<'s>(
        &'s self,
        columns: &LazyColumns<'_, '_>,
        reached: &dyn Fn() -> Result<Selection, Interrupt>,
        selected: Option<&Selection>,
    ) -> Result<Vec<HiddenRows<'s>>, Interrupt> {
        let mut all = Vec::new();
        for (name, visible) in &self.visible {
            let mut rows = 0;
            for kind in Kind::ALL {
                let Some(hidden) = visible.hidden(kind) else { continue };
                let Some(index) = columns.find(name.as_str(), kind) else { continue };
                rows += match (hidden, selected) {
                    (Hidden::ByFilter, _) => columns.count_values(index, &reached()?)?,
                    (Hidden::ByOutputs, Some(selected)) => columns.count_values(index, selected)?,
                    (Hidden::ByOutputs, None) => 0,
                };
            }
            if rows > 0 {
                all.push(HiddenRows { name, rows });
            }
        }
        Ok(all)
    }
}

/// Rows of one block that have a column as a kind that is not seen.
struct HiddenRows<'s> {
    name: &'s ColumnName,
    rows: u64,
}

fn warn(hidden_rows: Vec<HiddenRows<'_>>, partial: &mut Partial) {
    for HiddenRows { name, rows } in hidden_rows {
        partial.warn(WarningCode::OtherKindSkipped, name.as_str(), rows);
    }
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod turn_tests;
