//! Opens the parts of a store: `spec/segments.md`, section 4.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use hadal_types::{Micros, TableName};

use crate::block_record::BlockRecord;
use crate::change::StoredBlock;
use crate::clean_shutdown;
use crate::data_loss::{Losses, TotalLoss};
use crate::error::Error;
use crate::folders::Folders;
use crate::ids::BlockNumber;
use crate::log::{self, Replayed};
use crate::manifest::{self, Manifest, State};
use crate::options::Sizes;
use crate::preopen::preopened::{Adopted, Preopened};
use crate::recovered_table::{RecoveredFrame, RecoveredTable, WaitingBlock};
use crate::recovery_report::{LostBlock, Report};
use crate::segment::BlockBytes;
use crate::segment::layout;
use crate::segment::open::{OpenedSegments, remove_all};
use crate::segment::pool::Pool;

/// The content of a store by table, and a report.
#[derive(Debug, Default)]
pub struct Recovery {
    /// The content of each table. Tables without content are missing.
    pub tables: BTreeMap<TableName, RecoveredTable>,
    /// The report of the open.
    pub report: Report,
}

/// The parts of an open store with a folder.
pub(crate) struct Opened {
    pub(crate) manifest: Manifest,
    pub(crate) state: State,
    pub(crate) pool: Arc<Pool>,
    pub(crate) replayed: Replayed,
    pub(crate) recovery: Recovery,
    pub(crate) losses: Losses,
    /// The bytes of all blocks that need not be restored.
    pub(crate) held: BTreeMap<BlockNumber, BlockBytes>,
}

/// The number of opens that took preopened blocks.
#[cfg(test)]
pub(crate) static ADOPTED: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);

/// Facts about a store from before it is opened.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OpenContext {
    /// The current time.
    pub(crate) now: Micros,
    /// Whether its folder had a store before.
    pub(crate) expects_data: bool,
}

/// Opens manifest, segments and log, in this order. Losses are recorded before the log is changed.
pub(crate) fn open(
    folders: &Folders,
    sizes: Sizes,
    preopened: Option<Preopened>,
    context: OpenContext,
) -> Result<Opened, Error> {
    let is_new = refuse_orphaned_files(folders)?;
    let root = Arc::clone(&folders.root);
    let (snapshot, adopted) =
        preopened.map(|preopened| (preopened.snapshot, preopened.adopted)).unzip();
    let ((manifest, state, torn), since) =
        Manifest::open(root, fresh_salt(), sizes.manifest_bytes_min, snapshot)?;
    let salt = manifest.salt();
    let mut recovery = Recovery::default();
    recovery.report.salt = salt;
    recovery.report.manifest_bytes_cut = torn;
    recovery.report.manifest_mended = manifest.mended().map(str::to_owned);

    let on_disk = left_on_disk(folders, &manifest, &state)?;
    recovery.report.was_stopped = on_disk.is_some();
    let adopted = adopted.zip(since);
    let adopted = adopted.and_then(|(adopted, since)| adopted.now(since, &state, on_disk.as_ref()));
    let (pool, held) = match adopted {
        Some(adopted) => recovery.take_adopted(adopted, &state, on_disk.as_ref())?,
        None => {
            let named: Vec<_> = state.blocks.values().collect();
            let (pool, opened) =
                Pool::open(folders.clone(), salt, sizes.segment_bytes, &named, on_disk.as_ref())?;
            (pool, recovery.take_blocks(&named, opened).into_iter().collect())
        }
    };

    let (marks, report) = (manifest.marks(), &mut recovery.report);
    let mut replayed = log::replay(&*folders.log, salt, &state, marks, report)?;
    let losses = Losses::open(Arc::clone(&folders.root), salt, context.now)?;
    let total_losses: &[TotalLoss] =
        if is_new && context.expects_data { &[TotalLoss::Folder] } else { &[] };
    // If it cannot be written, it is reported nevertheless, and written later.
    losses.note(&replayed.losses, total_losses, context.now);
    let last_lost = losses.log_files().last().map_or(0, |last| last.saturating_add(1));
    replayed.next_file = replayed.next_file.max(last_lost);
    replayed.apply(&*folders.log)?;
    recovery.take_frames(&mut replayed);
    recovery.take_rest(&state);
    Ok(Opened { manifest, state, pool, replayed, recovery, losses, held })
}

/// The blocks that a clean stop left only on disk; all others are in memory. `None` if there was no
/// clean stop, or this process has no memory of its own.
fn left_on_disk(
    folders: &Folders,
    manifest: &Manifest,
    state: &State,
) -> Result<Option<BTreeSet<BlockNumber>>, Error> {
    let (salt, position) = (manifest.salt(), manifest.position_read());
    let salt_on_disk = clean_shutdown::salt_on_disk(salt).unwrap_or(salt);
    let without_memory = clean_shutdown::take(&*folders.root, salt_on_disk, position)?.is_some();
    let Some(memory) = &folders.memory else { return Ok(None) };
    let with_memory = clean_shutdown::take(&*memory.folder, salt, position)?;
    if with_memory.is_some() || !without_memory {
        return Ok(with_memory);
    }
    // The segments in memory are older than that process.
    remove_all(&*memory.folder)?;
    Ok(Some(state.blocks.keys().copied().collect()))
}

/// Refuses a folder with files but without a manifest and its copy: nothing says which of its files
/// count, so it is not touched. Returns whether the folder is empty.
fn refuse_orphaned_files(folders: &Folders) -> Result<bool, Error> {
    let list = |disk: &Arc<dyn crate::disk::Disk>| {
        disk.list().map_err(|error| Error::io("list", &disk.path_of(""), error))
    };
    let names = [manifest::NAME, manifest::COPY_NAME];
    if list(&folders.root)?.iter().any(|name| names.contains(&name.as_str())) {
        return Ok(false);
    }
    let has_logs = list(&folders.log)?.iter().any(|name| log::number_of(name).is_some());
    let has_segments =
        list(&folders.segments)?.iter().any(|name| layout::number_of(name).is_some());
    if has_logs || has_segments {
        let path = folders.root.path_of(manifest::NAME);
        let what = "it is missing, and so is its copy, and there are log or segment files";
        return Err(Error::corrupt(&path, format!("{what}; {}", manifest::REMEDY)));
    }
    Ok(true)
}

/// A number that clients cannot know. The standard library's hash seed comes from the system's
/// source of randomness.
fn fresh_salt() -> u64 {
    RandomState::new().hash_one(std::process::id())
}

impl Recovery {
    fn table(&mut self, name: &TableName) -> &mut RecoveredTable {
        self.tables.entry(name.clone()).or_default()
    }

    /// Takes over the adopted blocks, and adopts the missing ones.
    fn take_adopted(
        &mut self,
        adopted: Adopted,
        state: &State,
        on_disk: Option<&BTreeSet<BlockNumber>>,
    ) -> Result<(Arc<Pool>, BTreeMap<BlockNumber, BlockBytes>), Error> {
        let Adopted { pool, tables, mut held, missing } = adopted;
        #[cfg(test)]
        ADOPTED.fetch_add(u64::from(!held.is_empty()), std::sync::atomic::Ordering::Relaxed);
        self.tables = tables;
        let named: Vec<_> = missing.iter().filter_map(|number| state.blocks.get(number)).collect();
        let opened = pool.adopt_all(&named, on_disk)?;
        held.extend(self.take_blocks(&named, opened));
        let with_more: BTreeSet<&TableName> = named.iter().map(|block| &block.table).collect();
        for table in with_more {
            if let Some(recovered) = self.tables.get_mut(table) {
                recovered.blocks.sort_by_key(|block| block.number);
            }
        }
        Ok((pool, held))
    }

    /// Returns the bytes of the blocks that need not be restored.
    fn take_blocks(
        &mut self,
        named: &[&BlockRecord],
        opened: OpenedSegments,
    ) -> Vec<(BlockNumber, BlockBytes)> {
        let Self { tables, report } = self;
        report.orphan_segments = opened.orphan_segments;
        report.reclaimed_bytes = opened.reclaimed_bytes;
        let mut held = Vec::with_capacity(opened.blocks.len());
        // Most blocks belong to the same table as the previous one.
        let mut last: Option<(&TableName, &mut RecoveredTable)> = None;
        for (named, block) in named.iter().zip(opened.blocks) {
            let BlockRecord { number, ref table, rows, checksum, .. } = **named;
            let bytes = match block {
                Ok(bytes) => bytes,
                Err(reason) => {
                    let table = table.clone();
                    report.lost_blocks.push(LostBlock { number, table, rows, reason });
                    continue;
                }
            };
            let recovered = match last.take() {
                Some((last, recovered)) if last == table => recovered,
                _ => tables.entry(table.clone()).or_default(),
            };
            let of = table.clone();
            if bytes.is_waiting() {
                recovered.waiting.push(WaitingBlock { number, rows, table: of, bytes, checksum });
            } else {
                held.push((number, bytes.clone()));
                recovered.take(StoredBlock { number, table: of, rows, bytes, checksum });
            }
            last = Some((table, recovered));
        }
        held
    }

    fn take_frames(&mut self, replayed: &mut Replayed) {
        for (sequence, batch) in std::mem::take(&mut replayed.batches) {
            let bytes = BlockBytes::from(batch.bytes);
            let frame = RecoveredFrame { sequence, batch: batch.batch, bytes };
            self.table(&batch.table).frames.push(frame);
        }
    }

    fn take_rest(&mut self, state: &State) {
        for (table, batches) in &state.remembered {
            self.table(table).remembered = batches.iter().cloned().collect();
        }
        for (table, settings) in &state.settings {
            self.table(table).settings = Some(settings.clone());
        }
        for (table, dropped) in &state.dropped_rows {
            self.table(table).dropped_rows = Some(*dropped);
        }
    }
}
