//! The time bucket among a query's keys.

use hadal_types::{Micros, TimeRange, Value};

use crate::calendar::CalendarFunction;
use crate::calendar_buckets::CalendarBuckets;
use crate::expr::{Expr, RowExpr, RowInput};
use crate::function::Function;

/// The time buckets by which a query groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TimeBuckets {
    /// Buckets of this many microseconds.
    Fixed(i64),
    /// Buckets whose lengths differ.
    Calendar(CalendarBuckets),
}

impl TimeBuckets {
    /// The time range of the bucket that starts at `from`.
    #[must_use]
    pub fn range(&self, from: Micros) -> TimeRange {
        let to = match self {
            Self::Fixed(width) => Micros(from.0.saturating_add(*width)),
            Self::Calendar(buckets) => buckets.end(from),
        };
        TimeRange { from: Some(from), to: Some(to) }
    }

    /// The microseconds that every bucket has at least.
    #[must_use]
    pub fn micros_min(&self) -> i64 {
        match self {
            Self::Fixed(width) => *width,
            Self::Calendar(buckets) => buckets.micros_min(),
        }
    }
}

/// The buckets, if `expr` is a time bucket of the row's time.
#[must_use]
pub fn time_buckets(expr: &RowExpr) -> Option<TimeBuckets> {
    let Expr::Call { function, arguments } = expr else { return None };
    let (Expr::Leaf(RowInput::Time), rest) = arguments.split_first()? else { return None };
    match (function, rest) {
        (Function::TimeBucket, [Expr::Literal(Value::Number(width)), ..]) => {
            width.to_i64().map(TimeBuckets::Fixed)
        }
        (Function::Calendar(CalendarFunction::Bucket), rest) => {
            let literal = |expr: &RowExpr| match expr {
                Expr::Literal(value) => Some(value.clone()),
                _ => None,
            };
            let arguments: Vec<Value> = rest.iter().map(literal).collect::<Option<_>>()?;
            CalendarBuckets::of_arguments(&arguments).map(TimeBuckets::Calendar)
        }
        _ => None,
    }
}
