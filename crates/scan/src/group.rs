//! Which group each row of a block belongs to.

pub(crate) mod group_ids;
pub(crate) mod group_lookup;
pub(crate) mod group_runs;
pub(crate) mod grouped_rows;
pub(crate) mod packed_sums;
