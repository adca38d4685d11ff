//! The columns of tables that bodies come in for at this moment.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use hadal_ingest::TableColumns;
use hadal_types::{TableName, TableSchema};

/// What bodies under way share of their tables' columns; forgotten with the last body of a table,
/// since the table's schema has them by then.
#[derive(Default)]
pub(crate) struct LiveColumns(Mutex<HashMap<TableName, Weak<TableColumns>>>);

impl LiveColumns {
    /// The columns of a table that has this schema, shared with the bodies that are under way.
    pub(crate) fn of(&self, table: &TableName, schema: Option<&TableSchema>) -> Arc<TableColumns> {
        let columns = {
            let mut tables = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            match tables.get(table).and_then(Weak::upgrade) {
                Some(columns) => columns,
                None => {
                    tables.retain(|_, columns| columns.strong_count() > 0);
                    let columns = Arc::default();
                    tables.insert(table.clone(), Arc::downgrade(&columns));
                    columns
                }
            }
        };
        let names = schema.into_iter().flat_map(|schema| &schema.columns);
        columns.add(names.map(|column| column.name.as_str()));
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
        let first = live.of(&one, None);
        assert!(Arc::ptr_eq(&first, &live.of(&one, None)));
        assert!(!Arc::ptr_eq(&first, &live.of(&other, None)));
        drop(first);
        let _again = live.of(&one, None);
        assert_eq!(live.0.lock().expect("no panic").len(), 1, "that of the other is forgotten");
    }
}
