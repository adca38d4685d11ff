use std::time::Duration;

use hadal_aggregate::{Coverage, Partial};
use hadal_peer::{BoxFuture, TableReport};
use hadal_query::QueryKind;
use hadal_types::MemoryReservation;
use hadal_types::limits::QUERY_DEADLINE_MS;
use tokio::time::{Instant as PausedInstant, sleep};

use super::*;

const SECOND: Duration = Duration::from_secs(1);
const DEADLINE: Duration = Duration::from_millis(QUERY_DEADLINE_MS);

/// A tree that answers after this delay, whatever its deadline is.
struct Slow(Duration);

impl Peer for Slow {
    fn query(&self, query: Arc<Query>, deadline: Instant) -> BoxFuture<'_, Partial> {
        let kept = PausedInstant::now().into_std() + query.deadline - deadline;
        assert!(kept > query.deadline / 11, "only {kept:?} are left for finishing");
        Box::pin(async move {
            sleep(self.0).await;
            let leaf = LeafCoverage {
                name: LeafName("leaf".into()),
                outcome: LeafOutcome::Answered,
                rows_expected: 0,
                rows_scanned: 0,
                micros: 1,
                as_of: (0, 0),
            };
            Partial { coverage: Coverage::of_leaf(leaf, true), ..Partial::empty(&query) }
        })
    }

    fn status<'a>(&'a self, _scope: &'a StatusScope) -> BoxFuture<'a, PeerStatus> {
        Box::pin(async { PeerStatus::default() })
    }

    fn reports(&self, _table: &TableName) -> Vec<TableReport> {
        Vec::new()
    }

    fn blocks<'a>(&'a self, _: &'a TableName) -> BoxFuture<'a, TableBlocks> {
        Box::pin(async { TableBlocks::default() })
    }
}

fn query() -> Query {
    Query {
        limit: 1,
        deadline: DEADLINE,
        ..Query::new(
            TableName::new("t").expect("a name"),
            QueryKind::Groups { keys: Vec::new(), measures: Vec::new() },
        )
    }
}

/// The outcome of a query on a tree with this delay, and the time it took.
async fn asked(takes: Duration, budget: &Arc<MemoryPool>) -> (Result<usize, AskError>, Duration) {
    let start = PausedInstant::now();
    let answer = Root::new(Arc::new(Slow(takes)), Arc::clone(budget)).ask(query()).await;
    (answer.map(|answer| answer.rows.len()), start.elapsed())
}

/// Reserves all but `bytes` of a memory pool.
fn all_but(bytes: usize, budget: &Arc<MemoryPool>, bytes_max: usize) -> MemoryReservation {
    let mut held = budget.reservation();
    held.resize(bytes_max - bytes).expect("room");
    held
}

#[tokio::test(start_paused = true)]
async fn no_answer_comes_after_the_deadline() {
    let budget = MemoryPool::new(usize::MAX);
    let (answer, _) = asked(DEADLINE - SECOND / 10, &budget).await;
    assert_eq!(answer, Ok(1));
    for takes in [DEADLINE + SECOND, 100 * DEADLINE] {
        let (answer, took) = asked(takes, &budget).await;
        assert_eq!(answer, Err(AskError::Late));
        assert!((DEADLINE..DEADLINE + SECOND / 2).contains(&took), "{took:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_query_waits_for_room_until_its_deadline() {
    const BYTES_MAX: usize = 4 * SMALL_QUERY_BYTES_MAX;
    let budget = MemoryPool::new(BYTES_MAX);
    let held = all_but(SMALL_QUERY_BYTES_MAX, &budget, BYTES_MAX);
    assert_eq!(asked(SECOND, &budget).await.0, Ok(1), "there is just enough");
    drop(held);
    let held = all_but(SMALL_QUERY_BYTES_MAX - 1, &budget, BYTES_MAX);
    let (answer, took) = asked(SECOND, &budget).await;
    assert_eq!(answer, Err(AskError::NoRoom));
    assert!((DEADLINE..DEADLINE + SECOND / 2).contains(&took), "{took:?}");
    let freed = async {
        sleep(3 * SECOND).await;
        drop(held);
    };
    let ((answer, took), ()) = tokio::join!(asked(SECOND, &budget), freed);
    assert_eq!((answer, took.as_secs()), (Ok(1), 4), "it waits, and then it is answered");
}
