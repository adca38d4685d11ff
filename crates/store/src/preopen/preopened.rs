//! The state of a store that is read while another process has it, and the parts of this state that
//! stay valid.
//!
//! A block that the manifest names is written once and never altered, and its number is never
//! reused. So whatever was read from a block stays valid as long as the manifest names the block,
//! its file is the same, and the block is in memory. The mark of a clean stop lists the blocks that
//! are not in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use hadal_types::TableName;

use crate::block_record::BlockRecord;
use crate::change::StoredBlock;
use crate::error::Error;
use crate::folders::Folders;
use crate::ids::BlockNumber;
use crate::manifest::{ChangesSince, ManifestSnapshot, State};
use crate::options::Sizes;
use crate::recovered_table::RecoveredTable;
use crate::segment::BlockBytes;
use crate::segment::pool::Pool;

/// The preopened content of a store.
#[derive(Debug)]
pub(crate) struct Preopened {
    /// The manifest at that time.
    pub(crate) snapshot: ManifestSnapshot,
    pub(crate) adopted: Adopted,
}

/// The adopted blocks among those that counted.
#[derive(Debug)]
pub(crate) struct Adopted {
    pub(crate) pool: Arc<Pool>,
    /// The adopted blocks by table, without anything else.
    pub(crate) tables: BTreeMap<TableName, RecoveredTable>,
    pub(crate) held: BTreeMap<BlockNumber, BlockBytes>,
    /// Blocks that count and are not adopted.
    pub(crate) missing: BTreeSet<BlockNumber>,
}

impl Preopened {
    /// Reads the content of these folders. Changes nothing there.
    ///
    /// # Errors
    /// If the manifest cannot be read.
    pub(crate) fn find(folders: Folders, sizes: Sizes) -> Result<Self, Error> {
        let snapshot = ManifestSnapshot::read(&*folders.root)?;
        let named: Vec<&BlockRecord> = snapshot.state().blocks.values().collect();
        let (pool, blocks) = Pool::preopen(folders, snapshot.salt(), sizes.segment_bytes, &named);
        let mut adopted = Adopted {
            pool,
            tables: BTreeMap::new(),
            held: BTreeMap::new(),
            missing: BTreeSet::new(),
        };
        let mut held = Vec::with_capacity(named.len());
        for (&named, bytes) in named.iter().zip(blocks) {
            let BlockRecord { number, ref table, rows, checksum, .. } = *named;
            let Some(bytes) = bytes else {
                adopted.missing.insert(number);
                continue;
            };
            held.push((number, bytes.clone()));
            let block = StoredBlock { number, table: table.clone(), rows, bytes, checksum };
            adopted.tables.entry(table.clone()).or_default().take(block);
        }
        adopted.held = held.into_iter().collect();
        Ok(Self { snapshot, adopted })
    }
}

impl Adopted {
    /// The part that still counts in this state, which came about since; the blocks `on_disk` are
    /// not in memory. `None` if it cannot be trusted: then everything is opened again.
    pub(crate) fn now(
        mut self,
        since: ChangesSince,
        state: &State,
        on_disk: Option<&BTreeSet<BlockNumber>>,
    ) -> Option<Self> {
        if self.pool.memory().is_some() && on_disk.is_none() {
            return None;
        }
        self.forget(since.removed.iter());
        let on_disk = on_disk.into_iter().flatten();
        let elsewhere: Vec<&BlockRecord> = on_disk
            .filter(|number| self.held.contains_key(number))
            .filter_map(|number| state.blocks.get(number))
            .collect();
        self.forget(elsewhere.iter().copied());
        self.missing.extend(elsewhere.iter().map(|block| block.number));
        self.missing.extend(since.added);
        self.pool.is_as_in_folders().then_some(self)
    }

    fn forget<'a>(&mut self, gone: impl Iterator<Item = &'a BlockRecord>) {
        let mut by_table: BTreeMap<&TableName, BTreeSet<BlockNumber>> = BTreeMap::new();
        for block in gone {
            if self.held.remove(&block.number).is_some() {
                self.pool.forget(block.location);
                by_table.entry(&block.table).or_default().insert(block.number);
            }
        }
        for (table, gone) in by_table {
            if let Some(recovered) = self.tables.get_mut(table) {
                recovered.lose(&gone);
                if recovered.blocks.is_empty() {
                    self.tables.remove(table);
                }
            }
        }
    }
}
