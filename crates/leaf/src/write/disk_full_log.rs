//! Logs when a leaf's disk is full, when it has space again, and when it has failed.
//!
//! Clients see these errors too, but clients may be programs. Also, other leaves accept the rows
//! that a leaf with a failed disk refuses. So without this log the failure might go unnoticed.

use hadal_types::LeafName;
use parking_lot::Mutex;
use std::time::{Duration, Instant};

use hadal_store::Error;

/// The interval of these log lines while batches are refused and accepted in turn.
const LOG_INTERVAL: Duration = Duration::from_mins(1);

/// Whether batches are refused because the disk is full.
#[derive(Debug, Default)]
pub(crate) struct DiskFullLog(Mutex<Option<Refusal>>);

#[derive(Debug)]
struct Refusal {
    logged: Instant,
    last: Instant,
}

impl DiskFullLog {
    /// Notes the outcome of a batch.
    pub(crate) fn note(&self, leaf: &LeafName, outcome: Result<(), &Error>) {
        match outcome {
            Err(error @ Error::Full(_)) if self.should_log(Instant::now()) => {
                tracing::warn!(
                    %leaf,
                    "{error}: rows are refused; to drop a table, or to give one a shorter age, makes room"
                );
            }
            Err(error @ Error::Poisoned { .. }) if self.should_log(Instant::now()) => {
                tracing::error!(
                    %leaf,
                    "{error}; the leaf accepts no rows until the server is restarted: check its disk"
                );
            }
            Ok(()) if self.has_recovered(Instant::now()) => {
                tracing::info!(%leaf, "there is space again: rows are taken");
            }
            _ => {}
        }
    }

    /// Notes a refusal, and returns whether to log it now.
    fn should_log(&self, now: Instant) -> bool {
        let mut refusal = self.0.lock();
        let logged = refusal.as_ref().map(|refusal| refusal.logged);
        let should_log = logged.is_none_or(|logged| now.duration_since(logged) >= LOG_INTERVAL);
        let logged = logged.filter(|_| !should_log).unwrap_or(now);
        *refusal = Some(Refusal { logged, last: now });
        should_log
    }

    /// Whether no batch was refused for [`LOG_INTERVAL`], and this is the first accepted batch
    /// since then.
    fn has_recovered(&self, now: Instant) -> bool {
        let has_recovered =
            |refusal: &mut Refusal| now.duration_since(refusal.last) >= LOG_INTERVAL;
        self.0.lock().take_if(has_recovered).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_said_once_a_minute_and_over_after_one_without_a_refusal() {
        let start = Instant::now();
        let at = |seconds: u64| start + Duration::from_secs(seconds);
        let log = DiskFullLog::default();
        assert!(!log.has_recovered(at(0)));
        assert!(log.should_log(at(0)) && !log.should_log(at(1)));
        assert!(!log.has_recovered(at(2)), "others may be too large still");
        assert!(!log.should_log(at(59)) && log.should_log(at(60)));
        assert!(!log.should_log(at(100)));
        assert!(!log.has_recovered(at(159)) && log.has_recovered(at(160)));
        assert!(!log.has_recovered(at(161)) && log.should_log(at(162)));
    }
}
