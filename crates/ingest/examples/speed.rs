//! Measures ingestion on one thread and without any disk. Reads a file of JSON lines into batches,
//! settles the batches as a leaf does, and prints the CPU time of each stage. Also measures
//! merging, which a leaf does with rows that are not in time order: `cargo run --release -p
//! hadal-ingest --example speed -- requests.jsonl 5`. `hadal-bench requests` writes such a file.

use std::collections::HashSet;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use hadal_block::{BlockView, MergeOrder, merge};
use hadal_ingest::{AgePolicy, Format, Ingest, ReadOptions, Settings};
use hadal_peer::Batch;
use hadal_types::{BatchId, Micros, TableName};

/// The server's allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const PIECE_BYTES: usize = 128 << 10;

type Failure = Box<dyn std::error::Error>;

/// The CPU time of this thread (Linux only), without waiting time.
fn used() -> Result<Duration, Failure> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    Ok(Duration::from_nanos(text.split(' ').next().unwrap_or_default().parse()?))
}

fn load(body: &[u8]) -> Result<(Vec<Batch>, u64), Failure> {
    let settings = Settings {
        table: TableName::new("requests")?,
        batch_id: BatchId::new("speed").ok_or("no id")?,
        time_column: None,
        table_time_column: None,
        table_columns: Arc::default(),
        sets: HashSet::new(),
        age: AgePolicy::UNLIMITED,
        read: ReadOptions::default(),
    };
    let mut ingest = Ingest::new(settings, Format::Json, Micros(1_795_000_000 * Micros::SECOND));
    let mut batches = Vec::new();
    for piece in body.chunks(PIECE_BYTES) {
        batches.extend(ingest.push(piece)?);
    }
    let (last, summary) = ingest.finish()?;
    batches.extend(last);
    Ok((batches, summary.accepted))
}

/// Settles each batch as a leaf does; returns the bytes of the settled blocks.
fn settle_all(batches: &[Batch]) -> Result<usize, Failure> {
    let mut bytes = 0;
    for batch in batches {
        let view = BlockView::parse(batch.block())?;
        let settled = merge(&[view], MergeOrder::Time, Micros(0))?;
        bytes += settled.iter().map(Vec::len).sum::<usize>();
    }
    Ok(bytes)
}

/// Merges as many batches at a time as a leaf does; returns the bytes of the merged blocks.
fn merge_all(batches: &[Batch]) -> Result<usize, Failure> {
    let mut bytes = 0;
    for batches in batches.chunks(5) {
        let views = batches.iter().map(|batch| BlockView::parse(batch.block()));
        let views: Vec<BlockView<'_>> = views.collect::<Result<_, _>>()?;
        let merged = merge(&views, MergeOrder::Time, Micros(0))?;
        bytes += merged.iter().map(Vec::len).sum::<usize>();
    }
    Ok(bytes)
}

fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let body = std::fs::read(arguments.next().ok_or("which file?")?)?;
    let runs = arguments.next().map_or(Ok(3), |text| text.parse())?;
    let mut out = io::stdout();
    for _ in 0..runs {
        let start = used()?;
        let (batches, rows) = load(&body)?;
        let loaded = used()? - start;
        let settled = settle_all(&batches)?;
        let done = used()? - start;
        let merged = merge_all(&batches)?;
        let all = used()? - start;
        let each = |time: Duration| time.as_secs_f64() * 1e9 / rows as f64;
        let bytes = |bytes: usize| bytes as f64 / rows as f64;
        let batch_bytes: usize = batches.iter().map(|batch| batch.block().len()).sum();
        writeln!(
            out,
            "{rows} rows: {:.0} ns a row to batches of {:.1} bytes a row, {:.0} ns to settle them \
             to {:.1}: {:.0} rows a CPU second. ({:.0} ns to merge them to {:.1}.)",
            each(loaded),
            bytes(batch_bytes),
            each(done - loaded),
            bytes(settled),
            rows as f64 / done.as_secs_f64(),
            each(all - done),
            bytes(merged),
        )?;
    }
    Ok(())
}
