//! Locks of the worker pool; its tests under random schedules replace this module by other locks.

pub(crate) use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
