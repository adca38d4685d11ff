//! Batches that the leaf has promised not to accept, because their sender may give them to another
//! leaf. A promise needs no disk: the requests that it is about name this process.

use std::collections::{HashSet, VecDeque};

use hadal_types::limits::REFUSED_BATCHES_MAX;
use hadal_types::{BatchId, TableName};

/// The newest promises. The oldest is forgotten when there are too many: its batch is accepted or
/// given up by then.
#[derive(Debug, Default)]
pub(crate) struct RefusedBatches {
    keys: HashSet<(TableName, BatchId)>,
    in_order: VecDeque<(TableName, BatchId)>,
}

impl RefusedBatches {
    /// Whether the batch is refused.
    pub(crate) fn has(&self, table: &TableName, id: &BatchId) -> bool {
        // The usual leaf has promised nothing.
        !self.keys.is_empty() && self.keys.contains(&(table.clone(), id.clone()))
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
