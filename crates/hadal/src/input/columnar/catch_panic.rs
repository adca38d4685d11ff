//! Turns panics of the libraries that read files into errors. These libraries check much of a file,
//! but not everything: wrong bytes may make them panic. That is an error of the file, not of the
//! program.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

use super::failed;
use crate::error::Error;

thread_local! {
    /// Whether this thread is within [`catching_panics`].
    static IS_CATCHING: Cell<bool> = const { Cell::new(false) };
}

/// Runs code that reads a file. If it panics, the error is that the file is damaged, and the panic
/// is not reported. Panics of other threads are reported as usual.
pub(super) fn catching_panics<T>(
    place: &str,
    read: impl FnOnce() -> Result<T, Error>,
) -> Result<T, Error> {
    static QUIET: Once = Once::new();
    QUIET.call_once(|| {
        let report = take_hook();
        set_hook(Box::new(move |panic| {
            if !IS_CATCHING.get() {
                report(panic);
            }
        }));
    });
    let before = IS_CATCHING.replace(true);
    let read = catch_unwind(AssertUnwindSafe(read));
    IS_CATCHING.set(before);
    read.unwrap_or_else(|_| Err(failed(place)("the file is damaged")))
}
