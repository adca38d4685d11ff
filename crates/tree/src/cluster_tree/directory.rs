//! The members of a cluster that can be asked. Readers take the whole directory as it is now;
//! a change makes a new one.

use std::collections::BTreeMap;
use std::sync::Arc;

use hadal_aggregate::{LeafCoverage, LeafOutcome};
use hadal_peer::{MemberState, Peer, PlannedPeer};
use hadal_types::{LeafName, MachineName};
use parking_lot::RwLock;

/// The members at one moment.
#[derive(Clone, Default)]
pub(super) struct Directory {
    pub(super) leaves: BTreeMap<LeafName, KnownLeaf>,
    pub(super) aggregators: BTreeMap<MachineName, KnownAggregator>,
}

/// A leaf.
#[derive(Clone)]
pub(super) struct KnownLeaf {
    pub(super) machine: MachineName,
    pub(super) peer: Arc<dyn Peer>,
    pub(super) state: MemberState,
}

/// The aggregator of a machine.
#[derive(Clone)]
pub(super) struct KnownAggregator {
    pub(super) peer: Arc<dyn PlannedPeer>,
    pub(super) works: bool,
}

impl Directory {
    /// The aggregator of a machine, if it is known to work.
    pub(super) fn working_aggregator(&self, machine: &MachineName) -> Option<&KnownAggregator> {
        self.aggregators.get(machine).filter(|aggregator| aggregator.works)
    }

    /// The number of aggregators that are known not to work, or of whose machine all leaves that
    /// were asked did not answer: what this process sends may not reach it.
    pub(super) fn unheard_aggregators(&self, asked: &[LeafCoverage]) -> u64 {
        let mut reached: BTreeMap<&MachineName, bool> = BTreeMap::new();
        for leaf in asked {
            let is_unreached = matches!(leaf.outcome, LeafOutcome::Late | LeafOutcome::Failed);
            if let Some(known) = self.leaves.get(&leaf.name) {
                *reached.entry(&known.machine).or_default() |= !is_unreached;
            }
        }
        let is_unheard = |(machine, aggregator): &(&MachineName, &KnownAggregator)| {
            !aggregator.works || reached.get(machine) == Some(&false)
        };
        self.aggregators.iter().filter(is_unheard).count() as u64
    }
}

/// The directory now, and its changes.
#[derive(Default)]
pub(super) struct Directories(RwLock<Arc<Directory>>);

impl Directories {
    pub(super) fn now(&self) -> Arc<Directory> {
        Arc::clone(&self.0.read())
    }

    pub(super) fn put_leaf(&self, name: LeafName, leaf: KnownLeaf) {
        self.change(|members| {
            members.leaves.insert(name, leaf);
        });
    }

    pub(super) fn set_leaf_state(&self, name: &LeafName, state: MemberState) {
        if self.now().leaves.get(name).is_some_and(|leaf| leaf.state != state) {
            self.change(|members| {
                members.leaves.entry(name.clone()).and_modify(|leaf| leaf.state = state);
            });
        }
    }

    pub(super) fn remove_leaf(&self, name: &LeafName) {
        self.change(|members| {
            members.leaves.remove(name);
        });
    }

    pub(super) fn put_aggregator(
        &self,
        machine: MachineName,
        peer: Arc<dyn PlannedPeer>,
        works: bool,
    ) {
        self.change(|members| {
            members.aggregators.insert(machine, KnownAggregator { peer, works });
        });
    }

    pub(super) fn set_aggregator_works(&self, machine: &MachineName, works: bool) {
        if self.now().aggregators.get(machine).is_some_and(|known| known.works != works) {
            self.change(|members| {
                members.aggregators.entry(machine.clone()).and_modify(|known| known.works = works);
            });
        }
    }

    pub(super) fn remove_aggregator(&self, machine: &MachineName) {
        self.change(|members| {
            members.aggregators.remove(machine);
        });
    }

    fn change(&self, change: impl FnOnce(&mut Directory)) {
        change(Arc::make_mut(&mut self.0.write()));
    }
}
