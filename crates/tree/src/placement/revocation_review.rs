//! What a leaf does about the batches that were revoked there while it was away, as a state machine
//! like [`super::batch_placement`].
//!
//! The leaf reads its records when it starts, after it was frozen, and every two seconds. It
//! refuses the batches that they name. If it holds one, and the record does not say that another
//! leaf holds it, too, it asks the leaves that got the batch instead. As soon as one of them holds
//! it durably, it drops its copy. A leaf that does not hold it promises to refuse it: perhaps the
//! sender died before it sent the batch there. Then the copy stays, and the leaf asks again after
//! the next read, because promises end with their process.
//!
//! A leaf that was away long enough to have revoked batches takes no retries before it has read its
//! records, and serves queries only after all leaves that it asked had time to answer. If it cannot
//! read them and holds no batch that is young enough to be revoked, it serves without.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use hadal_types::limits::{LEAF_AWAY_SECONDS, REVOCATIONS_SECONDS};

/// A leaf that was not scheduled for this long must have been frozen. Others may have called it
/// silent, but not long enough to revoke its batches.
const FROZEN: Duration = Duration::from_secs(LEAF_AWAY_SECONDS / 2);
/// Time from one read to the next.
const READ_EVERY: Duration = Duration::from_secs(REVOCATIONS_SECONDS);

/// A batch that was revoked on this leaf.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RevokedBatch<L, B> {
    /// The batch.
    pub batch: B,
    /// All leaves later in its order that got it instead of this leaf, or instead of one of them.
    pub instead: Vec<L>,
    /// Whether this leaf holds it. The driver waits for batches that are being written.
    pub is_held: bool,
    /// Whether one of the others is known to hold it durably, or to have held it and then moved it.
    pub is_elsewhere: bool,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event<L, B> {
    /// The records of this leaf.
    Read(Vec<RevokedBatch<L, B>>),
    /// The records could not be read.
    NotRead,
    /// A leaf was asked for a batch: whether it holds it durably, or `None` if it did not answer.
    LookedUp {
        /// The batch.
        batch: B,
        /// The leaf.
        leaf: L,
        /// Its answer.
        holds: Option<bool>,
    },
    /// The copy of a batch was dropped, or it cannot be.
    Dropped {
        /// The batch.
        batch: B,
    },
    /// Time passed.
    Time,
}

/// What the driver does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect<L, B> {
    /// Abandons the read and the look-ups that are under way: what they say is of the time before
    /// the process was frozen. There is no event for them.
    Abandon,
    /// Reads the records of this leaf.
    Read,
    /// Asks a leaf whether it holds a batch durably; if it does not, it promises to refuse it.
    LookUp {
        /// The batch.
        batch: B,
        /// The leaf.
        leaf: L,
    },
    /// Refuses a batch from now on.
    Refuse {
        /// The batch.
        batch: B,
    },
    /// Drops the copy of a batch.
    Drop {
        /// The batch.
        batch: B,
    },
    /// Passes [`Event::Time`] at this time.
    WaitUntil(Duration),
}

/// The review of one process of a leaf.
#[derive(Clone, Debug)]
pub struct RevocationReview<L, B> {
    /// The last event. A long time without any means that the process was frozen.
    last_event: Duration,
    /// Whether queries may see the rows.
    is_open: bool,
    /// Whether queries may see the rows although the records could not be read.
    opens_unread: bool,
    /// Whether no batch can have been revoked while the leaf was away.
    was_short: bool,
    /// When the read under way was begun.
    reading: Option<Duration>,
    next_read: Duration,
    /// The start of the last read that succeeded.
    read_at: Option<Duration>,
    /// Held batches, and the leaves that have not answered yet.
    asked: BTreeMap<B, BTreeSet<L>>,
    /// Batches that are being dropped.
    dropping: BTreeSet<B>,
}

impl<L: Clone + Ord, B: Clone + Ord> RevocationReview<L, B> {
    /// Reviews the batches of a process that starts now. `away` is how long no process of the leaf
    /// lived that might serve and take retries, if somebody knows it. `may_hold` says whether the
    /// leaf holds batches that are young enough to be revoked.
    #[must_use]
    pub fn new(now: Duration, away: Option<Duration>, may_hold: bool) -> Self {
        let was_short = away.is_some_and(|away| away < FROZEN);
        Self {
            last_event: now,
            is_open: false,
            opens_unread: was_short || !may_hold,
            was_short,
            reading: None,
            next_read: now,
            read_at: None,
            asked: BTreeMap::new(),
            dropping: BTreeSet::new(),
        }
    }

    /// Whether queries may see the leaf's rows now. Asked before each query, since a query may be
    /// the first thing that a process does after it was frozen.
    #[must_use]
    pub fn may_serve(&self, now: Duration) -> bool {
        self.is_open && now.saturating_sub(self.last_event) < FROZEN
    }

    /// Whether the leaf takes new batches that may be retries: it knows which of them were revoked.
    /// Until then it is best announced as recovering, so that it is chosen last.
    #[must_use]
    pub fn takes_retries(&self, now: Duration) -> bool {
        let knows = self.was_short || self.read_at.is_some();
        knows && now.saturating_sub(self.last_event) < FROZEN
    }

    /// Batches that came before this time have no further records, unless their client did not ask
    /// for them since: they may be settled. `None` if no record was read yet.
    #[must_use]
    pub const fn read_at(&self) -> Option<Duration> {
        self.read_at
    }

    /// Takes an event, and appends what to do now.
    pub fn step(&mut self, now: Duration, event: Event<L, B>, effects: &mut Vec<Effect<L, B>>) {
        if now.saturating_sub(self.last_event) >= FROZEN {
            self.close(now, effects);
        }
        self.last_event = now;
        match event {
            Event::Read(records) => self.read(records, effects),
            Event::NotRead => self.end_read(self.opens_unread),
            Event::LookedUp { batch, leaf, holds } => self.looked_up(batch, leaf, holds, effects),
            Event::Dropped { batch } => {
                self.dropping.remove(&batch);
            }
            Event::Time => {}
        }
        let is_decided = self.asked.is_empty() && self.dropping.is_empty();
        self.is_open |= self.read_at.is_some() && self.reading.is_none() && is_decided;
        if self.reading.is_none() && now >= self.next_read {
            self.reading = Some(now);
            self.next_read = now + READ_EVERY;
            effects.push(Effect::Read);
        }
        let wait_until = match self.reading {
            Some(_) => self.next_read.max(now + READ_EVERY),
            None => self.next_read,
        };
        effects.push(Effect::WaitUntil(wait_until));
    }

    /// Others may have revoked batches while the process was frozen, and their new leaves may have
    /// got them. A read or a look-up that was begun before does not count.
    fn close(&mut self, now: Duration, effects: &mut Vec<Effect<L, B>>) {
        effects.push(Effect::Abandon);
        self.is_open = false;
        self.opens_unread = false;
        self.was_short = false;
        self.read_at = None;
        self.reading = None;
        self.next_read = now;
        self.asked.clear();
    }

    fn end_read(&mut self, opens: bool) {
        self.reading = None;
        self.is_open |= opens;
    }

    fn read(&mut self, records: Vec<RevokedBatch<L, B>>, effects: &mut Vec<Effect<L, B>>) {
        let Some(begun) = self.reading.take() else { return };
        self.read_at = Some(begun);
        self.opens_unread = true;
        for RevokedBatch { batch, instead, is_held, is_elsewhere } in records {
            effects.push(Effect::Refuse { batch: batch.clone() });
            if !is_held || self.dropping.contains(&batch) {
                continue;
            }
            if is_elsewhere {
                self.asked.remove(&batch);
                self.dropping.insert(batch.clone());
                effects.push(Effect::Drop { batch });
                continue;
            }
            for leaf in &instead {
                effects.push(Effect::LookUp { batch: batch.clone(), leaf: leaf.clone() });
            }
            self.asked.insert(batch, instead.into_iter().collect());
        }
        self.asked.retain(|_, leaves| !leaves.is_empty());
    }

    fn looked_up(
        &mut self,
        batch: B,
        leaf: L,
        holds: Option<bool>,
        effects: &mut Vec<Effect<L, B>>,
    ) {
        let Some(leaves) = self.asked.get_mut(&batch) else { return };
        leaves.remove(&leaf);
        let is_last = leaves.is_empty();
        if holds == Some(true) || is_last {
            self.asked.remove(&batch);
        }
        if holds == Some(true) {
            self.dropping.insert(batch.clone());
            effects.push(Effect::Drop { batch });
        }
    }
}

#[cfg(test)]
mod tests;
