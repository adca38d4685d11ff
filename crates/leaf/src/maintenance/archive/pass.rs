//! A pass: the rows that are archived together, and how.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use hadal_block::{BlockError, BlockView, Values, merge_from};
use hadal_store::{Change, DroppedRows, StoredBlock};
use hadal_types::Micros;
use hadal_types::limits::{
    ARCHIVE_BLOCKS_MAX, ARCHIVE_FILES_MAX, ARCHIVE_RETRY_SECONDS, ARCHIVE_TO_PERCENT,
};

use super::archiver::{Archiver, resolve_note};
use super::error::PassError;
use super::note::{self, Note};
use super::{Archive, ArchivePart};
use crate::context::LeafContext;
use crate::maintenance::expiry_schedule::ExpirySchedule;
use crate::maintenance::memory_pressure::MemoryPressure;
use crate::maintenance::merge::{MergeError, open_stored, origins, verified_view};
use crate::maintenance::paced_free::free_paced;
use crate::table::Table;
use crate::table::age_limit::{DAY, cutoff_of_days, day_of};
use crate::table::block::Block;

/// How often tables are examined.
const INTERVAL: Duration = Duration::from_secs(1);

/// Rows that are archived together.
pub(crate) struct Pass<'t> {
    table: &'t Table,
    /// Blocks that nothing else changes during the pass, the oldest first.
    pub(crate) blocks: Vec<Arc<Block>>,
    /// The rows of these blocks before this time are archived.
    pub(crate) until: Micros,
    /// Whether they are archived because the table is too large.
    is_for_size: bool,
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        self.blocks.iter().for_each(|block| block.note_archiving(false));
    }
}

/// A block of a pass, verified.
pub(crate) struct LeavingBlock<'p> {
    block: &'p Arc<Block>,
    view: BlockView<'p>,
    faults: u64,
}

/// The rest of the blocks of a pass.
pub(crate) struct Remainder {
    blocks: Vec<StoredBlock>,
    /// The number of their rows that are removed.
    rows_gone: u64,
}

/// Archives the rows of one leaf that are due.
pub(crate) struct ArchiveJob<'l> {
    pub(crate) archiver: &'l Archiver,
    pub(crate) context: &'l LeafContext,
    pub(crate) schedule: &'l ExpirySchedule,
    pub(crate) pressure: &'l MemoryPressure,
}

impl ArchiveJob<'_> {
    /// Archives due rows again and again until the leaf stops.
    pub(crate) fn run(&self) {
        while !self.context.is_stopping() {
            let pause = match self.archive_all() {
                true => INTERVAL,
                false => Duration::from_secs(ARCHIVE_RETRY_SECONDS),
            };
            self.context.wait_until(self.context.clock.running().saturating_add(pause));
        }
    }

    /// Archives and drops all rows that are due; returns false if something failed, after logging
    /// it.
    pub(crate) fn archive_all(&self) -> bool {
        let Some(archive) = &self.archiver.archive else { return true };
        let mut note = self.archiver.note.lock();
        let removed = self.archiver.check().and_then(|()| self.remove_files(&mut note, &**archive));
        if let Err(error) = removed {
            tracing::error!(leaf = %self.context.name, %error, "what was archived half-way stays for now");
            for table in self.context.all_tables() {
                table.note_archive_error(table.is_archived().then(|| error.to_string()));
            }
            return false;
        }
        for table in self.context.all_tables() {
            // Rows that a pass leaves are taken by the next one.
            while let Some(mut pass) = self.plan_pass(&table) {
                let done = self.carry_out_pass(&mut note, &**archive, &mut pass);
                let resolved = self.resolve_pass(&mut note, &done);
                let blocks = pass.blocks.clone();
                drop(pass);
                free_paced(self.context, self.pressure, blocks);
                let resolved = resolved.and_then(|()| self.remove_files(&mut note, &**archive));
                if !self.report_pass(&table, done.and_then(|rows| resolved.map(|()| rows))) {
                    return false;
                }
            }
            table.note_archive_error(None);
        }
        true
    }

    /// Resolves a pass, unless its outcome is unknown. A record that was written but not synced may
    /// or may not exist at the next start, and so may the blocks.
    fn resolve_pass(
        &self,
        note: &mut Option<Note>,
        done: &Result<u64, PassError>,
    ) -> Result<(), PassError> {
        if let Err(PassError::Rows(MergeError::Store(hadal_store::Error::Poisoned { .. }))) = done {
            return Err(PassError::Unknown);
        }
        let folder = self.archiver.folder.as_deref();
        resolve_note(note, folder, &self.context.store).map_err(|source| self.not_noted(source))
    }

    fn report_pass(&self, table: &Table, done: Result<u64, PassError>) -> bool {
        let (leaf, table_name) = (&self.context.name, &table.name);
        match done {
            Ok(rows) => {
                tracing::info!(%leaf, table = %table_name, rows, "old rows are in the archive")
            }
            Err(PassError::Stopping) => return false,
            Err(error) => {
                tracing::error!(%leaf, table = %table_name, %error, "old rows stay: they cannot be archived");
                table.note_archive_error(Some(error.to_string()));
                return false;
            }
        }
        true
    }

    /// Removes the files of a failed pass, as its rows will be written again.
    fn remove_files(
        &self,
        note: &mut Option<Note>,
        archive: &dyn Archive,
    ) -> Result<(), PassError> {
        let Some(noted) = note else { return Ok(()) };
        if self.context.is_stopping() {
            return Err(PassError::Stopping);
        }
        if !noted.blocks.is_empty() {
            return Err(PassError::Unknown);
        }
        noted.files.iter().try_for_each(|path| archive.remove(path))?;
        *note = None;
        let folder = self.archiver.folder.as_deref();
        folder.map_or(Ok(()), Note::remove).map_err(|source| self.not_noted(source))
    }

    fn not_noted(&self, source: io::Error) -> PassError {
        let folder = self.archiver.folder.as_deref().unwrap_or(Path::new(""));
        PassError::Note { path: note::note_path(folder).display().to_string(), source }
    }

    /// Plans which rows of a table are archived next, if any are due. Nothing else changes their
    /// blocks while the returned pass lives.
    pub(crate) fn plan_pass<'t>(&self, table: &'t Table) -> Option<Pass<'t>> {
        let settings = table.settings().filter(|settings| settings.is_archived())?;
        // Excludes merges and other passes that would take the same blocks.
        let _one = self.context.turn_to_merge();
        let blocks = table.snapshot();
        let mut free: Vec<&Arc<Block>> =
            blocks.iter().filter(|block| block.may_be_rewritten()).collect();
        free.sort_by_key(|block| block.time_range.1);
        let trusted_now = self.schedule.trusted_now();
        let cutoff = trusted_now.and_then(|now| cutoff_of_days(settings.age_limit(), now));
        let old: Vec<&Arc<Block>> = match cutoff {
            Some(cutoff) => {
                free.iter().copied().filter(|block| block.time_range.0 < cutoff).collect()
            }
            None => Vec::new(),
        };
        let bytes_max = self.context.limits.table_bytes(Some(&settings));
        let (blocks, until, is_for_size) = match cutoff {
            Some(cutoff) if !old.is_empty() => (old, cutoff, false),
            _ => (oldest_over_limit(&free, table.bytes(), bytes_max), Micros(i64::MAX), true),
        };
        let blocks = whole_days(blocks);
        if blocks.is_empty() {
            return None;
        }
        blocks.iter().for_each(|block| block.note_archiving(true));
        Some(Pass { table, blocks, until, is_for_size })
    }

    /// Writes the files and drops the rows; returns how many rows were dropped.
    fn carry_out_pass(
        &self,
        note: &mut Option<Note>,
        archive: &dyn Archive,
        pass: &mut Pass<'_>,
    ) -> Result<u64, PassError> {
        let all = pass.blocks.clone();
        let leaving = all
            .iter()
            .map(|block| self.verify_for_archive(pass.table, block))
            .collect::<Result<Vec<_>, _>>()?;
        let mut days = BTreeSet::new();
        for one in &leaving {
            days.extend(days_of(&one.view, pass.until)?);
        }
        if let Some(&first_left) = days.iter().nth(ARCHIVE_FILES_MAX) {
            days.split_off(&first_left);
            pass.until = first_left;
        }
        let files = self.files(pass, &days);
        *note = Some(self.note(pass, &files)?);
        for (day, path) in days.iter().zip(&files) {
            let until = Micros(day.0.saturating_add(DAY)).min(pass.until);
            let of_day = leaving.iter().filter(|block| overlaps(&block.view, *day, until));
            let parts: Vec<_> = of_day
                .map(|leaving| ArchivePart { block: leaving.view.clone(), from: *day, until })
                .collect();
            archive.write(path, &parts, &|| self.context.is_stopping())?;
        }
        let rest = self.write_remainder(pass, &leaving)?;
        self.drop_archived(pass, rest)
    }

    /// Verifies the block again: the archive could not show that it had been altered.
    pub(crate) fn verify_for_archive<'p>(
        &self,
        table: &Table,
        block: &'p Arc<Block>,
    ) -> Result<LeavingBlock<'p>, PassError> {
        let faults = block.faults();
        let view = verified_view(block).inspect_err(|error| table.quarantine(block, error))?;
        Ok(LeavingBlock { block, view, faults })
    }

    /// A path for each day, different from those of all other passes.
    fn files(&self, pass: &Pass<'_>, days: &BTreeSet<Micros>) -> Vec<String> {
        let (table, leaf, now) = (&pass.table.name, &self.context.name, self.context.clock.now().0);
        let numbers = pass.blocks.iter().filter_map(|block| block.number());
        let first = numbers.map(|number| number.0).min().unwrap_or_default();
        let path = |day: &Micros| {
            let day = day.to_string();
            let date = day.split_once('T').map_or(&*day, |(date, _)| date);
            format!("{table}/{date}/{leaf}-{first}-{now}.parquet")
        };
        days.iter().map(path).collect()
    }

    /// Notes a pass before its first file is written.
    fn note(&self, pass: &Pass<'_>, files: &[String]) -> Result<Note, PassError> {
        let blocks = pass.blocks.iter().filter_map(|block| block.number()).collect();
        let note = Note { files: files.to_vec(), blocks };
        if let Some(folder) = &self.archiver.folder {
            note.keep(folder).map_err(|source| self.not_noted(source))?;
        }
        Ok(note)
    }

    /// Writes the rows of the pass's blocks that are not archived. Nothing refers to the new blocks
    /// until a change commits them.
    pub(crate) fn write_remainder(
        &self,
        pass: &Pass<'_>,
        leaving: &[LeavingBlock<'_>],
    ) -> Result<Remainder, PassError> {
        let (table, now) = (pass.table, self.context.clock.now());
        let mut rest = Remainder { blocks: Vec::new(), rows_gone: 0 };
        for LeavingBlock { block, view, .. } in leaving {
            rest.rows_gone += block.rows as u64;
            if block.time_range.1 < pass.until {
                continue;
            }
            for bytes in merge_from(view.clone(), pass.until, now)? {
                let kept = u32::try_from(BlockView::parse(&bytes)?.rows()).unwrap_or(u32::MAX);
                rest.rows_gone -= u64::from(kept);
                rest.blocks.push(self.context.store.write_block(&table.name, kept, bytes)?);
            }
        }
        // All blocks have been read at this point.
        if let Some(unreadable) =
            leaving.iter().find(|leaving| leaving.block.faults() != leaving.faults)
        {
            // The next pass detects which columns are damaged.
            return Err(MergeError::Unreadable(unreadable.block.origin.to_string()).into());
        }
        Ok(rest)
    }

    /// Removes the rows of a pass from their table, in one change; returns how many.
    pub(crate) fn drop_archived(&self, pass: &Pass<'_>, rest: Remainder) -> Result<u64, PassError> {
        let (table, rows) = (pass.table, rest.rows_gone);
        let dropped_rows = pass.dropped(rows);
        let Some(_turn) = self.context.turn_to_change() else { return Err(PassError::Stopping) };
        let is_dropped = table.dropped.read();
        if *is_dropped {
            return Ok(0);
        }
        let added = open_stored(&rest.blocks)?;
        let (consumed, removes) = origins(&pass.blocks);
        let dropped = dropped_rows.map(|dropped| (table.name.clone(), dropped));
        self.context.store.commit(&Change {
            removes,
            adds: rest.blocks,
            consumed,
            dropped_rows: dropped.into_iter().collect(),
            ..Change::default()
        })?;
        if let Some(dropped) = dropped_rows {
            table.count_dropped(dropped);
        }
        table.swap(&pass.blocks, added)?;
        drop(is_dropped);
        table.invalidate_status();
        Ok(rows)
    }
}

impl Pass<'_> {
    /// The dropped rows that query results report: only rows removed for size, as their loss was
    /// not requested.
    fn dropped(&self, rows: u64) -> Option<DroppedRows> {
        let last = self.blocks.iter().map(|block| block.time_range.1).max()?;
        let bytes = self.blocks.iter().map(|block| block.byte_count() as u64).sum();
        let until = last.min(Micros(self.until.0.saturating_sub(1)));
        self.is_for_size.then_some(DroppedRows { rows, bytes, until })
    }
}

/// The blocks with the oldest rows that a table of `bytes` is to lose. `blocks` are in that order.
fn oldest_over_limit<'b>(
    blocks: &[&'b Arc<Block>],
    mut bytes: u64,
    bytes_max: u64,
) -> Vec<&'b Arc<Block>> {
    if bytes <= bytes_max {
        return Vec::new();
    }
    let goal = bytes_max / 100 * ARCHIVE_TO_PERCENT;
    let is_needed = |block: &&&Arc<Block>| {
        let is_over = bytes > goal;
        bytes = bytes.saturating_sub(block.byte_count() as u64);
        is_over
    };
    blocks.iter().take_while(is_needed).copied().collect()
}

/// The first of these blocks, which are ordered by their last times, up to the maximum of one pass.
/// Takes only whole days, unless there is no whole day.
fn whole_days(mut blocks: Vec<&Arc<Block>>) -> Vec<Arc<Block>> {
    if let Some(next) = blocks.get(ARCHIVE_BLOCKS_MAX) {
        let begun = day_of(next.time_range.1);
        let full_days = blocks.partition_point(|block| block.time_range.1 < begun);
        blocks.truncate(if full_days == 0 {
            ARCHIVE_BLOCKS_MAX
        } else {
            full_days.min(ARCHIVE_BLOCKS_MAX)
        });
    }
    blocks.into_iter().cloned().collect()
}

/// The days of a block's rows before a time.
fn days_of(view: &BlockView<'_>, until: Micros) -> Result<BTreeSet<Micros>, BlockError> {
    let (first, last) = view.time_range();
    if day_of(first) == day_of(last) && last < until {
        return Ok(BTreeSet::from([day_of(first)]));
    }
    let times = view.time_column().decode()?;
    let Values::Decimals { mantissas, .. } = &times.values else { return Ok(BTreeSet::new()) };
    let before = mantissas.iter().map(|&time| Micros(time)).filter(|time| *time < until);
    Ok(before.map(day_of).collect())
}

fn overlaps(view: &BlockView<'_>, from: Micros, until: Micros) -> bool {
    let (first, last) = view.time_range();
    first < until && from <= last
}
