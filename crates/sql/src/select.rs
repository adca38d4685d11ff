//! Lowers the syntax tree of a SELECT to the one [`Query`].

pub(crate) mod bind_select;
mod compare;
pub(crate) mod group_by;
mod layers;
pub(crate) mod output_slots;
mod selected;
pub(crate) mod time_range;

use std::sync::Arc;
use std::time::Duration;

use hadal_query::{
    Expr, Function, GroupInput, Measure, OrderKey, Output, OutputExpr, Query, QueryKind, RowExpr,
    SentGroups, SeriesLimit, time_buckets,
};
use hadal_types::{Decimal, TableSchema, Value, limits};
use sqlparser::tokenizer::Location;

use crate::Note;
use crate::bind::Binder;
use crate::bind::bound_expr::{TypedExpr, patterns};
use crate::bind::scope::{Column, Scope};
use crate::error::{LocatedError, NOWHERE, Read};
use crate::select::layers::{Layered, SortKey, bind_layers};
use crate::select::output_slots::OutputSlots;
use crate::select::selected::Selected;
use crate::select::time_range::{Intervals, split};
use crate::syntax::select_ast::SelectAst;

/// Lowers a SELECT of `table` and those around it, from the innermost.
pub(crate) fn lower(
    layers: &[SelectAst],
    scope: Scope<'_>,
    table: &TableSchema,
) -> Read<(Query, Vec<Note>)> {
    let now = scope.now();
    let mut binder = Binder::new(scope);
    let Layered { conditions, selected, mut slots, having, order, limit: most, offset } =
        bind_layers(&mut binder, layers, table)?;
    let split = split(conditions);
    let compares = layers.iter().filter_map(|layer| layer.compare.as_ref());
    let has_one_range = !compares.into_iter().any(|compare| compare.is_of_times);
    let seconds = || seconds(&slots, &split.intervals, table);
    slots.set_seconds(has_one_range.then(seconds).flatten());
    let outputs = outputs(&selected, &mut slots)?;
    let having = all_true(having, &mut slots)?;
    let mut order = order_keys(order, &mut slots)?;
    if order.is_empty() {
        order.extend(asked_elements_first(&slots, &split.rest));
    }
    let limited = layers.last().and_then(|parts| parts.series);
    let series = series(limited, &selected, &outputs, &slots)?;
    let totals = totals(layers.last().and_then(|parts| parts.totals), &slots)?;
    check_buckets(&selected, &outputs, &slots, &split.intervals)?;
    let Binder { mut notes, functions, unnest_at, .. } = binder;
    let limit = limit(most, &mut notes);
    let range = split.intervals.hull();
    if range.from.is_none() && range.to.is_none() {
        let message = "no time range: all rows of the table were asked for".to_owned();
        notes.push(Note { code: "no_time_range", message });
    }
    let query = Query {
        table: table.name.clone(),
        range,
        intervals: split.intervals.if_several(),
        filter: conjunction(split.rest),
        kind: slots.into_shape(),
        outputs,
        having,
        order,
        series,
        totals,
        limit,
        offset,
        now,
        deadline: Duration::from_millis(limits::QUERY_DEADLINE_MS),
        require_complete: false,
        functions: Arc::new(functions),
        confidence: None,
        sent: SentGroups::All,
    };
    check_exprs(&query)?;
    check_unnest(&query).map_err(|error| error.or_at(unnest_at))?;
    Ok((query, notes))
}

fn conjunction(mut conditions: Vec<RowExpr>) -> Option<RowExpr> {
    match conditions.len() {
        0 | 1 => conditions.pop(),
        _ => Some(Expr::call(Function::And, conditions)),
    }
}

fn outputs(selected: &[Selected], slots: &mut OutputSlots) -> Read<Vec<Output>> {
    let mut outputs = Vec::with_capacity(selected.len());
    for Selected { name, bound, at, .. } in selected {
        let expr = slots.output(bound).map_err(|error| error.or_at(*at))?;
        outputs.push(Output { name: name.clone(), value_type: bound.value_type, expr });
    }
    Ok(outputs)
}

/// The conditions on groups as one.
fn all_true(
    conditions: Vec<(TypedExpr, Location)>,
    slots: &mut OutputSlots,
) -> Read<Option<OutputExpr>> {
    let output =
        |(bound, at): (TypedExpr, Location)| slots.output(&bound).map_err(|error| error.or_at(at));
    let mut conditions = conditions.into_iter().map(output).collect::<Read<Vec<_>>>()?;
    Ok(match conditions.len() {
        0 | 1 => conditions.pop(),
        _ => Some(Expr::call(Function::And, conditions)),
    })
}

/// The sort order; by default, raw rows are sorted newest first.
fn order_keys(order: Vec<SortKey>, slots: &mut OutputSlots) -> Read<Vec<OrderKey>> {
    let mut keys = Vec::with_capacity(order.len());
    for SortKey { bound, descending, nulls_first, at } in order {
        let expr = slots.output(&bound).map_err(|error| error.or_at(at))?;
        keys.push(OrderKey { expr, descending, nulls_first });
    }
    if keys.is_empty() && !slots.is_grouped() {
        let expr = slots.output(&Column::Time.bind())?;
        keys.push(OrderKey { expr, descending: true, nulls_first: false });
    }
    Ok(keys)
}

/// For groups of unnest without an order: puts the elements first that the filter asks for, as the
/// others are only there beside them.
fn asked_elements_first(slots: &OutputSlots, conditions: &[RowExpr]) -> Option<OrderKey> {
    let mut keys = slots.keys().enumerate();
    let (index, list) = keys.find_map(|(index, key)| match key {
        Expr::Call { function: Function::Unnest, arguments } => Some((index, arguments.first()?)),
        _ => None,
    })?;
    let words = conditions.iter().flat_map(|condition| match condition {
        Expr::Call { function: Function::IncludesAny | Function::IncludesAll, arguments } => {
            arguments
                .split_first()
                .filter(|(of, _)| *of == list)
                .map_or(&[][..], |(_, words)| words)
        }
        _ => &[],
    });
    let words = words.filter_map(|word| match word {
        Expr::Literal(value) => Some(Expr::Literal(value.clone())),
        _ => None,
    });
    let mut arguments = vec![Expr::Leaf(GroupInput::Key(index))];
    arguments.extend(words);
    let is_asked = arguments.len() > 1;
    let expr = Expr::Call { function: Function::In, arguments };
    is_asked.then_some(OrderKey { expr, descending: true, nulls_first: false })
}

/// The series limit; series are ranked by the first selected aggregate.
fn series(
    limited: Option<(usize, Location)>,
    selected: &[Selected],
    outputs: &[Output],
    slots: &OutputSlots,
) -> Read<Option<SeriesLimit>> {
    let Some((count, at)) = limited else { return Ok(None) };
    let has_series = |key: &RowExpr| {
        let is_prefix = matches!(key, Expr::Call { function: Function::Prefixes, .. });
        is_prefix || time_buckets(key).is_some()
    };
    if !slots.keys().any(has_series) {
        let error = LocatedError::new("a limit of series needs a time bucket to group by", at);
        let hint = "GROUP BY time_bucket('1 minute', time), or by prefixes of a vector";
        return Err(error.hint(hint));
    }
    let mut both = selected.iter().zip(outputs);
    let first = both.find(|(output, _)| output.bound.has_aggregate());
    let rank = match first {
        Some((_, output)) => output.expr.clone(),
        None => Expr::Leaf(GroupInput::Count),
    };
    Ok(Some(SeriesLimit { count, rank }))
}

/// Whether the query asks for totals. They are sums over groups, so no row may be in several.
fn totals(asked: Option<Location>, slots: &OutputSlots) -> Read<bool> {
    let Some(at) = asked else { return Ok(false) };
    if slots.keys().next().is_none() {
        return Err(LocatedError::new("totals are of groups, and there is no GROUP BY", at));
    }
    if slots.keys().any(is_unnest) {
        let message = "a row is in several groups of unnest and prefixes, so these have no totals";
        return Err(LocatedError::new(message, at)
            .hint("ask again without GROUP BY; the empty prefix has the total of all vectors"));
    }
    Ok(true)
}

/// The seconds that a group covers: those of its time bucket, known only from the result, or those
/// of the one time range. Open ends of the range are those of the table. `None` for several ranges.
fn seconds(slots: &OutputSlots, intervals: &Intervals, table: &TableSchema) -> Option<OutputExpr> {
    if slots.keys().any(|key| time_buckets(key).is_some()) {
        return Some(Expr::Leaf(GroupInput::Seconds));
    }
    let range = intervals.as_one()?;
    if range.from.is_some() && range.to.is_some() {
        return Some(Expr::Leaf(GroupInput::Seconds));
    }
    let (first, last) = table.time_range.unzip();
    let ends = range.from.or(first).zip(range.to.or(last));
    let seconds = ends.and_then(|(from, to)| {
        let micros = i128::from(to.0) - i128::from(from.0);
        Decimal::new(micros.max(0), 6)
    });
    Some(Expr::Literal(seconds.map_or(Value::Null, |seconds| Value::Number(seconds.into()))))
}

/// Checks that a closed time range does not have more time buckets than a result may have.
fn check_buckets(
    selected: &[Selected],
    outputs: &[Output],
    slots: &OutputSlots,
    intervals: &Intervals,
) -> Read<()> {
    let mut keys = slots.keys().enumerate();
    let Some((key, buckets)) = keys.find_map(|(key, expr)| Some((key, time_buckets(expr)?))) else {
        return Ok(());
    };
    let Some(count) = intervals.too_many_buckets(buckets.micros_min()) else { return Ok(()) };
    let most = limits::TIME_BUCKETS_MAX;
    let message = format!("{count} time buckets in the time range; at most {most} are allowed");
    let mut both = selected.iter().zip(outputs);
    let bucket = both.find(|(_, output)| output.expr == Expr::Leaf(GroupInput::Key(key)));
    let at = bucket.map_or(NOWHERE, |(selected, _)| selected.at);
    Err(LocatedError::new(message, at).hint("ask for wider buckets"))
}

fn limit(limit: Option<u64>, notes: &mut Vec<Note>) -> u64 {
    let most = limits::LIMIT_DEFAULT;
    match limit {
        Some(limit) if limit > most => {
            let message = format!("LIMIT {limit} is lowered to {most}, the most that is allowed");
            notes.push(Note { code: "limit_lowered", message });
            most
        }
        Some(limit) => limit,
        None => most,
    }
}

/// Refuses unnest and prefixes where they are no whole key of groups, or one of several.
fn check_unnest(query: &Query) -> Read<()> {
    let (lists, others): (Vec<&RowExpr>, Vec<&RowExpr>) = match &query.kind {
        QueryKind::Rows { values } => (Vec::new(), values.iter().collect()),
        QueryKind::Groups { keys, measures } => {
            let is_unnest = |key: &&RowExpr| is_unnest(key);
            let (lists, keys): (Vec<_>, Vec<_>) = keys.iter().partition(is_unnest);
            (lists, keys.into_iter().chain(measures.iter().flat_map(Measure::exprs)).collect())
        }
    };
    let within = lists.iter().flat_map(|list| match list {
        Expr::Call { arguments, .. } => arguments.as_slice(),
        _ => &[],
    });
    let is_misplaced = within.chain(others).chain(&query.filter).any(has_unnest);
    match (is_misplaced, lists.len()) {
        (true, _) => {
            let message = "unnest and prefixes stand for a whole key of GROUP BY";
            Err(LocatedError::new(message, NOWHERE)
                .hint("SELECT unnest(tags) AS tag, count(*) … GROUP BY tag"))
        }
        (_, 2..) => Err(LocatedError::new("a query can unnest one list", NOWHERE)),
        _ => Ok(()),
    }
}

fn is_unnest(expr: &RowExpr) -> bool {
    matches!(expr, Expr::Call { function, .. } if function.is_unnesting())
}

fn has_unnest(expr: &RowExpr) -> bool {
    match expr {
        expr if is_unnest(expr) => true,
        Expr::Call { arguments, .. } => arguments.iter().any(has_unnest),
        Expr::Literal(_) | Expr::Leaf(_) => false,
    }
}

/// Checks the bound expressions: their depth, since they are evaluated recursively, and their
/// number of patterns, which references to outputs may have multiplied.
fn check_exprs(query: &Query) -> Read<()> {
    let rows: Vec<&RowExpr> = match &query.kind {
        QueryKind::Rows { values } => values.iter().chain(&query.filter).collect(),
        QueryKind::Groups { keys, measures } => {
            let arguments = measures.iter().flat_map(Measure::exprs);
            keys.iter().chain(arguments).chain(&query.filter).collect()
        }
    };
    let outputs = query.outputs.iter().map(|output| &output.expr);
    let orders = query.order.iter().map(|key| &key.expr);
    let outputs: Vec<&OutputExpr> = outputs.chain(orders).chain(&query.having).collect();
    let deepest_row = rows.iter().map(|expr| expr.depth()).max();
    let deepest_output = outputs.iter().map(|expr| expr.depth()).max();
    if deepest_row.max(deepest_output).is_some_and(|depth| depth > limits::EXPR_DEPTH_MAX) {
        return Err(crate::syntax::parse::too_deep(NOWHERE));
    }
    let in_rows: usize = rows.into_iter().map(patterns).sum();
    let in_outputs: usize = outputs.into_iter().map(patterns).sum();
    match in_rows + in_outputs > limits::PATTERNS_MAX {
        true => Err(crate::bind::pattern::too_many(NOWHERE)),
        false => Ok(()),
    }
}
