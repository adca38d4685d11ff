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
    /// The numbers by cell to add to one column of accumulators, times the column's factors.
    pub(crate) fn addends(&self, column: &AccumulatorColumn) -> &[u64] {
        match column {
            AccumulatorColumn::Nothing => &[],
            AccumulatorColumn::Count { valid, .. } | AccumulatorColumn::Squares { valid, .. } => {
                &self.counts[*valid]
            }
            AccumulatorColumn::Sum { index, .. } => &self.sums[*index],
        }
    }
}
