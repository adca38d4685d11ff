//! Drops the batch ids of a block that a merge by time would otherwise leave unchanged.

use super::{BlockError, BlockView, DAY, Micros, Values};
use crate::assemble::put_together;
use crate::header::{HEADER_BYTES, Header};

/// The block without its batches, if its rows are ordered by time and all of one day. Its columns
/// stay as they are.
///
/// # Errors
/// When the block is corrupt.
pub(super) fn settle(
    block: &BlockView<'_>,
    created_at: Micros,
) -> Result<Option<Vec<u8>>, BlockError> {
    if !block.is_in_time_order()? {
        return Ok(None);
    }
    block.verify()?;
    Ok(Some(with_front(block, |header| header.created_at = created_at)))
}

/// The block without its batches and with a changed header. Its columns stay as they are.
pub(super) fn with_front(block: &BlockView<'_>, change: impl FnOnce(&mut Header)) -> Vec<u8> {
    let (before, bytes) = (block.header(), block.bytes());
    let mut header = *before;
    (header.batches, header.batches_bytes) = (0, 0);
    change(&mut header);
    let directory = bytes.get(HEADER_BYTES..HEADER_BYTES + header.directory_bytes);
    let bodies = bytes.get(before.front_bytes()..).unwrap_or_default();
    header.block_bytes = header.front_bytes() + bodies.len();
    put_together(&header, directory.unwrap_or_default(), std::iter::once(bodies))
}

impl BlockView<'_> {
    /// Whether the rows are ordered by time and all of one day (UTC), like those of blocks that
    /// were merged by time. Cost: decodes the time column.
    ///
    /// # Errors
    /// When the time column is corrupt.
    pub fn is_in_time_order(&self) -> Result<bool, BlockError> {
        let (first, last) = self.time_range();
        if first.0.div_euclid(DAY) != last.0.div_euclid(DAY) {
            return Ok(false);
        }
        let column = self.time_column();
        column.verify()?;
        Ok(match column.decode()?.values {
            Values::Decimals { mantissas, .. } => mantissas.is_sorted(),
            _ => false,
        })
    }
}
