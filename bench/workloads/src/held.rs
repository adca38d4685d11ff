//! Blocks in memory as in a leaf: verified once, and with ids for the strings of their
//! dictionaries. The ids are computed when a column is first grouped by.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use hadal_aggregate::Partial;
use hadal_block::{BlockError, BlockView, Chill, ColumnView, chill};
use hadal_query::Query;
use hadal_scan::{BlockContext, InternedIds, Scan, SharedInterner};
use hadal_types::ColumnName;
use parking_lot::Mutex;

use crate::error::Error;

/// The blocks of a table.
#[derive(Default)]
pub(crate) struct HeldTable {
    blocks: Vec<HeldBlock>,
    interners: Mutex<BTreeMap<ColumnName, Arc<SharedInterner>>>,
}

struct HeldBlock {
    bytes: Vec<u8>,
    /// By column.
    interned: Vec<OnceLock<Option<InternedIds>>>,
}

impl HeldTable {
    pub(crate) fn add(&mut self, bytes: Vec<u8>) -> Result<(), Error> {
        let view = BlockView::parse(&bytes)?;
        view.verify()?;
        let interned = view.columns().iter().map(|_| OnceLock::new()).collect();
        self.blocks.push(HeldBlock { bytes, interned });
        Ok(())
    }

    /// The same rows, in cold blocks where that takes fewer bytes.
    pub(crate) fn cold(&self) -> Result<Self, Error> {
        let mut cold = Self::default();
        for block in &self.blocks {
            let chilled = chill(&BlockView::parse(&block.bytes)?, Chill::WhereItSaves)?;
            cold.add(chilled.unwrap_or_else(|| block.bytes.clone()))?;
        }
        Ok(cold)
    }

    pub(crate) fn blocks(&self) -> usize {
        self.blocks.len()
    }

    /// Encoded bytes of all blocks.
    pub(crate) fn bytes(&self) -> usize {
        self.blocks.iter().map(|block| block.bytes.len()).sum()
    }

    /// The answer of all blocks. Zone maps are not used to answer sums.
    pub(crate) fn answer(&self, query: &Arc<Query>) -> Result<Partial, Error> {
        let scan = Scan::new(Arc::clone(query))?.without_zone_answers();
        let mut partial = Partial::empty(query);
        for block in &self.blocks {
            let view = BlockView::parse(&block.bytes)?;
            scan.block_of(&view, &HeldBlockContext { block, table: self }, &mut partial)?;
        }
        Ok(partial)
    }
}

/// The cached state of a block.
struct HeldBlockContext<'t> {
    block: &'t HeldBlock,
    table: &'t HeldTable,
}

impl<'a> BlockContext<'a> for HeldBlockContext<'_> {
    fn check(&self, _: usize, _: &ColumnView<'a>) -> Result<(), BlockError> {
        Ok(())
    }

    fn interned(&self, index: usize, column: &ColumnView<'a>) -> Option<InternedIds> {
        let found_out = || {
            let mut all = self.table.interners.lock();
            let interner = Arc::clone(all.entry(column.name().clone()).or_default());
            Some(InternedIds { ids: interner.ids_of(column)?, interner })
        };
        self.block.interned.get(index)?.get_or_init(found_out).clone()
    }
}
