use super::*;
use proptest::prelude::*;

use hadal_query::{Function, OrderKey, OutputExpr};

use crate::partial::fixture::rows_query;

fn by(expr: OutputExpr, descending: bool, nulls_first: bool) -> OrderKey {
    OrderKey { expr, descending, nulls_first }
}

fn key(index: usize) -> OutputExpr {
    Expr::Leaf(GroupInput::Key(index))
}

fn row(first: Option<i64>, second: i64) -> SparseRow {
    [first.map_or(Value::Null, Value::integer), Value::integer(second)].into()
}

fn of(query: &Query, rows: &[(Option<i64>, i64)]) -> TopRows {
    let mut top = TopRows::new(query).expect("runs");
    rows.iter().for_each(|&(first, second)| {
        top.add(row(first, second)).expect("short strings");
    });
    top
}

fn sorted(query: &Query, rows: &[(Option<i64>, i64)]) -> Vec<String> {
    let show = |row: &SparseRow| format!("{}{}", row[0], row[1]);
    of(query, rows).into_sorted().iter().map(show).collect()
}

const ROWS: [(Option<i64>, i64); 5] =
    [(Some(2), 1), (None, 1), (Some(1), 2), (Some(1), 1), (Some(3), 9)];

#[test]
fn without_an_order_rows_come_by_their_values() {
    assert_eq!(sorted(&rows_query(2, vec![], 10), &ROWS), ["11", "12", "21", "39", "null1"]);
    assert_eq!(sorted(&rows_query(2, vec![], 2), &ROWS), ["11", "12"]);
    assert!(sorted(&rows_query(2, vec![], 0), &ROWS).is_empty());
}

#[test]
fn nulls_come_where_the_query_says() {
    let ask = |descending, nulls_first| {
        sorted(&rows_query(2, vec![by(key(0), descending, nulls_first)], 3), &ROWS)
    };
    assert_eq!(ask(false, false), ["11", "12", "21"]);
    assert_eq!(ask(false, true), ["null1", "11", "12"]);
    assert_eq!(ask(true, false), ["39", "21", "11"]);
    assert_eq!(ask(true, true), ["null1", "39", "21"]);
}

#[test]
fn the_offset_is_kept_too() {
    let query = Query { offset: 2, ..rows_query(2, vec![], 1) };
    assert_eq!(sorted(&query, &ROWS), ["11", "12", "21"]);
    let endless = Query { offset: u64::MAX, ..rows_query(2, vec![], u64::MAX) };
    assert_eq!(of(&endless, &ROWS).len(), 5);
}

#[test]
fn rows_that_cannot_get_in_are_known_by_one_value() {
    let query = rows_query(2, vec![by(key(0), true, false)], 2);
    let mut top = of(&query, &ROWS[..1]);
    assert_eq!(top.comparison().by[0].0, 0);
    assert_eq!(top.bar(), None);
    assert!(top.could_keep(&Value::Null), "there is room");
    top.add(row(Some(3), 9)).expect("short strings");
    assert_eq!(top.bar(), Some(Value::integer(2)));
    assert!(!top.could_keep(&Value::integer(1)));
    assert!(!top.could_keep(&Value::Null));
    assert!(top.could_keep(&Value::integer(2)), "a tie may win by another value");
    let none = TopRows::new(&rows_query(2, vec![], 0)).expect("runs");
    assert!(!none.could_keep(&Value::integer(1)));
}

#[test]
fn rows_are_compared_by_the_order_and_then_by_all_values() {
    let comparison = |order| {
        let top = TopRows::new(&rows_query(2, order, 1)).expect("runs");
        let by: Vec<usize> = top.comparison().by.iter().map(|(index, _)| *index).collect();
        (by, top.comparison().is_whole)
    };
    assert_eq!(comparison(vec![]), (vec![0, 1], true));
    assert_eq!(comparison(vec![by(key(1), true, false)]), (vec![1, 0, 1], true));
    let constant = by(Expr::Literal(Value::integer(7)), false, false);
    assert_eq!(comparison(vec![constant, by(key(1), true, true)]), (vec![1, 0, 1], true));
    let computed = by(Expr::call(Function::Negate, vec![key(0)]), false, false);
    assert_eq!(comparison(vec![by(key(1), true, false), computed]), (vec![1], false));
}

#[test]
fn computed_orders_have_no_leading_value() {
    let negated = Expr::call(Function::Negate, vec![key(1)]);
    let query = rows_query(2, vec![by(negated, false, false)], 1);
    let top = of(&query, &ROWS);
    assert!(top.comparison().by.is_empty() && !top.comparison().is_whole);
    assert!(top.could_keep(&Value::integer(0)));
    assert_eq!(sorted(&query, &ROWS), ["39"]);
}

#[test]
fn bytes_follow_the_rows_that_are_kept() {
    let query = rows_query(1, vec![], 1);
    let mut top = TopRows::new(&query).expect("runs");
    top.add([Value::string(&"z".repeat(1_000))].into()).expect("short strings");
    assert!(top.bytes() > 1_000);
    top.add([Value::string("a")].into()).expect("short strings");
    assert!(top.bytes() < 1_000);
}

#[test]
fn parts_from_outside_are_checked() {
    let query = rows_query(2, vec![], 2);
    let parts = |rows: &[usize]| {
        TopRows::from_parts(
            &query,
            rows.iter().map(|&width| vec![Value::Null; width].into()).collect(),
        )
    };
    assert!(parts(&[2, 2]).is_some());
    assert!(parts(&[2, 2, 2]).is_none(), "more than were asked for");
    assert!(parts(&[2, 1]).is_none(), "a value is missing");
}

proptest! {
    #[test]
    fn order_and_grouping_do_not_matter(
        mut rows in prop::collection::vec((prop::option::of(0i64..6), 0i64..6), 0..60),
        limit in 0u64..20, descending in any::<bool>(), cut in 0usize..60, turn in 0usize..60,
    ) {
        let query = rows_query(2, vec![by(key(1), descending, false)], limit);
        let whole = of(&query, &rows);
        let cut = cut.min(rows.len());
        let mut merged = of(&query, &rows[cut..]);
        merged.merge(of(&query, &rows[..cut]));
        prop_assert_eq!(&merged, &whole);
        prop_assert_eq!(merged.bytes(), whole.bytes());
        let mut all: Vec<SparseRow> =
            rows.iter().map(|&(first, second)| row(first, second)).collect();
        all.sort_by(|left, right| {
            let order = left[1].cmp(&right[1]);
            if descending { order.reverse() } else { order }.then(left.cmp(right))
        });
        all.truncate(usize::try_from(limit).expect("small"));
        prop_assert_eq!(whole.clone().into_sorted(), all);
        let turn = turn.min(rows.len());
        rows.rotate_left(turn);
        prop_assert_eq!(of(&query, &rows), whole);
    }
}

proptest! {
    #[test]
    fn rows_that_may_be_kept_are_those_that_are(
        here in prop::collection::vec((prop::option::of(0i64..9), 0i64..6), 0..20),
        rows in prop::collection::vec(prop::option::of(0i64..9), 0..20),
        limit in 0u64..12, descending in any::<bool>(), nulls_first in any::<bool>(),
    ) {
        let query = rows_query(2, vec![by(key(0), descending, nulls_first)], limit);
        let direction = SortDirection { descending, nulls_first };
        let value = |row: &Option<i64>| row.map_or(Value::Null, Value::integer);
        let mut firsts: Vec<Value> = rows.iter().map(value).collect();
        firsts.sort_by(|left, right| direction.cmp(left, right));
        let mut top = of(&query, &here);
        let may = top.could_keep_of(firsts.iter().cloned());
        // Row by row, as long as the first value can win.
        let wins = firsts.iter().take_while(|first| {
            let wins = top.could_keep(first);
            top.add([(*first).clone(), Value::integer(-1)].into()).expect("short strings");
            wins
        });
        prop_assert_eq!(wins.count(), may);
    }
}
