//! Upper bounds of what groups can have, before any group is made.
//!
//! Rows add to one of many counters, chosen by the hash of their group's key. A counter is then at
//! least what each of its groups has. This is one row of a count-min sketch (Cormode and
//! Muthukrishnan, "An Improved Data Stream Summary", Journal of Algorithms 2005).

use std::sync::Arc;

use hadal_aggregate::Rank;
use hadal_types::Weight;

use crate::column::weights::Weights;

/// The counters have 256 KiB: they stay in the L2 cache beside a block's columns.
const COUNTER_BITS: u32 = 15;

/// Counters by hash, of the unit that a top list is ranked by.
#[derive(Clone, Debug)]
pub struct KeyCounters {
    sums: Vec<u64>,
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
    pub(crate) fn add(&mut self, rows: &[u32], hashes: &[u64], rank: Rank, weights: &Weights) {
        match (rank, weights) {
            (Rank::RawCount, _) => self.add_all(hashes, 1),
            (_, Weights::One) => self.add_all(hashes, Weight::UNIT.cast_unsigned()),
            _ => {
                for (&row, &hash) in rows.iter().zip(hashes) {
                    let weight = weights.millionths_of(row as usize).cast_unsigned();
                    let sum = &mut self.sums[Self::index(hash)];
                    *sum = sum.saturating_add(weight);
                }
            }
        }
    }

    fn add_all(&mut self, hashes: &[u64], each: u64) {
        for &hash in hashes {
            let sum = &mut self.sums[Self::index(hash)];
            *sum = sum.saturating_add(each);
        }
    }
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
        all.add(&[0, 1], &[7, 7 << 60], Rank::Count, &weights);
        other.add(&[1], &[7], Rank::Count, &weights);
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
        counters.add(&[0, 1, 2], &[1, 1, 1], Rank::Count, &weights);
        let bound = KeyBound { counters: Arc::new(counters), least: u64::MAX };
        assert!(bound.admits(1));
    }
}
