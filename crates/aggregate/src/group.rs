//! One group on its own, and what values weigh: how groups travel, and how "other" is added up.

use hadal_query::{Query, StateKind};
use hadal_types::Value;

use crate::state::State;
use crate::tally::Tally;

/// What is kept of the rows of one group, on its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// All rows of the group.
    pub tally: Tally,
    /// One state per measure of the query.
    pub states: Box<[State]>,
}

impl Group {
    pub(crate) fn new(kinds: &[StateKind]) -> Self {
        let states = kinds.iter().map(|&kind| State::new(kind)).collect();
        Self { tally: Tally::default(), states }
    }

    /// The group of no rows.
    pub(crate) fn empty(query: &Query) -> Self {
        let kinds: Vec<StateKind> = query.measures().iter().map(|measure| measure.kind).collect();
        Self::new(&kinds)
    }

    /// Adds the rows of `other`, which must be of the same query.
    pub fn merge(&mut self, other: &Self) {
        self.tally.merge(other.tally);
        for (own, state) in self.states.iter_mut().zip(&other.states) {
            own.merge(state);
        }
    }

    /// Whether it has a state of each of these kinds, in this order.
    pub(crate) fn fits(&self, kinds: &[StateKind]) -> bool {
        self.states.iter().map(State::kind).eq(kinds.iter().copied())
    }
}

/// A group and its key.
pub type KeyedGroup = (Box<[Value]>, Group);

/// Bytes of a value, about.
pub(crate) fn value_bytes(value: &Value) -> usize {
    size_of::<Value>() + heap_bytes(value)
}

/// Bytes that a value holds on the heap, about; text that several values share is counted for
/// each of them.
pub(crate) fn heap_bytes(value: &Value) -> usize {
    const COUNTERS: usize = 16;
    match value {
        Value::String(text) => COUNTERS + text.len(),
        Value::Set(elements) | Value::Vector(elements) => {
            let element = |text: &std::sync::Arc<str>| 2 * COUNTERS + text.len();
            COUNTERS + elements.iter().map(element).sum::<usize>()
        }
        Value::Histogram(buckets) => COUNTERS + size_of_val(&**buckets),
        Value::Bool(_) | Value::Number(_) | Value::Time(_) | Value::Null => 0,
    }
}
