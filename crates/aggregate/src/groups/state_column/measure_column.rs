//! Columns of states in the compact form in which they are sent.

use std::borrow::Cow;

use hadal_query::StateKind;
use hadal_types::decimal::power_of_ten;
use hadal_types::limits::DECIMAL_SCALE_MAX;
use hadal_types::{Micros, Value, Weight};

use super::common_scale::{at_scale, common_scale};
use super::{Decimals, NO_RANGE, Ranges, StateColumn, States};
use crate::state::State;
use crate::state::min_max::MinMax;
use crate::state::weighted_count::WeightedCount;

/// One measure of all groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MeasureColumn<'g> {
    /// Moments, if all sums fit.
    Sums {
        /// By group: the rows that have a value.
        counts: Vec<WeightedCount>,
        /// The smallest scale with which all sums are integers: at most 24.
        scale: u8,
        /// By group: the sum, in units of 10^-scale. In millionths it also fits.
        sums: Vec<i128>,
    },
    /// Minimum and maximum, if all of them fit.
    Ranges {
        /// Whether all are times in microseconds, and not numbers.
        are_times: bool,
        /// The smallest scale with which all ends are integers: at most 18.
        scale: u8,
        /// By group: minimum and maximum in units of 10^-scale; `None` without values.
        ranges: Vec<Option<(i64, i64)>>,
    },
    /// States of any kind.
    States(Vec<Cow<'g, State>>),
}

impl MeasureColumn<'_> {
    /// The number of groups; the largest number for columns of different lengths.
    pub(crate) const fn len(&self) -> usize {
        match self {
            Self::Sums { sums, counts, .. } if sums.len() == counts.len() => sums.len(),
            Self::Sums { .. } => usize::MAX,
            Self::Ranges { ranges, .. } => ranges.len(),
            Self::States(states) => states.len(),
        }
    }
}

/// One end of a range: mantissa, scale, and whether it is a time.
type End = (i64, u8, bool);

impl StateColumn {
    /// The column of these states. `None` if they are not of this kind or out of range.
    pub(crate) fn of(kind: StateKind, column: MeasureColumn<'_>) -> Option<Self> {
        match (kind, column) {
            (StateKind::Moments, MeasureColumn::Sums { counts, scale, sums }) => {
                let sums = in_units_of_weights(sums, scale)?;
                Some(Self::Decimals(Decimals {
                    scale: scale.saturating_sub(Weight::SCALE),
                    counts,
                    sums,
                }))
            }
            (StateKind::MinMax, MeasureColumn::Ranges { are_times, scale, ranges }) => {
                Self::of_ranges(are_times, scale, &ranges)
            }
            (kind, MeasureColumn::States(states)) => {
                let fits = states.iter().all(|state| state.kind() == kind);
                let states = states.into_iter().map(Cow::into_owned);
                fits.then(|| Self::States(States { kind, states: states.collect(), counts: None }))
            }
            _ => None,
        }
    }

    fn of_ranges(are_times: bool, scale: u8, ranges: &[Option<(i64, i64)>]) -> Option<Self> {
        let is_range = |(min, max): &(i64, i64)| min <= max;
        let scale_max = if are_times { 0 } else { DECIMAL_SCALE_MAX };
        if scale > scale_max || !ranges.iter().flatten().all(is_range) {
            return None;
        }
        let is_inside = |(min, max): &(i64, i64)| *min > i64::MIN && *max < i64::MAX;
        if !are_times && ranges.iter().flatten().all(is_inside) {
            let ranges = ranges.iter().map(|range| range.unwrap_or(NO_RANGE)).collect();
            return Some(Self::Ranges(Ranges { scale, ranges }));
        }
        let value = |mantissa: i64| match are_times {
            true => Value::Time(Micros(mantissa)),
            false => super::number(mantissa, scale),
        };
        let state = |range: &Option<(i64, i64)>| {
            let range = range.map(|(min, max)| (value(min), value(max)));
            MinMax::from_parts(range).map(State::MinMax)
        };
        let states = ranges.iter().map(state).collect::<Option<_>>()?;
        Some(Self::States(States { kind: StateKind::MinMax, states, counts: None }))
    }

    /// A group's state, if the column has it as such.
    pub(crate) fn borrowed(&self, group_index: usize) -> Option<Cow<'_, State>> {
        match self {
            Self::States(column) => column.state(group_index),
            Self::Decimals(_) | Self::Ranges(_) => None,
        }
    }

    /// The count and the sum of a group's moments; see [`Sum::to_scaled`](crate::Sum).
    pub(crate) fn scaled_sum(&self, group_index: usize) -> Option<(WeightedCount, (i128, u8))> {
        const NOTHING: (i128, u8) = (0, 0);
        let sum = match self {
            Self::Decimals(Decimals { scale, counts, sums }) => {
                let count = counts.get(group_index).copied().unwrap_or_default();
                let sum = sums.get(group_index).map(|&sum| (sum, scale + Weight::SCALE));
                (count, sum.unwrap_or(NOTHING))
            }
            Self::Ranges(_) => return None,
            Self::States(column) => match column.states.get(group_index) {
                Some(State::Moments(moments)) => (moments.count, moments.sum.to_scaled()?),
                Some(_) => return None,
                None => (WeightedCount::default(), NOTHING),
            },
        };
        Some(sum)
    }

    /// Minima and maxima in this order of groups, if all are times or all are decimals that fit.
    pub(crate) fn compact_ranges(&self, order: &[u32]) -> Option<MeasureColumn<'static>> {
        let ranges: Vec<Option<(End, End)>> =
            order.iter().map(|&group| self.ends(group as usize)).collect::<Option<_>>()?;
        let ends = || ranges.iter().flatten().flat_map(|&(min, max)| [min, max]);
        let are_times = ends().next().is_some_and(|(_, _, is_time)| is_time);
        if ends().any(|(_, _, is_time)| is_time != are_times) {
            return None;
        }
        let scale = common_scale(ends().map(|(mantissa, scale, _)| (mantissa.into(), scale)))?;
        let short = |(mantissa, of, _): End| -> Option<i64> {
            at_scale((mantissa.into(), of), scale)?.try_into().ok()
        };
        let range = |range: &Option<(End, End)>| match range {
            Some((min, max)) => Some(Some((short(*min)?, short(*max)?))),
            None => Some(None),
        };
        let ranges = ranges.iter().map(range).collect::<Option<_>>()?;
        Some(MeasureColumn::Ranges { are_times, scale, ranges })
    }

    /// The range of a group, or none if it has no values. `None` if an end does not fit.
    fn ends(&self, group_index: usize) -> Option<Option<(End, End)>> {
        match self {
            Self::Ranges(Ranges { scale, ranges }) => {
                let range = ranges.get(group_index).filter(|(min, max)| min <= max);
                Some(range.map(|&(min, max)| ((min, *scale, false), (max, *scale, false))))
            }
            Self::States(column) => match column.states.get(group_index) {
                Some(State::MinMax(extremes)) => match (extremes.min(), extremes.max()) {
                    (Some(min), Some(max)) => Some(Some((end(min)?, end(max)?))),
                    _ => Some(None),
                },
                Some(_) => None,
                None => Some(None),
            },
            Self::Decimals(_) => None,
        }
    }
}

fn end(value: &Value) -> Option<End> {
    match value {
        Value::Number(number) => {
            number.to_stored().map(|(mantissa, scale)| (mantissa, scale, false))
        }
        Value::Time(time) => Some((time.0, 0, true)),
        _ => None,
    }
}

/// These sums of this scale, in millionths or at a larger scale. `None` if they do not fit.
fn in_units_of_weights(sums: Vec<i128>, scale: u8) -> Option<Vec<i128>> {
    if scale > DECIMAL_SCALE_MAX + Weight::SCALE {
        return None;
    }
    match Weight::SCALE.checked_sub(scale) {
        Some(finer) if finer > 0 => {
            let factor = power_of_ten(finer)?;
            sums.into_iter().map(|sum| sum.checked_mul(factor)).collect()
        }
        _ => Some(sums),
    }
}
