//! Two changes of a table's list of blocks that share a block: one of them comes too late.

use hadal_block::MergeOrder;
use hadal_store::BlockBytes;

use super::*;
use crate::maintenance::merge::{merge_blocks, origins};
use crate::maintenance::merge_policy::MergeKind;
use crate::table::Table;
use crate::table::block::Origin;

/// The merged blocks that would replace these.
fn merged(table: &Table, inputs: &[Arc<Block>]) -> Vec<Arc<Block>> {
    let kind = MergeKind::Merge(MergeOrder::Arrival);
    let merged = merge_blocks(table, inputs, kind, NOW).expect("merged");
    let origin = || Origin::Log(origins(inputs).0);
    let block = |bytes| Arc::new(Block::new(BlockBytes::from(bytes), origin()).expect("a block"));
    merged.into_iter().map(block).collect()
}

#[tokio::test]
async fn of_two_merges_that_share_a_block_the_second_is_refused_and_no_row_is_there_twice() {
    let bed = open(None);
    for at in 0..3 {
        let rows = at * 10..(at + 1) * 10;
        bed.leaf.accept(batch(&format!("b{at}"), 1, rows)).await.expect("taken");
    }
    let table = bed.leaf.context.tables.read()[&name("t")].clone();
    let blocks = table.snapshot();
    let [first, second] = [&blocks[..2], &blocks[1..]].map(|inputs| merged(&table, inputs));
    table.swap(&blocks[..2], first).expect("all of them are there");
    let refused = table.swap(&blocks[1..], second).expect_err("one of them is gone");
    let refused = refused.to_string();
    assert!(refused.starts_with("table t is corrupt: of 2 row blocks"), "{refused}");
    assert_eq!(values(&bed.leaf).await.0, (0..30).collect::<Vec<_>>());
    let bytes: usize = table.snapshot().iter().map(|block| block.byte_count()).sum();
    assert_eq!(table.bytes(), bytes as u64);
}
