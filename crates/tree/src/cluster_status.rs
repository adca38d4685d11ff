//! The tables of all leaves, merged.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use hadal_peer::{LeafLoss, MemberState, PeerStatus, TableStatus};
use hadal_types::{LeafName, TableName, TableSchema};

/// All tables at one moment, and the leaves that reported them.
#[derive(Clone, Debug, Default)]
pub struct ClusterStatus {
    /// Tables by name.
    pub tables: BTreeMap<TableName, TableStatus>,
    /// The leaves: name, state, bytes of row blocks.
    pub leaves: Vec<(LeafName, MemberState, u64)>,
    /// Losses of leaves whose rows and tables are unknown.
    pub losses: Vec<(LeafName, LeafLoss)>,
}

impl ClusterStatus {
    /// Merges the status of all leaves.
    #[must_use]
    pub fn new(status: &PeerStatus) -> Self {
        let mut cluster = Self::default();
        for leaf in &status.leaves {
            cluster.leaves.push((leaf.name.clone(), leaf.state, leaf.block_bytes));
            let losses = leaf.losses.iter();
            cluster.losses.extend(losses.map(|loss| (leaf.name.clone(), loss.clone())));
        }
        for name in Self::names(status) {
            if let Some(table) = Self::table_of(status, name.as_str()) {
                cluster.tables.insert(name, table);
            }
        }
        cluster
    }

    /// The names of all tables. Does not examine their contents.
    #[must_use]
    pub fn names(status: &PeerStatus) -> BTreeSet<TableName> {
        status.leaves.iter().flat_map(|leaf| leaf.tables.keys().cloned()).collect()
    }

    /// Merges what all leaves report of one table; `None` if no leaf has it.
    #[must_use]
    pub(crate) fn table_of(status: &PeerStatus, name: &str) -> Option<TableStatus> {
        let mut parts = status.leaves.iter().filter_map(|leaf| leaf.tables.get(name));
        let mut table = parts.next().map(|part| (**part).clone())?;
        parts.for_each(|part| merge(&mut table, part));
        Some(table)
    }

    /// Returns the schema of a table.
    #[must_use]
    pub fn schema(&self, table: &str) -> Option<Arc<TableSchema>> {
        self.tables.get(table).map(|table| Arc::clone(&table.schema))
    }
}

/// Adds the share of another leaf to `total`.
pub(crate) fn merge(total: &mut TableStatus, other: &TableStatus) {
    total.schema = Arc::new((*total.schema).clone().merge(&other.schema));
    total.blocks += other.blocks;
    total.block_bytes += other.block_bytes;
    total.raw_bytes += other.raw_bytes;
    total.dropped_rows += other.dropped_rows;
    total.dropped_bytes += other.dropped_bytes;
    total.dropped_until = total.dropped_until.max(other.dropped_until);
    total.expired_rows += other.expired_rows;
    total.expired_until = total.expired_until.max(other.expired_until);
    total.lost_rows += other.lost_rows;
    total.waiting_rows += other.waiting_rows;
    total.state = total.state.max(other.state);
    if total.settings.is_none() {
        total.settings.clone_from(&other.settings);
    }
    if total.archive_error.is_none() {
        total.archive_error.clone_from(&other.archive_error);
    }
    total.expiry = match (total.expiry, other.expiry) {
        (Some(one), Some(two)) => Some(one.and(two)),
        (one, two) => one.or(two),
    };
}

#[cfg(test)]
mod tests {
    use hadal_peer::{ExpiryForecast, LeafStatus};
    use hadal_types::{ColumnName, LeafState, Micros, TableSettings};

    use super::*;

    fn leaf(name: &str, tables: &[(&str, u64)]) -> LeafStatus {
        let table = |&(name, rows): &(&str, u64)| {
            let name = TableName::new(name).expect("a name");
            let schema = TableSchema {
                name: name.clone(),
                time_column: ColumnName::new("time").expect("a name"),
                columns: Vec::new(),
                rows,
                time_range: None,
            };
            let schema = Arc::new(schema);
            let status = TableStatus {
                schema,
                blocks: 1,
                block_bytes: 2,
                raw_bytes: 3,
                expired_rows: 3,
                expired_until: None,
                dropped_rows: 4,
                dropped_bytes: 6,
                dropped_until: Some(Micros(i64::try_from(rows).expect("small"))),
                lost_rows: 5,
                waiting_rows: 7,
                state: if rows > 1 { LeafState::DiskRecovery } else { LeafState::Alive },
                settings: (rows > 1).then(TableSettings::default),
                expiry: Some(forecast(rows)),
                archive_error: (rows > 1).then(|| "it is full".to_owned()),
            };
            (name, Arc::new(status))
        };
        LeafStatus {
            name: LeafName(name.into()),
            state: MemberState::Announced(LeafState::Alive),
            block_bytes: 2,
            tables: Arc::new(tables.iter().map(table).collect()),
            losses: Vec::new(),
        }
    }

    fn forecast(rows: u64) -> ExpiryForecast {
        let time = Micros(i64::try_from(rows).expect("small"));
        ExpiryForecast { at: time, until: time, rows, bytes: 7 }
    }

    #[test]
    fn a_table_is_the_same_alone_and_among_all() {
        let leaves = vec![leaf("a", &[("t", 1), ("u", 10)]), leaf("b", &[("t", 2)])];
        let status = PeerStatus { leaves };
        let cluster = ClusterStatus::new(&status);
        for (name, rows, blocks) in [("t", 3, 2), ("u", 10, 1)] {
            let table = ClusterStatus::table_of(&status, name).expect("a table");
            assert_eq!((table.schema.rows, table.blocks), (rows, blocks));
            assert_eq!(table.lost_rows, 5 * blocks);
            assert_eq!(table.waiting_rows, 7 * blocks);
            assert_eq!(table.state, LeafState::DiskRecovery, "of one of them");
            assert_eq!((table.dropped_rows, table.dropped_bytes), (4 * blocks, 6 * blocks));
            assert_eq!(cluster.tables.get(name), Some(&table));
            assert_eq!(table.settings, Some(TableSettings::default()), "one of them knows");
            assert_eq!(table.archive_error.as_deref(), Some("it is full"), "of one of them");
        }
        let until =
            |name| ClusterStatus::table_of(&status, name).and_then(|table| table.dropped_until);
        assert_eq!((until("t"), until("u")), (Some(Micros(2)), Some(Micros(10))));
        let expiry = ClusterStatus::table_of(&status, "t").and_then(|table| table.expiry);
        let both = ExpiryForecast { at: Micros(1), until: Micros(2), rows: 3, bytes: 14 };
        assert_eq!(expiry, Some(both));
        assert_eq!(ClusterStatus::table_of(&status, "v"), None);
        assert!(ClusterStatus::names(&status).iter().eq(cluster.tables.keys()));
    }
}
