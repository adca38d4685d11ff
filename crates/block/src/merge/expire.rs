//! Removes a block's oldest rows.

use super::{
    BlockError, BlockView, Concatenated, Inputs, Kept, Kind, MergeOrder, Micros, merge_rows,
};

/// Makes blocks of the rows of `block` whose times are not before `from`, ordered by time; no block
/// if all rows are before. Like [`super::merge`] by time it drops batches, so the rows must no
/// longer be revocable.
///
/// # Errors
/// When the block is corrupt.
pub fn merge_from(
    block: BlockView<'_>,
    from: Micros,
    created_at: Micros,
) -> Result<Vec<Vec<u8>>, BlockError> {
    merge_rows(&[block], MergeOrder::Time, &Kept::From(from), created_at)
}

impl BlockView<'_> {
    /// The number of rows with a time before `time`. Cost: decodes the time column.
    ///
    /// # Errors
    /// When the time column is corrupt.
    pub fn rows_before(&self, time: Micros) -> Result<usize, BlockError> {
        let (first, last) = self.time_range();
        if last < time {
            return Ok(self.rows());
        }
        if first >= time {
            return Ok(0);
        }
        let blocks = std::slice::from_ref(self);
        let column =
            Concatenated::new(&Inputs::new(blocks), self.time_column().name(), Kind::Number)?;
        Ok(column.into_times().iter().filter(|row_time| **row_time < time.0).count())
    }
}
