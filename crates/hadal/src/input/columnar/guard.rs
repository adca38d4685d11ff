//! The libraries that read files check much of what they read, but not all: bytes that are wrong
//! may end them in a panic, which is an error of the file and not of the program.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

use super::failed;
use crate::error::Error;

thread_local! {
    /// Whether this thread is within [`guarded`].
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Runs what reads a file. A panic of it is the error that the file is damaged, and nothing else
/// is said of it; other threads' panics are reported as ever.
pub(super) fn guarded<T>(place: &str, read: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    static QUIET: Once = Once::new();
    QUIET.call_once(|| {
        let report = take_hook();
        set_hook(Box::new(move |panic| {
            if !IS_GUARDED.get() {
                report(panic);
            }
        }));
    });
    let before = IS_GUARDED.replace(true);
    let read = catch_unwind(AssertUnwindSafe(read));
    IS_GUARDED.set(before);
    read.unwrap_or_else(|_| Err(failed(place)("the file is damaged")))
}
