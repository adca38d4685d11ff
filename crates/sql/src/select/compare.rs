//! COMPARE: each aggregate over two sides, as columns beside each other.
//!
//! A side is a condition on rows, which every aggregate gets as a FILTER. So both sides, their
//! difference and the percentage are outputs like any other, and groups can be sorted by each.

use hadal_query::{Function, RowExpr, Type};
use hadal_types::{Value, limits};

use crate::bind::aggregate::{filtered, row_expr};
use crate::bind::bound_expr::TypedExpr;
use crate::bind::{Aggregates, Binder};
use crate::error::{LocatedError, Read};
use crate::select::selected::Selected;
use crate::syntax::select_ast::CompareAst;
use crate::syntax::source_position::place;

/// A query's columns with both sides of its aggregates.
pub(crate) struct Compared {
    pub(crate) columns: Vec<Selected>,
    /// For each column as it was written, its index in `columns`.
    pub(crate) written: Vec<usize>,
    /// The condition of rows that are on either side.
    pub(crate) rows: Option<RowExpr>,
}

/// The selected columns of a comparison, and the condition of rows that are on either side. For a
/// column `x` with an aggregate there are `x`, over the first side, and `x_baseline`, over the
/// other one; of numbers also `x_difference` and `x_percent`.
pub(crate) fn compared(
    binder: &mut Binder<'_>,
    compare: &CompareAst,
    selected: Vec<Selected>,
) -> Read<Compared> {
    binder.aggregates = Aggregates::NotIn("COMPARE");
    let first = binder.bind_truth(&compare.condition)?;
    row_expr(&first).map_err(|error| error.or_at(place(&compare.condition)))?;
    let (baseline, rows) = match &compare.against {
        Some(against) => {
            let baseline = binder.bind_truth(against)?;
            let either = [binder.copy(&first)?, binder.copy(&baseline)?];
            let either = TypedExpr::call(Function::Or, either, Type::Bool);
            (baseline, Some(row_expr(&either)?))
        }
        None => (rest(binder.copy(&first)?), None),
    };
    binder.aggregates = Aggregates::Allowed;
    if !selected.iter().any(|column| column.bound.has_aggregate()) {
        return Err(LocatedError::new("COMPARE is for aggregates, and there is none", compare.at)
            .hint("SELECT service, count(*) AS n … GROUP BY service COMPARE (…) AGAINST REST"));
    }
    let mut columns = Vec::with_capacity(4 * selected.len());
    let mut written = Vec::with_capacity(selected.len());
    for column in selected {
        written.push(columns.len());
        match column.bound.has_aggregate() {
            true => add_sides(binder, column, (&first, &baseline), &mut columns)?,
            false => columns.push(column),
        }
    }
    if columns.len() > limits::OUTPUTS_MAX {
        let (count, most) = (columns.len(), limits::OUTPUTS_MAX);
        let message = format!("{count} output columns; at most {most} are allowed");
        return Err(LocatedError::new(message, compare.at));
    }
    Ok(Compared { columns, written, rows })
}

/// The rows for which a condition is false or null.
fn rest(condition: TypedExpr) -> TypedExpr {
    let no = TypedExpr::literal(Value::Bool(false));
    let certain = TypedExpr::call(Function::Coalesce, [condition, no], Type::Bool);
    TypedExpr::call(Function::Not, [certain], Type::Bool)
}

fn add_sides(
    binder: &mut Binder<'_>,
    column: Selected,
    (first, baseline): (&TypedExpr, &TypedExpr),
    columns: &mut Vec<Selected>,
) -> Read<()> {
    let Selected { name, bound, of_star, at, .. } = column;
    let whole = binder.copy(&bound)?;
    let first = filtered(binder, bound, first).map_err(|error| error.or_at(at))?;
    let baseline = filtered(binder, whole, baseline).map_err(|error| error.or_at(at))?;
    // Names by which the query can sort, also without AS.
    let mut add = |name: String, bound: TypedExpr| {
        columns.push(Selected { name, bound, aliased: true, of_star, at });
    };
    if first.value_type != Type::Number {
        add(name.clone(), first);
        add(format!("{name}_baseline"), baseline);
        return Ok(());
    }
    let both = |binder: &mut Binder<'_>| Ok([binder.copy(&first)?, binder.copy(&baseline)?]);
    let difference = TypedExpr::call(Function::Subtract, both(binder)?, Type::Number);
    let hundred = TypedExpr::literal(Value::integer(100));
    let times = [hundred, binder.copy(&difference)?];
    let times = TypedExpr::call(Function::Multiply, times, Type::Number);
    let percent = [times, binder.copy(&baseline)?];
    let percent = TypedExpr::call(Function::Divide, percent, Type::Number);
    add(name.clone(), first);
    add(format!("{name}_baseline"), baseline);
    add(format!("{name}_difference"), difference);
    add(format!("{name}_percent"), percent);
    Ok(())
}
