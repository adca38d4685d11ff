//! What a server calls.

use std::sync::Arc;

use hadal_definitions::DefinitionStore;
use hadal_peer::{Admin, ExpectedRowsSource, LeafRestarter, Peer, PlannedPeer, ReportSource, Sink};
use hadal_query::FunctionRegistry;

/// The parts of this process that other processes may call. A call of a part that is missing is
/// refused.
#[derive(Clone)]
pub struct Services {
    /// Answers queries without a plan, and states.
    pub peer: Arc<dyn Peer>,
    /// Answers queries with a plan.
    pub planned: Option<Arc<dyn PlannedPeer>>,
    /// Takes batches.
    pub sink: Option<Arc<dyn Sink>>,
    /// Changes tables.
    pub admin: Option<Arc<dyn Admin>>,
    /// Pushes reports.
    pub reports: Option<Arc<dyn ReportSource>>,
    /// Has the definitions, or a copy.
    pub definitions: Option<Arc<dyn DefinitionStore>>,
    /// Restarts leaves.
    pub restarter: Option<Arc<dyn LeafRestarter>>,
    /// Reports the rows that leaves should hold.
    pub expected_rows: Option<Arc<dyn ExpectedRowsSource>>,
    /// The user functions of queries.
    pub functions: FunctionRegistry,
}
