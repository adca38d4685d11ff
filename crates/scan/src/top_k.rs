//! The best rows of a block, for queries of raw rows.

mod gathered_column;
pub(crate) mod rows;
pub(crate) mod sort_ranks;
