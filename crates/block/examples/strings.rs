//! Measures bytes per row and speed of string and list columns that resemble real events: one full
//! row block per column, from a fixed seed.
//!
//! `cargo run --release -p hadal-block --example strings`
#![expect(clippy::print_stdout, reason = "its table is what it is for")]
#![expect(clippy::expect_used, reason = "blocks of its own making")]
#![expect(clippy::cast_precision_loss, reason = "figures for people")]

use std::collections::HashMap;
use std::time::SystemTime;

use hadal_block::{BlockBuilder, BlockView, ColumnView, StringsView};
use hadal_encoding::pages;
use hadal_types::limits::BLOCK_ROWS_MAX;
use hadal_types::{ColumnName, Kind, Micros};

const WORDS: [&str; 30] = [
    "user", "orders", "cart", "items", "checkout", "search", "profile", "payments", "invoices",
    "catalog", "reviews", "sessions", "login", "token", "upload", "media", "images", "feed",
    "notify", "settings", "export", "report", "metrics", "health", "billing", "coupons",
    "shipping", "tracking", "returns", "support",
];
const PHRASES: [&str; 8] = [
    "request completed for",
    "timeout while calling",
    "retrying upstream for",
    "cache miss on",
    "rate limited at",
    "validation failed in",
    "slow query behind",
    "client disconnected from",
];
const ROUNDS: usize = 25;

/// `SplitMix64`.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit as u64).expect("below the limit")
    }

    fn word(&mut self) -> &'static str {
        WORDS[self.below(WORDS.len())]
    }
}

/// Ranks by Zipf's law.
struct Zipf(Vec<f64>);

impl Zipf {
    fn new(count: usize, exponent: f64) -> Self {
        let mut sum = 0.0;
        Self(
            (1..=count)
                .map(|rank| {
                    sum += (rank as f64).powf(-exponent);
                    sum
                })
                .collect(),
        )
    }

    fn pick(&self, random: &mut Random) -> usize {
        let all = self.0.last().copied().unwrap_or_default();
        let at = (random.next() >> 11) as f64 / (1u64 << 53) as f64 * all;
        self.0.partition_point(|&sum| sum <= at).min(self.0.len() - 1)
    }
}

/// One column of texts, or of lists of texts; `None` if a row has no value.
struct Column {
    name: &'static str,
    kind: Kind,
    rows: Vec<Option<Vec<String>>>,
}

impl Column {
    fn of_strings(name: &'static str, mut text: impl FnMut(usize) -> Option<String>) -> Self {
        let rows = (0..BLOCK_ROWS_MAX).map(|row| text(row).map(|text| vec![text])).collect();
        Self { name, kind: Kind::String, rows }
    }

    fn of_lists(name: &'static str, kind: Kind, mut list: impl FnMut() -> Vec<String>) -> Self {
        Self { name, kind, rows: (0..BLOCK_ROWS_MAX).map(|_| Some(list())).collect() }
    }

    fn text_bytes(&self) -> usize {
        self.rows.iter().flatten().flatten().map(String::len).sum()
    }

    fn builder(&self) -> BlockBuilder {
        let name = |text| ColumnName::new(text).expect("a name");
        let mut builder = BlockBuilder::new(name("time"));
        let id = builder.column(&name("x"), self.kind);
        for row in &self.rows {
            match row.as_deref() {
                Some([text]) if self.kind == Kind::String => builder.push_string(id, text),
                Some(list) => {
                    let list: Vec<&str> = list.iter().map(String::as_str).collect();
                    builder.push_list(id, &list)
                }
                None => Ok(()),
            }
            .expect("taken");
            builder.end_row(Micros(0));
        }
        builder
    }

    /// The block, and the seconds to build it from pushed rows.
    fn block(&self) -> (Vec<u8>, f64) {
        let builder = self.builder();
        let start = now();
        let bytes = builder.finish(Micros(0), None).expect("fits");
        (bytes, now() - start)
    }

    /// Bytes of the column with raw dictionaries and LZ4 pages only, the encodings of the first
    /// version.
    fn plain_bytes(&self) -> usize {
        let texts: Vec<&str> = self.rows.iter().flatten().flatten().map(String::as_str).collect();
        let mut distinct: HashMap<&str, usize> = HashMap::new();
        texts.iter().for_each(|text| *distinct.entry(text).or_default() += 1);
        let bits = (usize::BITS - distinct.len().saturating_sub(1).leading_zeros()) as usize;
        let codes =
            if self.kind == Kind::String { self.rows.len() } else { texts.len() } * bits / 8;
        let dictionary = distinct.keys().map(|text| text.len() + 1).sum::<usize>() + codes;
        if self.kind != Kind::String || distinct.len() <= texts.len() / 2 {
            return dictionary;
        }
        dictionary.min(pages::encoded_bytes(&texts))
    }
}

/// CPU seconds of this thread where the system reports them (Linux, once a thread has yielded);
/// otherwise wall-clock seconds.
fn now() -> f64 {
    std::thread::yield_now();
    let ran = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let ran = ran.and_then(|ran| ran.split(' ').next()?.parse::<f64>().ok());
    ran.map_or_else(
        || SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default().as_secs_f64(),
        |nanoseconds| nanoseconds / 1e9,
    )
}

/// The best of several times, because other users of the machine slow down the rest.
fn best(times: impl Iterator<Item = f64>) -> f64 {
    times.fold(f64::INFINITY, f64::min)
}

fn seconds<R>(mut work: impl FnMut() -> R) -> f64 {
    let time = |_| {
        let start = now();
        std::hint::black_box(work());
        now() - start
    };
    best((0..ROUNDS).map(time))
}

/// Reads all texts without keeping them, unless they are a dictionary.
fn visit(column: &ColumnView<'_>) -> usize {
    let mut bytes = 0;
    match column.strings().expect("decodes") {
        Some(StringsView::Pages(pages)) => {
            pages.for_each_text(|_| true, |_, texts| bytes += texts.text().len()).expect("decodes");
        }
        Some(StringsView::Templates(templates)) => {
            let visit =
                |_, texts: &hadal_encoding::StringDictionary<'_>| bytes += texts.text().len();
            templates.for_each_text(|_| true, visit).expect("decodes");
        }
        Some(StringsView::Dictionary { entries, .. }) => bytes += entries.text().len(),
        None => (),
    }
    bytes
}

fn report(column: &Column) {
    let (bytes, _) = column.block();
    let block = BlockView::parse(&bytes).expect("parses");
    let view = block.column("x", column.kind).expect("exists");
    let text = column.text_bytes() as f64;
    let rows = column.rows.len() as f64;
    let encode = best((0..ROUNDS).map(|_| column.block().1));
    let push = seconds(|| column.builder());
    let decode = seconds(|| view.decode().expect("decodes"));
    let visited = seconds(|| visit(view));
    println!(
        "{:<22} {:<16} {:>7.2} {:>7.2} {:>7.2} {:>9.0} {:>9.0} {:>9.0} {:>9.0} {:>8.0}",
        column.name,
        view.encoding_name(),
        text / rows,
        column.plain_bytes() as f64 / rows,
        view.encoded_bytes() as f64 / rows,
        text / push / 1e6,
        text / encode / 1e6,
        text / decode / 1e6,
        text / visited / 1e6,
        visited * 1e6,
    );
}

fn main() {
    println!(
        "{:<22} {:<16} {:>7} {:>7} {:>7} {:>9} {:>9} {:>9} {:>9} {:>8}",
        "column",
        "encoding",
        "raw B",
        "plain B",
        "now B",
        "push MB/s",
        "make MB/s",
        "read MB/s",
        "visit",
        "visit us"
    );
    let only = std::env::args().nth(1).unwrap_or_default();
    for column in columns().iter().filter(|column| column.name.contains(&only)) {
        report(column);
    }
}

fn columns() -> Vec<Column> {
    let mut random = Random(1);
    let mut columns = events(&mut random);
    columns.extend(texts(&mut random));
    columns.extend(lists(&mut random));
    columns
}

fn path(random: &mut Random) -> String {
    let version = 1 + random.below(3);
    format!("/api/v{version}/{}/{}/{}", random.word(), random.word(), random.word())
}

/// Columns of the benchmark's events; four of five events are from servers.
fn events(random: &mut Random) -> Vec<Column> {
    let mut columns = Vec::new();
    let server = |random: &mut Random| random.below(5) > 0;
    let endpoints: Vec<String> = (0..2_000).map(|_| path(random)).collect();
    let numbered: Vec<String> = (0..2_000)
        .map(|i| format!("/api/{}/{}/endpoint-{i:04}", random.word(), random.word()))
        .collect();
    let hosts: Vec<String> =
        (0..5_000).map(|i| format!("web-{i:04}.dc{}.prod.example.net", i % 8)).collect();
    let zipf = Zipf::new(2_000, 1.0);
    let flat = Zipf::new(5_000, 0.3);
    columns.push(Column::of_strings("endpoint", |_| Some(endpoints[zipf.pick(random)].clone())));
    columns.push(Column::of_strings("host", |_| {
        server(random).then(|| hosts[flat.pick(random)].clone())
    }));
    for (name, paths) in [("message", &endpoints), ("message, numbered", &numbered)] {
        columns.push(Column::of_strings(name, |_| {
            server(random).then(|| {
                let path = &paths[zipf.pick(random)];
                format!("{} {path} id {}", PHRASES[random.below(8)], random.below(1 << 30))
            })
        }));
    }
    columns.push(Column::of_strings("url", |_| {
        let path = &endpoints[zipf.pick(random)];
        Some(format!(
            "https://www.example.com{path}?session={:x}&page={}",
            random.next(),
            random.below(50)
        ))
    }));
    columns
}

/// Texts of other shapes.
fn texts(random: &mut Random) -> Vec<Column> {
    let mut columns = Vec::new();
    columns.push(Column::of_strings("log line with time", |row| {
        let (minute, second, milli) = (row / 6_000 % 60, row / 100 % 60, random.below(1_000));
        let (word, took) = (random.word(), random.below(100_000));
        Some(format!(
            "2026-11-21T16:{minute:02}:{second:02}.{milli:03}Z INFO {word} took {took} us"
        ))
    }));
    columns.push(Column::of_strings("uuid", |_| {
        let (a, b) = (random.next(), random.next());
        Some(format!(
            "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
            a >> 32,
            a & 0xFFFF,
            b >> 52,
            a >> 16 & 0x3FFF | 0x8000,
            b & 0xFFFF_FFFF_FFFF
        ))
    }));
    columns.push(Column::of_strings("sha-1", |_| {
        Some(format!("{:016x}{:016x}{:08x}", random.next(), random.next(), random.next() >> 32))
    }));
    columns.push(Column::of_strings("base64 ids", |_| {
        let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
        Some((0..22).map(|_| char::from(letters[random.below(64)])).collect())
    }));
    columns.push(Column::of_strings("words", |_| {
        let count = 3 + random.below(8);
        Some((0..count).map(|_| random.word()).collect::<Vec<_>>().join(" "))
    }));
    columns.push(Column::of_strings("words, not ascii", |_| {
        let count = 3 + random.below(8);
        let word = |_| format!("{}é{}", random.word(), random.below(3_000));
        Some((0..count).map(word).collect::<Vec<_>>().join(" — "))
    }));
    columns.push(Column::of_strings("rare message", |_| {
        (random.below(50) == 0)
            .then(|| format!("{} shard {}", PHRASES[random.below(8)], random.below(1 << 20)))
    }));
    columns
}

fn lists(random: &mut Random) -> Vec<Column> {
    let mut columns = Vec::new();
    let tag = Zipf::new(500, 1.0);
    columns.push(Column::of_lists("tags", Kind::Set, || {
        (0..random.below(7)).map(|_| format!("tag-{}", tag.pick(random))).collect()
    }));
    let frame = Zipf::new(3_000, 0.9);
    let name =
        |frame: usize| format!("{}::{}::call_{frame}", WORDS[frame % 30], WORDS[frame / 30 % 30]);
    columns.push(Column::of_lists("stack", Kind::Vector, || {
        (0..random.below(21)).map(|_| name(frame.pick(random))).collect()
    }));
    let stacks: Vec<Vec<String>> = (0..3_000)
        .map(|_| (0..random.below(21)).map(|_| name(frame.pick(random))).collect())
        .collect();
    columns.push(Column::of_lists("stack, repeating", Kind::Vector, || {
        stacks[frame.pick(random)].clone()
    }));
    columns
}
