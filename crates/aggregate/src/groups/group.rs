//! A single group: the form in which groups are sent, and in which "other" is summed up.

use hadal_query::{Query, StateKind};
use hadal_types::Value;

use crate::state::State;
use crate::state::weighted_count::WeightedCount;

/// The count and the states of one group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The count of the group's rows.
    pub count: WeightedCount,
    /// One state per measure of the query.
    pub states: Box<[State]>,
}

impl Group {
    pub(crate) fn new(kinds: &[StateKind]) -> Self {
        let states = kinds.iter().map(|&kind| State::new(kind)).collect();
        Self { count: WeightedCount::default(), states }
    }

    /// A group without rows.
    pub(crate) fn empty(query: &Query) -> Self {
        let kinds: Vec<StateKind> = query.measures().iter().map(|measure| measure.kind).collect();
        Self::new(&kinds)
    }

    /// Adds the rows of `other`, which must belong to the same query.
    pub fn merge(&mut self, other: &Self) {
        self.count.merge(other.count);
        for (state, other) in self.states.iter_mut().zip(&other.states) {
            state.merge(other);
        }
    }

    /// Whether the group has a state of each of these kinds, in this order.
    pub(crate) fn fits(&self, kinds: &[StateKind]) -> bool {
        self.states.iter().map(State::kind).eq(kinds.iter().copied())
    }
}

/// A group and its key.
pub type KeyedGroup = (Box<[Value]>, Group);
