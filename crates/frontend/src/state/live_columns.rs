//! The columns of the tables that receive rows now, shared by all bodies of a table.

use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use hadal_ingest::TableColumns;
use hadal_types::limits::TABLE_COLUMNS_MAX;
use hadal_types::{TableName, TableSchema};
use parking_lot::Mutex;

/// Columns added longer ago are in the table's schema, or were never accepted.
const SETTLED: Duration = Duration::from_secs(60);

/// The column sets that bodies in flight share; a set is dropped with the last body of its table,
/// when the table's schema has its columns.
#[derive(Default)]
pub(crate) struct LiveColumns(Mutex<HashMap<TableName, ColumnSet>>);

/// The column set of one table, and when it began.
struct ColumnSet {
    columns: Weak<TableColumns>,
    start: Instant,
}

impl LiveColumns {
    /// The column set of a table. The caller gets it before it reads the table's schema, and then
    /// [adds](Self::add_schema) the schema: otherwise the columns of a body that ended in between
    /// would be missing in both.
    pub(crate) fn of(&self, table: &TableName, now: Instant) -> Arc<TableColumns> {
        let mut tables = self.0.lock();
        if let Some(columns) = tables.get(table).and_then(|set| set.columns.upgrade()) {
            return columns;
        }
        tables.retain(|_, set| set.columns.strong_count() > 0);
        begin(&mut tables, table, now)
    }

    /// Adds the columns of the table's schema to its column set. If columns have left the schema, a
    /// new set begins after [`SETTLED`], even if the old one is always in use.
    pub(crate) fn add_schema(
        &self,
        table: &TableName,
        columns: Arc<TableColumns>,
        schema: Option<&TableSchema>,
        now: Instant,
    ) -> Arc<TableColumns> {
        let schema = schema.map_or(&[][..], |schema| &schema.columns);
        let add = |columns: &TableColumns| {
            columns.add(schema.iter().map(|column| column.name.as_str()));
        };
        add(&columns);
        if schema.len() >= TABLE_COLUMNS_MAX || !columns.is_full() {
            return columns;
        }
        let mut tables = self.0.lock();
        let is_settled = |set: &ColumnSet| now.saturating_duration_since(set.start) >= SETTLED;
        if !tables.get(table).is_some_and(is_settled) {
            return columns;
        }
        let columns = begin(&mut tables, table, now);
        add(&columns);
        columns
    }
}

fn begin(
    tables: &mut HashMap<TableName, ColumnSet>,
    table: &TableName,
    now: Instant,
) -> Arc<TableColumns> {
    let columns = Arc::default();
    tables.insert(table.clone(), ColumnSet { columns: Arc::downgrade(&columns), start: now });
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_in_flight_share_the_columns_of_their_table() {
        let (live, now) = (LiveColumns::default(), Instant::now());
        let [one, other] = ["one", "other"].map(|name| TableName::new(name).expect("a name"));
        let first = live.of(&one, now);
        assert!(Arc::ptr_eq(&first, &live.of(&one, now)));
        assert!(!Arc::ptr_eq(&first, &live.of(&other, now)));
        drop(first);
        let _again = live.of(&one, now);
        assert_eq!(live.0.lock().len(), 1, "the set of the other table is dropped");
    }

    #[test]
    fn dropped_columns_free_their_capacity_while_bodies_are_in_flight() {
        let (live, start) = (LiveColumns::default(), Instant::now());
        let table = TableName::new("t").expect("a name");
        let first = live.of(&table, start);
        let names: Vec<String> =
            (0..TABLE_COLUMNS_MAX).map(|number| format!("c{number}")).collect();
        first.add(names.iter().map(String::as_str));
        let add_schema = |at| live.add_schema(&table, live.of(&table, at), None, at);
        assert!(add_schema(start + SETTLED / 2).is_full(), "they may be in flight");
        let renewed = add_schema(start + SETTLED);
        assert!(!renewed.is_full() && first.is_full());
        assert!(Arc::ptr_eq(&renewed, &add_schema(start + SETTLED)));
    }
}
