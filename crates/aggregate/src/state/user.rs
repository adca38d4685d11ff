//! The state of a user aggregate in one group.

use hadal_query::{AggregateId, AggregateUdf, UdfCall, UdfColumn, UdfState};
use hadal_types::{Value, Weight};

/// The state of a user aggregate. The aggregate's definition creates it with the first value. Equal
/// states have equal bytes.
#[derive(Debug)]
pub struct UserState {
    aggregate: AggregateId,
    state: Option<Box<dyn UdfState>>,
}

impl UserState {
    /// A state without values.
    pub(crate) const fn new(aggregate: AggregateId) -> Self {
        Self { aggregate, state: None }
    }

    /// A decoded state; `None` is a state without values.
    #[must_use]
    pub const fn from_parts(aggregate: AggregateId, state: Option<Box<dyn UdfState>>) -> Self {
        Self { aggregate, state }
    }

    /// The aggregate's index in the query's registry.
    #[must_use]
    pub const fn aggregate(&self) -> AggregateId {
        self.aggregate
    }

    /// Adds one row's value with the aggregate's definition, unless the value is null.
    pub fn add(&mut self, definition: &dyn AggregateUdf, value: &Value, weight: Weight) {
        if !value.is_null() {
            self.state.get_or_insert_with(|| definition.new_state()).add(value, weight);
        }
    }

    /// Adds many rows with the aggregate's definition: see [`UdfState::add_rows`].
    pub fn add_rows(
        &mut self,
        definition: &dyn AggregateUdf,
        columns: &[UdfColumn],
        weights: &[f64],
        call: &UdfCall<'_>,
    ) {
        let state = self.state.get_or_insert_with(|| definition.new_state());
        state.add_rows(columns, weights, call);
    }

    /// Adds the values of `other`.
    pub(crate) fn merge(&mut self, other: &Self) {
        match (&mut self.state, &other.state) {
            (Some(state), Some(other)) => state.merge(&**other),
            (state @ None, Some(other)) => *state = Some(other.boxed_clone()),
            (_, None) => {}
        }
    }

    /// The aggregate; null without values.
    pub(crate) fn finish(&self) -> Value {
        self.state.as_ref().map_or(Value::Null, |state| state.finish())
    }

    /// The state's bytes; `None` without values.
    #[must_use]
    pub fn encode(&self) -> Option<Vec<u8>> {
        self.state.as_ref().map(|state| state.encode())
    }

    /// Approximate bytes on the heap.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.state.as_ref().map_or(0, |state| size_of_val(&**state) + state.heap_bytes())
    }
}

impl Clone for UserState {
    fn clone(&self) -> Self {
        let state = self.state.as_ref().map(|state| state.boxed_clone());
        Self { aggregate: self.aggregate, state }
    }
}

impl PartialEq for UserState {
    fn eq(&self, other: &Self) -> bool {
        self.aggregate == other.aggregate && self.encode() == other.encode()
    }
}

impl Eq for UserState {}
