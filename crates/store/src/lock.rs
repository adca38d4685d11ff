//! Locks a mutex whose earlier holder may have panicked.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks `mutex`, poisoned or not.
///
/// The data behind this crate's locks changes in single steps that do not panic half-way. A panic
/// elsewhere in the process must not stop the log.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
