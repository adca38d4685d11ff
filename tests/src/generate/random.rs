//! Random numbers from a seed: `SplitMix64` (Steele, Lea and Flood, OOPSLA 2014).

/// A stream of random numbers that depends on its seed only.
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

/// Derives the seed of part `index` from `seed`.
#[must_use]
pub fn derive(seed: u64, index: u64) -> u64 {
    Random::new(seed ^ mix(index.wrapping_add(1))).next_u64()
}

fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

impl Random {
    /// The stream of this seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.state)
    }

    /// A number in `0..end`; 0 if `end` is 0.
    pub fn below(&mut self, end: usize) -> usize {
        let Ok(end) = u64::try_from(end) else { return 0 };
        usize::try_from(self.next_u64().checked_rem(end).unwrap_or(0)).unwrap_or(0)
    }

    /// A number from `first` to `last`, both included.
    pub fn between(&mut self, first: i64, last: i64) -> i64 {
        let span = i128::from(last) - i128::from(first) + 1;
        let offset = i128::from(self.next_u64()).checked_rem(span).unwrap_or(0);
        i64::try_from(i128::from(first) + offset).unwrap_or(first)
    }

    /// True with a probability of `percent` in a hundred.
    pub fn percent(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of `choices`, which are not empty.
    pub fn pick<'c, T>(&mut self, choices: &'c [T]) -> &'c T {
        &choices[self.below(choices.len())]
    }
}
