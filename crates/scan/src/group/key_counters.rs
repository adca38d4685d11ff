//! Upper bounds of what groups can have, before any group is made.
//!
//! Rows add to one of many counters, chosen by the hash of their group's key. A counter is then at
//! least what each of its groups has. This is one row of a count-min sketch (Cormode and
//! Muthukrishnan, "An Improved Data Stream Summary", Journal of Algorithms 2005).

use std::sync::Arc;

use hadal_types::{Value, Weight};

use crate::column::column_values::ColumnValues;
use crate::column::weights::Weights;

/// The counters have 256 KiB: they stay in the L2 cache beside a block's columns.
const COUNTER_BITS: u32 = 15;

/// Counters by hash, of the unit that a top list is ranked by.
#[derive(Clone, Debug)]
pub struct KeyCounters {
    sums: Vec<u64>,
}

/// What a row adds to its counter.
pub(crate) enum Amounts<'v> {
    /// One.
    Rows,
    /// Its weight, in millionths.
    Weights(&'v Weights),
    /// Its value times its weight, in millionths, or this amount if it has no value.
    Values { values: &'v ColumnValues<'v>, weights: &'v Weights, of_null: u64 },
}

/// Which groups a scan leaves out: all whose counter is below a bound.
#[derive(Clone, Debug)]
pub struct KeyBound {
    /// The counters of all rows that the query matches.
    pub counters: Arc<KeyCounters>,
    /// What a group must have at least, in the units of the rank that the counters are of.
    pub least: u64,
}

impl Default for KeyCounters {
    fn default() -> Self {
        Self { sums: vec![0; Self::LEN] }
    }
}

impl KeyCounters {
    /// The number of counters.
    pub const LEN: usize = 1 << COUNTER_BITS;

    fn index(hash: u64) -> usize {
        (hash >> (u64::BITS - COUNTER_BITS)) as usize
    }

    /// Adds the counters of other rows.
    pub fn merge(&mut self, other: &Self) {
        for (sum, more) in self.sums.iter_mut().zip(&other.sums) {
            *sum = sum.saturating_add(*more);
        }
    }

    /// The share of all rows, by what they add, whose counter reaches `least`: 0 to 1.
    #[must_use]
    pub fn share_from(&self, least: u64) -> f64 {
        let total = |sums: &mut dyn Iterator<Item = &u64>| sums.map(|&sum| sum as f64).sum::<f64>();
        let all = total(&mut self.sums.iter());
        if all > 0.0 {
            total(&mut self.sums.iter().filter(|sum| **sum >= least)) / all
        } else {
            0.0
        }
    }

    /// Adds rows, each with the hash of its key.
    pub(crate) fn add(&mut self, rows: &[u32], hashes: &[u64], amounts: &Amounts<'_>) {
        match amounts {
            Amounts::Rows => self.add_all(hashes, 1),
            Amounts::Weights(Weights::One) => self.add_all(hashes, Weight::UNIT.cast_unsigned()),
            Amounts::Weights(weights) => {
                self.add_each(rows, hashes, |row| weights.millionths_of(row).cast_unsigned())
            }
            Amounts::Values { values: ColumnValues::Numbers(numbers), weights, of_null }
                if numbers.is_plain() =>
            {
                let unit = 0.1f64.powi(numbers.scale.into());
                self.add_each(rows, hashes, |row| match numbers.has(row) {
                    true => {
                        let value = numbers.mantissas.get(row) as f64 * unit;
                        product(value, weights.millionths_of(row))
                    }
                    false => *of_null,
                });
            }
            Amounts::Values { values, weights, of_null } => {
                self.add_each(rows, hashes, |row| match values.value(row) {
                    Value::Null => *of_null,
                    Value::Number(number) => product(number.to_f64(), weights.millionths_of(row)),
                    _ => u64::MAX,
                });
            }
        }
    }

    fn add_each(&mut self, rows: &[u32], hashes: &[u64], amount: impl Fn(usize) -> u64) {
        for (&row, &hash) in rows.iter().zip(hashes) {
            let sum = &mut self.sums[Self::index(hash)];
            *sum = sum.saturating_add(amount(row as usize));
        }
    }

    fn add_all(&mut self, hashes: &[u64], each: u64) {
        for &hash in hashes {
            let sum = &mut self.sums[Self::index(hash)];
            *sum = sum.saturating_add(each);
        }
    }
}

/// At least the product. Of a negative value, the largest amount: its counter bounds nothing.
fn product(value: f64, millionths: i64) -> u64 {
    // More than the rounding errors of a sum of products.
    const SLACK: f64 = 1.0 + 1e-9;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "not negative, and the cast saturates"
    )]
    if value >= 0.0 { (value * millionths as f64 * SLACK).ceil() as u64 } else { u64::MAX }
}

impl KeyBound {
    /// Whether the group of a key with this hash may have enough.
    #[inline]
    pub(crate) fn admits(&self, hash: u64) -> bool {
        self.counters.sums[KeyCounters::index(hash)] >= self.least
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_is_at_least_each_of_its_groups() {
        let (mut all, mut other) = (KeyCounters::default(), KeyCounters::default());
        let weights = Weights::ByRow(vec![Weight::UNIT, 3 * Weight::UNIT]);
        all.add(&[0, 1], &[7, 7 << 60], &Amounts::Weights(&weights));
        other.add(&[1], &[7], &Amounts::Weights(&weights));
        all.merge(&other);
        let unit = Weight::UNIT.cast_unsigned();
        let bound = |least: u64| KeyBound { counters: Arc::new(all.clone()), least };
        assert!(bound(4 * unit).admits(7) && !bound(4 * unit + 1).admits(7));
        assert!(bound(3 * unit).admits(7 << 60) && !bound(4 * unit).admits(7 << 60));
        assert!((all.share_from(4 * unit) - 4.0 / 7.0).abs() < 1e-9);
    }

    #[test]
    fn counters_do_not_overflow() {
        let mut counters = KeyCounters::default();
        let weights = Weights::ByRow(vec![i64::MAX; 3]);
        counters.add(&[0, 1, 2], &[1, 1, 1], &Amounts::Weights(&weights));
        let bound = KeyBound { counters: Arc::new(counters), least: u64::MAX };
        assert!(bound.admits(1));
    }

    #[test]
    fn a_product_is_rounded_up_and_a_negative_one_bounds_nothing() {
        for (value, amount) in [(0.0, 0), (1.0, 3_000_001), (0.5, 1_500_001), (1e300, u64::MAX)] {
            assert_eq!(product(value, 3 * Weight::UNIT), amount, "{value}");
        }
        assert_eq!(product(-1e-9, 1), u64::MAX);
        assert_eq!(product(f64::NAN, 1), u64::MAX);
    }
}
