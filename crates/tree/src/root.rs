//! The root of the tree: sends queries to it, and finishes the partial that comes up.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hadal_aggregate::{
    FinishError, LeafCoverage, LeafOutcome, Partial, QueryError, ResultSet, RowColumns, finish,
    finish_columns,
};
use hadal_peer::{
    BlockStatus, MemberState, Peer, PeerStatus, QueryProgress, QueryWatch, StatusScope,
    TableBlocks, TableReport, TableStatus,
};
use hadal_query::Query;
use hadal_types::limits::SMALL_QUERY_BYTES_MAX;
use hadal_types::{CancelOnDrop, LeafName, MemoryPool, TableName};
use tokio::task::{JoinError, spawn_blocking};
use tokio::time::{Instant as TokioInstant, timeout};

use crate::catalog::Catalog;
use crate::cluster_status::ClusterStatus;
use crate::straggler_timeout::before_finishing;

/// Bytes of a partial result that is finished at once, about a thousand groups. To wake another
/// thread for it would take longer.
const FINISH_AT_ONCE_BYTES: usize = 128 << 10;

/// The root, where queries enter the tree.
#[derive(Clone)]
pub struct Root {
    tree: Arc<dyn Peer>,
    budget: Arc<MemoryPool>,
    catalog: Arc<Catalog>,
}

/// How long the stages of an answer took, one after the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StageTimes {
    /// Until there was memory for the query.
    pub waiting: Duration,
    /// Until the leaves had answered and their partial results were merged.
    pub leaves: Duration,
    /// Until the answer was computed and sorted.
    pub finishing: Duration,
}

/// Makes a result of the partial result of all leaves.
type ResultOf<T> = fn(Partial, &Query, &dyn Fn() -> bool) -> Result<T, FinishError>;

/// The current time, which tests can stop.
fn now() -> Instant {
    TokioInstant::now().into_std()
}

/// Why a query has no result.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum AskError {
    /// The query itself cannot be answered.
    #[error("{}", join(.0))]
    Faults(Vec<QueryError>),
    /// Rows are missing and the query requires all of them.
    #[error("only {scanned} of {expected} rows could be looked at, and the query wants all")]
    Incomplete {
        /// Rows that were scanned.
        scanned: u64,
        /// Rows that should have been scanned.
        expected: u64,
    },
    /// No leaf answered.
    #[error("none of {0} leaves answered")]
    NoLeaves(u32),
    /// The deadline has passed.
    #[error("there is no answer by the deadline")]
    Late,
    /// Other queries, and results that no client reads, hold all memory until the deadline.
    #[error("other queries, and answers that are not read yet, hold all memory that queries have")]
    NoRoom,
    /// The process is stopping.
    #[error("the answer was not finished, because the server is stopping")]
    Stopping,
}

fn join(errors: &[QueryError]) -> String {
    let messages: Vec<&str> = errors.iter().map(|error| error.message.as_str()).collect();
    messages.join("; ")
}

impl Root {
    /// Makes a root over a peer; all queries of the process share the memory pool.
    #[must_use]
    pub fn new(tree: Arc<dyn Peer>, budget: Arc<MemoryPool>) -> Self {
        Self { tree, budget, catalog: Arc::default() }
    }

    /// The memory pool that queries and their results share.
    #[must_use]
    pub fn budget(&self) -> &Arc<MemoryPool> {
        &self.budget
    }

    /// Runs a query, and returns its result by its deadline. Dropping the future cancels the query
    /// on all leaves.
    ///
    /// # Errors
    /// [`AskError`] when there is no result to show.
    pub async fn ask(&self, query: Query) -> Result<ResultSet, AskError> {
        self.ask_timed(query).await.map(|(answer, _)| answer)
    }

    /// As [`Self::ask`], with the times that the stages took.
    ///
    /// # Errors
    /// As [`Self::ask`].
    pub async fn ask_timed(&self, query: Query) -> Result<(ResultSet, StageTimes), AskError> {
        self.ask_with(query, finish, QueryWatch::default()).await
    }

    /// As [`Self::ask`], for a query that somebody watches.
    ///
    /// # Errors
    /// As [`Self::ask`].
    pub async fn ask_watched(
        &self,
        query: Query,
        watch: QueryWatch,
    ) -> Result<ResultSet, AskError> {
        self.ask_with(query, finish, watch).await.map(|(answer, _)| answer)
    }

    /// How far a watched query has come, and its answer from the rows scanned by now, if these are
    /// more than `rows_min`.
    pub async fn partial_answer(
        &self,
        query: Arc<Query>,
        watch: QueryWatch,
        rows_min: u64,
    ) -> (QueryProgress, Option<ResultSet>) {
        let waits = CancelOnDrop::default();
        let cancelled = waits.cancelled();
        let finishing = spawn_blocking(move || {
            let (progress, partial) = watch.collect(&query, rows_min);
            let is_over = || cancelled.is_cancelled();
            (progress, partial.and_then(|partial| finish(partial, &query, &is_over).ok()))
        });
        // Without it, the client knows less.
        finishing.await.unwrap_or_default()
    }

    /// As [`Self::ask`], but returns the rows as columns; those of the result set are empty.
    ///
    /// # Errors
    /// As [`Self::ask`].
    pub async fn ask_columns(&self, query: Query) -> Result<(ResultSet, RowColumns), AskError> {
        self.ask_with(query, finish_columns, QueryWatch::default()).await.map(|(answer, _)| answer)
    }

    async fn ask_with<T: Send + 'static>(
        &self,
        query: Query,
        finish: ResultOf<T>,
        watch: QueryWatch,
    ) -> Result<(T, StageTimes), AskError> {
        let (start, time_limit) = (TokioInstant::now().into_std(), query.deadline);
        let mut has_room = false;
        let answering = async {
            self.budget.wait_for_free(SMALL_QUERY_BYTES_MAX).await;
            has_room = true;
            self.answer(Arc::new(query), start, finish, watch).await
        };
        match timeout(time_limit, answering).await {
            Ok(answered) => answered,
            Err(_) if has_room => Err(AskError::Late),
            Err(_) => Err(AskError::NoRoom),
        }
    }

    async fn answer<T: Send + 'static>(
        &self,
        query: Arc<Query>,
        start: Instant,
        finish: ResultOf<T>,
        watch: QueryWatch,
    ) -> Result<(T, StageTimes), AskError> {
        let asked = now();
        let deadline = start + query.deadline;
        let found_by = before_finishing(start, deadline);
        let partial = self.tree.query_watched(Arc::clone(&query), found_by, watch).await;
        let answered = now();
        if !partial.errors.is_empty() {
            return Err(AskError::Faults(partial.errors.iter().cloned().collect()));
        }
        let coverage = &partial.coverage;
        if coverage.leaves_answered == 0 && coverage.rows_scanned == 0 && coverage.leaves_asked > 0
        {
            let is_late = |leaf: &LeafCoverage| leaf.outcome == LeafOutcome::Late;
            return Err(match coverage.leaves.iter().any(is_late) {
                true => AskError::Late,
                false => AskError::NoLeaves(coverage.leaves_asked),
            });
        }
        if query.require_complete && coverage.rows_scanned < coverage.rows_expected {
            return Err(AskError::Incomplete {
                scanned: coverage.rows_scanned,
                expected: coverage.rows_expected,
            });
        }
        // The client may go, which cancels the work.
        let waits = CancelOnDrop::default();
        let cancelled = waits.cancelled();
        let is_late = move || cancelled.is_cancelled() || Instant::now() >= deadline;
        // Sorting many groups takes long, and so may a user function: neither may block a runtime
        // thread.
        let is_quick =
            partial.reservation.bytes() <= FINISH_AT_ONCE_BYTES && query.functions.is_empty();
        let finished = match is_quick {
            true => Ok(finish(partial, &query, &is_late)),
            false => spawn_blocking(move || finish(partial, &query, &is_late)).await,
        };
        match finished.map_err(JoinError::try_into_panic) {
            Ok(Ok(answer)) => {
                let stages = StageTimes {
                    waiting: asked.saturating_duration_since(start),
                    leaves: answered.saturating_duration_since(asked),
                    finishing: now().saturating_duration_since(answered),
                };
                Ok((answer, stages))
            }
            Ok(Err(FinishError::Errors(errors))) => Err(AskError::Faults(errors)),
            Ok(Err(FinishError::Late)) => Err(AskError::Late),
            Err(Ok(panic)) => resume_unwind(panic),
            Err(Err(_)) => Err(AskError::Stopping),
        }
    }

    /// The current status of every leaf.
    pub async fn status(&self) -> PeerStatus {
        self.tree.status(&StatusScope::All).await
    }

    /// The current status of every leaf, for these tables only.
    async fn status_of(&self, tables: Vec<TableName>) -> PeerStatus {
        self.tree.status(&StatusScope::Tables(tables)).await
    }

    /// The state of every leaf. Does not examine its tables.
    pub async fn states(&self) -> Vec<(LeafName, MemberState)> {
        let leaves = self.tree.status(&StatusScope::Leaves).await.leaves.into_iter();
        leaves.map(|leaf| (leaf.name, leaf.state)).collect()
    }

    /// The current tables of all leaves, merged.
    pub async fn cluster_status(&self) -> ClusterStatus {
        ClusterStatus::new(&self.status().await)
    }

    /// The catalog of tables, which needs no messages.
    #[must_use]
    pub fn catalog(&self) -> &Arc<Catalog> {
        &self.catalog
    }

    /// One table of the catalog. It includes every batch that was acknowledged to this process.
    #[must_use]
    pub fn known_table(&self, name: &str) -> Option<Arc<TableStatus>> {
        self.catalog.table(&*self.tree, &TableName::new(name).ok()?)
    }

    /// The newest reports of a table, one for each leaf. Sends no message.
    #[must_use]
    pub fn reports(&self, table: &TableName) -> Vec<TableReport> {
        self.tree.reports(table)
    }

    /// One table as its leaves report it now, without other tables. Sends a message to all leaves.
    pub async fn table(&self, name: &str) -> Option<TableStatus> {
        let tables = vec![TableName::new(name).ok()?];
        ClusterStatus::table_of(&self.status_of(tables).await, name)
    }

    /// Returns the row blocks of a table, ordered by time.
    pub async fn blocks(&self, table: &TableName) -> TableBlocks {
        let mut blocks = self.tree.blocks(table).await;
        let by_time = |block: &BlockStatus| (block.time_range, block.leaf.clone(), block.rows);
        blocks.blocks.sort_by_cached_key(by_time);
        blocks
    }
}

#[cfg(test)]
mod tests;
