//! The best rows of a block, for queries of raw rows.

pub(crate) mod rows;
pub(crate) mod sort_ranks;
