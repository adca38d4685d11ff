//! Rows counted by cell and by the leading bits of a decimal's double: buckets that grow with the
//! values, found without a logarithm.

use super::level::kernels;
use super::machine::Machine;

/// So many places are found at a time, and stay in the nearest cache.
const ROWS_AT_ONCE: usize = 512;

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

/// Where rows are counted: `width` counts for each cell, the first for all below `first`, the next
/// for leading bits that are `first`, and so on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LeadingBits {
    /// How many bits of the fraction follow the exponent, 1 to 20.
    pub fraction_bits: u32,
    /// The leading bits of the second count.
    pub first: u32,
    /// Counts of a cell.
    pub width: u32,
}

kernels! {
    /// Adds one for each row to the count of its cell, `cells[i]`, and of the leading bits of its
    /// value, the quotient with k = `steps[i]`: the same counts on every machine.
    ///
    /// # Panics
    /// When `cells` are not as many as `steps`, or there is no such count.
    pub fn count_leading(
        cells: &[u32], steps: &[u32], quotients: Quotients, bits: LeadingBits, counts: &mut [u32],
    ) = count_leading_body;
}

#[inline(always)]
fn count_leading_body(
    _: impl Machine,
    cells: &[u32],
    steps: &[u32],
    quotients: Quotients,
    bits: LeadingBits,
    counts: &mut [u32],
) {
    assert_eq!(cells.len(), steps.len(), "a cell for each value");
    let mut places = [0; ROWS_AT_ONCE];
    for (cells, steps) in cells.chunks(ROWS_AT_ONCE).zip(steps.chunks(ROWS_AT_ONCE)) {
        let places = &mut places[..cells.len()];
        // Dividing takes longer than all the rest.
        if quotients.divisor == 1.0 {
            find_places(cells, steps, bits, places, |k| quotients.dividend(k));
        } else {
            find_places(cells, steps, bits, places, |k| quotients.value(k));
        }
        for &place in &*places {
            let count = &mut counts[place as usize];
            *count = count.wrapping_add(1);
        }
    }
}

#[inline(always)]
fn find_places(
    cells: &[u32],
    steps: &[u32],
    bits: LeadingBits,
    places: &mut [u32],
    value: impl Fn(u32) -> f64,
) {
    for ((place, &cell), &step) in places.iter_mut().zip(cells).zip(steps) {
        *place = cell.wrapping_mul(bits.width).wrapping_add(bits.place_of(value(step)));
    }
}

impl Quotients {
    /// The value of a k.
    #[inline(always)]
    #[must_use]
    pub fn value(&self, k: u32) -> f64 {
        self.dividend(k) / self.divisor
    }

    #[inline(always)]
    fn dividend(&self, k: u32) -> f64 {
        self.from + self.step * f64::from(k)
    }
}

impl LeadingBits {
    /// Which count of its cell a value is for, that is not negative.
    #[inline(always)]
    #[must_use]
    pub fn place_of(&self, value: f64) -> u32 {
        #[expect(clippy::cast_possible_truncation, reason = "an exponent and up to 20 bits")]
        let leading = (value.to_bits() >> (52 - self.fraction_bits)) as u32;
        (leading + 1).max(self.first) - self.first
    }
}

#[cfg(test)]
mod tests {
    use super::super::Level;
    use super::*;

    #[test]
    fn all_levels_count_as_one_value_at_a_time() {
        let mut seed = 3u64;
        let steps: Vec<u32> = (0..5_000u32)
            .map(|index| {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                u32::try_from(seed >> 32).expect("32 bits") >> (index % 33).min(31)
            })
            .collect();
        let cells: Vec<u32> = steps.iter().map(|k| k % 7).collect();
        for (from, step, divisor) in
            [(1.0, 1.0, 1.0), (0.0, 1_000.0, 1e6), (4e15, 5.0, 1.0), (0.0, 1.0, 1e18)]
        {
            let quotients = Quotients { from, step, divisor };
            // From 2^-64 on.
            let bits = LeadingBits { fraction_bits: 6, first: (1_023 - 64) << 6, width: 130 << 6 };
            for length in [0, 1, 7, 64, 511, 512, 513, steps.len()] {
                let mut expected = vec![0; 7 * (130 << 6)];
                for (&cell, &k) in cells.iter().zip(&steps).take(length) {
                    let value = (from + step * f64::from(k)) / divisor;
                    let octave = value.log2().floor();
                    let within = ((value / octave.exp2() - 1.0) * 64.0).floor();
                    let place =
                        if value == 0.0 { 0.0 } else { (octave + 64.0) * 64.0 + within + 1.0 };
                    #[expect(
                        clippy::cast_possible_truncation,
                        clippy::cast_sign_loss,
                        reason = "small"
                    )]
                    let place = place as usize;
                    expected[cell as usize * (130 << 6) + place] += 1;
                }
                for level in Level::available() {
                    let mut counts = vec![0; expected.len()];
                    let (cells, steps) = (&cells[..length], &steps[..length]);
                    level.count_leading(cells, steps, quotients, bits, &mut counts);
                    assert!(counts == expected, "{length} rows at {}", level.name());
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "out of bounds")]
    fn a_cell_without_counts_panics() {
        let bits = LeadingBits { fraction_bits: 6, first: 0, width: 100_000 };
        let quotients = Quotients { from: 1.0, step: 1.0, divisor: 1.0 };
        count_leading(&[1], &[0], quotients, bits, &mut [0; 100_000]);
    }
}
