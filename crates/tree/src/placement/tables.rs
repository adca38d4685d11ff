//! Which tables exist, and how many bytes of each are on which leaf.

use std::collections::HashMap;

use hadal_peer::SinkError;
use hadal_types::{LeafName, TableName};

/// Tables of all leaves, each counted once.
#[derive(Debug)]
pub(super) struct Tables {
    tables: HashMap<TableName, Table>,
    tables_max: usize,
    /// Bytes of all tables, by leaf.
    bytes: HashMap<LeafName, u64>,
}

#[derive(Debug, Default)]
struct Table {
    /// Bytes by leaf.
    bytes: HashMap<LeafName, u64>,
    /// Whether a leaf has taken a batch of it.
    is_there: bool,
    /// Batches under way: until one is taken, the table consists of these only.
    under_way: usize,
}

impl Tables {
    pub(super) fn new(tables_max: usize) -> Self {
        Self { tables: HashMap::new(), tables_max, bytes: HashMap::new() }
    }

    /// Adds bytes of a leaf, regardless of the limit.
    pub(super) fn add(&mut self, name: &TableName, leaf: &LeafName, bytes: u64) {
        let table = self.tables.entry(name.clone()).or_default();
        table.is_there = true;
        *table.bytes.entry(leaf.clone()).or_default() += bytes;
        *self.bytes.entry(leaf.clone()).or_default() += bytes;
    }

    /// Removes the bytes of a leaf.
    pub(super) fn forget_leaf(&mut self, leaf: &LeafName) {
        self.bytes.remove(leaf);
        self.tables.retain(|_, table| {
            if table.bytes.remove(leaf).is_some() {
                table.is_there = !table.bytes.is_empty();
            }
            table.is_there || table.under_way > 0
        });
    }

    /// Registers a batch of a table, unless the table would exceed the limit of tables.
    pub(super) fn begin(&mut self, name: &TableName) -> Result<(), SinkError> {
        let tables_max = self.tables_max;
        if self.tables.len() >= tables_max && !self.tables.contains_key(name) {
            let message =
                format!("too many tables: the limit is {tables_max}; {name} would be one more");
            return Err(SinkError::Limit(message));
        }
        let table = self.tables.entry(name.clone()).or_default();
        table.under_way += 1;
        Ok(())
    }

    /// Ends what [`Tables::begin`] began; a table without any taken batch is removed.
    pub(super) fn end(&mut self, name: &TableName) {
        let Some(table) = self.tables.get_mut(name) else { return };
        table.under_way = table.under_way.saturating_sub(1);
        if table.under_way == 0 && !table.is_there {
            self.tables.remove(name);
        }
    }

    /// Bytes on a leaf: of the table, and of all tables.
    pub(super) fn load(&self, name: &TableName, leaf: &LeafName) -> (u64, u64) {
        let of_leaf = |bytes: &HashMap<LeafName, u64>| bytes.get(leaf).copied().unwrap_or(0);
        (self.tables.get(name).map_or(0, |table| of_leaf(&table.bytes)), of_leaf(&self.bytes))
    }

    /// Forgets a table that was dropped.
    pub(super) fn forget(&mut self, name: &TableName) {
        let Some(table) = self.tables.get_mut(name) else { return };
        for (leaf, bytes) in std::mem::take(&mut table.bytes) {
            if let Some(all) = self.bytes.get_mut(&leaf) {
                *all = all.saturating_sub(bytes);
            }
        }
        table.is_there = false;
        if table.under_way == 0 {
            self.tables.remove(name);
        }
    }

    #[cfg(test)]
    pub(super) fn count(&self) -> usize {
        self.tables.len()
    }
}
