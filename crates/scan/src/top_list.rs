//! Top lists over many groups, without making every group.
//!
//! A first scan only [counts rows by the hash of their key](Scan::count_keys). That gives an upper
//! bound of what each group can have. A second scan leaves out rows whose group has less than the
//! last one of the list. The caller chooses the [`KeyBound`], and checks afterwards that enough
//! groups reach it: then the list is exact.

use hadal_aggregate::{Partial, Rank, TopList};
use hadal_block::BlockView;
use hadal_encoding::Bitmap;
use hadal_query::RowInput;

use crate::aggregate::block::key_values;
use crate::column::column_values::ColumnValues;
use crate::column::interner::BlockContext;
use crate::column::lazy_columns::LazyColumns;
use crate::column::selection::Selection;
use crate::column::weights::Weights;
use crate::expr::eval::eval;
use crate::expr::plan::{PreparedExpr, calls_user};
use crate::expr::zone_map;
use crate::group::key_counters::{Amounts, KeyCounters};
use crate::group::key_hashes::for_each_hash;
use crate::piecewise::filter_rows;
use crate::scan::{Scan, ScanError, scan_error};
use crate::scan_memory::Interrupt;

impl Scan {
    /// The query's top list, if counters can bound what its groups have: it is ordered by a count
    /// of all rows or by the sum of a column, and its keys are columns. Not with a user function in
    /// the filter, which may choose other rows in the second scan.
    #[must_use]
    pub fn countable_list(&self) -> Option<TopList> {
        let is_column = |key: &PreparedExpr| {
            matches!(key, PreparedExpr::Leaf(RowInput::Column(_) | RowInput::Time))
        };
        let are_columns = self.plan.unnested.is_none() && self.plan.keys.iter().all(is_column);
        let is_repeatable = !self.plan.conditions.iter().any(calls_user);
        let is_bounded = |rank| match rank {
            Rank::RawCount | Rank::Count => true,
            Rank::SumOf(measure) | Rank::NullOrSumOf(measure) => {
                self.plan.measures.get(measure).is_some_and(is_column)
            }
            Rank::RawCountOf(_) | Rank::CountOf(_) => false,
        };
        let list = TopList::of(&self.query).filter(|_| are_columns && is_repeatable)?;
        is_bounded(list.ranked_by).then_some(list)
    }

    /// Adds the rows of one block that the query matches to `counters`, in the unit of the
    /// [list's](Self::countable_list) rank. Of `partial` only the statistics change.
    ///
    /// # Errors
    /// As [`Self::block_of`]; the counters may then have some of the rows.
    pub fn count_keys<'a>(
        &self,
        block: &BlockView<'a>,
        context: &dyn BlockContext<'a>,
        partial: &mut Partial,
        counters: &mut KeyCounters,
    ) -> Result<(), ScanError> {
        let is_cancelled = || context.is_cancelled();
        let memory = self.memory(context, &partial.reservation, &is_cancelled);
        let columns = LazyColumns::new(block, context, &memory);
        let added = self.add_to_counters(block, &columns, counters);
        partial.stats.bytes_read += columns.bytes_read();
        added.map_err(|interrupt| scan_error(interrupt, &memory))
    }

    fn add_to_counters<'a>(
        &self,
        block: &BlockView<'a>,
        columns: &LazyColumns<'_, 'a>,
        counters: &mut KeyCounters,
    ) -> Result<(), Interrupt> {
        let (first, last) = block.time_range();
        let Some(list) = self.countable_list() else { return Ok(()) };
        if !self.query.range.overlaps(first, last)
            || zone_map::can_skip(block, &self.plan.conditions)
        {
            return Ok(());
        }
        let selection = filter_rows(self.reached(block, columns)?, &self.plan.conditions, columns)?;
        columns.want(&selection);
        let weights = Weights::new(columns)?;
        let keys = self.key_columns(columns, &selection)?;
        let summed = match list.ranked_by {
            Rank::SumOf(measure) | Rank::NullOrSumOf(measure) => {
                Some(eval(&self.plan.measures[measure], columns, &selection)?)
            }
            _ => None,
        };
        let amounts = match (&summed, list.ranked_by) {
            (Some(values), rank) => {
                // A group without values comes first, if nulls do.
                let of_null = if matches!(rank, Rank::NullOrSumOf(_)) { u64::MAX } else { 0 };
                Amounts::Values { values, weights: &weights, of_null }
            }
            (None, Rank::RawCount) => Amounts::Rows,
            (None, _) => Amounts::Weights(&weights),
        };
        for_each_hash(&keys, &selection, |rows, hashes| counters.add(rows, hashes, &amounts));
        Ok(())
    }

    fn key_columns<'a>(
        &self,
        columns: &LazyColumns<'_, 'a>,
        selection: &Selection,
    ) -> Result<Vec<ColumnValues<'a>>, Interrupt> {
        let values = |key| key_values(key, columns, selection, false);
        self.plan.keys.iter().map(values).collect()
    }

    /// The selected rows whose groups are not left out.
    pub(crate) fn admitted(
        &self,
        columns: &LazyColumns<'_, '_>,
        selection: &Selection,
    ) -> Result<Selection, Interrupt> {
        let mut admitted = selection.clone();
        let Some(bound) = &self.bound else { return Ok(admitted) };
        let mut rows_of_bound = Bitmap::zeros(selection.block_rows());
        let keys = self.key_columns(columns, selection)?;
        for_each_hash(&keys, selection, |rows, hashes| {
            let all = rows.iter().zip(hashes);
            all.filter(|(_, hash)| bound.admits(**hash))
                .for_each(|(&row, _)| rows_of_bound.set(row as usize));
        });
        admitted.narrow(&rows_of_bound);
        Ok(admitted)
    }
}
