//! A column of any values, without its nulls: in a table of thousands of columns, most are null in
//! most rows, and a column may hold values of several kinds.

use hadal_types::Value;

static NULL: Value = Value::Null;

/// The rows that have a value, and their values.
#[derive(Clone, Debug, Default)]
pub struct SparseColumn {
    rows: usize,
    /// The rows that have a value, ascending.
    indexes: Vec<u32>,
    /// The values of these rows; none is null.
    values: Vec<Value>,
}

impl SparseColumn {
    /// `rows` nulls.
    #[must_use]
    pub fn nulls(rows: usize) -> Self {
        Self { rows, ..Self::default() }
    }

    /// Sets the value of a row beyond all rows so far; the rows in between are null.
    pub fn put(&mut self, row: usize, value: Value) {
        debug_assert!(row >= self.rows, "rows ascend");
        self.rows = row + 1;
        if let Ok(row) = u32::try_from(row)
            && !value.is_null()
        {
            self.indexes.push(row);
            self.values.push(value);
        }
    }

    /// The number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// The row's value.
    #[must_use]
    pub fn get(&self, row: usize) -> &Value {
        let position = match self.values.len() == self.rows {
            true => Some(row),
            false => u32::try_from(row).ok().and_then(|row| self.indexes.binary_search(&row).ok()),
        };
        position.and_then(|position| self.values.get(position)).unwrap_or(&NULL)
    }

    /// The values with their rows.
    pub(super) fn entries(&self) -> impl Iterator<Item = (usize, &Value)> {
        self.indexes.iter().map(|row| *row as usize).zip(&self.values)
    }

    /// The values.
    pub(super) fn values(&self) -> &[Value] {
        &self.values
    }

    pub(super) fn append(&mut self, other: Self) {
        let rows = self.rows + other.rows;
        let indexes = other.indexes.into_iter().map(|row| self.rows + row as usize);
        let indexes = indexes.map(|row| u32::try_from(row).unwrap_or(u32::MAX));
        self.indexes.extend(indexes);
        self.values.extend(other.values);
        self.rows = rows;
    }

    pub(super) fn gather(&self, rows: &[u32]) -> Self {
        let mut gathered = Self::nulls(0);
        if !self.values.is_empty() {
            for (at, row) in rows.iter().enumerate() {
                gathered.put(at, self.get(*row as usize).clone());
            }
        }
        gathered.rows = rows.len();
        gathered
    }

    pub(super) fn truncate(&mut self, rows: usize) {
        self.rows = self.rows.min(rows);
        let kept = self.indexes.partition_point(|row| (*row as usize) < rows);
        self.indexes.truncate(kept);
        self.values.truncate(kept);
    }

    /// Adds nulls up to `rows` rows.
    pub(super) fn pad(&mut self, rows: usize) {
        self.rows = self.rows.max(rows);
    }

    /// Approximate bytes, without those of texts and lists.
    pub(super) fn flat_bytes(&self) -> usize {
        self.values.len() * (size_of::<u32>() + size_of::<Value>())
    }
}
