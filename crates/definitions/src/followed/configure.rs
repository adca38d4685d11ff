//! Brings the leaves the settings that they lack.

use std::collections::{BTreeMap, BTreeSet};

use hadal_peer::{Admin, TableChange};
use hadal_types::{TableName, TableSettings};

use crate::table_settings::Versioned;

/// The settings that the leaves have, as far as they came through here.
#[derive(Default)]
pub(super) struct Configured {
    /// The version of each table's settings.
    versions: BTreeMap<TableName, i64>,
    /// Tables whose settings a leaf refused the last time.
    refused: BTreeSet<TableName>,
}

impl Configured {
    /// The tables whose settings have another version than the leaves got.
    pub(super) fn missing(
        &mut self,
        tables: &BTreeMap<TableName, Versioned<TableSettings>>,
    ) -> Vec<(TableName, Versioned<TableSettings>)> {
        self.versions.retain(|table, _| tables.contains_key(table));
        let has = |table, version| self.versions.get(table) == Some(version);
        let missing = tables.iter().filter(|(table, settings)| !has(*table, &settings.version));
        missing.map(|(table, settings)| (table.clone(), settings.clone())).collect()
    }

    /// Configures tables. Settings that were removed stay in force on the leaves: the process
    /// that removed them has configured other ones, or dropped the table.
    pub(super) async fn configure(
        &mut self,
        admin: &dyn Admin,
        tables: Vec<(TableName, Versioned<TableSettings>)>,
    ) {
        for (table, Versioned { version, value }) in tables {
            let change = TableChange::Configure { table: table.clone(), settings: value };
            match admin.apply(change).await {
                Ok(_) => {
                    self.refused.remove(&table);
                    self.versions.insert(table, version);
                }
                Err(error) => {
                    // Once, not with each attempt.
                    if self.refused.insert(table.clone()) {
                        tracing::warn!(%table, %error, "a leaf does not take the settings yet");
                    }
                }
            }
        }
    }
}
