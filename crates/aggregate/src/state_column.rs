//! The states of one measure, of many groups: one after the other, in the least form that holds
//! them.
//!
//! Sums are what is asked for most, and mostly of decimals of one scale. As columns they take a
//! third of the memory that states take, and adding to one is adding to an integer.

use hadal_query::StateKind;
use hadal_types::Weight;
use hadal_types::decimal::power_of_ten;

use crate::state::{Moments, State};
use crate::sum::{Sum, SumOverflow};
use crate::tally::Tally;

/// States by the place of their group.
#[derive(Clone, Debug)]
pub(crate) enum StateColumn {
    /// Moments of decimals of one scale.
    Decimals(Decimals),
    /// Any states of one kind.
    States(StateKind, Vec<State>),
}

/// Moments whose sums are in units of 10^-(`scale` + 6), the weight's digits being 6.
#[derive(Clone, Debug, Default)]
pub(crate) struct Decimals {
    scale: u8,
    tallies: Vec<Tally>,
    sums: Vec<i128>,
}

impl StateColumn {
    /// The states of no groups.
    pub(crate) fn new(kind: StateKind) -> Self {
        match kind {
            StateKind::Moments => Self::Decimals(Decimals::default()),
            other => Self::States(other, Vec::new()),
        }
    }

    /// Adds the state of a new group, which has no rows yet.
    pub(crate) fn push(&mut self) {
        match self {
            Self::Decimals(Decimals { tallies, sums, .. }) => {
                tallies.push(Tally::default());
                sums.push(0);
            }
            Self::States(kind, states) => states.push(State::new(*kind)),
        }
    }

    /// A group's state.
    pub(crate) fn state(&self, place: usize) -> State {
        match self {
            Self::Decimals(decimals) => decimals.state(place),
            Self::States(_, states) => states[place].clone(),
        }
    }

    /// The states, to be added to. Decimals become states first, all of them.
    pub(crate) fn states_mut(&mut self) -> &mut [State] {
        if let Self::Decimals(decimals) = self {
            let states = (0..decimals.sums.len()).map(|place| decimals.state(place)).collect();
            *self = Self::States(StateKind::Moments, states);
        }
        match self {
            Self::States(_, states) => states,
            Self::Decimals(_) => &mut [],
        }
    }

    /// Adds to a group's moments rows of this tally, of which `product` is Σ mantissa · weight in
    /// millionths, of values of this scale, at most 18.
    pub(crate) fn add_decimal(&mut self, place: usize, tally: Tally, product: i128, scale: u8) {
        if let Self::Decimals(decimals) = self
            && decimals.add(place, tally, product, scale).is_some()
        {
            return;
        }
        if let State::Moments(own) = &mut self.states_mut()[place] {
            own.tally.merge(tally);
            own.sum.add_decimal(product, scale);
        }
    }

    /// Adds the states of `other`, the kind of which is the same: those from place `first` on, to
    /// the groups at `places`.
    pub(crate) fn merge(&mut self, other: &Self, first: usize, places: &[Option<u32>]) {
        let pairs = places.iter().zip(first..);
        let pairs = pairs.filter_map(|(own, other)| Some(((*own)? as usize, other)));
        match other {
            Self::Decimals(Decimals { scale, tallies, sums }) => {
                pairs.for_each(|(own, other)| {
                    self.add_decimal(own, tallies[other], sums[other], *scale);
                });
            }
            Self::States(_, states) => {
                let own = self.states_mut();
                pairs.for_each(|(place, other)| own[place].merge(&states[other]));
            }
        }
    }

    /// The states of the groups at these places only, in this order.
    pub(crate) fn kept(&self, places: &[u32]) -> Self {
        fn at<T: Clone>(all: &[T], places: &[u32]) -> Vec<T> {
            places.iter().map(|&place| all[place as usize].clone()).collect()
        }
        match self {
            Self::Decimals(Decimals { scale, tallies, sums }) => Self::Decimals(Decimals {
                scale: *scale,
                tallies: at(tallies, places),
                sums: at(sums, places),
            }),
            Self::States(kind, states) => Self::States(*kind, at(states, places)),
        }
    }

    /// What groups can be ranked by instead of their sums; `None` where that is not known, or a
    /// group has none.
    pub(crate) fn sum_ranks(&self) -> Option<Vec<i128>> {
        match self {
            Self::Decimals(Decimals { tallies, sums, .. })
                if tallies.iter().all(|tally| tally.rows() > 0) =>
            {
                Some(sums.clone())
            }
            _ => None,
        }
    }

    /// Fails if a sum is beyond the range of doubles, which no sum of 128 bits is.
    pub(crate) fn check_sums(&self) -> Result<(), SumOverflow> {
        let Self::States(StateKind::Moments, states) = self else { return Ok(()) };
        states.iter().try_for_each(|state| match state {
            State::Moments(moments) => moments.sum.total().map(|_| ()),
            _ => Ok(()),
        })
    }

    /// Bytes held, about. Walks all states that can be large.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Decimals(Decimals { tallies, sums, .. }) => {
                tallies.capacity() * size_of::<Tally>() + sums.capacity() * size_of::<i128>()
            }
            Self::States(kind, states) => {
                let heap = match kind {
                    StateKind::Moments | StateKind::Extremes => 0,
                    _ => states.iter().map(State::heap_bytes).sum(),
                };
                states.capacity() * size_of::<State>() + heap
            }
        }
    }
}

impl Decimals {
    fn state(&self, place: usize) -> State {
        let mut sum = Sum::default();
        sum.add_decimal(self.sums[place], self.scale);
        State::Moments(Moments { tally: self.tallies[place], sum })
    }

    /// `None`, and nothing is changed, where a sum does not fit.
    fn add(&mut self, place: usize, tally: Tally, product: i128, scale: u8) -> Option<()> {
        let product = if scale == self.scale { product } else { self.rescale(product, scale)? };
        self.sums[place] = self.sums[place].checked_add(product)?;
        self.tallies[place].merge(tally);
        Some(())
    }

    /// The product at the column's scale, which becomes that of the product if it is coarser.
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

const _: () = assert!(Weight::SCALE == 6, "products are in millionths");

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn column(groups: usize) -> StateColumn {
        let mut column = StateColumn::new(StateKind::Moments);
        (0..groups).for_each(|_| column.push());
        column
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
            let mut states = column(4);
            let _ = states.states_mut();
            let (mut whole, mut left, mut right) = (column(4), column(4), column(4));
            for (index, &(place, product, scale)) in rows.iter().enumerate() {
                let mut tally = Tally::default();
                tally.add_rows(1);
                let part = if index < cut { &mut left } else { &mut right };
                for column in [&mut states, &mut whole, part] {
                    column.add_decimal(place, tally, product, scale);
                }
            }
            // To groups in another order, of which one is dropped.
            let mut merged = column(3);
            for part in [left, right] {
                merged.merge(&part, 0, &[Some(2), Some(0), None]);
                merged.merge(&part, 3, &[Some(1)]);
            }
            let kept = whole.kept(&[1, 3, 0]);
            for (place, own) in [1, 3, 0].into_iter().enumerate() {
                prop_assert_eq!(whole.state(own), states.state(own));
                prop_assert_eq!(merged.state(place), states.state(own));
                prop_assert_eq!(kept.state(place), states.state(own));
            }
        }
    }
}
