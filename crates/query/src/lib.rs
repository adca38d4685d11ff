//! The one immutable [`Query`]: SQL, the page, the JSON API and clients all lower to it, and
//! the engine sees nothing else. Also what its expressions mean, one row at a time ([`Prepared`]).
//!
//! This is floor 1. Nothing here knows SQL text, a row block or a partial answer.

mod computed;
mod eval;
mod expr;
mod function;
mod lists;
mod pattern;
mod query;
mod scalar;

pub use computed::StringTooLong;
pub use eval::{PrepareError, Prepared, contains_text};
pub use expr::{ColumnRef, Expr, Input, OutputExpr, RowExpr, Slot, Type};
pub use function::{Function, TimeField};
pub use pattern::{Pattern, PatternError, Syntax};
pub use query::{
    Finish, Measure, OrderKey, Output, Query, SeriesLimit, Shape, StateKind, time_bucket_width,
};
pub use scalar::call;
