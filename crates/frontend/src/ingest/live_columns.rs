//! The columns of tables that bodies come in for at this moment.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use hadal_ingest::TableColumns;
use hadal_types::limits::TABLE_COLUMNS_MAX;
use hadal_types::{TableName, TableSchema};

/// Columns that bodies added so long ago are in the table's schema, or never come there.
const SETTLED: Duration = Duration::from_secs(60);

/// What bodies under way share of their tables' columns; forgotten with the last body of a table,
/// since the table's schema has them by then.
#[derive(Default)]
pub(crate) struct LiveColumns(Mutex<HashMap<TableName, Shared>>);

/// What the bodies of one table share, and since when.
struct Shared {
    columns: Weak<TableColumns>,
    since: Instant,
}

impl LiveColumns {
    /// What the bodies of a table share. To be asked for before the table's schema is, and then to be
    /// [told](Self::told) it: a body that ended in between would be in neither.
    pub(crate) fn of(&self, table: &TableName, now: Instant) -> Arc<TableColumns> {
        let mut tables = self.lock();
        if let Some(columns) = tables.get(table).and_then(|shared| shared.columns.upgrade()) {
            return columns;
        }
        tables.retain(|_, shared| shared.columns.strong_count() > 0);
        begin(&mut tables, table, now)
    }

    /// What the bodies of a table share, which has this schema. Where columns have gone from the
    /// schema, they go from what is shared after a while, though some body always is under way.
    pub(crate) fn told(
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
        let mut tables = self.lock();
        let is_settled = |shared: &Shared| now.saturating_duration_since(shared.since) >= SETTLED;
        if !tables.get(table).is_some_and(is_settled) {
            return columns;
        }
        let columns = begin(&mut tables, table, now);
        add(&columns);
        columns
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<TableName, Shared>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn begin(
    tables: &mut HashMap<TableName, Shared>,
    table: &TableName,
    now: Instant,
) -> Arc<TableColumns> {
    let columns = Arc::default();
    tables.insert(table.clone(), Shared { columns: Arc::downgrade(&columns), since: now });
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_under_way_share_the_columns_of_their_table() {
        let (live, now) = (LiveColumns::default(), Instant::now());
        let [one, other] = ["one", "other"].map(|name| TableName::new(name).expect("a name"));
        let first = live.of(&one, now);
        assert!(Arc::ptr_eq(&first, &live.of(&one, now)));
        assert!(!Arc::ptr_eq(&first, &live.of(&other, now)));
        drop(first);
        let _again = live.of(&one, now);
        assert_eq!(live.lock().len(), 1, "that of the other is forgotten");
    }

    #[test]
    fn columns_that_have_gone_make_room_though_some_body_is_always_under_way() {
        let (live, start) = (LiveColumns::default(), Instant::now());
        let table = TableName::new("t").expect("a name");
        let first = live.of(&table, start);
        let names: Vec<String> = (0..TABLE_COLUMNS_MAX).map(|own| format!("c{own}")).collect();
        first.add(names.iter().map(String::as_str));
        let told = |at| live.told(&table, live.of(&table, at), None, at);
        assert!(told(start + SETTLED / 2).is_full(), "they may be on their way");
        let renewed = told(start + SETTLED);
        assert!(!renewed.is_full() && first.is_full());
        assert!(Arc::ptr_eq(&renewed, &told(start + SETTLED)));
    }
}
