//! Background work of a leaf on its existing blocks.

pub(crate) mod archive;
pub(crate) mod data_loss;
pub(crate) mod expiry;
pub(crate) mod expiry_schedule;
pub(crate) mod flush;
pub(crate) mod memory_pressure;
pub(crate) mod merge;
pub(crate) mod merge_policy;
pub(crate) mod merger;
pub(crate) mod paced_free;
pub(crate) mod recompress;
pub(crate) mod rewrite;
pub(crate) mod sample;
pub(crate) mod scrub;
pub(crate) mod storage_tier;
mod trusted_clock;
