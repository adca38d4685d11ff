//! Runs bound queries in the tree.

use std::sync::Arc;

use hadal_aggregate::ResultSet;
use hadal_query::Query;
use hadal_tree::{AskError, Root, StageTimes};
use hadal_types::{Clock, Micros};

use crate::backend::Backend;
use crate::error::FrontendError;
use crate::state::shutdown::Shutdown;

/// Runs queries in the tree until the server stops. Clones share both.
#[derive(Clone)]
pub(crate) struct QueryRunner {
    root: Root,
    clock: Arc<dyn Clock>,
    shutdown: Shutdown,
}

impl QueryRunner {
    pub(crate) fn new(backend: &Backend, shutdown: &Shutdown) -> Self {
        let Backend { root, clock, .. } = backend;
        Self { root: root.clone(), clock: Arc::clone(clock), shutdown: shutdown.clone() }
    }

    /// Runs a query. Dropping the future, as when the client hangs up, cancels the query; so does
    /// the shutdown, which may come before the deadline.
    pub(crate) async fn run(&self, query: Query) -> Result<ResultSet, FrontendError> {
        self.run_timed(query).await.map(|(answer, _)| answer)
    }

    /// As [`Self::run`], with the times that the stages took.
    pub(crate) async fn run_timed(
        &self,
        query: Query,
    ) -> Result<(ResultSet, StageTimes), FrontendError> {
        let answered = tokio::select! {
            answered = self.root.ask_timed(query) => answered,
            () = self.shutdown.begun() => Err(AskError::Stopping),
        };
        answered.map_err(|error| FrontendError::from(&error))
    }

    /// Returns the current time.
    pub(crate) fn now(&self) -> Micros {
        self.clock.now()
    }
}
