//! The values of one row without its nulls: in a table of thousands of columns, most rows have few
//! values.

use std::cmp::Ordering;
use std::ops::Index;

use hadal_types::Value;

/// The values of a row, by column. Rows compare column by column.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SparseRow {
    count: usize,
    /// The columns that have a value, ascending.
    indexes: Vec<u16>,
    /// The values of these columns; none is null.
    values: Vec<Value>,
}

/// Initial capacity for values.
const FIRST_ROOM: usize = 32;

static NULL: Value = Value::Null;

impl SparseRow {
    /// A row of `count` nulls. At most 65,536 columns can have a value
    /// ([`OUTPUTS_MAX`](hadal_types::limits::OUTPUTS_MAX) is smaller); the columns beyond stay
    /// null.
    #[must_use]
    pub fn new(count: usize) -> Self {
        let room = count.min(FIRST_ROOM);
        Self { count, indexes: Vec::with_capacity(room), values: Vec::with_capacity(room) }
    }

    /// Sets a column's value. Columns must come in ascending order, each once.
    pub fn push(&mut self, index: usize, value: Value) {
        debug_assert!(self.indexes.last().is_none_or(|&last| usize::from(last) < index), "order");
        if let Ok(index) = u16::try_from(index)
            && !value.is_null()
        {
            self.indexes.push(index);
            self.values.push(value);
        }
    }

    /// The number of columns.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are no columns.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// A column's value.
    #[must_use]
    pub fn get(&self, index: usize) -> &Value {
        let position =
            u16::try_from(index).ok().and_then(|index| self.indexes.binary_search(&index).ok());
        position.and_then(|position| self.values.get(position)).unwrap_or(&NULL)
    }

    /// All values, by column, including nulls.
    pub fn iter(&self) -> impl Iterator<Item = &Value> {
        let mut values = self.indexes.iter().zip(&self.values).peekable();
        (0..self.count).map(move |index| {
            let next = values.next_if(|(column, _)| usize::from(**column) == index);
            next.map_or(&NULL, |(_, value)| value)
        })
    }

    /// The values that are not null, with their columns.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (usize, &Value)> {
        self.indexes.iter().map(|index| usize::from(*index)).zip(&self.values)
    }

    /// Frees spare capacity if it is more than half.
    pub(crate) fn shrink(&mut self) {
        if self.values.capacity() > 2 * self.values.len() {
            self.indexes.shrink_to_fit();
            self.values.shrink_to_fit();
        }
    }

    /// Approximate bytes of memory.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let heap: usize = self.values.iter().map(Value::heap_bytes).sum();
        let each = size_of::<u16>() + size_of::<Value>();
        size_of::<Self>() + self.values.capacity() * each + heap
    }
}

impl Ord for SparseRow {
    fn cmp(&self, other: &Self) -> Ordering {
        let entries = self.indexes.iter().zip(&self.values);
        for ((index, value), (others, another)) in
            entries.zip(other.indexes.iter().zip(&other.values))
        {
            let order = match index.cmp(others) {
                Ordering::Equal => value.cmp(another),
                // The row with the smaller index has a value where the other has null, and null is
                // largest.
                order => order,
            };
            if order.is_ne() {
                return order;
            }
        }
        let rest = other.indexes.len().cmp(&self.indexes.len());
        rest.then(self.count.cmp(&other.count))
    }
}

impl PartialOrd for SparseRow {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Index<usize> for SparseRow {
    type Output = Value;

    fn index(&self, index: usize) -> &Value {
        self.get(index)
    }
}

impl FromIterator<Value> for SparseRow {
    fn from_iter<I: IntoIterator<Item = Value>>(values: I) -> Self {
        let values = values.into_iter();
        let mut row = Self { count: 0, ..Self::new(values.size_hint().0) };
        for value in values {
            row.push(row.count, value);
            row.count += 1;
        }
        row.shrink();
        row
    }
}

impl From<Vec<Value>> for SparseRow {
    fn from(values: Vec<Value>) -> Self {
        values.into_iter().collect()
    }
}

impl<const COUNT: usize> From<[Value; COUNT]> for SparseRow {
    fn from(values: [Value; COUNT]) -> Self {
        values.into_iter().collect()
    }
}

impl PartialEq<Vec<Value>> for SparseRow {
    fn eq(&self, other: &Vec<Value>) -> bool {
        self.count == other.len() && self.iter().eq(other)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rows() -> impl Strategy<Value = Vec<Value>> {
        let value = prop_oneof![
            Just(Value::Null),
            (0i64..3).prop_map(Value::integer),
            "[ab]?".prop_map(|text| Value::string(&text)),
        ];
        prop::collection::vec(value, 4)
    }

    proptest! {
        #[test]
        fn rows_are_as_all_of_their_values(left in rows(), right in rows()) {
            let (row, other) = (SparseRow::from(left.clone()), SparseRow::from(right.clone()));
            prop_assert!(row == left && row.iter().eq(&left));
            prop_assert!((0..5).all(|index| row[index] == *left.get(index).unwrap_or(&NULL)));
            prop_assert_eq!(row.cmp(&other), left.cmp(&right));
        }
    }

    #[test]
    fn what_is_null_takes_no_room() {
        let mut row = SparseRow::new(5_000);
        row.push(4_999, Value::integer(1));
        assert!(row.bytes() < 2_000 && row[4_999] == Value::integer(1) && row[0].is_null());
        assert_eq!(row.iter().count(), 5_000);
    }
}
