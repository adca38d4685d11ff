//! The aggregator of another machine.

use std::sync::Arc;
use std::time::Instant;

use hadal_aggregate::Partial;
use hadal_peer::{BoxFuture, Plan, PlannedPeer};
use hadal_query::Query;
use hadal_types::{LeafName, MachineName, MemoryPool};

use crate::connection::Connection;
use crate::remote_query::RemoteQuery;

/// One aggregator, and the connection to it.
pub struct RemoteAggregator {
    name: LeafName,
    connection: Arc<Connection>,
    memory: Arc<MemoryPool>,
}

impl RemoteAggregator {
    /// Makes the proxy of a machine's aggregator, without connecting. Its member name is the
    /// machine's.
    #[must_use]
    pub fn new(machine: &MachineName, connection: Arc<Connection>) -> Self {
        let (name, memory) = (LeafName(Arc::clone(&machine.0)), MemoryPool::new(usize::MAX));
        Self { name, connection, memory }
    }

    /// The same proxy, whose partials draw from the memory of queries.
    #[must_use]
    pub fn with_memory(self, memory: Arc<MemoryPool>) -> Self {
        Self { memory, ..self }
    }
}

impl PlannedPeer for RemoteAggregator {
    /// When the aggregator fails, every leaf of the plan has the outcome.
    fn query_planned(
        &self,
        query: Arc<Query>,
        plan: Arc<Plan>,
        deadline: Instant,
    ) -> BoxFuture<'_, Partial> {
        Box::pin(async move {
            let leaves = plan.machines.iter().flat_map(|machine| machine.leaves.iter().cloned());
            let leaves: Vec<LeafName> = leaves.collect();
            let remote = RemoteQuery {
                connection: &self.connection,
                to: &self.name,
                leaves: &leaves,
                query: &query,
                plan: Some(plan),
                memory: &self.memory,
            };
            remote.ask(deadline).await
        })
    }
}
