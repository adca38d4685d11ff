//! Settings of tables, each with its version.

use hadal_types::{TableName, TableSettings};
use sqlx::any::AnyRow;
use sqlx::{AnyConnection, Row};

use crate::definitions::Definitions;
use crate::error::DefinitionsError;

const INSERT: &str = "INSERT INTO hadal_table_settings (table_name, version, settings) \
                      VALUES ($1, $2, $3) ON CONFLICT (table_name) DO NOTHING";

/// A definition, and the version on which a change of it must be based.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Versioned<T> {
    /// Above 0, and larger than in any change before; 0 stands for a missing definition.
    pub version: i64,
    /// The definition.
    pub value: T,
}

impl Definitions {
    /// The last version that any settings got or had when they were removed.
    ///
    /// # Errors
    /// If it cannot be read.
    pub async fn version(&self) -> Result<i64, DefinitionsError> {
        let select = sqlx::query("SELECT last FROM hadal_last_version");
        let version = select.fetch_one(&self.pool()).await.and_then(|row| row.try_get(0));
        version.map_err(|error| self.failed("read", error))
    }

    /// The settings of a table; `None` if nobody set any.
    ///
    /// # Errors
    /// If they cannot be read.
    pub async fn table_settings(
        &self,
        table: &TableName,
    ) -> Result<Option<Versioned<TableSettings>>, DefinitionsError> {
        let select = "SELECT table_name, version, settings FROM hadal_table_settings \
                      WHERE table_name = $1";
        let row = sqlx::query(select).bind(table.as_str()).fetch_optional(&self.pool()).await;
        let row = row.map_err(|error| self.failed("read", error))?;
        row.map(|row| Ok(self.settings_of(&row)?.1)).transpose()
    }

    /// The settings of all tables, by name.
    ///
    /// # Errors
    /// If they cannot be read.
    pub async fn all_table_settings(
        &self,
    ) -> Result<Vec<(TableName, Versioned<TableSettings>)>, DefinitionsError> {
        let select = "SELECT table_name, version, settings FROM hadal_table_settings";
        let rows = sqlx::query(select).fetch_all(&self.pool()).await;
        let rows = rows.map_err(|error| self.failed("read", error))?;
        let all: Result<Vec<_>, _> = rows.iter().map(|row| self.settings_of(row)).collect();
        let mut all = all?;
        // Databases order texts in their own ways.
        all.sort_by(|(one, _), (other, _)| one.cmp(other));
        Ok(all)
    }

    /// Sets the settings of tables that have none, all at once; other tables keep theirs.
    ///
    /// # Errors
    /// If they cannot be written: then nothing changed.
    pub async fn add_table_settings(
        &self,
        tables: &[(TableName, TableSettings)],
    ) -> Result<(), DefinitionsError> {
        if tables.is_empty() {
            return Ok(());
        }
        let failed = |error| self.failed("change", error);
        let mut change = self.pool().begin().await.map_err(failed)?;
        for (table, settings) in tables {
            let version = next_version(&mut change).await.map_err(failed)?;
            let insert = sqlx::query(INSERT);
            let insert = insert.bind(table.as_str()).bind(version).bind(settings.to_json());
            insert.execute(&mut *change).await.map_err(failed)?;
        }
        change.commit().await.map_err(failed)
    }

    /// Replaces the settings of a table; returns their new version. `based_on` is the version that
    /// they replace, 0 if there are none.
    ///
    /// # Errors
    /// [`DefinitionsError::Conflict`] if the settings have another version: then nothing changed.
    pub async fn set_table_settings(
        &self,
        table: &TableName,
        based_on: i64,
        settings: &TableSettings,
    ) -> Result<i64, DefinitionsError> {
        let failed = |error| self.failed("change", error);
        let mut change = self.pool().begin().await.map_err(failed)?;
        let version = next_version(&mut change).await.map_err(failed)?;
        let update = "UPDATE hadal_table_settings SET version = $2, settings = $3 \
                      WHERE table_name = $1 AND version = $4";
        let is_new = based_on == 0;
        let statement = sqlx::query(if is_new { INSERT } else { update });
        let statement = statement.bind(table.as_str()).bind(version).bind(settings.to_json());
        let statement = if is_new { statement } else { statement.bind(based_on) };
        let done = statement.execute(&mut *change).await.map_err(failed)?;
        if done.rows_affected() != 1 {
            // Explicitly: dropping the transaction may roll back later.
            change.rollback().await.map_err(failed)?;
            return Err(self.conflict(table, based_on).await?);
        }
        change.commit().await.map_err(failed)?;
        Ok(version)
    }

    /// Removes the settings of a table; returns whether there were any. `based_on` is their
    /// version, or `None` for any version.
    ///
    /// # Errors
    /// [`DefinitionsError::Conflict`] if the settings have another version: then nothing changed.
    pub async fn remove_table_settings(
        &self,
        table: &TableName,
        based_on: Option<i64>,
    ) -> Result<bool, DefinitionsError> {
        let failed = |error| self.failed("change", error);
        let any = "DELETE FROM hadal_table_settings WHERE table_name = $1";
        let one = "DELETE FROM hadal_table_settings WHERE table_name = $1 AND version = $2";
        let delete = match based_on {
            None => sqlx::query(any).bind(table.as_str()),
            Some(version) => sqlx::query(one).bind(table.as_str()).bind(version),
        };
        let mut change = self.pool().begin().await.map_err(failed)?;
        // Others see from the last version that something changed.
        next_version(&mut change).await.map_err(failed)?;
        let removed = delete.execute(&mut *change).await.map_err(failed)?.rows_affected() > 0;
        if removed {
            change.commit().await.map_err(failed)?;
        } else {
            change.rollback().await.map_err(failed)?;
        }
        match based_on {
            Some(version) if !removed && version != 0 => Err(self.conflict(table, version).await?),
            _ => Ok(removed),
        }
    }

    async fn conflict(
        &self,
        table: &TableName,
        based_on: i64,
    ) -> Result<DefinitionsError, DefinitionsError> {
        let current = self.table_settings(table).await?.map_or(0, |settings| settings.version);
        Ok(DefinitionsError::Conflict { table: table.clone(), current, based_on })
    }

    fn settings_of(
        &self,
        row: &AnyRow,
    ) -> Result<(TableName, Versioned<TableSettings>), DefinitionsError> {
        let failed = |error| self.failed("read", error);
        let name: String = row.try_get(0).map_err(failed)?;
        let version: i64 = row.try_get(1).map_err(failed)?;
        let text: String = row.try_get(2).map_err(failed)?;
        let table = TableName::new(&name)
            .map_err(|error| self.damaged(&format!("{name:?} is no name of a table: {error}")))?;
        let value = TableSettings::from_json(&text).map_err(|error| {
            DefinitionsError::Settings { table: name, location: self.location().to_string(), error }
        })?;
        Ok((table, Versioned { version, value }))
    }
}

/// The next version of all definitions. It is the first statement of a change, and makes other
/// changes wait until this one is over: in SQLite a transaction that reads first could not write
/// later.
pub(crate) async fn next_version(change: &mut AnyConnection) -> Result<i64, sqlx::Error> {
    let update = "UPDATE hadal_last_version SET last = last + 1";
    sqlx::query(update).execute(&mut *change).await?;
    let row = sqlx::query("SELECT last FROM hadal_last_version").fetch_one(change).await?;
    row.try_get(0)
}
