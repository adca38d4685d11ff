//! Measures how fast one core reads memory: the ceiling of every scan.

use std::hint::black_box;
use std::io::{self, Write};
use std::path::Path;
use std::time::Instant;

use crate::error::Error;

/// Far more than any cache holds.
const BYTES: usize = 1 << 30;
const ROUNDS: usize = 7;
/// Independent sums, so that no addition waits for the one before.
const LANES: usize = 32;

/// Prints the best speed of a few rounds of summing a buffer, in GB/s.
pub(crate) fn print() -> Result<(), Error> {
    let numbers = numbers(BYTES);
    let best = (0..ROUNDS).map(|_| read_speed(&numbers)).fold(0.0, f64::max);
    writeln!(io::stdout(), "{best:.2}").map_err(Error::io("write to", Path::new("standard output")))
}

/// Allocates a buffer of `bytes` bytes for [`read_speed`]. All pages are written, so that no page
/// fault occurs during the measurement.
#[must_use]
pub fn numbers(bytes: usize) -> Vec<u64> {
    (0..bytes as u64 / 8).collect()
}

/// The speed in GB/s at which this thread sums a buffer, once.
#[must_use]
pub fn read_speed(numbers: &[u64]) -> f64 {
    let start = Instant::now();
    black_box(sum(black_box(numbers)));
    size_of_val(numbers) as f64 / start.elapsed().as_secs_f64() / 1e9
}

fn sum(numbers: &[u64]) -> u64 {
    let (rows, rest) = numbers.as_chunks::<LANES>();
    let mut sums = [0_u64; LANES];
    for row in rows {
        for (sum, number) in sums.iter_mut().zip(row) {
            *sum = sum.wrapping_add(*number);
        }
    }
    sums.iter().chain(rest).fold(0, |sum, number| sum.wrapping_add(*number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_read() {
        for length in [0, 1, LANES, LANES + 1, 1_000] {
            let numbers: Vec<u64> = (0..length as u64).collect();
            assert_eq!(sum(&numbers), numbers.iter().sum::<u64>());
        }
    }
}
