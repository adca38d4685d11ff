//! Batch ids of one table, by which a retry adds nothing.
//!
//! The oldest ids are forgotten if there are too many ids, or after a time. That time is measured
//! by the process's running time, which no change of the wall clock affects. Ids recovered at a
//! start are remembered as of the start.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use hadal_types::{BatchId, Micros, limits};

/// The record of an accepted batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AcceptedBatch {
    pub(crate) content_hash: u64,
    pub(crate) rows: u32,
    pub(crate) time: Micros,
}

/// The state of an incoming batch's id.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Reservation {
    /// The id is new; it is now reserved until the batch is remembered, doubted or released.
    New,
    /// The id was accepted with these bytes.
    Duplicate,
    /// The id was accepted with other bytes.
    Conflict,
    /// A batch of this id is being logged now.
    InFlight,
    /// An earlier attempt failed, and it is unknown whether the batch is in the log.
    InDoubt,
}

/// The state of a known id.
#[derive(Clone, Copy, Debug)]
enum Entry {
    InFlight,
    /// The next process finds the batch in the log, or does not. Until then no leaf may accept it.
    InDoubt,
    Accepted(AcceptedBatch),
}

impl Entry {
    fn accepted(self) -> Option<AcceptedBatch> {
        match self {
            Self::Accepted(accepted) => Some(accepted),
            Self::InFlight | Self::InDoubt => None,
        }
    }
}

/// The ids of one table's batches, bounded by number and age.
#[derive(Debug, Default)]
pub(crate) struct BatchIds {
    entries: HashMap<BatchId, Entry>,
    /// Ids in the order in which they were remembered.
    order: VecDeque<Remembered>,
    /// The times in that order that no later time is less than: the first is the minimum of all.
    least: VecDeque<Micros>,
}

/// A remembered id, its batch's wall clock time, and the running time at which it was remembered.
#[derive(Debug)]
struct Remembered {
    id: BatchId,
    time: Micros,
    running: Duration,
}

impl BatchIds {
    /// Looks `id` up, and reserves it if it is new.
    pub(crate) fn reserve(&mut self, id: &BatchId, content_hash: u64) -> Reservation {
        match self.entries.get(id) {
            None => {
                self.entries.insert(id.clone(), Entry::InFlight);
                Reservation::New
            }
            Some(Entry::InFlight) => Reservation::InFlight,
            Some(Entry::InDoubt) => Reservation::InDoubt,
            Some(Entry::Accepted(accepted)) if accepted.content_hash == content_hash => {
                Reservation::Duplicate
            }
            Some(Entry::Accepted(_)) => Reservation::Conflict,
        }
    }

    /// Remembers an accepted batch at the running time `running`, and forgets ids that are too old
    /// or too many.
    pub(crate) fn remember(&mut self, id: &BatchId, accepted: AcceptedBatch, running: Duration) {
        self.entries.insert(id.clone(), Entry::Accepted(accepted));
        self.order.push_back(Remembered { id: id.clone(), time: accepted.time, running });
        while self.least.back().is_some_and(|last| *last > accepted.time) {
            self.least.pop_back();
        }
        self.least.push_back(accepted.time);
        let age_max = Duration::from_secs(limits::BATCH_ID_SECONDS.unsigned_abs());
        let is_old = |remembered: &Remembered| running.saturating_sub(remembered.running) > age_max;
        while let Some(first) = self.order.front()
            && (is_old(first) || self.order.len() > limits::BATCH_IDS_MAX)
        {
            self.forget_first();
        }
    }

    fn forget_first(&mut self) {
        let Some(Remembered { id, time, .. }) = self.order.pop_front() else { return };
        if self.least.front() == Some(&time) {
            self.least.pop_front();
        }
        if self.get(&id).is_some_and(|accepted| accepted.time == time) {
            self.entries.remove(&id);
        }
    }

    /// The least time of a remembered batch: the manifest must not forget ids from that time on.
    pub(crate) fn least_time(&self) -> Option<Micros> {
        self.least.front().copied()
    }

    /// Releases a reserved id: its batch was not accepted.
    pub(crate) fn release(&mut self, id: &BatchId) {
        if let Some(Entry::InFlight) = self.entries.get(id) {
            self.entries.remove(id);
        }
    }

    /// Keeps a reserved id permanently: it is unknown whether its batch was accepted.
    pub(crate) fn doubt(&mut self, id: &BatchId) {
        if let Some(entry @ Entry::InFlight) = self.entries.get_mut(id) {
            *entry = Entry::InDoubt;
        }
    }

    /// Returns the accepted batches of a client's id, with its parts and chunks; `None` while one
    /// of them is in flight or in doubt. Cost: a pass over all ids.
    pub(crate) fn of_client(&self, client: &BatchId) -> Option<Vec<(BatchId, AcceptedBatch)>> {
        let batches = self.entries.iter().filter(|(id, _)| id.is_of(client));
        batches.map(|(id, entry)| Some((id.clone(), entry.accepted()?))).collect()
    }

    /// Notes that an accepted batch has no rows any more.
    pub(crate) fn note_revoked(&mut self, id: &BatchId) {
        if let Some(Entry::Accepted(accepted)) = self.entries.get_mut(id) {
            accepted.rows = 0;
        }
    }

    /// Whether a batch of the id is being written.
    pub(crate) fn is_in_flight(&self, id: &BatchId) -> bool {
        matches!(self.entries.get(id), Some(Entry::InFlight))
    }

    /// Whether the id is accepted, reserved or in doubt.
    pub(crate) fn knows(&self, id: &BatchId) -> bool {
        self.entries.contains_key(id)
    }

    /// The record of an accepted batch.
    pub(crate) fn get(&self, id: &BatchId) -> Option<AcceptedBatch> {
        self.entries.get(id)?.accepted()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> BatchId {
        BatchId::new(text).expect("an id")
    }

    fn accepted(content_hash: u64, seconds: i64) -> AcceptedBatch {
        AcceptedBatch { content_hash, rows: 1, time: Micros(seconds * Micros::SECOND) }
    }

    #[test]
    fn a_retry_is_known_by_its_content() {
        let mut batches = BatchIds::default();
        assert_eq!(batches.reserve(&id("a"), 1), Reservation::New);
        assert_eq!(batches.reserve(&id("a"), 1), Reservation::InFlight);
        batches.remember(&id("a"), accepted(1, 0), Duration::ZERO);
        assert_eq!(batches.reserve(&id("a"), 1), Reservation::Duplicate);
        assert_eq!(batches.reserve(&id("a"), 2), Reservation::Conflict);
        batches.release(&id("a"));
        assert_eq!(batches.reserve(&id("a"), 1), Reservation::Duplicate, "what was taken stays");
    }

    #[test]
    fn a_batch_that_failed_can_be_sent_again() {
        let mut batches = BatchIds::default();
        assert_eq!(batches.reserve(&id("a"), 1), Reservation::New);
        batches.release(&id("a"));
        assert_eq!(batches.reserve(&id("a"), 2), Reservation::New);
    }

    #[test]
    fn a_batch_in_doubt_is_not_taken_again() {
        let mut batches = BatchIds::default();
        batches.doubt(&id("a"));
        assert!(!batches.knows(&id("a")), "it was never reserved");
        assert_eq!(batches.reserve(&id("a"), 1), Reservation::New);
        batches.doubt(&id("a"));
        batches.release(&id("a"));
        assert_eq!(batches.reserve(&id("a"), 1), Reservation::InDoubt);
        assert!(batches.knows(&id("a")) && batches.get(&id("a")).is_none());
        assert!(batches.of_client(&id("a")).is_none());
    }

    #[test]
    fn ids_are_forgotten_by_the_time_that_passes_and_not_by_the_clock() {
        let mut batches = BatchIds::default();
        let hour = limits::BATCH_ID_SECONDS;
        let running = |seconds: i64| Duration::from_secs(seconds.unsigned_abs());
        batches.remember(&id("a"), accepted(1, 0), Duration::ZERO);
        batches.remember(&id("b"), accepted(1, 1_000 * hour), running(hour));
        batches.remember(&id("c"), accepted(1, -1_000 * hour), running(hour));
        assert!(batches.get(&id("a")).is_some(), "the clock jumped, and no time passed");
        assert_eq!(batches.least_time(), Some(accepted(1, -1_000 * hour).time));
        batches.remember(&id("d"), accepted(1, 5), running(hour + 1));
        assert!(batches.get(&id("a")).is_none());
        assert!(batches.get(&id("b")).is_some());
        batches.remember(&id("e"), accepted(1, 7), running(2 * hour + 1));
        assert!(batches.get(&id("c")).is_none());
        assert_eq!(batches.least_time(), Some(accepted(1, 5).time));
    }

    #[test]
    fn ids_are_forgotten_by_number() {
        let mut batches = BatchIds::default();
        for number in 0..=limits::BATCH_IDS_MAX {
            batches.remember(&id(&number.to_string()), accepted(1, 0), Duration::ZERO);
        }
        assert!(batches.get(&id("0")).is_none());
        assert!(batches.get(&id("1")).is_some());
        assert_eq!(batches.least_time(), Some(Micros(0)));
    }
}
