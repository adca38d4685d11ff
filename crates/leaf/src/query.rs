//! Queries: which blocks are scanned, in which order, and on which threads.

pub(crate) mod execute;
pub(crate) mod fair_scheduler;
pub(crate) mod leaf_scan;
mod locks;
pub(crate) mod morsel_queue;
#[cfg(test)]
mod random_schedule_tests;
pub(crate) mod scan_job;
pub(crate) mod scan_pool;
pub(crate) mod top_list;
pub(crate) mod worker_pool;
#[cfg(test)]
mod worker_pool_tests;
