//! A table is dropped.

use std::sync::Arc;

use hadal_store::Change;
use hadal_types::TableName;

use crate::leaf::Inner;
use crate::sync::{read, write};
use crate::table::block::Block;

impl Inner {
    pub(crate) fn drop_table(&self, name: &TableName) -> Result<u64, hadal_store::Error> {
        let gone = self.take_out(name)?;
        Ok(gone.iter().map(|block| block.rows as u64).sum())
    }

    /// Takes a table out, and returns its blocks. Whoever wants the list of tables waits for none of that:
    /// neither for a merge of the table, nor for the disk, nor for memory that is given back.
    fn take_out(&self, name: &TableName) -> Result<Vec<Arc<Block>>, hadal_store::Error> {
        let Some(table) = read(&self.tables).get(name).cloned() else { return Ok(Vec::new()) };
        let mut dropped = write(&table.dropped);
        if *dropped {
            // Two drops at once: the other one has it.
            return Ok(Vec::new());
        }
        self.store.commit(&Change { drops: vec![name.clone()], ..Change::default() })?;
        *dropped = true;
        drop(dropped);
        self.store.keep_on_disk(name, false);
        // Only now may there be another table of that name.
        write(&self.tables).remove(name);
        Ok(table.clear().to_vec())
    }
}
