//! The scan of one query, block by block.

use std::sync::Arc;

use hadal_aggregate::{Answering, Fault, FaultCode, Partial, WarningCode};
use hadal_block::{BlockError, BlockView, ColumnView};
use hadal_query::{ColumnRef, Function, Input, Query};
use hadal_types::{Value, limits};

use crate::columns::Columns;
use crate::eval::eval;
use crate::plan::{Plan, PlanError, PlanExpr};
use crate::prune;
use crate::selection::Selection;
use crate::{groups, raw_rows};

/// A query made ready to be run over row blocks. Made once per query and leaf.
#[derive(Debug)]
pub struct Scan {
    query: Arc<Query>,
    plan: Plan,
    columns: Vec<ColumnRef>,
}

impl Scan {
    /// Makes `query` ready.
    ///
    /// # Errors
    /// When an expression is nested too deep or a pattern is refused.
    pub fn new(query: Arc<Query>) -> Result<Self, PlanError> {
        let mut columns: Vec<ColumnRef> = Vec::new();
        query.for_each_input(&mut |input| {
            if let Input::Column(column) = input
                && !columns.contains(column)
            {
                columns.push(column.clone());
            }
        });
        let plan = Plan::new(&query)?;
        Ok(Self { query, plan, columns })
    }

    /// Adds the rows of one block to `partial`.
    ///
    /// `check` is called with the index of each row block column that is needed and the column,
    /// before a value of it is used; it verifies the checksum where that has not been done.
    ///
    /// # Errors
    /// When the block's bytes are damaged. The partial then holds nothing of the block: all that
    /// can fail comes before the first change to it.
    pub fn block<'a>(
        &self,
        block: &BlockView<'a>,
        check: &dyn Fn(usize, &ColumnView<'a>) -> Result<(), BlockError>,
        partial: &mut Partial,
    ) -> Result<(), BlockError> {
        partial.stats.blocks += 1;
        if prune::is_hopeless(block, &self.query.range, &self.plan.conditions) {
            partial.stats.blocks_skipped += 1;
            return Ok(());
        }
        let columns = Columns::new(block, check);
        let selection = self.select(block, &columns)?;
        if selection.count() > 0 {
            match &mut partial.answering {
                Answering::Groups(groups) => {
                    groups::add(&self.query, &self.plan, &columns, &selection, groups)?;
                }
                Answering::Rows(best) => raw_rows::add(&self.plan, &columns, &selection, best)?,
            }
        }
        partial.stats.rows_read += block.rows() as u64;
        partial.stats.rows_matched += selection.count() as u64;
        partial.stats.bytes_read += columns.bytes_read();
        self.warn(&columns, partial);
        Ok(())
    }

    /// The rows in the time range that meet all conditions.
    fn select(
        &self,
        block: &BlockView<'_>,
        columns: &Columns<'_, '_>,
    ) -> Result<Selection, BlockError> {
        let mut selection = Selection::all(block.rows());
        for condition in self.range_conditions(block).iter().chain(&self.plan.conditions) {
            if selection.count() == 0 {
                break;
            }
            let values = eval(condition, columns, &selection)?;
            selection.narrow(&values.truths(block.rows()).yes);
        }
        Ok(selection)
    }

    /// What is left to ask of the rows' times, the block's range being known.
    fn range_conditions(&self, block: &BlockView<'_>) -> Vec<PlanExpr> {
        let (first, last) = block.time_range();
        let range = &self.query.range;
        let time = |function, bound| PlanExpr::Call {
            function,
            arguments: vec![PlanExpr::Input(Input::Time), PlanExpr::Literal(Value::Time(bound))],
        };
        let from = range.from.filter(|&from| first < from);
        let to = range.to.filter(|&to| to <= last);
        let from = from.map(|from| time(Function::GreaterOrEqual, from));
        from.into_iter().chain(to.map(|to| time(Function::Less, to))).collect()
    }

    /// Says what a question about one kind of a column did not see.
    fn warn(&self, columns: &Columns<'_, '_>, partial: &mut Partial) {
        for column in &self.columns {
            let rows = columns.rows_of_other_kinds(column);
            if rows > 0 {
                partial.warn(WarningCode::OtherKindSkipped, column.name.as_str(), rows);
            }
        }
        let bytes = partial.bytes();
        if bytes > limits::LEAF_QUERY_BYTES_MAX {
            let message = format!(
                "the query needs {bytes} bytes on one leaf; at most {} are allowed: \
                 ask for fewer groups or a shorter time",
                limits::LEAF_QUERY_BYTES_MAX
            );
            partial.faults.add(Fault::new(FaultCode::Memory, &message));
        }
    }
}
