//! Reading the log at open. `spec/wal.md`, section 4.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use hadal_types::limits::FOLDER_FILE_BYTES_MAX;

use super::spent::LogFile;
use super::writer::Resume;
use super::{Live, body, file_name, number_of};
use crate::change::Sequence;
use crate::disk::Disk;
use crate::error::Error;
use crate::frame::{Frame, LOG, scan};
use crate::journal::Journal;
use crate::manifest::State;
use crate::recovery::Report;

/// What the log held.
#[derive(Debug, Default)]
pub(crate) struct Replayed {
    /// The batches that are not consumed, in the order of their sequences.
    pub(crate) batches: BTreeMap<Sequence, body::Batch>,
    pub(crate) live: BTreeMap<Sequence, Live>,
    /// Files with a whole frame.
    pub(crate) files: BTreeMap<u64, LogFile>,
    pub(crate) resume: Option<Resume>,
    pub(crate) next_sequence: u64,
}

/// Replays the log files, cutting torn tails and removing files of which nothing is needed.
///
/// `state` says which frames need no replay and which files must be there; what was found and
/// passed over is added to `report`. Sequences given from now on are at least its next one.
pub(crate) fn replay(
    disk: &dyn Disk,
    salt: u64,
    state: &State,
    report: &mut Report,
) -> Result<Replayed, Error> {
    let names = disk.list().map_err(|error| Error::io("list", &disk.place(""), error))?;
    let mut numbers: Vec<u64> = names.iter().filter_map(|name| number_of(name)).collect();
    numbers.sort_unstable();
    let mut replay = Replay {
        state,
        report,
        seen: BTreeSet::new(),
        tail: None,
        out: Replayed { next_sequence: state.next_sequence, ..Replayed::default() },
    };
    for &number in &numbers {
        let is_last = numbers.last() == Some(&number);
        replay.file(disk, salt, number, is_last)?;
    }
    replay.judge_tail(None);
    let lost = state.logs.iter().filter(|number| !replay.out.files.contains_key(number));
    replay.report.log_files_lost = lost.map(|&number| disk.place(&file_name(number))).collect();
    Ok(replay.out)
}

struct Replay<'a> {
    state: &'a State,
    report: &'a mut Report,
    seen: BTreeSet<u64>,
    /// What is not whole at the end of a file that another follows.
    tail: Option<Tail>,
    out: Replayed,
}

/// Bytes behind the last whole frame of a file.
struct Tail {
    bytes: u64,
    /// The sequence that the first frame there had, or a later one.
    first: u64,
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
        let place = disk.place(&name);
        let failed = |action| {
            let place = place.clone();
            move |error| Error::io(action, &place, error)
        };
        let bytes = disk.read(&name, FOLDER_FILE_BYTES_MAX).map_err(failed("read"))?;
        let scan = scan(LOG, salt, &bytes);
        if let Some(frame) = scan.frames.first() {
            self.judge_tail(Some(frame.sequence));
        }
        for gap in &scan.damage {
            if !self.is_spent(&scan.frames, gap) {
                self.report.frames_damaged += 1;
                self.report.damaged_bytes += gap.len() as u64;
            }
        }
        let live: u64 = scan.frames.iter().map(|frame| u64::from(self.frame(frame, number))).sum();
        let torn = (bytes.len() - scan.end) as u64;
        if torn > 0 && !is_last {
            let first = self.seen.last().map_or(0, |sequence| sequence.saturating_add(1));
            let before = self.tail.take().map_or(0, |tail| tail.bytes);
            self.tail = Some(Tail { bytes: before + torn, first });
        }
        // A file that is still named goes with the next change, so that it is not missed.
        if live == 0 && !is_last && !self.state.logs.contains(&number) {
            self.report.log_files_removed += 1;
            return disk.remove(&name).map_err(failed("remove"));
        }
        let end = scan.end as u64;
        if torn > 0 && is_last {
            self.report.log_bytes_cut += torn;
            let mut file = disk.open(&name).map_err(failed("open"))?;
            file.cut(end).and_then(|()| file.sync()).map_err(failed("cut the torn tail of"))?;
        }
        if let Some(last) = scan.frames.last() {
            self.out.files.insert(number, LogFile::new(live, last.offset as u64));
        }
        if is_last {
            // What an earlier process wrote and did not sync is believed from here on.
            let mut file = disk.open(&name).map_err(failed("open"))?;
            file.sync().and_then(|()| disk.sync_folder()).map_err(failed("sync"))?;
            self.out.resume = Some(Resume { number, journal: Journal::new(file, place, end) });
        }
        Ok(())
    }

    /// Judges the end of an earlier file, once the sequence of the next frame is known, or that there is
    /// none. That file was synced before another was begun, so what is not whole there was once, and is
    /// missed, unless all of it is known to be consumed.
    fn judge_tail(&mut self, next: Option<u64>) {
        let Some(Tail { bytes, first }) = self.tail.take() else { return };
        let end = next.unwrap_or(self.state.next_sequence);
        let is_consumed = first < end && self.state.consumed.contains_all(first, end - 1);
        let is_nothing_missing = next.is_some_and(|next| first >= next);
        if !is_consumed && !is_nothing_missing {
            self.report.frames_damaged += 1;
            self.report.damaged_bytes += bytes;
        }
    }

    /// Whether all that a gap between whole frames of a file held is known to be consumed: then its disk
    /// was given back, or nobody misses it.
    fn is_spent(&self, frames: &[Frame<'_>], gap: &Range<usize>) -> bool {
        let after = frames.partition_point(|frame| frame.offset < gap.start);
        let (before, earlier) = (frames[..after].last(), self.seen.last().copied());
        let before = before.map(|frame| frame.sequence).or(earlier);
        let first = before.map_or(0, |sequence| sequence.saturating_add(1));
        let end = frames.get(after).map_or(first, |frame| frame.sequence);
        first < end && self.state.consumed.contains_all(first, end - 1)
    }

    /// Takes one whole frame; returns whether it is to be replayed.
    fn frame(&mut self, frame: &Frame<'_>, number: u64) -> bool {
        self.out.next_sequence = self.out.next_sequence.max(frame.sequence.saturating_add(1));
        if !self.seen.insert(frame.sequence) {
            self.report.frames_repeated += 1;
            return false;
        }
        if self.state.consumed.contains(frame.sequence) {
            self.report.frames_consumed += 1;
            return false;
        }
        let Some(batch) = body::decode(frame.body) else {
            self.report.frames_damaged += 1;
            self.report.damaged_bytes += frame.length() as u64;
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
