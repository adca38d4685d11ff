//! The inputs of output expressions from a group: its counts, and aggregates finished from its
//! states.

use hadal_query::{AggregateFunction, GroupInput};
use hadal_types::{Decimal, Number, Value};

use crate::groups::group::Group;
use crate::state::State;
use crate::state::average::average;
use crate::state::comoments::Comoments;
use crate::state::weighted_count::WeightedCount;

/// An input from a group; null for inputs that are not part of a group.
pub(crate) fn of_group(group: &Group, slot: &GroupInput) -> Value {
    match slot {
        GroupInput::Measure(index, finish) => {
            group.states.get(*index).map_or(Value::Null, |state| of_state(state, *finish))
        }
        other => of_count(group.count, other),
    }
}

pub(crate) fn of_count(count: WeightedCount, slot: &GroupInput) -> Value {
    match slot {
        GroupInput::RawCount => integer(count.rows()),
        GroupInput::Count => Value::Number(count.count()),
        GroupInput::Measure(..) | GroupInput::Key(_) | GroupInput::Seconds => Value::Null,
    }
}

/// An aggregate of one state; null without values, or if the state is of another kind.
pub(crate) fn of_state(state: &State, finish: AggregateFunction) -> Value {
    let number = |number: Option<Number>| number.map_or(Value::Null, Value::Number);
    match (state, finish) {
        (State::Moments(moments), AggregateFunction::Count) => Value::Number(moments.count.count()),
        (State::Moments(moments), AggregateFunction::RawCount) => integer(moments.count.rows()),
        (State::Moments(moments), _) if moments.count.rows() == 0 => Value::Null,
        (State::Moments(moments), AggregateFunction::Sum) => number(moments.sum.total().ok()),
        (State::Moments(moments), AggregateFunction::Avg) => {
            let total = moments.sum.total().ok();
            number(total.and_then(|total| average(total, moments.count.weight())))
        }
        (State::MinMax(extremes), AggregateFunction::Min) => {
            extremes.min().cloned().unwrap_or(Value::Null)
        }
        (State::MinMax(extremes), AggregateFunction::Max) => {
            extremes.max().cloned().unwrap_or(Value::Null)
        }
        (State::Quantiles(quantiles), AggregateFunction::Quantile(millionths)) => {
            number(quantiles.quantile(millionths))
        }
        (State::Quantiles(quantiles), AggregateFunction::QuantileCont(millionths)) => {
            number(quantiles.quantile_cont(millionths))
        }
        (State::Distinct(distinct), AggregateFunction::Distinct) => integer(distinct.estimate()),
        (State::Histogram(histogram), AggregateFunction::Histogram(_)) => histogram.finish(),
        (State::Comoments(comoments), finish) => number(of_comoments(comoments, finish)),
        (State::ArgMinMax(ends), AggregateFunction::ArgMin) => ends.at_min(),
        (State::ArgMinMax(ends), AggregateFunction::ArgMax) => ends.at_max(),
        (State::TopValues(top), AggregateFunction::TopValues(count)) => top.finish(count),
        (State::LogHistogram(histogram), AggregateFunction::LogHistogram(_)) => histogram.finish(),
        (State::EdgeHistogram(histogram), AggregateFunction::EdgeHistogram) => histogram.finish(),
        (State::User(user), AggregateFunction::User(_)) => user.finish(),
        _ => Value::Null,
    }
}

fn of_comoments(comoments: &Comoments, finish: AggregateFunction) -> Option<Number> {
    match finish {
        AggregateFunction::VarPop => comoments.variance(false),
        AggregateFunction::VarSamp => comoments.variance(true),
        AggregateFunction::StddevPop => comoments.deviation(false),
        AggregateFunction::StddevSamp => comoments.deviation(true),
        AggregateFunction::CovarPop => comoments.covariance(false),
        AggregateFunction::CovarSamp => comoments.covariance(true),
        AggregateFunction::Corr => comoments.correlation(),
        AggregateFunction::RegrSlope => comoments.slope(),
        AggregateFunction::RegrIntercept => comoments.intercept(),
        _ => None,
    }
}

fn integer(count: u64) -> Value {
    Decimal::new(count.into(), 0).map_or(Value::Null, |count| Value::Number(count.into()))
}
