//! The tables of all leaves, as one.

use std::collections::BTreeMap;
use std::sync::Arc;

use hadal_types::{TableName, TableSchema};
use hadal_wire::{LeafName, LeafState, PeerStatus, TableStatus};

/// All tables at one moment, and the leaves that they were gathered from.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    /// Tables by name.
    pub tables: BTreeMap<TableName, TableStatus>,
    /// The leaves: name, state, bytes of row blocks.
    pub leaves: Vec<(LeafName, LeafState, u64)>,
}

impl Catalog {
    /// What all leaves hold together.
    #[must_use]
    pub fn new(status: &PeerStatus) -> Self {
        let mut catalog = Self::default();
        for leaf in &status.leaves {
            catalog.leaves.push((leaf.name.clone(), leaf.state, leaf.block_bytes));
            for (name, table) in leaf.tables.iter() {
                match catalog.tables.get_mut(name) {
                    Some(own) => merge(own, table),
                    None => {
                        catalog.tables.insert(name.clone(), (**table).clone());
                    }
                }
            }
        }
        catalog
    }

    /// The schema of a table.
    #[must_use]
    pub fn schema(&self, table: &str) -> Option<Arc<TableSchema>> {
        self.tables.get(table).map(|table| Arc::clone(&table.schema))
    }
}

fn merge(own: &mut TableStatus, other: &TableStatus) {
    own.schema = Arc::new((*own.schema).clone().merge(&other.schema));
    own.blocks += other.blocks;
    own.block_bytes += other.block_bytes;
    own.raw_bytes += other.raw_bytes;
    own.dropped_rows += other.dropped_rows;
}
