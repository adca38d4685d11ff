//! Measures row blocks: bytes per row of each column of two tables, and the speed of building a
//! block and of decoding its columns. `cargo run --release -p hadal-block --example columns`.
//!
//! The tables are those of the benchmarks, from a fixed seed. `requests`: 18 columns of events;
//! four of five events are from servers, the others from clients, and either lacks columns of the
//! other. `readings`: 10,000 sensors, one reading per minute.
#![allow(clippy::print_stdout, clippy::expect_used, reason = "a program for people")]

use std::time::{Duration, Instant};

use hadal_block::{BlockBuilder, BlockView};
use hadal_types::limits::BLOCK_ROWS_MAX;
use hadal_types::{ColumnName, Kind, Micros, Number};

const ROUNDS: usize = 5;
/// 2026-09-21, in seconds.
const START: i64 = 1_790_000_000;

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

    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }

    fn lognormal(&mut self, median: f64, sigma: f64) -> i64 {
        rounded(median * (sigma * self.normal()).exp())
    }
}

#[expect(clippy::cast_possible_truncation, reason = "far below 2^63")]
fn rounded(value: f64) -> i64 {
    value.round() as i64
}

/// Ranks from 0 by Zipf's law: rank n, counted from 1, has weight n^−exponent.
struct Zipf(Vec<f64>);

impl Zipf {
    fn new(limit: u32, exponent: f64) -> Self {
        let weights = (1..=limit).map(|rank| f64::from(rank).powf(-exponent));
        let sums = weights.scan(0.0, |sum, weight| {
            *sum += weight;
            Some(*sum)
        });
        Self(sums.collect())
    }

    fn rank(&self, random: &mut Random) -> u64 {
        let at = random.unit() * self.0.last().copied().unwrap_or_default();
        self.0.partition_point(|&sum| sum <= at) as u64
    }
}

struct Row<'b> {
    builder: &'b mut BlockBuilder,
}

impl Row<'_> {
    fn number(&mut self, name: &str, value: i64) {
        let id = self.builder.column(&column(name), Kind::Number);
        self.builder.push_number(id, Number::integer(value)).expect("taken");
    }

    fn string(&mut self, name: &str, value: &str) {
        let id = self.builder.column(&column(name), Kind::String);
        self.builder.push_string(id, value).expect("taken");
    }
}

fn column(name: &str) -> ColumnName {
    ColumnName::new(name).expect("a column name")
}

/// A name of about `bytes` bytes, the same for the same prefix and rank.
fn named(prefix: &str, rank: u64, bytes: usize) -> String {
    let mut random = Random(rank * 31 + prefix.len() as u64);
    let mut name = format!("{prefix}{rank}");
    while name.len() < bytes {
        name.push(char::from(
            b"abcdefghijklmnopqrstuvwxyz-/"[usize::try_from(random.below(28)).unwrap_or_default()],
        ));
    }
    name
}

fn requests(sorted: bool) -> BlockBuilder {
    let mut random = Random(7);
    let mut builder = BlockBuilder::new(column("time"));
    let [endpoint, country] = [Zipf::new(2_000, 1.0), Zipf::new(200, 1.1)];
    let [user, build] = [Zipf::new(10_000_000, 1.0), Zipf::new(30, 0.8)];
    let [service, host] = [Zipf::new(60, 1.0), Zipf::new(5_000, 0.3)];
    let [status, device] = [Zipf::new(16, 1.5), Zipf::new(400, 1.0)];
    for index in (0i64..).take(BLOCK_ROWS_MAX) {
        let is_server = random.below(100) < 80;
        let mut row = Row { builder: &mut builder };
        let path = named("/api/v1/", endpoint.rank(&mut random), 30);
        row.string("kind", if is_server { "server" } else { "client" });
        row.string("endpoint", &path);
        row.string("country", &named("", country.rank(&mut random), 3));
        row.number("latency_us", random.lognormal(10_000.0, 1.1));
        let user_id = Random(user.rank(&mut random)).below(10_000_000_000);
        row.number("user_id", user_id);
        row.string("build", &named("build-", build.rank(&mut random), 12));
        row.number(
            "sample_rate",
            match random.below(100) {
                0..25 => 1,
                25..65 => 10,
                65..93 => 100,
                _ => 1_000,
            },
        );
        if is_server {
            let host = host.rank(&mut random);
            row.string("service", &named("service-", service.rank(&mut random), 12));
            row.string("host", &named("host-", host, 27));
            row.string("datacenter", &named("dc", host % 8, 4));
            row.number(
                "status",
                [200, 404, 500, 302, 201, 204, 301, 304, 400, 401, 403, 409, 429, 502, 503, 504]
                    [usize::try_from(status.rank(&mut random)).unwrap_or_default()],
            );
            row.number("bytes", random.lognormal(3_000.0, 1.6));
            let message = format!("the call number {} of {path} took long", random.below(1 << 30));
            row.string("message", &message);
        } else {
            row.string("app", &named("app-", random.below(5).cast_unsigned(), 8));
            row.string("device", &named("device-", device.rank(&mut random), 14));
            row.number("battery_pct", 1 + random.below(100));
            row.number("fps", rounded(50.0 + 12.0 * random.normal()).clamp(0, 60));
        }
        let late = if sorted { 0 } else { rounded(-8.0 * (1.0 - random.unit()).ln()) };
        builder.end_row(Micros((START + index / 96 - late) * Micros::SECOND));
    }
    builder
}

fn readings() -> BlockBuilder {
    let mut random = Random(8);
    let mut builder = BlockBuilder::new(column("time"));
    for index in (12_345i64..).take(BLOCK_ROWS_MAX) {
        let mut row = Row { builder: &mut builder };
        row.number("sensor_id", index % 10_000);
        row.number("temperature", if index == 40_000 { 200 } else { 55 + random.below(51) });
        builder.end_row(Micros((START + index / 10_000 * 60) * Micros::SECOND));
    }
    builder
}

/// Identifiers as uint64 and as int64, with the same number of bits.
fn identifiers() -> BlockBuilder {
    let mut random = Random(9);
    let mut builder = BlockBuilder::new(column("time"));
    for index in (0i64..).take(BLOCK_ROWS_MAX) {
        let id = random.next();
        let mut row = Row { builder: &mut builder };
        row.number("int64", id.cast_signed());
        let wide = row.builder.column(&column("uint64"), Kind::Number);
        let number: Number = id.to_string().parse().expect("a number");
        row.builder.push_number(wide, number).expect("taken");
        builder.end_row(Micros(START * Micros::SECOND + index));
    }
    builder
}

#[expect(clippy::cast_precision_loss, reason = "for people")]
fn measure(table: &str, make: impl Fn() -> BlockBuilder) {
    let mut making = Duration::MAX;
    let mut bytes = Vec::new();
    for _ in 0..ROUNDS {
        let builder = make();
        let start = Instant::now();
        bytes = builder.finish(Micros(0), None).expect("fits");
        making = making.min(start.elapsed());
    }
    let block = BlockView::parse(&bytes).expect("parses");
    let rows = block.rows() as f64;
    println!(
        "{table}: {:.2} B/row, made at {:.2} M rows/s",
        bytes.len() as f64 / rows,
        rows / making.as_secs_f64() / 1e6
    );
    for column in block.columns() {
        let mut decoding = Duration::MAX;
        for _ in 0..ROUNDS {
            let start = Instant::now();
            let data = column.decode().expect("decodes");
            decoding = decoding.min(start.elapsed());
            drop(data);
        }
        println!(
            "  {:12} {:7} {:22} {:7.3} B/row  decoded at {:5.0} M rows/s",
            column.name().as_str(),
            column.kind().to_string(),
            column.encoding_name(),
            column.encoded_bytes() as f64 / rows,
            rows / decoding.as_secs_f64() / 1e6
        );
    }
}

fn main() {
    measure("requests, merged", || requests(true));
    measure("requests, as they come", || requests(false));
    measure("readings", readings);
    measure("identifiers", identifiers);
}
