//! The states of one measure for many groups, as a column in the smallest form that holds them.
//!
//! Most states are sums of decimals with one scale. As a column, such sums take a third of the
//! memory of states, and adding to a sum is an integer addition.

pub(crate) mod common_scale;
pub(crate) mod measure_column;

use std::borrow::Cow;

use hadal_query::StateKind;
use hadal_types::decimal::power_of_ten;
use hadal_types::{Decimal, Number, Value, Weight};

use crate::state::min_max::MinMax;
use crate::state::quantiles::counts::{BucketInput, QuantileCounts};
use crate::state::sum::{Sum, SumOverflow};
use crate::state::weighted_count::WeightedCount;
use crate::state::{Moments, State};

/// States by group index. Groups beyond the end of the column have a state without values.
#[derive(Clone, Debug)]
pub(crate) enum StateColumn {
    /// Moments of decimals with one scale.
    Decimals(Decimals),
    /// Minimum and maximum of decimals with one scale.
    Ranges(Ranges),
    /// States of any kind.
    States(States),
}

/// States of one kind.
#[derive(Clone, Debug)]
pub(crate) struct States {
    kind: StateKind,
    states: Vec<State>,
    /// Rows of quantiles measures that are not added to their sketches yet.
    counts: Option<Box<QuantileCounts>>,
}

/// Moments whose sums are in units of 10^-(`scale` + 6); 6 is the scale of weights.
#[derive(Clone, Debug, Default)]
pub(crate) struct Decimals {
    scale: u8,
    counts: Vec<WeightedCount>,
    sums: Vec<i128>,
}

/// Minimum and maximum mantissas; without values, the minimum is above the maximum.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ranges {
    scale: u8,
    ranges: Vec<(i64, i64)>,
}

/// The range without values.
const NO_RANGE: (i64, i64) = (i64::MAX, i64::MIN);

impl StateColumn {
    /// A column without groups.
    pub(crate) fn new(kind: StateKind) -> Self {
        match kind {
            StateKind::Moments => Self::Decimals(Decimals::default()),
            StateKind::MinMax => Self::Ranges(Ranges::default()),
            kind => Self::States(States { kind, states: Vec::new(), counts: None }),
        }
    }

    pub(crate) fn kind(&self) -> StateKind {
        match self {
            Self::Decimals(_) => StateKind::Moments,
            Self::Ranges(_) => StateKind::MinMax,
            Self::States(column) => column.kind,
        }
    }

    /// A group's state.
    pub(crate) fn state(&self, group_index: usize) -> State {
        let state = match self {
            Self::Decimals(decimals) => decimals.state(group_index),
            Self::Ranges(ranges) => ranges.state(group_index),
            Self::States(column) => column.state(group_index).map(Cow::into_owned),
        };
        state.unwrap_or_else(|| State::new(self.kind()))
    }

    /// The states of the first `count` groups; the caller may add to them. Decimals and ranges are
    /// all converted to states before.
    pub(crate) fn states_mut(&mut self, count: usize) -> &mut [State] {
        if !matches!(self, Self::States(_)) {
            let states = (0..count).map(|group_index| self.state(group_index)).collect();
            *self = Self::States(States { kind: self.kind(), states, counts: None });
        }
        match self {
            Self::States(column) => {
                if let Some(mut counts) = column.counts.take() {
                    counts.move_to(&mut column.states);
                }
                column.reach(count);
                &mut column.states
            }
            Self::Decimals(_) | Self::Ranges(_) => &mut [],
        }
    }

    /// The bucket counts of quantiles, and the sketches of `count` groups. A sketch has everything
    /// but the number of rows in each bucket. `None` if the counts do not fit.
    pub(crate) fn quantile_counts(
        &mut self,
        count: usize,
        incoming: &BucketInput<'_>,
    ) -> Option<(&mut QuantileCounts, &mut [State])> {
        let Self::States(column) = self else { return None };
        column.reach(count);
        let counts = column.counts.get_or_insert_default();
        if !counts.prepare(incoming, &column.states) {
            counts.move_to(&mut column.states);
            if !counts.prepare(incoming, &column.states) {
                return None;
            }
        }
        Some((counts, &mut column.states))
    }

    /// The ranges of `count` groups, and a factor. The caller may widen the ranges by mantissas
    /// within `bounds`, multiplied by the factor. `None` if the column has other values, or if the
    /// numbers do not fit at a common scale.
    pub(crate) fn ranges_mut(
        &mut self,
        count: usize,
        scale: u8,
        bounds: (i64, i64),
    ) -> Option<(&mut [(i64, i64)], i64)> {
        let Self::Ranges(column) = self else { return None };
        let factor = column.meet(scale)?;
        // One less at either end, so that the range without values is unique.
        let fits = |bound: i64| {
            bound.checked_mul(factor).is_some_and(|scaled| scaled > i64::MIN && scaled < i64::MAX)
        };
        (fits(bounds.0) && fits(bounds.1)).then(|| {
            column.ranges.resize(count.max(column.ranges.len()), NO_RANGE);
            (column.ranges.as_mut_slice(), factor)
        })
    }

    /// Adds a group's state from elsewhere; there are `count` groups.
    pub(crate) fn merge_state(&mut self, group_index: usize, state: &State, count: usize) {
        self.states_mut(count)[group_index].merge(state);
    }

    /// Whether nothing was ever added.
    pub(crate) fn is_unused(&self) -> bool {
        match self {
            Self::Decimals(decimals) => decimals.sums.is_empty(),
            Self::Ranges(ranges) => ranges.ranges.is_empty(),
            Self::States(column) => column.states.is_empty(),
        }
    }

    /// Adds `rows` to a group's moments. `product` is Σ mantissa · weight in millionths, for values
    /// of this scale, at most 18. There are `group_count` groups.
    pub(crate) fn add_decimal(
        &mut self,
        group_index: usize,
        rows: WeightedCount,
        product: i128,
        scale: u8,
        group_count: usize,
    ) {
        if let Self::Decimals(decimals) = self {
            decimals.reach(group_count);
            if decimals.add(group_index, rows, product, scale).is_some() {
                return;
            }
        }
        self.states_mut(group_count)[group_index].add_decimal(rows, product, scale);
    }

    /// Adds the states of `other`, a column of the same kind: those from index `first` on, to the
    /// groups at `group_indexes`.
    pub(crate) fn merge(
        &mut self,
        other: &Self,
        first: usize,
        group_indexes: &[Option<u32>],
        count: usize,
    ) {
        let pairs = group_indexes.iter().zip(first..);
        let pairs = pairs.filter_map(|(target, other)| Some(((*target)? as usize, other)));
        match other {
            Self::Decimals(Decimals { scale, counts, sums }) => {
                for (target, other) in pairs.take_while(|(_, other)| *other < sums.len()) {
                    self.add_decimal(target, counts[other], sums[other], *scale, count);
                }
            }
            Self::Ranges(all) => match self.ranges_mut(count, all.scale, all.bounds()) {
                Some((ranges, factor)) => {
                    for (group_index, other) in pairs {
                        let other = all.ranges.get(other).copied().unwrap_or(NO_RANGE);
                        widen(&mut ranges[group_index], other, factor);
                    }
                }
                None => {
                    let states = self.states_mut(count);
                    for (group_index, other) in
                        pairs.filter_map(|pair| Some((pair.0, all.state(pair.1)?)))
                    {
                        states[group_index].merge(&other);
                    }
                }
            },
            Self::States(all) => {
                let states = self.states_mut(count);
                for (group_index, other) in pairs {
                    let Some(other) = all.state(other) else { break };
                    states[group_index].merge(&other);
                }
            }
        }
    }

    /// The states of the groups at these indexes only, in this order.
    pub(crate) fn kept(&self, group_indexes: &[u32]) -> Self {
        fn at<T: Clone>(all: &[T], group_indexes: &[u32], none: &T) -> Vec<T> {
            let value = |&group_index: &u32| all.get(group_index as usize).unwrap_or(none).clone();
            group_indexes.iter().map(value).collect()
        }
        match self {
            Self::Decimals(Decimals { scale, counts, sums }) => Self::Decimals(Decimals {
                scale: *scale,
                counts: at(counts, group_indexes, &WeightedCount::default()),
                sums: at(sums, group_indexes, &0),
            }),
            Self::Ranges(Ranges { scale, ranges }) => {
                Self::Ranges(Ranges { scale: *scale, ranges: at(ranges, group_indexes, &NO_RANGE) })
            }
            Self::States(column) => {
                let state = |&group_index: &u32| {
                    let state = column.state(group_index as usize).map(Cow::into_owned);
                    state.unwrap_or_else(|| State::new(self.kind()))
                };
                let states = group_indexes.iter().map(state).collect();
                Self::States(States { kind: column.kind, states, counts: None })
            }
        }
    }

    /// Ranks with the same order as the sums; `None` if they are unknown or a group has no sum.
    pub(crate) fn sum_ranks(&self, count: usize) -> Option<Vec<i128>> {
        match self {
            Self::Decimals(Decimals { counts, sums, .. })
                if sums.len() == count && counts.iter().all(|count| count.rows() > 0) =>
            {
                Some(sums.clone())
            }
            _ => None,
        }
    }

    /// Ranks with the same order as the counts of values; `None` if they are unknown.
    pub(crate) fn count_ranks(&self, count: usize) -> Option<Vec<i128>> {
        match self {
            Self::Decimals(Decimals { counts, .. }) if counts.len() == count => {
                Some(counts.iter().map(|count| count.weight()).collect())
            }
            _ => None,
        }
    }

    /// Fails if a sum is beyond the range of doubles. Sums of 128 bits never are.
    pub(crate) fn check_sums(&self) -> Result<(), SumOverflow> {
        let Self::States(States { kind: StateKind::Moments, states, .. }) = self else {
            return Ok(());
        };
        states.iter().try_for_each(|state| match state {
            State::Moments(moments) => moments.sum.total().map(|_| ()),
            _ => Ok(()),
        })
    }

    /// Approximate bytes of memory. Walks all states that can be large.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Decimals(Decimals { counts, sums, .. }) => {
                counts.capacity() * size_of::<WeightedCount>() + sums.capacity() * size_of::<i128>()
            }
            Self::Ranges(Ranges { ranges, .. }) => ranges.capacity() * size_of::<(i64, i64)>(),
            Self::States(States { kind, states, counts }) => {
                let heap = match kind {
                    StateKind::Moments | StateKind::MinMax => 0,
                    _ => states.iter().map(State::heap_bytes).sum(),
                };
                let counts = counts.as_ref().map_or(0, |counts| counts.bytes());
                states.capacity() * size_of::<State>() + heap + counts
            }
        }
    }
}

impl States {
    /// The state of a group, if the column has one.
    fn state(&self, group_index: usize) -> Option<Cow<'_, State>> {
        let state = self.states.get(group_index)?;
        let Some(counts) = &self.counts else { return Some(Cow::Borrowed(state)) };
        let mut state = state.clone();
        counts.add_to(u32::try_from(group_index).ok()?, &mut state);
        Some(Cow::Owned(state))
    }

    /// Extends the column to `count` groups.
    fn reach(&mut self, count: usize) {
        let kind = self.kind;
        self.states.resize_with(count.max(self.states.len()), || State::new(kind));
    }
}

impl Decimals {
    fn state(&self, group_index: usize) -> Option<State> {
        let mut sum = Sum::default();
        sum.add_decimal(*self.sums.get(group_index)?, self.scale);
        Some(State::Moments(Moments { count: *self.counts.get(group_index)?, sum }))
    }

    /// Extends the column to `count` groups.
    fn reach(&mut self, count: usize) {
        if self.sums.len() < count {
            self.sums.resize(count, 0);
            self.counts.resize(count, WeightedCount::default());
        }
    }

    /// Returns `None` and changes nothing if a sum does not fit.
    fn add(
        &mut self,
        group_index: usize,
        count: WeightedCount,
        product: i128,
        scale: u8,
    ) -> Option<()> {
        let product = if scale == self.scale { product } else { self.rescale(product, scale)? };
        self.sums[group_index] = self.sums[group_index].checked_add(product)?;
        self.counts[group_index].merge(count);
        Some(())
    }

    /// The product at the column's scale. If the column's scale is coarser, it is refined first.
    fn rescale(&mut self, product: i128, scale: u8) -> Option<i128> {
        if let Some(finer) = scale.checked_sub(self.scale) {
            let factor = power_of_ten(finer)?;
            let sums = self.sums.iter().map(|sum| sum.checked_mul(factor));
            self.sums = sums.collect::<Option<_>>()?;
            self.scale = scale;
            return Some(product);
        }
        product.checked_mul(power_of_ten(self.scale - scale)?)
    }
}

impl Ranges {
    fn state(&self, group_index: usize) -> Option<State> {
        let (min, max) = self.ranges.get(group_index).copied().filter(|(min, max)| min <= max)?;
        let value = |mantissa| number(mantissa, self.scale);
        MinMax::from_parts(Some((value(min), value(max)))).map(State::MinMax)
    }

    /// The factor that converts mantissas of this scale to the column's scale, which becomes
    /// `scale` if that is finer. Returns `None` and changes nothing if the numbers do not fit.
    fn meet(&mut self, scale: u8) -> Option<i64> {
        if let Some(finer) = scale.checked_sub(self.scale) {
            let factor = i64::try_from(power_of_ten(finer)?).ok()?;
            let finer = |range: &(i64, i64)| match range {
                (min, max) if min > max => Some(NO_RANGE),
                (min, max) => {
                    let ends = (min.checked_mul(factor)?, max.checked_mul(factor)?);
                    (ends.0 > i64::MIN && ends.1 < i64::MAX).then_some(ends)
                }
            };
            if factor > 1 {
                self.ranges = self.ranges.iter().map(finer).collect::<Option<_>>()?;
                self.scale = scale;
            }
            return Some(1);
        }
        i64::try_from(power_of_ten(self.scale - scale)?).ok()
    }

    /// The minimum and the maximum of all ranges and 0.
    fn bounds(&self) -> (i64, i64) {
        let ends = self.ranges.iter().filter(|(min, max)| min <= max);
        ends.fold((0, 0), |all, range| (all.0.min(range.0), all.1.max(range.1)))
    }
}

/// mantissa × 10^-scale, for a scale of at most 18.
fn number(mantissa: i64, scale: u8) -> Value {
    let decimal = Decimal::new(mantissa.into(), scale);
    Value::Number(decimal.map_or(Number::ZERO, Number::from))
}

/// Widens a range by another one; if that is not empty, it is multiplied by `factor`.
fn widen(range: &mut (i64, i64), (min, max): (i64, i64), factor: i64) {
    if min <= max {
        *range = (range.0.min(min * factor), range.1.max(max * factor));
    }
}

const _: () = assert!(Weight::SCALE == 6, "products are in millionths");

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn column() -> StateColumn {
        StateColumn::new(StateKind::Moments)
    }

    fn product() -> impl Strategy<Value = i128> {
        prop_oneof![-99i128..99, any::<i128>(), Just(i128::MAX / 2), Just(i128::MIN / 2)]
    }

    proptest! {
        #[test]
        fn decimals_add_up_like_states(
            rows in prop::collection::vec((0usize..4, product(), 0u8..=18), 0..20),
            cut in 0usize..20,
        ) {
            let mut states = column();
            let _ = states.states_mut(4);
            let (mut whole, mut left, mut right) = (column(), column(), column());
            for (index, &(group_index, product, scale)) in rows.iter().enumerate() {
                let mut count = WeightedCount::default();
                count.add_rows(1);
                let part = if index < cut { &mut left } else { &mut right };
                for column in [&mut states, &mut whole, part] {
                    column.add_decimal(group_index, count, product, scale, 4);
                }
            }
            // To groups in another order; one group is dropped.
            let mut merged = column();
            for part in [left, right] {
                merged.merge(&part, 0, &[Some(2), Some(0), None], 3);
                merged.merge(&part, 3, &[Some(1)], 3);
            }
            let kept = whole.kept(&[1, 3, 0]);
            for (group_index, source) in [1, 3, 0].into_iter().enumerate() {
                prop_assert_eq!(whole.state(source), states.state(source));
                prop_assert_eq!(merged.state(group_index), states.state(source));
                prop_assert_eq!(kept.state(group_index), states.state(source));
            }
        }
    }

    fn mantissa() -> impl Strategy<Value = i64> {
        prop_oneof![-99i64..99, any::<i64>(), Just(i64::MAX), Just(i64::MIN), Just(i64::MAX / 10)]
    }

    proptest! {
        #[test]
        fn ranges_widen_like_states(
            rows in prop::collection::vec((0usize..4, mantissa(), 0u8..=18), 0..12),
            cut in 0usize..12,
        ) {
            let column = || StateColumn::new(StateKind::MinMax);
            let (mut whole, mut left, mut right) = (column(), column(), column());
            let mut states = vec![State::new(StateKind::MinMax); 4];
            for (index, &(group_index, mantissa, scale)) in rows.iter().enumerate() {
                let value = Decimal::new(mantissa.into(), scale).expect("in range");
                let value = Value::Number(value.into());
                states[group_index].add(&value, Weight::ONE);
                for column in [&mut whole, if index < cut { &mut left } else { &mut right }] {
                    match column.ranges_mut(4, scale, (mantissa, mantissa)) {
                        Some((ranges, factor)) => {
                            widen(&mut ranges[group_index], (mantissa, mantissa), factor);
                        }
                        None => column.states_mut(4)[group_index].add(&value, Weight::ONE),
                    }
                }
            }
            let mut merged = column();
            for part in [left, right] {
                merged.merge(&part, 0, &[Some(2), Some(0), None], 3);
                merged.merge(&part, 3, &[Some(1)], 3);
            }
            let kept = whole.kept(&[1, 3, 0]);
            for (group_index, source) in [1, 3, 0].into_iter().enumerate() {
                prop_assert_eq!(&whole.state(source), &states[source]);
                prop_assert_eq!(&merged.state(group_index), &states[source]);
                prop_assert_eq!(&kept.state(group_index), &states[source]);
            }
        }
    }
}
