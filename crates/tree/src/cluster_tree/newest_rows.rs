//! The rounds of raw rows in the order of time: "the newest 50 rows". Pure.
//!
//! Each leaf would decode all columns of as many rows as the result has, and most of them would be
//! dropped further up. So members send times first. The worst time that the result can have is a
//! condition of the second round: only leaves that have rows of the result decode any.

use std::sync::Arc;

use hadal_aggregate::{Partial, PartialBody};
use hadal_peer::Plan;
use hadal_query::{Expr, Function, GroupInput, OrderKey, Query, QueryKind, RowExpr, RowInput};
use hadal_types::Value;
use hadal_types::limits::TIMES_FIRST_VALUES_MIN;

/// The query of the first round: the times of the rows. `None` where one round is cheaper: rows of
/// few values, a single leaf, or a filter that each round would evaluate for all rows.
pub(super) fn first_round(query: &Query, plan: &Plan) -> Option<Query> {
    let QueryKind::Rows { values } = &query.kind else { return None };
    let first = query.order.first()?;
    let Expr::Leaf(GroupInput::Key(index)) = &first.expr else { return None };
    let is_by_time = values.get(*index) == Some(&TIME);
    let leaves: usize = plan.machines.iter().map(|machine| machine.leaves.len()).sum();
    let pays = values.len() >= TIMES_FIRST_VALUES_MIN && leaves > 1 && query.limit > 0;
    if !is_by_time || !pays || query.filter.is_some() {
        return None;
    }
    let order = vec![OrderKey { expr: Expr::Leaf(GroupInput::Key(0)), ..first.clone() }];
    Some(Query {
        kind: QueryKind::Rows { values: vec![TIME] },
        outputs: Vec::new(),
        order,
        limit: query.offset.saturating_add(query.limit),
        offset: 0,
        ..query.clone()
    })
}

/// The query of the second round: all values of the rows that are not worse than the worst time of
/// the first round. Ties and rows that came meanwhile are among them. Without such a time, all rows
/// are in the result.
pub(super) fn second_round(times: &Partial, query: &Arc<Query>) -> Arc<Query> {
    let worst = match &times.body {
        PartialBody::Rows(rows) => rows.bar(),
        PartialBody::Groups(_) => None,
    };
    let (Some(worst @ Value::Time(_)), Some(first)) = (worst, query.order.first()) else {
        return Arc::clone(query);
    };
    let function = match first.descending {
        true => Function::GreaterOrEqual,
        false => Function::LessOrEqual,
    };
    let filter = Expr::Call { function, arguments: vec![TIME, Expr::Literal(worst)] };
    Arc::new(Query { filter: Some(filter), ..(**query).clone() })
}

/// Whether the second round lacks rows: a leaf with such times has not answered again, or has
/// removed rows. Then rows that are worse belong to the result, too.
pub(super) fn lacks_rows(rows: &Partial) -> bool {
    match &rows.body {
        PartialBody::Rows(best) => best.len() < best.rows_max(),
        PartialBody::Groups(_) => false,
    }
}

const TIME: RowExpr = Expr::Leaf(RowInput::Time);

#[cfg(test)]
mod tests {
    use hadal_peer::PlannedMachine;
    use hadal_types::{LeafName, MachineName, Micros, TableName};

    use super::*;

    fn query(values: usize) -> Query {
        let mut all = vec![Expr::Literal(Value::Null); values - 1];
        all.push(TIME);
        let kind = QueryKind::Rows { values: all };
        let expr = Expr::Leaf(GroupInput::Key(values - 1));
        let order = vec![OrderKey { expr, descending: true, nulls_first: false }];
        let table = TableName::new("t").expect("a name");
        Query { order, limit: 3, offset: 2, ..Query::new(table, kind) }
    }

    fn plan(leaves: usize) -> Plan {
        let leaf = |index: usize| LeafName(format!("leaf-{index}").into());
        let leaves = (0..leaves).map(leaf).collect();
        let name = MachineName("m".into());
        let machines = vec![PlannedMachine { name, has_aggregator: true, leaves }];
        Plan { fanout: 5, rows_expected: 0, machines }
    }

    #[test]
    fn times_are_asked_for_first_where_many_values_would_be_dropped() {
        let wide = query(TIMES_FIRST_VALUES_MIN);
        let first = first_round(&wide, &plan(2)).expect("two rounds");
        assert_eq!(first.kind, QueryKind::Rows { values: vec![TIME] });
        assert_eq!((first.limit, first.offset), (5, 0));
        let by_value = OrderKey { expr: Expr::Leaf(GroupInput::Key(0)), ..wide.order[0].clone() };
        for (why, query, leaves) in [
            ("one leaf", wide.clone(), 1),
            ("few values", query(TIMES_FIRST_VALUES_MIN - 1), 2),
            ("a filter", Query { filter: Some(Expr::Literal(Value::Null)), ..wide.clone() }, 2),
            ("another order", Query { order: vec![by_value], ..wide.clone() }, 2),
            ("no order", Query { order: Vec::new(), ..wide.clone() }, 2),
            ("no rows", Query { limit: 0, ..wide.clone() }, 2),
        ] {
            assert_eq!(first_round(&query, &plan(leaves)), None, "{why}");
        }
    }

    #[test]
    fn the_worst_time_bounds_the_second_round_once_there_are_enough() {
        let wide = Arc::new(query(TIMES_FIRST_VALUES_MIN));
        let first = first_round(&wide, &plan(2)).expect("two rounds");
        let mut times = Partial::empty(&first);
        for time in 1..=6 {
            let is_whole = second_round(&times, &wide) == wide;
            assert_eq!(is_whole, time <= 5, "{} times", time - 1);
            let PartialBody::Rows(rows) = &mut times.body else { panic!("rows") };
            rows.add([Value::Time(Micros(time))].into()).expect("a row");
        }
        let next = second_round(&times, &wide);
        let arguments = vec![TIME, Expr::Literal(Value::Time(Micros(2)))];
        let filter = Expr::Call { function: Function::GreaterOrEqual, arguments };
        assert_eq!(*next, Query { filter: Some(filter), ..(*wide).clone() });
        assert!(lacks_rows(&Partial::empty(&next)) && !lacks_rows(&times));
    }
}
