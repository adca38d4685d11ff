//! The locks of the worker pool. Its tests under random schedules replace this module by the locks
//! of shuttle, which has the interface of the standard library.

pub(crate) use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
