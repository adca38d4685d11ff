use std::time::Duration;

use hadal_aggregate::{Coverage, LeafCoverage, LeafOutcome, PartialBody, WeightedCount};
use hadal_peer::{BlockStatus, TableReport};
use hadal_query::QueryKind;
use hadal_types::{Micros, TableName};

use super::*;

mod complete;
mod watching;

/// Answers with `rows` rows after a delay.
struct FakeLeaf {
    name: LeafName,
    rows: u64,
    delay: Duration,
    outcome: LeafOutcome,
}

impl Peer for FakeLeaf {
    fn query(&self, query: Arc<Query>, _deadline: Instant) -> BoxFuture<'_, Partial> {
        Box::pin(async move {
            let late = std::future::pending::<()>();
            tokio::time::timeout(self.delay, late).await.expect_err("never ready");
            let mut partial = Partial::empty(&query);
            if let PartialBody::Groups(groups) = &mut partial.body
                && let Some(group) = groups.find_or_insert(&[])
            {
                let mut tally = WeightedCount::default();
                tally.add_rows(self.rows);
                groups.add_count(group, tally);
            }
            let leaf = LeafCoverage {
                name: self.name.clone(),
                outcome: self.outcome,
                rows_expected: if self.outcome == LeafOutcome::Answered { self.rows } else { 0 },
                rows_scanned: if self.outcome == LeafOutcome::Answered { self.rows } else { 0 },
                micros: 1,
                as_of: (0, 0),
            };
            partial.coverage = Coverage::of_leaf(leaf, true);
            partial
        })
    }

    fn status<'a>(&'a self, _scope: &'a StatusScope) -> BoxFuture<'a, PeerStatus> {
        Box::pin(async { PeerStatus::default() })
    }

    fn reports(&self, _table: &TableName) -> Vec<TableReport> {
        Vec::new()
    }

    fn blocks<'a>(&'a self, table: &'a TableName) -> BoxFuture<'a, TableBlocks> {
        let block = BlockStatus {
            leaf: self.name.clone(),
            rows: self.rows,
            bytes: 1,
            time_range: (Micros(0), Micros(0)),
            is_fresh: false,
            kept_one_in: 1,
        };
        let blocks = if table.as_str() == "t" { vec![block] } else { Vec::new() };
        Box::pin(async { TableBlocks { blocks, ..TableBlocks::default() } })
    }
}

/// A leaf with this many rows answers with an error.
const FAILS: u64 = 277;

fn table() -> TableName {
    TableName::new("t").expect("a name")
}

fn query() -> Arc<Query> {
    Arc::new(Query {
        limit: 10,
        deadline: Duration::from_secs(10),
        ..Query::new(table(), QueryKind::Groups { keys: Vec::new(), measures: Vec::new() })
    })
}

fn tree(leaves: &[(u64, u64)]) -> Aggregator {
    let expected_rows = Arc::new(ExpectedRows::default());
    let leaf = |(index, &(rows, delay_millis)): (usize, &(u64, u64))| {
        let name = LeafName(format!("leaf-{index:03}").into());
        expected_rows.add(&name, &table(), rows);
        let delay = Duration::from_millis(delay_millis);
        let outcome = if rows == FAILS { LeafOutcome::Failed } else { LeafOutcome::Answered };
        let peer: Arc<dyn Peer> = Arc::new(FakeLeaf { name: name.clone(), rows, delay, outcome });
        (name, peer)
    };
    let leaves = leaves.iter().enumerate().map(leaf).collect();
    Aggregator::over_leaves(leaves, &expected_rows)
}

async fn ask(tree: &Aggregator) -> (u64, Partial, Duration) {
    ask_for(tree, query()).await
}

async fn ask_for(tree: &Aggregator, query: Arc<Query>) -> (u64, Partial, Duration) {
    let start = tokio::time::Instant::now();
    let deadline = Instant::now() + Duration::from_secs(10);
    let partial = tree.query(query, deadline).await;
    let PartialBody::Groups(groups) = partial.body.clone() else { panic!("groups") };
    let (groups, _) = groups.into_sorted();
    let rows = groups.first().map_or(0, |(_, group)| group.count.rows());
    (rows, partial, start.elapsed())
}

#[tokio::test(start_paused = true)]
async fn all_leaves_are_asked_once_whatever_the_depth() {
    for count in [1u64, 2, 5, 6, 25, 26, 130] {
        let leaves: Vec<(u64, u64)> = (1..=count).map(|rows| (rows, 0)).collect();
        let tree = tree(&leaves);
        assert!(tree.members().len() <= TREE_FANOUT);
        let (rows, partial, _) = ask(&tree).await;
        assert_eq!(rows, count * (count + 1) / 2, "{count} leaves");
        assert_eq!(u64::from(partial.coverage.leaves_asked), count);
        assert_eq!(partial.coverage.fraction(), 1.0);
    }
}

#[tokio::test(start_paused = true)]
async fn rows_of_a_failed_leaf_are_expected_all_the_same() {
    let (_, partial, _) = ask(&tree(&[(23, 0), (FAILS, 0)])).await;
    assert_eq!((partial.coverage.rows_scanned, partial.coverage.rows_expected), (23, 300));
    assert!(partial.coverage.fraction() < 0.1);
}

#[tokio::test(start_paused = true)]
async fn one_frozen_leaf_of_few_rows_is_not_waited_for() {
    let leaves = [(500, 4), (500, 4), (500, 4), (500, 4), (50, 1_000_000)];
    let (rows, partial, took) = ask(&tree(&leaves)).await;
    assert_eq!(rows, 2_000);
    assert!(took < Duration::from_millis(700), "{took:?}");
    assert_eq!(partial.coverage.leaves_answered, 4);
    assert_eq!(partial.coverage.rows_expected, 2_050);
    let silent = partial.coverage.leaves.last().expect("a leaf");
    assert_eq!((silent.outcome, silent.rows_expected), (LeafOutcome::Late, 50));
}

#[tokio::test(start_paused = true)]
async fn who_asks_for_all_rows_waits_for_few_of_them_too() {
    let tree = tree(&[(500, 4), (500, 4), (500, 4), (500, 4), (50, 6_000)]);
    let complete = Query { require_complete: true, ..(*query()).clone() };
    let (rows, partial, _) = ask_for(&tree, Arc::new(complete)).await;
    assert_eq!((rows, partial.coverage.fraction()), (2_050, 1.0));
}

#[tokio::test(start_paused = true)]
async fn deep_in_the_tree_a_frozen_leaf_costs_its_own_rows_only() {
    let mut leaves = vec![(100, 4); 30];
    leaves[17].1 = 1_000_000;
    let (rows, partial, took) = ask(&tree(&leaves)).await;
    assert_eq!(rows, 2_900);
    assert!(took < Duration::from_secs(10), "{took:?}");
    assert_eq!((partial.coverage.leaves_asked, partial.coverage.leaves_answered), (30, 29));
}

#[tokio::test(start_paused = true)]
async fn a_frozen_leaf_of_many_rows_is_waited_for_until_the_deadline() {
    let (rows, partial, took) = ask(&tree(&[(100, 4), (100, 1_000_000)])).await;
    assert_eq!(rows, 100);
    assert!(took >= Duration::from_secs(9), "{took:?}");
    assert_eq!(partial.coverage.fraction(), 0.5);
}

#[tokio::test]
async fn the_blocks_of_all_leaves_come_up() {
    let tree = tree(&[(3, 0); 7]);
    let blocks = tree.blocks(&table()).await.blocks;
    let mut leaves: Vec<String> = blocks.iter().map(|block| block.leaf.to_string()).collect();
    leaves.sort_unstable();
    let expected: Vec<String> = (0..7).map(|index| format!("leaf-{index:03}")).collect();
    assert_eq!(leaves, expected);
    let other = TableName::new("u").expect("a name");
    assert_eq!(tree.blocks(&other).await, TableBlocks::default());
}

#[tokio::test(start_paused = true)]
async fn a_leaf_is_asked_from_when_it_joins_until_it_leaves() {
    let tree = tree(&[(1, 0), (2, 0)]);
    let name = LeafName("late".into());
    let outcome = LeafOutcome::Answered;
    let leaf = FakeLeaf { name: name.clone(), rows: 4, delay: Duration::ZERO, outcome };
    tree.join(Arc::new(leaf), vec![name.clone()]);
    let (rows, partial, _) = ask(&tree).await;
    assert_eq!((rows, partial.coverage.leaves_asked), (7, 3));
    tree.leave(&name);
    let (rows, partial, _) = ask(&tree).await;
    assert_eq!((rows, partial.coverage.leaves_asked), (3, 2));
    assert_eq!(partial.coverage.fraction(), 1.0, "its rows are expected no more");
}
