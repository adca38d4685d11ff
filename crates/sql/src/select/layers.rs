//! A query and the queries around it, as one query.
//!
//! The innermost query reads the table. Each query around it names the outputs of the one within.
//! Conditions of WHERE are about rows until a query groups them, and about groups from there on.
//! The last query that says so gives the order. What one query cannot express is refused: groups of
//! groups, and anything but a selection around LIMIT.

use sqlparser::ast::{self, BinaryOperator, Expr, OrderBySort};
use sqlparser::tokenizer::Location;

use hadal_query::{Function, RowExpr};
use hadal_types::{TableSchema, limits};

use crate::bind::aggregate::row_expr;
use crate::bind::bound_expr::{TypedExpr, nodes};
use crate::bind::derived::{Derived, DerivedColumn};
use crate::bind::scope::Column;
use crate::bind::{AROUND_GROUPS, Aggregates, Binder, operands};
use crate::error::{LocatedError, NOWHERE, Read};
use crate::select::compare::{Compared, compared};
use crate::select::group_by::{self, at_position, position};
use crate::select::output_slots::{OutputSlots, Values, is_true};
use crate::select::selected::Selected;
use crate::syntax::select_ast::{Groups, Item, SelectAst};
use crate::syntax::source_position::place;

const ADVICE: &str = "around a query with groups there may be a selection of its columns, WHERE, \
                      ORDER BY and LIMIT, and around one with LIMIT a selection only; put the rest \
                      into the inner query";

/// A query whose parts are bound.
pub(crate) struct Layered {
    /// The conditions on rows; all must be true.
    pub(crate) conditions: Vec<RowExpr>,
    /// The outputs.
    pub(crate) selected: Vec<Selected>,
    pub(crate) slots: OutputSlots,
    /// The conditions on groups.
    pub(crate) having: Vec<(TypedExpr, Location)>,
    pub(crate) order: Vec<SortKey>,
    pub(crate) limit: Option<u64>,
    pub(crate) offset: u64,
}

/// A sort key.
pub(crate) struct SortKey {
    pub(crate) bound: TypedExpr,
    pub(crate) descending: bool,
    pub(crate) nulls_first: bool,
    pub(crate) at: Location,
}

/// Binds a query and those around it, from the innermost to the outermost.
pub(crate) fn bind_layers(
    binder: &mut Binder<'_>,
    layers: &[SelectAst],
    table: &TableSchema,
) -> Read<Layered> {
    let mut query = Layered {
        conditions: Vec::new(),
        selected: Vec::new(),
        slots: OutputSlots::Rows(Values::default()),
        having: Vec::new(),
        order: Vec::new(),
        limit: None,
        offset: 0,
    };
    for (index, parts) in layers.iter().enumerate() {
        if index > 0 {
            enter(binder, &query.selected, &layers[index - 1], parts)?;
        }
        query.add(binder, parts, table)?;
    }
    Ok(query)
}

/// Lets names mean the outputs of the query `inner`, which `parts` is around.
fn enter(
    binder: &mut Binder<'_>,
    selected: &[Selected],
    inner: &SelectAst,
    parts: &SelectAst,
) -> Read<()> {
    let explicit = selected.iter().filter(|output| !output.of_star);
    let exprs = inner.items.iter().filter_map(|item| item.expr.as_deref());
    let mut columns = Vec::new();
    for (output, expr) in explicit.zip(exprs) {
        binder.use_aliases = false;
        let last_part = match expr {
            Expr::CompoundIdentifier(parts) => parts.last().map(|last| last.value.clone()),
            _ => None,
        };
        columns.push(DerivedColumn {
            name: output.name.clone(),
            last_part: last_part.filter(|_| !output.aliased),
            bound: copy(binder, &output.bound)?,
            column: binder.as_column(expr)?,
        });
    }
    binder.derived = Some(Derived {
        alias: parts.table.as_ref().and_then(|table| table.alias.clone()),
        columns,
        has_star: inner.items.iter().any(|item| item.expr.is_none()),
        below: binder.derived.take().map(Box::new),
    });
    Ok(())
}

impl Layered {
    /// Adds a query around what there is.
    fn add(&mut self, binder: &mut Binder<'_>, parts: &SelectAst, table: &TableSchema) -> Read<()> {
        let is_limited = self.limit.is_some() || self.offset > 0;
        let has_groups = self.slots.is_grouped();
        if is_limited && !(parts.filters.is_empty() && parts.order.is_empty()) {
            return Err(refused("WHERE and ORDER BY around a query with LIMIT", parts));
        }
        (binder.use_aliases, binder.aliases) = (false, Vec::new());
        self.filter(binder, parts)?;
        binder.aggregates = match has_groups {
            true => Aggregates::NotIn(AROUND_GROUPS),
            false => Aggregates::Allowed,
        };
        let mut selected = select(binder, parts, table, &self.selected)?;
        let mut written: Vec<usize> = (0..selected.len()).collect();
        if let Some(compare) = &parts.compare {
            let Compared { columns, written: places, rows } = compared(binder, compare, selected)?;
            (selected, written) = (columns, places);
            self.conditions.extend(rows);
        }
        binder.aliases = aliases(&selected);
        let groups_anew = match has_groups {
            true => {
                parts.distinct || parts.having.is_some() || !matches!(parts.groups, Groups::None)
            }
            false => group_by::is_grouped(parts, &selected),
        };
        if groups_anew && has_groups {
            return Err(refused("GROUP BY or DISTINCT around a query with groups", parts));
        }
        if groups_anew && is_limited {
            return Err(refused("groups around a query with LIMIT", parts));
        }
        if groups_anew {
            self.slots = group_by::slots(binder, parts, &selected, &written)?;
            self.order.clear();
            binder.use_aliases = true;
            binder.aggregates = Aggregates::Allowed;
            if let Some(having) = &parts.having {
                self.having.push((binder.bind_truth(having)?, place(having)));
            }
        }
        self.sort(binder, parts, &selected, has_groups)?;
        self.selected = selected;
        self.limit = match (self.limit.map(|most| most.saturating_sub(parts.offset)), parts.limit) {
            (Some(inner), Some(outer)) => Some(inner.min(outer)),
            (inner, outer) => inner.or(outer),
        };
        self.offset = self.offset.saturating_add(parts.offset);
        Ok(())
    }

    /// Adds the conditions of WHERE: of rows, or of the groups of an inner query.
    fn filter(&mut self, binder: &mut Binder<'_>, parts: &SelectAst) -> Read<()> {
        let filters = parts.filters.iter().flat_map(|all| operands(all, &BinaryOperator::And));
        if self.slots.is_grouped() {
            binder.aggregates = Aggregates::NotIn(AROUND_GROUPS);
            for operand in filters {
                self.having.push((binder.bind_truth(operand)?, place(operand)));
            }
            return Ok(());
        }
        binder.aggregates = Aggregates::NotIn("WHERE");
        for operand in filters {
            flatten(row_expr(&binder.bind_truth(operand)?)?, &mut self.conditions);
        }
        Ok(())
    }

    /// Replaces the order, if the query has one.
    fn sort(
        &mut self,
        binder: &mut Binder<'_>,
        parts: &SelectAst,
        selected: &[Selected],
        had_groups: bool,
    ) -> Read<()> {
        if parts.order.is_empty() {
            return Ok(());
        }
        binder.use_aliases = true;
        binder.aggregates = match (had_groups, self.slots.is_grouped()) {
            (true, _) => Aggregates::NotIn(AROUND_GROUPS),
            (false, true) => Aggregates::Allowed,
            (false, false) => Aggregates::NotIn("ORDER BY of raw rows"),
        };
        let keys = parts.order.iter().map(|order| sort_key(binder, order, selected));
        self.order = keys.collect::<Read<_>>()?;
        Ok(())
    }
}

/// A copy of an output; copies of mere columns and constants do not add up.
fn copy(binder: &mut Binder<'_>, output: &TypedExpr) -> Read<TypedExpr> {
    match nodes(&output.expr) > 1 {
        true => binder.copy(output),
        false => Ok(output.clone()),
    }
}

fn refused(what: &str, parts: &SelectAst) -> LocatedError {
    let at = parts.items.first().map_or(NOWHERE, |item| item.at);
    LocatedError::new(format!("Hadal has no {what}"), at).hint(ADVICE)
}

/// Binds the SELECT list; `*` becomes all columns of the table, or all outputs of the inner query.
fn select(
    binder: &mut Binder<'_>,
    parts: &SelectAst,
    table: &TableSchema,
    inner: &[Selected],
) -> Read<Vec<Selected>> {
    let mut selected: Vec<Selected> = Vec::with_capacity(parts.items.len());
    for Item { expr, name, aliased, at } in &parts.items {
        let (aliased, at) = (*aliased, *at);
        match expr {
            Some(expr) => {
                let bound = binder.bind(expr)?;
                let name = name.clone();
                selected.push(Selected { name, bound, aliased, of_star: false, at });
            }
            None if binder.derived.is_some() => {
                for Selected { name, bound, .. } in inner {
                    let (name, bound) = (name.clone(), copy(binder, bound)?);
                    selected.push(Selected { name, bound, aliased: true, of_star: true, at });
                }
            }
            None => {
                let columns = all_columns(table).into_iter();
                let column = |(name, bound)| Selected { name, bound, aliased, of_star: true, at };
                selected.extend(columns.map(column));
            }
        }
        if selected.len() > limits::OUTPUTS_MAX {
            let (count, most) = (selected.len(), limits::OUTPUTS_MAX);
            let message = format!("{count} output columns; at most {most} are allowed");
            return Err(LocatedError::new(message, at));
        }
    }
    Ok(selected)
}

fn sort_key(
    binder: &mut Binder<'_>,
    order: &ast::OrderByExpr,
    selected: &[Selected],
) -> Read<SortKey> {
    let at = place(&order.expr);
    if order.with_fill.is_some() {
        return Err(LocatedError::new("WITH FILL is not supported", at));
    }
    let descending = match order.options.sort {
        None | Some(OrderBySort::Asc) => false,
        Some(OrderBySort::Desc) => true,
        Some(OrderBySort::Using(_)) => {
            return Err(
                LocatedError::new("ORDER BY … USING is not supported", at).hint("write DESC")
            );
        }
    };
    let bound = match position(&order.expr) {
        Some(position) => binder.copy(&at_position(position, &order.expr, selected)?.bound)?,
        None => binder.bind(&order.expr)?,
    };
    // As in PostgreSQL, null sorts above all values.
    let nulls_first = order.options.nulls_first.unwrap_or(descending);
    Ok(SortKey { bound, descending, nulls_first, at })
}

/// Splits AND into its operands, including those of BETWEEN; conditions that are always true are
/// left out.
fn flatten(condition: RowExpr, conditions: &mut Vec<RowExpr>) {
    match condition {
        RowExpr::Call { function: Function::And, arguments } => {
            arguments.into_iter().for_each(|argument| flatten(argument, conditions));
        }
        condition if is_true(&condition) => {}
        condition => conditions.push(condition),
    }
}

/// The columns of `*`: the time column, then the others by name. A column with several kinds yields
/// one output per kind; the kind with the most rows has the plain name.
fn all_columns(table: &TableSchema) -> Vec<(String, TypedExpr)> {
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
        kinds.map(move |kind| (name(kind), TypedExpr::part(column, kind)))
    });
    std::iter::once(time).chain(parts).collect()
}

/// The output columns that GROUP BY, HAVING and ORDER BY can use by name.
fn aliases(selected: &[Selected]) -> Vec<(String, TypedExpr)> {
    let aliased = selected.iter().filter(|output| output.aliased);
    aliased.map(|output| (output.name.clone(), output.bound.clone())).collect()
}
