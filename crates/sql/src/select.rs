//! From the parts of a question to the one [`Query`].

use std::time::Duration;

use hadal_query::{
    Expr, Function, OrderKey, Output, OutputExpr, Query, RowExpr, SeriesLimit, Shape, Slot,
    time_bucket_width,
};
use hadal_types::{TableSchema, limits};
use sqlparser::ast::{self, BinaryOperator, OrderBySort};

use crate::Note;
use crate::aggregate::row_expr;
use crate::bind::{Aggregates, Binder, operands};
use crate::bound::{Bound, nodes};
use crate::error::{Fault, NOWHERE, Read, SqlError};
use crate::group::{self, at_position, position};
use crate::parts::Parts;
use crate::place::place;
use crate::scope::{Column, Scope};
use crate::slots::{Slots, Values, is_true};
use crate::time_range::{Intervals, split};

/// One output column before it is known what it is computed from.
pub(crate) struct Selected {
    pub(crate) name: String,
    pub(crate) bound: Bound,
    /// The item that it comes from.
    item: usize,
}

/// Lowers a question about `table`.
pub(crate) fn lower(
    parts: Parts<'_>,
    scope: Scope<'_>,
    table: &TableSchema,
) -> Result<(Query, Vec<Note>), SqlError> {
    let now = scope.now();
    let mut binder = Binder::new(scope);
    let conditions = conditions(&mut binder, &parts)?;
    let selected = select(&mut binder, &parts, table)?;
    binder.aliases = aliases(&parts, &selected);
    let mut slots = match group::is_grouped(&parts, &selected) {
        true => group::slots(&mut binder, &parts, &selected)?,
        false => Slots::Rows(Values::default()),
    };
    let outputs = outputs(&parts, &selected, &mut slots)?;
    let having = having(&mut binder, &parts, &mut slots)?;
    let order = order(&mut binder, &parts, &outputs, &mut slots)?;
    let split = split(conditions);
    let series = series(&parts, &selected, &outputs, &slots)?;
    check_time(&parts, &selected, &outputs, &slots, &split.intervals)?;
    let mut notes = binder.notes;
    let limit = limit(parts.limit, &mut notes);
    let range = split.intervals.hull();
    if range.from.is_none() && range.to.is_none() {
        let message = "no time range: all rows of the table were asked for".to_owned();
        notes.push(Note { code: "no_time_range", message });
    }
    let query = Query {
        table: table.name.clone(),
        range,
        filter: conjunction(split.rest),
        shape: slots.into_shape(),
        outputs,
        having,
        order,
        series,
        limit,
        offset: parts.offset,
        now,
        deadline: Duration::from_millis(limits::QUERY_DEADLINE_MS),
        require_complete: false,
    };
    check_depth(&query).map_err(Fault::unplaced)?;
    Ok((query, notes))
}

/// The conditions of WHERE, all of which must be true.
fn conditions(binder: &mut Binder<'_>, parts: &Parts<'_>) -> Result<Vec<RowExpr>, SqlError> {
    binder.aggregates = Aggregates::NotIn("WHERE");
    let mut conditions = Vec::new();
    for piece in &parts.filters {
        for operand in operands(&piece.part, &BinaryOperator::And) {
            let condition = piece.read(|_| row_expr(&binder.bind_truth(operand)?))?;
            flatten(condition, &mut conditions);
        }
    }
    Ok(conditions)
}

/// The operands of AND, such as those that BETWEEN becomes; what is always true is left out.
fn flatten(condition: RowExpr, conditions: &mut Vec<RowExpr>) {
    match condition {
        Expr::Call { function: Function::And, arguments } => {
            arguments.into_iter().for_each(|argument| flatten(argument, conditions));
        }
        condition if is_true(&condition) => {}
        condition => conditions.push(condition),
    }
}

fn conjunction(mut conditions: Vec<RowExpr>) -> Option<RowExpr> {
    match conditions.len() {
        0 | 1 => conditions.pop(),
        _ => Some(Expr::call(Function::And, conditions)),
    }
}

/// Binds what is selected; `*` becomes all columns.
fn select(
    binder: &mut Binder<'_>,
    parts: &Parts<'_>,
    table: &TableSchema,
) -> Result<Vec<Selected>, SqlError> {
    binder.aggregates = Aggregates::Allowed;
    let mut selected: Vec<Selected> = Vec::with_capacity(parts.items.len());
    for (item, piece) in parts.items.iter().enumerate() {
        match &piece.part.expr {
            Some(expr) => {
                let bound = piece.read(|_| binder.bind(expr))?;
                selected.push(Selected { name: piece.part.name.clone(), bound, item });
            }
            None => {
                let columns = all_columns(table).into_iter();
                selected.extend(columns.map(|(name, bound)| Selected { name, bound, item }));
            }
        }
        if selected.len() > limits::OUTPUTS_MAX {
            let (count, most) = (selected.len(), limits::OUTPUTS_MAX);
            let message = format!("{count} output columns; at most {most} are allowed");
            return piece.read(|_| Err(Fault::new(message, NOWHERE)));
        }
    }
    Ok(selected)
}

/// What `*` means: the time column, then the others by name; of a column with several kinds
/// each, the one with most rows under the plain name.
fn all_columns(table: &TableSchema) -> Vec<(String, Bound)> {
    let time = (table.time_column.to_string(), Column::Time.bind());
    let others = table.columns.iter().filter(|column| column.name != table.time_column);
    let parts = others.flat_map(|column| {
        let main = column.main_part().map(|part| part.kind);
        let name = move |kind| match Some(kind) == main {
            true => column.name.to_string(),
            false => format!("{}::{kind}", column.name),
        };
        let minor = column.parts.iter().map(|part| part.kind).filter(move |k| Some(*k) != main);
        let kinds = main.into_iter().chain(minor);
        kinds.map(move |kind| (name(kind), Bound::part(column, kind)))
    });
    std::iter::once(time).chain(parts).collect()
}

/// The names that GROUP BY, HAVING and ORDER BY can use for output columns.
fn aliases(parts: &Parts<'_>, selected: &[Selected]) -> Vec<(String, Bound)> {
    selected
        .iter()
        .filter(|output| parts.items.get(output.item).is_some_and(|item| item.part.aliased))
        .map(|output| (output.name.clone(), output.bound.clone()))
        .collect()
}

fn outputs(
    parts: &Parts<'_>,
    selected: &[Selected],
    slots: &mut Slots,
) -> Result<Vec<Output>, SqlError> {
    let mut outputs = Vec::with_capacity(selected.len());
    for output in selected {
        let expr = at_item(parts, output, || slots.output(&output.bound))?;
        let value_type = output.bound.value_type;
        outputs.push(Output { name: output.name.clone(), value_type, expr });
    }
    Ok(outputs)
}

/// What `read` returns, its error placed at the item that the output comes from.
fn at_item<T>(
    parts: &Parts<'_>,
    output: &Selected,
    read: impl FnOnce() -> Read<T>,
) -> Result<T, SqlError> {
    match parts.items.get(output.item) {
        Some(piece) => piece.read(|item| {
            let at = item.expr.as_ref().map_or(NOWHERE, place);
            read().map_err(|fault| fault.or_at(at))
        }),
        None => read().map_err(Fault::unplaced),
    }
}

fn having(
    binder: &mut Binder<'_>,
    parts: &Parts<'_>,
    slots: &mut Slots,
) -> Result<Option<OutputExpr>, SqlError> {
    binder.use_aliases = true;
    binder.aggregates = Aggregates::Allowed;
    let Some(piece) = &parts.having else { return Ok(None) };
    let output = piece.read(|expr| {
        let bound = binder.bind_truth(expr)?;
        slots.output(&bound).map_err(|fault| fault.or_at(place(expr)))
    })?;
    Ok(Some(output))
}

/// How the answer is sorted; raw rows newest first when nothing is said.
fn order(
    binder: &mut Binder<'_>,
    parts: &Parts<'_>,
    outputs: &[Output],
    slots: &mut Slots,
) -> Result<Vec<OrderKey>, SqlError> {
    if !slots.is_grouped() {
        binder.aggregates = Aggregates::NotIn("ORDER BY of raw rows");
    }
    let mut keys = Vec::with_capacity(parts.order.len());
    for piece in &parts.order {
        keys.push(piece.read(|order| order_key(binder, order, outputs, slots))?);
    }
    if keys.is_empty() && !slots.is_grouped() {
        let expr = slots.output(&Column::Time.bind()).map_err(Fault::unplaced)?;
        keys.push(OrderKey { expr, descending: true, nulls_first: false });
    }
    Ok(keys)
}

fn order_key(
    binder: &mut Binder<'_>,
    order: &ast::OrderByExpr,
    outputs: &[Output],
    slots: &mut Slots,
) -> Read<OrderKey> {
    let at = place(&order.expr);
    if order.with_fill.is_some() {
        return Err(Fault::new("WITH FILL is not supported", at));
    }
    let descending = match order.options.sort {
        None | Some(OrderBySort::Asc) => false,
        Some(OrderBySort::Desc) => true,
        Some(OrderBySort::Using(_)) => {
            return Err(Fault::new("ORDER BY … USING is not supported", at).hint("write DESC"));
        }
    };
    let expr = match position(&order.expr) {
        Some(position) => {
            let expr = &at_position(position, &order.expr, outputs)?.expr;
            binder.count_copies(nodes(expr))?;
            expr.clone()
        }
        None => {
            let bound = binder.bind(&order.expr)?;
            slots.output(&bound).map_err(|fault| fault.or_at(at))?
        }
    };
    // As in PostgreSQL, null is larger than every value.
    let nulls_first = order.options.nulls_first.unwrap_or(descending);
    Ok(OrderKey { expr, descending, nulls_first })
}

/// The series limit, ranked by the first aggregate that is selected.
fn series(
    parts: &Parts<'_>,
    selected: &[Selected],
    outputs: &[Output],
    slots: &Slots,
) -> Result<Option<SeriesLimit>, SqlError> {
    let Some(count) = parts.series else { return Ok(None) };
    if !slots.keys().any(|key| time_bucket_width(key).is_some()) {
        let fault = Fault::new("a limit of series needs a time bucket to group by", NOWHERE);
        return Err(fault.hint("GROUP BY time_bucket('1 minute', time)").unplaced());
    }
    let mut both = selected.iter().zip(outputs);
    let first = both.find(|(output, _)| output.bound.has_aggregate());
    let rank = match first {
        Some((_, output)) => output.expr.clone(),
        None => Expr::Leaf(Slot::Count),
    };
    Ok(Some(SeriesLimit { count, rank }))
}

/// Checks what depends on how long the time range is.
fn check_time(
    parts: &Parts<'_>,
    selected: &[Selected],
    outputs: &[Output],
    slots: &Slots,
    intervals: &Intervals,
) -> Result<(), SqlError> {
    let width = slots.keys().find_map(time_bucket_width);
    if let Some(count) = width.and_then(|width| intervals.too_many_buckets(width)) {
        let most = limits::TIME_BUCKETS_MAX;
        let message = format!("{count} time buckets in the time range; at most {most} are allowed");
        return Err(Fault::new(message, NOWHERE).hint("ask for wider buckets").unplaced());
    }
    // In a time bucket, what lies between two ranges does not count; without one it would.
    let closed = if width.is_some() { intervals.is_closed() } else { intervals.is_one_closed() };
    if closed {
        return Ok(());
    }
    let per = selected.iter().zip(outputs).find(|(_, output)| takes_seconds(&output.expr));
    match per {
        Some((output, _)) => at_item(parts, output, || {
            Err(Fault::new("per_second and per_minute need one time range with both ends", NOWHERE)
                .hint("for example WHERE time >= now() - 3600 AND time < now()"))
        }),
        None => Ok(()),
    }
}

fn takes_seconds(expr: &OutputExpr) -> bool {
    let mut found = false;
    expr.for_each_leaf(&mut |slot| found |= *slot == Slot::Seconds);
    found
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

/// Checks that no expression is too deep for those who walk it.
fn check_depth(query: &Query) -> Read<()> {
    let rows: Vec<&RowExpr> = match &query.shape {
        Shape::Rows { values } => values.iter().chain(&query.filter).collect(),
        Shape::Groups { keys, measures } => {
            let arguments = measures.iter().map(|measure| &measure.argument);
            keys.iter().chain(arguments).chain(&query.filter).collect()
        }
    };
    let outputs = query.outputs.iter().map(|output| &output.expr);
    let orders = query.order.iter().map(|key| &key.expr);
    let deepest_row = rows.into_iter().map(Expr::depth).max();
    let deepest_output = outputs.chain(orders).chain(&query.having).map(Expr::depth).max();
    match deepest_row.max(deepest_output) {
        Some(depth) if depth > limits::EXPR_DEPTH_MAX => Err(crate::parse::too_deep(NOWHERE)),
        _ => Ok(()),
    }
}
