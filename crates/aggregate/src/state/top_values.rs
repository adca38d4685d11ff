//! The most frequent values, with their weights.
//!
//! Up to [`TOP_VALUES_EXACT`] different values every value is counted. Beyond that, only
//! [`TOP_VALUES_KEPT`] are kept: the weight of the next one is subtracted from all, and values that
//! have nothing left are dropped. So each weight is at most as much too small as was subtracted in
//! all, which is known and less than the total weight / [`TOP_VALUES_KEPT`]. Merging adds up
//! weights and errors.
//!
//! As long as every value is counted, the order of additions does not matter. Afterwards it may
//! change the weights, but not their bounds.
//!
//! Sources: J. Misra, D. Gries, "Finding repeated elements", 1982; P. K. Agarwal et al., "Mergeable
//! summaries", PODS 2012.

use hadal_types::limits::{TOP_VALUES_EXACT, TOP_VALUES_KEPT};
use hadal_types::{Value, Weight};
use hashbrown::HashMap;

use crate::state::weighted_count::number_of_weight;

/// The weights of values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TopValues {
    /// In millionths, each above zero.
    weights: HashMap<Value, i128>,
    /// How much each weight is too small at most, in millionths.
    error: i128,
    /// Heap bytes of the values.
    value_bytes: usize,
}

/// The parts of the state, for encoding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopValuesParts {
    /// Values in ascending order, with their weights in millionths.
    pub weights: Vec<(Value, i128)>,
    /// How much each weight is too small at most, in millionths.
    pub error: i128,
}

impl TopValues {
    /// Adds one value.
    pub fn add(&mut self, value: &Value, weight: Weight) {
        self.add_weight(value, i128::from(weight.millionths()));
    }

    /// Adds weight, in millionths, to a value; nulls are skipped.
    pub fn add_weight(&mut self, value: &Value, weight: i128) {
        self.count(value, weight);
        self.prune();
    }

    fn count(&mut self, value: &Value, weight: i128) {
        if value.is_null() {
            return;
        }
        if let Some(sum) = self.weights.get_mut(value) {
            *sum = sum.saturating_add(weight);
            return;
        }
        self.value_bytes += value.heap_bytes();
        self.weights.insert(value.clone(), weight);
    }

    /// Adds the values of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.error = self.error.saturating_add(other.error);
        other.weights.iter().for_each(|(value, &weight)| self.count(value, weight));
        self.prune();
    }

    /// Drops the rarest values, if there are too many.
    fn prune(&mut self) {
        if self.weights.len() <= TOP_VALUES_EXACT {
            return;
        }
        let mut weights: Vec<i128> = self.weights.values().copied().collect();
        let (_, &mut rest, _) =
            weights.select_nth_unstable_by(TOP_VALUES_KEPT, |left, right| right.cmp(left));
        self.weights.retain(|_, weight| {
            *weight -= rest;
            *weight > 0
        });
        self.error = self.error.saturating_add(rest);
        self.value_bytes = self.weights.keys().map(Value::heap_bytes).sum();
    }

    /// The `count` most frequent values, the most frequent first; of equally frequent ones the
    /// smallest first. Each is a text `value: weight`, or `value: lowest–highest` weight once
    /// values were dropped. Null without values.
    #[must_use]
    pub(crate) fn finish(&self, count: u16) -> Value {
        if self.weights.is_empty() {
            return Value::Null;
        }
        let mut values: Vec<(&Value, i128)> =
            self.weights.iter().map(|(value, &weight)| (value, weight)).collect();
        values.sort_unstable_by(|left, right| right.1.cmp(&left.1).then(left.0.cmp(right.0)));
        let text = |&(value, weight): &(&Value, i128)| {
            let lowest = number_of_weight(weight);
            match self.error {
                0 => format!("{value}: {lowest}"),
                error => {
                    let highest = number_of_weight(weight.saturating_add(error));
                    format!("{value}: {lowest}–{highest}")
                }
            }
        };
        Value::vector(values.iter().take(count.into()).map(text))
    }

    /// Approximate bytes on the heap.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.weights.allocation_size() + self.value_bytes
    }

    /// The parts of the state; equal states have equal parts.
    #[must_use]
    pub fn to_parts(&self) -> TopValuesParts {
        let mut weights: Vec<(Value, i128)> =
            self.weights.iter().map(|(value, &weight)| (value.clone(), weight)).collect();
        weights.sort_unstable();
        TopValuesParts { weights, error: self.error }
    }

    /// The state of these parts, or `None` if they are too many, out of order or range.
    #[must_use]
    pub fn from_parts(parts: TopValuesParts) -> Option<Self> {
        let TopValuesParts { weights, error } = parts;
        let fits = weights.len() <= TOP_VALUES_EXACT
            && error >= 0
            && weights.is_sorted_by(|left, right| left.0 < right.0)
            && weights.iter().all(|(value, weight)| !value.is_null() && *weight > 0);
        fits.then(|| {
            let value_bytes = weights.iter().map(|(value, _)| value.heap_bytes()).sum();
            Self { weights: weights.into_iter().collect(), error, value_bytes }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(state: &mut TopValues, values: impl Iterator<Item = usize>) {
        for value in values {
            state.add(&Value::integer(i64::try_from(value).expect("small")), Weight::ONE);
        }
    }

    fn texts(state: &TopValues, count: u16) -> String {
        state.finish(count).to_string()
    }

    #[test]
    fn the_most_frequent_come_first() {
        let mut state = TopValues::default();
        assert_eq!(state.finish(3), Value::Null);
        let rows = [("b", 1_000_000), ("a", 500_000), ("c", 2_500_000), ("a", 500_000)];
        for (text, millionths) in rows {
            state.add(&Value::string(text), Weight::from_millionths(millionths).expect("valid"));
        }
        state.add(&Value::Null, Weight::ONE);
        assert_eq!(texts(&state, 9), "[c: 2.5, a: 1, b: 1]");
        assert_eq!(texts(&state, 2), "[c: 2.5, a: 1]");
    }

    #[test]
    fn few_values_are_exact_in_any_order() {
        let mut whole = TopValues::default();
        add(&mut whole, (0..TOP_VALUES_EXACT).chain(0..9));
        let (mut left, mut right) = (TopValues::default(), TopValues::default());
        add(&mut left, (0..9).chain(5_000..TOP_VALUES_EXACT));
        add(&mut right, (0..5_000).rev());
        right.merge(&left);
        assert_eq!(right, whole);
        assert_eq!(texts(&whole, 2), "[0: 2, 1: 2]");
        assert_eq!(TopValues::from_parts(whole.to_parts()), Some(whole));
    }

    #[test]
    fn many_values_have_true_bounds() {
        const ROWS: usize = 200_000;
        // Value v has 1,000 / (v + 1) rows more than the others, which have few.
        let rows = (0..100).flat_map(|value| std::iter::repeat_n(value, 1_000 / (value + 1)));
        let rows: Vec<usize> = rows.chain((0..ROWS).map(|row| row % 50_000)).collect();
        let mut parts = [TopValues::default(), TopValues::default(), TopValues::default()];
        for (index, part) in parts.iter_mut().enumerate() {
            add(part, rows.iter().copied().skip(index).step_by(3));
        }
        for order in [[0, 1, 2], [2, 0, 1], [1, 2, 0]] {
            let mut merged = TopValues::default();
            order.iter().for_each(|&index: &usize| merged.merge(&parts[index]));
            let TopValuesParts { weights, error } = merged.to_parts();
            assert!(weights.len() <= TOP_VALUES_EXACT);
            let kept = i128::try_from(TOP_VALUES_KEPT).expect("small");
            let total = i128::try_from(rows.len()).expect("small") * 1_000_000;
            assert!(error > 0 && error <= total / kept, "{error}");
            for value in 0..10usize {
                let count = 1_000 / (value + 1) + ROWS / 50_000;
                let count = i128::try_from(count).expect("small") * 1_000_000;
                let number = Value::integer(i64::try_from(value).expect("small"));
                let weight =
                    weights.iter().find(|entry| entry.0 == number).map_or(0, |entry| entry.1);
                assert!((weight..=weight + error).contains(&count), "{value}: {weight} + {error}");
            }
            assert!(texts(&merged, 1).starts_with("[0: "), "{}", texts(&merged, 1));
        }
    }

    #[test]
    fn parts_from_outside_are_checked() {
        let of = |weights: &[(i64, i128)], error| {
            let weights = weights.iter().map(|&(value, weight)| (Value::integer(value), weight));
            TopValues::from_parts(TopValuesParts { weights: weights.collect(), error })
        };
        assert!(of(&[(1, 5), (2, 5)], 0).is_some());
        assert!(of(&[(2, 5), (1, 5)], 0).is_none(), "out of order");
        assert!(of(&[(1, 5), (1, 5)], 0).is_none(), "twice");
        assert!(of(&[(1, 0)], 0).is_none(), "no weight");
        assert!(of(&[(1, 5)], -1).is_none(), "a negative error");
        let many: Vec<(i64, i128)> = (0..8_193).map(|value| (value, 1)).collect();
        assert!(of(&many, 0).is_none(), "too many");
    }
}
