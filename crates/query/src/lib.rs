//! The one immutable [`Query`]. SQL, the page, the JSON API and clients all lower to it, and the
//! engine sees nothing else. [`Prepared`] defines the meaning of its expressions, one row at a
//! time.
//!
//! This is floor 1. Nothing here knows SQL text, a row block or a partial result.

mod aggregate_function;
mod calendar;
mod calendar_buckets;
mod confidence;
mod evaluator;
mod expr;
mod function;
mod list_predicates;
mod math_functions;
mod measure;
mod pattern;
mod query;
mod regexp;
mod scalar_functions;
mod string_limit;
mod text_functions;
mod time_key;
mod time_zone;
mod total;
mod udf;
mod udf_column;
mod url;

pub use aggregate_function::{AggregateFunction, StateKind};
pub use calendar::{CalendarFunction, is_time_format};
pub use calendar_buckets::CalendarBuckets;
pub use confidence::{ConfidencePlan, OutputConfidence, SmoothExpr};
pub use evaluator::{PrepareError, Prepared, contains_text};
pub use expr::{ColumnRef, Expr, GroupInput, OutputExpr, RowExpr, RowInput, Type};
pub use function::{Function, TimeField};
pub use math_functions::MathFunction;
pub use measure::{Measure, Weighting};
pub use pattern::{Pattern, PatternError, PatternSyntax};
pub use query::{OrderKey, Output, Query, QueryKind, SentGroups, SeriesLimit, TimeOrder, Unnested};
pub use regexp::Regexp;
pub use scalar_functions::eval_scalar;
pub use string_limit::StringTooLong;
pub use text_functions::TextFunction;
pub use time_key::{TimeBuckets, time_buckets};
pub use time_zone::TimeZone;
pub use total::{LeafTotal, Total};
pub use udf::{
    AggregateId, AggregateUdf, EvalError, FunctionHost, FunctionId, FunctionRegistry, ScalarUdf,
    UdfCall, UdfError, UdfState, call_udf,
};
pub use udf_column::{UdfColumn, UdfStrings, UdfValues};
