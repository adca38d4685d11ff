//! Memory of queries, at the limits and beyond them.

use hadal_aggregate::Groups;
use hadal_query::{ColumnRef, Function, GroupInput, OrderKey, Output};
use hadal_types::limits::{BLOCK_ROWS_MAX, LEAF_GROUPS_MAX};

use super::*;

/// A leaf in memory with rows of `rows` different values.
async fn filled(rows: usize, query_bytes_max: usize, budget: &Arc<MemoryPool>) -> Leaf {
    let limits = LeafConfig { query_bytes_max, budget: Arc::clone(budget), ..config(None) };
    let leaf = Leaf::open(limits).expect("opens");
    for from in (0..rows).step_by(BLOCK_ROWS_MAX) {
        let value = |row: usize| i64::try_from(row).expect("small");
        let values = value(from)..value(rows.min(from + BLOCK_ROWS_MAX));
        leaf.accept(batch(&format!("b{from}"), 1, values)).await.expect("taken");
    }
    leaf
}

/// Groups of the rows with values below `before`, one row each.
async fn grouped(leaf: &Leaf, before: usize) -> Partial {
    let deadline = Instant::now() + Duration::from_secs(600);
    leaf.query(Arc::new(groups_by_value(before)), deadline).await
}

pub(super) fn groups_by_value(before: usize) -> Query {
    let column = ColumnRef {
        name: ColumnName::new("v").expect("a name"),
        kind: Kind::Number,
        logical: hadal_types::Logical::Plain,
    };
    let end = Micros(NOW.0 + i64::try_from(before).expect("small"));
    Query {
        range: TimeRange { from: None, to: Some(end) },
        limit: 10,
        now: NOW,
        deadline: Duration::from_secs(600),
        ..Query::new(
            name("t"),
            QueryKind::Groups {
                keys: vec![Expr::Leaf(RowInput::Column(column))],
                measures: Vec::new(),
            },
        )
    }
}

fn groups_of(partial: Partial) -> Groups {
    assert!(partial.errors.is_empty(), "{:?}", partial.errors);
    let PartialBody::Groups(groups) = partial.body else { panic!("groups") };
    groups
}

fn fault_of(partial: &Partial) -> (QueryErrorCode, String) {
    let error = partial.errors.iter().next().expect("a fault");
    (error.code, error.message.clone())
}

#[tokio::test]
async fn as_many_groups_as_a_leaf_keeps_fit_into_its_memory() {
    let budget = MemoryPool::new(LEAF_QUERY_BYTES_MAX);
    let leaf = filled(LEAF_GROUPS_MAX + 1, LEAF_QUERY_BYTES_MAX, &budget).await;
    for (rows, dropped) in [(LEAF_GROUPS_MAX, 0), (LEAF_GROUPS_MAX + 1, 1)] {
        let partial = grouped(&leaf, rows).await;
        assert_eq!(partial.reservation.bytes(), partial.bytes());
        let (groups, dropped_rows) = groups_of(partial).into_sorted();
        assert_eq!((groups.len(), dropped_rows), (LEAF_GROUPS_MAX, dropped));
    }
    assert_eq!(budget.reserved(), 0);
}

#[tokio::test]
async fn the_right_groups_are_found_among_more_than_may_travel() {
    let budget = MemoryPool::new(LEAF_QUERY_BYTES_MAX);
    let leaf = filled(LEAF_GROUPS_MAX + 2, LEAF_QUERY_BYTES_MAX, &budget).await;
    // The largest key has most rows; it would be the first to be dropped.
    let last = i64::try_from(LEAF_GROUPS_MAX).expect("small") + 1;
    for id in ["again", "once-more"] {
        leaf.accept(batch(id, 1, last..last + 1)).await.expect("taken");
    }
    let output = |slot| Output {
        name: "o".into(),
        value_type: hadal_query::Type::Number,
        expr: Expr::Leaf(slot),
    };
    let by_count =
        OrderKey { expr: Expr::Leaf(GroupInput::RawCount), descending: true, nulls_first: false };
    let query = Query {
        outputs: vec![output(GroupInput::Key(0)), output(GroupInput::RawCount)],
        order: vec![by_count],
        limit: 2,
        ..groups_by_value(LEAF_GROUPS_MAX + 2)
    };
    let row = |key: i64, count: i64| vec![Value::integer(key), Value::integer(count)];
    let several = Expr::call(
        Function::Greater,
        vec![Expr::Leaf(GroupInput::RawCount), Expr::Literal(Value::integer(1))],
    );
    let by_key = OrderKey { expr: Expr::Leaf(GroupInput::Key(0)), ..query.order[0].clone() };
    let having = Query { having: Some(several), order: Vec::new(), ..query.clone() };
    let largest_key = Query { order: vec![by_key], ..query.clone() };
    let largest_keys = vec![row(last, 3), row(last - 1, 1)];
    for (query, expected) in [
        (query, vec![row(last, 3), row(0, 1)]),
        (having, vec![row(last, 3)]),
        (largest_key, largest_keys),
    ] {
        let partial = grouped(&leaf, LEAF_GROUPS_MAX + 2).await;
        let answer = hadal_aggregate::finish(partial, &query, &|| false).expect("finished");
        assert_eq!(answer.rows, expected);
        assert_eq!(answer.warnings, []);
    }
}

#[tokio::test]
async fn a_query_may_hold_so_many_bytes_and_not_one_more() {
    const ROWS: usize = 3_000;
    let budget = MemoryPool::new(usize::MAX);
    let leaf = filled(ROWS, usize::MAX, &budget).await;
    let bytes = grouped(&leaf, ROWS).await.reservation.bytes();
    let leaf = filled(ROWS, bytes, &budget).await;
    assert_eq!(groups_of(grouped(&leaf, ROWS).await).len(), ROWS);
    let leaf = filled(ROWS, bytes - 1, &budget).await;
    let partial = grouped(&leaf, ROWS).await;
    let (code, message) = fault_of(&partial);
    let needs = format!("the query needs {bytes} bytes on one leaf; at most {} are", bytes - 1);
    assert_eq!((code, message.starts_with(&needs)), (QueryErrorCode::Memory, true), "{message}");
    assert_eq!((partial.bytes(), budget.reserved()), (0, 0), "it has given everything back");
}

#[tokio::test]
async fn all_queries_share_the_memory_of_the_process() {
    const ROWS: usize = 3_000;
    let budget = MemoryPool::new(usize::MAX);
    let bytes = grouped(&filled(ROWS, usize::MAX, &budget).await, ROWS).await.reservation.bytes();
    for (room, fits) in [(2 * bytes, true), (2 * bytes - 1, false)] {
        let budget = MemoryPool::new(room);
        let leaf = filled(ROWS, usize::MAX, &budget).await;
        let first = grouped(&leaf, ROWS).await;
        let second = grouped(&leaf, ROWS).await;
        assert_eq!((first.errors.is_empty(), second.errors.is_empty()), (true, fits));
        if !fits {
            let (code, message) = fault_of(&second);
            let all = format!("all queries together hold {bytes} of {room}");
            assert_eq!((code, message.contains(&all)), (QueryErrorCode::Busy, true), "{message}");
        }
        drop((first, second));
        assert_eq!(budget.reserved(), 0);
        assert_eq!(groups_of(grouped(&leaf, ROWS).await).len(), ROWS, "there is room again");
    }
}
