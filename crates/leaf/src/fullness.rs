//! Says in the log of the process when a leaf's disk is full, and when it no longer is: those who send
//! rows are told so themselves, but may be programs.

use std::sync::atomic::{AtomicBool, Ordering};

use hadal_store::Error;
use hadal_wire::LeafName;

/// Whether the last batch was refused because the disk is full.
#[derive(Debug, Default)]
pub(crate) struct Fullness(AtomicBool);

impl Fullness {
    /// Notes what became of a batch.
    pub(crate) fn note(&self, leaf: &LeafName, outcome: Result<(), &Error>) {
        match outcome {
            Err(error @ Error::Full(_)) if !self.0.swap(true, Ordering::Relaxed) => {
                tracing::warn!(
                    %leaf,
                    "{error}: rows are refused until there is; dropping a table or a shorter age makes room"
                );
            }
            // Mostly nothing changes, and then nothing is written.
            Ok(()) if self.0.load(Ordering::Relaxed) && self.0.swap(false, Ordering::Relaxed) => {
                tracing::info!(%leaf, "there is space again: rows are taken");
            }
            _ => {}
        }
    }
}
