//! What a rollover sees of the cluster at one moment.

use std::collections::BTreeMap;

use hadal_peer::MemberState;
use hadal_types::{LeafName, LeafState, MachineName, Micros};

use crate::cluster::{ClusterReport, RowCounts};

/// The cluster at one moment.
#[derive(Clone, Debug)]
pub(crate) struct Moment {
    pub(crate) at: Micros,
    /// Every leaf that is a member, or should hold rows.
    pub(crate) leaves: BTreeMap<LeafName, ObservedLeaf>,
    pub(crate) queries: QueryCounts,
}

/// One leaf at one moment.
#[derive(Clone, Debug)]
pub(crate) struct ObservedLeaf {
    pub(crate) machine: MachineName,
    pub(crate) state: MemberState,
    /// The start of its process; `None` if it is no member.
    pub(crate) started: Option<Micros>,
    /// The start of the process that reported the rows; `None` if it has reported no table.
    pub(crate) reported: Option<Micros>,
    pub(crate) rows: RowCounts,
}

/// Queries of this door since its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct QueryCounts {
    /// All queries.
    pub(crate) all: u64,
    /// Those that failed by a fault of the server or for missing rows.
    pub(crate) failed: u64,
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
