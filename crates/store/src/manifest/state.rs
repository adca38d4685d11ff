//! The sum of all records so far: the same at run time and at replay.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use hadal_types::TableName;
use hadal_types::limits::BATCH_IDS_MAX;

use super::record::Record;
use crate::block_record::BlockRecord;
use crate::change::{DroppedRows, RememberedBatch};
use crate::error::Error;
use crate::ids::BlockNumber;
use crate::sequence_set::SequenceSet;

/// The manifest's content.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct State {
    pub(crate) blocks: BTreeMap<BlockNumber, BlockRecord>,
    pub(crate) consumed: SequenceSet,
    /// Per table, oldest first.
    pub(crate) remembered: BTreeMap<TableName, VecDeque<RememberedBatch>>,
    pub(crate) settings: BTreeMap<TableName, Vec<u8>>,
    pub(crate) dropped_rows: BTreeMap<TableName, DroppedRows>,
    /// The log files that are needed, by the last record.
    pub(crate) logs: BTreeSet<u64>,
    /// At least this value, and above every block number so far.
    pub(crate) next_block: u64,
    /// At least this value, and above every consumed sequence.
    pub(crate) next_sequence: u64,
}

impl State {
    /// Applies a record, or fails and changes nothing if it does not fit.
    pub(crate) fn apply(&mut self, record: &Record) -> Result<(), Error> {
        self.check(record)?;
        for table in &record.drops {
            self.remembered.remove(table);
            self.settings.remove(table);
            self.dropped_rows.remove(table);
        }
        for number in &record.removes {
            self.blocks.remove(number);
        }
        for block in &record.adds {
            self.blocks.insert(block.number, block.clone());
            self.next_block = self.next_block.max(block.number.0.saturating_add(1));
        }
        for (first, last) in record.consumed.iter() {
            self.consumed.insert(first, last);
        }
        if let Some(last) = self.consumed.last() {
            self.next_sequence = self.next_sequence.max(last.saturating_add(1));
        }
        self.remember(record);
        for (table, bytes) in &record.settings {
            if bytes.is_empty() {
                self.settings.remove(table);
            } else {
                self.settings.insert(table.clone(), bytes.clone());
            }
        }
        self.logs.clone_from(&record.logs);
        for (table, dropped) in &record.dropped_rows {
            let entry = self.dropped_rows.entry(table.clone());
            entry.and_modify(|total| *total = total.and(*dropped)).or_insert(*dropped);
        }
        Ok(())
    }

    /// Fails if the record removes a missing block, or adds an existing number.
    pub(crate) fn check(&self, record: &Record) -> Result<(), Error> {
        let mut removed = BTreeMap::new();
        for number in &record.removes {
            if !self.blocks.contains_key(number) || removed.insert(*number, ()).is_some() {
                return Err(Error::Block(*number, "is to be removed and is not there"));
            }
        }
        // Usually they are in order, and then no number can repeat.
        let are_in_order = record.adds.is_sorted_by(|one, next| one.number < next.number);
        let last = self.blocks.last_key_value().map(|(last, _)| *last);
        let mut added = BTreeSet::new();
        for &BlockRecord { number, .. } in &record.adds {
            let is_there = Some(number) <= last && self.blocks.contains_key(&number);
            if is_there || (!are_in_order && !added.insert(number)) {
                return Err(Error::Block(number, "is to be added and is there"));
            }
        }
        Ok(())
    }

    fn remember(&mut self, record: &Record) {
        for batch in &record.remembered {
            let batches = self.remembered.entry(batch.table.clone()).or_default();
            batches.push_back(batch.clone());
            if batches.len() > BATCH_IDS_MAX {
                batches.pop_front();
            }
        }
        let Some(before) = record.forget_before else { return };
        for batches in self.remembered.values_mut() {
            while batches.front().is_some_and(|batch| batch.time < before) {
                batches.pop_front();
            }
        }
        self.remembered.retain(|_, batches| !batches.is_empty());
    }

    /// Records that make this state from an empty one: one per table, and one for the rest.
    pub(crate) fn records(&self) -> Vec<Record> {
        let mut tables: BTreeMap<&TableName, Record> = BTreeMap::new();
        for block in self.blocks.values() {
            tables.entry(&block.table).or_default().adds.push(block.clone());
        }
        for (table, batches) in &self.remembered {
            tables.entry(table).or_default().remembered = batches.iter().cloned().collect();
        }
        for (table, bytes) in &self.settings {
            tables.entry(table).or_default().settings = vec![(table.clone(), bytes.clone())];
        }
        for (table, dropped) in &self.dropped_rows {
            tables.entry(table).or_default().dropped_rows = vec![(table.clone(), *dropped)];
        }
        let (consumed, logs) = (self.consumed.clone(), self.logs.clone());
        let rest = Record { consumed, logs, ..Record::default() };
        tables.into_values().chain([rest]).collect()
    }
}
