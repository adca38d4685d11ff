//! The bodies that are being received, by batch id: a batch that is still in flight cannot be
//! revoked.

use std::sync::{Mutex, MutexGuard, PoisonError};

use hadal_types::{BatchId, TableName};

/// The batch ids of all bodies that are being received.
#[derive(Default)]
pub(crate) struct InFlight(Mutex<Vec<(TableName, BatchId)>>);

/// One body; it is in flight until this is dropped.
pub(crate) struct InFlightBatch<'c> {
    coming: &'c InFlight,
    body: (TableName, BatchId),
}

impl InFlight {
    /// Registers a body.
    pub(crate) fn begin(&self, table: &TableName, batch: &BatchId) -> InFlightBatch<'_> {
        let body = (table.clone(), batch.clone());
        self.lock().push(body.clone());
        InFlightBatch { coming: self, body }
    }

    /// Whether a body with this batch id, or a chunk of it, is in flight.
    pub(crate) fn has(&self, table: &TableName, client: &BatchId) -> bool {
        self.lock().iter().any(|(of, batch)| of == table && batch.is_of(client))
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(TableName, BatchId)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for InFlightBatch<'_> {
    fn drop(&mut self) {
        let mut bodies = self.coming.lock();
        if let Some(at) = bodies.iter().position(|body| *body == self.body) {
            bodies.swap_remove(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_there_until_its_last_try_ends() {
        let (table, other) = ["t", "u"].map(|name| TableName::new(name).expect("a name")).into();
        let id = |text: &str| BatchId::new(text).expect("an id");
        let coming = InFlight::default();
        let first = coming.begin(&table, &id("a##1"));
        let again = coming.begin(&table, &id("a##1"));
        assert!(coming.has(&table, &id("a")) && !coming.has(&other, &id("a")));
        assert!(!coming.has(&table, &id("a1")));
        drop(first);
        assert!(coming.has(&table, &id("a")));
        drop(again);
        assert!(!coming.has(&table, &id("a")));
    }
}
