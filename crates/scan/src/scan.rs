//! The scan of one query, block by block.

use std::sync::Arc;

use hadal_aggregate::{Partial, PartialBody, QueryError, WarningCode};
use hadal_block::{BlockError, BlockView, ColumnView};
use hadal_query::{Function, PrepareError, Query, RowInput};
use hadal_types::limits::PIECE_BYTES_MAX;
use hadal_types::{ColumnName, Kind, MemoryReservation, Value};

use crate::column::interner::{BlockContext, ChecksumContext};
use crate::column::lazy_columns::LazyColumns;
use crate::column::selection::Selection;
use crate::expr::plan::{PreparedExpr, PreparedQuery, is_time};
use crate::expr::visible_kinds::{Hidden, VisibleColumns, visible_columns};
use crate::expr::zone_map;
use crate::group::key_counters::KeyBound;
use crate::piecewise::{PiecewiseAdder, filter_rows};
use crate::scan_memory::{Interrupt, ScanMemory};
use crate::top_k::rows;

/// Why the scan of a block failed.
#[derive(Debug, thiserror::Error)]
pub enum ScanError {
    /// The block's bytes are damaged.
    #[error(transparent)]
    Damaged(#[from] BlockError),
    /// The query fails: an expression computes too long a string, or memory is short.
    #[error("{}", _0.message)]
    Failed(Box<QueryError>),
    /// The client no longer waits for the result.
    #[error("nobody waits for the answer any more")]
    Cancelled,
}

/// The preferred order of blocks, so that later ones can be skipped. The result does not depend on
/// it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockOrder {
    /// The order makes no difference to the query.
    Any,
    /// Descending by the blocks' last times.
    NewestFirst,
    /// Ascending by the blocks' first times.
    OldestFirst,
}

/// A query prepared to run over row blocks. Made once per query and leaf.
#[derive(Debug)]
pub struct Scan {
    pub(crate) query: Arc<Query>,
    pub(crate) plan: PreparedQuery,
    visible: VisibleColumns,
    use_zones: bool,
    /// The maximum bytes of values computed at a time.
    piece_bytes_max: usize,
    /// Which groups are left out; `None`: none.
    pub(crate) bound: Option<KeyBound>,
}

impl Scan {
    /// Prepares `query`.
    ///
    /// # Errors
    /// When an expression is nested too deep, a pattern is invalid or a function is unknown.
    pub fn new(query: Arc<Query>) -> Result<Self, PrepareError> {
        let plan = PreparedQuery::new(&query)?;
        let visible = visible_columns(&query);
        let piece_bytes_max = PIECE_BYTES_MAX;
        Ok(Self { query, plan, visible, use_zones: true, piece_bytes_max, bound: None })
    }

    /// The same scan, taking no value from zones instead of rows: to measure the cost of reading
    /// rows. Zones still skip blocks without matching rows.
    #[must_use]
    pub fn without_zone_answers(self) -> Self {
        Self { use_zones: false, ..self }
    }

    /// The same scan, computing at most `bytes` of values at a time: to test that pieces give the
    /// same result as all rows at once.
    #[must_use]
    pub fn in_pieces_of(self, bytes: usize) -> Self {
        Self { piece_bytes_max: bytes, ..self }
    }

    /// The same scan, without groups that are below the bound.
    #[must_use]
    pub fn bounded(self, bound: KeyBound) -> Self {
        Self { bound: Some(bound), ..self }
    }

    /// The preferred order of blocks.
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
    /// `check` verifies a column's checksum, unless that was done before. It is called with the
    /// index of each row block column and the column, before its values are used.
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

    /// As [`Self::block`], with everything that the block's holder provides.
    ///
    /// # Errors
    /// [`ScanError`]; the partial result then holds nothing of the block.
    pub fn block_of<'a>(
        &self,
        block: &BlockView<'a>,
        context: &dyn BlockContext<'a>,
        partial: &mut Partial,
    ) -> Result<(), ScanError> {
        let is_cancelled = || context.is_cancelled();
        let memory = self.memory(context, &partial.reservation, &is_cancelled);
        self.add_block(block, context, &memory, partial)
            .map_err(|interrupt| scan_error(interrupt, &memory))
    }

    /// The memory for one block of a query with this reservation.
    pub(crate) fn memory<'r>(
        &self,
        context: &dyn BlockContext<'_>,
        reservation: &MemoryReservation,
        is_cancelled: &'r dyn Fn() -> bool,
    ) -> ScanMemory<'r> {
        ScanMemory::new(reservation, self.piece_bytes_max, is_cancelled).until(context.deadline())
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
        let kept = self.admitted(&columns, &selection)?;
        if kept.count() > 0 && !is_beaten {
            let (query, plan, use_zones) = (&*self.query, &self.plan, self.use_zones);
            PiecewiseAdder { query, plan, use_zones }.add(&columns, &kept, partial)?;
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
    pub(crate) fn reached(
        &self,
        block: &BlockView<'_>,
        columns: &LazyColumns<'_, '_>,
    ) -> Result<Selection, Interrupt> {
        filter_rows(Selection::all(block.rows()), &self.range_conditions(block), columns)
    }

    /// The conditions on the rows' times that the block's time range leaves open.
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

    /// Counts the rows that the query leaves out because they have a column as another kind. These
    /// are rows of the time range, `reached`, that the filter does not see, and `selected` rows
    /// that the outputs do not see. Blocks skipped by zones are counted too, so that the number
    /// does not depend on how rows are spread over blocks.
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

/// Why the scan of a block failed that was interrupted.
pub(crate) fn scan_error(interrupt: Interrupt, memory: &ScanMemory<'_>) -> ScanError {
    match interrupt {
        Interrupt::Damaged(error) => ScanError::Damaged(error),
        Interrupt::Cancelled => ScanError::Cancelled,
        Interrupt::Failed(fault) => ScanError::Failed(fault),
        Interrupt::TooManyBytes => ScanError::Failed(Box::new(memory.too_much_of_one_row())),
    }
}

/// Rows of one block that have a column as a kind that the query does not see.
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
mod filter_tests;
#[cfg(test)]
mod random_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod turn_tests;
