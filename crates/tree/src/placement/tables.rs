//! What tables there are, and how much of each is on which leaf.

use std::collections::HashMap;

use hadal_peer::SinkError;
use hadal_types::TableName;

/// Tables of all leaves, each counted once.
#[derive(Debug)]
pub(super) struct Tables {
    tables: HashMap<TableName, Table>,
    tables_max: usize,
    /// Bytes of all tables, by leaf.
    bytes: Vec<u64>,
}

#[derive(Debug)]
struct Table {
    /// By leaf.
    bytes: Vec<u64>,
    /// Some leaf has taken a batch of it.
    is_there: bool,
    /// Batches under way: until one is taken, they are all that there is of it.
    under_way: usize,
}

impl Tables {
    pub(super) fn new(leaves: usize, tables_max: usize) -> Self {
        Self { tables: HashMap::new(), tables_max, bytes: vec![0; leaves] }
    }

    /// Notes what a leaf has, whatever the limit is.
    pub(super) fn add(&mut self, name: &TableName, leaf: usize, bytes: u64) {
        let leaves = self.bytes.len();
        let table = self.tables.entry(name.clone()).or_insert_with(|| Table::new(leaves));
        table.is_there = true;
        table.bytes[leaf] += bytes;
        self.bytes[leaf] += bytes;
    }

    /// Lets a batch of a table come in, unless the table were one too many.
    pub(super) fn begin(&mut self, name: &TableName) -> Result<(), SinkError> {
        let (leaves, tables_max) = (self.bytes.len(), self.tables_max);
        if self.tables.len() >= tables_max && !self.tables.contains_key(name) {
            let message =
                format!("too many tables: the limit is {tables_max}; {name} would be one more");
            return Err(SinkError::Limit(message));
        }
        let table = self.tables.entry(name.clone()).or_insert_with(|| Table::new(leaves));
        table.under_way += 1;
        Ok(())
    }

    /// Ends what [`Tables::begin`] began; a table of which nothing was taken is none.
    pub(super) fn end(&mut self, name: &TableName) {
        let Some(table) = self.tables.get_mut(name) else { return };
        table.under_way = table.under_way.saturating_sub(1);
        if table.under_way == 0 && !table.is_there {
            self.tables.remove(name);
        }
    }

    /// How much is on a leaf: of the table, and of all.
    pub(super) fn load(&self, name: &TableName, leaf: usize) -> (u64, u64) {
        let own = self.tables.get(name).map_or(0, |table| table.bytes[leaf]);
        (own, self.bytes[leaf])
    }

    /// Notes that a table is no more.
    pub(super) fn forget(&mut self, name: &TableName) {
        let Some(table) = self.tables.get_mut(name) else { return };
        for (all, own) in self.bytes.iter_mut().zip(&mut table.bytes) {
            *all = all.saturating_sub(std::mem::take(own));
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

impl Table {
    fn new(leaves: usize) -> Self {
        Self { bytes: vec![0; leaves], is_there: false, under_way: 0 }
    }
}
