//! The columns of tables that bodies come in for at this moment.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use hadal_ingest::TableColumns;
use hadal_types::TableName;

/// What bodies under way share of their tables' columns; forgotten with the last body of a table,
/// since the table's schema has them by then.
#[derive(Default)]
pub(crate) struct LiveColumns(Mutex<HashMap<TableName, Weak<TableColumns>>>);

impl LiveColumns {
    /// What the bodies of a table share. To be asked for before the table's schema is, and then to be
    /// told it ([`TableColumns::add`]): a body that ended in between would be in neither.
    pub(crate) fn of(&self, table: &TableName) -> Arc<TableColumns> {
        let mut tables = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(columns) = tables.get(table).and_then(Weak::upgrade) {
            return columns;
        }
        tables.retain(|_, columns| columns.strong_count() > 0);
        let columns = Arc::default();
        tables.insert(table.clone(), Arc::downgrade(&columns));
        columns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_under_way_share_the_columns_of_their_table() {
        let live = LiveColumns::default();
        let [one, other] = ["one", "other"].map(|name| TableName::new(name).expect("a name"));
        let first = live.of(&one);
        assert!(Arc::ptr_eq(&first, &live.of(&one)));
        assert!(!Arc::ptr_eq(&first, &live.of(&other)));
        drop(first);
        let _again = live.of(&one);
        assert_eq!(live.0.lock().expect("no panic").len(), 1, "that of the other is forgotten");
    }
}
