//! The locks of the worker pool. Its tests under random schedules replace this module.

pub(crate) use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
