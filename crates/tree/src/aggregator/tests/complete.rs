//! A query that requires all rows, of leaves that do not all answer with all of theirs. The tests
//! query the root, over a tree of one level and of two.

use hadal_aggregate::ResultSet;
use hadal_peer::TableReport;
use hadal_types::MemoryPool;
use tokio::time::{Instant as PausedInstant, sleep};

use super::*;
use crate::root::{AskError, Root};

/// Rows of the differing leaf: so few that the other leaves suffice without it.
const ROWS: u64 = 20;
/// Rows of each other leaf.
const ROWS_OF_OTHERS: u64 = 100;
/// The number of other leaves, for a tree of one level and of two.
const OTHERS: [usize; 2] = [4, 6];

/// The behaviour of a leaf when it is queried.
#[derive(Clone, Copy, Debug)]
enum Act {
    /// It answers with all of this many rows.
    Whole(u64),
    /// It answers, and this many of its rows are missing.
    Misses(u64),
    /// It reports a failure, without the rows that it should hold.
    Fails(LeafOutcome),
    /// The leaf never answers.
    Stalls,
    /// It answers with all of its rows, but long after the others.
    Tarries,
}

struct Actor {
    name: LeafName,
    act: Act,
}

impl Peer for Actor {
    fn query(&self, query: Arc<Query>, _deadline: Instant) -> BoxFuture<'_, Partial> {
        Box::pin(async move {
            let (outcome, expected, scanned) = match self.act {
                Act::Whole(rows) => (LeafOutcome::Answered, rows, rows),
                Act::Misses(rows) => (LeafOutcome::Answered, ROWS, ROWS - rows),
                Act::Fails(outcome) => (outcome, 0, 0),
                Act::Stalls => std::future::pending().await,
                Act::Tarries => {
                    sleep(query.deadline / 2).await;
                    (LeafOutcome::Answered, ROWS, ROWS)
                }
            };
            let leaf = LeafCoverage {
                name: self.name.clone(),
                outcome,
                rows_expected: expected,
                rows_scanned: scanned,
                micros: 1,
                as_of: (0, 0),
            };
            let coverage = Coverage::of_leaf(leaf, true);
            Partial { coverage, ..Partial::empty(&query) }
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

/// Rows of all leaves.
fn all(others: usize) -> u64 {
    ROWS + others as u64 * ROWS_OF_OTHERS
}

/// A root over a tree of leaves that answer, and one leaf with this behaviour.
fn root(act: Act, others: usize) -> Root {
    let expected_rows = Arc::new(ExpectedRows::default());
    let leaf = |index: usize| {
        let name = LeafName(format!("leaf-{index}").into());
        let (rows, act) = match index == others {
            true => (ROWS, act),
            false => (ROWS_OF_OTHERS, Act::Whole(ROWS_OF_OTHERS)),
        };
        expected_rows.add(&name, &table(), rows);
        let peer: Arc<dyn Peer> = Arc::new(Actor { name: name.clone(), act });
        (name, peer)
    };
    let tree = Aggregator::over_leaves((0..=others).map(leaf).collect(), &expected_rows);
    assert_eq!(tree.members().len() <= others, others >= TREE_FANOUT, "levels");
    Root::new(Arc::new(tree), MemoryPool::new(usize::MAX))
}

/// Scanned and expected rows, of a result or of the error.
#[derive(Debug, PartialEq)]
enum Asked {
    Answered(u64, u64),
    Incomplete(u64, u64),
}

/// Queries a tree with `others` other leaves; returns the outcome and the time it took. Each query
/// has a runtime of its own, since a paused runtime's clock ends up ahead of the system's.
fn asked(act: Act, others: usize, require_complete: bool) -> (Asked, Duration) {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_time().start_paused(true);
    let query = Query { require_complete, ..(*query()).clone() };
    runtime.build().expect("a runtime").block_on(async {
        let begun = PausedInstant::now();
        let asked = match root(act, others).ask(query).await {
            Ok(ResultSet { coverage, .. }) => {
                Asked::Answered(coverage.rows_scanned, coverage.rows_expected)
            }
            Err(AskError::Incomplete { scanned, expected }) => Asked::Incomplete(scanned, expected),
            Err(error) => panic!("{error}"),
        };
        (asked, begun.elapsed())
    })
}

#[test]
fn who_wants_all_rows_gets_no_answer_where_one_leaf_has_not_given_all() {
    for others in OTHERS {
        for (act, missing) in [
            (Act::Misses(1), 1),
            (Act::Misses(ROWS), ROWS),
            (Act::Fails(LeafOutcome::Failed), ROWS),
            (Act::Fails(LeafOutcome::Dead), ROWS),
            (Act::Fails(LeafOutcome::Restarting), ROWS),
            (Act::Stalls, ROWS),
        ] {
            let (all, scanned) = (all(others), all(others) - missing);
            let what = format!("{act:?} beside {others}");
            assert_eq!(asked(act, others, true).0, Asked::Incomplete(scanned, all), "{what}");
            assert_eq!(asked(act, others, false).0, Asked::Answered(scanned, all), "{what}");
        }
    }
}

#[test]
fn who_wants_all_rows_waits_for_a_leaf_until_the_deadline_and_others_do_not() {
    for others in OTHERS {
        let (all, half) = (all(others), query().deadline / 2);
        for act in [Act::Whole(ROWS), Act::Tarries] {
            assert_eq!(asked(act, others, true).0, Asked::Answered(all, all), "{act:?}");
        }
        let (_, took) = asked(Act::Stalls, others, true);
        assert!(took > half, "{took:?}");
    }
    // One level only: in a two-level tree its aggregator has few leaves, and an answer needs all.
    let (outcome, took) = asked(Act::Tarries, OTHERS[0], false);
    assert_eq!(outcome, Asked::Answered(all(OTHERS[0]) - ROWS, all(OTHERS[0])));
    assert!(took < query().deadline / 2, "{took:?}");
}
