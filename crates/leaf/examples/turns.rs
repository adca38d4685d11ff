//! How fast leaves answer: one query alone, and a small query beside four large ones.
//!
//! The first part sends the same query to one leaf, and to two leaves. The first of the two has all
//! rows. Besides elapsed time it prints thread run time, which other programs do not alter. In the
//! second part, four clients repeat large queries on two leaves that share the rows. Meanwhile a
//! small query runs on a table with one row block.
//!
//! `cargo run --release -p hadal-leaf --example turns`
#![expect(clippy::print_stdout, reason = "its table is what it is for")]
#![expect(clippy::expect_used, reason = "blocks of its own making")]

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hadal_aggregate::Partial;
use hadal_block::BlockBuilder;
use hadal_leaf::{Durability, Leaf, LeafConfig, LeafLimits, PreopenedStore, ScanPool};
use hadal_peer::{Batch, Peer, Sink};
use hadal_query::{ColumnRef, Expr, Measure, Query, QueryKind, RowExpr, RowInput, StateKind};
use hadal_types::limits::{BLOCK_ROWS_MAX, LEAF_QUERY_BYTES_MAX};
use hadal_types::{
    BatchId, ColumnName, FixedClock, Kind, LeafName, Logical, MemoryPool, Micros, Number,
    TableName, TimeRange,
};

const NOW: Micros = Micros(1_700_000_000 * Micros::SECOND);
const BLOCKS: usize = 96;
/// Blocks in the time range of the queries by user.
const USER_BLOCKS: usize = 16;
const ROUNDS: usize = 11;
const SMALL_QUESTIONS: usize = 100;
const DEADLINE: Duration = Duration::from_secs(60);

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Makes `count` leaves in memory.
fn leaves(count: usize) -> Vec<Arc<Leaf>> {
    let budget = MemoryPool::new(usize::MAX);
    let pool = ScanPool::new(cores()).expect("threads");
    let config = |index: usize| LeafConfig {
        name: LeafName(format!("leaf-{index}").into()),
        folder: None,
        memory: None,
        preopened: PreopenedStore::default(),
        expects_data: false,
        durability: Durability::Sync,
        pool: Arc::clone(&pool),
        zone_answers: true,
        limits: LeafLimits { table_bytes_max: u64::MAX, ..LeafLimits::of_one_in(1) },
        query_bytes_max: LEAF_QUERY_BYTES_MAX,
        budget: Arc::clone(&budget),
        clock: Arc::new(FixedClock::new(NOW)),
        archive: None,
    };
    (0..count).map(|index| Arc::new(Leaf::open(config(index)).expect("opens"))).collect()
}

/// A full block of events: a service of 40, a user of 50,000, a latency.
fn batch(table: &str, number: usize) -> Batch {
    let name = |text: &str| ColumnName::new(text).expect("a name");
    let mut builder = BlockBuilder::new(name("time"));
    let service = builder.column(&name("service"), Kind::String);
    let user = builder.column(&name("user"), Kind::Number);
    let latency = builder.column(&name("latency"), Kind::Number);
    let mut random = number as u64 * 2 + 1;
    let mut below = |limit: i64| {
        // xorshift64
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        i64::try_from(random >> 1).expect("63 bits") % limit
    };
    for row in 0..BLOCK_ROWS_MAX {
        builder.push_string(service, &format!("service-{}", below(40))).expect("taken");
        builder.push_number(user, Number::integer(below(50_000))).expect("taken");
        builder.push_number(latency, Number::integer(below(1_000))).expect("taken");
        let row = i64::try_from(number * BLOCK_ROWS_MAX + row).expect("small");
        builder.end_row(Micros(NOW.0 + row));
    }
    let id = BatchId::new(&format!("{table}-{number}")).expect("an id");
    let block = builder.finish(NOW, Some((&id, 1))).expect("fits");
    let table = TableName::new(table).expect("a name");
    Batch::encoded(table, id, 1, BLOCK_ROWS_MAX, block)
}

async fn fill(leaf: &Leaf, table: &str, numbers: impl Iterator<Item = usize>) {
    for number in numbers {
        leaf.accept(batch(table, number)).await.expect("taken");
    }
}

fn column(name: &str, kind: Kind) -> RowExpr {
    let name = ColumnName::new(name).expect("a name");
    Expr::Leaf(RowInput::Column(ColumnRef { name, kind, logical: Logical::Plain }))
}

/// Count and the sum of latencies of the first blocks, by a column.
fn by(table: &str, key: &str, kind: Kind, blocks: usize) -> Query {
    let latency = Measure::new(StateKind::Moments, column("latency", Kind::Number));
    let shape = QueryKind::Groups { keys: vec![column(key, kind)], measures: vec![latency] };
    let table = TableName::new(table).expect("a name");
    let rows = i64::try_from(blocks * BLOCK_ROWS_MAX).expect("small");
    let range = TimeRange { from: None, to: Some(Micros(NOW.0 + rows)) };
    Query { range, limit: 100, now: NOW, deadline: DEADLINE, ..Query::new(table, shape) }
}

/// Sends a query to all leaves at once and merges their partials; returns how long that took.
async fn ask(leaves: &[Arc<Leaf>], query: Query, rows: usize) -> Duration {
    let start = Instant::now();
    let query = Arc::new(query);
    let asked: Vec<_> = leaves
        .iter()
        .map(|leaf| {
            let (leaf, query) = (Arc::clone(leaf), Arc::clone(&query));
            tokio::spawn(async move { leaf.query(query, Instant::now() + DEADLINE).await })
        })
        .collect();
    let mut merged = Partial::empty(&query);
    for answer in asked {
        merged.merge(answer.await.expect("an answer"));
    }
    let took = start.elapsed();
    assert_eq!(merged.coverage.rows_scanned, rows as u64, "rows were left out");
    took
}

/// Nanoseconds that each thread of this process has run, by thread id.
fn ran() -> BTreeMap<String, u64> {
    let threads = std::fs::read_dir("/proc/self/task").expect("Linux");
    let ran = |entry: std::io::Result<std::fs::DirEntry>| {
        let thread = entry.ok()?;
        let text = std::fs::read_to_string(thread.path().join("schedstat")).ok()?;
        let nanos = text.split_whitespace().next()?.parse().ok()?;
        Some((thread.file_name().to_string_lossy().into_owned(), nanos))
    };
    threads.filter_map(ran).collect()
}

/// How long each thread has run since `before`, the longest first.
fn ran_since(before: &BTreeMap<String, u64>) -> Vec<Duration> {
    let since = |(thread, nanos): (String, u64)| {
        Duration::from_nanos(nanos - before.get(&thread).copied().unwrap_or(0))
    };
    let mut all: Vec<Duration> = ran().into_iter().map(since).collect();
    all.sort_unstable_by_key(|ran| Reverse(*ran));
    all
}

/// The value at this percentage of the sorted values.
fn percentile(mut took: Vec<Duration>, percent: usize) -> Duration {
    took.sort_unstable();
    took[(took.len() - 1) * percent / 100]
}

async fn alone(what: &str, leaves: &[Arc<Leaf>], question: impl Fn() -> Query) {
    let (mut took, mut all, mut busiest) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let before = ran();
        took.push(ask(leaves, question(), BLOCKS * BLOCK_ROWS_MAX).await);
        let threads = ran_since(&before);
        all.push(threads.iter().sum());
        busiest.push(threads[0]);
    }
    let [all, busiest, median] = [all, busiest, took.clone()].map(|took| percentile(took, 50));
    let best = percentile(took, 0);
    println!(
        "{what:42} best {best:8.2?}  median {median:8.2?}; all threads {all:8.2?}, busiest \
         {busiest:8.2?}"
    );
}

async fn beside_large_ones(
    leaves: &[Arc<Leaf>],
    large: impl Fn() -> Query + Clone + Send + 'static,
) {
    let ending = Arc::new(AtomicBool::new(false));
    let busy: Vec<_> = (0..4)
        .map(|_| {
            let (leaves, ending, large) = (leaves.to_vec(), Arc::clone(&ending), large.clone());
            tokio::spawn(async move {
                let mut asked = 0;
                while !ending.load(Ordering::Relaxed) {
                    ask(&leaves, large(), BLOCKS * BLOCK_ROWS_MAX).await;
                    asked += 1;
                }
                asked
            })
        })
        .collect();
    let (start, mut took) = (Instant::now(), Vec::new());
    for _ in 0..SMALL_QUESTIONS {
        let small = by("small", "service", Kind::String, 1);
        took.push(ask(leaves, small, BLOCK_ROWS_MAX).await);
    }
    let seconds = start.elapsed().as_secs_f64();
    ending.store(true, Ordering::Relaxed);
    let mut asked = 0;
    for busy in busy {
        asked += busy.await.expect("no panic");
    }
    let [p50, p95, max] = [50, 95, 100].map(|percent| percentile(took.clone(), percent));
    let large = f64::from(asked) / seconds;
    println!(
        "small beside 4 large: p50 {p50:.2?}  p95 {p95:.2?}  max {max:.2?}; large {large:.1}/s"
    );
}

#[tokio::main]
async fn main() {
    println!("{} cores, {BLOCKS} blocks of {BLOCK_ROWS_MAX} rows", cores());
    let (one, two, even) = (leaves(1), leaves(2), leaves(2));
    fill(&one[0], "events", 0..BLOCKS).await;
    fill(&two[0], "events", 0..BLOCKS).await;
    fill(&even[0], "events", (0..BLOCKS).step_by(2)).await;
    fill(&even[1], "events", (1..BLOCKS).step_by(2)).await;
    fill(&even[0], "small", 0..1).await;
    let by_service = || by("events", "service", Kind::String, BLOCKS);
    let by_user = || by("events", "user", Kind::Number, USER_BLOCKS);
    for (what, leaves) in [("one leaf", &one), ("two, one has all", &two), ("two", &even)] {
        alone(&format!("count, sum by service; {what}"), leaves, by_service).await;
        alone(&format!("count, sum by user; {what}"), leaves, by_user).await;
    }
    beside_large_ones(&even, by_service).await;
    beside_large_ones(&even, by_user).await;
}
