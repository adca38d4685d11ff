//! Aggregates: the state that each is finished from, and its argument.
//!
//! Aggregates with the same state of the same argument share one measure. `sum(x)`, `avg(x)` and
//! `count(x)` share one measure of moments; all percentiles of x share one measure of quantiles.

use hadal_query::{AggregateFunction, Function, Measure, RowExpr, RowInput, Type};
use hadal_types::value::HistogramBucket;
use hadal_types::{Number, Value, limits};
use sqlparser::ast::{self, DuplicateTreatment, Expr, FunctionArg, FunctionArgExpr, OrderBySort};

use crate::bind::arithmetic;
use crate::bind::bound_expr::{Aggregate, Leaf, TypedExpr};
use crate::bind::quantile::{Rank, millionths, percentile_name};
use crate::bind::scope::a;
use crate::bind::{Aggregates, Binder};
use crate::error::{LocatedError, NOWHERE, Read};
use crate::syntax::source_position::{place, place_of_name};

/// The function of an aggregate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Count,
    RawCount,
    Distinct,
    Sum,
    Avg,
    Min,
    Max,
    /// An interpolated quantile in millionths.
    Quantile(u32),
    /// The quantile of the second argument, as a share of this number.
    QuantileOf(Rank, i64),
    /// The quantile of the first argument, over the sort expression of WITHIN GROUP.
    WithinGroup(Rank),
    Histogram,
    /// A histogram with powers as edges.
    LogHistogram,
    /// The most frequent values.
    TopValues,
    /// A function of one argument.
    One(AggregateFunction),
    /// A function of two arguments.
    Two(AggregateFunction),
    /// A function of one argument and the row's time.
    ByTime(AggregateFunction),
    /// The smallest value, of any type.
    AnyValue,
    /// An expression of aggregates, per this number of seconds.
    Per(i64),
}

/// Names of aggregates, beside those that the list of all functions has.
pub(crate) const NAMES: [&str; 23] = [
    "any_value",
    "approx_top_k",
    "arg_max",
    "arg_min",
    "corr",
    "covar_pop",
    "covar_samp",
    "first",
    "histogram_log",
    "last",
    "max_by",
    "min_by",
    "quantile_cont",
    "quantile_disc",
    "regr_intercept",
    "regr_slope",
    "stddev",
    "stddev_pop",
    "stddev_samp",
    "top_k",
    "var_pop",
    "var_samp",
    "variance",
];

/// The number of buckets of a histogram that does not give one.
const HISTOGRAM_BUCKETS: u16 = 20;
/// The base of a histogram of powers that does not give one.
const HISTOGRAM_BASE: u16 = 10;
/// The number of values of a `top_k` that does not give one.
const TOP_VALUES: u16 = 10;

/// The function's name in lower case.
pub(crate) fn name_of(function: &ast::Function) -> String {
    function.name.to_string().to_ascii_lowercase()
}

/// The aggregate of this name.
pub(crate) fn kind_of(name: &str) -> Option<Kind> {
    Some(match name {
        "count" => Kind::Count,
        "raw_count" => Kind::RawCount,
        "approx_count_distinct" => Kind::Distinct,
        "sum" => Kind::Sum,
        "avg" | "mean" => Kind::Avg,
        "min" => Kind::Min,
        "max" => Kind::Max,
        "median" => Kind::Quantile(500_000),
        "percentile" => Kind::QuantileOf(Rank::Between, 100),
        "quantile" | "quantile_cont" => Kind::QuantileOf(Rank::Between, 1),
        "quantile_disc" => Kind::QuantileOf(Rank::Nearest, 1),
        "percentile_cont" => Kind::WithinGroup(Rank::Between),
        "percentile_disc" => Kind::WithinGroup(Rank::Nearest),
        "histogram" => Kind::Histogram,
        "per_second" => Kind::Per(1),
        "per_minute" => Kind::Per(60),
        "any_value" | "any" => Kind::AnyValue,
        "arg_min" | "argmin" | "min_by" => Kind::Two(AggregateFunction::ArgMin),
        "arg_max" | "argmax" | "max_by" => Kind::Two(AggregateFunction::ArgMax),
        "first" => Kind::ByTime(AggregateFunction::ArgMin),
        "last" => Kind::ByTime(AggregateFunction::ArgMax),
        "histogram_log" => Kind::LogHistogram,
        "top_k" | "approx_top_k" => Kind::TopValues,
        "var_pop" => Kind::One(AggregateFunction::VarPop),
        "var_samp" | "variance" => Kind::One(AggregateFunction::VarSamp),
        "stddev_pop" => Kind::One(AggregateFunction::StddevPop),
        "stddev_samp" | "stddev" => Kind::One(AggregateFunction::StddevSamp),
        "covar_pop" => Kind::Two(AggregateFunction::CovarPop),
        "covar_samp" => Kind::Two(AggregateFunction::CovarSamp),
        "corr" => Kind::Two(AggregateFunction::Corr),
        "regr_slope" => Kind::Two(AggregateFunction::RegrSlope),
        "regr_intercept" => Kind::Two(AggregateFunction::RegrIntercept),
        _ => Kind::Quantile(percentile_name(name)?),
    })
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
    let Some(argument) = argument(function, &name)? else {
        return match kind {
            Kind::Count | Kind::RawCount => rows(kind, condition),
            _ => Err(LocatedError::new(format!("{name} takes an expression, not *"), at)),
        };
    };
    let value = inside(binder, |binder| binder.bind(argument))?;
    let second = second(function, &name)?;
    if let (Kind::Histogram, Some(Expr::Array(array))) = (kind, second) {
        let edges = edges(binder, array)?;
        let value = fitting(&name, AggregateFunction::EdgeHistogram, value);
        let value = value.map_err(|error| error.or_at(place(argument)))?;
        return measure(
            AggregateFunction::EdgeHistogram,
            where_true(value, condition),
            Some(edges),
        );
    }
    if second.is_some()
        && !matches!(
            kind,
            Kind::QuantileOf(..) | Kind::Histogram | Kind::LogHistogram | Kind::TopValues
        )
    {
        return Err(LocatedError::new(format!("{name} takes one argument"), at));
    }
    let second = match second {
        Some(expr) => Some((inside(binder, |binder| binder.bind(expr))?, place(expr))),
        None => None,
    };
    match kind {
        Kind::AnyValue => {
            return measure(AggregateFunction::Min, where_true(value, condition), None);
        }
        Kind::ByTime(finish) => {
            let time = TypedExpr::input(RowInput::Time);
            return measure(finish, where_true(value, condition), Some(time));
        }
        _ => {}
    }
    let number = second.as_ref().map(|(bound, at)| (bound.as_number(), *at));
    let finish = finish(kind, number)?;
    // A constant other than null has a value in every row.
    if matches!(kind, Kind::Count | Kind::RawCount) && counts_rows(&value) {
        return rows(kind, condition);
    }
    measured(&name, finish, value, condition).map_err(|error| error.or_at(place(argument)))
}

fn counts_rows(value: &TypedExpr) -> bool {
    value.as_literal().is_some_and(|value| !value.is_null())
}

fn inside<T>(binder: &mut Binder<'_>, bind: impl FnOnce(&mut Binder<'_>) -> Read<T>) -> Read<T> {
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
        (Some(_), _) => Err(LocatedError::new(format!("{name} takes no DISTINCT"), NOWHERE)
            .hint("count(DISTINCT x) counts different values")),
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

type Second = Option<(Option<Number>, sqlparser::tokenizer::Location)>;

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

fn buckets(second: Second) -> Read<u16> {
    let Some((number, at)) = second else { return Ok(HISTOGRAM_BUCKETS) };
    let count = number.and_then(Number::to_i64).and_then(|count| u16::try_from(count).ok());
    let most = limits::HISTOGRAM_BUCKETS_MAX;
    count
        .filter(|count| (1..=most).contains(count))
        .ok_or_else(|| LocatedError::new(format!("a histogram has 1 to {most} buckets"), at))
}

/// The number whose powers are the edges of a histogram.
fn base(second: Second) -> Read<u16> {
    let Some((number, at)) = second else { return Ok(HISTOGRAM_BASE) };
    let base = number.and_then(Number::to_i64).and_then(|base| u16::try_from(base).ok());
    let most = limits::HISTOGRAM_BASE_MAX;
    base.filter(|base| (2..=most).contains(base)).ok_or_else(|| {
        LocatedError::new(format!("the base of a histogram is a whole number from 2 to {most}"), at)
    })
}

/// The edges of a histogram, as a histogram without values.
fn edges(binder: &mut Binder<'_>, array: &ast::Array) -> Read<TypedExpr> {
    let refuse = |at| {
        LocatedError::new("edges of a histogram are ascending numbers, two or more", at)
            .hint("histogram(x, ARRAY[0, 10, 100])")
    };
    let mut edges: Vec<Number> = Vec::with_capacity(array.elem.len());
    for expr in &array.elem {
        let edge = inside(binder, |binder| binder.bind(expr))?.as_number();
        let edge = edge.filter(|edge| edges.last().is_none_or(|last| last < edge));
        edges.push(edge.ok_or_else(|| refuse(place(expr)))?);
    }
    // A bucket below the edges, and one above them.
    let most = usize::from(limits::HISTOGRAM_BUCKETS_MAX) - 1;
    if edges.len() > most {
        return Err(LocatedError::new(format!("a histogram has at most {most} edges"), NOWHERE));
    }
    if edges.len() < 2 {
        return Err(refuse(NOWHERE));
    }
    let bucket =
        |edges: &[Number]| HistogramBucket { from: edges[0], to: edges[1], count: Number::ZERO };
    Ok(TypedExpr::literal(Value::Histogram(edges.windows(2).map(bucket).collect())))
}

fn top_values(second: Second) -> Read<u16> {
    let Some((number, at)) = second else { return Ok(TOP_VALUES) };
    let count = number.and_then(Number::to_i64).and_then(|count| u16::try_from(count).ok());
    let most = limits::TOP_VALUES_MAX;
    count
        .filter(|count| (1..=most).contains(count))
        .ok_or_else(|| LocatedError::new(format!("top_k has 1 to {most} values"), at))
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
fn where_true(value: TypedExpr, condition: Option<TypedExpr>) -> TypedExpr {
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
    let measure = Measure { kind: finish.state(), argument, second };
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
    if !amount.has_aggregate() || function.filter.is_some() {
        return Err(LocatedError::new(format!("{name} takes an aggregate"), place(argument))
            .hint(format!("{name}(count(*)) or {name}(sum(x))")));
    }
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
