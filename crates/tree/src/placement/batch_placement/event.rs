//! What a batch's placement learns and does.

use std::time::Duration;

use hadal_types::limits::{BATCH_ID_SECONDS, LEAF_NEW_SECONDS, MEMBERS_STALE_SECONDS};

use super::CHOICES;

/// A leaf, as the sender of a batch knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate<L> {
    /// The leaf.
    pub leaf: L,
    /// The start of its process. A later process of the leaf has a higher one.
    pub process: u64,
    /// Its state.
    pub state: CandidateState,
    /// Bytes of batches that it can take, as it announced; `None` if it must be asked.
    pub free_bytes: Option<u64>,
    /// How full it is, see [`load`]: of two leaves, the one with less gets a batch.
    pub load: Load,
    /// Whether it may hold the batch although it is not among the first two.
    pub history: History,
}

/// Whether a leaf was one of the two candidates of a batch before others joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum History {
    /// Not while the batch can have been sent.
    Other,
    /// It is unknown. Such a leaf is asked, but not waited for.
    Unknown,
    /// It was.
    Candidate,
}

/// The history of the leaf at `index` of a batch's order. `joined` is when each leaf joined the
/// cluster, if it said so, by the same clock as `now`.
#[must_use]
pub fn history(index: usize, joined: &[Option<Duration>], now: Duration) -> History {
    let Some(since) = joined[index] else { return History::Unknown };
    let remembered = now.saturating_sub(Duration::from_secs(BATCH_ID_SECONDS.unsigned_abs()));
    let was_there =
        |other: &&Option<Duration>| other.is_none_or(|other| other <= since.max(remembered));
    match joined[..index].iter().filter(was_there).count() < CHOICES {
        true => History::Candidate,
        false => History::Other,
    }
}

/// The state of a leaf for batches that may be retries. `since` is when the sender first knew of
/// it, `begun` when it first knew of any leaf, and `heard` when it last heard of any.
///
/// A leaf that has just joined takes no such batches, as other senders may not know it yet, and
/// would not ask it. A sender that was frozen does not know who has joined meanwhile: until it
/// hears of the leaves again, all of them are silent to it.
#[must_use]
pub fn state_for_retries(
    state: CandidateState,
    (since, begun, heard): (Duration, Duration, Duration),
    now: Duration,
) -> CandidateState {
    let seconds = Duration::from_secs;
    let is_new = now.saturating_sub(since) < seconds(LEAF_NEW_SECONDS);
    match state {
        CandidateState::Silent { .. } => state,
        _ if now.saturating_sub(heard) > seconds(MEMBERS_STALE_SECONDS) => {
            CandidateState::Silent { since: now }
        }
        _ if is_new && since > begun + seconds(MEMBERS_STALE_SECONDS) => CandidateState::Leaving,
        _ => state,
    }
}

/// How full a leaf is: the share of its memory in coarse steps, then the bytes of the batch's table
/// and of all tables, as far as the sender knows.
pub type Load = [u64; 3];

/// Steps in which shares of memory are compared. Within a step, the bytes of the table decide,
/// which a sender knows better: announcements are up to a second old.
const MEMORY_STEPS: u128 = 64;

/// The load of a leaf that announced `used_bytes` and `free_bytes` of memory, and has these bytes
/// of the table and of all tables.
#[must_use]
pub fn load(used_bytes: u64, free_bytes: u64, table_bytes: u64, all_bytes: u64) -> Load {
    let (used, free) = (u128::from(used_bytes), u128::from(free_bytes));
    let step = used * MEMORY_STEPS / (used + free).max(1);
    [u64::try_from(step).unwrap_or(u64::MAX), table_bytes, all_bytes]
}

/// What is known of a leaf's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CandidateState {
    /// It takes batches.
    Alive,
    /// It takes batches, and is busy with its restart: chosen last.
    Recovering,
    /// It is about to stop: it answers, and takes no new batches.
    Leaving,
    /// It was last heard of at this time.
    Silent {
        /// The time.
        since: Duration,
    },
}

/// A leaf's answer to whether it has a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lookup {
    /// Whether it has the batch, is taking it, or may have taken it.
    pub is_known: bool,
    /// Whether it promised not to take the batch.
    pub refuses: bool,
    /// Whether the batch is revoked there, as far as the leaf knows: a record says where it went.
    pub is_revoked: bool,
    /// Whether it takes batches at all.
    pub takes_batches: bool,
    /// Bytes of batches that it can take now.
    pub free_bytes: u64,
}

/// How sending a batch to a leaf ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendOutcome {
    /// The leaf has the batch.
    Accepted,
    /// The leaf does not have it because of this request, and others may take it.
    Declined,
    /// An answer for the client, whatever other leaves would say.
    Final,
    /// The answer was lost, or the request.
    Unknown,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event<L> {
    /// All known leaves in the order of the batch. The first event, and again after each change.
    Candidates(Vec<Candidate<L>>),
    /// A leaf answered a look-up.
    LookedUp {
        /// The leaf.
        leaf: L,
        /// The process that answered.
        process: u64,
        /// Its answer.
        lookup: Lookup,
    },
    /// A leaf did not answer a look-up.
    NotLookedUp {
        /// The leaf.
        leaf: L,
    },
    /// The batch was sent.
    Sent {
        /// The leaf.
        leaf: L,
        /// The outcome.
        outcome: SendOutcome,
    },
    /// The batch is revoked at a leaf.
    Revoked {
        /// The leaf.
        leaf: L,
        /// Where the batch goes instead, according to the first record. If it is revoked there,
        /// too, where it goes from there, and so on.
        instead: L,
        /// Whether the record is so old that the batch may be settled there: see
        /// `BATCH_MOVED_SECONDS`.
        is_old: bool,
    },
    /// A revocation could not be recorded.
    NotRevoked {
        /// The leaf.
        leaf: L,
    },
    /// Time passed.
    Time,
}

/// What the driver does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect<L> {
    /// Asks a leaf whether it has the batch.
    LookUp {
        /// The leaf.
        leaf: L,
        /// Whether the leaf promises to refuse the batch if it does not have it.
        refuse: bool,
    },
    /// Sends the batch to this process of a leaf, and to no later one.
    Send {
        /// The leaf.
        leaf: L,
        /// The process.
        process: u64,
        /// Whether the batch moves there, so that a promise to refuse it does not count.
        moves: bool,
    },
    /// Records that the batch is revoked at a leaf, unless a record exists.
    Revoke {
        /// The leaf.
        leaf: L,
        /// Where the batch goes instead.
        instead: L,
    },
    /// Notes in the records that a leaf holds a batch that moved there, so that the leaves at which
    /// it was revoked need not ask. Its outcome does not matter.
    NoteHeld {
        /// The leaf.
        leaf: L,
    },
    /// Answers the client. The last effect.
    Answer(Answer<L>),
    /// Passes [`Event::Time`] at this time.
    WaitUntil(Duration),
}

/// The answer to a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer<L> {
    /// What the leaf answered to which the batch was sent last.
    OfLeaf,
    /// The batch was not acknowledged; the client may send it again.
    Unavailable {
        /// The leaf that may hold the batch and does not answer; `None` if no leaf takes batches.
        leaf: Option<L>,
        /// When another try makes sense.
        retry_after: Duration,
    },
}

impl<L> Candidate<L> {
    pub(super) const fn is_reachable(&self) -> bool {
        !matches!(self.state, CandidateState::Silent { .. })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn leaves_that_were_candidates_before_others_joined_may_hold_a_batch() {
        let now = 10_000 * SECOND;
        let may_hold = |joined: &[u32]| -> Vec<usize> {
            let joined: Vec<_> = joined.iter().map(|joined| Some(*joined * SECOND)).collect();
            let history = |index| history(index, &joined, now);
            (0..joined.len()).filter(|index| history(*index) == History::Candidate).collect()
        };
        assert_eq!(may_hold(&[0, 0, 0, 0]), [0, 1]);
        assert_eq!(may_hold(&[9_000, 0, 0, 0]), [0, 1, 2]);
        assert_eq!(may_hold(&[9_500, 9_000, 0, 8_000, 0, 0]), [0, 1, 2, 3, 4]);
        let remembered = u32::try_from(10_000 - BATCH_ID_SECONDS).expect("small");
        assert_eq!(may_hold(&[remembered, 0, 0]), [0, 1], "no leaf remembers such a batch");
        assert_eq!(may_hold(&[remembered + 1, 0, 0]), [0, 1, 2]);
        assert_eq!(history(1, &[Some(now), None], now), History::Unknown);
    }

    #[test]
    fn retries_do_not_go_to_leaves_that_other_senders_may_not_know() {
        let seconds = Duration::from_secs;
        let (alive, begun) = (CandidateState::Alive, seconds(100));
        let at = |since, heard, now| {
            state_for_retries(alive, (seconds(since), begun, seconds(heard)), seconds(now))
        };
        assert_eq!(at(100, 200, 200), alive);
        assert_eq!(at(200, 200, 200), CandidateState::Leaving);
        assert_eq!(at(200, 210, 200 + LEAF_NEW_SECONDS), alive);
        assert_eq!(at(101, 102, 102), alive, "it was there before the sender");
        let now = 200 + MEMBERS_STALE_SECONDS + 1;
        assert_eq!(at(100, 200, now), CandidateState::Silent { since: seconds(now) });
        assert_eq!(at(100, 200, now - 1), alive);
    }

    #[test]
    fn memory_decides_before_bytes_of_the_table() {
        assert!(load(10, 90, 9, 9) < load(20, 80, 0, 0));
        assert!(load(10, 990, 0, 9) < load(5, 995, 1, 0), "the same share but for one percent");
        assert_eq!(load(0, 0, 1, 2), [0, 1, 2]);
        assert_eq!(load(u64::MAX, 0, 0, 0), [64, 0, 0]);
    }
}
