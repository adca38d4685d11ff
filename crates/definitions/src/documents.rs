//! Dashboards, saved views and frozen answers, each with its version.

use hadal_types::limits::{DOCUMENTS_MAX, SNAPSHOTS_BYTES_MAX};
use hadal_types::{Document, DocumentKind, DocumentSummary};
use sqlx::{AnyConnection, Row};

use crate::definitions::Definitions;
use crate::error::DefinitionsError;
use crate::table_settings::{Versioned, next_version};

impl Definitions {
    /// Summaries of all documents of a kind, by name.
    ///
    /// # Errors
    /// If they cannot be read.
    pub async fn documents(
        &self,
        kind: DocumentKind,
    ) -> Result<Vec<Versioned<DocumentSummary>>, DefinitionsError> {
        let failed = |error| self.failed("read", error);
        let select = "SELECT version, summary FROM hadal_documents WHERE kind = $1";
        let rows = sqlx::query(select).bind(kind.name()).fetch_all(&self.pool()).await;
        let mut all = Vec::new();
        for row in rows.map_err(failed)? {
            let version = row.try_get(0).map_err(failed)?;
            let text: String = row.try_get(1).map_err(failed)?;
            let value = DocumentSummary::from_json(&text)
                .ok_or_else(|| self.damaged(&format!("a {} has no summary", kind.name())))?;
            all.push(Versioned { version, value });
        }
        // Databases order texts in their own ways.
        all.sort_by(|one, other| one.value.name().cmp(other.value.name()));
        Ok(all)
    }

    /// The document of this kind and name; `None` if there is none.
    ///
    /// # Errors
    /// If it cannot be read.
    pub async fn document(
        &self,
        kind: DocumentKind,
        name: &str,
    ) -> Result<Option<Versioned<Document>>, DefinitionsError> {
        let failed = |error| self.failed("read", error);
        let select = "SELECT version, body FROM hadal_documents WHERE kind = $1 AND name = $2";
        let select = sqlx::query(select).bind(kind.name()).bind(name);
        let row = select.fetch_optional(&self.pool()).await.map_err(failed)?;
        let Some(row) = row else { return Ok(None) };
        let version = row.try_get(0).map_err(failed)?;
        let text: String = row.try_get(1).map_err(failed)?;
        match Document::from_json(kind, &text) {
            Ok(value) if value.name() == name => Ok(Some(Versioned { version, value })),
            Ok(other) => Err(self.damaged(&format!("{} {name} is {}", kind.name(), other.name()))),
            Err(error) => Err(self.damaged(&format!("{} {name}: {error}", kind.name()))),
        }
    }

    /// Stores a document, or replaces it; returns its new version. `based_on` is the version that
    /// it replaces, 0 if there is none, or `None` for any.
    ///
    /// # Errors
    /// [`DefinitionsError::DocumentConflict`] if the document has another version, and
    /// [`DefinitionsError::DocumentsFull`]: then nothing changed.
    pub async fn set_document(
        &self,
        based_on: Option<i64>,
        document: &Document,
    ) -> Result<i64, DefinitionsError> {
        let failed = |error| self.failed("change", error);
        let (kind, name, body) = (document.kind(), document.name(), document.json().get());
        let mut change = self.pool().begin().await.map_err(failed)?;
        let version = next_version(&mut change).await.map_err(failed)?;
        let current = current_version(&mut change, kind, name).await.map_err(failed)?;
        let others = Extent::without(&mut change, kind, name).await.map_err(failed)?;
        let refused = match based_on {
            Some(based_on) if based_on != current => {
                let name = name.to_owned();
                Some(DefinitionsError::DocumentConflict { kind, name, current, based_on })
            }
            _ => others.refusal(kind, body.len()),
        };
        if let Some(refused) = refused {
            // Explicitly: dropping the transaction may roll back later.
            change.rollback().await.map_err(failed)?;
            return Err(refused);
        }
        let statement = match current {
            0 => {
                "INSERT INTO hadal_documents (kind, name, version, bytes, summary, body) \
                 VALUES ($1, $2, $3, $4, $5, $6)"
            }
            _ => {
                "UPDATE hadal_documents SET version = $3, bytes = $4, summary = $5, body = $6 \
                 WHERE kind = $1 AND name = $2"
            }
        };
        let bytes = i64::try_from(body.len()).unwrap_or(i64::MAX);
        let statement = sqlx::query(statement).bind(kind.name()).bind(name).bind(version);
        let statement = statement.bind(bytes).bind(document.summary().to_json()).bind(body);
        statement.execute(&mut *change).await.map_err(failed)?;
        change.commit().await.map_err(failed)?;
        Ok(version)
    }

    /// Removes a document; returns whether there was one. `based_on` is its version, or `None` for
    /// any version.
    ///
    /// # Errors
    /// [`DefinitionsError::DocumentConflict`] if the document has another version: then nothing
    /// changed.
    pub async fn remove_document(
        &self,
        kind: DocumentKind,
        name: &str,
        based_on: Option<i64>,
    ) -> Result<bool, DefinitionsError> {
        let failed = |error| self.failed("change", error);
        let mut change = self.pool().begin().await.map_err(failed)?;
        next_version(&mut change).await.map_err(failed)?;
        let current = current_version(&mut change, kind, name).await.map_err(failed)?;
        if let Some(based_on) = based_on.filter(|based_on| *based_on != current) {
            change.rollback().await.map_err(failed)?;
            let name = name.to_owned();
            return Err(DefinitionsError::DocumentConflict { kind, name, current, based_on });
        }
        let delete = "DELETE FROM hadal_documents WHERE kind = $1 AND name = $2";
        let delete = sqlx::query(delete).bind(kind.name()).bind(name);
        let removed = delete.execute(&mut *change).await.map_err(failed)?.rows_affected() > 0;
        change.commit().await.map_err(failed)?;
        Ok(removed)
    }
}

/// The version of a document; 0 if there is none.
async fn current_version(
    change: &mut AnyConnection,
    kind: DocumentKind,
    name: &str,
) -> Result<i64, sqlx::Error> {
    let select = "SELECT version FROM hadal_documents WHERE kind = $1 AND name = $2";
    let select = sqlx::query(select).bind(kind.name()).bind(name);
    select.fetch_optional(change).await?.map_or(Ok(0), |row| row.try_get(0))
}

/// How many documents of a kind there are, and how many bytes they have.
struct Extent {
    count: i64,
    bytes: i64,
}

impl Extent {
    /// Of all but one.
    async fn without(
        change: &mut AnyConnection,
        kind: DocumentKind,
        name: &str,
    ) -> Result<Self, sqlx::Error> {
        let select = "SELECT COUNT(*), CAST(COALESCE(SUM(bytes), 0) AS BIGINT) \
                      FROM hadal_documents WHERE kind = $1 AND name <> $2";
        let row = sqlx::query(select).bind(kind.name()).bind(name).fetch_one(change).await?;
        Ok(Self { count: row.try_get(0)?, bytes: row.try_get(1)? })
    }

    /// Why a further document of this size is refused.
    fn refusal(&self, kind: DocumentKind, bytes: usize) -> Option<DefinitionsError> {
        let fits = |used: i64, more: usize, most: usize| {
            usize::try_from(used).is_ok_and(|used| used.saturating_add(more) <= most)
        };
        if !fits(self.count, 1, DOCUMENTS_MAX) {
            let kind = kind.name();
            let reason = format!("there are {DOCUMENTS_MAX} {kind}s already: remove one first");
            return Some(DefinitionsError::DocumentsFull(reason));
        }
        let is_full =
            kind == DocumentKind::Snapshot && !fits(self.bytes, bytes, SNAPSHOTS_BYTES_MAX);
        is_full.then(|| {
            DefinitionsError::DocumentsFull(format!(
                "frozen answers have {} bytes, and may have {SNAPSHOTS_BYTES_MAX}: remove some first",
                self.bytes
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::location::Location;

    fn view(name: &str, query: &str) -> Document {
        let text = format!(r#"{{"name": "{name}", "query": "{query}"}}"#);
        Document::from_json(DocumentKind::View, &text).expect("a view")
    }

    #[tokio::test]
    async fn documents_are_kept_with_versions() {
        let kind = DocumentKind::View;
        let store = Definitions::open(&Location::Memory).await.expect("opens");
        let first = store.set_document(Some(0), &view("b", "table=t")).await.expect("set");
        let other = store.set_document(None, &view("a", "table=u")).await.expect("set");
        let stale = store.set_document(Some(0), &view("b", "table=v")).await.expect_err("stale");
        assert!(matches!(stale, DefinitionsError::DocumentConflict { .. }), "{stale}");
        let second = store.set_document(Some(first), &view("b", "table=v")).await.expect("set");
        let all = store.documents(kind).await.expect("read");
        let all: Vec<_> = all.iter().map(|one| (one.value.name(), one.version)).collect();
        assert_eq!(all, [("a", other), ("b", second)]);
        let read = store.document(kind, "b").await.expect("read").expect("there");
        assert_eq!(read, Versioned { version: second, value: view("b", "table=v") });
        assert_eq!(store.document(DocumentKind::Dashboard, "b").await.expect("read"), None);
        let stale = store.remove_document(kind, "b", Some(first)).await.expect_err("stale");
        assert!(stale.to_string().contains("view b was changed meanwhile"), "{stale}");
        assert!(store.remove_document(kind, "b", Some(second)).await.expect("removed"));
        assert!(!store.remove_document(kind, "b", None).await.expect("nothing there"));
    }

    #[test]
    fn documents_are_limited_in_number_and_frozen_answers_in_bytes() {
        let refusal = |kind, count: usize, bytes: usize, more| {
            let (count, bytes) = (count.try_into().expect("few"), bytes.try_into().expect("few"));
            Extent { count, bytes }.refusal(kind, more).map(|error| error.to_string())
        };
        for kind in DocumentKind::ALL {
            assert_eq!(refusal(kind, DOCUMENTS_MAX - 1, 0, 1), None);
            assert!(refusal(kind, DOCUMENTS_MAX, 0, 1).is_some_and(|why| why.contains("remove")));
        }
        let (kind, most) = (DocumentKind::Snapshot, SNAPSHOTS_BYTES_MAX);
        assert_eq!(refusal(kind, 1, most - 1, 1), None);
        assert!(refusal(kind, 1, most, 1).is_some_and(|why| why.contains("frozen")));
        assert_eq!(refusal(DocumentKind::View, 1, most, 1), None);
    }
}
