//! Raw rows in the order of time: leaves send the times first.

use hadal_aggregate::SparseRow;
use hadal_query::{Function, GroupInput, OrderKey, RowExpr};
use hadal_types::limits::TIMES_FIRST_VALUES_MIN;
use hadal_types::{Micros, Value};
use parking_lot::Mutex;
use proptest::prelude::*;

use super::*;

const ALIVE: MemberState = MemberState::Announced(LeafState::Alive);
const TIME: RowExpr = Expr::Leaf(RowInput::Time);
/// The rows of a result.
const ROWS: usize = 5;

/// A leaf with a row of each of these times.
struct RowsLeaf {
    name: LeafName,
    times: Vec<i64>,
    /// What it does in each round.
    acts: [LeafAct; 3],
    /// The number of values that it was asked for in each round.
    asked: Mutex<Vec<usize>>,
}

impl RowsLeaf {
    fn partial(&self, query: &Query, act: LeafAct) -> Partial {
        let mut partial = Partial::empty(query);
        let QueryKind::Rows { values } = &query.kind else { panic!("rows") };
        let PartialBody::Rows(best) = &mut partial.body else { panic!("rows") };
        let answers = act == LeafAct::Answers;
        for &time in self.times.iter().filter(|time| answers && is_in(query, **time)) {
            best.add(self.row(values, time)).expect("a row");
        }
        let count = self.times.len() as u64;
        let leaf = LeafCoverage {
            name: self.name.clone(),
            outcome: if answers { LeafOutcome::Answered } else { LeafOutcome::Failed },
            rows_expected: count,
            rows_scanned: if answers { count } else { 0 },
            as_of: (0, 0),
            micros: 1,
        };
        partial.coverage = Coverage::of_leaf(leaf, answers);
        partial
    }

    /// The leaf's name and the time are the values.
    fn row(&self, values: &[RowExpr], time: i64) -> SparseRow {
        let value = |expr: &RowExpr| match *expr == TIME {
            true => Value::Time(Micros(time)),
            false => Value::string(&self.name.0),
        };
        values.iter().map(value).collect()
    }
}

/// Whether a row of this time meets the query's filter.
fn is_in(query: &Query, time: i64) -> bool {
    let Some(Expr::Call { function, arguments }) = &query.filter else { return true };
    let [TIME, Expr::Literal(Value::Time(worst))] = arguments.as_slice() else {
        panic!("{arguments:?}")
    };
    match function {
        Function::GreaterOrEqual => time >= worst.0,
        Function::LessOrEqual => time <= worst.0,
        other => panic!("{other:?}"),
    }
}

impl Peer for RowsLeaf {
    fn query(&self, query: Arc<Query>, _deadline: Instant) -> BoxFuture<'_, Partial> {
        Box::pin(async move {
            let QueryKind::Rows { values } = &query.kind else { panic!("rows") };
            let round = self.asked.lock().len();
            self.asked.lock().push(values.len());
            if self.acts[round] == LeafAct::Freezes {
                std::future::pending::<()>().await;
            }
            self.partial(&query, self.acts[round])
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

/// The root of a cluster of two leaves a machine with rows of these times. The first leaf acts as
/// `acts` say.
fn cluster(leaves: &[Vec<i64>], acts: [LeafAct; 3]) -> (Arc<ClusterTree>, Vec<Arc<RowsLeaf>>) {
    let expected_rows = Arc::new(ExpectedRows::default());
    let machine = |index: usize| MachineName(format!("m{index:02}").into());
    let trees: Vec<Arc<ClusterTree>> = (0..leaves.len().div_ceil(2))
        .map(|index| Arc::new(ClusterTree::new(machine(index), 2, &expected_rows)))
        .collect();
    for (index, tree) in trees.iter().enumerate() {
        for other in &trees {
            let peer: Arc<dyn PlannedPeer> = tree.clone();
            other.put_aggregator(machine(index), peer, true);
        }
    }
    let mut all = Vec::new();
    for (index, times) in leaves.iter().enumerate() {
        let name = LeafName(format!("leaf-{index:02}").into());
        let acts = if index == 0 { acts } else { [LeafAct::Answers; 3] };
        let (times, asked) = (times.clone(), Mutex::default());
        let leaf = Arc::new(RowsLeaf { name: name.clone(), times, acts, asked });
        expected_rows.add(&name, &table(), leaf.times.len() as u64);
        for tree in &trees {
            tree.put_leaf(name.clone(), machine(index / 2), Arc::<RowsLeaf>::clone(&leaf), ALIVE);
        }
        all.push(leaf);
    }
    (Arc::clone(&trees[0]), all)
}

fn rows_query(descending: bool) -> Arc<Query> {
    let name = ColumnName::new("leaf").expect("a name");
    let column = ColumnRef { name, kind: Kind::String, logical: Logical::Plain };
    let mut values = vec![Expr::Leaf(RowInput::Column(column)); TIMES_FIRST_VALUES_MIN];
    values[1] = TIME;
    let order =
        vec![OrderKey { expr: Expr::Leaf(GroupInput::Key(1)), descending, nulls_first: false }];
    let (kind, deadline) = (QueryKind::Rows { values }, DEADLINE);
    Arc::new(Query { order, limit: ROWS as u64, deadline, ..Query::new(table(), kind) })
}

async fn ask(root: &ClusterTree, descending: bool) -> Partial {
    root.query(rows_query(descending), (TokioInstant::now() + DEADLINE).into_std()).await
}

fn shown(partial: Partial) -> Vec<SparseRow> {
    let PartialBody::Rows(rows) = partial.body else { panic!("rows") };
    rows.into_sorted()
}

/// The rows that these leaves together have first.
fn truth(leaves: &[Arc<RowsLeaf>], descending: bool) -> Vec<SparseRow> {
    let query = rows_query(descending);
    let mut all = Partial::empty(&query);
    leaves.iter().for_each(|leaf| all.merge(leaf.partial(&query, LeafAct::Answers)));
    shown(all)
}

#[test]
fn leaves_send_times_first_and_then_the_rows_of_the_result() {
    paused(async {
        let (root, leaves) = cluster(&[(0..9).collect(), (5..40).collect()], [LeafAct::Answers; 3]);
        let partial = ask(&root, true).await;
        assert_eq!(partial.coverage.rows_scanned, 44);
        assert_eq!(shown(partial), truth(&leaves, true));
        assert!(leaves.iter().all(|leaf| *leaf.asked.lock() == [1, TIMES_FIRST_VALUES_MIN]));
    });
}

#[test]
fn a_leaf_lost_between_the_rounds_leaves_the_rows_of_the_others() {
    for act in [LeafAct::Fails, LeafAct::Freezes] {
        paused(async {
            // The first leaf has the newest rows; without it, older ones belong to the result.
            let leaves = [(100..109).collect(), (0..9).collect(), (3..30).collect()];
            let acts = [LeafAct::Answers, act, LeafAct::Answers];
            let (root, leaves) = cluster(&leaves, acts);
            let start = TokioInstant::now();
            let partial = ask(&root, true).await;
            assert!(start.elapsed() <= DEADLINE + Duration::from_millis(2));
            assert_eq!(partial.coverage.leaves_answered, 2);
            assert_eq!((partial.coverage.rows_scanned, partial.coverage.rows_expected), (36, 45));
            assert_eq!(shown(partial), truth(&leaves[1..], true));
            assert_eq!(leaves[0].asked.lock().len(), 2);
        });
    }
}

#[test]
fn a_leaf_that_hangs_leaves_time_for_the_rows_of_the_others() {
    paused(async {
        let leaves = [(100..109).collect(), (0..9).collect(), (3..30).collect()];
        let (root, leaves) = cluster(&leaves, [LeafAct::Freezes; 3]);
        let start = TokioInstant::now();
        let partial = ask(&root, true).await;
        assert!(start.elapsed() < DEADLINE);
        assert_eq!(partial.coverage.leaves[0].outcome, LeafOutcome::Late);
        assert_eq!(shown(partial), truth(&leaves[1..], true));
        assert_eq!(leaves[0].asked.lock().len(), 1);
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn the_rows_are_those_of_one_round(
        // Few times, so that many rows tie.
        leaves in prop::collection::vec(prop::collection::vec(0..40i64, 0..12), 1..20),
        acts in prop::sample::select(vec![LeafAct::Answers, LeafAct::Fails, LeafAct::Freezes]),
        round in 0..3usize,
        descending in any::<bool>(),
    ) {
        let mut of_first = [LeafAct::Answers; 3];
        of_first[round] = acts;
        paused(async {
            let (root, leaves) = cluster(&leaves, of_first);
            let partial = ask(&root, descending).await;
            let coverage = &partial.coverage;
            let has_first = coverage.leaves[0].outcome == LeafOutcome::Answered;
            prop_assert_eq!(coverage.leaves_asked as usize, leaves.len());
            prop_assert_eq!(coverage.leaves_answered as usize, leaves.len() - usize::from(!has_first));
            let answered = &leaves[usize::from(!has_first)..];
            prop_assert_eq!(shown(partial), truth(answered, descending));
            Ok(())
        })?;
    }
}
