//! Batches that a leaf must not count, because they went to another leaf while it was away.

use hadal_types::limits::REVOCATIONS_LISTED_MAX;
use hadal_types::{BatchId, LeafName, Micros, TableName};
use sqlx::Row;
use sqlx::any::AnyRow;

use crate::definitions::Definitions;
use crate::error::DefinitionsError;

/// A batch that a leaf must not count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revocation {
    /// The leaf.
    pub leaf: LeafName,
    /// The batch's table.
    pub table: TableName,
    /// The batch.
    pub batch: BatchId,
    /// When it was revoked.
    pub at: Micros,
}

impl Definitions {
    /// Records a revocation. Recording it again changes nothing.
    ///
    /// # Errors
    /// If it cannot be written.
    pub async fn record_revocation(&self, revocation: &Revocation) -> Result<(), DefinitionsError> {
        let insert = "INSERT INTO hadal_revocations (leaf, table_name, batch, at) \
                      VALUES ($1, $2, $3, $4) ON CONFLICT (leaf, table_name, batch) DO NOTHING";
        let Revocation { leaf, table, batch, at } = revocation;
        let insert = sqlx::query(insert).bind(&*leaf.0).bind(table.as_str()).bind(batch.as_str());
        let inserted = insert.bind(at.0).execute(&self.pool()).await;
        inserted.map(drop).map_err(|error| self.failed("change", error))
    }

    /// The oldest revocations of a leaf, at most [`REVOCATIONS_LISTED_MAX`].
    ///
    /// # Errors
    /// If they cannot be read.
    pub async fn revocations_of(
        &self,
        leaf: &LeafName,
    ) -> Result<Vec<Revocation>, DefinitionsError> {
        let select = "SELECT table_name, batch, at FROM hadal_revocations WHERE leaf = $1 \
                      ORDER BY at, table_name, batch LIMIT $2";
        let limit = i64::try_from(REVOCATIONS_LISTED_MAX).unwrap_or(i64::MAX);
        let select = sqlx::query(select).bind(&*leaf.0).bind(limit);
        let rows = select.fetch_all(&self.pool()).await;
        let rows = rows.map_err(|error| self.failed("read", error))?;
        rows.iter().map(|row| self.revocation(leaf, row)).collect()
    }

    /// Removes revocations, all at once. Those that are not there are left out.
    ///
    /// # Errors
    /// If they cannot be removed: then all are still there.
    pub async fn remove_revocations(
        &self,
        revocations: &[Revocation],
    ) -> Result<(), DefinitionsError> {
        if revocations.is_empty() {
            return Ok(());
        }
        let failed = |error| self.failed("change", error);
        let delete = "DELETE FROM hadal_revocations \
                      WHERE leaf = $1 AND table_name = $2 AND batch = $3";
        let mut change = self.pool().begin().await.map_err(failed)?;
        for Revocation { leaf, table, batch, .. } in revocations {
            let delete = sqlx::query(delete).bind(&*leaf.0).bind(table.as_str());
            delete.bind(batch.as_str()).execute(&mut *change).await.map_err(failed)?;
        }
        change.commit().await.map_err(failed)
    }

    fn revocation(&self, leaf: &LeafName, row: &AnyRow) -> Result<Revocation, DefinitionsError> {
        let failed = |error| self.failed("read", error);
        let table: String = row.try_get(0).map_err(failed)?;
        let batch: String = row.try_get(1).map_err(failed)?;
        let wrong = |text: &str| self.damaged(&format!("{text:?} names no revoked batch"));
        Ok(Revocation {
            leaf: leaf.clone(),
            table: TableName::new(&table).map_err(|_| wrong(&table))?,
            batch: BatchId::new(&batch).ok_or_else(|| wrong(&batch))?,
            at: Micros(row.try_get(2).map_err(failed)?),
        })
    }
}
