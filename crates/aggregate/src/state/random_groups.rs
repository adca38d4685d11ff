//! Totals of rows in random groups of keys, for the variance of estimates where all rows of a key
//! are kept or none.
//!
//! The keys are divided at random into groups of keys, and each group has its own total. Keys are
//! kept independently of each other, so the totals of the groups vary as the estimate does (Wolter,
//! "Introduction to Variance Estimation", 2007, chapter 2). A row of weight w counts with
//! √(w(w − 1)): the square of a key's sum is then what the key adds to the variance of Horvitz and
//! Thompson. If rows of one key have several weights, the variance is estimated too large, never
//! too small.

use std::collections::BTreeMap;

use hadal_types::limits::CONFIDENCE_KEY_GROUPS;
use hadal_types::{Number, Value, Weight};

use crate::state::sum::Sum;
use crate::state::value_hash::hash_value;
use crate::state::weighted_count::WeightedCount;

/// The rows of one random group of keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyGroup {
    /// The rows; each weighs √(w(w − 1)).
    pub count: WeightedCount,
    /// The sum of their values with these weights.
    pub sum: Sum,
}

/// The rows of the random groups that have some.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RandomGroups {
    groups: BTreeMap<u8, KeyGroup>,
}

/// The totals of all random groups.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Totals {
    /// Σw of each random group.
    pub(crate) weights: [f64; CONFIDENCE_KEY_GROUPS],
    /// Σwx of each random group.
    pub(crate) sums: [f64; CONFIDENCE_KEY_GROUPS],
}

impl RandomGroups {
    /// Adds a row; `None` counts as a row whose value is no number. Rows of weight 1 or less add
    /// nothing.
    pub fn add(&mut self, value: Option<Number>, key: &Value, weight: Weight) {
        let Some(deviation) = weight.sampling_deviation() else { return };
        let group = self.groups.entry(group_of(key)).or_default();
        group.count.add_row(deviation);
        if let Some(value) = value {
            group.sum.add(value, deviation);
        }
    }

    /// Adds the rows of `other`.
    pub fn merge(&mut self, other: &Self) {
        for (index, other) in &other.groups {
            let group = self.groups.entry(*index).or_default();
            group.count.merge(other.count);
            group.sum.merge(&other.sum);
        }
    }

    /// The random groups that have rows, by ascending number.
    pub fn groups(&self) -> impl Iterator<Item = (u8, &KeyGroup)> {
        self.groups.iter().map(|(index, group)| (*index, group))
    }

    /// The state of these groups. `None` if a number is too large, does not ascend, or belongs to a
    /// group without rows.
    #[must_use]
    pub fn from_groups(groups: Vec<(u8, KeyGroup)>) -> Option<Self> {
        let ascend = groups.windows(2).all(|pair| pair[0].0 < pair[1].0);
        let is_sound = |(index, group): &(u8, KeyGroup)| {
            usize::from(*index) < CONFIDENCE_KEY_GROUPS && group.count.rows() > 0
        };
        let is_sound = ascend && groups.iter().all(is_sound);
        is_sound.then(|| Self { groups: groups.into_iter().collect() })
    }

    /// The totals of all random groups. `None` if a sum is beyond the range of doubles.
    pub(crate) fn totals(&self) -> Option<Totals> {
        let mut totals =
            Totals { weights: [0.0; CONFIDENCE_KEY_GROUPS], sums: [0.0; CONFIDENCE_KEY_GROUPS] };
        for (index, group) in &self.groups {
            let index = usize::from(*index);
            *totals.weights.get_mut(index)? = group.count.count().to_f64();
            *totals.sums.get_mut(index)? = group.sum.total().ok()?.to_f64();
        }
        Some(totals)
    }

    /// Approximate bytes on the heap.
    pub(crate) fn heap_bytes(&self) -> usize {
        let groups = self.groups.values().map(|group| group.sum.heap_bytes());
        groups.sum::<usize>() + self.groups.len() * size_of::<(u8, KeyGroup)>()
    }
}

/// The covariance of two estimates, by their totals in each random group.
pub(crate) fn covariance(
    one: &[f64; CONFIDENCE_KEY_GROUPS],
    other: &[f64; CONFIDENCE_KEY_GROUPS],
) -> f64 {
    let count = CONFIDENCE_KEY_GROUPS as f64;
    let mean = |totals: &[f64]| totals.iter().sum::<f64>() / count;
    let (mean_of_one, mean_of_other) = (mean(one), mean(other));
    let products = one.iter().zip(other);
    let products = products.map(|(one, other)| (one - mean_of_one) * (other - mean_of_other));
    products.sum::<f64>() * count / (count - 1.0)
}

/// The random group of a key. The rows that are kept are chosen by another hash.
fn group_of(key: &Value) -> u8 {
    let group = hash_value(key) % CONFIDENCE_KEY_GROUPS as u64;
    u8::try_from(group).unwrap_or(u8::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weight(rate: i64) -> Weight {
        Weight::from_millionths(rate * Weight::UNIT).expect("a weight")
    }

    fn variance(rows: &[(i64, i64, i64)]) -> f64 {
        let mut groups = RandomGroups::default();
        for (key, value, rate) in rows {
            groups.add(Some(Number::integer(*value)), &Value::integer(*key), weight(*rate));
        }
        let totals = groups.totals().expect("sums").sums;
        covariance(&totals, &totals)
    }

    #[test]
    fn the_variance_is_that_of_sums_by_key() {
        // 10,000 keys of rate 10 with two rows of value 3 each: 90 times the square of 6.
        let rows: Vec<(i64, i64, i64)> = (0..20_000).map(|row| (row / 2, 3, 10)).collect();
        let (computed, expected) = (variance(&rows), 10_000.0 * 90.0 * 36.0);
        // With 127 degrees of freedom the standard error is 13 %.
        assert!((computed / expected - 1.0).abs() < 0.4, "{computed}, not {expected}");
        // Rows of their own keys: half of that.
        let rows: Vec<(i64, i64, i64)> = (0..20_000).map(|row| (row, 3, 10)).collect();
        let (computed, expected) = (variance(&rows), 20_000.0 * 90.0 * 9.0);
        assert!((computed / expected - 1.0).abs() < 0.4, "{computed}, not {expected}");
    }

    #[test]
    fn rows_of_weight_one_add_nothing() {
        let mut groups = RandomGroups::default();
        groups.add(Some(Number::integer(7)), &Value::string("a"), Weight::ONE);
        assert_eq!(groups, RandomGroups::default());
    }

    #[test]
    fn states_from_outside_are_checked() {
        let mut groups = RandomGroups::default();
        for key in 0..1_000 {
            groups.add(Some(Number::integer(key)), &Value::integer(key), weight(2));
        }
        let parts: Vec<(u8, KeyGroup)> =
            groups.groups().map(|(index, group)| (index, group.clone())).collect();
        assert_eq!(parts.len(), CONFIDENCE_KEY_GROUPS);
        assert_eq!(RandomGroups::from_groups(parts.clone()), Some(groups));
        assert_eq!(RandomGroups::from_groups(parts.iter().rev().cloned().collect()), None);
        let beyond = u8::try_from(CONFIDENCE_KEY_GROUPS).expect("fits");
        assert_eq!(RandomGroups::from_groups(vec![(beyond, parts[0].1.clone())]), None);
        assert_eq!(RandomGroups::from_groups(vec![(0, KeyGroup::default())]), None);
    }
}
