//! The aggregates of a query, and the states that they are finished from.

use crate::udf::AggregateId;

/// The kind of a group's state. States merge, and several aggregates can be finished from one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum StateKind {
    /// n, Σw, Σw², Σwx.
    Moments,
    /// The smallest and the largest value.
    MinMax,
    /// A sketch of the distribution of numbers.
    Quantiles,
    /// A sketch of the set of values.
    Distinct,
    /// The state of a histogram of at most this many buckets; from 1 to
    /// [`hadal_types::limits::HISTOGRAM_BUCKETS_MAX`].
    Histogram(u16),
    /// The state of a user aggregate of the query's [`crate::FunctionRegistry`].
    User(AggregateId),
}

/// An aggregate that is finished from a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AggregateFunction {
    /// Σw, from moments.
    Count,
    /// n, from moments.
    RawCount,
    /// Σwx, from moments; null without values.
    Sum,
    /// Σwx / Σw, from moments; null without values.
    Avg,
    /// From min and max; null without values.
    Min,
    /// From min and max; null without values.
    Max,
    /// The smallest value such that this many millionths of the weight are at or below it, from
    /// quantiles: PostgreSQL's `percentile_disc`.
    Quantile(u32),
    /// The value at this many millionths of the way from the first to the last event, interpolated
    /// between the two events around it, from quantiles: PostgreSQL's `percentile_cont`.
    QuantileCont(u32),
    /// A histogram of at most this many buckets, from the state for the same maximum.
    Histogram(u16),
    /// The number of different values, from distinct. A row counts once, whatever its weight.
    Distinct,
    /// A user aggregate; null without values.
    User(AggregateId),
}

impl AggregateFunction {
    /// The state that the aggregate is finished from.
    #[must_use]
    pub const fn state(self) -> StateKind {
        match self {
            Self::Count | Self::RawCount | Self::Sum | Self::Avg => StateKind::Moments,
            Self::Min | Self::Max => StateKind::MinMax,
            Self::Quantile(_) | Self::QuantileCont(_) => StateKind::Quantiles,
            Self::Distinct => StateKind::Distinct,
            Self::Histogram(buckets) => StateKind::Histogram(buckets),
            Self::User(id) => StateKind::User(id),
        }
    }
}
