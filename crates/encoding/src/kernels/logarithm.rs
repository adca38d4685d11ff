//! Rows counted by cell and logarithmic bucket of a decimal: where each is counted, several at a
//! time.

use super::level::kernels;
use super::machine::Machine;

/// Buckets that grow with the values: that of a positive double x = 2^e · (1 + p) is
/// ⌈`factor` · (e + cubic(p))⌉ + `bias`, where cubic(p) = ((c2 · p + c1) · p + c0) · p stands for
/// the logarithm of 1 + p.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogScale {
    /// Buckets per power of two, about.
    pub factor: f64,
    /// c0, c1, c2.
    pub cubic: [f64; 3],
    /// The bucket of 1.
    pub bias: i32,
}

/// Decimals: (`from` + `step` · k) / `divisor`. The dividend must be an integer from 0 to 2^53, so
/// that the quotient is rounded once, and the divisor a power of ten up to 10^22.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quotients {
    /// The dividend where k is 0.
    pub from: f64,
    /// How much one k adds to it.
    pub step: f64,
    /// What it is divided by.
    pub divisor: f64,
}

/// Where rows are counted: `width` counts for each cell, the first of zero, the others of a bucket
/// each from the bucket `first` on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogCounts {
    /// The buckets.
    pub scale: LogScale,
    /// The bucket of the second count.
    pub first: i32,
    /// Counts of a cell.
    pub width: u32,
}

kernels! {
    /// Sets `out[i]` to where the row is counted whose cell is `cells[i]` and whose value is the
    /// quotient with k = `steps[i]`, modulo 2^32: the same bits on every machine.
    ///
    /// # Panics
    /// When `cells` or `out` are not as long as `steps`.
    pub fn log_places(
        cells: &[u32], steps: &[u32], quotients: Quotients, counts: LogCounts, out: &mut [u32],
    ) = log_places_body;
}

#[inline(always)]
fn log_places_body(
    _: impl Machine,
    cells: &[u32],
    steps: &[u32],
    quotients: Quotients,
    counts: LogCounts,
    out: &mut [u32],
) {
    assert!(out.len() == steps.len() && cells.len() == steps.len(), "a cell and a place for each");
    let LogCounts { scale, first, width } = counts;
    for ((place, &cell), &step) in out.iter_mut().zip(cells).zip(steps) {
        let dividend = quotients.from + quotients.step * f64::from(step);
        let bucket = scale.bucket(dividend / quotients.divisor).wrapping_sub(first).wrapping_add(1);
        let within = if dividend == 0.0 { 0 } else { bucket.cast_unsigned() };
        *place = cell.wrapping_mul(width).wrapping_add(within);
    }
}

impl LogScale {
    /// The bucket of a positive normal double.
    #[inline(always)]
    #[must_use]
    pub fn bucket(&self, value: f64) -> i32 {
        /// 2^52: a double between it and its double has its whole part in its lowest bits.
        const WHOLE: f64 = 4_503_599_627_370_496.0;
        let bits = value.to_bits();
        // The exponent as a double, without a conversion that only the newest processors do many
        // of at a time.
        let exponent = f64::from_bits(WHOLE.to_bits() | (bits >> 52)) - WHOLE - 1_023.0;
        let part = f64::from_bits((bits & ((1 << 52) - 1)) | 1.0f64.to_bits()) - 1.0;
        let [c0, c1, c2] = self.cubic;
        let log = exponent + ((c2 * part + c1) * part + c0) * part;
        #[expect(clippy::cast_possible_truncation, reason = "a logarithm is within 1,100")]
        let bucket = (log * self.factor).ceil() as i32;
        bucket + self.bias
    }
}

#[cfg(test)]
mod tests {
    use super::super::Level;
    use super::*;

    #[test]
    fn all_levels_give_the_bits_of_one_value_at_a_time() {
        let scale = LogScale { factor: 34.9, cubic: [10.0 / 7.0, -0.6, 6.0 / 35.0], bias: 40_000 };
        let mut seed = 3u64;
        let steps: Vec<u32> = (0..5_000u32)
            .map(|index| {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                u32::try_from(seed >> 32).expect("32 bits") >> (index % 32)
            })
            .collect();
        for (from, step, divisor) in
            [(1.0, 1.0, 1.0), (0.0, 1_000.0, 1e6), (4e15, 5.0, 1.0), (0.0, 1.0, 1e18)]
        {
            let quotients = Quotients { from, step, divisor };
            let counts = LogCounts { scale, first: 39_000, width: 5_000 };
            let cells: Vec<u32> = steps.iter().map(|k| k % 7).collect();
            let expected: Vec<u32> = cells
                .iter()
                .zip(&steps)
                .map(|(&cell, &k)| match from + step * f64::from(k) {
                    0.0 => cell * 5_000,
                    dividend => {
                        let bucket = scale.bucket(dividend / divisor) - 39_000 + 1;
                        (cell * 5_000).wrapping_add(bucket.cast_unsigned())
                    }
                })
                .collect();
            for level in Level::available() {
                for length in [0, 1, 7, 64, 1_023, steps.len()] {
                    let mut out = vec![0; length];
                    let (cells, steps) = (&cells[..length], &steps[..length]);
                    level.log_places(cells, steps, quotients, counts, &mut out);
                    assert_eq!(out, expected[..length], "{}", level.name());
                }
            }
        }
    }

    #[test]
    fn a_power_of_two_is_the_last_of_its_bucket() {
        let scale = LogScale { factor: 10.0, cubic: [10.0 / 7.0, -0.6, 6.0 / 35.0], bias: 0 };
        for exponent in -1_022..=1_023 {
            let value = 2f64.powi(exponent);
            assert_eq!(scale.bucket(value), exponent * 10);
            assert_eq!(scale.bucket(value * 1.001), exponent * 10 + 1);
        }
    }
}
