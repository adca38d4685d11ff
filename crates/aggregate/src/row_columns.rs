//! Raw rows as columns: from the scan to the encoders of answers, no cell is a value of its own.

pub(crate) mod sparse_column;
pub(crate) mod typed_values;
pub(crate) mod value_column;

use std::sync::Arc;

use hadal_types::Value;

use crate::row_columns::value_column::ValueColumn;
use crate::sparse_row::SparseRow;

/// Rows with the same columns.
#[derive(Clone, Debug, Default)]
pub struct RowColumns {
    rows: usize,
    columns: Vec<Arc<ValueColumn>>,
}

impl RowColumns {
    /// No rows of `count` columns.
    #[must_use]
    pub fn none(count: usize) -> Self {
        Self { rows: 0, columns: (0..count).map(|_| Arc::new(ValueColumn::nulls(0))).collect() }
    }

    /// `rows` rows with these columns. A column of another length is cut, or ends with nulls.
    #[must_use]
    pub fn new(rows: usize, columns: Vec<ValueColumn>) -> Self {
        let fitted = |mut column: ValueColumn| {
            column.truncate(rows);
            column.pad(rows);
            Arc::new(column)
        };
        Self { rows, columns: columns.into_iter().map(fitted).collect() }
    }

    /// These rows; each has `count` values. Their values stay as they are, one by one.
    #[must_use]
    pub fn of_rows(rows: &[SparseRow], count: usize) -> Self {
        let mut columns: Vec<ValueColumn> = (0..count).map(|_| ValueColumn::nulls(0)).collect();
        for (row, values) in rows.iter().enumerate() {
            for (index, value) in values.entries() {
                if let Some(column) = columns.get_mut(index) {
                    column.put(row, value.clone());
                }
            }
        }
        Self::new(rows.len(), columns)
    }

    /// The number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The columns; each has a value, or null, for each row.
    #[must_use]
    pub fn columns(&self) -> &[Arc<ValueColumn>] {
        &self.columns
    }

    /// These columns, each with a value for each of `rows` rows.
    pub(crate) fn of_columns(rows: usize, columns: Vec<Arc<ValueColumn>>) -> Self {
        Self { rows, columns }
    }

    /// The value of a column in a row; null for a row or column that does not exist.
    #[must_use]
    pub fn value(&self, row: usize, index: usize) -> Value {
        self.columns.get(index).map_or(Value::Null, |column| column.value(row))
    }

    /// Adds the rows of `other`, which must have as many columns.
    pub(crate) fn append(&mut self, other: Self) {
        debug_assert_eq!(self.columns.len(), other.columns.len(), "columns");
        if self.rows == 0 {
            *self = other;
            return;
        }
        for (column, more) in self.columns.iter_mut().zip(other.columns) {
            Arc::make_mut(column).append(Arc::unwrap_or_clone(more));
        }
        self.rows += other.rows;
    }

    /// These rows, in this order.
    #[must_use]
    pub fn gather(&self, rows: &[u32]) -> Self {
        let gathered = |column: &Arc<ValueColumn>| Arc::new(column.gather(rows));
        Self { rows: rows.len(), columns: self.columns.iter().map(gathered).collect() }
    }

    /// Keeps the first `rows` rows.
    pub fn truncate(&mut self, rows: usize) {
        if rows < self.rows {
            self.rows = rows;
            self.columns.iter_mut().for_each(|column| Arc::make_mut(column).truncate(rows));
        }
    }

    /// The rows one by one.
    #[must_use]
    pub fn to_rows(&self) -> Vec<SparseRow> {
        let mut rows: Vec<SparseRow> =
            (0..self.rows).map(|_| SparseRow::new(self.columns.len())).collect();
        for (index, column) in self.columns.iter().enumerate() {
            column.for_each_value(|row, value| {
                if let Some(row) = rows.get_mut(row) {
                    row.push(index, value);
                }
            });
        }
        rows.iter_mut().for_each(SparseRow::shrink);
        rows
    }

    /// Approximate bytes of [`Self::to_rows`], without its spare capacity.
    #[must_use]
    pub fn bytes_as_rows(&self) -> usize {
        let columns: usize = self.columns.iter().map(|column| column.bytes_of_values()).sum();
        columns + self.rows * size_of::<SparseRow>()
    }

    /// Approximate bytes of a row's values.
    #[must_use]
    pub fn row_bytes(&self, row: usize) -> usize {
        self.columns.iter().map(|column| column.bytes_of(row)).sum()
    }

    /// Approximate bytes of memory. Costs a step for each text.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.columns.iter().map(|column| column.bytes()).sum()
    }

    /// Approximate bytes of a copy, which shares texts and lists.
    pub(crate) fn flat_bytes(&self) -> usize {
        self.columns.iter().map(|column| column.flat_bytes()).sum()
    }
}

#[cfg(test)]
mod tests;
