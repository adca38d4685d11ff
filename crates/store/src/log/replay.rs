//! Reading the log at open. `spec/wal.md`, section 4.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use hadal_types::limits::FOLDER_FILE_BYTES_MAX;

use super::hole_punch::LogFile;
use super::loss::LogLoss;
use super::queue::Live;
use super::writer::Resume;
use super::{body, file_name, number_of};
use crate::append_file::AppendOnlyFile;
use crate::disk::Disk;
use crate::error::Error;
use crate::frame::{Frame, LOG, is_beginning, scan};
use crate::ids::Sequence;
use crate::log_marks::{LogMark, LogMarks};
use crate::manifest::State;
use crate::recovery_report::Report;
use crate::sequence_set::SequenceSet;

/// The content of the log.
#[derive(Debug, Default)]
pub(crate) struct Replayed {
    /// The batches that are not consumed, in the order of their sequences.
    pub(crate) batches: BTreeMap<Sequence, body::Batch>,
    pub(crate) live: BTreeMap<Sequence, Live>,
    /// Files with a whole frame.
    pub(crate) files: BTreeMap<u64, LogFile>,
    /// Lost frames, by the number of the file.
    pub(crate) losses: BTreeMap<u64, LogLoss>,
    pub(crate) resume: Option<Resume>,
    pub(crate) next_sequence: u64,
    /// Sequences of frames that a killed process did not write. Empty if anything is lost.
    pub(crate) unwritten: SequenceSet,
    /// The number of the next new file.
    pub(crate) next_file: u64,
    /// Files without needed frames.
    spent: Vec<u64>,
    /// The last file; `None` if it ends with damage, and is left unchanged.
    last: Option<Last>,
    /// The last file, if it ends with damage and is left unchanged.
    left: Option<u64>,
}

/// The file at which writing continues.
#[derive(Clone, Copy, Debug)]
struct Last {
    number: u64,
    /// The end of its last whole frame.
    end: u64,
    /// Whether more bytes follow.
    is_torn: bool,
}

/// Reads the log files, and judges which frames are whole. Changes nothing: [`Replayed::apply`]
/// does.
///
/// `state` says which frames need no replay and which files must exist, `marks` how far each was
/// once durable. Counts of skipped frames and damage are added to `report`. Later sequences start
/// at `state`'s next one or above.
pub(crate) fn replay(
    disk: &dyn Disk,
    salt: u64,
    state: &State,
    marks: &LogMarks,
    report: &mut Report,
) -> Result<Replayed, Error> {
    let names = disk.list().map_err(|error| Error::io("list", &disk.path_of(""), error))?;
    let mut numbers: Vec<u64> = names.iter().filter_map(|name| number_of(name)).collect();
    numbers.sort_unstable();
    // A file number is never used again, even if its file is gone.
    let used = [numbers.last(), state.logs.last(), marks.keys().next_back()];
    let last_used = used.into_iter().flatten().max();
    let next_file = last_used.map_or(1, |last| last.saturating_add(1));
    let mut replay = Replay {
        state,
        marks,
        report,
        sequences_read: BTreeSet::new(),
        tail: None,
        out: Replayed { next_sequence: state.next_sequence, next_file, ..Replayed::default() },
    };
    for &number in &numbers {
        let is_last = numbers.last() == Some(&number);
        replay.file(disk, salt, number, is_last)?;
    }
    replay.judge_tail(None);
    let lost: Vec<u64> = state.logs.iter().copied().collect();
    for number in lost.into_iter().filter(|number| !replay.out.files.contains_key(number)) {
        replay.report.log_files_lost.push(disk.path_of(&file_name(number)));
        replay.out.losses.entry(number).or_default().is_missing = true;
        let next = marks.get(&number).map_or(0, |mark| mark.next_sequence);
        replay.out.next_sequence = replay.out.next_sequence.max(next);
    }
    replay.out.unwritten = replay.unwritten();
    Ok(replay.out)
}

impl Replayed {
    /// Removes files without needed frames, cuts the torn tail of the last file, and continues it.
    /// Losses must be recorded before: this may remove their last trace.
    pub(crate) fn apply(&mut self, disk: &dyn Disk) -> Result<(), Error> {
        for number in std::mem::take(&mut self.spent) {
            let name = file_name(number);
            let failed = |error| Error::io("remove", &disk.path_of(&name), error);
            disk.remove(&name).map_err(failed)?;
        }
        let Some(number) = self.left.or(self.last.map(|last| last.number)) else {
            return Ok(());
        };
        let name = file_name(number);
        let path = disk.path_of(&name);
        let failed = |action| {
            let path = path.clone();
            move |error| Error::io(action, &path, error)
        };
        let mut file = disk.open(&name).map_err(failed("open"))?;
        if let Some(Last { end, is_torn: true, .. }) = self.last {
            file.cut(end).map_err(failed("cut the torn tail of"))?;
        }
        // Frames that an earlier process wrote and did not sync are trusted from here on.
        file.sync().and_then(|()| disk.sync_folder()).map_err(failed("sync"))?;
        if let Some(Last { end, .. }) = self.last {
            self.resume =
                Some(Resume { number, append_file: AppendOnlyFile::new(file, path, end) });
        }
        Ok(())
    }
}

struct Replay<'a> {
    state: &'a State,
    marks: &'a LogMarks,
    report: &'a mut Report,
    sequences_read: BTreeSet<u64>,
    /// The broken end of a file that another file follows.
    tail: Option<Tail>,
    out: Replayed,
}

/// Bytes behind the last whole frame of a file, including those that are missing.
struct Tail {
    file: u64,
    bytes: u64,
    /// The sequence of the first frame there, or a later one.
    first: u64,
    /// The last sequence that is known to have been there, plus one.
    end: u64,
}

impl Replay<'_> {
    fn file(
        &mut self,
        disk: &dyn Disk,
        salt: u64,
        number: u64,
        is_last: bool,
    ) -> Result<(), Error> {
        let name = file_name(number);
        let failed = |error| Error::io("read", &disk.path_of(&name), error);
        let bytes = disk.read(&name, FOLDER_FILE_BYTES_MAX).map_err(failed)?;
        let scan = scan(LOG, salt, &bytes);
        if let Some(frame) = scan.frames.first() {
            self.judge_tail(Some(frame.sequence));
        }
        for gap in &scan.damage {
            let (first, end) = self.held(&scan.frames, gap);
            if !self.is_consumed(first, end) {
                self.lose(number, gap.len() as u64, first, end);
            }
        }
        let live: u64 = scan.frames.iter().map(|frame| u64::from(self.frame(frame, number))).sum();
        let end = scan.end as u64;
        let is_damaged = match is_last {
            true => self.judge_end(number, salt, &bytes, scan.end),
            false => {
                self.keep_tail(number, bytes.len() as u64, end);
                false
            }
        };
        // A file that the manifest names stays until the next change, or it would be missed.
        if live == 0 && !is_last && !self.state.logs.contains(&number) {
            self.report.log_files_removed += 1;
            self.out.spent.push(number);
            return Ok(());
        }
        if let Some(last) = scan.frames.last() {
            let mut file = LogFile::new(live, last.offset as u64);
            let next_sequence = last.sequence.saturating_add(1);
            file.durable = Some(LogMark { length: end, next_sequence });
            self.out.files.insert(number, file);
        }
        match (is_last, is_damaged) {
            (true, false) => {
                let is_torn = bytes.len() > scan.end;
                self.out.last = Some(Last { number, end, is_torn });
            }
            (true, true) => self.out.left = Some(number),
            (false, _) => {}
        }
        Ok(())
    }

    /// The sequences between those that were read, and after them, where nothing is damaged.
    fn unwritten(&self) -> SequenceSet {
        let mut unwritten = SequenceSet::default();
        if self.out.losses.is_empty() {
            let next = std::iter::once(self.out.next_sequence);
            let starts = self.sequences_read.iter().map(|sequence| sequence.saturating_add(1));
            for (start, end) in starts.zip(self.sequences_read.iter().skip(1).copied().chain(next))
            {
                if start < end {
                    unwritten.insert(start, end - 1);
                }
            }
        }
        unwritten
    }

    /// The sequence after all that were read.
    fn next_unseen(&self) -> u64 {
        self.sequences_read.last().map_or(0, |sequence| sequence.saturating_add(1))
    }

    /// The part of a file that was durable once and is not whole now: its bytes, and its last
    /// sequence plus one.
    fn gone(&self, number: u64, end: u64) -> Option<(u64, u64)> {
        let mark = self.marks.get(&number).filter(|mark| mark.length > end)?;
        Some((mark.length - end, mark.next_sequence))
    }

    /// Remembers the broken end of a file that another file follows.
    fn keep_tail(&mut self, number: u64, length: u64, whole: u64) {
        let (gone, end) = self.gone(number, whole).unwrap_or_default();
        let bytes = gone.max(length - whole);
        if bytes > 0 {
            let first = self.next_unseen();
            let before = self.tail.take();
            let file = before.as_ref().map_or(number, |tail| tail.file);
            let bytes = bytes + before.as_ref().map_or(0, |tail| tail.bytes);
            let end = end.max(before.map_or(0, |tail| tail.end));
            self.tail = Some(Tail { file, bytes, first, end });
        }
    }

    /// Judges the bytes behind the last whole frame of the last file. Returns whether they are
    /// damage, not an interrupted write.
    fn judge_end(&mut self, number: u64, salt: u64, bytes: &[u8], whole: usize) -> bool {
        let (tail, first) = (&bytes[whole..], self.next_unseen());
        let least = first.saturating_add(1);
        let damage = match self.gone(number, whole as u64) {
            Some((gone, end)) => Some((gone.max(tail.len() as u64), end.max(least))),
            None if tail.is_empty() || is_beginning(LOG, salt, tail) => None,
            None => Some((tail.len() as u64, least)),
        };
        let damage = damage.filter(|(_, end)| !self.is_consumed(first, *end));
        let Some((lost, end)) = damage else {
            self.report.log_bytes_cut += tail.len() as u64;
            return false;
        };
        self.lose(number, lost, first, end);
        self.out.next_sequence = self.out.next_sequence.max(end);
        true
    }

    /// Judges the end of an earlier file, once the sequence of the next frame is known, or that
    /// there is none. The log syncs a file before it begins another, so a broken end was whole
    /// once. Its frames are lost, unless all of them are known to be consumed.
    fn judge_tail(&mut self, next: Option<u64>) {
        let Some(Tail { file, bytes, first, end }) = self.tail.take() else { return };
        let end = next.unwrap_or(self.state.next_sequence.max(end));
        let is_nothing_missing = next.is_some_and(|next| first >= next);
        if !self.is_consumed(first, end) && !is_nothing_missing {
            self.lose(file, bytes, first, end.max(first.saturating_add(1)));
        }
    }

    /// Notes a damaged range of `bytes`, which held the sequences from `first` to before `end`. If
    /// that range is empty, no rows are missing.
    fn lose(&mut self, number: u64, bytes: u64, first: u64, end: u64) {
        self.report.frames_damaged += 1;
        self.report.damaged_bytes += bytes;
        if first < end {
            self.out.losses.entry(number).or_default().add(bytes, first, end);
        }
    }

    /// Whether the range from `first` to before `end` is not empty and all of it is consumed. Then
    /// the disk of these frames was given back, or nobody misses them.
    fn is_consumed(&self, first: u64, end: u64) -> bool {
        first < end && self.state.consumed.contains_all(first, end - 1)
    }

    /// The sequences in a gap between whole frames of a file: the first, and the last plus one.
    fn held(&self, frames: &[Frame<'_>], gap: &Range<usize>) -> (u64, u64) {
        let after = frames.partition_point(|frame| frame.offset < gap.start);
        let before = frames[..after].last().map(|frame| frame.sequence);
        let before = before.or(self.sequences_read.last().copied());
        let first = before.map_or(0, |sequence| sequence.saturating_add(1));
        (first, frames.get(after).map_or(first, |frame| frame.sequence))
    }

    /// Takes one whole frame; returns whether it is replayed.
    fn frame(&mut self, frame: &Frame<'_>, number: u64) -> bool {
        self.out.next_sequence = self.out.next_sequence.max(frame.sequence.saturating_add(1));
        if !self.sequences_read.insert(frame.sequence) {
            self.report.frames_repeated += 1;
            return false;
        }
        if self.state.consumed.contains(frame.sequence) {
            self.report.frames_consumed += 1;
            return false;
        }
        let Some(batch) = body::decode(frame.body) else {
            let end = frame.sequence.saturating_add(1);
            self.lose(number, frame.length() as u64, frame.sequence, end);
            return false;
        };
        let range = frame.offset as u64..(frame.offset + frame.length()) as u64;
        let live = Live { table: batch.table.clone(), at: Some((number, range)) };
        self.out.live.insert(Sequence(frame.sequence), live);
        self.out.batches.insert(Sequence(frame.sequence), batch);
        self.report.frames_replayed += 1;
        true
    }
}
