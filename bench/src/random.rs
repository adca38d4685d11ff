//! Random numbers that are the same on every run: xoshiro256++ (Blackman and Vigna, 2019), seeded
//! through SplitMix64, and the distributions of the two tables.

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

    /// A whole number from 0 to `bound` - 1; 0 when `bound` is 0.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        below(self.next(), bound)
    }

    /// The same for small bounds.
    pub(crate) fn pick(&mut self, bound: u32) -> u32 {
        u32::try_from(self.below(u64::from(bound))).unwrap_or_default()
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

    /// From a lognormal distribution with this median and sigma, to the nearest whole number.
    pub(crate) fn lognormal(&mut self, median: f64, sigma: f64) -> u32 {
        whole(median * (sigma * self.normal()).exp())
    }

    /// From an exponential distribution with this mean.
    pub(crate) fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.unit()).ln()
    }
}

/// A random 64-bit number scaled to 0 to `bound` - 1 (Lemire, 2019, without the rejection, whose
/// bias is below 2^-32 for the bounds used here).
pub(crate) fn below(random: u64, bound: u64) -> u64 {
    let wide = u128::from(random) * u128::from(bound);
    u64::try_from(wide >> 64).unwrap_or_default()
}

/// The finalizer of SplitMix64: every bit of the input moves every bit of the output.
pub(crate) const fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// The nearest whole number, at least 0; the largest one where it does not fit.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a cast from a double saturates"
)]
pub(crate) const fn whole(value: f64) -> u32 {
    value.round() as u32
}
