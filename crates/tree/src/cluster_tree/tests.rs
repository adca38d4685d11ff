//! Clusters of fake leaves and fake failures, under paused time.

use std::sync::atomic::{AtomicU32, Ordering};

use hadal_aggregate::{Coverage, LeafCoverage, PartialBody, WeightedCount};
use hadal_query::{ColumnRef, Expr, QueryKind, RowInput};
use hadal_types::{ColumnName, Kind, LeafState, Logical};

use super::*;

mod complete;
mod newest_rows;
mod properties;
mod shapes;
mod top_lists;

/// Groups over which the leaves' rows are spread.
const KEYS: u64 = 7;

/// How a leaf behaves when it is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LeafAct {
    Answers,
    Fails,
    Freezes,
}

/// How an aggregator behaves when it is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AggregatorAct {
    Works,
    Freezes,
    /// Answers without a word of its leaves.
    Forgets,
    /// Answers with rows of a leaf that it was not asked for.
    Strays,
}

/// A leaf with `rows` rows of the group `rows % KEYS`.
struct FakeLeaf {
    name: LeafName,
    rows: u64,
    act: LeafAct,
    asked: AtomicU32,
}

impl FakeLeaf {
    fn partial(&self, query: &Query) -> Partial {
        let mut partial = Partial::empty(query);
        let answers = self.act == LeafAct::Answers;
        if let (PartialBody::Groups(groups), true) = (&mut partial.body, answers) {
            let key = i64::try_from(self.rows % KEYS).expect("small");
            let group = groups.groups_of_ints(&[key])[0];
            let mut tally = WeightedCount::default();
            tally.add_rows(self.rows);
            groups.add_count(group, tally);
        }
        let leaf = LeafCoverage {
            name: self.name.clone(),
            outcome: if answers { LeafOutcome::Answered } else { LeafOutcome::Failed },
            rows_expected: if answers { self.rows } else { 0 },
            rows_scanned: if answers { self.rows } else { 0 },
            micros: 1,
            as_of: (0, 0),
        };
        partial.coverage = Coverage::of_leaf(leaf, answers);
        partial
    }
}

impl Peer for FakeLeaf {
    fn query(&self, query: Arc<Query>, _deadline: Instant) -> BoxFuture<'_, Partial> {
        Box::pin(async move {
            self.asked.fetch_add(1, Ordering::Relaxed);
            if self.act == LeafAct::Freezes {
                std::future::pending::<()>().await;
            }
            self.partial(&query)
        })
    }

    fn status<'a>(&'a self, _scope: &'a StatusScope) -> BoxFuture<'a, PeerStatus> {
        Box::pin(async {
            let status = LeafStatus {
                name: self.name.clone(),
                state: MemberState::Announced(LeafState::Alive),
                block_bytes: self.rows,
                tables: Arc::default(),
                losses: Vec::new(),
            };
            PeerStatus { leaves: vec![status] }
        })
    }

    fn reports(&self, table: &TableName) -> Vec<TableReport> {
        let (leaf, table) = (self.name.clone(), table.clone());
        let (recovered_rows, accepted_rows, status) = (0, 0, None);
        let (started, version) = (1, 1);
        vec![TableReport { leaf, table, started, version, recovered_rows, accepted_rows, status }]
    }

    fn blocks<'a>(&'a self, _table: &'a TableName) -> BoxFuture<'a, TableBlocks> {
        Box::pin(async { TableBlocks::default() })
    }
}

/// A machine's aggregator as others see it.
struct FakeAggregator {
    tree: Arc<ClusterTree>,
    act: AggregatorAct,
    stray: Arc<FakeLeaf>,
}

impl PlannedPeer for FakeAggregator {
    fn query_planned(
        &self,
        query: Arc<Query>,
        plan: Arc<Plan>,
        deadline: Instant,
    ) -> BoxFuture<'_, Partial> {
        Box::pin(async move {
            match self.act {
                AggregatorAct::Works => self.tree.query_planned(query, plan, deadline).await,
                AggregatorAct::Freezes => std::future::pending().await,
                AggregatorAct::Forgets => Partial::empty(&query),
                AggregatorAct::Strays => self.stray.partial(&query),
            }
        })
    }
}

/// A machine of a test.
#[derive(Clone, Debug)]
struct Machine {
    leaves: Vec<(LeafAct, MemberState)>,
    act: AggregatorAct,
    /// Whether others know that its aggregator works.
    works: bool,
}

impl Machine {
    fn sound(leaves: usize) -> Self {
        let leaf = (LeafAct::Answers, MemberState::Announced(LeafState::Alive));
        Self { leaves: vec![leaf; leaves], act: AggregatorAct::Works, works: true }
    }
}

/// A cluster whose machines all know each other. The tree of the first is the root.
struct Cluster {
    trees: Vec<Arc<ClusterTree>>,
    leaves: Vec<(Arc<FakeLeaf>, MemberState)>,
}

impl Cluster {
    fn new(machines: &[Machine], fanout: usize) -> Self {
        let expected_rows = Arc::new(ExpectedRows::default());
        let names: Vec<MachineName> =
            (0..machines.len()).map(|index| MachineName(format!("m{index:02}").into())).collect();
        let tree =
            |name: &MachineName| Arc::new(ClusterTree::new(name.clone(), fanout, &expected_rows));
        let trees: Vec<Arc<ClusterTree>> = names.iter().map(tree).collect();
        let mut leaves = Vec::new();
        for (machine, name) in machines.iter().zip(&names) {
            for (index, &(act, state)) in machine.leaves.iter().enumerate() {
                let leaf = LeafName(format!("{name}/leaf-{index}").into());
                let rows = 100 + leaves.len() as u64;
                expected_rows.add(&leaf, &table(), rows);
                let leaf = FakeLeaf { name: leaf, rows, act, asked: AtomicU32::default() };
                let leaf = Arc::new(leaf);
                for tree in &trees {
                    let peer = Arc::<FakeLeaf>::clone(&leaf);
                    tree.put_leaf(leaf.name.clone(), name.clone(), peer, state);
                }
                leaves.push((leaf, state));
            }
        }
        let cluster = Self { trees, leaves };
        cluster.introduce_aggregators(machines, &names);
        cluster
    }

    fn introduce_aggregators(&self, machines: &[Machine], names: &[MachineName]) {
        for ((machine, name), tree) in machines.iter().zip(names).zip(&self.trees) {
            let stray = Arc::new(FakeLeaf {
                name: LeafName("stray".into()),
                rows: 1_000_000,
                act: LeafAct::Answers,
                asked: AtomicU32::default(),
            });
            for other in &self.trees {
                let (tree, stray) = (Arc::clone(tree), Arc::clone(&stray));
                let peer = Arc::new(FakeAggregator { tree, act: machine.act, stray });
                other.put_aggregator(name.clone(), peer, machine.works);
            }
        }
    }

    /// Asks the root; returns also how long it took.
    async fn ask(&self) -> (Partial, Duration) {
        let start = TokioInstant::now();
        let partial = self.trees[0].query(query(), (start + DEADLINE).into_std()).await;
        (partial, start.elapsed())
    }

    fn rows(&self) -> u64 {
        self.leaves.iter().map(|(leaf, _)| leaf.rows).sum()
    }

    /// The leaves merged one by one, without a tree.
    fn flat(&self, is_in: impl Fn(&FakeLeaf) -> bool) -> Partial {
        let mut flat = Partial::empty(&query());
        for (leaf, _) in self.leaves.iter().filter(|(leaf, _)| is_in(leaf)) {
            flat.merge(leaf.partial(&query()));
        }
        flat
    }
}

const DEADLINE: Duration = Duration::from_secs(10);

fn table() -> TableName {
    TableName::new("t").expect("a name")
}

fn query() -> Arc<Query> {
    let name = ColumnName::new("k").expect("a name");
    let key = ColumnRef { name, kind: Kind::Number, logical: Logical::Plain };
    let keys = vec![Expr::Leaf(RowInput::Column(key))];
    let kind = QueryKind::Groups { keys, measures: Vec::new() };
    Arc::new(Query { limit: 10, deadline: DEADLINE, ..Query::new(table(), kind) })
}

/// The groups of a partial: key and rows.
fn groups(partial: &Partial) -> Vec<(String, u64)> {
    let PartialBody::Groups(groups) = partial.body.clone() else { panic!("groups") };
    let (groups, _) = groups.into_sorted();
    groups.into_iter().map(|(key, group)| (format!("{key:?}"), group.count.rows())).collect()
}

/// Runs a test in a runtime of its own, whose time stands still while anything runs.
fn paused<T>(test: impl Future<Output = T>) -> T {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_time().start_paused(true);
    runtime.build().expect("a runtime").block_on(test)
}
