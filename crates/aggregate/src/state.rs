//! The state of a group's values: one per measure.

pub(crate) mod arg_min_max;
pub(crate) mod average;
pub(crate) mod comoments;
pub(crate) mod distinct;
pub(crate) mod edge_histogram;
pub(crate) mod exact_sum;
pub(crate) mod histogram;
pub(crate) mod int256;
pub(crate) mod int384;
pub(crate) mod log_histogram;
pub(crate) mod min_max;
pub(crate) mod quantiles;
pub(crate) mod quotient;
pub(crate) mod random_groups;
pub(crate) mod sorted_runs;
pub(crate) mod sum;
pub(crate) mod superaccumulator;
pub(crate) mod top_values;
pub(crate) mod user;
pub(crate) mod value_hash;
pub(crate) mod weighted_count;

use hadal_query::StateKind;
use hadal_types::{Number, Value, Weight};

use crate::state::arg_min_max::ArgMinMax;
use crate::state::comoments::Comoments;
use crate::state::distinct::Distinct;
use crate::state::edge_histogram::EdgeHistogram;
use crate::state::histogram::Histogram;
use crate::state::log_histogram::LogHistogram;
use crate::state::min_max::MinMax;
use crate::state::quantiles::Quantiles;
use crate::state::random_groups::RandomGroups;
use crate::state::sum::Sum;
use crate::state::top_values::TopValues;
use crate::state::user::UserState;
use crate::state::value_hash::hash_value;
use crate::state::weighted_count::WeightedCount;

/// n, Σw, Σw² and Σwx of the rows where the value is not null.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Moments {
    /// The number of rows with a value, with and without weights.
    pub count: WeightedCount,
    /// The sum of their values; meaningless if the values are not numbers.
    pub sum: Sum,
}

/// The state of one measure in one group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// Finishes counts, sums and averages.
    Moments(Moments),
    /// Finishes minima and maxima.
    MinMax(MinMax),
    /// Finishes percentiles.
    Quantiles(Quantiles),
    /// Finishes distinct counts.
    Distinct(Distinct),
    /// Finishes histograms.
    Histogram(Histogram),
    /// Finishes variances and covariances.
    Comoments(Comoments),
    /// Finishes the first and the last value.
    ArgMinMax(ArgMinMax),
    /// Finishes the most frequent values.
    TopValues(TopValues),
    /// Finishes histograms with powers as edges.
    LogHistogram(LogHistogram),
    /// Finishes histograms with given edges.
    EdgeHistogram(EdgeHistogram),
    /// Finishes nothing; confidence intervals are computed from it.
    RandomGroups(RandomGroups),
    /// Finishes a user aggregate.
    User(UserState),
}

impl State {
    /// A state without values.
    #[must_use]
    pub fn new(kind: StateKind) -> Self {
        match kind {
            StateKind::Moments => Self::Moments(Moments::default()),
            StateKind::MinMax => Self::MinMax(MinMax::default()),
            StateKind::Quantiles => Self::Quantiles(Quantiles::default()),
            StateKind::Distinct => Self::Distinct(Distinct::default()),
            StateKind::Histogram(buckets) => Self::Histogram(Histogram::new(buckets)),
            StateKind::Variance => Self::Comoments(Comoments::of_one()),
            StateKind::Covariance => Self::Comoments(Comoments::of_pairs()),
            StateKind::ArgMinMax => Self::ArgMinMax(ArgMinMax::default()),
            StateKind::TopValues => Self::TopValues(TopValues::default()),
            StateKind::LogHistogram(base) => Self::LogHistogram(LogHistogram::new(base)),
            StateKind::EdgeHistogram => Self::EdgeHistogram(EdgeHistogram::default()),
            StateKind::RandomGroups => Self::RandomGroups(RandomGroups::default()),
            StateKind::User(aggregate) => Self::User(UserState::new(aggregate)),
        }
    }

    /// The kind of the state.
    #[must_use]
    pub const fn kind(&self) -> StateKind {
        match self {
            Self::Moments(_) => StateKind::Moments,
            Self::MinMax(_) => StateKind::MinMax,
            Self::Quantiles(_) => StateKind::Quantiles,
            Self::Distinct(_) => StateKind::Distinct,
            Self::Histogram(histogram) => StateKind::Histogram(histogram.buckets_max()),
            Self::Comoments(comoments) if comoments.is_of_pairs() => StateKind::Covariance,
            Self::Comoments(_) => StateKind::Variance,
            Self::ArgMinMax(_) => StateKind::ArgMinMax,
            Self::TopValues(_) => StateKind::TopValues,
            Self::LogHistogram(histogram) => StateKind::LogHistogram(histogram.base()),
            Self::EdgeHistogram(_) => StateKind::EdgeHistogram,
            Self::RandomGroups(_) => StateKind::RandomGroups,
            Self::User(user) => StateKind::User(user.aggregate()),
        }
    }

    /// Adds one row's value. This is the reference that every faster path must agree with.
    ///
    /// Nulls are skipped. Sums and distributions take truth values as 0 and 1. Other values that
    /// are not numbers count in moments only. A user aggregate needs its definition
    /// ([`UserState::add`]), and a state of pairs both values ([`Self::add_pair`]), so nothing is
    /// added to these here.
    pub fn add(&mut self, value: &Value, weight: Weight) {
        if value.is_null() {
            return;
        }
        match self {
            Self::Moments(moments) => {
                moments.count.add_row(weight);
                if let Some(number) = as_number(value) {
                    moments.sum.add(number, weight);
                }
            }
            Self::MinMax(extremes) => extremes.add(value),
            Self::Quantiles(quantiles) => {
                if let Some(number) = as_number(value) {
                    quantiles.add(number, weight);
                }
            }
            Self::Distinct(distinct) => distinct.add_hash(hash_value(value)),
            Self::Histogram(histogram) => {
                if let Some(number) = as_number(value) {
                    histogram.add(number, weight);
                }
            }
            Self::Comoments(comoments) => {
                if let Some(number) = as_number(value) {
                    comoments.add(number, weight);
                }
            }
            Self::TopValues(top) => top.add(value, weight),
            Self::LogHistogram(histogram) => {
                if let Some(number) = as_number(value) {
                    histogram.add(number, weight);
                }
            }
            Self::ArgMinMax(_) | Self::EdgeHistogram(_) | Self::RandomGroups(_) => {
                debug_assert!(false, "a pair has two values");
            }
            Self::User(_) => debug_assert!(false, "a user aggregate needs its definition"),
        }
    }

    /// Adds one row's pair of values to a state of pairs, unless one of them is null. This is the
    /// reference, as [`Self::add`] is for single values.
    pub fn add_pair(&mut self, value: &Value, second: &Value, weight: Weight) {
        if value.is_null() || second.is_null() {
            return;
        }
        match self {
            Self::Comoments(comoments) => {
                if let (Some(value), Some(second)) = (as_number(value), as_number(second)) {
                    comoments.add_pair(value, second, weight);
                }
            }
            Self::ArgMinMax(ends) => ends.add(value, second),
            Self::EdgeHistogram(histogram) => {
                if let (Some(number), Value::Histogram(edges)) = (as_number(value), second) {
                    histogram.add(number, edges, weight);
                }
            }
            Self::RandomGroups(groups) => groups.add(as_number(value), second, weight),
            state => debug_assert!(false, "{:?} has no pairs", state.kind()),
        }
    }

    /// Whether a pair with this second value can change the state.
    #[must_use]
    pub fn takes_second(&self, second: &Value) -> bool {
        match self {
            Self::ArgMinMax(ends) => ends.takes(second),
            _ => !second.is_null(),
        }
    }

    /// Adds rows to moments: their count, and `product`, which is Σ mantissa · weight in
    /// millionths. The values have this scale, at most 18. Other states ignore the call.
    pub(crate) fn add_decimal(&mut self, count: WeightedCount, product: i128, scale: u8) {
        if let Self::Moments(moments) = self {
            moments.count.merge(count);
            moments.sum.add_decimal(product, scale);
        }
    }

    /// Adds the values of `other`. A state of another kind is ignored; callers compare the kinds
    /// before.
    pub fn merge(&mut self, other: &Self) {
        match (self, other) {
            (Self::Moments(moments), Self::Moments(other)) => {
                moments.count.merge(other.count);
                moments.sum.merge(&other.sum);
            }
            (Self::MinMax(min_max), Self::MinMax(other)) => min_max.merge(other),
            (Self::Quantiles(quantiles), Self::Quantiles(other)) => quantiles.merge(other),
            (Self::Distinct(distinct), Self::Distinct(other)) => distinct.merge(other),
            (Self::Histogram(histogram), Self::Histogram(other))
                if histogram.buckets_max() == other.buckets_max() =>
            {
                histogram.merge(other);
            }
            (Self::Comoments(comoments), Self::Comoments(other)) => comoments.merge(other),
            (Self::ArgMinMax(ends), Self::ArgMinMax(other)) => ends.merge(other),
            (Self::TopValues(top), Self::TopValues(other)) => top.merge(other),
            (Self::LogHistogram(histogram), Self::LogHistogram(other))
                if histogram.base() == other.base() =>
            {
                histogram.merge(other);
            }
            (Self::EdgeHistogram(histogram), Self::EdgeHistogram(other)) => histogram.merge(other),
            (Self::RandomGroups(groups), Self::RandomGroups(other)) => groups.merge(other),
            (Self::User(user), Self::User(other)) if user.aggregate() == other.aggregate() => {
                user.merge(other);
            }
            (state, other) => debug_assert_eq!(state.kind(), other.kind(), "states of one kind"),
        }
    }

    /// Approximate bytes on the heap.
    pub(crate) fn heap_bytes(&self) -> usize {
        match self {
            Self::Moments(moments) => moments.sum.heap_bytes(),
            Self::MinMax(extremes) => extremes.heap_bytes(),
            Self::Quantiles(quantiles) => quantiles.heap_bytes(),
            Self::Distinct(distinct) => distinct.heap_bytes(),
            Self::Histogram(histogram) => histogram.heap_bytes(),
            Self::Comoments(comoments) => comoments.heap_bytes(),
            Self::ArgMinMax(ends) => ends.heap_bytes(),
            Self::TopValues(top) => top.heap_bytes(),
            Self::LogHistogram(histogram) => histogram.heap_bytes(),
            Self::EdgeHistogram(histogram) => histogram.heap_bytes(),
            Self::RandomGroups(groups) => groups.heap_bytes(),
            Self::User(user) => user.heap_bytes(),
        }
    }
}

fn as_number(value: &Value) -> Option<Number> {
    match value {
        Value::Number(number) => Some(*number),
        Value::Bool(truth) => Some(Number::integer(i64::from(*truth))),
        _ => None,
    }
}
