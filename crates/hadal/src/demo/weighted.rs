//! Picks by weight, and rounding.

use hadal_random::Random;

/// The nearest integer, within the range of an `i64`.
#[expect(clippy::cast_possible_truncation, reason = "a cast from a double saturates")]
pub(crate) const fn whole(value: f64) -> i64 {
    value.round() as i64
}

/// Picks indices by weight in constant time (the alias method: Walker 1977, Vose 1991).
#[derive(Clone, Debug)]
pub(crate) struct Weighted {
    /// Per index: the probability of this index, and the index to take otherwise.
    slots: Vec<(f64, usize)>,
}

impl Weighted {
    /// Index i is picked with a probability proportional to `weights[i]`; some weight must be
    /// above 0.
    pub(crate) fn new(weights: &[f64]) -> Self {
        let mean = weights.iter().sum::<f64>() / weights.len() as f64;
        let mut slots: Vec<(f64, usize)> =
            weights.iter().enumerate().map(|(index, weight)| (weight / mean, index)).collect();
        let (mut small, mut large): (Vec<usize>, Vec<usize>) =
            (0..slots.len()).partition(|&index| slots[index].0 < 1.0);
        while let (Some(&low), Some(&high)) = (small.last(), large.last()) {
            small.pop();
            slots[low].1 = high;
            slots[high].0 -= 1.0 - slots[low].0;
            if slots[high].0 < 1.0 {
                large.pop();
                small.push(high);
            }
        }
        Self { slots }
    }

    /// Index i is picked with a probability proportional to 1 / (i + 1)^exponent.
    pub(crate) fn zipf(length: usize, exponent: f64) -> Self {
        let weights: Vec<f64> = (1..=length).map(|rank| (rank as f64).powf(-exponent)).collect();
        Self::new(&weights)
    }

    /// Picks an index.
    pub(crate) fn pick(&self, random: &mut Random) -> usize {
        let index = random.index(self.slots.len());
        let (stay, other) = self.slots[index];
        if random.chance(stay) { index } else { other }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_kept() {
        let weighted = Weighted::new(&[5.0, 0.0, 3.0, 2.0]);
        let mut random = Random::new(1, 0);
        let mut counts = [0u32; 4];
        for _ in 0..100_000 {
            counts[weighted.pick(&mut random)] += 1;
        }
        let expected = [50_000.0, 0.0, 30_000.0, 20_000.0];
        for (count, expected) in counts.into_iter().zip(expected) {
            assert!((f64::from(count) - expected).abs() < 1_000.0, "{counts:?}");
        }
    }
}
