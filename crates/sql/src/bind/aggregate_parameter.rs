//! The constant second arguments of aggregates.

use hadal_types::value::HistogramBucket;
use hadal_types::{Number, Value, limits};
use sqlparser::ast;
use sqlparser::tokenizer::Location;

use crate::bind::Binder;
use crate::bind::bound_expr::TypedExpr;
use crate::error::{LocatedError, NOWHERE, Read};
use crate::syntax::source_position::place;

/// The number of a second argument, if it is a constant number, and its position.
pub(crate) type Second = Option<(Option<Number>, Location)>;

/// The number of buckets of a histogram that does not give one.
const HISTOGRAM_BUCKETS: u16 = 20;
/// The base of a histogram of powers that does not give one.
const HISTOGRAM_BASE: u16 = 10;
/// The number of values of a `top_k` that does not give one.
const TOP_VALUES: u16 = 10;

/// The number of buckets of a histogram.
pub(crate) fn buckets(second: Second) -> Read<u16> {
    let Some((number, at)) = second else { return Ok(HISTOGRAM_BUCKETS) };
    let count = number.and_then(Number::to_i64).and_then(|count| u16::try_from(count).ok());
    let most = limits::HISTOGRAM_BUCKETS_MAX;
    count
        .filter(|count| (1..=most).contains(count))
        .ok_or_else(|| LocatedError::new(format!("a histogram has 1 to {most} buckets"), at))
}

/// The number whose powers are the edges of a histogram.
pub(crate) fn base(second: Second) -> Read<u16> {
    let Some((number, at)) = second else { return Ok(HISTOGRAM_BASE) };
    let base = number.and_then(Number::to_i64).and_then(|base| u16::try_from(base).ok());
    let most = limits::HISTOGRAM_BASE_MAX;
    base.filter(|base| (2..=most).contains(base)).ok_or_else(|| {
        LocatedError::new(format!("the base of a histogram is a whole number from 2 to {most}"), at)
    })
}

/// The edges of a histogram, as a histogram without values.
pub(crate) fn edges(binder: &mut Binder<'_>, array: &ast::Array) -> Read<TypedExpr> {
    let refuse = |at| {
        LocatedError::new("edges of a histogram are ascending numbers, two or more", at)
            .hint("histogram(x, ARRAY[0, 10, 100])")
    };
    let mut edges: Vec<Number> = Vec::with_capacity(array.elem.len());
    for expr in &array.elem {
        let edge = binder.bind(expr)?.as_number();
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

/// The number of values of a `top_k`.
pub(crate) fn top_values(second: Second) -> Read<u16> {
    let Some((number, at)) = second else { return Ok(TOP_VALUES) };
    let count = number.and_then(Number::to_i64).and_then(|count| u16::try_from(count).ok());
    let most = limits::TOP_VALUES_MAX;
    count
        .filter(|count| (1..=most).contains(count))
        .ok_or_else(|| LocatedError::new(format!("top_k has 1 to {most} values"), at))
}
