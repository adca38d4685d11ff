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
    /// n, Σw, Σwx, Σwx².
    Variance,
    /// The same of pairs, with Σwy, Σwy² and Σwxy.
    Covariance,
    /// Values beside the smallest and the largest value of the second expression.
    ArgMinMax,
    /// The most frequent values.
    TopValues,
    /// The state of a histogram with the powers of this number, from 2 on, as edges.
    LogHistogram(u16),
    /// The state of a histogram with the edges of the second expression: a constant histogram.
    EdgeHistogram,
    /// n, Σw and Σwx of the rows in random groups of the values of the second expression, for
    /// confidence intervals of tables with a `sample_key`. No aggregate is finished from it.
    RandomGroups,
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
    /// The variance of all events, from variance. A row of weight w counts as w events.
    VarPop,
    /// The variance of a sample: of W events, divided by W − 1. Null unless W is above 1.
    VarSamp,
    /// The square root of [`Self::VarPop`].
    StddevPop,
    /// The square root of [`Self::VarSamp`].
    StddevSamp,
    /// The covariance of all pairs, from covariance.
    CovarPop,
    /// The covariance of a sample of pairs; null unless there is more than one event.
    CovarSamp,
    /// The correlation coefficient, from covariance; null if one side does not vary.
    Corr,
    /// The slope of the least squares line of the first over the second expression, from
    /// covariance; null if the second does not vary.
    RegrSlope,
    /// The value of that line where the second expression is zero.
    RegrIntercept,
    /// The value where the second expression is smallest; of several values the smallest.
    ArgMin,
    /// The value where the second expression is largest; of several values the smallest.
    ArgMax,
    /// This many of the most frequent values with their weights, as a vector of texts; at most
    /// [`hadal_types::limits::TOP_VALUES_MAX`].
    TopValues(u16),
    /// A histogram with the powers of this number as edges.
    LogHistogram(u16),
    /// A histogram with given edges.
    EdgeHistogram,
    /// A user aggregate; null without values.
    User(AggregateId),
}

impl StateKind {
    /// Whether the state accumulates pairs of values ([`crate::Measure::second`]).
    #[must_use]
    pub const fn is_of_pairs(self) -> bool {
        matches!(
            self,
            Self::Covariance | Self::ArgMinMax | Self::EdgeHistogram | Self::RandomGroups
        )
    }

    /// Whether rows may weigh what they add to variances ([`crate::Weighting::SamplingVariance`]).
    #[must_use]
    pub const fn takes_sampling_variances(self) -> bool {
        matches!(self, Self::Variance | Self::Covariance | Self::Quantiles)
    }
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
            Self::VarPop | Self::VarSamp | Self::StddevPop | Self::StddevSamp => {
                StateKind::Variance
            }
            Self::CovarPop
            | Self::CovarSamp
            | Self::Corr
            | Self::RegrSlope
            | Self::RegrIntercept => StateKind::Covariance,
            Self::ArgMin | Self::ArgMax => StateKind::ArgMinMax,
            Self::TopValues(_) => StateKind::TopValues,
            Self::LogHistogram(base) => StateKind::LogHistogram(base),
            Self::EdgeHistogram => StateKind::EdgeHistogram,
            Self::User(id) => StateKind::User(id),
        }
    }
}
