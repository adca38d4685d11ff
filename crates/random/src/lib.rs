//! Random numbers for generated data, the same on every run: xoshiro256++ (Blackman and Vigna,
//! 2019), seeded through SplitMix64, and the distributions of the demo and the benchmarks.

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub struct Random([u64; 4]);

impl Random {
    /// Stream `stream` of `seed`: equal arguments give equal numbers, different ones unrelated
    /// numbers.
    #[must_use]
    pub fn new(seed: u64, stream: u64) -> Self {
        let mut state = mix(seed) ^ stream;
        Self(std::array::from_fn(|_| {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            mix(state)
        }))
    }

    /// Any 64 bits.
    pub fn next_u64(&mut self) -> u64 {
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
    pub fn below(&mut self, bound: u64) -> u64 {
        below(self.next_u64(), bound)
    }

    /// The same for small bounds.
    pub fn below_u32(&mut self, bound: u32) -> u32 {
        u32::try_from(self.below(u64::from(bound))).unwrap_or_default()
    }

    /// The same, for indices.
    pub fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).unwrap_or_default()
    }

    /// From 0 inclusive to 1 exclusive.
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// True with this probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// From a normal distribution of mean 0 and deviation 1 (Box and Muller, 1958).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }

    /// From a lognormal distribution with this median and sigma.
    pub fn lognormal(&mut self, median: f64, sigma: f64) -> f64 {
        median * (sigma * self.normal()).exp()
    }

    /// From an exponential distribution with this mean.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.unit()).ln()
    }
}

/// A random 64-bit number scaled to 0 to `bound` - 1 (Lemire, 2019, without the rejection, whose
/// bias is below 2^-32 for the bounds used here).
#[must_use]
pub fn below(random: u64, bound: u64) -> u64 {
    let wide = u128::from(random) * u128::from(bound);
    u64::try_from(wide >> 64).unwrap_or_default()
}

/// The finalizer of SplitMix64: every bit of the input moves every bit of the output.
#[must_use]
pub const fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_repeatable_and_differ() {
        let numbers = |seed, stream| {
            let mut random = Random::new(seed, stream);
            [random.next_u64(), random.next_u64(), random.next_u64()]
        };
        assert_eq!(numbers(1, 2), numbers(1, 2));
        assert_ne!(numbers(1, 2), numbers(1, 3));
        assert_ne!(numbers(1, 2), numbers(2, 2));
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
