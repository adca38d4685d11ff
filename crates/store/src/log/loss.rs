//! What of the log is gone that was acknowledged, or may have been.

use std::collections::BTreeMap;

use crate::manifest::SequenceSet;

/// How far a log file was durable at one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LogMark {
    /// So many bytes from its beginning on.
    pub(crate) length: u64,
    /// One above the last sequence in them.
    pub(crate) next_sequence: u64,
}

/// How far each log file was durable, by its number.
pub(crate) type LogMarks = BTreeMap<u64, LogMark>;

/// What is lost of one log file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LogLoss {
    /// Whether nothing of it is there.
    pub(crate) is_missing: bool,
    /// Damaged stretches.
    pub(crate) stretches: u32,
    /// Bytes of these.
    pub(crate) bytes: u64,
    /// The sequences that are not there, as far as they are known.
    pub(crate) sequences: SequenceSet,
}

impl LogLoss {
    /// Adds a damaged stretch of so many bytes, which held the sequences from `first` to before `end`.
    pub(super) fn add(&mut self, bytes: u64, first: u64, end: u64) {
        self.stretches = self.stretches.saturating_add(1);
        self.bytes = self.bytes.saturating_add(bytes);
        if let Some(last) = end.checked_sub(1) {
            self.sequences.insert(first, last);
        }
    }
}
