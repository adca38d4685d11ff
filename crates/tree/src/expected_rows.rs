//! How many rows of each table each leaf should hold, according to the acknowledgements that this
//! process received. The figures stand in for a leaf that does not answer.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use hadal_types::{LeafName, TableName};
use parking_lot::Mutex;

/// Rows by leaf and table.
#[derive(Debug, Default)]
pub struct ExpectedRows {
    rows: Mutex<BTreeMap<LeafName, HashMap<TableName, u64>>>,
}

impl ExpectedRows {
    /// Adds rows that a leaf acknowledged.
    pub fn add(&self, leaf: &LeafName, table: &TableName, rows: u64) {
        let mut all = self.rows.lock();
        *all.entry(leaf.clone()).or_default().entry(table.clone()).or_default() += rows;
    }

    /// Notes that a leaf has removed rows.
    pub fn sub(&self, leaf: &LeafName, table: &TableName, rows: u64) {
        let mut all = self.rows.lock();
        if let Some(expected) = all.get_mut(leaf).and_then(|tables| tables.get_mut(table)) {
            *expected = expected.saturating_sub(rows);
        }
    }

    /// Stores the rows that a leaf itself reports: it knows better, having expired rows.
    pub fn set(&self, leaf: &LeafName, table: &TableName, rows: u64) {
        self.rows.lock().entry(leaf.clone()).or_default().insert(table.clone(), rows);
    }

    /// Forgets a table that was dropped.
    pub fn forget(&self, table: &TableName) {
        for tables in self.rows.lock().values_mut() {
            tables.remove(table);
        }
    }

    /// Forgets a leaf that is no longer a member.
    pub fn forget_leaf(&self, leaf: &LeafName) {
        self.rows.lock().remove(leaf);
    }

    /// The leaves that should hold rows.
    #[must_use]
    pub fn leaves(&self) -> Vec<LeafName> {
        self.rows.lock().keys().cloned().collect()
    }

    /// The tables that any leaf should hold rows of.
    #[must_use]
    pub fn tables(&self) -> BTreeSet<TableName> {
        self.rows.lock().values().flat_map(HashMap::keys).cloned().collect()
    }

    /// The leaves that should hold rows of a table.
    #[must_use]
    pub fn leaves_of(&self, table: &TableName) -> Vec<LeafName> {
        let all = self.rows.lock();
        let holds =
            all.iter().filter(|(_, tables)| tables.get(table).is_some_and(|rows| *rows > 0));
        holds.map(|(leaf, _)| leaf.clone()).collect()
    }

    /// Returns the number of the table's rows that the leaf should hold.
    #[must_use]
    pub fn expected(&self, leaf: &LeafName, table: &TableName) -> u64 {
        let rows = self.rows.lock();
        rows.get(leaf).and_then(|tables| tables.get(table)).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn acknowledged_rows_are_expected() {
        let (expected_rows, leaf) = (ExpectedRows::default(), LeafName("leaf-0".into()));
        let table = TableName::new("t").expect("a name");
        assert_eq!(expected_rows.expected(&leaf, &table), 0);
        expected_rows.add(&leaf, &table, 3);
        expected_rows.add(&leaf, &table, 4);
        assert_eq!(expected_rows.expected(&leaf, &table), 7);
        expected_rows.set(&leaf, &table, 5);
        assert_eq!(expected_rows.expected(&leaf, &table), 5);
        assert_eq!(expected_rows.tables(), [table.clone()].into());
        assert_eq!(expected_rows.leaves(), std::slice::from_ref(&leaf));
        expected_rows.forget(&table);
        assert!(expected_rows.tables().is_empty());
        assert_eq!(expected_rows.expected(&leaf, &table), 0);
    }
}
