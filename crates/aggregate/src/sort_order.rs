//! The order of a result's rows: ORDER BY with its directions and its rule for nulls.

use std::cmp::{Ordering, Reverse};

use hadal_query::{EvalError, GroupInput, OrderKey, PrepareError, Prepared, Query};
use hadal_types::Value;

/// A query's prepared ORDER BY.
#[derive(Clone, Debug)]
pub(crate) struct SortOrder {
    keys: Vec<(Prepared<GroupInput>, SortDirection)>,
}

/// The direction of one sort key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SortDirection {
    /// Whether the largest value comes first.
    pub descending: bool,
    /// Whether nulls come before all values; otherwise they come after.
    pub nulls_first: bool,
}

/// The value of one sort key in one row. Only values with the same direction may be compared; they
/// compare in that direction.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SortKey {
    NullFirst,
    Ascending(Value),
    Descending(Reverse<Value>),
    NullLast,
}

impl SortDirection {
    /// The order of ties: smallest first, nulls last.
    pub(crate) const ASCENDING: Self = Self { descending: false, nulls_first: false };

    /// The order of two values.
    #[must_use]
    pub fn cmp(self, left: &Value, right: &Value) -> Ordering {
        match (left.is_null(), right.is_null(), self.nulls_first) {
            (true, true, _) => Ordering::Equal,
            (true, false, true) | (false, true, false) => Ordering::Less,
            (true, false, false) | (false, true, true) => Ordering::Greater,
            (false, false, _) if self.descending => right.cmp(left),
            (false, false, _) => left.cmp(right),
        }
    }

    pub(crate) fn key(self, value: Value) -> SortKey {
        match (value.is_null(), self.nulls_first, self.descending) {
            (true, true, _) => SortKey::NullFirst,
            (true, false, _) => SortKey::NullLast,
            (false, _, true) => SortKey::Descending(Reverse(value)),
            (false, _, false) => SortKey::Ascending(value),
        }
    }
}

impl SortKey {
    /// Approximate bytes on the heap.
    pub(crate) fn heap_bytes(&self) -> usize {
        match self {
            Self::Ascending(value) | Self::Descending(Reverse(value)) => value.heap_bytes(),
            Self::NullFirst | Self::NullLast => 0,
        }
    }
}

impl SortOrder {
    pub(crate) fn new(query: &Query) -> Result<Self, PrepareError> {
        let prepare = |key: &OrderKey| {
            let direction =
                SortDirection { descending: key.descending, nulls_first: key.nulls_first };
            let expr = Prepared::with_functions(&key.expr, &query.functions)?;
            Ok::<_, PrepareError>((expr, direction))
        };
        Ok(Self { keys: query.order.iter().map(prepare).collect::<Result<_, _>>()? })
    }

    /// The direction of each key.
    pub(crate) fn directions(&self) -> impl Iterator<Item = SortDirection> {
        self.keys.iter().map(|(_, direction)| *direction)
    }

    /// The values of all keys in one row, without their directions; `slot` returns the row's
    /// inputs.
    pub(crate) fn values(
        &self,
        slot: &impl Fn(&GroupInput) -> Value,
    ) -> Result<Vec<Value>, EvalError> {
        self.keys.iter().map(|(expr, _)| expr.value(slot)).collect()
    }

    /// The values that a row is sorted by; `slot` returns the row's inputs.
    pub(crate) fn sort_keys(
        &self,
        slot: &impl Fn(&GroupInput) -> Value,
    ) -> Result<Box<[SortKey]>, EvalError> {
        let keys = self.keys.iter();
        keys.map(|(expr, direction)| Ok(direction.key(expr.value(slot)?))).collect()
    }
}
