//! Random numbers that are the same on every run: xoshiro256++ (Blackman and Vigna, 2019), seeded
//! through SplitMix64, and the distributions that the demo needs.

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub(crate) struct Random([u64; 4]);

impl Random {
    /// Stream `stream` of `seed`: equal arguments give equal numbers, others unrelated ones.
    pub(crate) fn new(seed: u64, stream: u64) -> Self {
        let mut state = mix(seed) ^ stream;
        Self(std::array::from_fn(|_| {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            mix(state)
        }))
    }

    fn next(&mut self) -> u64 {
        let Self([a, b, c, d]) = self;
        let result = a.wrapping_add(*d).rotate_left(23).wrapping_add(*a);
        let shifted = *b << 17;
        *c ^= *a;
        *d ^= *b;
        *b ^= *c;
        *a ^= *d;
        *c ^= shifted;
        *d = d.rotate_left(45);
        result
    }

    /// A whole number from 0 to `bound` − 1; 0 when `bound` is 0.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        let wide = u128::from(self.next()) * u128::from(bound);
        u64::try_from(wide >> 64).unwrap_or_default()
    }

    /// The same, for indices.
    pub(crate) fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).unwrap_or_default()
    }

    /// From 0 inclusive to 1 exclusive.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// True with this probability.
    pub(crate) fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// From a normal distribution of mean 0 and deviation 1 (Box and Muller, 1958).
    pub(crate) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }

    /// From a lognormal distribution with this median and sigma.
    pub(crate) fn lognormal(&mut self, median: f64, sigma: f64) -> f64 {
        median * (sigma * self.normal()).exp()
    }

    /// From an exponential distribution with this mean.
    pub(crate) fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.unit()).ln()
    }
}

/// The finalizer of SplitMix64: every bit of the input moves every bit of the output.
pub(crate) const fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// The nearest whole number, within the range of an `i64`.
#[expect(clippy::cast_possible_truncation, reason = "a cast from a double saturates")]
pub(crate) const fn whole(value: f64) -> i64 {
    value.round() as i64
}

/// Picks indices by weight in constant time (the alias method: Walker 1977, Vose 1991).
#[derive(Clone, Debug)]
pub(crate) struct Weighted {
    /// Per index: the probability to stay with it, and where to go else.
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
    fn streams_are_repeatable_and_differ() {
        let numbers = |seed, stream| {
            let mut random = Random::new(seed, stream);
            [random.next(), random.next(), random.next()]
        };
        assert_eq!(numbers(1, 2), numbers(1, 2));
        assert_ne!(numbers(1, 2), numbers(1, 3));
        assert_ne!(numbers(1, 2), numbers(2, 2));
    }

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

    #[test]
    fn distributions_have_their_middles() {
        let mut random = Random::new(7, 0);
        let mean =
            |mut draw: Box<dyn FnMut() -> f64>| (0..50_000).map(|_| draw()).sum::<f64>() / 5e4;
        let (mut normal, mut exponential) = (random.clone(), random.clone());
        assert!(mean(Box::new(move || normal.normal())).abs() < 0.02);
        assert!((mean(Box::new(move || exponential.exponential(8.0))) - 8.0).abs() < 0.2);
        let above = (0..50_000).filter(|_| random.lognormal(100.0, 1.1) > 100.0).count();
        assert!((24_500..25_500).contains(&above), "{above}");
    }
}
