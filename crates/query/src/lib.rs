//! The one immutable [`Query`]. SQL, the page, the JSON API and clients all lower to it, and the
//! engine sees nothing else. [`Prepared`] defines the meaning of its expressions, one row at a
//! time.
//!
//! This is floor 1. Nothing here knows SQL text, a row block or a partial result.

mod aggregate_function;
mod evaluator;
mod expr;
mod function;
mod list_predicates;
mod pattern;
mod query;
mod scalar_functions;
mod string_limit;
mod udf;

pub use aggregate_function::{AggregateFunction, StateKind};
pub use evaluator::{PrepareError, Prepared, contains_text};
pub use expr::{ColumnRef, Expr, GroupInput, OutputExpr, RowExpr, RowInput, Type};
pub use function::{Function, TimeField};
pub use pattern::{Pattern, PatternError, PatternSyntax};
pub use query::{
    Measure, OrderKey, Output, Query, QueryKind, SentGroups, SeriesLimit, time_bucket_width,
};
pub use scalar_functions::eval_scalar;
pub use string_limit::StringTooLong;
pub use udf::{
    AggregateId, AggregateUdf, EvalError, FunctionId, FunctionRegistry, ScalarUdf, UdfError,
    UdfState, call_udf,
};
