//! kill -9 on a real process: acknowledged rows are there afterwards, once.
//!
//! The test starts itself as a child that logs and merges, and writes the acknowledged numbers to
//! its standard output. The parent kills it in the middle of that.

#![allow(clippy::expect_used, reason = "a test")]

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use hadal_store::{Change, Config, Recovery, Sequence, Store, StoredBlock};
use hadal_types::{BatchId, TableName};

const FOLDER: &str = "HADAL_STORE_KILL_TEST";
const KILLS: usize = 8;

fn table() -> TableName {
    TableName::new("requests").expect("a name")
}

fn open(folder: &Path) -> (Store, Recovery) {
    Store::open(&Config::new(folder)).expect("opened")
}

fn numbers(bytes: &[u8]) -> Vec<u64> {
    let chunks = bytes.chunks_exact(8);
    chunks.map(|chunk| u64::from_le_bytes(chunk.try_into().expect("eight bytes"))).collect()
}

/// Every number that the store holds, in blocks and in the log, with repeats.
fn held(recovery: &Recovery) -> Vec<u64> {
    let tables = recovery.tables.values();
    let blocks = tables.clone().flat_map(|table| table.blocks.iter().map(|block| &block.bytes));
    let frames = tables.flat_map(|table| table.frames.iter().map(|frame| &frame.bytes));
    blocks.chain(frames).flat_map(|bytes| numbers(bytes)).collect()
}

/// Logs one number after the other for ever, and merges every few of them into the one block.
fn child(folder: &Path) -> ! {
    let (store, recovery) = open(folder);
    let mut next = held(&recovery).into_iter().max().map_or(0, |last| last + 1);
    let mut block: Option<StoredBlock> =
        recovery.tables.values().flat_map(|table| table.blocks.first()).next().cloned();
    let mut fresh: BTreeMap<Sequence, u64> = BTreeMap::new();
    for frame in recovery.tables.values().flat_map(|table| &table.frames) {
        fresh.insert(frame.sequence, numbers(&frame.bytes)[0]);
    }
    drop(recovery);
    let mut out = std::io::stdout();
    loop {
        let batch = BatchId::new(&format!("batch-{next}")).expect("an id");
        let ticket = store.append(&table(), &batch, &next.to_le_bytes()).expect("queued");
        fresh.insert(ticket.sequence(), next);
        ticket.wait().expect("durable");
        writeln!(out, "ack {next}").expect("told");
        next += 1;
        if fresh.len() >= 7 {
            block = Some(merge(&store, block, &mut fresh));
        }
    }
}

fn merge(
    store: &Store,
    old: Option<StoredBlock>,
    fresh: &mut BTreeMap<Sequence, u64>,
) -> StoredBlock {
    let mut bytes = old.as_ref().map(|old| old.bytes.to_vec()).unwrap_or_default();
    fresh.values().for_each(|number| bytes.extend(number.to_le_bytes()));
    let rows = u32::try_from(bytes.len() / 8).expect("few");
    let block = store.write_block(&table(), rows, bytes).expect("written");
    let change = Change {
        removes: old.iter().map(|old| old.number).collect(),
        adds: vec![block.clone()],
        consumed: std::mem::take(fresh).into_keys().collect(),
        ..Change::default()
    };
    store.commit(&change).expect("committed");
    block
}

fn start(folder: &Path) -> Child {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.args(["--exact", "kill_loses_nothing", "--nocapture"]).env(FOLDER, folder);
    command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("started")
}

#[test]
fn kill_loses_nothing() {
    if let Some(folder) = std::env::var_os(FOLDER) {
        child(Path::new(&folder));
    }
    let scratch = tempfile::tempdir().expect("a folder");
    let folder = scratch.path().join("leaf-0");
    let mut acknowledged = BTreeSet::new();
    for kill in 0..KILLS {
        let mut process = start(&folder);
        let mut lines = BufReader::new(process.stdout.take().expect("its output")).lines();
        let count = acknowledged.len() + 10 + 3 * kill;
        let mut take = |line: &str| {
            let number = line.strip_prefix("ack ").and_then(|number| number.parse::<u64>().ok());
            acknowledged.extend(number);
            acknowledged.len()
        };
        while take(&lines.next().expect("the child goes on").expect("a line")) < count {}
        process.kill().expect("killed");
        // Acknowledgements that were still in the pipe count as well.
        for line in lines.map_while(Result::ok) {
            take(&line);
        }
        process.wait().expect("ended");

        let (_, recovery) = open(&folder);
        let held = held(&recovery);
        let distinct: BTreeSet<u64> = held.iter().copied().collect();
        assert_eq!(distinct.len(), held.len(), "a number is there twice");
        assert!(acknowledged.is_subset(&distinct), "lost: {acknowledged:?} of {distinct:?}");
        assert!(distinct.len() <= acknowledged.len() + KILLS, "more than was ever written");
        assert_eq!(recovery.report.lost_blocks, []);
        assert_eq!(recovery.report.log_files_lost, [""; 0]);
        assert_eq!(recovery.report.frames_damaged, 0);
    }
}
