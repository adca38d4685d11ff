//! Lost frames of the log that were acknowledged, or may have been.

use crate::sequence_set::SequenceSet;

/// The losses of one log file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LogLoss {
    /// Whether the whole file is missing.
    pub(crate) is_missing: bool,
    /// The number of damaged ranges.
    pub(crate) stretches: u32,
    /// Bytes of these ranges.
    pub(crate) bytes: u64,
    /// The missing sequences, as far as they are known.
    pub(crate) sequences: SequenceSet,
}

impl LogLoss {
    /// Adds a damaged range of `bytes`, which held the sequences from `first` to before `end`.
    pub(super) fn add(&mut self, bytes: u64, first: u64, end: u64) {
        self.stretches = self.stretches.saturating_add(1);
        self.bytes = self.bytes.saturating_add(bytes);
        if let Some(last) = end.checked_sub(1) {
            self.sequences.insert(first, last);
        }
    }
}
