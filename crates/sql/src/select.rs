//! From the parts of a question to the one [`Query`].

use std::time::Duration;

use hadal_query::{
    Expr, Function, OrderKey, Output, OutputExpr, Query, RowExpr, SeriesLimit, Slot,
};
use hadal_types::{TableSchema, limits};
use sqlparser::ast;

use crate::Note;
use crate::aggregate::row_expr;
use crate::bind::{Aggregates, Binder, operands};
use crate::bound::{Bound, BoundExpr};
use crate::error::{Fault, NOWHERE, Read, SqlError};
use crate::parts::{Groups, Item, Parts, Piece};
use crate::place::place;
use crate::scope::{Column, Scope};
use crate::slots::Slots;
use crate::time_range::{Intervals, Split, split};

/// One output column before it is known what it is computed from.
struct Selected {
    name: String,
    bound: Bound,
    /// The item that it comes from.
    item: usize,
}

/// Lowers a question about the table of `scope`.
pub(crate) fn lower(parts: Parts<'_>, scope: Scope<'_>) -> Result<(Query, Vec<Note>), SqlError> {
    let (now, table) = (scope.now(), scope.table());
    let mut binder = Binder::new(scope);
    let (intervals, filter) = conditions(&mut binder, &parts)?;
    binder.aggregates = Aggregates::Allowed;
    let selected = select(&mut binder, table, &parts)?;
    let named = |one: &&Selected| parts.items[one.item].part.aliased;
    binder.aliases =
        selected.iter().filter(named).map(|one| (one.name.clone(), one.bound.clone())).collect();
    binder.use_aliases = true;
    let mut slots = slots(&mut binder, &parts, &selected)?;
    let outputs = outputs(&parts, &selected, &mut slots)?;
    let having = having(&mut binder, &parts, &mut slots)?;
    let order = order(&mut binder, &parts, &selected, &mut slots)?;
    let uses_seconds = slots.uses_seconds();
    let shape = slots.into_shape().map_err(|fault| on_first(&parts, fault))?;
    let mut query = Query {
        table: table.map(|table| table.name.clone()).ok_or_else(missing_table)?,
        range: intervals.hull(),
        filter,
        shape,
        outputs,
        having,
        order,
        series: None,
        limit: limit(&parts, &mut binder.notes),
        offset: parts.offset,
        now,
        deadline: Duration::from_millis(limits::QUERY_DEADLINE_MS),
        require_complete: false,
    };
    check_time(&query, &intervals, uses_seconds).map_err(|fault| on_first(&parts, fault))?;
    query.series = series(&query, parts.series).map_err(|fault| on_first(&parts, fault))?;
    if query.range.from.is_none() && query.range.to.is_none() {
        let message = format!("there is no time range, so all of {} is scanned", query.table);
        binder.notes.push(Note { code: "no_time_range", message });
    }
    Ok((query, binder.notes))
}

fn missing_table() -> SqlError {
    SqlError {
        message: "FROM and a table are missing".to_owned(),
        field: None,
        position: None,
        hint: Some("SHOW TABLES lists the tables".to_owned()),
    }
}

/// The error of a fault that belongs to no one part.
fn on_first(parts: &Parts<'_>, fault: Fault) -> SqlError {
    match parts.items.first() {
        Some(item) => item.source.error(fault),
        None => missing_table(),
    }
}

/// The time range and what else the conditions ask of each row.
fn conditions(
    binder: &mut Binder<'_>,
    parts: &Parts<'_>,
) -> Result<(Intervals, Option<RowExpr>), SqlError> {
    binder.aggregates = Aggregates::NotIn("WHERE");
    let mut conditions = Vec::new();
    for filter in &parts.filters {
        for operand in operands(&filter.part, &ast::BinaryOperator::And) {
            let bound = filter.read(|_| binder.bind_truth(operand).and_then(|b| row_expr(&b)))?;
            flatten(bound, &mut conditions);
        }
    }
    let Split { intervals, mut rest } = split(conditions);
    let filter = match rest.len() {
        0 => None,
        1 => rest.pop(),
        _ => Some(Expr::call(Function::And, rest)),
    };
    Ok((intervals, filter))
}

/// The operands of AND, such as those that BETWEEN becomes.
fn flatten(condition: RowExpr, conditions: &mut Vec<RowExpr>) {
    match condition {
        Expr::Call { function: Function::And, arguments } => {
            arguments.into_iter().for_each(|argument| flatten(argument, conditions));
        }
        other => conditions.push(other),
    }
}

fn select(
    binder: &mut Binder<'_>,
    table: Option<&TableSchema>,
    parts: &Parts<'_>,
) -> Result<Vec<Selected>, SqlError> {
    let mut selected = Vec::new();
    for (index, item) in parts.items.iter().enumerate() {
        match &item.part.expr {
            Some(expr) => {
                let bound = item.read(|_| binder.bind(expr))?;
                selected.push(Selected { name: item.part.name.clone(), bound, item: index });
            }
            None => selected.extend(table.into_iter().flat_map(|table| all_columns(table, index))),
        }
    }
    let (count, most) = (selected.len(), limits::OUTPUTS_MAX);
    if count > most {
        let message = format!("an answer of {count} columns; at most {most} are allowed");
        return Err(on_first(parts, Fault::new(message, NOWHERE)));
    }
    Ok(selected)
}

/// `*`: the time, then all columns by name; a column of several kinds once for each.
fn all_columns(table: &TableSchema, item: usize) -> Vec<Selected> {
    let name = table.time_column.to_string();
    let mut all = vec![Selected { name, bound: Column::Time.bind(), item }];
    for column in table.columns.iter().filter(|column| column.name != table.time_column) {
        let main = column.main_part().map(|part| part.kind);
        for part in &column.parts {
            let name = match Some(part.kind) == main {
                true => column.name.to_string(),
                false => format!("{}::{}", column.name, part.kind),
            };
            all.push(Selected { name, bound: Bound::part(column, part.kind), item });
        }
    }
    all
}

/// Raw rows, or groups with their keys.
fn slots(
    binder: &mut Binder<'_>,
    parts: &Parts<'_>,
    selected: &[Selected],
) -> Result<Slots, SqlError> {
    let plain = selected.iter().filter(|one| !one.bound.has_aggregate());
    let keys: Vec<BoundExpr> = match &parts.groups {
        Groups::By(by) => {
            binder.aggregates = Aggregates::NotIn("GROUP BY");
            let keys = by
                .iter()
                .map(|key| key.read(|expr| key_of(binder, expr, selected)))
                .collect::<Result<_, _>>()?;
            binder.aggregates = Aggregates::Allowed;
            keys
        }
        Groups::All => plain.map(|one| one.bound.expr.clone()).collect(),
        Groups::None if parts.distinct => plain.map(|one| one.bound.expr.clone()).collect(),
        Groups::None => {
            let grouped = parts.having.is_some()
                || selected.iter().any(|one| one.bound.has_aggregate());
            if !grouped {
                return Ok(Slots::raw());
            }
            Vec::new()
        }
    };
    Slots::grouped(keys).map_err(|fault| on_first(parts, fault))
}

fn key_of(
    binder: &mut Binder<'_>,
    expr: &ast::Expr,
    selected: &[Selected],
) -> Read<BoundExpr> {
    let bound = match position(expr, selected)? {
        Some(one) => one.bound.clone(),
        None => binder.bind(expr)?,
    };
    if bound.has_aggregate() {
        return Err(Fault::new("an aggregate cannot be grouped by", place(expr)));
    }
    Ok(bound.expr)
}

/// The output column that a plain number counts to, from 1.
fn position<'s>(expr: &ast::Expr, selected: &'s [Selected]) -> Read<Option<&'s Selected>> {
    let ast::Expr::Value(value) = expr else { return Ok(None) };
    let ast::Value::Number(digits, _) = &value.value else { return Ok(None) };
    let index = digits.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    let found = index.and_then(|index| selected.get(index));
    found.map(Some).ok_or_else(|| {
        let message = format!("there is no output column {digits}; there are {}", selected.len());
        Fault::new(message, place(expr))
    })
}

fn outputs(
    parts: &Parts<'_>,
    selected: &[Selected],
    slots: &mut Slots,
) -> Result<Vec<Output>, SqlError> {
    let output = |one: &Selected| {
        let item: &Piece<'_, Item> = &parts.items[one.item];
        let at = item.part.expr.as_ref().map_or(NOWHERE, place);
        let expr = item.read(|_| slots.output(&one.bound).map_err(|fault| fault.or_at(at)))?;
        Ok(Output { name: one.name.clone(), value_type: one.bound.value_type, expr })
    };
    selected.iter().map(output).collect()
}

fn having(
    binder: &mut Binder<'_>,
    parts: &Parts<'_>,
    slots: &mut Slots,
) -> Result<Option<OutputExpr>, SqlError> {
    let Some(having) = &parts.having else { return Ok(None) };
    having
        .read(|expr| {
            let bound = binder.bind_truth(expr)?;
            slots.output(&bound).map_err(|fault| fault.or_at(place(expr)))
        })
        .map(Some)
}

fn order(
    binder: &mut Binder<'_>,
    parts: &Parts<'_>,
    selected: &[Selected],
    slots: &mut Slots,
) -> Result<Vec<OrderKey>, SqlError> {
    if parts.order.is_empty() && matches!(slots, Slots::Raw { .. }) {
        // The newest rows first.
        let expr = slots.output(&Column::Time.bind()).map_err(|fault| on_first(parts, fault))?;
        return Ok(vec![OrderKey { expr, descending: true, nulls_first: true }]);
    }
    let key = |piece: &Piece<'_, ast::OrderByExpr>| {
        piece.read(|order| {
            let bound = match position(&order.expr, selected)? {
                Some(one) => one.bound.clone(),
                None => binder.bind(&order.expr)?,
            };
            let expr =
                slots.output(&bound).map_err(|fault| fault.or_at(place(&order.expr)))?;
            let descending = match order.options.sort {
                None | Some(ast::OrderBySort::Asc) => false,
                Some(ast::OrderBySort::Desc) => true,
                Some(_) => {
                    return Err(Fault::new("ORDER BY takes ASC or DESC", place(&order.expr)));
                }
            };
            // As PostgreSQL has it: null counts as larger than all else.
            let nulls_first = order.options.nulls_first.unwrap_or(descending);
            Ok(OrderKey { expr, descending, nulls_first })
        })
    };
    parts.order.iter().map(key).collect()
}

fn limit(parts: &Parts<'_>, notes: &mut Vec<Note>) -> u64 {
    let most = limits::LIMIT_DEFAULT;
    let limit = parts.limit.unwrap_or(most);
    if limit > most {
        let message = format!("LIMIT {limit} was lowered to {most}, the most that an answer holds");
        notes.push(Note { code: "limit_lowered", message });
    }
    limit.min(most)
}

fn check_time(query: &Query, intervals: &Intervals, uses_seconds: bool) -> Read<()> {
    if uses_seconds && !intervals.is_one_closed() {
        return Err(Fault::new("per_second and per_minute need one time range with both ends", NOWHERE)
            .hint("for example WHERE time >= now() - 3600 AND time < now()"));
    }
    let too_many = query.time_key().and_then(|(_, width)| intervals.too_many_buckets(width));
    if let Some(buckets) = too_many {
        let most = limits::TIME_BUCKETS_MAX;
        let message = format!("{buckets} time buckets; at most {most} are allowed");
        return Err(Fault::new(message, NOWHERE).hint("take wider buckets or a shorter time"));
    }
    Ok(())
}

/// The series limit: ranked by the first output that holds an aggregate, else by the count.
fn series(query: &Query, count: Option<usize>) -> Read<Option<SeriesLimit>> {
    let Some(count) = count else { return Ok(None) };
    if query.time_key().is_none() {
        return Err(Fault::new("LIMIT n SERIES needs a time bucket to group by", NOWHERE)
            .hint("GROUP BY time_bucket('1 minute', time), service"));
    }
    let is_aggregate = |expr: &OutputExpr| {
        let mut found = false;
        expr.for_each_leaf(&mut |slot| found |= !matches!(slot, Slot::Key(_)));
        found
    };
    let ranked = query.outputs.iter().map(|output| &output.expr).find(|expr| is_aggregate(expr));
    let rank = ranked.cloned().unwrap_or(Expr::Leaf(Slot::Count));
    Ok(Some(SeriesLimit { count, rank }))
}
