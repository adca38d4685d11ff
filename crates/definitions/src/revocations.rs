//! Batches that a leaf must not count, because they went to another leaf while it was away.

use std::collections::HashSet;

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
    /// The leaf that gets the batch instead.
    pub instead: LeafName,
    /// When it was revoked.
    pub at: Micros,
    /// Whether the leaf that gets it holds it durably, or held it.
    pub is_held: bool,
}

impl Definitions {
    /// Records a revocation, unless there is one of its leaf, table and batch. Returns the record
    /// that exists now. If the batch is revoked at the leaf that gets it, too, and so on, the rest
    /// of the returned record is that of the last one: it says where the batch went in the end.
    ///
    /// # Errors
    /// If it cannot be written.
    pub async fn record_revocation(
        &self,
        revocation: &Revocation,
    ) -> Result<Revocation, DefinitionsError> {
        let insert = "INSERT INTO hadal_revocations (leaf, table_name, batch, instead, at, held) \
                      VALUES ($1, $2, $3, $4, $5, $6) \
                      ON CONFLICT (leaf, table_name, batch) DO NOTHING";
        let Revocation { leaf, table, batch, instead, at, is_held } = revocation;
        let failed = |error| self.failed("change", error);
        let insert = sqlx::query(insert).bind(&*leaf.0).bind(table.as_str()).bind(batch.as_str());
        let insert = insert.bind(&*instead.0).bind(at.0).bind(i64::from(*is_held));
        insert.execute(&self.pool()).await.map_err(failed)?;
        let first = self.revocation_at(leaf, table, batch).await?;
        let wrong = || self.damaged("a revocation that was just recorded is not there");
        let mut last = first.ok_or_else(wrong)?;
        // Every record names a leaf later in the batch's order; damaged ones might name each other.
        let mut passed = HashSet::from([leaf.clone()]);
        while passed.insert(last.instead.clone())
            && let Some(next) = self.revocation_at(&last.instead, table, batch).await?
        {
            last = next;
        }
        Ok(Revocation { leaf: leaf.clone(), ..last })
    }

    /// The record of a leaf and a batch.
    async fn revocation_at(
        &self,
        leaf: &LeafName,
        table: &TableName,
        batch: &BatchId,
    ) -> Result<Option<Revocation>, DefinitionsError> {
        let select = "SELECT leaf, table_name, batch, instead, at, held FROM hadal_revocations \
                      WHERE leaf = $1 AND table_name = $2 AND batch = $3";
        let select = sqlx::query(select).bind(&*leaf.0).bind(table.as_str()).bind(batch.as_str());
        let row = select.fetch_optional(&self.pool()).await;
        let row = row.map_err(|error| self.failed("read", error))?;
        row.map(|row| self.revocation(&row)).transpose()
    }

    /// Notes in all records of a batch that name this leaf as the one that gets it that it holds
    /// the batch durably.
    ///
    /// # Errors
    /// If that cannot be written.
    pub async fn note_held(
        &self,
        table: &TableName,
        batch: &BatchId,
        leaf: &LeafName,
    ) -> Result<(), DefinitionsError> {
        let update = "UPDATE hadal_revocations SET held = 1 \
                      WHERE table_name = $1 AND batch = $2 AND instead = $3";
        let update = sqlx::query(update).bind(table.as_str()).bind(batch.as_str()).bind(&*leaf.0);
        let updated = update.execute(&self.pool()).await;
        updated.map(drop).map_err(|error| self.failed("change", error))
    }

    /// The records of the batches that are revoked at a leaf, with those of other leaves: all
    /// records of one batch follow each other. At most [`REVOCATIONS_LISTED_MAX`]; the next ones
    /// are those `after` the last of these batches.
    ///
    /// # Errors
    /// If they cannot be read.
    pub async fn revocations_of(
        &self,
        leaf: &LeafName,
        after: Option<&(TableName, BatchId)>,
    ) -> Result<Vec<Revocation>, DefinitionsError> {
        let select = "SELECT every.leaf, every.table_name, every.batch, every.instead, every.at, \
                      every.held FROM hadal_revocations AS its \
                      JOIN hadal_revocations AS every \
                      ON every.table_name = its.table_name AND every.batch = its.batch \
                      WHERE its.leaf = $1 AND (its.table_name, its.batch) > ($2, $3) \
                      ORDER BY every.table_name, every.batch, every.leaf LIMIT $4";
        let (table, batch) =
            after.map_or(("", ""), |(table, batch)| (table.as_str(), batch.as_str()));
        let limit = i64::try_from(REVOCATIONS_LISTED_MAX).unwrap_or(i64::MAX).saturating_add(1);
        let select = sqlx::query(select).bind(&*leaf.0).bind(table).bind(batch).bind(limit);
        let rows = select.fetch_all(&self.pool()).await;
        let rows = rows.map_err(|error| self.failed("read", error))?;
        let mut records =
            rows.iter().map(|row| self.revocation(row)).collect::<Result<Vec<_>, _>>()?;
        if records.len() > REVOCATIONS_LISTED_MAX {
            // Further records of the last batch may be missing.
            let last = records.last().map(|last| (last.table.clone(), last.batch.clone()));
            records.retain(|record| {
                last.as_ref()
                    .is_none_or(|(table, batch)| (&record.table, &record.batch) != (table, batch))
            });
        }
        Ok(records)
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

    fn revocation(&self, row: &AnyRow) -> Result<Revocation, DefinitionsError> {
        let failed = |error| self.failed("read", error);
        let text = |index: usize| row.try_get::<String, _>(index).map_err(failed);
        let number = |index: usize| row.try_get::<i64, _>(index).map_err(failed);
        let (table, batch) = (text(1)?, text(2)?);
        let wrong = |text: &str| self.damaged(&format!("{text:?} names no revoked batch"));
        Ok(Revocation {
            leaf: LeafName(text(0)?.into()),
            table: TableName::new(&table).map_err(|_| wrong(&table))?,
            batch: BatchId::new(&batch).ok_or_else(|| wrong(&batch))?,
            instead: LeafName(text(3)?.into()),
            at: Micros(number(4)?),
            is_held: number(5)? != 0,
        })
    }
}
