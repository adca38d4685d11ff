//! The plan of a query: which machines an aggregator asks, and through whom.

use std::sync::Arc;
use std::time::Instant;

use hadal_aggregate::Partial;
use hadal_query::Query;
use hadal_types::{LeafName, MachineName};

use crate::BoxFuture;

/// The part of the tree at and below one aggregator (Scuba, VLDB 2013, section 3.5).
///
/// The first machine is the aggregator's own: it asks the leaves of that machine itself. It divides
/// the other machines into at most `fanout` groups of neighbours. The aggregator of each group's
/// first machine gets that group as its plan. Where that machine has no aggregator, the asking
/// aggregator queries the leaves of the machine itself, and the next machine leads the group.
///
/// Names, not addresses: every process knows the members' addresses by itself, so a plan can send
/// nobody elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Groups into which each aggregator divides the machines below it; at least 2.
    pub fanout: usize,
    /// Rows that all leaves of the query should have, as far as the root knows; 0 if it knows of
    /// none. An aggregator waits for stragglers by what they are of the whole.
    pub rows_expected: u64,
    /// The machines, each once.
    pub machines: Vec<PlannedMachine>,
}

impl Plan {
    /// The same plan without machines, for a part of it.
    #[must_use]
    pub const fn without_machines(&self) -> Self {
        Self { machines: Vec::new(), ..*self }
    }
}

/// One machine of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedMachine {
    /// Its name.
    pub name: MachineName,
    /// Whether its aggregator is known to work. The aggregator at a plan's root counts as working.
    pub has_aggregator: bool,
    /// The leaves to query.
    pub leaves: Vec<LeafName>,
}

/// An aggregator that answers for the machines of a plan.
pub trait PlannedPeer: Send + Sync {
    /// Answers `query` by `deadline` for all leaves of `plan`, as [`crate::Peer::query`] does.
    fn query_planned(
        &self,
        query: Arc<Query>,
        plan: Arc<Plan>,
        deadline: Instant,
    ) -> BoxFuture<'_, Partial>;
}
