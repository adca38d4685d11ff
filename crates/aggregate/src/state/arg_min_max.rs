//! The values in the rows where another expression is smallest and largest.

use hadal_types::Value;

/// A key, and the value beside it.
pub(crate) type Keyed = (Value, Value);

/// The values beside the smallest and the largest key. Of several values beside one key it is the
/// smallest, so the order of additions does not matter. Pairs with a null are skipped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArgMinMax {
    /// The smallest and the largest key, each with its value.
    ends: Option<(Keyed, Keyed)>,
}

impl ArgMinMax {
    /// The state of these ends, or `None` if no rows can lead to them.
    #[must_use]
    pub fn from_parts(ends: Option<(Keyed, Keyed)>) -> Option<Self> {
        let fits = ends.as_ref().is_none_or(|(first, last)| {
            let is_same = first.0 == last.0;
            let has_null = [first, last].iter().any(|end| end.0.is_null() || end.1.is_null());
            first.0 <= last.0 && (!is_same || first.1 == last.1) && !has_null
        });
        fits.then_some(Self { ends })
    }

    /// The smallest and the largest key, each with its value; `None` without values.
    #[must_use]
    pub const fn ends(&self) -> Option<&(Keyed, Keyed)> {
        self.ends.as_ref()
    }

    /// Whether a value with this key can change the state.
    #[must_use]
    pub(crate) fn takes(&self, key: &Value) -> bool {
        let is_inside =
            self.ends.as_ref().is_some_and(|(first, last)| first.0 < *key && *key < last.0);
        !key.is_null() && !is_inside
    }

    /// Adds one value with its key.
    pub fn add(&mut self, value: &Value, key: &Value) {
        if value.is_null() || !self.takes(key) {
            return;
        }
        let Some((first, last)) = &mut self.ends else {
            let end = (key.clone(), value.clone());
            self.ends = Some((end.clone(), end));
            return;
        };
        if (key, value) < (&first.0, &first.1) {
            *first = (key.clone(), value.clone());
        }
        if *key > last.0 || (*key == last.0 && *value < last.1) {
            *last = (key.clone(), value.clone());
        }
    }

    /// Adds the values of `other`.
    pub fn merge(&mut self, other: &Self) {
        if let Some((first, last)) = &other.ends {
            self.add(&first.1, &first.0);
            self.add(&last.1, &last.0);
        }
    }

    /// The value beside the smallest key.
    #[must_use]
    pub(crate) fn at_min(&self) -> Value {
        self.ends.as_ref().map_or(Value::Null, |(first, _)| first.1.clone())
    }

    /// The value beside the largest key.
    #[must_use]
    pub(crate) fn at_max(&self) -> Value {
        self.ends.as_ref().map_or(Value::Null, |(_, last)| last.1.clone())
    }

    /// Bytes on the heap.
    pub(crate) fn heap_bytes(&self) -> usize {
        let bytes = |end: &Keyed| end.0.heap_bytes() + end.1.heap_bytes();
        self.ends.as_ref().map_or(0, |(first, last)| bytes(first) + bytes(last))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pairs: &[(i64, i64)]) -> ArgMinMax {
        let mut state = ArgMinMax::default();
        pairs
            .iter()
            .for_each(|&(value, key)| state.add(&Value::integer(value), &Value::integer(key)));
        state
    }

    #[test]
    fn ties_are_decided_by_the_smallest_value() {
        let pairs = [(5, 1), (3, 1), (4, 1), (9, 8), (7, 8), (8, 8), (1, 4)];
        let forward = of(&pairs);
        assert_eq!(forward.at_min(), Value::integer(3));
        assert_eq!(forward.at_max(), Value::integer(7));
        let mut backward = pairs;
        backward.reverse();
        assert_eq!(of(&backward), forward);
        for cut in 0..pairs.len() {
            let (left, right) = pairs.split_at(cut);
            let mut merged = of(right);
            merged.merge(&of(left));
            assert_eq!(merged, forward, "{cut}");
        }
    }

    #[test]
    fn nulls_are_skipped() {
        let mut state = of(&[]);
        state.add(&Value::Null, &Value::integer(1));
        state.add(&Value::integer(1), &Value::Null);
        assert_eq!((state.at_min(), state.at_max()), (Value::Null, Value::Null));
    }

    #[test]
    fn ends_from_outside_are_checked() {
        let end = |key, value| (Value::integer(key), Value::integer(value));
        let of_ends = |first, last| ArgMinMax::from_parts(Some((first, last)));
        assert_eq!(of_ends(end(1, 9), end(2, 8)), Some(of(&[(9, 1), (8, 2)])));
        assert_eq!(of_ends(end(2, 9), end(1, 8)), None, "upside down");
        assert_eq!(of_ends(end(1, 9), end(1, 8)), None, "two values of one key");
        assert_eq!(of_ends((Value::Null, Value::Null), (Value::Null, Value::Null)), None);
        assert_eq!(ArgMinMax::from_parts(None), Some(ArgMinMax::default()));
    }
}
