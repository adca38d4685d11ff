//! The best rows of a block, where the rows themselves are asked for.

pub(crate) mod rows;
pub(crate) mod sort_ranks;
