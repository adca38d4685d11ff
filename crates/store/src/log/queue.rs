//! The state of the log that all threads share: waiting and live frames, and files.

use std::collections::BTreeMap;
use std::ops::Range;

use hadal_types::TableName;
use hadal_types::limits::LOG_QUEUE_BYTES_MAX;

use super::hole_punch::LogFile;
use super::ticket::Promise;
use crate::error::Error;
use crate::frame::Draft;
use crate::ids::Sequence;
use crate::log_marks::{LogMark, LogMarks};
use crate::sequence_set::SequenceSet;

/// A frame that waits for the committer.
pub(super) struct Waiting {
    pub(super) sequence: Sequence,
    pub(super) draft: Draft,
    pub(super) promise: Promise,
}

/// A frame that is not consumed.
#[derive(Debug)]
pub(crate) struct Live {
    pub(crate) table: TableName,
    /// Its file and its range in it; `None` until it is written.
    pub(crate) at: Option<(u64, Range<u64>)>,
}

/// The queue of the committer, and the frames and files of the log.
pub(super) struct Queue {
    pub(super) waiting: Vec<Waiting>,
    /// Bytes of frames that wait or are being written.
    pub(super) bytes: usize,
    pub(super) next_sequence: u64,
    pub(super) is_closed: bool,
    pub(super) failure: Option<Error>,
    pub(super) live: BTreeMap<Sequence, Live>,
    /// Log files that contain a frame.
    pub(super) files: BTreeMap<u64, LogFile>,
    /// Sequences of frames that did not fit on the disk, or that a killed process did not write:
    /// the log holds no byte of them. They are recorded as consumed with their neighbours, so that
    /// the space of those can be given back, and is no damage at the next start.
    pub(super) void: SequenceSet,
    /// Whether a frame did not fit since the last [`super::Log::give_back`].
    pub(super) is_short: bool,
    /// The file that is written to; it is not removed.
    pub(super) current: Option<u64>,
}

impl Queue {
    /// Checks that a frame of `length` bytes may be queued.
    pub(super) fn check(&self, length: usize) -> Result<(), Error> {
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        }
        if self.is_closed {
            return Err(Error::Closed);
        }
        // If nothing waits, one frame of any size is accepted.
        if self.bytes > 0 && self.bytes + length > LOG_QUEUE_BYTES_MAX {
            return Err(Error::Busy(self.bytes));
        }
        Ok(())
    }

    /// Forgets a frame that is consumed, or that was not written.
    pub(super) fn forget(&mut self, sequence: Sequence) {
        let at = self.live.remove(&sequence).and_then(|live| live.at);
        if let Some(file) = at.and_then(|at| self.files.get_mut(&at.0)) {
            file.live = file.live.saturating_sub(1);
        }
    }

    /// How far each log file is durable.
    pub(super) fn marks(&self) -> LogMarks {
        let marks = self.files.iter();
        marks.filter_map(|(&number, file)| Some((number, file.durable?))).collect()
    }

    /// Notes that a frame was written to a range of a file.
    pub(super) fn written(&mut self, sequence: Sequence, number: u64, range: Range<u64>) {
        let file = self.files.entry(number).or_default();
        file.last = range.start;
        let next_sequence = sequence.0.saturating_add(1);
        file.written = Some(LogMark { length: range.end, next_sequence });
        if let Some(live) = self.live.get_mut(&sequence) {
            live.at = Some((number, range));
            file.live += 1;
        }
    }

    /// The ranges of live frames by file, in order.
    pub(super) fn live_ranges(&self) -> BTreeMap<u64, Vec<Range<u64>>> {
        let mut ranges: BTreeMap<u64, Vec<Range<u64>>> = BTreeMap::new();
        for (file, range) in self.live.values().filter_map(|live| live.at.clone()) {
            ranges.entry(file).or_default().push(range);
        }
        ranges
    }
}
