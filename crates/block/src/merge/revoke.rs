//! A block that loses the rows of some batches.

use hadal_types::BatchId;

use super::{BlockError, BlockView, Kept, MergeOrder, Micros, merge_rows};

/// Makes blocks of the rows of `block` that did not come with one of these batches, as they came: so
/// the others can still be revoked. None where it has no other rows.
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
