//! Ranks by a Zipf law in constant time and memory, whatever their number: rejection-inversion
//! (Hormann and Derflinger, "Rejection-inversion to generate variates from monotone discrete
//! distributions", ACM TOMACS 6, 1996).
//!
//! The probability of rank k is proportional to `h(k)` = k^-s. `H`, the integral of `h`, is
//! inverted at a uniform number. The nearest rank is taken if the number is in the part of its
//! interval that has exactly the area `h(k)`.

use hadal_random::Random;

/// The law of one column.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Zipf {
    ranks: f64,
    exponent: f64,
    /// `H` at the start of the first interval and at the end of the last one.
    area: (f64, f64),
    /// A rank nearer than this to the inverted number is always taken.
    sure: f64,
}

impl Zipf {
    /// Ranks 0 to `ranks` - 1, rank r with a probability proportional to (r + 1)^-`exponent`.
    pub(crate) fn new(ranks: u32, exponent: f64) -> Self {
        let mut zipf = Self { ranks: f64::from(ranks), exponent, area: (0.0, 0.0), sure: 0.0 };
        zipf.area = (zipf.integral(1.5) - 1.0, zipf.integral(zipf.ranks + 0.5));
        zipf.sure = 2.0 - zipf.inverted(zipf.integral(2.5) - zipf.height(2.0));
        zipf
    }

    /// Picks a rank.
    pub(crate) fn pick(&self, random: &mut Random) -> u32 {
        let (from, to) = self.area;
        loop {
            let at = to + random.unit() * (from - to);
            let near = self.inverted(at);
            let rank = near.round().clamp(1.0, self.ranks);
            if rank - near <= self.sure || at >= self.integral(rank + 0.5) - self.height(rank) {
                return crate::rounding::whole(rank - 1.0);
            }
        }
    }

    fn height(&self, rank: f64) -> f64 {
        (-self.exponent * rank.ln()).exp()
    }

    fn integral(&self, rank: f64) -> f64 {
        let power = 1.0 - self.exponent;
        let log = rank.ln();
        if power == 0.0 { log } else { (power * log).exp_m1() / power }
    }

    fn inverted(&self, area: f64) -> f64 {
        let power = 1.0 - self.exponent;
        if power == 0.0 { area.exp() } else { ((area * power).ln_1p() / power).exp() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_come_as_often_as_they_should() {
        for (ranks, exponent) in [(2_000, 1.0), (200, 1.1), (30, 0.8), (5_000, 0.3), (1, 1.0)] {
            let zipf = Zipf::new(ranks, exponent);
            let mut counts = vec![0.0; ranks as usize];
            let mut random = Random::new(7, 0);
            let picks = 400_000;
            for _ in 0..picks {
                counts[zipf.pick(&mut random) as usize] += 1.0;
            }
            let heights: Vec<f64> =
                (1..=ranks).map(|rank| f64::from(rank).powf(-exponent)).collect();
            let sum: f64 = heights.iter().sum();
            for (rank, (count, height)) in counts.iter().zip(heights).enumerate() {
                let expected = f64::from(picks) * height / sum;
                // Six standard deviations of a Poisson count.
                let room = 6.0 * expected.sqrt() + 1.0;
                assert!((count - expected).abs() < room, "{ranks} {exponent}: {rank}: {count}");
            }
        }
    }
}
