//! What a person set for a table: kept by the leaf itself, so that it rules again after a restart
//! before anybody says it, and goes with its table.
//!
//! The manifest's bytes are the settings' JSON (`spec/segments.md`).

use hadal_peer::SinkError;
use hadal_store::Change;
use hadal_types::{TableName, TableSettings};

use crate::leaf::Inner;
use crate::maintenance::storage_tier::is_on_disk;
use crate::sync::{lock, read};
use crate::write::accept::{sink_error, table};

/// Makes these the settings of a table, which is made if it is not there. What is set already is
/// not written again.
pub(crate) fn configure(
    inner: &Inner,
    name: &TableName,
    settings: &TableSettings,
) -> Result<(), SinkError> {
    table(inner, name)?;
    let busy = || SinkError::Busy(inner.name.to_string());
    let table = read(&inner.tables).get(name).cloned().ok_or_else(busy)?;
    let gone = || SinkError::Unavailable(inner.name.to_string());
    let _turn = inner.turn_to_change().ok_or_else(gone)?;
    // Held until they are durable, so that a drop of the table comes before or after all of this.
    let dropped = read(&table.dropped);
    if *dropped {
        return Err(busy());
    }
    if lock(&table.settings).as_ref() == Some(settings) {
        return Ok(());
    }
    let bytes = settings.to_json().into_bytes();
    let change = Change { settings: vec![(name.clone(), bytes)], ..Change::default() };
    inner.store.commit(&change).map_err(|error| sink_error(&inner.name, error))?;
    *lock(&table.settings) = Some(settings.clone());
    inner.store.keep_on_disk(name, is_on_disk(Some(settings)));
    inner.expiry.request();
    table.invalidate_status();
    inner.wakeup.wake();
    Ok(())
}

/// Whether the table has these settings already, as far as that can be told without waiting.
pub(crate) fn has(inner: &Inner, name: &TableName, settings: &TableSettings) -> bool {
    let Ok(tables) = inner.tables.try_read() else { return false };
    let settings_now = tables.get(name).and_then(|table| table.settings.try_lock().ok());
    settings_now.is_some_and(|settings_now| settings_now.as_ref() == Some(settings))
}

/// The settings that the manifest has of a table. Those that a later version wrote are not guessed
/// at: then nothing is dropped for its age, until the leaf is told again.
pub(crate) fn settings(table: &TableName, bytes: &[u8]) -> Option<TableSettings> {
    let text = String::from_utf8_lossy(bytes);
    TableSettings::from_json(&text)
        .inspect_err(|error| tracing::error!(%table, %error, "the table's settings are not read"))
        .ok()
}
