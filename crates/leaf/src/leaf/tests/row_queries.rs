//! Raw rows: blocks are scanned in the order of the requested rows.

use hadal_query::{GroupInput, OrderKey};

use super::*;

/// The times of the first two rows by time, and their partial.
async fn first_two(leaf: &Leaf, descending: bool) -> (Vec<i64>, Partial) {
    let query = Query {
        order: vec![OrderKey {
            expr: Expr::Leaf(GroupInput::Key(0)),
            descending,
            nulls_first: false,
        }],
        limit: 2,
        now: NOW,
        deadline: Duration::from_secs(60),
        ..Query::new(name("t"), QueryKind::Rows { values: vec![Expr::Leaf(RowInput::Time)] })
    };
    let partial = leaf.query(Arc::new(query), Instant::now() + Duration::from_secs(60)).await;
    let PartialBody::Rows(rows) = partial.body.clone() else { panic!("rows") };
    let time = |row: SparseRow| match &row[0] {
        Value::Time(time) => time.0 - NOW.0,
        other => panic!("{other}"),
    };
    (rows.into_sorted().into_iter().map(time).collect(), partial)
}

#[tokio::test]
async fn blocks_beyond_the_rows_that_are_asked_for_are_skipped_and_covered() {
    let bed = open(None);
    for first in [20, 0, 40, 10, 30] {
        let batch = batch(&format!("b{first}"), 1, first..first + 10);
        bed.leaf.accept(batch).await.expect("taken");
    }
    for (descending, expected) in [(true, [49, 48]), (false, [0, 1])] {
        let (times, partial) = first_two(&bed.leaf, descending).await;
        assert_eq!(times, expected);
        assert_eq!((partial.stats.blocks, partial.stats.blocks_skipped), (5, 4));
        assert_eq!((partial.stats.rows_read, partial.stats.rows_matched), (10, 50));
        assert_eq!((partial.coverage.rows_scanned, partial.coverage.rows_expected), (50, 50));
    }
}
