//! What a rollover sees of the cluster at one moment.

use std::collections::BTreeMap;

use hadal_peer::MemberState;
use hadal_types::{LeafName, LeafState, MachineName, Micros};

use crate::cluster::{ClusterReport, RowCounts};

/// The cluster at one moment, as a rollover observes it.
#[derive(Clone, Debug)]
pub struct Moment {
    /// The moment.
    pub at: Micros,
    /// Every leaf that is a member, or should hold rows.
    pub leaves: BTreeMap<LeafName, ObservedLeaf>,
    /// Queries of the door that drives the rollover.
    pub queries: QueryCounts,
}

/// One leaf at one moment.
#[derive(Clone, Debug)]
pub struct ObservedLeaf {
    /// Its machine.
    pub machine: MachineName,
    /// Its state, as membership announces it.
    pub state: MemberState,
    /// The start of its process; `None` if it is no member.
    pub started: Option<Micros>,
    /// The start of the process that reported the rows; `None` if it has reported no table.
    pub reported: Option<Micros>,
    /// Its rows, and those that are expected of it.
    pub rows: RowCounts,
}

/// Queries of this door since its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueryCounts {
    /// All queries.
    pub all: u64,
    /// Those that failed by a fault of the server or for missing rows.
    pub failed: u64,
}

impl Moment {
    /// The moment of a report.
    pub(crate) fn of(report: &ClusterReport, queries: QueryCounts) -> Self {
        let leaves = report.machines.iter().flat_map(|machine| {
            machine.leaves.iter().map(|leaf| {
                let observed = ObservedLeaf {
                    machine: machine.name.clone(),
                    state: leaf.state,
                    started: leaf.started,
                    reported: leaf.reported,
                    rows: leaf.rows,
                };
                (leaf.name.clone(), observed)
            })
        });
        Self { at: report.at, leaves: leaves.collect(), queries }
    }

    /// The rows of all leaves.
    pub(crate) fn rows(&self) -> RowCounts {
        let mut rows = RowCounts::default();
        for leaf in self.leaves.values() {
            rows.add(leaf.rows);
        }
        rows
    }
}

impl ObservedLeaf {
    pub(crate) fn is_alive(&self) -> bool {
        self.state == MemberState::Announced(LeafState::Alive)
    }

    /// Whether rows are still being restored.
    pub(crate) fn is_restoring(&self) -> bool {
        let is_recovery = matches!(
            self.state,
            MemberState::Announced(LeafState::MemoryRecovery | LeafState::DiskRecovery)
        );
        is_recovery || (self.state.answers() && self.rows.waiting > 0)
    }
}
