//! Measures the integer streams: bytes per value and speed, over columns of the shapes that
//! benchmarks use. `cargo run --release -p hadal-encoding --example ints`.
//!
//! Each round first copies the values, so that a speed is printed beside the memory speed at that
//! moment. Decoded values are compared with the encoded ones.
#![allow(clippy::print_stdout, clippy::expect_used, reason = "a program for people")]

use std::time::{Duration, Instant};

use hadal_encoding::{IntsView, ints};

const ROWS: usize = 65_536;
const ROUNDS: usize = 30;

/// A linear congruential generator with its high bits mixed down.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mixed = (self.0 ^ (self.0 >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed ^ (mixed >> 32)
    }

    /// From 0 to below 1.
    fn unit(&mut self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "53 bits")]
        let unit = (self.next() >> 11) as f64 / (1u64 << 53) as f64;
        unit
    }

    fn below(&mut self, limit: u64) -> i64 {
        (self.next() % limit).cast_signed()
    }

    /// A lognormal value: the exponential of a normal, with this `median`, and `sigma` of the
    /// logarithm.
    fn lognormal(&mut self, median: f64, sigma: f64) -> i64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        rounded(median * (sigma * radius * (std::f64::consts::TAU * self.unit()).cos()).exp())
    }

    /// Ranks from 0 to below `limit`, approximately by Zipf's law with exponent 1.
    fn zipf(&mut self, limit: f64) -> i64 {
        rounded(limit.powf(self.unit())) - 1
    }
}

#[expect(clippy::cast_possible_truncation, reason = "far below 2^63")]
fn rounded(value: f64) -> i64 {
    value.round() as i64
}

/// Scatters ranks over 10^10 numbers.
fn scattered(rank: i64) -> i64 {
    Random(rank.cast_unsigned()).below(10_000_000_000)
}

fn columns() -> Vec<(&'static str, Vec<i64>)> {
    let mut random = Random(7);
    let mut column = |value: &mut dyn FnMut(&mut Random, i64) -> i64| -> Vec<i64> {
        (0i64..).take(ROWS).map(|row| value(&mut random, row)).collect()
    };
    const START: i64 = 1_790_000_000;
    vec![
        (
            "requests: time, as it comes",
            column(&mut |random, row| {
                let late = rounded(-8.0 * (1.0 - random.unit()).ln());
                (START + row / 96 - late) * 1_000_000
            }),
        ),
        ("requests: time, sorted", column(&mut |_, row| (START + row / 96) * 1_000_000)),
        ("requests: latency_us", column(&mut |random, _| random.lognormal(10_000.0, 1.1))),
        ("requests: bytes", column(&mut |random, _| random.lognormal(3_000.0, 1.6))),
        ("requests: user_id", column(&mut |random, _| scattered(random.zipf(1e7)))),
        (
            "requests: sample_rate",
            column(&mut |random, _| match random.below(100) {
                0..25 => 1,
                25..65 => 10,
                65..93 => 100,
                _ => 1_000,
            }),
        ),
        ("requests: status", column(&mut |random, _| 200 + 20 * random.zipf(16.0))),
        ("requests: battery_pct", column(&mut |random, _| 1 + random.below(100))),
        ("readings: sensor_id", column(&mut |_, row| (row + 12_345) % 10_000)),
        ("readings: time", column(&mut |_, row| (START + row / 10_000 * 60) * 1_000_000)),
        ("readings: temperature", column(&mut |random, _| 55 + random.below(51))),
        (
            "times of microseconds",
            column(&mut |random, row| START * 1_000_000 + row * 10_416 + random.below(8_000_000)),
        ),
        ("random, 12 bits", column(&mut |random, _| random.below(1 << 12))),
        ("random, 64 bits", column(&mut |random, _| random.next().cast_signed())),
    ]
}

fn timed<R>(best: &mut Duration, work: impl FnOnce() -> R) -> R {
    let start = Instant::now();
    let result = work();
    *best = start.elapsed().min(*best);
    result
}

#[expect(clippy::cast_precision_loss, reason = "for people")]
fn main() {
    println!("million values per second, best of {ROUNDS} rounds of {ROWS} values");
    println!(
        "{:30} {:>11} {:>6} {:>6} {:>6} {:>6} {:>6} {:>6}",
        "", "form", "B/row", "copy", "encode", "decode", "steps", "fold"
    );
    for (name, values) in columns() {
        let mut best = [Duration::MAX; 5];
        let mut bytes = Vec::new();
        let (mut copy, mut again) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            let [copying, encoding, decoding, stepping, folding] = &mut best;
            copy.clear();
            timed(copying, || copy.extend_from_slice(&values));
            bytes.clear();
            timed(encoding, || ints::encode(&values, &mut bytes));
            again.clear();
            let parse = || IntsView::parse(&bytes, ROWS).expect("parses");
            timed(decoding, || parse().decode_into(&mut again));
            assert_eq!(again, values);
            if parse().frame_of_reference().is_some() {
                timed(stepping, || {
                    let view = parse();
                    let frame_of_reference = view.frame_of_reference().expect("it is near");
                    view.steps_where(&frame_of_reference, None).expect("decodes");
                });
            }
            let fold = timed(folding, || parse().fold());
            assert_eq!(fold.sum, values.iter().copied().map(i128::from).sum());
        }
        let speed = |best: Duration| {
            if best == Duration::MAX { 0.0 } else { ROWS as f64 / best.as_secs_f64() / 1e6 }
        };
        print!(
            "{name:30} {:>11} {:6.3}",
            ints::form_name(&bytes).unwrap_or("?"),
            bytes.len() as f64 / ROWS as f64
        );
        for best in best {
            print!(" {:6.0}", speed(best));
        }
        println!();
    }
}
