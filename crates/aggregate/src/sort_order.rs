//! The order of an answer's rows: ORDER BY with its directions and its rule for nulls.

use std::cmp::{Ordering, Reverse};

use hadal_query::{EvalError, GroupInput, OrderKey, PrepareError, Prepared, Query};
use hadal_types::Value;

/// A query's ORDER BY, ready to run.
#[derive(Clone, Debug)]
pub(crate) struct SortOrder {
    keys: Vec<(Prepared<GroupInput>, SortDirection)>,
}

/// How one thing is ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SortDirection {
    /// The largest value first.
    pub descending: bool,
    /// Nulls before all values, otherwise after them.
    pub nulls_first: bool,
}

/// One thing that rows are compared by. Keys made with the same direction compare as it says;
/// others are never compared.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SortKey {
    NullFirst,
    Ascending(Value),
    Descending(Reverse<Value>),
    NullLast,
}

impl SortDirection {
    /// How ties are ordered: smallest first, nulls last.
    pub(crate) const ASCENDING: Self = Self { descending: false, nulls_first: false };

    /// Which of two values comes first.
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
    /// Bytes on the heap, about.
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

    /// What a row, of which `slot` gives the slots, is compared by.
    pub(crate) fn sort_keys(
        &self,
        slot: &impl Fn(&GroupInput) -> Value,
    ) -> Result<Box<[SortKey]>, EvalError> {
        let keys = self.keys.iter();
        keys.map(|(expr, direction)| Ok(direction.key(expr.value(slot)?))).collect()
    }
}
