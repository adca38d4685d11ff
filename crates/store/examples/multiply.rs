//! Makes a large leaf of a small one, to measure restarts: copies its row blocks unchanged to
//! further tables until they have the given number of bytes.
//!
//! `cargo run --release -p hadal-store --example multiply -- LEAF-FOLDER BYTES BLOCKS-PER-TABLE`
//!
//! The tables are named after the tables of their blocks: `events-1`, `events-2` and so on. No
//! server may have the folder.
#![expect(clippy::print_stdout, reason = "it says what it has made")]
#![expect(clippy::expect_used, reason = "a tool for measuring has nobody to report to")]

use hadal_store::{Change, Config, Recovery, Store, StoredBlock};
use hadal_types::TableName;

/// Blocks of one change.
const BLOCKS_AT_ONCE: usize = 64;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut next = |what: &str| arguments.next().unwrap_or_else(|| usage(what));
    let folder = next("LEAF-FOLDER");
    let bytes_wanted: usize = next("BYTES").parse().expect("a number of bytes");
    let blocks_per_table: usize = next("BLOCKS-PER-TABLE").parse().expect("a number of blocks");
    let (store, Recovery { tables, .. }) = Store::open(&Config::new(folder)).expect("opened");
    let blocks: Vec<StoredBlock> = tables.into_values().flat_map(|table| table.blocks).collect();
    assert!(!blocks.is_empty(), "there is no block to copy");
    let (mut bytes, mut copies) = (0, 0);
    for block in &blocks {
        bytes += block.bytes.len();
    }
    let mut change = Change::default();
    while bytes < bytes_wanted {
        let block = &blocks[copies % blocks.len()];
        let name = format!("{}-{}", block.table, 1 + copies / blocks_per_table);
        let table = TableName::new(&name).expect("a name");
        let copy = store.write_block(&table, block.rows, block.bytes.to_vec()).expect("written");
        change.adds.push(copy);
        (bytes, copies) = (bytes + block.bytes.len(), copies + 1);
        if change.adds.len() == BLOCKS_AT_ONCE {
            store.commit(&std::mem::take(&mut change)).expect("committed");
        }
    }
    store.commit(&change).expect("committed");
    store.stop().expect("stopped");
    println!("{} blocks of {bytes} bytes", blocks.len() + copies);
}

fn usage(what: &str) -> String {
    println!("usage: multiply LEAF-FOLDER BYTES BLOCKS-PER-TABLE; {what} is missing");
    std::process::exit(2)
}
