//! Which tables have changed, for those who push reports of them.
//!
//! Each change gets the next number, and a table is listed under the number of its last change
//! only. So a reader that remembers the last number it has read finds what changed since, at a cost
//! that does not depend on how many tables there are, and any number of readers share one list.

use std::collections::{BTreeMap, HashMap};

use hadal_types::TableName;
use parking_lot::Mutex;
use tokio::sync::watch;

/// The last change of every table. Its lock is taken last, so a change may be noted under any lock.
#[derive(Debug, Default)]
pub(crate) struct TableChanges {
    changes: Mutex<Changes>,
    /// The number of the last change.
    last: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct Changes {
    last: u64,
    /// A dropped table stays, since its end is a change, too.
    of_table: HashMap<TableName, u64>,
    in_order: BTreeMap<u64, TableName>,
}

impl TableChanges {
    /// Notes that a table has changed.
    pub(crate) fn note(&self, table: &TableName) {
        let mut changes = self.changes.lock();
        let Changes { last, of_table, in_order } = &mut *changes;
        *last += 1;
        if let Some(earlier) = of_table.insert(table.clone(), *last) {
            in_order.remove(&earlier);
        }
        in_order.insert(*last, table.clone());
        self.last.send_replace(*last);
    }

    /// Returns the tables that changed after the change `mark`, and the number of the last one. If
    /// there are more than `tables_max`, only the first ones.
    pub(crate) fn since(&self, mark: u64, tables_max: usize) -> (u64, Vec<TableName>) {
        let changes = self.changes.lock();
        let after = changes.in_order.range(mark.saturating_add(1)..).take(tables_max);
        let mut last = mark;
        let tables = after.map(|(&number, table)| {
            last = number;
            table.clone()
        });
        let tables = tables.collect();
        (last, tables)
    }

    /// Returns once there is a change after `mark`.
    pub(crate) async fn wait(&self, mark: u64) {
        // The sender lives as long as `self`.
        let _ = self.last.subscribe().wait_for(|last| *last > mark).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(name: &str) -> TableName {
        TableName::new(name).expect("a name")
    }

    #[test]
    fn of_several_changes_of_a_table_the_last_one_is_listed() {
        let changes = TableChanges::default();
        assert_eq!(changes.since(0, 9), (0, vec![]));
        for name in ["a", "b", "a", "c", "a"] {
            changes.note(&table(name));
        }
        assert_eq!(changes.since(0, 9), (5, vec![table("b"), table("c"), table("a")]));
        assert_eq!(changes.since(0, 2), (4, vec![table("b"), table("c")]));
        assert_eq!(changes.since(4, 2), (5, vec![table("a")]));
        assert_eq!(changes.since(5, 2), (5, vec![]));
        assert_eq!(changes.since(u64::MAX, 2), (u64::MAX, vec![]));
    }

    #[tokio::test]
    async fn a_change_wakes_every_reader_that_has_not_read_it() {
        let changes = TableChanges::default();
        changes.note(&table("a"));
        changes.wait(0).await;
        let (one, other) = (changes.wait(1), changes.wait(1));
        let noting = async { changes.note(&table("b")) };
        tokio::join!(one, other, noting);
    }
}
