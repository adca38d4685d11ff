//! Changes the settings of a table.

use hadal_peer::SinkError;
use hadal_store::Change;
use hadal_types::{TableName, TableSettings};

use crate::context::LeafContext;
use crate::maintenance::expiry_schedule::ExpirySchedule;
use crate::table::settings::is_on_disk;

/// Sets the settings of a table, and creates the table if it does not exist. Unchanged settings are
/// not written again.
pub(crate) fn configure(
    context: &LeafContext,
    schedule: &ExpirySchedule,
    name: &TableName,
    settings: &TableSettings,
) -> Result<(), SinkError> {
    context.create_table(name)?;
    let table = context.table(name).ok_or_else(|| context.busy())?;
    let _turn = context.turn_to_change().ok_or_else(|| context.unavailable())?;
    // Held until the settings are durable, so that a drop of the table comes before or after all of
    // this.
    let dropped = table.dropped.read();
    if *dropped {
        return Err(context.busy());
    }
    if table.with_settings(|set| set == Some(settings)) {
        return Ok(());
    }
    let bytes = settings.to_json().into_bytes();
    let change = Change { settings: vec![(name.clone(), bytes)], ..Change::default() };
    context.store.commit(&change).map_err(|error| context.sink_error(error))?;
    table.set_settings(Some(settings.clone()));
    context.store.keep_on_disk(name, is_on_disk(Some(settings)));
    schedule.request();
    table.invalidate_status();
    context.wakeup.wake();
    Ok(())
}

/// Whether the table already has these settings. Also false if a lock is not free.
pub(crate) fn has_settings(
    context: &LeafContext,
    name: &TableName,
    settings: &TableSettings,
) -> bool {
    let Some(tables) = context.tables.try_read() else { return false };
    tables.get(name).is_some_and(|table| table.has_settings_now(settings))
}
