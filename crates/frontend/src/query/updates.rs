//! What a client learns of a query before its answer: the progress, and answers from the rows that
//! were scanned by then.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use hadal_peer::{QueryProgress, QueryWatch};
use hadal_query::Query;
use hadal_types::limits;
use tokio::sync::mpsc;
use tokio::time::sleep;

use crate::query::completion::Completion;
use crate::query::result::QueryResult;
use crate::query_runner::QueryRunner;

/// News of a query that runs.
#[derive(Debug)]
pub struct QueryUpdate {
    /// How far the query has come.
    pub progress: QueryProgress,
    /// The answer from the rows scanned by now, if they are more than in the last one. Its coverage
    /// has the leaves that have not answered as late.
    pub partial: Option<QueryResult>,
}

/// Sends updates on a query that runs, until the future is dropped.
pub(crate) async fn send(
    (runner, query, watch): (&QueryRunner, &Arc<Query>, &QueryWatch),
    completion: &Completion<'_>,
    updates: &mpsc::Sender<QueryUpdate>,
) -> Infallible {
    let mut rows_sent = 0;
    loop {
        sleep(Duration::from_millis(limits::QUERY_UPDATE_MS)).await;
        let (progress, partial) = runner.partial_answer(query, watch, rows_sent).await;
        watch.begin_round();
        let rows = partial.as_ref().map(|partial| partial.coverage.rows_scanned);
        let partial = partial.map(|partial| completion.result_of(partial));
        // A client that reads slowly gets fewer of them.
        if updates.try_send(QueryUpdate { progress, partial }).is_ok() {
            rows_sent = rows.unwrap_or(rows_sent);
        }
    }
}
