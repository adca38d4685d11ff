//! Atomic changes: from a [`Change`] to a record of the manifest.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;

use hadal_types::BatchId;
use hadal_types::limits::TABLE_SETTINGS_BYTES_MAX;

use super::{Catalog, Durable, Store};
use crate::block_record::BlockRecord;
use crate::change::{Change, StoredBlock};
use crate::error::Error;
use crate::ids::Sequence;
use crate::log::Log;
use crate::manifest::{Manifest, Record, State};
use crate::segment::layout::BlockLocation;

impl Store {
    /// Makes one atomic, durable change: syncs the added blocks, then the record. Waits for the
    /// disk.
    ///
    /// # Errors
    /// [`Error::Full`]: nothing changed, and it may be tried again. [`Error::Poisoned`]: the change
    /// may or may not be there at the next open; this store refuses further changes.
    /// [`Error::Block`], [`Error::BatchId`], [`Error::Settings`], [`Error::ChangeSize`]: the change
    /// is wrong, nothing changed.
    pub fn commit(&self, change: &Change) -> Result<(), Error> {
        let mut catalog = self.catalog.lock();
        if catalog.is_stopped {
            return Err(Error::Closed);
        }
        let record = self.spell_out(&catalog.state, change)?;
        catalog.state.check(&record)?;
        if let (Some(manifest), Some(durable)) = (&mut catalog.manifest, &self.durable) {
            let persisted = durable.persist(manifest, &change.adds, &record);
            let has_failed = matches!(persisted, Err(Error::Poisoned { .. }));
            self.has_failed.fetch_or(has_failed, Ordering::Relaxed);
            persisted?;
        }
        catalog.state.apply(&record)?;
        for number in &record.removes {
            if let Some(bytes) = catalog.held.remove(number) {
                bytes.set_named(false);
            }
        }
        for block in &change.adds {
            catalog.held.insert(block.number, block.bytes.clone());
        }
        if let Some(durable) = &self.durable {
            self.count_failures(durable.log.consume(&record.consumed, &record.logs));
            self.compact_if_grown(&mut catalog, &durable.log);
        }
        Ok(())
    }

    /// The record of a change. A drop becomes the blocks and frames of its table.
    fn spell_out(&self, state: &State, change: &Change) -> Result<Record, Error> {
        let mut record = Record {
            drops: change.drops.clone(),
            removes: change.removes.clone(),
            consumed: change.consumed.iter().copied().collect(),
            remembered: change.remembered.clone(),
            settings: change.settings.clone(),
            forget_before: change.forget_before,
            dropped_rows: change.dropped_rows.clone(),
            adds: Vec::with_capacity(change.adds.len()),
            logs: BTreeSet::new(),
        };
        for table in &change.drops {
            let blocks = state.blocks.values().filter(|block| block.table == *table);
            record.removes.extend(blocks.map(|block| block.number));
            let frames = self.durable.as_ref().map(|durable| durable.log.live_of(table));
            for Sequence(sequence) in frames.into_iter().flatten() {
                record.consumed.insert(sequence, sequence);
            }
        }
        for (Sequence(first), Sequence(last)) in &change.given_up {
            record.consumed.insert(*first, *last);
        }
        if let Some(durable) = &self.durable {
            for (first, last) in durable.log.void().iter() {
                record.consumed.insert(first, last);
            }
            record.logs = durable.log.needed(&record.consumed);
        }
        // The change itself may also remove a block of a dropped table.
        record.removes.sort_unstable();
        record.removes.dedup();
        for block in &change.adds {
            record.adds.push(self.record_of(block)?);
        }
        for batch in &change.remembered {
            let refused = || Error::BatchId(batch.batch.to_string());
            BatchId::new(batch.batch.as_str()).ok_or_else(refused)?;
        }
        match change.settings.iter().find(|(_, bytes)| bytes.len() > TABLE_SETTINGS_BYTES_MAX) {
            Some((_, bytes)) => Err(Error::Settings(bytes.len())),
            None => Ok(record),
        }
    }

    fn record_of(&self, block: &StoredBlock) -> Result<BlockRecord, Error> {
        let location = match &self.durable {
            Some(durable) => block.bytes.location().filter(|_| block.bytes.is_in(&durable.pool)),
            None => Some(BlockLocation::IN_MEMORY),
        };
        let location = location.ok_or(Error::Block(block.number, "is of another store"))?;
        let StoredBlock { number, rows, checksum, .. } = *block;
        Ok(BlockRecord { number, table: block.table.clone(), rows, location, checksum })
    }

    fn compact_if_grown(&self, catalog: &mut Catalog, log: &Log) {
        let Catalog { state, manifest: Some(manifest), .. } = catalog else { return };
        if !manifest.wants_compaction() {
            return;
        }
        if let Some(last) = log.live_from().0.checked_sub(1) {
            state.consumed.insert(0, last);
        }
        state.next_sequence = log.next_sequence().0;
        state.next_block = self.next_block.load(Ordering::Relaxed);
        // The record that grew the file is durable: the change did not fail.
        self.count_failures(u64::from(manifest.compact(state).is_err()));
    }
}

impl Durable {
    /// Makes the added blocks durable, then the record that names them.
    fn persist(
        &self,
        manifest: &mut Manifest,
        adds: &[StoredBlock],
        record: &Record,
    ) -> Result<(), Error> {
        manifest.check()?;
        manifest.note_marks(self.log.marks());
        if !adds.is_empty() {
            self.pool.sync().map_err(|error| manifest.poison(error.to_string()))?;
        }
        adds.iter().for_each(|block| block.bytes.set_named(true));
        let result = manifest.append(record);
        // After any other failure the record may be on disk, so the blocks must stay.
        if let Err(Error::Full(_) | Error::ChangeSize(_)) = result {
            adds.iter().for_each(|block| block.bytes.set_named(false));
        }
        result
    }
}
