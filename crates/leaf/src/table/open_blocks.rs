//! Opens blocks of the store: reads their headers and directories.

use std::collections::BTreeMap;

use hadal_store::{LostBlock, StoredBlock};
use hadal_types::TableName;
use parking_lot::Mutex;

use crate::parallel::parallel_from_last;
use crate::table::block::{Block, Origin};

/// The number of blocks that one thread opens at once, which takes a few milliseconds.
const BLOCKS_AT_ONCE: usize = 2_048;

/// Opens a block of the store; it is lost if its header or directory cannot be read.
pub(crate) fn open_block(table: &TableName, stored: StoredBlock) -> Result<Block, LostBlock> {
    let StoredBlock { number, rows, bytes, .. } = stored;
    Block::new(bytes.clone(), Origin::Segment(number)).map_err(|error| {
        let reason = format!("{} is damaged: {error}", bytes.describe_location());
        LostBlock { number, table: table.clone(), rows, reason }
    })
}

/// Opens many blocks, and keeps their order. For a large table all processors are used.
pub(crate) fn open_blocks(
    table: &TableName,
    stored: Vec<StoredBlock>,
) -> Vec<Result<Block, LostBlock>> {
    let open =
        |some: Vec<StoredBlock>| some.into_iter().map(|block| open_block(table, block)).collect();
    let count = stored.len().div_ceil(BLOCKS_AT_ONCE);
    if count < 2 {
        return open(stored);
    }
    let mut rest = stored.into_iter();
    let parts = (0..count).map(|at| (at, rest.by_ref().take(BLOCKS_AT_ONCE).collect())).collect();
    let opened = Mutex::new(BTreeMap::new());
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let work = |(at, part)| {
        let part: Vec<_> = open(part);
        opened.lock().insert(at, part);
        true
    };
    parallel_from_last(parts, threads, |_, _| false, work);
    std::mem::take(&mut *opened.lock()).into_values().flatten().collect()
}

#[cfg(test)]
mod tests {
    use hadal_block::BlockBuilder;
    use hadal_store::{BlockNumber, Store};
    use hadal_types::{ColumnName, Micros};

    use super::*;

    #[test]
    fn many_are_opened_in_their_order() {
        let store = Store::in_memory();
        let table = TableName::new("t").expect("a name");
        let mut builder = BlockBuilder::new(ColumnName::new("time").expect("a name"));
        builder.end_row(Micros(7));
        let block = builder.finish(Micros(7), None).expect("fits");
        let many = u32::try_from(3 * BLOCKS_AT_ONCE + 5).expect("few");
        let damaged = [0, many / 2, many - 1];
        let write = |at: u32| {
            let bytes = if damaged.contains(&at) { vec![1; 100] } else { block.clone() };
            store.write_block(&table, at + 1, bytes).expect("written")
        };
        let stored: Vec<StoredBlock> = (0..many).map(write).collect();
        let numbers: Vec<BlockNumber> = stored.iter().map(|block| block.number).collect();
        let opened = open_blocks(&table, stored);
        for (at, (number, opened)) in (0..).zip(numbers.iter().zip(opened)) {
            let opened_number = match &opened {
                Ok(block) => block.number().expect("of a segment"),
                Err(lost) => lost.number,
            };
            assert_eq!((opened_number, opened.is_err()), (*number, damaged.contains(&at)));
        }
    }
}
