//! The settings of a table, the values in force once defaults are filled in, and the rows that will
//! be deleted.

use std::sync::Arc;
use std::time::Duration;

use hadal_definitions::Versioned;
use hadal_peer::{ExpiryForecast, TableStatus};
use hadal_types::settings::spell_bytes;
use hadal_types::{AgeLimit, ColumnName, SettingsError, TableName, TableSettings, TimeRange};

use crate::column_stats::StatsQueries;
use crate::error::FrontendError;
use crate::frontend::Frontend;
use crate::principal::{Permission, Principal};
use crate::state::settings_cache::{age_limit, configure, half_done};

/// How long rows are counted that a change makes go.
const COUNT_TIME: Duration = Duration::from_secs(2);

/// Everything about a table's settings.
#[derive(Debug)]
pub struct SettingsReport {
    /// The table.
    pub table: TableName,
    /// The table's status on its leaves; `None` if it never had a row.
    pub status: Option<TableStatus>,
    /// The version of the settings; 0 if none are set.
    pub version: i64,
    /// The stored settings.
    pub settings: TableSettings,
    /// The settings in effect.
    pub effective: EffectiveSettings,
    /// The default limit of bytes.
    pub bytes_default: u64,
    /// The rows that are deleted next.
    pub next_expiry: Option<ExpiryForecast>,
    /// Settings without an effect or with an unexpected one, and the rows that the answered change
    /// drops without archiving.
    pub notes: Vec<String>,
}

/// Settings in effect, with defaults filled in.
#[derive(Debug)]
pub struct EffectiveSettings {
    /// How old rows may be.
    pub age: AgeLimit,
    /// How many encoded bytes the table may have.
    pub bytes: u64,
    /// The column that holds the rows' time.
    pub time_column: Option<ColumnName>,
}

impl Frontend {
    /// The settings of a table.
    ///
    /// # Errors
    /// [`FrontendError`] when the definitions cannot be read.
    pub async fn settings(
        self: &Arc<Self>,
        table: &TableName,
    ) -> Result<SettingsReport, FrontendError> {
        let stored = self.table_settings.read(table).await?;
        let status = self.backend.root.table(table.as_str()).await;
        Ok(self.report(table, stored, status))
    }

    /// Sets all settings of a table at once, based on the version that the caller saw.
    ///
    /// # Errors
    /// [`FrontendError`] when they are not valid, another client changed them since, or a leaf
    /// cannot store them.
    pub async fn set_settings(
        self: &Arc<Self>,
        principal: &Principal,
        table: &TableName,
        version: i64,
        settings: TableSettings,
    ) -> Result<SettingsReport, FrontendError> {
        principal.require(Permission::Admin)?;
        let stored = self.table_settings.read(table).await?;
        let was_archived = stored.as_ref().is_some_and(|stored| stored.value.is_archived());
        if settings.is_archived() && self.config.archive.is_none() && !was_archived {
            let reason = "this server has no archive; start it with --archive PLACE".to_owned();
            let error = SettingsError { field: "archive".to_owned(), reason };
            return Err(FrontendError::from(&error));
        }
        // Counted before the change: the rows may be gone right after it.
        let lost = unarchived(self, table, stored.as_ref(), &settings).await;
        self.table_settings.set(table, version, settings).await?;
        self.report_with(table, lost).await
    }

    /// Resets the settings of a table to the defaults, which apply immediately. `version` is the
    /// version that the caller saw; `None` accepts any version.
    ///
    /// # Errors
    /// As [`Self::set_settings`].
    pub async fn reset_settings(
        self: &Arc<Self>,
        principal: &Principal,
        table: &TableName,
        version: Option<i64>,
    ) -> Result<SettingsReport, FrontendError> {
        principal.require(Permission::Admin)?;
        let stored = self.table_settings.read(table).await?;
        let version = version.unwrap_or_else(|| stored.as_ref().map_or(0, |stored| stored.version));
        let defaults = TableSettings::of_new(table);
        let lost = unarchived(self, table, stored.as_ref(), &defaults).await;
        if self.backend.root.table(table.as_str()).await.is_some() {
            // Store the defaults instead of removing the settings: without settings they would be
            // derived from the table's rows.
            self.table_settings.set(table, version, defaults).await?;
        } else {
            let definitions = &self.backend.definitions;
            let removed = definitions.remove_table_settings(table, Some(version)).await;
            self.table_settings.forget(table);
            if removed.map_err(|error| FrontendError::from(&error))? {
                let configured = configure(&self.backend, table, defaults).await;
                configured.map_err(|error| half_done(&error))?;
            }
        }
        self.report_with(table, lost).await
    }

    /// The settings of a table after a change, with the rows that it makes go unarchived.
    async fn report_with(
        self: &Arc<Self>,
        table: &TableName,
        lost: Vec<String>,
    ) -> Result<SettingsReport, FrontendError> {
        let mut report = self.settings(table).await?;
        report.notes.extend(lost);
        Ok(report)
    }

    fn report(
        &self,
        table: &TableName,
        stored: Option<Versioned<TableSettings>>,
        status: Option<TableStatus>,
    ) -> SettingsReport {
        let Versioned { version, value: settings } = stored.unwrap_or_else(|| {
            let kept = status.as_ref().and_then(|status| status.settings.clone());
            Versioned { version: 0, value: kept.unwrap_or_default() }
        });
        let age = match (version, &status) {
            (0, Some(status)) => age_limit(status, self.backend.clock.now()),
            _ => settings.age_limit(),
        };
        let of_rows = || status.as_ref().map(|status| status.schema.time_column.clone());
        let time_column = settings.time_column.clone().or_else(of_rows);
        SettingsReport {
            table: table.clone(),
            version,
            effective: EffectiveSettings {
                age,
                bytes: settings.bytes_max(self.config.table_bytes_max),
                time_column,
            },
            bytes_default: self.config.table_bytes_max,
            next_expiry: status.as_ref().and_then(|status| status.expiry),
            notes: notes(&settings, self.config.archive.is_some()),
            settings,
            status,
        }
    }
}

/// Returns a sentence for each kind of rows that a change drops without archiving.
async fn unarchived(
    frontend: &Arc<Frontend>,
    table: &TableName,
    stored: Option<&Versioned<TableSettings>>,
    settings: &TableSettings,
) -> Vec<String> {
    let mut notes = Vec::new();
    if settings.is_archived() || !stored.is_some_and(|stored| stored.value.is_archived()) {
        return notes;
    }
    let Some(status) = frontend.backend.root.table(table.as_str()).await else { return notes };
    let age = settings.age_limit();
    if let Some(to) = age.cutoff(frontend.backend.clock.now()) {
        let queries = StatsQueries::new(frontend.runner(), &status.schema, COUNT_TIME);
        // If counting the rows fails or takes too long, warn without a count.
        let old_rows = match queries.rows(TimeRange { from: None, to: Some(to) }).await {
            Ok(0) => None,
            Ok(rows) => Some(format!("rows older than age={age}, {rows} of them,")),
            Err(_) => Some(format!("rows older than age={age}")),
        };
        notes.extend(old_rows.map(|rows| format!("archive=off: {rows} are dropped unarchived")));
    }
    let bytes = settings.bytes_max(frontend.config.table_bytes_max);
    if status.block_bytes > bytes {
        let bytes = spell_bytes(bytes);
        notes.push(format!("archive=off: rows beyond bytes={bytes} are dropped unarchived"));
    }
    notes
}

fn notes(settings: &TableSettings, has_archive: bool) -> Vec<String> {
    let mut notes = settings.idle();
    if settings.is_archived() && !has_archive {
        notes.push("archive=on: this server has no archive, so no rows are dropped".to_owned());
    }
    notes
}
