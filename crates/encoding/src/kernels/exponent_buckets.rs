//! Counts rows by cell and by bucket. A bucket is the leading bits of a decimal's double, so
//! buckets grow with the values and are found without a logarithm.
#![allow(unsafe_code)]

use super::primitives::Primitives;
use super::simd_level::kernels;

/// Rows whose positions are computed in one pass, so that these stay in the L1 cache.
const ROWS_AT_ONCE: usize = 512;

/// Decimals: (`from` + `step` · k) / `divisor`. The dividend must be an integer from 0 to 2^53, and
/// the divisor a power of ten up to 10^22, so that the quotient is rounded only once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScaledSteps {
    /// The dividend of k = 0.
    pub from: f64,
    /// The amount that one k adds to the dividend.
    pub step: f64,
    /// The divisor.
    pub divisor: f64,
}

/// Selects one of a cell's counts for a value: the first for all leading bits below `first`, the
/// next for leading bits equal to `first`, and so on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExponentBuckets {
    /// The number of fraction bits after the exponent, 1 to 20.
    pub fraction_bits: u32,
    /// The leading bits of the second count.
    pub first: u32,
}

/// The counts that rows are added to.
#[derive(Debug)]
pub struct BucketCounts<'c> {
    /// The start of each cell's counts.
    pub starts: &'c [u32],
    /// Counts up to 2^15 − 1; a count whose highest bit is set is *marked*.
    pub counts: &'c mut [u16],
    /// Receives the rows that belong to marked counts.
    pub marked: &'c mut Vec<u32>,
    /// Receives the index of each count that would have exceeded the maximum and was reset to 0;
    /// once per reset.
    pub full: &'c mut Vec<u32>,
}

/// The largest count that [`count_exponent_buckets`] writes. Narrow counts stay in the L1 cache.
pub(crate) const BUCKET_COUNT_MAX: u16 = u16::MAX >> 1;

kernels! {
    /// For each row, adds one to the count of its cell `cells[i]` and of the leading bits of its
    /// value, the quotient with k = `steps[i]`. The counts are the same on every machine.
    ///
    /// # Panics
    /// When `cells` and `steps` differ in length, or a count does not exist.
    pub fn count_exponent_buckets(
        cells: &[u32], steps: &[u32], quotients: ScaledSteps, bits: ExponentBuckets,
        counts: BucketCounts<'_>,
    ) = count_leading_body;
}

#[inline(always)]
fn count_leading_body(
    _: impl Primitives,
    cells: &[u32],
    steps: &[u32],
    quotients: ScaledSteps,
    bits: ExponentBuckets,
    BucketCounts { starts, counts, marked, full }: BucketCounts<'_>,
) {
    assert_eq!(cells.len(), steps.len(), "a cell for each value");
    let largest = |values: &[u32]| values.iter().fold(0, |last, value| *value.max(&last)) as usize;
    assert!(cells.is_empty() || largest(cells) < starts.len(), "a cell without counts");
    let last_start = largest(starts);
    let mut places = [0; ROWS_AT_ONCE];
    let chunks = cells.chunks(ROWS_AT_ONCE).zip(steps.chunks(ROWS_AT_ONCE));
    for (first, (cells, steps)) in (0..).step_by(ROWS_AT_ONCE).zip(chunks) {
        let places = &mut places[..cells.len()];
        // The division takes longer than everything else.
        if quotients.divisor == 1.0 {
            find_places(steps, bits, places, |k| quotients.dividend(k));
        } else {
            find_places(steps, bits, places, |k| quotients.value(k));
        }
        let last = last_start.checked_add(largest(places));
        assert!(last.is_some_and(|last| last < counts.len()), "a count beyond the others");
        for (row, (cell, place)) in cells.iter().zip(&*places).enumerate() {
            // SAFETY: no cell is above the largest cell, which has a start.
            let start = unsafe { *starts.get_unchecked(*cell as usize) };
            let at = start.wrapping_add(*place);
            // SAFETY: start and place are at most the largest start and place, whose sum was
            // checked above to be a valid index.
            let count = unsafe { counts.get_unchecked_mut(at as usize) };
            let next = count.wrapping_add(1);
            // Well predicted, because hardly any count is this large.
            if *count >= BUCKET_COUNT_MAX {
                if *count > BUCKET_COUNT_MAX {
                    marked.extend(u32::try_from(first + row));
                }
                if next & BUCKET_COUNT_MAX == 0 {
                    full.push(at);
                    *count &= !BUCKET_COUNT_MAX;
                    continue;
                }
            }
            *count = next;
        }
    }
}

#[inline(always)]
fn find_places(
    steps: &[u32],
    bits: ExponentBuckets,
    places: &mut [u32],
    value: impl Fn(u32) -> f64,
) {
    for (place, step) in places.iter_mut().zip(steps) {
        *place = bits.place_of(value(*step));
    }
}

impl ScaledSteps {
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

impl ExponentBuckets {
    /// The index among its cell's counts for a value that is not negative.
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
            let quotients = ScaledSteps { from, step, divisor };
            // The second bucket begins at 2^-64.
            let bits = ExponentBuckets { fraction_bits: 6, first: (1_023 - 64) << 6 };
            let starts: Vec<u32> = (0..7).map(|cell| cell * (130 << 6)).collect();
            for length in [0, 1, 7, 64, 511, 512, 513, steps.len()] {
                // Every third count is marked.
                let begin = |at: u32| if at.is_multiple_of(3) { 1 << 15 } else { 0 };
                let before: Vec<u16> = (0..7 * (130 << 6)).map(begin).collect();
                let (mut expected, mut all_marked) = (before.clone(), Vec::new());
                for (row, (&cell, &k)) in (0..).zip(cells.iter().zip(&steps)).take(length) {
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
                    let at = cell as usize * (130 << 6) + place;
                    expected[at] += 1;
                    all_marked.extend(at.is_multiple_of(3).then_some(row));
                }
                for level in Level::available() {
                    let (mut counts, mut marked) = (before.clone(), Vec::new());
                    let full = &mut Vec::new();
                    let (cells, steps) = (&cells[..length], &steps[..length]);
                    let (counts_of, marked_of) = (&mut counts, &mut marked);
                    let into = BucketCounts {
                        starts: &starts,
                        counts: counts_of,
                        marked: marked_of,
                        full,
                    };
                    level.count_exponent_buckets(cells, steps, quotients, bits, into);
                    assert!(counts == expected, "{length} rows at {}", level.name());
                    assert_eq!(marked, all_marked, "{length} rows at {}", level.name());
                }
            }
        }
    }

    #[test]
    fn counts_begin_anew_when_they_are_full() {
        let quotients = ScaledSteps { from: 1.0, step: 1.0, divisor: 1.0 };
        let bits = ExponentBuckets { fraction_bits: 6, first: 1_023 << 6 };
        for (mark, rows) in [(0, 100_000), (1 << 15, 100_000), (0, 1 << 15), (1 << 15, 32_767)] {
            for level in Level::available() {
                let (mut counts, mut marked, mut full) = ([0, mark, 0], Vec::new(), Vec::new());
                let into = BucketCounts {
                    starts: &[0],
                    counts: &mut counts,
                    marked: &mut marked,
                    full: &mut full,
                };
                level.count_exponent_buckets(&vec![0; rows], &vec![0; rows], quotients, bits, into);
                assert_eq!(marked.len(), if mark > 0 { rows } else { 0 });
                assert!(full.iter().all(|at| *at == 1));
                let again = usize::from(counts[1] & !mark);
                assert_eq!((counts[1] & mark, full.len() << 15 | again), (mark, rows));
            }
        }
    }

    #[test]
    #[should_panic(expected = "a count beyond the others")]
    fn a_cell_without_counts_panics() {
        let bits = ExponentBuckets { fraction_bits: 6, first: 0 };
        let quotients = ScaledSteps { from: 1.0, step: 1.0, divisor: 1.0 };
        let (counts, marked, full) = (&mut [0; 100_000], &mut Vec::new(), &mut Vec::new());
        let counts = BucketCounts { starts: &[0, 100_000], counts, marked, full };
        count_exponent_buckets(&[1], &[0], quotients, bits, counts);
    }

    #[test]
    #[should_panic(expected = "a cell without counts")]
    fn a_cell_without_a_start_panics() {
        let bits = ExponentBuckets { fraction_bits: 6, first: 0 };
        let quotients = ScaledSteps { from: 1.0, step: 1.0, divisor: 1.0 };
        let (counts, marked, full) = (&mut [0; 100_000], &mut Vec::new(), &mut Vec::new());
        let counts = BucketCounts { starts: &[0], counts, marked, full };
        count_exponent_buckets(&[1], &[0], quotients, bits, counts);
    }
}
