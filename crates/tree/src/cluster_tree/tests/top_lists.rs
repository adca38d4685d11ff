//! Top lists over leaves with many groups, which leave out small ones as remote processes do.

use hadal_aggregate::{Groups, ScanStats, WarningCode};
use hadal_query::{GroupInput, OrderKey, SentGroups};
use parking_lot::Mutex;
use proptest::prelude::*;

use super::*;

const ALIVE: MemberState = MemberState::Announced(LeafState::Alive);
const LIMIT: u64 = 5;
const SOUND: [LeafAct; 2] = [LeafAct::Answers; 2];

/// A leaf with these groups: key and rows.
struct TopLeaf {
    name: LeafName,
    groups: Vec<(i64, u64)>,
    /// What it does in each round.
    acts: [LeafAct; 2],
    /// What it was asked to send.
    sent: Mutex<Vec<SentGroups>>,
}

impl TopLeaf {
    fn rows(&self) -> u64 {
        self.groups.iter().map(|(_, rows)| rows).sum()
    }

    fn partial(&self, query: &Query, act: LeafAct) -> Partial {
        let mut partial = Partial::empty(query);
        let PartialBody::Groups(groups) = &mut partial.body else { panic!("groups") };
        let answers = act == LeafAct::Answers;
        for &(key, rows) in self.groups.iter().filter(|_| answers) {
            let group = groups.groups_of_ints(&[key])[0];
            let mut count = WeightedCount::default();
            count.add_rows(rows);
            groups.add_count(group, count);
        }
        let leaf = LeafCoverage {
            name: self.name.clone(),
            outcome: if answers { LeafOutcome::Answered } else { LeafOutcome::Failed },
            rows_expected: self.rows(),
            rows_scanned: if answers { self.rows() } else { 0 },
            micros: 1,
            as_of: (0, 0),
        };
        partial.coverage = Coverage::of_leaf(leaf, answers);
        partial.stats = ScanStats { rows_read: 1, ..ScanStats::default() };
        partial
    }
}

impl Peer for TopLeaf {
    fn query(&self, query: Arc<Query>, _deadline: Instant) -> BoxFuture<'_, Partial> {
        Box::pin(async move {
            let round = self.sent.lock().len();
            self.sent.lock().push(query.sent.clone());
            let act = self.acts[round];
            if act == LeafAct::Freezes {
                std::future::pending::<()>().await;
            }
            let mut partial = self.partial(&query, act);
            partial.keep_sent(&query);
            partial
        })
    }

    fn status<'a>(&'a self, _scope: &'a StatusScope) -> BoxFuture<'a, PeerStatus> {
        Box::pin(async { PeerStatus::default() })
    }

    fn reports(&self, _table: &TableName) -> Vec<TableReport> {
        Vec::new()
    }

    fn blocks<'a>(&'a self, _table: &'a TableName) -> BoxFuture<'a, TableBlocks> {
        Box::pin(async { TableBlocks::default() })
    }
}

/// The aggregator of another process.
struct TopAggregator(Arc<ClusterTree>);

impl PlannedPeer for TopAggregator {
    fn query_planned(
        &self,
        query: Arc<Query>,
        plan: Arc<Plan>,
        deadline: Instant,
    ) -> BoxFuture<'_, Partial> {
        Box::pin(async move {
            let mut partial = self.0.query_planned(Arc::clone(&query), plan, deadline).await;
            partial.keep_sent(&query);
            partial
        })
    }
}

/// The root of a cluster with these groups by machine and leaf.
fn cluster(
    machines: &[Vec<Vec<(i64, u64)>>],
    acts: [LeafAct; 2],
) -> (Arc<ClusterTree>, Vec<Arc<TopLeaf>>) {
    let expected_rows = Arc::new(ExpectedRows::default());
    let machine = |index: usize| MachineName(format!("m{index:02}").into());
    let trees: Vec<Arc<ClusterTree>> = (0..machines.len())
        .map(|index| Arc::new(ClusterTree::new(machine(index), 2, &expected_rows)))
        .collect();
    let mut all = Vec::new();
    for (index, leaves) in machines.iter().enumerate() {
        for groups in leaves {
            let name = LeafName(format!("{}/leaf-{}", machine(index), all.len()).into());
            // Only the first leaf differs.
            let acts = if all.is_empty() { acts } else { SOUND };
            let (groups, sent) = (groups.clone(), Mutex::default());
            let leaf = Arc::new(TopLeaf { name: name.clone(), groups, acts, sent });
            expected_rows.add(&name, &table(), leaf.rows());
            for tree in &trees {
                let peer = Arc::<TopLeaf>::clone(&leaf);
                tree.put_leaf(name.clone(), machine(index), peer, ALIVE);
            }
            all.push(leaf);
        }
        for other in &trees {
            let peer = Arc::new(TopAggregator(Arc::clone(&trees[index])));
            other.put_aggregator(machine(index), peer, true);
        }
    }
    (Arc::clone(&trees[0]), all)
}

fn top_query() -> Arc<Query> {
    let expr = Expr::Leaf(GroupInput::Count);
    let order = vec![OrderKey { expr, descending: true, nulls_first: false }];
    Arc::new(Query { order, limit: LIMIT, ..(*query()).clone() })
}

async fn ask(root: &ClusterTree) -> Partial {
    root.query(top_query(), (TokioInstant::now() + DEADLINE).into_std()).await
}

/// The first groups of a top list, by rows and then by key.
fn first(groups: Vec<(i64, u64)>) -> Vec<(i64, u64)> {
    let mut groups: Vec<(i64, u64)> = groups.into_iter().collect();
    groups.sort_unstable_by_key(|&(key, rows)| (std::cmp::Reverse(rows), key));
    groups.truncate(usize::try_from(LIMIT).expect("small"));
    groups
}

fn shown(partial: &Partial) -> Vec<(i64, u64)> {
    let PartialBody::Groups(groups) = partial.body.clone() else { panic!("groups") };
    let key = |key: &hadal_types::Value| key.to_string().parse().expect("an integer");
    let (groups, _) = Groups::into_sorted(groups);
    first(groups.iter().map(|(keys, group)| (key(&keys[0]), group.count.rows())).collect())
}

fn truth(leaves: &[Arc<TopLeaf>]) -> Vec<(i64, u64)> {
    let mut whole = std::collections::BTreeMap::<i64, u64>::new();
    for (key, rows) in leaves.iter().flat_map(|leaf| &leaf.groups) {
        *whole.entry(*key).or_default() += rows;
    }
    first(whole.into_iter().collect())
}

fn inexact(partial: &Partial) -> Option<u64> {
    let mut warnings = partial.warnings.iter();
    warnings.find(|warning| warning.code == WarningCode::TopInexact).map(|warning| warning.count)
}

/// `top` groups, and 200 groups of `rows` rows that no other leaf has.
fn leaf(top: &[(i64, u64)], leaf: i64, rows: u64) -> Vec<(i64, u64)> {
    let rest = (0..200).map(|key| (1_000 * (leaf + 1) + key, rows));
    top.iter().copied().chain(rest).collect()
}

fn tops(leaves: i64, rows: u64, first: u64) -> Vec<Vec<Vec<(i64, u64)>>> {
    let top: Vec<(i64, u64)> = (0..5).map(|key| (key, first)).collect();
    vec![(0..leaves).map(|index| leaf(&top, index, rows)).collect()]
}

#[test]
fn a_skewed_list_is_asked_for_once() {
    paused(async {
        let (root, leaves) = cluster(&tops(4, 2, 100), SOUND);
        let partial = ask(&root).await;
        assert_eq!((shown(&partial), inexact(&partial)), (truth(&leaves), None));
        assert_eq!(root.second_rounds(), 0);
        assert!(leaves.iter().all(|leaf| *leaf.sent.lock() == [SentGroups::Largest]));
    });
}

#[test]
fn the_second_round_asks_for_candidates_or_for_all() {
    for (rows, is_all) in [(10, false), (80, true)] {
        paused(async {
            // The last leaf lacks the top groups, and may have some of each.
            let mut machines = tops(4, rows, 100);
            machines[0].push(leaf(&[], 9, rows));
            let (root, leaves) = cluster(&machines, SOUND);
            let partial = ask(&root).await;
            assert_eq!((shown(&partial), inexact(&partial)), (truth(&leaves), None));
            assert_eq!(root.second_rounds(), 1);
            let again = leaves[0].sent.lock()[1].clone();
            assert_eq!(again == SentGroups::All, is_all, "{again:?}");
            assert_eq!(partial.stats.rows_read, 10);
            assert_eq!(partial.coverage.leaves_asked, 5);
        });
    }
}

#[test]
fn without_the_second_round_the_bound_of_the_error_is_shown() {
    for act in [LeafAct::Fails, LeafAct::Freezes] {
        paused(async {
            let mut machines = tops(4, 10, 100);
            machines[0].push(leaf(&[], 9, 10));
            let (root, leaves) = cluster(&machines, [LeafAct::Answers, act]);
            let start = TokioInstant::now();
            let partial = ask(&root).await;
            assert!(start.elapsed() <= DEADLINE + Duration::from_millis(2));
            // Each of five leaves may have 10 more of a group.
            assert_eq!(inexact(&partial), Some(50));
            assert_eq!(shown(&partial), truth(&leaves));
            assert_eq!((partial.coverage.leaves_answered, partial.stats.rows_read >= 9), (5, true));
        });
    }
}

#[test]
fn a_leaf_that_did_not_answer_is_not_asked_again() {
    paused(async {
        let mut machines = tops(4, 10, 100);
        machines[0].push(leaf(&[], 9, 10));
        let (root, leaves) = cluster(&machines, [LeafAct::Freezes, LeafAct::Answers]);
        let partial = ask(&root).await;
        assert_eq!((shown(&partial), inexact(&partial)), (truth(&leaves[1..]), None));
        assert_eq!((root.second_rounds(), leaves[0].sent.lock().len()), (1, 1));
        let coverage = &partial.coverage;
        assert_eq!((coverage.leaves_asked, coverage.leaves_answered), (5, 4));
        assert_eq!(coverage.leaves[0].outcome, LeafOutcome::Late);
        assert_eq!(coverage.rows_expected, leaves.iter().map(|leaf| leaf.rows()).sum::<u64>());
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_list_is_that_of_all_groups(
        machines in prop::collection::vec(
            prop::collection::vec(prop::collection::vec((0..300i64, 1..50u64), 0..400), 1..=4),
            1..=8,
        ),
        skew in 0..3u32,
    ) {
        let skewed = |(key, rows): &(i64, u64)| (*key, rows * (300 / (1 + key.unsigned_abs())).pow(skew) + 1);
        let skewed = |leaf: &Vec<(i64, u64)>| leaf.iter().map(skewed).collect::<Vec<_>>();
        let machines: Vec<Vec<Vec<(i64, u64)>>> =
            machines.iter().map(|leaves| leaves.iter().map(skewed).collect()).collect();
        paused(async {
            let (root, leaves) = cluster(&machines, SOUND);
            let partial = ask(&root).await;
            prop_assert_eq!((shown(&partial), inexact(&partial)), (truth(&leaves), None));
            let rows: u64 = leaves.iter().map(|leaf| leaf.rows()).sum();
            prop_assert_eq!(partial.coverage.rows_scanned, rows);
            prop_assert!(leaves.iter().all(|leaf| leaf.sent.lock().len() <= 2));
            Ok(())
        })?;
    }
}
