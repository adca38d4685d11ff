//! The settings of a table. The leaf stores them itself, so that they apply after a restart before
//! any client sends them, and so that they are dropped with their table.
//!
//! The manifest's bytes are the settings' JSON (`spec/segments.md`).

use hadal_types::{TableName, TableSettings, TableStorage};

/// Whether blocks of a table with these settings are read from disk.
pub(crate) fn is_on_disk(settings: Option<&TableSettings>) -> bool {
    settings.is_some_and(|settings| settings.storage() == TableStorage::Mmap)
}

/// Parses the settings of a table from the manifest. Settings written by a later version are not
/// guessed at: no rows expire until a client sends settings again.
pub(crate) fn settings(table: &TableName, bytes: &[u8]) -> Option<TableSettings> {
    let text = String::from_utf8_lossy(bytes);
    TableSettings::from_json(&text)
        .inspect_err(|error| tracing::error!(%table, %error, "the table's settings are not read"))
        .ok()
}
