//! The bodies that are being received, by batch id: a batch that is still in flight cannot be
//! revoked.

use hadal_types::{BatchId, TableName};
use parking_lot::Mutex;

/// The batch ids of all bodies that are being received.
#[derive(Default)]
pub(crate) struct InFlight(Mutex<Vec<(TableName, BatchId)>>);

/// One body; it is in flight until this is dropped.
pub(crate) struct InFlightBatch<'c> {
    in_flight: &'c InFlight,
    body: (TableName, BatchId),
}

impl InFlight {
    /// Registers a body.
    pub(crate) fn begin(&self, table: &TableName, batch: &BatchId) -> InFlightBatch<'_> {
        let body = (table.clone(), batch.clone());
        self.0.lock().push(body.clone());
        InFlightBatch { in_flight: self, body }
    }

    /// Whether a body with this batch id, or a chunk of it, is in flight.
    pub(crate) fn has(&self, table: &TableName, client: &BatchId) -> bool {
        self.0.lock().iter().any(|(body_table, batch)| body_table == table && batch.is_of(client))
    }
}

impl Drop for InFlightBatch<'_> {
    fn drop(&mut self) {
        let mut bodies = self.in_flight.0.lock();
        if let Some(at) = bodies.iter().position(|body| *body == self.body) {
            bodies.swap_remove(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_in_flight_until_its_last_try_ends() {
        let (table, other) = ["t", "u"].map(|name| TableName::new(name).expect("a name")).into();
        let id = |text: &str| BatchId::new(text).expect("an id");
        let in_flight = InFlight::default();
        let first = in_flight.begin(&table, &id("a##1"));
        let again = in_flight.begin(&table, &id("a##1"));
        assert!(in_flight.has(&table, &id("a")) && !in_flight.has(&other, &id("a")));
        assert!(!in_flight.has(&table, &id("a1")));
        drop(first);
        assert!(in_flight.has(&table, &id("a")));
        drop(again);
        assert!(!in_flight.has(&table, &id("a")));
    }
}
