//! Writes so many rows of made-up requests to standard output, as JSON lines of about 323 bytes:
//! `cargo run --release -p hadal-ingest --example requests -- 1000000 > requests.jsonl`.
//!
//! Eighteen columns, eight of all rows, six of server rows and four of client rows; roughly in the
//! order of their times. The same count always gives the same bytes.

use std::io::{self, BufWriter, Write};

/// The first second, and how many seconds 10 million rows take.
const START: i64 = 1_795_000_000;
const SECONDS: f64 = 29.0 * 3_600.0;
const ROWS_OF_ALL: f64 = 10e6;
const RATES: [u32; 4] = [1, 10, 100, 1_000];
const STATUS: [u32; 16] =
    [200, 404, 500, 301, 201, 204, 302, 304, 400, 401, 403, 429, 502, 503, 504, 418];
const PHRASES: [&str; 8] = [
    "served",
    "cache miss for",
    "retried upstream of",
    "slow answer from",
    "timed out on",
    "queued behind",
    "validated token of",
    "finished batch in",
];
const WORDS: [&str; 16] = [
    "user", "feed", "photo", "album", "search", "login", "event", "group", "story", "video",
    "message", "friend", "notify", "ads", "page", "like",
];

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// From 0 inclusive to 1 exclusive.
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn below(&mut self, bound: f64) -> usize {
        whole(self.unit() * bound)
    }

    fn normal(&mut self) -> f64 {
        (-2.0 * (1.0 - self.unit()).ln()).sqrt() * (std::f64::consts::TAU * self.unit()).cos()
    }

    fn lognormal(&mut self, median: f64, sigma: f64) -> usize {
        whole(median * (sigma * self.normal()).exp())
    }

    /// A rank from 0 to `count` - 1 with a weight of 1 / (rank + 1)^exponent, nearly.
    fn zipf(&mut self, count: f64, exponent: f64) -> usize {
        let unit = self.unit();
        let rank = if (exponent - 1.0).abs() < 1e-9 {
            (unit * (count + 1.0).ln()).exp()
        } else {
            let power = 1.0 - exponent;
            (1.0 + unit * ((count + 1.0).powf(power) - 1.0)).powf(1.0 / power)
        };
        whole(rank.min(count) - 1.0)
    }
}

const fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
const fn whole(value: f64) -> usize {
    value as usize
}

fn word(index: usize) -> &'static str {
    WORDS[index % WORDS.len()]
}

fn endpoint(index: usize) -> String {
    format!("/api/v{}/{}/{}/e{index:04}", index % 3 + 1, word(index), word(index / 16 + 5))
}

fn row(random: &mut Random, number: usize, out: &mut impl Write) -> io::Result<()> {
    let steady = SECONDS * number as f64 / ROWS_OF_ALL;
    let late = -8.0 * (1.0 - random.unit()).ln();
    let second = START + i64::try_from(whole(steady + late)).unwrap_or(0);
    let endpoint = endpoint(random.zipf(2_000.0, 1.0));
    let user = mix(random.zipf(10e6, 1.0) as u64) % 10_000_000_000;
    let build = random.zipf(30.0, 0.8);
    let is_server = random.unit() < 0.8;
    let country = random.zipf(200.0, 1.1);
    let letter = |index: usize| char::from(b'a' + u8::try_from(index % 26).unwrap_or(0));
    let latency = random.lognormal(10_000.0, 1.1);
    let rate = match random.unit() {
        unit if unit < 0.25 => 0,
        unit if unit < 0.65 => 1,
        unit if unit < 0.93 => 2,
        _ => 3,
    };
    let kind = if is_server { "server" } else { "client" };
    write!(
        out,
        "{{\"time\":{second},\"kind\":\"{kind}\",\"endpoint\":\"{endpoint}\",\
         \"country\":\"{}{}\",\"latency_us\":{latency},\"user_id\":{user},\
         \"build\":\"2026.11.{build:02}\",\"sample_rate\":{}",
        letter(country),
        letter(country / 26 + 3),
        RATES[rate],
    )?;
    if is_server {
        let service = random.zipf(60.0, 1.0);
        let host = random.zipf(5_000.0, 0.3);
        let phrase = PHRASES[random.below(8.0)];
        write!(
            out,
            ",\"service\":\"{}-svc-{service:02}\",\"host\":\"web{host:04}.dc{}.example.com\",\
             \"datacenter\":\"dc-{}\",\"status\":{},\"bytes\":{},\
             \"message\":\"{phrase} {endpoint} request no {}\"",
            word(service),
            host % 8,
            host % 8,
            STATUS[random.zipf(16.0, 1.6)],
            random.lognormal(3_000.0, 1.6),
            random.below(1_073_741_824.0),
        )?;
    } else {
        let fps = (50.0 + 12.0 * random.normal()).clamp(0.0, 60.0);
        write!(
            out,
            ",\"app\":\"app-{}\",\"device\":\"{}-{:03}\",\"battery_pct\":{},\"fps\":{fps:.1}",
            word(random.below(5.0)),
            word(random.below(16.0)),
            random.zipf(400.0, 1.0),
            random.below(100.0) + 1,
        )?;
    }
    out.write_all(b"}\n")
}

fn main() -> io::Result<()> {
    let count = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(1_000_000);
    let mut out = BufWriter::with_capacity(1 << 20, io::stdout().lock());
    let mut random = Random(42);
    (0..count).try_for_each(|number| row(&mut random, number, &mut out))?;
    out.flush()
}
