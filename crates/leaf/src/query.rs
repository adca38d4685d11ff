//! Queries: which blocks are scanned, in which order, and by which threads.

pub(crate) mod execute;
pub(crate) mod fair_scheduler;
pub(crate) mod morsel_queue;
#[cfg(test)]
mod random_schedule_tests;
pub(crate) mod scan_job;
pub(crate) mod scan_pool;
pub(crate) mod worker_pool;
#[cfg(test)]
mod worker_pool_tests;

/// Locks of the worker pool; its tests under random schedules have others.
mod locks {
    pub(crate) use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
}
