//! The names of aggregates.

use hadal_query::AggregateFunction;

use crate::bind::quantile::{Rank, percentile_name};

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
pub(crate) const NAMES: [&str; 24] = [
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
    "per_hour",
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

impl Kind {
    /// Whether a constant may stand beside the value.
    pub(crate) const fn has_parameter(self) -> bool {
        matches!(
            self,
            Self::QuantileOf(..) | Self::Histogram | Self::LogHistogram | Self::TopValues
        )
    }
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
        "per_hour" => Kind::Per(3_600),
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
