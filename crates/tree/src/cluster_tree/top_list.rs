//! The rounds of a top list: what members are asked for, and which of their answers counts. Pure.

use std::collections::BTreeSet;
use std::sync::Arc;

use hadal_aggregate::{NextRound, Partial, TopList};
use hadal_query::{ColumnRef, Expr, Function, Query, RowExpr, RowInput, SentGroups};
use hadal_types::{Kind, Value};

/// The query of the first round: of a top list, it asks for the largest groups only.
pub(super) fn first_round(query: &Arc<Query>) -> Arc<Query> {
    match TopList::of(query) {
        Some(_) if query.sent == SentGroups::All => with(query, SentGroups::Largest),
        _ => Arc::clone(query),
    }
}

/// The query of the second round. `None` if the answer of the first is exact, or has failed.
pub(super) fn next_round(first: &Partial, query: &Arc<Query>) -> Option<Arc<Query>> {
    if !first.errors.is_empty() || query.sent != SentGroups::All {
        return None;
    }
    match first.next_round(query) {
        NextRound::None => None,
        NextRound::Keys(keys) => {
            let filter = filter(query, &keys);
            let sent = SentGroups::Keys(keys.into());
            Some(Arc::new(Query { filter, sent, ..(**query).clone() }))
        }
        NextRound::All => Some(with(query, SentGroups::All)),
    }
}

/// The answer of the second round if it has all leaves of the first, otherwise that of the first,
/// with a warning. It has the cost of both.
pub(super) fn better(
    mut first: Partial,
    mut second: Partial,
    has_all: bool,
    query: &Query,
) -> Partial {
    let (first_stats, second_stats) = (first.stats, second.stats);
    if second.errors.is_empty() && has_all {
        second.stats.merge(first_stats);
        return second;
    }
    first.warn_inexact(query);
    first.stats.merge(second_stats);
    first
}

/// The query's filter, and that the rows may be of groups with these keys: then leaves decode and
/// group only such rows. Keys that are columns of strings are compared, which is quick by their
/// dictionaries.
fn filter(query: &Query, keys: &[Box<[Value]>]) -> Option<RowExpr> {
    let one_of = query.keys().iter().enumerate().filter_map(|(index, key)| {
        let values = keys.iter().filter_map(|key| key.get(index)).collect();
        is_one_of(key, values)
    });
    let mut all: Vec<RowExpr> = query.filter.clone().into_iter().chain(one_of).collect();
    match all.len() {
        0 | 1 => all.pop(),
        _ => Some(Expr::call(Function::And, all)),
    }
}

fn is_one_of(key: &RowExpr, values: BTreeSet<&Value>) -> Option<RowExpr> {
    let Expr::Leaf(RowInput::Column(ColumnRef { kind: Kind::String, .. })) = key else {
        return None;
    };
    let (nulls, texts): (Vec<_>, Vec<_>) = values.into_iter().partition(|value| value.is_null());
    let is_null = || Expr::call(Function::IsNull, [key.clone()]);
    if texts.is_empty() {
        return Some(is_null());
    }
    let texts = texts.into_iter().map(|text| Expr::Literal(text.clone()));
    let arguments: Vec<RowExpr> = std::iter::once(key.clone()).chain(texts).collect();
    let is_in = Expr::call(Function::In, arguments);
    match nulls.is_empty() {
        true => Some(is_in),
        false => Some(Expr::call(Function::Or, [is_in, is_null()])),
    }
}

fn with(query: &Query, sent: SentGroups) -> Arc<Query> {
    Arc::new(Query { sent, ..query.clone() })
}

#[cfg(test)]
mod tests {
    use hadal_query::QueryKind;
    use hadal_types::{ColumnName, Logical, TableName};

    use super::*;

    fn column(name: &str, kind: Kind) -> RowExpr {
        let name = ColumnName::new(name).expect("a name");
        Expr::Leaf(RowInput::Column(ColumnRef { name, kind, logical: Logical::Plain }))
    }

    fn text(text: &str) -> Value {
        Value::string(text)
    }

    fn query(keys: Vec<RowExpr>, filter: Option<RowExpr>) -> Query {
        let kind = QueryKind::Groups { keys, measures: Vec::new() };
        Query { filter, ..Query::new(TableName::new("t").expect("a name"), kind) }
    }

    #[test]
    fn rows_of_other_groups_are_filtered_out_by_columns_of_strings() {
        let (user, host) = (column("user", Kind::String), column("host", Kind::String));
        let status = column("status", Kind::Number);
        let keys: Vec<Box<[Value]>> = vec![
            [text("ann"), Value::integer(1), Value::Null].into(),
            [text("ann"), Value::integer(2), text("a")].into(),
            [text("bob"), Value::integer(1), text("a")].into(),
        ];
        let literal = |name| Expr::Literal(text(name));
        let is_user = Expr::call(Function::In, [user.clone(), literal("ann"), literal("bob")]);
        let is_host = Expr::call(
            Function::Or,
            [
                Expr::call(Function::In, [host.clone(), literal("a")]),
                Expr::call(Function::IsNull, [host.clone()]),
            ],
        );
        let all = vec![user.clone(), status.clone(), host];
        let both = Expr::call(Function::And, [is_user.clone(), is_host.clone()]);
        assert_eq!(filter(&query(all.clone(), None), &keys), Some(both));
        let before = Expr::Literal(Value::Bool(true));
        let three = Expr::call(Function::And, [before.clone(), is_user.clone(), is_host]);
        assert_eq!(filter(&query(all, Some(before)), &keys), Some(three));
        assert_eq!(filter(&query(vec![user.clone()], None), &keys), Some(is_user));
        assert_eq!(filter(&query(vec![status], None), &keys), None);
        let null: Vec<Box<[Value]>> = vec![[Value::Null].into()];
        let is_null = Expr::call(Function::IsNull, [user.clone()]);
        assert_eq!(filter(&query(vec![user], None), &null), Some(is_null));
    }
}
