//! The background scrub: after a start that believed what is in memory, every row block is verified
//! before long, also those that no query asks for.
//!
//! A query verifies a column's checksum when it first reads it, so no value of an altered block is
//! ever used. The scrub finds such blocks while their copy on disk and the reason for the damage are
//! fresh. It takes its time, so that queries hardly notice: the whole leaf in half of
//! [`SCRUB_SECONDS_MAX`], block by block.

use std::sync::Arc;
use std::time::{Duration, Instant};

use hadal_types::TableName;
use hadal_types::limits::SCRUB_SECONDS_MAX;

use crate::block::Block;
use crate::table::Table;

/// Verifies all blocks of these tables; ends early when the leaf is stopping.
pub(crate) fn scrub(tables: &[Arc<Table>], is_stopping: impl Fn() -> bool) {
    let start = Instant::now();
    let bytes_all: u64 = tables.iter().map(|table| table.holdings().1).sum();
    let mut bytes_done = 0;
    for table in tables {
        for block in table.snapshot().iter() {
            verify(&table.name, block);
            bytes_done += block.byte_count() as u64;
            let due = start + due(bytes_done, bytes_all);
            // Whoever stops the leaf wakes this thread.
            while !is_stopping()
                && let Some(pause) = due.checked_duration_since(Instant::now())
            {
                std::thread::park_timeout(pause);
            }
            if is_stopping() {
                return;
            }
        }
    }
}

/// When so many bytes should be done, from the start on.
fn due(bytes_done: u64, bytes_all: u64) -> Duration {
    let share = bytes_done as f64 / bytes_all.max(1) as f64;
    Duration::from_secs(SCRUB_SECONDS_MAX).mul_f64(share.min(1.0) / 2.0)
}

/// Verifies all columns of a block that nobody has verified yet.
pub(crate) fn verify(table: &TableName, block: &Block) {
    let verified = block.view().and_then(|view| {
        let mut columns = view.columns().iter().enumerate();
        columns.try_for_each(|(index, column)| block.check(index, column))
    });
    if let Err(error) = verified {
        block.quarantine(table.as_str(), &error);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_takes_half_of_its_time_at_most() {
        let half = Duration::from_secs(SCRUB_SECONDS_MAX / 2);
        assert_eq!(due(0, 10), Duration::ZERO);
        assert_eq!(due(5, 10), half / 2);
        assert_eq!(due(10, 10), half);
        // Blocks that came meanwhile, and none at all.
        assert_eq!(due(20, 10), half);
        assert_eq!(due(0, 0), Duration::ZERO);
    }
}
