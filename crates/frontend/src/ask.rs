//! A bound query to its result.

use hadal_aggregate::ResultSet;
use hadal_query::Query;
use hadal_tree::AskError;

use crate::error::FrontendError;
use crate::frontend::Frontend;

/// Runs a query in the tree. Dropping the future, as when the client hangs up, cancels the query;
/// so does [`Frontend::shutdown`], which may come before the deadline.
pub(crate) async fn ask(frontend: &Frontend, query: Query) -> Result<ResultSet, FrontendError> {
    let answered = tokio::select! {
        answered = frontend.backend.root.ask(query) => answered,
        () = frontend.shutdown.begun() => Err(AskError::Stopping),
    };
    answered.map_err(|error| FrontendError::from(&error))
}
