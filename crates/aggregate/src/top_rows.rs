//! Raw rows: the first of them in the query's order, and no more than the answer can need.
//!
//! A heap holds the best offset + limit rows with the worst on top. Ties are ordered by all
//! values, ascending, so that rows that tie in everything are the same row to any reader, and the
//! answer does not depend on the order of adding and merging.

use std::collections::BinaryHeap;
use std::sync::Arc;

use hadal_query::{Expr, PrepareError, Query, Shape, Slot};
use hadal_types::Value;

use crate::groups::value_bytes;
use crate::order::{Direction, Order, SortKey};

/// The best rows so far.
#[derive(Clone, Debug)]
pub struct TopRows {
    order: Arc<Order>,
    value_count: usize,
    rows_max: usize,
    /// The value by which rows are compared first, when it is a plain one.
    leading: Option<(usize, Direction)>,
    rows: BinaryHeap<Row>,
    bytes: usize,
}

/// Ordered as the answer is: the first row of the answer is the smallest.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Row {
    sort: Box<[SortKey]>,
    values: Box<[Value]>,
}

impl TopRows {
    /// No rows yet.
    ///
    /// # Errors
    /// [`PrepareError`] when something that rows are sorted by cannot run.
    pub fn new(query: &Query) -> Result<Self, PrepareError> {
        let value_count = match &query.shape {
            Shape::Rows { values } => values.len(),
            Shape::Groups { .. } => 0,
        };
        let rows_max = query.offset.saturating_add(query.limit);
        Ok(Self {
            order: Arc::new(Order::new(&query.order)?),
            value_count,
            rows_max: usize::try_from(rows_max).unwrap_or(usize::MAX),
            leading: leading(query),
            rows: BinaryHeap::new(),
            bytes: 0,
        })
    }

    /// The rows of these parts, or `None` when they are not such as `query` asks for, or too
    /// many.
    #[must_use]
    pub fn from_parts(query: &Query, rows: Vec<Box<[Value]>>) -> Option<Self> {
        let mut all = Self::new(query).ok()?;
        let fits =
            rows.len() <= all.rows_max && rows.iter().all(|row| row.len() == all.value_count);
        fits.then_some(rows)?.into_iter().for_each(|row| all.add(row));
        Some(all)
    }

    /// The index of the value by which rows are compared before all else; `None` when that is
    /// computed from several.
    #[must_use]
    pub fn leading(&self) -> Option<usize> {
        self.leading.map(|(index, _)| index)
    }

    /// Whether a row with this value at [`Self::leading`] may be among the best: if not, the
    /// rest of the row need not be looked at.
    #[must_use]
    pub fn could_keep(&self, leading: &Value) -> bool {
        if self.rows.len() < self.rows_max {
            return true;
        }
        let Some(worst) = self.rows.peek() else { return false };
        let Some((index, direction)) = self.leading else { return true };
        direction.key(leading.clone()) <= direction.key(worst.values[index].clone())
    }

    /// Adds a row, which has as many values as the query asks for.
    pub fn add(&mut self, values: Box<[Value]>) {
        debug_assert_eq!(values.len(), self.value_count, "values of a row");
        let slot = |slot: &Slot| match slot {
            Slot::Key(index) => values.get(*index).cloned().unwrap_or(Value::Null),
            _ => Value::Null,
        };
        let sort = self.order.sort_keys(&slot);
        self.push(Row { sort, values });
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
        other.rows.into_iter().for_each(|row| self.push(row));
    }

    /// The best rows, the best first.
    #[must_use]
    pub fn into_sorted(self) -> Vec<Box<[Value]>> {
        self.rows.into_sorted_vec().into_iter().map(|row| row.values).collect()
    }

    /// How many rows there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Whether `other` answers the same question.
    pub(crate) fn fits(&self, other: &Self) -> bool {
        self.value_count == other.value_count && self.rows_max == other.rows_max
    }

    /// Bytes held, about: to be compared with the query's budget.
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
        let values = self.values.iter().map(value_bytes);
        size_of::<Self>() + sort.sum::<usize>() + values.sum::<usize>()
    }
}

fn leading(query: &Query) -> Option<(usize, Direction)> {
    let Shape::Rows { values } = &query.shape else { return None };
    match query.order.first() {
        None => (!values.is_empty()).then_some((0, Direction::ASCENDING)),
        Some(key) => match key.expr {
            Expr::Leaf(Slot::Key(index)) if index < values.len() => {
                let direction =
                    Direction { descending: key.descending, nulls_first: key.nulls_first };
                Some((index, direction))
            }
            _ => None,
        },
    }
}

#[cfg(test)]
mod tests;
