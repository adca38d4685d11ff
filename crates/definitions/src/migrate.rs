//! Versions of the store: each version has the statements that make it from the previous version.
//!
//! The tables' names begin with `hadal_`, because the database may have other tables. A version is
//! never changed after a release; any change is a further version.

use sqlx::{AnyConnection, Row};

use crate::definitions::Definitions;
use crate::error::DefinitionsError;

/// The statements that make a version of the store of the previous one; SQLite and PostgreSQL take
/// the same.
pub type Version = &'static [&'static str];

/// The migrations to version 1, 2 and so on, up to this program's version.
pub const VERSIONS: [Version; 5] = [
    &[
        // The last version that any definition got: one row.
        "CREATE TABLE hadal_last_version (last BIGINT NOT NULL)",
        "INSERT INTO hadal_last_version (last) VALUES (0)",
        "CREATE TABLE hadal_table_settings (
        table_name TEXT NOT NULL PRIMARY KEY,
        version BIGINT NOT NULL,
        settings TEXT NOT NULL
    )",
    ],
    &["CREATE TABLE hadal_revocations (
        leaf TEXT NOT NULL,
        table_name TEXT NOT NULL,
        batch TEXT NOT NULL,
        at BIGINT NOT NULL,
        PRIMARY KEY (leaf, table_name, batch)
    )"],
    &[
        // No program has written records of version 2.
        "DROP TABLE hadal_revocations",
        "CREATE TABLE hadal_revocations (
        leaf TEXT NOT NULL,
        table_name TEXT NOT NULL,
        batch TEXT NOT NULL,
        instead TEXT NOT NULL,
        at BIGINT NOT NULL,
        held BIGINT NOT NULL,
        PRIMARY KEY (leaf, table_name, batch)
    )",
        "CREATE INDEX hadal_revocations_of_batch ON hadal_revocations (table_name, batch)",
    ],
    &["CREATE TABLE hadal_functions (
        name TEXT NOT NULL PRIMARY KEY,
        version BIGINT NOT NULL,
        definition TEXT NOT NULL
    )"],
    &["CREATE TABLE hadal_documents (
        kind TEXT NOT NULL,
        name TEXT NOT NULL,
        version BIGINT NOT NULL,
        bytes BIGINT NOT NULL,
        summary TEXT NOT NULL,
        body TEXT NOT NULL,
        PRIMARY KEY (kind, name)
    )"],
];

/// Our number among PostgreSQL's advisory locks: one process migrates at a time.
const LOCK: &str = "SELECT pg_advisory_xact_lock(4280428042804280)";

/// Migrates the store to the last of these versions, completely or not at all.
///
/// # Errors
/// [`DefinitionsError::Newer`] for a later version; [`DefinitionsError::Damaged`] if the version is
/// missing although there are definitions.
pub(crate) async fn migrate(
    definitions: &Definitions,
    versions: &[Version],
) -> Result<(), DefinitionsError> {
    let last = i64::try_from(versions.len()).unwrap_or(i64::MAX);
    let failed = |error| definitions.failed("migrate", error);
    let mut change = definitions.pool().begin().await.map_err(failed)?;
    if definitions.is_shared() {
        run(&mut change, LOCK).await.map_err(failed)?;
    }
    let create = "CREATE TABLE IF NOT EXISTS hadal_definitions (version BIGINT NOT NULL)";
    run(&mut change, create).await.map_err(failed)?;
    let rows = sqlx::query("SELECT version FROM hadal_definitions").fetch_all(&mut *change).await;
    let rows = rows.map_err(failed)?;
    let version = match rows.as_slice() {
        [] => 0,
        [row] => row.try_get::<i64, _>(0).map_err(failed)?,
        _ => return Err(definitions.damaged("there are several versions of it")),
    };
    if version > last {
        return Err(definitions.newer(version, last));
    }
    let done = usize::try_from(version).map_err(|_| definitions.damaged("its version is wrong"))?;
    for statements in versions.iter().skip(done) {
        for statement in *statements {
            run(&mut change, statement).await.map_err(failed)?;
        }
    }
    if version < last {
        run(&mut change, "DELETE FROM hadal_definitions").await.map_err(failed)?;
        let insert = sqlx::query("INSERT INTO hadal_definitions (version) VALUES ($1)");
        insert.bind(last).execute(&mut *change).await.map_err(failed)?;
    }
    change.commit().await.map_err(failed)
}

async fn run(connection: &mut AnyConnection, statement: &'static str) -> Result<(), sqlx::Error> {
    sqlx::query(statement).execute(connection).await.map(drop)
}
