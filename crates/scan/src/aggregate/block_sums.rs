//! The counts and sums of a block's rows, before they are added to groups.

use hadal_aggregate::accumulate::AccumulatorColumn;

/// The sums of a block's rows by cell.
pub(crate) struct BlockSums {
    /// The number of rows that have a value, by [`hadal_aggregate::accumulate::SumInput::valid`].
    pub(crate) counts: Vec<Vec<u64>>,
    /// By sum, modulo 2^64.
    pub(crate) sums: Vec<Vec<u64>>,
}

impl BlockSums {
    /// The numbers by cell to add to one column of accumulators, and their factor. The factor is 0
    /// if nothing is added.
    pub(crate) fn addends(&self, column: AccumulatorColumn) -> (&[u64], i64) {
        match column {
            AccumulatorColumn::Nothing => (&self.counts[0], 0),
            AccumulatorColumn::Count(valid) => (&self.counts[valid], 1),
            AccumulatorColumn::Sum { index, factor } => (&self.sums[index], factor),
        }
    }
}
