//! Batches that the leaf does not accept, because another leaf gets them.
//!
//! The leaf *promises* a sender to refuse a batch that the sender may give to another leaf. A
//! promise needs no disk: the requests that it is about name this process. Batches that are
//! *revoked* here are known from records that outlive the process.

use std::collections::{HashSet, VecDeque};

use hadal_types::limits::REFUSED_BATCHES_MAX;
use hadal_types::{BatchId, TableName};

/// The revoked batches and the newest promises. The oldest promise is forgotten when there are too
/// many: its batch is accepted or given up by then.
#[derive(Debug, Default)]
pub(crate) struct RefusedBatches {
    keys: HashSet<(TableName, BatchId)>,
    in_order: VecDeque<(TableName, BatchId)>,
    revoked: HashSet<(TableName, BatchId)>,
}

impl RefusedBatches {
    /// Whether the leaf promised to refuse the batch.
    pub(crate) fn has(&self, table: &TableName, id: &BatchId) -> bool {
        // The usual leaf has promised nothing.
        !self.keys.is_empty() && self.keys.contains(&(table.clone(), id.clone()))
    }

    /// Whether the batch is revoked here.
    pub(crate) fn is_revoked(&self, table: &TableName, id: &BatchId) -> bool {
        !self.revoked.is_empty() && self.revoked.contains(&(table.clone(), id.clone()))
    }

    /// Replaces the revoked batches.
    pub(crate) fn set_revoked(&mut self, revoked: HashSet<(TableName, BatchId)>) {
        self.revoked = revoked;
    }

    /// Refuses the batch from now on.
    pub(crate) fn add(&mut self, table: &TableName, id: &BatchId) {
        let key = (table.clone(), id.clone());
        if !self.keys.insert(key.clone()) {
            return;
        }
        self.in_order.push_back(key);
        if self.in_order.len() > REFUSED_BATCHES_MAX
            && let Some(oldest) = self.in_order.pop_front()
        {
            self.keys.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_promises_are_kept() {
        let table = TableName::new("t").expect("a name");
        let id = |number: usize| BatchId::new(&number.to_string()).expect("an id");
        let mut refused = RefusedBatches::default();
        for number in [0].into_iter().chain(0..=REFUSED_BATCHES_MAX) {
            refused.add(&table, &id(number));
        }
        assert!(!refused.has(&table, &id(0)) && refused.has(&table, &id(1)));
        assert!(refused.has(&table, &id(REFUSED_BATCHES_MAX)));
        assert!(!refused.has(&TableName::new("u").expect("a name"), &id(1)));
    }
}
