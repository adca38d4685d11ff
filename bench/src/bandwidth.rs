//! How fast one core reads memory: the ceiling of every scan.

use std::hint::black_box;
use std::io::{self, Write};
use std::path::Path;
use std::time::Instant;

use crate::error::Error;

/// Far more than any cache has.
const BYTES: usize = 1 << 30;
const ROUNDS: usize = 7;
/// Independent sums, so that no addition waits for the one before.
const LANES: usize = 32;

/// Prints the GB/s of the best of a few rounds of summing up a buffer.
pub(crate) fn print() -> Result<(), Error> {
    // Touched here, so that no page comes into being while the clock runs.
    let numbers: Vec<u64> = (0..BYTES / 8).map(|at| at as u64).collect();
    let speeds = (0..ROUNDS).map(|_| {
        let start = Instant::now();
        black_box(sum(black_box(&numbers)));
        BYTES as f64 / start.elapsed().as_secs_f64() / 1e9
    });
    let best = speeds.fold(0.0, f64::max);
    writeln!(io::stdout(), "{best:.2}").map_err(Error::io("write to", Path::new("standard output")))
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
