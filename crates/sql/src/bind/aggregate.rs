//! Aggregates: the state that each is finished from, and its argument.
//!
//! Aggregates with the same state of the same argument share one measure. `sum(x)`, `avg(x)` and
//! `count(x)` share one measure of moments; all percentiles of x share one measure of quantiles.

use hadal_query::{AggregateFunction, Function, Measure, RowExpr, RowInput, Type};
use hadal_types::Value;
use sqlparser::ast::{self, DuplicateTreatment, Expr, FunctionArg, FunctionArgExpr, OrderBySort};

use crate::bind::aggregate_kind::Kind;
use crate::bind::aggregate_parameter::{Second, base, buckets, edges, top_values};
use crate::bind::arithmetic;
use crate::bind::bound_expr::{Aggregate, BoundExpr, Leaf, TypedExpr};
use crate::bind::quantile::{Rank, millionths};
use crate::bind::scope::a;
use crate::bind::{Aggregates, Binder};
use crate::error::{LocatedError, NOWHERE, Read};
use crate::syntax::source_position::{place, place_of_name};

/// The function's name in lower case.
pub(crate) fn name_of(function: &ast::Function) -> String {
    function.name.to_string().to_ascii_lowercase()
}

/// Binds an aggregate call.
pub(crate) fn bind(
    binder: &mut Binder<'_>,
    kind: Kind,
    function: &ast::Function,
) -> Read<TypedExpr> {
    let name = name_of(function);
    let at = place_of_name(&function.name);
    if let Kind::Per(seconds) = kind {
        return per(binder, seconds, function, &name);
    }
    binder.allow_aggregate(&name, at)?;
    let kind = distinct(kind, function, &name)?;
    let condition = match &function.filter {
        Some(filter) => Some(inside(binder, |binder| binder.bind_truth(filter))?),
        None => None,
    };
    if let Kind::WithinGroup(rank) = kind {
        return within_group(binder, rank, function, condition);
    }
    if !function.within_group.is_empty() {
        return Err(LocatedError::new(format!("{name} takes no WITHIN GROUP"), at));
    }
    if let Kind::Two(finish) = kind {
        return pair(binder, finish, function, condition);
    }
    of_one(binder, kind, function, condition).map_err(|error| error.or_at(at))
}

/// Binds an aggregate of one value, which may have a constant beside it.
fn of_one(
    binder: &mut Binder<'_>,
    kind: Kind,
    function: &ast::Function,
    condition: Option<TypedExpr>,
) -> Read<TypedExpr> {
    let name = name_of(function);
    let Some(argument) = argument(function, &name)? else {
        return match kind {
            Kind::Count | Kind::RawCount => rows(kind, condition),
            _ => Err(LocatedError::new(format!("{name} takes an expression, not *"), NOWHERE)),
        };
    };
    let value = inside(binder, |binder| binder.bind(argument))?;
    let second = second(function, &name)?;
    if let (Kind::Histogram, Some(Expr::Array(array))) = (kind, second) {
        let finish = AggregateFunction::EdgeHistogram;
        let value = fitting(&name, finish, value).map_err(|error| error.or_at(place(argument)))?;
        let edges = inside(binder, |binder| edges(binder, array))?;
        return measure(finish, where_true(value, condition), Some(edges));
    }
    if second.is_some() && !kind.has_parameter() {
        return Err(LocatedError::new(format!("{name} takes one argument"), NOWHERE));
    }
    let second = match second {
        Some(expr) => Some((inside(binder, |binder| binder.bind(expr))?, place(expr))),
        None => None,
    };
    let number = second.as_ref().map(|(bound, at)| (bound.as_number(), *at));
    let finish = match kind {
        Kind::AnyValue => {
            return measure(AggregateFunction::Min, where_true(value, condition), None);
        }
        Kind::ByTime(finish) => {
            let time = TypedExpr::input(RowInput::Time);
            return measure(finish, where_true(value, condition), Some(time));
        }
        kind => finish(kind, number)?,
    };
    // A constant other than null has a value in every row.
    if matches!(kind, Kind::Count | Kind::RawCount) && counts_rows(&value) {
        return rows(kind, condition);
    }
    measured(&name, finish, value, condition).map_err(|error| error.or_at(place(argument)))
}

fn counts_rows(value: &TypedExpr) -> bool {
    value.as_literal().is_some_and(|value| !value.is_null())
}

/// Binds the arguments of an aggregate.
pub(crate) fn inside<T>(
    binder: &mut Binder<'_>,
    bind: impl FnOnce(&mut Binder<'_>) -> Read<T>,
) -> Read<T> {
    let before = std::mem::replace(&mut binder.aggregates, Aggregates::Inside);
    let bound = bind(binder);
    binder.aggregates = before;
    bound
}

/// Applies `count(DISTINCT x)`; DISTINCT changes nothing for min and max.
fn distinct(kind: Kind, function: &ast::Function, name: &str) -> Read<Kind> {
    let ast::FunctionArguments::List(list) = &function.args else { return Ok(kind) };
    match (list.duplicate_treatment, kind) {
        (None | Some(DuplicateTreatment::All), _) => Ok(kind),
        (Some(_), Kind::Count | Kind::Distinct) => Ok(Kind::Distinct),
        (Some(_), Kind::Min | Kind::Max) => Ok(kind),
        (Some(_), _) => {
            let error = LocatedError::new(format!("{name} takes no DISTINCT"), NOWHERE);
            Err(error.hint(match kind {
                Kind::Sum | Kind::Avg => {
                    "SELECT x … GROUP BY x gives each value once, to be added up elsewhere; \
                     count(DISTINCT x) counts different values"
                }
                _ => "count(DISTINCT x) counts different values",
            }))
        }
    }
}

/// The first argument; `None` for `*`.
fn argument<'f>(function: &'f ast::Function, name: &str) -> Read<Option<&'f Expr>> {
    let missing = || LocatedError::new(format!("{name} takes an argument"), NOWHERE);
    let ast::FunctionArguments::List(list) = &function.args else { return Err(missing()) };
    match list.args.first() {
        Some(FunctionArg::Unnamed(FunctionArgExpr::Wildcard)) if list.args.len() == 1 => Ok(None),
        Some(FunctionArg::Unnamed(FunctionArgExpr::Expr(expr))) => Ok(Some(expr)),
        Some(_) => Err(LocatedError::new(format!("{name} takes expressions"), NOWHERE)),
        None => Err(missing()),
    }
}

/// The second argument, if any.
fn second<'f>(function: &'f ast::Function, name: &str) -> Read<Option<&'f Expr>> {
    let ast::FunctionArguments::List(list) = &function.args else { return Ok(None) };
    match list.args.get(1) {
        None => Ok(None),
        Some(FunctionArg::Unnamed(FunctionArgExpr::Expr(expr))) if list.args.len() == 2 => {
            Ok(Some(expr))
        }
        Some(_) => Err(LocatedError::new(format!("too many arguments for {name}"), NOWHERE)),
    }
}

fn finish(kind: Kind, second: Second) -> Read<AggregateFunction> {
    Ok(match kind {
        Kind::Count => AggregateFunction::Count,
        Kind::RawCount => AggregateFunction::RawCount,
        Kind::Distinct => AggregateFunction::Distinct,
        Kind::Sum => AggregateFunction::Sum,
        Kind::Avg => AggregateFunction::Avg,
        Kind::Min => AggregateFunction::Min,
        Kind::Max => AggregateFunction::Max,
        Kind::Quantile(millionths) => AggregateFunction::QuantileCont(millionths),
        Kind::QuantileOf(rank, most) => {
            let (number, at) = second.unwrap_or((None, NOWHERE));
            rank.quantile(millionths(number, most).map_err(|error| error.or_at(at))?)
        }
        Kind::Histogram => AggregateFunction::Histogram(buckets(second)?),
        Kind::LogHistogram => AggregateFunction::LogHistogram(base(second)?),
        Kind::TopValues => AggregateFunction::TopValues(top_values(second)?),
        Kind::One(finish) => finish,
        Kind::Two(_) | Kind::ByTime(_) | Kind::AnyValue | Kind::WithinGroup(_) | Kind::Per(_) => {
            return Err(LocatedError::new("not an aggregate of one argument", NOWHERE));
        }
    })
}

/// Counts rows; with a condition, those for which it is true.
fn rows(kind: Kind, condition: Option<TypedExpr>) -> Read<TypedExpr> {
    let finish =
        if kind == Kind::Count { AggregateFunction::Count } else { AggregateFunction::RawCount };
    match condition {
        None if kind == Kind::Count => Ok(TypedExpr::aggregate(Aggregate::Count, Type::Number)),
        None => Ok(TypedExpr::aggregate(Aggregate::RawCount, Type::Number)),
        Some(condition) => {
            let one = TypedExpr::whole(1);
            measure(finish, where_true(one, Some(condition)), None)
        }
    }
}

/// Aggregates a value, over the rows where the condition is true.
fn measured(
    name: &str,
    finish: AggregateFunction,
    value: TypedExpr,
    condition: Option<TypedExpr>,
) -> Read<TypedExpr> {
    measure(finish, where_true(fitting(name, finish, value)?, condition), None)
}

/// The value where the condition is true, and null elsewhere.
pub(crate) fn where_true(value: TypedExpr, condition: Option<TypedExpr>) -> TypedExpr {
    let Some(condition) = condition else { return value };
    let value_type = value.value_type;
    TypedExpr::call(Function::Case, [condition, value], value_type)
}

/// Aggregates pairs of values: `corr(y, x)`.
fn pair(
    binder: &mut Binder<'_>,
    finish: AggregateFunction,
    function: &ast::Function,
    condition: Option<TypedExpr>,
) -> Read<TypedExpr> {
    let name = name_of(function);
    let (Some(left), Some(right)) = (argument(function, &name)?, second(function, &name)?) else {
        return Err(LocatedError::new(format!("{name} takes two arguments"), NOWHERE));
    };
    let mut bind = |expr| {
        let value = inside(binder, |binder| binder.bind(expr))?;
        fitting(&name, finish, value).map_err(|error| error.or_at(place(expr)))
    };
    let (value, other) = (bind(left)?, bind(right)?);
    measure(finish, where_true(value, condition), Some(other))
}

/// Checks the aggregated value, and converts it to a number if the aggregate needs one.
fn fitting(name: &str, finish: AggregateFunction, value: TypedExpr) -> Read<TypedExpr> {
    match finish {
        AggregateFunction::Sum
        | AggregateFunction::Avg
        | AggregateFunction::Quantile(_)
        | AggregateFunction::QuantileCont(_)
        | AggregateFunction::VarPop
        | AggregateFunction::VarSamp
        | AggregateFunction::StddevPop
        | AggregateFunction::StddevSamp
        | AggregateFunction::CovarPop
        | AggregateFunction::CovarSamp
        | AggregateFunction::Corr
        | AggregateFunction::RegrSlope
        | AggregateFunction::RegrIntercept
        | AggregateFunction::LogHistogram(_)
        | AggregateFunction::EdgeHistogram
        | AggregateFunction::Histogram(_) => arithmetic::number(value, NOWHERE),
        // Counting needs no value, so values other than numbers are replaced by 1.
        AggregateFunction::Count | AggregateFunction::RawCount => Ok(match value.value_type {
            Type::Number | Type::Null => value,
            Type::Bool => value.into_number(),
            _ => {
                let there = TypedExpr::call(Function::IsNull, [value], Type::Bool).negated();
                TypedExpr::call(Function::Case, [there, TypedExpr::whole(1)], Type::Number)
            }
        }),
        AggregateFunction::Min | AggregateFunction::Max => match value.value_type {
            Type::Set | Type::Vector => {
                Err(LocatedError::new(format!("{name} of {}", a(value.value_type)), NOWHERE)
                    .hint("min and max take numbers, strings, times and bools"))
            }
            _ => Ok(value),
        },
        AggregateFunction::Distinct
        | AggregateFunction::TopValues(_)
        | AggregateFunction::ArgMin
        | AggregateFunction::ArgMax
        | AggregateFunction::User(_) => Ok(value),
    }
}

fn measure(
    finish: AggregateFunction,
    value: TypedExpr,
    other: Option<TypedExpr>,
) -> Read<TypedExpr> {
    let value_type = match finish {
        AggregateFunction::Min
        | AggregateFunction::Max
        | AggregateFunction::ArgMin
        | AggregateFunction::ArgMax => value.value_type,
        AggregateFunction::Histogram(_)
        | AggregateFunction::LogHistogram(_)
        | AggregateFunction::EdgeHistogram => Type::Histogram,
        AggregateFunction::TopValues(_) => Type::Vector,
        _ => Type::Number,
    };
    let argument = row_expr(&value)?;
    let second = other.as_ref().map(row_expr).transpose()?;
    let measure = Measure { second, ..Measure::new(finish.state(), argument) };
    Ok(TypedExpr::aggregate(Aggregate::Of(measure, finish), value_type))
}

/// Converts to an expression over rows; fails if it contains an aggregate.
pub(crate) fn row_expr(bound: &TypedExpr) -> Read<RowExpr> {
    bound.expr.try_map_leaves(&mut |leaf| match leaf {
        Leaf::RowInput(input) => Ok(RowExpr::Leaf(input.clone())),
        Leaf::Aggregate(_) => {
            Err(LocatedError::new("an aggregate cannot stand among raw rows", NOWHERE)
                .hint("add GROUP BY"))
        }
    })
}

/// `percentile_cont(0.95) WITHIN GROUP (ORDER BY x)`.
fn within_group(
    binder: &mut Binder<'_>,
    rank: Rank,
    function: &ast::Function,
    condition: Option<TypedExpr>,
) -> Read<TypedExpr> {
    let name = name_of(function);
    let [order] = function.within_group.as_slice() else {
        return Err(LocatedError::new(format!("{name} needs WITHIN GROUP (ORDER BY x)"), NOWHERE)
            .hint("or write percentile(x, 95)"));
    };
    let Some(share) = argument(function, &name)? else {
        return Err(LocatedError::new(format!("{name} takes a number between 0 and 1"), NOWHERE));
    };
    let number = inside(binder, |binder| binder.bind(share))?.as_number();
    let share = millionths(number, 1).map_err(|error| error.or_at(place(share)))?;
    let share = match order.options.sort {
        Some(OrderBySort::Desc) => 1_000_000 - share,
        _ => share,
    };
    if second(function, &name)?.is_some() {
        return Err(LocatedError::new(format!("{name} takes one argument"), NOWHERE));
    }
    let value = inside(binder, |binder| binder.bind(&order.expr))?;
    measured(&name, rank.quantile(share), value, condition)
        .map_err(|error| error.or_at(place(&order.expr)))
}

/// The same expression of aggregates, each over the rows where the condition is true.
pub(crate) fn filtered(
    binder: &mut Binder<'_>,
    amount: TypedExpr,
    condition: &TypedExpr,
) -> Read<TypedExpr> {
    let expr = amount.expr.try_map_leaves(&mut |leaf| {
        let Leaf::Aggregate(aggregate) = leaf else { return Ok(BoundExpr::Leaf(leaf.clone())) };
        let mut rows_where = |kind| {
            let condition = binder.copy(condition)?;
            Ok::<BoundExpr, LocatedError>(rows(kind, Some(condition))?.expr)
        };
        match aggregate {
            Aggregate::Count => rows_where(Kind::Count),
            Aggregate::RawCount => rows_where(Kind::RawCount),
            Aggregate::Seconds => Ok(BoundExpr::Leaf(leaf.clone())),
            Aggregate::Of(measure, finish) => {
                let condition = row_expr(&binder.copy(condition)?)?;
                let argument = [condition, measure.argument.clone()];
                let argument = RowExpr::call(Function::Case, argument);
                let measure = Measure { argument, ..measure.clone() };
                Ok(BoundExpr::Leaf(Leaf::Aggregate(Aggregate::Of(measure, *finish))))
            }
        }
    });
    Ok(TypedExpr { expr: expr?, ..amount })
}

/// `per_minute(sum(x))`.
fn per(
    binder: &mut Binder<'_>,
    seconds: i64,
    function: &ast::Function,
    name: &str,
) -> Read<TypedExpr> {
    let Some(argument) = argument(function, name)? else {
        return Err(LocatedError::new(format!("{name} takes an aggregate"), NOWHERE)
            .hint(format!("{name}(count(*))")));
    };
    binder.allow_aggregate(name, NOWHERE)?;
    let amount = arithmetic::number(binder.bind(argument)?, place(argument))?;
    if !amount.has_aggregate() {
        return Err(LocatedError::new(format!("{name} takes an aggregate"), place(argument))
            .hint(format!("{name}(count(*)) or {name}(sum(x))")));
    }
    let amount = match &function.filter {
        Some(filter) => {
            let condition = inside(binder, |binder| binder.bind_truth(filter))?;
            filtered(binder, amount, &condition)?
        }
        None => amount,
    };
    let amount = match seconds {
        1 => amount,
        _ => TypedExpr::call(
            Function::Multiply,
            [amount, TypedExpr::literal(Value::integer(seconds))],
            Type::Number,
        ),
    };
    let range = TypedExpr::aggregate(Aggregate::Seconds, Type::Number);
    Ok(TypedExpr::call(Function::Divide, [amount, range], Type::Number))
}
