//! The raw rows of a result: the first rows in the query's order, and no more rows than the result
//! can need.
//!
//! Rows are columns. As soon as there are the best offset + limit rows, they are sorted, and the
//! others are dropped. Ties are ordered by all values, ascending. So rows that tie in everything
//! are identical, and the result does not depend on the order of adding and merging.

use std::cmp::Ordering;
use std::sync::Arc;

use hadal_query::{EvalError, Expr, GroupInput, PrepareError, Query, QueryKind};
use hadal_types::Value;

use crate::row_columns::RowColumns;
use crate::row_columns::value_column::ValueColumn;
use crate::sort_order::{SortDirection, SortOrder};
use crate::sparse_row::SparseRow;

/// The best rows so far.
#[derive(Clone, Debug)]
pub struct TopRows {
    order: Arc<SortOrder>,
    value_count: usize,
    rows_max: usize,
    comparison: SortColumns,
    rows: RowColumns,
    /// The values of ORDER BY, if the rows' own values do not decide.
    sort: Option<RowColumns>,
    /// Whether the rows are in the result's order. They are if they are all that it can need.
    is_sorted: bool,
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

/// Compares rows in the result's order: the first row of the result is the smallest.
struct RowOrder<'r>(Vec<(&'r ValueColumn, SortDirection)>);

impl TopRows {
    /// No rows.
    ///
    /// # Errors
    /// [`PrepareError`] if a sort expression cannot be prepared.
    pub fn new(query: &Query) -> Result<Self, PrepareError> {
        let value_count = match &query.kind {
            QueryKind::Rows { values } => values.len(),
            QueryKind::Groups { .. } => 0,
        };
        let rows_max = query.offset.saturating_add(query.limit);
        let comparison = SortColumns::new(query);
        Ok(Self {
            order: Arc::new(SortOrder::new(query)?),
            value_count,
            rows_max: usize::try_from(rows_max).unwrap_or(usize::MAX),
            rows: RowColumns::none(value_count),
            sort: (!comparison.is_whole).then(|| RowColumns::none(query.order.len())),
            comparison,
            is_sorted: false,
            bytes: 0,
        })
    }

    /// The best of these rows. `None` if they do not have as many values as `query` asks for, or
    /// are too many.
    #[must_use]
    pub fn from_parts(query: &Query, rows: Vec<SparseRow>) -> Option<Self> {
        let mut all = Self::new(query).ok()?;
        let fits =
            rows.len() <= all.rows_max && rows.iter().all(|row| row.len() == all.value_count);
        let rows = RowColumns::of_rows(&fits.then_some(rows)?, all.value_count);
        all.add_columns(rows).ok()?;
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
    pub fn bar(&self) -> Option<Value> {
        let (index, _) = self.comparison.by.first()?;
        let worst = self.len().checked_sub(1).filter(|_| self.len() >= self.rows_max)?;
        Some(self.rows.value(worst, *index))
    }

    /// Whether a row with this first value may be among the best.
    #[cfg(test)]
    fn could_keep(&self, first: &Value) -> bool {
        let Some(bar) = self.bar() else { return self.rows_max > 0 };
        self.comparison.by.first().is_none_or(|(_, direction)| direction.cmp(first, &bar).is_le())
    }

    /// How many of a sequence of rows may be among the best. `firsts` are their first compared
    /// values, the best first. The rows after that number can be skipped. Sorts the first values of
    /// the rows so far.
    pub fn could_keep_of(&self, firsts: impl Iterator<Item = Value>) -> usize {
        let Some((index, direction)) = self.comparison.by.first() else { return self.rows_max };
        let mut kept_firsts: Vec<Value> =
            (0..self.len()).map(|row| self.rows.value(row, *index)).collect();
        kept_firsts.sort_unstable_by(|left, right| direction.cmp(left, right));
        // Numbers of rows so far, and of rows in the sequence, that are certainly better.
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

    /// Adds a row, which must have as many values as the query asks for. Many rows are added faster
    /// [as columns](Self::add_columns).
    ///
    /// # Errors
    /// [`EvalError`] if a sort expression fails.
    pub fn add(&mut self, row: SparseRow) -> Result<(), EvalError> {
        debug_assert_eq!(row.len(), self.value_count, "values of a row");
        let bytes = self.bytes;
        let added = self.append(RowColumns::of_rows(&[row], self.value_count))?;
        match self.settle() {
            true => self.count_bytes(),
            false => self.bytes = bytes + added,
        }
        Ok(())
    }

    /// Adds rows, which must have as many columns as the query asks for values.
    ///
    /// # Errors
    /// [`EvalError`] if a sort expression fails.
    pub fn add_columns(&mut self, rows: RowColumns) -> Result<(), EvalError> {
        self.append(rows)?;
        self.settle();
        self.count_bytes();
        Ok(())
    }

    /// Appends rows; returns their bytes.
    fn append(&mut self, rows: RowColumns) -> Result<usize, EvalError> {
        let mut bytes = rows.bytes();
        if let Some(sort) = &mut self.sort {
            let mut values = Vec::with_capacity(rows.rows());
            for row in 0..rows.rows() {
                let slot = |slot: &GroupInput| match slot {
                    GroupInput::Key(index) => rows.value(row, *index),
                    _ => Value::Null,
                };
                values.push(SparseRow::from(self.order.values(&slot)?));
            }
            let values = RowColumns::of_rows(&values, sort.columns().len());
            bytes += values.bytes();
            sort.append(values);
        }
        self.rows.append(rows);
        Ok(bytes)
    }

    /// Adds the rows of `other`, which must be of the same query.
    pub fn merge(&mut self, other: Self) {
        if let (Some(sort), Some(others)) = (&mut self.sort, other.sort) {
            sort.append(others);
        }
        self.rows.append(other.rows);
        self.settle();
        self.count_bytes();
    }

    /// Drops the rows that the result cannot need, after rows were added. Returns whether there
    /// may be such rows.
    fn settle(&mut self) -> bool {
        self.is_sorted = false;
        let is_full = self.len() >= self.rows_max;
        if is_full {
            self.sort();
        }
        is_full
    }

    fn count_bytes(&mut self) {
        self.bytes = self.rows.bytes() + self.sort.as_ref().map_or(0, RowColumns::bytes);
    }

    /// Sorts the rows, and keeps the best.
    fn sort(&mut self) {
        if self.is_sorted {
            return;
        }
        let order = self.row_order();
        let mut sorted: Vec<u32> = (0..).take(self.len()).collect();
        // Rows mostly come in runs that are sorted, which this sort merges.
        sorted.sort_by(|left, right| order.cmp(*left, *right));
        sorted.truncate(self.rows_max);
        let is_unchanged = sorted.len() == self.len() && sorted.iter().copied().eq(0..);
        if !is_unchanged {
            self.rows = self.rows.gather(&sorted);
            self.sort = self.sort.as_ref().map(|sort| sort.gather(&sorted));
        }
        self.is_sorted = true;
    }

    fn row_order(&self) -> RowOrder<'_> {
        let columns = self.rows.columns();
        let mut keys: Vec<(&ValueColumn, SortDirection)> = Vec::new();
        match &self.sort {
            Some(sort) => {
                let sort = sort.columns().iter().map(|column| &**column);
                keys.extend(sort.zip(self.order.directions()));
                keys.extend(columns.iter().map(|column| (&**column, SortDirection::ASCENDING)));
            }
            None => {
                let column = |(index, direction): &(usize, SortDirection)| {
                    columns.get(*index).map(|column| (&**column, *direction))
                };
                keys.extend(self.comparison.by.iter().filter_map(column));
            }
        }
        RowOrder(keys)
    }

    /// Approximate bytes of a copy of the rows, which shares texts and lists.
    pub(crate) fn flat_bytes(&self) -> usize {
        self.rows.flat_bytes()
    }

    /// The best rows, the best first.
    #[must_use]
    pub fn into_columns(mut self) -> RowColumns {
        self.sort();
        self.rows
    }

    /// The best rows one by one, the best first.
    #[must_use]
    pub fn into_sorted(self) -> Vec<SparseRow> {
        self.into_columns().to_rows()
    }

    /// Drops all rows and frees their memory.
    pub(crate) fn clear(&mut self) {
        self.rows = RowColumns::none(self.value_count);
        self.sort = self.sort.as_ref().map(|sort| RowColumns::none(sort.columns().len()));
        (self.is_sorted, self.bytes) = (false, 0);
    }

    /// The number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.rows()
    }

    /// Whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.rows() == 0
    }

    /// Whether `other` belongs to the same query.
    pub(crate) fn fits(&self, other: &Self) -> bool {
        self.value_count == other.value_count && self.rows_max == other.rows_max
    }

    /// Approximate bytes of memory, for comparison with the query's memory limit.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes + self.value_count * size_of::<ValueColumn>()
    }
}

impl PartialEq for TopRows {
    fn eq(&self, other: &Self) -> bool {
        self.fits(other) && self.clone().into_sorted() == other.clone().into_sorted()
    }
}

impl RowOrder<'_> {
    fn cmp(&self, left: u32, right: u32) -> Ordering {
        let orders = self.0.iter().map(|(column, direction)| column.cmp(left, right, *direction));
        orders.into_iter().find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
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
