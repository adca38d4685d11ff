//! Adds a block's rows to the groups of a partial result.

pub(crate) mod block;
pub(crate) mod block_sums;
pub(crate) mod coded_extremes;
pub(crate) mod distinct;
pub(crate) mod frequent_values;
pub(crate) mod histogram_cells;
pub(crate) mod log_cells;
pub(crate) mod measures;
pub(crate) mod quantile_buckets;
pub(crate) mod quantiles;
pub(crate) mod scatter_add;
pub(crate) mod sketches;
pub(crate) mod squares;
pub(crate) mod sum_decimals;
pub(crate) mod ungrouped;
pub(crate) mod unnest;
mod user;
pub(crate) mod variance_sums;
pub(crate) mod vector_sums;
