//! Says in the log of the process when a leaf's disk is full, and when it no longer is, or that it has failed:
//! those who send rows are told so themselves, but may be programs, and others take the rows of a leaf
//! whose disk has failed.

use hadal_types::LeafName;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use hadal_store::Error;

use crate::sync::lock;

/// While batches are refused and taken by turns, the one and the other are said that often.
const SAID_EVERY: Duration = Duration::from_mins(1);

/// Whether batches are refused because the disk is full.
#[derive(Debug, Default)]
pub(crate) struct Fullness(Mutex<Option<Refusal>>);

#[derive(Debug)]
struct Refusal {
    said: Instant,
    last: Instant,
}

impl Fullness {
    /// Notes what became of a batch.
    pub(crate) fn note(&self, leaf: &LeafName, outcome: Result<(), &Error>) {
        match outcome {
            Err(error @ Error::Full(_)) if self.is_to_be_said(Instant::now()) => {
                tracing::warn!(
                    %leaf,
                    "{error}: rows are refused; to drop a table, or to give one a shorter age, makes room"
                );
            }
            Err(error @ Error::Poisoned { .. }) if self.is_to_be_said(Instant::now()) => {
                tracing::error!(
                    %leaf,
                    "{error}; the leaf takes no rows until the server is started anew: look at its disk"
                );
            }
            Ok(()) if self.is_over(Instant::now()) => {
                tracing::info!(%leaf, "there is space again: rows are taken");
            }
            _ => {}
        }
    }

    /// Whether it is to be said that one was refused now.
    fn is_to_be_said(&self, now: Instant) -> bool {
        let mut refusal = lock(&self.0);
        let said = refusal.as_ref().map(|refusal| refusal.said);
        let is_to_be_said = said.is_none_or(|said| now.duration_since(said) >= SAID_EVERY);
        let said = said.filter(|_| !is_to_be_said).unwrap_or(now);
        *refusal = Some(Refusal { said, last: now });
        is_to_be_said
    }

    /// Whether this is the first one taken since none is refused any more.
    fn is_over(&self, now: Instant) -> bool {
        let is_over = |refusal: &mut Refusal| now.duration_since(refusal.last) >= SAID_EVERY;
        lock(&self.0).take_if(is_over).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_said_once_a_minute_and_over_after_one_without_a_refusal() {
        let start = Instant::now();
        let at = |seconds: u64| start + Duration::from_secs(seconds);
        let own = Fullness::default();
        assert!(!own.is_over(at(0)));
        assert!(own.is_to_be_said(at(0)) && !own.is_to_be_said(at(1)));
        assert!(!own.is_over(at(2)), "others may be too large still");
        assert!(!own.is_to_be_said(at(59)) && own.is_to_be_said(at(60)));
        assert!(!own.is_to_be_said(at(100)));
        assert!(!own.is_over(at(159)) && own.is_over(at(160)));
        assert!(!own.is_over(at(161)) && own.is_to_be_said(at(162)));
    }
}
