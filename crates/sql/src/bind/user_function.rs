//! Calls of functions that people defined.

use std::sync::Arc;

use hadal_query::{AggregateFunction, AggregateUdf, Expr, Function, Measure, ScalarUdf, Type};
use hadal_types::{FunctionDefinition, FunctionType};
use sqlparser::ast;
use sqlparser::tokenizer::Location;

use crate::bind::aggregate::{inside, row_expr, where_true};
use crate::bind::bound_expr::{Aggregate, TypedExpr};
use crate::bind::call::Call;
use crate::bind::{Binder, arguments, arithmetic, truth};
use crate::error::{LocatedError, Read};
use crate::syntax::source_position::place;

/// Binds a call. It is never folded: the function runs beside rows only.
pub(crate) fn bind(
    binder: &mut Binder<'_>,
    function: Arc<dyn ScalarUdf>,
    call: &Call<'_>,
    bound: Vec<TypedExpr>,
) -> Read<TypedExpr> {
    let Some(definition) = function.definition().map(Arc::clone) else {
        return Err(LocatedError::new(format!("{} has no definition", call.name), call.at));
    };
    let arguments = fitting(&definition, call, bound)?;
    let arguments = arguments.into_iter().map(|argument| argument.expr).collect();
    let id = binder.functions.add_scalar(function);
    let expr = Expr::Call { function: Function::User(id), arguments };
    Ok(TypedExpr::new(expr, Type::from(definition.returns)))
}

/// Binds a call of an aggregate that somebody defined: of one value or two.
pub(crate) fn bind_aggregate(
    binder: &mut Binder<'_>,
    aggregate: Arc<dyn AggregateUdf>,
    (name, at): (&str, Location),
    function: &ast::Function,
) -> Read<TypedExpr> {
    binder.allow_aggregate(name, at)?;
    let Some(definition) = aggregate.definition().map(Arc::clone) else {
        return Err(LocatedError::new(format!("{name} has no definition"), at));
    };
    if !function.within_group.is_empty() {
        return Err(LocatedError::new(format!("{name} takes no WITHIN GROUP"), at));
    }
    let exprs = arguments(function)?;
    let places = exprs.iter().map(|expr| place(expr)).collect();
    let call = Call { name, at, places };
    let (condition, bound) = inside(binder, |binder| {
        let filter = function.filter.as_ref().map(|filter| binder.bind_truth(filter));
        let bound = exprs.iter().map(|expr| binder.bind(expr)).collect::<Read<Vec<_>>>()?;
        Ok((filter.transpose()?, bound))
    })?;
    let mut values = fitting(&definition, &call, bound)?.into_iter();
    let (value, second) = (values.next(), values.next());
    let value = value.unwrap_or_else(|| TypedExpr::whole(1));
    let id = binder.functions.add_aggregate(aggregate);
    let finish = AggregateFunction::User(id);
    let argument = row_expr(&where_true(value, condition))?;
    let second = second.as_ref().map(row_expr).transpose()?;
    let measure = Measure { second, ..Measure::new(finish.state(), argument) };
    let aggregate = Aggregate::Of(measure, finish);
    Ok(TypedExpr::aggregate(aggregate, Type::from(definition.returns)))
}

/// The arguments, checked and converted to the types of the parameters.
fn fitting(
    definition: &FunctionDefinition,
    call: &Call<'_>,
    bound: Vec<TypedExpr>,
) -> Read<Vec<TypedExpr>> {
    let (expected, given) = (definition.parameters.len(), bound.len());
    if expected != given {
        let plural = if expected == 1 { "" } else { "s" };
        let message = format!("{} takes {expected} argument{plural}, not {given}", call.name);
        return Err(LocatedError::new(message, call.at));
    }
    let types = definition.parameters.iter().map(|parameter| parameter.value_type);
    bound
        .into_iter()
        .zip(types)
        .enumerate()
        .map(|(index, (value, value_type))| match value_type {
            FunctionType::Number => arithmetic::number(value, call.place(index)),
            FunctionType::String => call.string(value, index),
            FunctionType::Bool => truth(value, call.place(index)),
        })
        .collect()
}
