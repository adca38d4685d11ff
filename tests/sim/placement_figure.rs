//! How evenly the choice of two spreads bytes over a hundred leaves, from announcements that are up
//! to a second old.

use std::time::Duration;

use hadal_random::{Random, mix};
use hadal_tree::batch_placement::{
    BatchPlacement, Candidate, CandidateState, Effect, Event, History, PlacementRules, load,
};

use crate::queue::{MILLIS, SECOND, Time, whole};

const LEAVES: usize = 100;
const BATCHES: u64 = 100_000;
const SENDERS: usize = 3;
/// The time between two batches.
const BETWEEN: Time = MILLIS;
/// Leaves that come first in the order of a batch.
const FIRST: usize = 4;
/// How often a leaf announces its memory.
const ANNOUNCE: Time = SECOND;
/// The median of a batch's bytes, and the spread of its logarithm.
const BYTES: (f64, f64) = (65_536.0, 1.0);
const LEAF_BYTES: u64 = 1 << 30;
const SEEDS: [u64; 3] = [1, 2, 3];

/// How many leaves a batch chooses from.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Choices {
    One,
    Two,
}

#[derive(Clone, Copy, Debug, Default)]
struct Leaf {
    bytes: u64,
    announced: u64,
    /// When it is away; nothing is sent to it.
    away: (Time, Time),
    joined: Time,
}

impl Leaf {
    fn is_there(&self, now: Time) -> bool {
        now >= self.joined && !(self.away.0..self.away.1).contains(&now)
    }
}

/// The senders and the leaves.
struct Cluster {
    seed: u64,
    leaves: [Leaf; LEAVES],
    /// What each sender has sent to each leaf.
    sent: [[u64; LEAVES]; SENDERS],
}

impl Cluster {
    /// Leaves announce their memory, each at its own time of a second.
    fn announce(&mut self, now: Time) {
        for (leaf, id) in self.leaves.iter_mut().zip(0_u64..) {
            if (now + mix(self.seed ^ id) % ANNOUNCE) % ANNOUNCE < BETWEEN {
                leaf.announced = leaf.bytes;
            }
        }
    }

    /// The first leaves in the order of a batch, as a sender knows them. The others are not looked
    /// at.
    fn candidates(&self, (number, sender): (u64, usize), now: Time) -> Vec<Candidate<usize>> {
        let batch = mix(self.seed ^ (number << 8));
        let there = (0..LEAVES).filter(|leaf| self.leaves[*leaf].is_there(now));
        let mut order: Vec<(u64, usize)> =
            there.map(|leaf| (mix(batch ^ mix(leaf as u64)), leaf)).collect();
        order.select_nth_unstable(FIRST);
        order.truncate(FIRST);
        order.sort_unstable();
        let candidate = |(_, leaf): (u64, usize)| {
            let used = self.leaves[leaf].announced;
            let free = LEAF_BYTES.saturating_sub(used);
            let sent = self.sent[sender][leaf];
            Candidate {
                leaf,
                process: 1,
                state: CandidateState::Alive,
                free_bytes: Some(free),
                load: load(used, free, sent, sent),
                history: History::Other,
            }
        };
        order.into_iter().map(candidate).collect()
    }
}

/// The leaf to which a batch is sent.
fn placed(candidates: Vec<Candidate<usize>>, bytes: u64) -> usize {
    let mut effects = Vec::new();
    let mut placing = BatchPlacement::new(PlacementRules::CLUSTER, Duration::ZERO, true, bytes);
    placing.step(Duration::ZERO, Event::Candidates(candidates), &mut effects);
    let sent = effects.iter().find_map(|effect| match effect {
        Effect::Send { leaf, .. } => Some(*leaf),
        _ => None,
    });
    sent.expect("a leaf has room")
}

/// The most bytes of a leaf over the mean.
fn spread(seed: u64, choices: Choices, comes_and_goes: bool) -> f64 {
    let mut random = Random::new(seed, 3);
    let mut leaves = [Leaf::default(); LEAVES];
    if comes_and_goes {
        come_and_go(&mut random, &mut leaves);
    }
    let mut cluster = Cluster { seed, leaves, sent: [[0; LEAVES]; SENDERS] };
    for number in 0..BATCHES {
        let now = number * BETWEEN;
        cluster.announce(now);
        let bytes = whole(random.lognormal(BYTES.0, BYTES.1));
        let sender = random.index(SENDERS);
        let mut candidates = cluster.candidates((number, sender), now);
        if choices == Choices::One {
            candidates.truncate(1);
        }
        let leaf = placed(candidates, bytes);
        cluster.leaves[leaf].bytes += bytes;
        cluster.sent[sender][leaf] += bytes;
    }
    let all: u64 = cluster.leaves.iter().map(|leaf| leaf.bytes).sum();
    let most = cluster.leaves.iter().map(|leaf| leaf.bytes).max().unwrap_or(0);
    most as f64 * LEAVES as f64 / all as f64
}

/// Every second leaf is away for some seconds, and every tenth joins late.
fn come_and_go(random: &mut Random, leaves: &mut [Leaf]) {
    let end = BATCHES * BETWEEN;
    for (id, leaf) in leaves.iter_mut().enumerate() {
        if id % 2 == 0 {
            let begin = random.below(end);
            leaf.away = (begin, begin + 2 * SECOND + random.below(10 * SECOND));
        }
        if id % 10 == 5 {
            leaf.joined = random.below(end / 2);
        }
    }
}

#[test]
fn bytes_are_spread_evenly() {
    for seed in SEEDS {
        let (even, changing) =
            (spread(seed, Choices::Two, false), spread(seed, Choices::Two, true));
        let one = spread(seed, Choices::One, false);
        crate::print(format!(
            "seed {seed}: most bytes of a leaf over the mean: {even:.3}; {changing:.3} with leaves \
             that come and go; {one:.3} without a choice"
        ));
        assert!(even <= 1.05, "seed {seed}: {even}");
        assert!(changing <= 1.3, "seed {seed}: {changing}");
        assert!(one > 1.05, "seed {seed}: {one} is found to be uneven");
    }
}
