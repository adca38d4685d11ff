//! The options of one run. They follow from the seed, so that runs differ in what fails and how
//! often: a fault that is always there hides those that need its absence.

use hadal_random::Random;

use crate::queue::{MILLIS, SECOND, Time, whole};

/// A mistake that is made on purpose, to see that it is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Planted {
    #[default]
    None,
    /// Each try of a batch chooses a leaf as if it were the first.
    NewLeafEachTry,
    /// Leaves do not keep their promises to refuse a batch.
    BrokenPromises,
    /// A request reaches later processes of its leaf, too.
    AnyProcess,
    /// A leaf drops a revoked batch without asking who holds it.
    DropUnasked,
    /// A leaf serves, and reads its revocations later.
    ServeUnread,
    /// A door does not read the reports of acknowledgements.
    UnreadReceipts,
    /// A leaf reports that its rows expire at once.
    NoAge,
    /// A leaf reports no age limit, though its rows expire.
    Ageless,
    /// A leaf says that it restarts, and does not.
    NoRestart,
    /// A rollover does not know which leaves are of one machine.
    MachineUnknown,
    /// The partial result of a leaf is merged twice.
    MergeTwice,
}

/// Planted mistakes, all but none.
pub(crate) const PLANTED: [Planted; 11] = [
    Planted::NewLeafEachTry,
    Planted::BrokenPromises,
    Planted::AnyProcess,
    Planted::DropUnasked,
    Planted::ServeUnread,
    Planted::UnreadReceipts,
    Planted::NoAge,
    Planted::Ageless,
    Planted::NoRestart,
    Planted::MachineUnknown,
    Planted::MergeTwice,
];

/// A rollover of all leaves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RolloverOptions {
    pub(crate) begins: Time,
    pub(crate) share: f64,
    pub(crate) floor: f64,
}

/// Probabilities are per second and machine, if nothing else is said.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) seed: u64,
    pub(crate) planted: Planted,
    pub(crate) machines: usize,
    pub(crate) leaves_per_machine: usize,
    pub(crate) doors: usize,
    /// Machines that join during the run.
    pub(crate) joining: usize,
    pub(crate) batches: u32,
    /// Time with faults.
    pub(crate) safety: Time,
    /// Mean delay of a message.
    pub(crate) delay: Time,
    /// Mean delay of messages from and to the machine with the highest number, beyond that.
    pub(crate) slow: Time,
    /// Probability that a message is lost.
    pub(crate) loss: f64,
    /// Probability that a message arrives twice.
    pub(crate) duplicate: f64,
    /// Probability that a message is delayed by seconds.
    pub(crate) late: f64,
    pub(crate) leaf_crash: f64,
    /// Probability that a leaf crashes just after a write.
    pub(crate) crash_after_write: f64,
    pub(crate) door_crash: f64,
    pub(crate) freeze: f64,
    pub(crate) cut: f64,
    pub(crate) store_down: f64,
    /// Mean duration of a fault.
    pub(crate) fault: Time,
    /// Share of faults that last until the leaf counts as away.
    pub(crate) long_fault: f64,
    /// Largest difference of a clock's rate, as a share.
    pub(crate) skew: f64,
    /// The time between two queries of a door.
    pub(crate) query_every: Time,
    /// Duration of a write of a leaf.
    pub(crate) write: Time,
    /// Share of batches whose client chose the id, and repeats it.
    pub(crate) own_ids: f64,
    /// Share of posts that a client repeats through another door while the first is under way.
    pub(crate) impatient: f64,
    /// Whether the first machine stays dead at the end.
    pub(crate) stays_dead: bool,
    /// How long a leaf takes to restore its rows, at most.
    pub(crate) restore: Time,
    /// The age limit of rows, in seconds.
    pub(crate) age: Option<i64>,
    /// Seconds that clocks count in a second: rows may expire within a run.
    pub(crate) clock_speed: u32,
    pub(crate) rollover: Option<RolloverOptions>,
}

impl Options {
    pub(crate) fn of(seed: u64, planted: Planted) -> Self {
        let mut random = Random::new(seed, 1);
        let mut sometimes = |share: f64, value: f64| {
            let (is_on, value) = (random.chance(share), value * random.unit());
            if is_on { value } else { 0.0 }
        };
        let (loss, duplicate, late) =
            (sometimes(0.6, 0.1), sometimes(0.4, 0.1), sometimes(0.4, 0.05));
        let (leaf_crash, door_crash, freeze) =
            (sometimes(0.7, 0.05), sometimes(0.5, 0.03), sometimes(0.5, 0.03));
        let (cut, store_down) = (sometimes(0.5, 0.03), sometimes(0.3, 0.02));
        let skew = sometimes(0.5, 0.02);
        let crash_after_write = sometimes(0.2, 0.2);
        let slow = whole(sometimes(0.2, 1.0) * SECOND as f64);
        let is_large = random.chance(0.01);
        let machines = if is_large { 100 + random.index(201) } else { 3 + random.index(6) };
        let age = random.chance(0.3).then(|| 86_400 * (4 + i64::from(random.below_u32(9))));
        let rollover = random.chance(0.5).then(|| RolloverOptions {
            begins: random.below(100 * SECOND),
            share: 0.02 + 0.5 * random.unit(),
            floor: if random.chance(0.5) { 0.97 } else { random.unit() },
        });
        Self {
            seed,
            planted,
            machines,
            leaves_per_machine: 1 + random.index(3),
            doors: 1 + random.index(4),
            joining: if random.chance(0.3) { 1 + random.index(2) } else { 0 },
            batches: 20 + random.below_u32(80),
            safety: (30 + random.below(200)) * SECOND,
            delay: MILLIS / 5 + random.below(20 * MILLIS),
            slow,
            loss,
            duplicate,
            late,
            leaf_crash,
            crash_after_write,
            door_crash,
            freeze,
            cut,
            store_down,
            fault: 500 * MILLIS + random.below(8 * SECOND),
            long_fault: 0.4 * random.unit(),
            skew,
            query_every: 500 * MILLIS + random.below(5 * SECOND),
            write: MILLIS + random.below(100 * MILLIS),
            own_ids: 0.3 + 0.7 * random.unit(),
            impatient: 0.5 * random.unit(),
            stays_dead: random.chance(0.2),
            restore: MILLIS + random.below(5 * SECOND),
            age,
            clock_speed: if age.is_some() { 10_000 } else { 1 },
            rollover: rollover.filter(|_| age.is_none()),
        }
    }
}
