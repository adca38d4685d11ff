//! The group of each row of a block.

pub(crate) mod group_ids;
pub(crate) mod group_lookup;
pub(crate) mod group_runs;
pub(crate) mod grouped_rows;
pub(crate) mod key_counters;
pub(crate) mod key_hashes;
pub(crate) mod packed_sums;
