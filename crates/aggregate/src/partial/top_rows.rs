//! The raw rows of a result: the first rows in the query's order, and no more rows than the result
//! can need.
//!
//! A heap holds the best offset + limit rows with the worst on top. Ties are ordered by all values,
//! ascending. So rows that tie in everything are identical, and the result does not depend on the
//! order of adding and merging.

use std::collections::BinaryHeap;
use std::sync::Arc;

use hadal_query::{EvalError, Expr, GroupInput, PrepareError, Query, QueryKind};
use hadal_types::Value;

use crate::sort_order::{SortDirection, SortKey, SortOrder};
use crate::sparse_row::SparseRow;

/// The best rows so far.
#[derive(Clone, Debug)]
pub struct TopRows {
    order: Arc<SortOrder>,
    value_count: usize,
    rows_max: usize,
    comparison: SortColumns,
    rows: BinaryHeap<Row>,
    bytes: usize,
}

/// The values that rows are compared by, one after another.
#[derive(Clone, Debug)]
pub struct SortColumns {
    /// The index of each value and its direction.
    pub by: Vec<(usize, SortDirection)>,
    /// Whether rows that tie in all of these are identical. Otherwise an expression over several
    /// values decides next.
    pub is_whole: bool,
}

/// Rows compare in the result's order: the first row of the result is the smallest.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Row {
    sort: Box<[SortKey]>,
    values: SparseRow,
}

impl TopRows {
    /// An empty heap.
    ///
    /// # Errors
    /// [`PrepareError`] if a sort expression cannot be prepared.
    pub fn new(query: &Query) -> Result<Self, PrepareError> {
        let value_count = match &query.kind {
            QueryKind::Rows { values } => values.len(),
            QueryKind::Groups { .. } => 0,
        };
        let rows_max = query.offset.saturating_add(query.limit);
        Ok(Self {
            order: Arc::new(SortOrder::new(query)?),
            value_count,
            rows_max: usize::try_from(rows_max).unwrap_or(usize::MAX),
            comparison: SortColumns::new(query),
            rows: BinaryHeap::new(),
            bytes: 0,
        })
    }

    /// The heap of these rows. `None` if they do not have as many values as `query` asks for, or
    /// are too many.
    #[must_use]
    pub fn from_parts(query: &Query, rows: Vec<SparseRow>) -> Option<Self> {
        let mut all = Self::new(query).ok()?;
        let fits =
            rows.len() <= all.rows_max && rows.iter().all(|row| row.len() == all.value_count);
        let mut rows = fits.then_some(rows)?.into_iter();
        rows.try_for_each(|row| all.add(row)).ok()?;
        Some(all)
    }

    /// The values that rows are compared by.
    #[must_use]
    pub fn comparison(&self) -> &SortColumns {
        &self.comparison
    }

    /// The number of rows that the result can need.
    #[must_use]
    pub fn rows_max(&self) -> usize {
        self.rows_max
    }

    /// The first compared value of the worst row, once there are as many rows as the result can
    /// need. A row that is worse by it can be skipped; one that ties may win by another value.
    #[must_use]
    pub fn bar(&self) -> Option<&Value> {
        let (index, _) = self.comparison.by.first()?;
        let worst = self.rows.peek().filter(|_| self.rows.len() >= self.rows_max)?;
        Some(worst.values.get(*index))
    }

    /// Whether a row with this first value may be among the best.
    #[cfg(test)]
    fn could_keep(&self, first: &Value) -> bool {
        let Some(bar) = self.bar() else { return self.rows_max > 0 };
        self.comparison.by.first().is_none_or(|(_, direction)| direction.cmp(first, bar).is_le())
    }

    /// How many of a sequence of rows may be among the best. `firsts` are their first compared
    /// values, the best first. The rows after that number can be skipped. Sorts the first values of
    /// the rows in the heap.
    pub fn could_keep_of(&self, firsts: impl Iterator<Item = Value>) -> usize {
        let Some((index, direction)) = self.comparison.by.first() else { return self.rows_max };
        let mut kept_firsts: Vec<&Value> =
            self.rows.iter().map(|row| row.values.get(*index)).collect();
        kept_firsts.sort_unstable_by(|left, right| direction.cmp(left, right));
        // Numbers of rows in the heap, and of rows in the sequence, that are certainly better.
        let (mut better, mut before) = (0, 0);
        let mut last: Option<Value> = None;
        let is_kept = |(count, first): &(usize, Value)| {
            if last.as_ref() != Some(first) {
                before = *count;
                last = Some(first.clone());
            }
            while kept_firsts.get(better).is_some_and(|kept| direction.cmp(kept, first).is_lt()) {
                better += 1;
            }
            better + before < self.rows_max
        };
        firsts.enumerate().take_while(is_kept).count()
    }

    /// Adds a row, which must have as many values as the query asks for.
    ///
    /// # Errors
    /// [`EvalError`] if a sort expression fails.
    pub fn add(&mut self, mut values: SparseRow) -> Result<(), EvalError> {
        debug_assert_eq!(values.len(), self.value_count, "values of a row");
        let slot = |slot: &GroupInput| match slot {
            GroupInput::Key(index) => values.get(*index).clone(),
            _ => Value::Null,
        };
        let sort = self.order.sort_keys(&slot)?;
        values.shrink();
        self.push(Row { sort, values });
        Ok(())
    }

    fn push(&mut self, row: Row) {
        let full = self.rows.len() >= self.rows_max;
        if full && self.rows.peek().is_none_or(|worst| row >= *worst) {
            return;
        }
        self.bytes += row.bytes();
        self.rows.push(row);
        if full && let Some(worst) = self.rows.pop() {
            self.bytes -= worst.bytes();
        }
    }

    /// Adds the rows of `other`, which must be of the same query.
    pub fn merge(&mut self, other: Self) {
        let mut rows = std::mem::take(&mut self.rows).into_vec();
        rows.extend(other.rows);
        self.bytes += other.bytes;
        if rows.len() > self.rows_max {
            rows.select_nth_unstable(self.rows_max);
            let worst = rows.drain(self.rows_max..);
            self.bytes -= worst.map(|row| row.bytes()).sum::<usize>();
        }
        self.rows = rows.into();
    }

    /// The best rows, in any order.
    #[must_use]
    pub(crate) fn into_unsorted(self) -> Vec<SparseRow> {
        self.rows.into_iter().map(|row| row.values).collect()
    }

    /// The best rows, the best first.
    #[must_use]
    pub fn into_sorted(self) -> Vec<SparseRow> {
        self.rows.into_sorted_vec().into_iter().map(|row| row.values).collect()
    }

    /// Drops all rows and frees their memory.
    pub(crate) fn clear(&mut self) {
        (self.rows, self.bytes) = (BinaryHeap::new(), 0);
    }

    /// The number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Whether `other` belongs to the same query.
    pub(crate) fn fits(&self, other: &Self) -> bool {
        self.value_count == other.value_count && self.rows_max == other.rows_max
    }

    /// Approximate bytes of memory, for comparison with the query's memory limit.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

impl PartialEq for TopRows {
    fn eq(&self, other: &Self) -> bool {
        self.fits(other) && self.clone().into_sorted() == other.clone().into_sorted()
    }
}

impl Row {
    fn bytes(&self) -> usize {
        let sort = self.sort.iter().map(|key| size_of::<SortKey>() + key.heap_bytes());
        size_of_val(&self.sort) + sort.sum::<usize>() + self.values.bytes()
    }
}

impl SortColumns {
    fn new(query: &Query) -> Self {
        let QueryKind::Rows { values } = &query.kind else {
            return Self { by: Vec::new(), is_whole: false };
        };
        let mut by: Vec<(usize, SortDirection)> = Vec::new();
        for key in &query.order {
            match key.expr {
                Expr::Literal(_) => {}
                Expr::Leaf(GroupInput::Key(index)) if index < values.len() => {
                    let direction =
                        SortDirection { descending: key.descending, nulls_first: key.nulls_first };
                    by.push((index, direction));
                }
                _ => return Self { by, is_whole: false },
            }
        }
        by.extend((0..values.len()).map(|index| (index, SortDirection::ASCENDING)));
        Self { by, is_whole: true }
    }
}

#[cfg(test)]
mod tests;
