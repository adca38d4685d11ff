//! The settings of a table: kept by the leaf itself, so that they apply after a restart before any
//! client sends them, and are dropped with their table.
//!
//! The manifest's bytes are the settings' JSON (`spec/segments.md`).

use hadal_types::{TableName, TableSettings, TableStorage};

/// Whether blocks of a table with these settings are read from disk.
pub(crate) fn is_on_disk(settings: Option<&TableSettings>) -> bool {
    settings.is_some_and(|settings| settings.storage() == TableStorage::Mmap)
}

/// The settings that the manifest has of a table. Those that a later version wrote are not guessed
/// at: then nothing is dropped for its age, until the leaf is told again.
pub(crate) fn settings(table: &TableName, bytes: &[u8]) -> Option<TableSettings> {
    let text = String::from_utf8_lossy(bytes);
    TableSettings::from_json(&text)
        .inspect_err(|error| tracing::error!(%table, %error, "the table's settings are not read"))
        .ok()
}
