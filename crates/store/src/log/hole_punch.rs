//! When disk space is short, frees the space of consumed frames inside log files that are still
//! needed.
//!
//! Usually a whole file is removed, and soon. But a table with few rows can keep a file for
//! minutes, and on a full disk nothing can be merged before some space is freed.

use std::collections::BTreeMap;
use std::ops::Range;

use super::{Log, file_name};
use crate::log_marks::LogMark;

/// A range is given back once this fraction of a full file can be freed in it: less is not worth a
/// call.
const STRETCH_SHARE: u64 = 1_024;

/// A log file with at least one whole frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LogFile {
    /// The number of frames that are not consumed.
    pub(super) live: u64,
    /// The offset of the last frame. This frame stays, because it shows the end of the file.
    pub(super) last: u64,
    /// How far it is durable.
    pub(super) durable: Option<LogMark>,
    /// The end of its last whole frame, and that frame's sequence plus one.
    pub(super) written: Option<LogMark>,
    /// Ranges that were given back: start to end.
    given_back: BTreeMap<u64, u64>,
}

impl LogFile {
    pub(super) fn new(live: u64, last: u64) -> Self {
        Self { live, last, ..Self::default() }
    }

    /// The ranges before the last frame and outside of `live`, which is in order. Only those where
    /// at least `bytes_min` bytes were not given back before.
    fn spent(&self, live: &[Range<u64>], bytes_min: u64) -> Vec<Range<u64>> {
        let ends = std::iter::once(0).chain(live.iter().map(|range| range.end));
        let starts = live.iter().map(|range| range.start).chain([self.last]);
        let stretches = ends.zip(starts).map(|(start, end)| start..end.min(self.last));
        let held = |stretch: &Range<u64>| {
            let given_back = self.given_back.range(stretch.clone());
            let given_back: u64 = given_back.map(|(start, end)| end - start).sum();
            (stretch.end - stretch.start).saturating_sub(given_back)
        };
        let is_large_enough =
            |stretch: &Range<u64>| !stretch.is_empty() && held(stretch) >= bytes_min.max(1);
        stretches.filter(is_large_enough).collect()
    }

    /// Notes that all written frames are durable.
    pub(super) fn note_durable(&mut self) {
        self.durable = self.written.or(self.durable);
    }

    fn note_given_back(&mut self, stretch: &Range<u64>) {
        // The range contains the earlier ones: it only grows.
        self.given_back.retain(|start, _| !stretch.contains(start));
        self.given_back.insert(stretch.start, stretch.end);
    }
}

impl Log {
    /// Gives the disk of consumed frames back when disk is short: if the caller says so, or a batch
    /// did not fit since the last call. Returns the number of failures.
    pub(crate) fn give_back(&self, is_short: bool) -> u64 {
        let bytes_min = self.shared.writer.lock().file_bytes() / STRETCH_SHARE;
        let mut spent = Vec::new();
        {
            let mut queue = self.shared.queue.lock();
            let is_short = std::mem::take(&mut queue.is_short) || is_short;
            if !is_short || queue.is_closed {
                return 0;
            }
            let live = queue.live_ranges();
            for (&number, file) in &queue.files {
                let live = live.get(&number).map_or(&[][..], Vec::as_slice);
                spent.extend(
                    file.spent(live, bytes_min).into_iter().map(|stretch| (number, stretch)),
                );
            }
        }
        // No frame is written to these ranges any more, and consumed frames stay consumed.
        let mut failures = 0;
        for (number, stretch) in spent {
            let given_back = self
                .shared
                .disk
                .open(&file_name(number))
                .and_then(|mut file| file.punch(stretch.start, stretch.end - stretch.start));
            match (given_back, self.shared.queue.lock().files.get_mut(&number)) {
                (Ok(()), Some(file)) => file.note_given_back(&stretch),
                // A removed file has nothing to give back.
                (_, None) => {}
                (Err(_), Some(_)) => failures += 1,
            }
        }
        failures
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_are_given_back_once_and_when_they_have_grown() {
        let range = |start: u64, end: u64| start..end;
        let mut file = LogFile::new(2, 900);
        let live = [100..200, 600..700];
        assert_eq!(file.spent(&live, 100), [0..100, 200..600, 700..900]);
        assert_eq!(file.spent(&live, 101), [200..600, 700..900]);
        assert_eq!(file.spent(&[0..900, 900..950], 1), []);
        assert_eq!(file.spent(&[], 1), vec![range(0, 900)]);
        for stretch in file.spent(&live, 150) {
            file.note_given_back(&stretch);
        }
        assert_eq!(file.spent(&live, 100), vec![range(0, 100)]);
        assert_eq!(file.spent(&live[1..], 200), vec![range(0, 600)], "200 of them are new");
        assert_eq!(file.spent(&live[1..], 201), []);
        file.note_given_back(&(0..600));
        file.last = 1_500;
        assert_eq!(file.spent(&live[1..], 600), vec![range(700, 1_500)]);
    }
}
