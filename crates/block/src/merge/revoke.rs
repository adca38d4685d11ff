//! Removes the rows of some batches from a block.

use hadal_types::BatchId;

use super::{BlockError, BlockView, Kept, MergeOrder, Micros, merge_rows};

/// Makes blocks of the rows of `block` that are not from these batches, in order of arrival, so the
/// other batches can still be revoked. No block if there are no other rows.
///
/// # Errors
/// When the block is corrupt.
pub fn merge_without(
    block: BlockView<'_>,
    batches: &[BatchId],
    created_at: Micros,
) -> Result<Vec<Vec<u8>>, BlockError> {
    let revoked = block.batches().iter().filter(|batch| batches.contains(&batch.id));
    let revoked: Vec<_> =
        revoked.map(|batch| batch.first_row..batch.first_row + batch.rows).collect();
    merge_rows(&[block], MergeOrder::Arrival, &Kept::Outside(revoked), created_at)
}
