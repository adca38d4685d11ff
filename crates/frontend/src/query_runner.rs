//! Runs bound queries in the tree, each when it is its client's turn.
//!
//! Only the process that a client asks lets queries wait for a turn. Its requests to other
//! processes of a cluster, and those that they send on, do not wait for another one; so no query
//! waits for a place that it holds itself.

use std::sync::Arc;
use std::time::{Duration, Instant};

use hadal_aggregate::{ResultSet, RowColumns};
use hadal_peer::{QueryProgress, QueryWatch};
use hadal_query::Query;
use hadal_tree::{AskError, Root, StageTimes};
use hadal_types::{Clock, Micros, limits};
use tokio::time::{Instant as TokioInstant, sleep, timeout};

use crate::backend::Backend;
use crate::error::{ErrorKind, FrontendError};
use crate::query_client::QueryClient;
use crate::query_turn::{QueryTurn, QueryTurns};
use crate::state::shutdown::Shutdown;

/// Runs queries of one client in the tree until the server stops. Clones share all.
#[derive(Clone)]
pub(crate) struct QueryRunner {
    root: Root,
    clock: Arc<dyn Clock>,
    shutdown: Shutdown,
    turns: QueryTurns,
    client: QueryClient,
}

/// How long the stages of an answer took, one after the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RunTimes {
    /// Until it was the query's turn.
    pub(crate) queued: Duration,
    /// After that.
    pub(crate) stages: StageTimes,
}

impl QueryRunner {
    /// Returns a runner of the server's queries.
    pub(crate) fn new(backend: &Backend, shutdown: &Shutdown, turns: &QueryTurns) -> Self {
        let Backend { root, clock, .. } = backend;
        Self {
            root: root.clone(),
            clock: Arc::clone(clock),
            shutdown: shutdown.clone(),
            turns: turns.clone(),
            client: QueryClient::SERVER,
        }
    }

    /// Returns the same runner for queries of another client.
    pub(crate) fn of_client(self, client: QueryClient) -> Self {
        Self { client, ..self }
    }

    /// Runs a query. Dropping the future, as when the client hangs up, cancels the query; so does
    /// the shutdown, which may come before the deadline.
    pub(crate) async fn run(&self, query: Query) -> Result<ResultSet, FrontendError> {
        self.run_watched(query, &QueryWatch::default()).await
    }

    /// As [`Self::run`], for a query that somebody watches.
    pub(crate) async fn run_watched(
        &self,
        query: Query,
        watch: &QueryWatch,
    ) -> Result<ResultSet, FrontendError> {
        let asking = self.in_turn(query, |query| self.root.ask_watched(query, watch.clone()));
        Ok(self.until_shutdown(asking).await?.0)
    }

    /// How far a watched query has come, and its answer from the rows scanned by now, if these are
    /// more than `rows_min`.
    pub(crate) async fn partial_answer(
        &self,
        query: &Arc<Query>,
        watch: &QueryWatch,
        rows_min: u64,
    ) -> (QueryProgress, Option<ResultSet>) {
        self.root.partial_answer(Arc::clone(query), watch.clone(), rows_min).await
    }

    /// As [`Self::run`], with the times that the stages took.
    pub(crate) async fn run_timed(
        &self,
        query: Query,
    ) -> Result<(ResultSet, RunTimes), FrontendError> {
        let ((answer, stages), queued) =
            self.until_shutdown(self.in_turn(query, |query| self.root.ask_timed(query))).await?;
        Ok((answer, RunTimes { queued, stages }))
    }

    /// As [`Self::run`], but returns the rows as columns; those of the result set are empty.
    pub(crate) async fn run_columns(
        &self,
        query: Query,
    ) -> Result<(ResultSet, RowColumns), FrontendError> {
        let asking = self.in_turn(query, |query| self.root.ask_columns(query));
        Ok(self.until_shutdown(asking).await?.0)
    }

    async fn until_shutdown<T>(
        &self,
        asking: impl Future<Output = Result<T, FrontendError>>,
    ) -> Result<T, FrontendError> {
        tokio::select! {
            answered = asking => answered,
            () = self.shutdown.begun() => Err(FrontendError::from(&AskError::Stopping)),
        }
    }

    /// Asks when it is the client's turn. Returns also how long the query waited for it.
    async fn in_turn<T, A: Future<Output = Result<T, AskError>>>(
        &self,
        mut query: Query,
        ask: impl FnOnce(Query) -> A,
    ) -> Result<(T, Duration), FrontendError> {
        let start = now();
        let turn = match timeout(query.deadline, self.turns.wait(self.client)).await {
            Ok(turn) => turn?,
            Err(_) => return Err(self.no_turn(query.deadline)),
        };
        let queued = now().saturating_duration_since(start);
        query.deadline = query.deadline.saturating_sub(queued);
        let answered = keep_turn_while_short(turn, ask(query)).await;
        Ok((answered.map_err(|error| FrontendError::from(&error))?, queued))
    }

    /// The error of a query whose turn did not come.
    fn no_turn(&self, waited: Duration) -> FrontendError {
        let detail = format!(
            "the query waited {} ms for its turn, as long as it may; {} other queries wait",
            waited.as_millis(),
            self.turns.waiting()
        );
        FrontendError::new(ErrorKind::Busy, detail)
            .hint("try again in a second, or with a longer deadline")
    }

    /// Returns the current time.
    pub(crate) fn now(&self) -> Micros {
        self.clock.now()
    }
}

/// The current time, which tests can stop.
fn now() -> Instant {
    TokioInstant::now().into_std()
}

/// Waits for an answer. If it takes longer than a short query, others run beside it.
async fn keep_turn_while_short<T>(mut turn: QueryTurn, answering: impl Future<Output = T>) -> T {
    let mut answering = std::pin::pin!(answering);
    loop {
        tokio::select! {
            biased;
            answered = answering.as_mut() => return answered,
            () = sleep(Duration::from_millis(limits::QUERY_SHORT_MS)) => {}
        }
        // While there are too many long ones, it keeps its place, and tries again later.
        if turn.make_long() {
            return answering.await;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_query_keeps_its_turn_until_it_is_no_short_one() {
        let turns = QueryTurns::new(1);
        for _ in 0..limits::QUERIES_RUNNING_PER_CORE {
            let turn = turns.wait(QueryClient::SERVER).await.expect("a place");
            tokio::spawn(keep_turn_while_short(turn, pending::<()>()));
        }
        let start = now();
        let waiting = turns.wait(QueryClient::SERVER);
        assert!(waiting.await.is_ok());
        assert_eq!(now() - start, Duration::from_millis(limits::QUERY_SHORT_MS));
    }
}
