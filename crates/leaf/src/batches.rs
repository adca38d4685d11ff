//! Batch ids of one table: what makes a retry add nothing.

use std::collections::{HashMap, VecDeque};

use hadal_types::{BatchId, Micros, limits};

/// What is known of a batch that was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Known {
    pub(crate) content_hash: u64,
    pub(crate) rows: u32,
    pub(crate) time: Micros,
}

/// What an id says about a batch that comes in.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    /// Nothing: it is reserved now, until it is settled or released.
    New,
    /// It was taken with these bytes.
    Before,
    /// It was taken with other bytes.
    Conflict,
    /// A batch of this id is being logged at this moment.
    UnderWay,
    /// It failed in a way that leaves open whether it is in the log.
    InDoubt,
}

/// What is known of an id.
#[derive(Clone, Copy, Debug)]
enum Entry {
    UnderWay,
    /// The next process finds it in the log, or does not. Until then nobody else may take it.
    InDoubt,
    Taken(Known),
}

impl Entry {
    fn taken(self) -> Option<Known> {
        match self {
            Self::Taken(known) => Some(known),
            Self::UnderWay | Self::InDoubt => None,
        }
    }
}

/// The ids of one table's batches, bounded by number and age.
#[derive(Debug, Default)]
pub(crate) struct Batches {
    known: HashMap<BatchId, Entry>,
    /// Ids in the order of their times.
    order: VecDeque<(Micros, BatchId)>,
}

impl Batches {
    /// Looks `id` up, and reserves it if it is new.
    pub(crate) fn reserve(&mut self, id: &BatchId, content_hash: u64) -> Seen {
        match self.known.get(id) {
            None => {
                self.known.insert(id.clone(), Entry::UnderWay);
                Seen::New
            }
            Some(Entry::UnderWay) => Seen::UnderWay,
            Some(Entry::InDoubt) => Seen::InDoubt,
            Some(Entry::Taken(known)) if known.content_hash == content_hash => Seen::Before,
            Some(Entry::Taken(_)) => Seen::Conflict,
        }
    }

    /// Remembers a batch that was taken, and forgets what is too old or too much.
    pub(crate) fn remember(&mut self, id: &BatchId, known: Known) {
        self.known.insert(id.clone(), Entry::Taken(known));
        self.order.push_back((known.time, id.clone()));
        let oldest = known.time.0.saturating_sub(limits::BATCH_ID_SECONDS * Micros::SECOND);
        while let Some((time, _)) = self.order.front()
            && (time.0 < oldest || self.order.len() > limits::BATCH_IDS_MAX)
        {
            if let Some((time, id)) = self.order.pop_front()
                && self.get(&id).is_some_and(|known| known.time == time)
            {
                self.known.remove(&id);
            }
        }
    }

    /// Gives up a reserved id: its batch was not taken.
    pub(crate) fn release(&mut self, id: &BatchId) {
        if let Some(Entry::UnderWay) = self.known.get(id) {
            self.known.remove(id);
        }
    }

    /// Keeps a reserved id for good: whether its batch was taken nobody knows.
    pub(crate) fn doubt(&mut self, id: &BatchId) {
        if let Some(entry @ Entry::UnderWay) = self.known.get_mut(id) {
            *entry = Entry::InDoubt;
        }
    }

    /// What was taken under a client's id, its parts and chunks; `None` while some of it is under way, or in
    /// doubt.
    /// Cost: a look at all ids.
    pub(crate) fn of_client(&self, client: &BatchId) -> Option<Vec<(BatchId, Known)>> {
        let own = self.known.iter().filter(|(id, _)| id.is_of(client));
        own.map(|(id, entry)| Some((id.clone(), entry.taken()?))).collect()
    }

    /// Notes that a batch which was taken has no rows any more.
    pub(crate) fn note_revoked(&mut self, id: &BatchId) {
        if let Some(Entry::Taken(known)) = self.known.get_mut(id) {
            known.rows = 0;
        }
    }

    /// Whether the id was taken, is reserved, or in doubt.
    pub(crate) fn knows(&self, id: &BatchId) -> bool {
        self.known.contains_key(id)
    }

    /// What is known of a batch that was taken.
    pub(crate) fn get(&self, id: &BatchId) -> Option<Known> {
        self.known.get(id)?.taken()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> BatchId {
        BatchId::new(text).expect("an id")
    }

    fn known(content_hash: u64, seconds: i64) -> Known {
        Known { content_hash, rows: 1, time: Micros(seconds * Micros::SECOND) }
    }

    #[test]
    fn a_retry_is_known_by_its_content() {
        let mut batches = Batches::default();
        assert_eq!(batches.reserve(&id("a"), 1), Seen::New);
        assert_eq!(batches.reserve(&id("a"), 1), Seen::UnderWay);
        batches.remember(&id("a"), known(1, 0));
        assert_eq!(batches.reserve(&id("a"), 1), Seen::Before);
        assert_eq!(batches.reserve(&id("a"), 2), Seen::Conflict);
        batches.release(&id("a"));
        assert_eq!(batches.reserve(&id("a"), 1), Seen::Before, "what was taken stays");
    }

    #[test]
    fn a_batch_that_failed_can_be_sent_again() {
        let mut batches = Batches::default();
        assert_eq!(batches.reserve(&id("a"), 1), Seen::New);
        batches.release(&id("a"));
        assert_eq!(batches.reserve(&id("a"), 2), Seen::New);
    }

    #[test]
    fn a_batch_in_doubt_is_not_taken_again() {
        let mut batches = Batches::default();
        batches.doubt(&id("a"));
        assert!(!batches.knows(&id("a")), "it was never reserved");
        assert_eq!(batches.reserve(&id("a"), 1), Seen::New);
        batches.doubt(&id("a"));
        batches.release(&id("a"));
        assert_eq!(batches.reserve(&id("a"), 1), Seen::InDoubt);
        assert!(batches.knows(&id("a")) && batches.get(&id("a")).is_none());
        assert!(batches.of_client(&id("a")).is_none());
    }

    #[test]
    fn ids_are_forgotten_by_age() {
        let mut batches = Batches::default();
        batches.remember(&id("a"), known(1, 0));
        batches.remember(&id("b"), known(1, limits::BATCH_ID_SECONDS));
        assert!(batches.get(&id("a")).is_some());
        batches.remember(&id("c"), known(1, limits::BATCH_ID_SECONDS + 1));
        assert!(batches.get(&id("a")).is_none());
        assert!(batches.get(&id("b")).is_some());
    }

    #[test]
    fn ids_are_forgotten_by_number() {
        let mut batches = Batches::default();
        for number in 0..=limits::BATCH_IDS_MAX {
            batches.remember(&id(&number.to_string()), known(1, 0));
        }
        assert!(batches.get(&id("0")).is_none());
        assert!(batches.get(&id("1")).is_some());
    }
}
