//! Dashboards, saved views and frozen answers: to save, list and remove them. Dashboards may also
//! be files, which are read only.

use std::sync::Arc;

use hadal_definitions::Versioned;
use hadal_types::{Document, DocumentError, DocumentKind, DocumentSummary};

use crate::dashboard_files::{DashboardFile, DashboardFiles};
use crate::error::{ErrorKind, FrontendError};
use crate::frontend::Frontend;
use crate::principal::{Permission, Principal};

/// A document, and where it is.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredDocument<T> {
    /// Its version; 0 in a file.
    pub version: i64,
    /// The file that has it; `None` if the definitions have it.
    pub file: Option<String>,
    /// The document.
    pub value: T,
}

/// All documents of a kind.
#[derive(Clone, Debug, Default)]
pub struct DocumentList {
    /// Their summaries, by name. A dashboard of a file hides a stored one of the same name.
    pub documents: Vec<StoredDocument<DocumentSummary>>,
    /// Why further files have no dashboard, a sentence each.
    pub problems: Vec<String>,
}

impl<T> From<Versioned<T>> for StoredDocument<T> {
    fn from(Versioned { version, value }: Versioned<T>) -> Self {
        Self { version, file: None, value }
    }
}

impl Frontend {
    /// Summaries of all documents of a kind, by name.
    ///
    /// # Errors
    /// [`FrontendError`] when the principal may not query, or the definitions cannot be read.
    pub async fn documents(
        &self,
        principal: &Principal,
        kind: DocumentKind,
    ) -> Result<DocumentList, FrontendError> {
        principal.require(Permission::Query)?;
        let stored = self.backend.definitions.documents(kind).await;
        let stored = stored.map_err(|error| FrontendError::from(&error))?;
        let mut documents: Vec<_> = stored.into_iter().map(StoredDocument::from).collect();
        let mut problems = Vec::new();
        if kind == DocumentKind::Dashboard {
            let files = self.dashboard_files();
            documents.retain(|stored| files.named(stored.value.name()).is_none());
            documents.extend(files.dashboards.iter().map(|file| StoredDocument {
                version: 0,
                value: file.dashboard.summary().clone(),
                file: Some(file.file.clone()),
            }));
            documents.sort_by(|one, other| one.value.name().cmp(other.value.name()));
            problems.clone_from(&files.problems);
        }
        Ok(DocumentList { documents, problems })
    }

    /// The document of this kind and name.
    ///
    /// # Errors
    /// As [`Self::documents`], and [`ErrorKind::UnknownDocument`].
    pub async fn document(
        &self,
        principal: &Principal,
        kind: DocumentKind,
        name: &str,
    ) -> Result<StoredDocument<Document>, FrontendError> {
        principal.require(Permission::Query)?;
        if let Some(file) = dashboard_file(&self.dashboard_files(), kind, name) {
            let DashboardFile { file, dashboard } = file;
            let (file, value) = (Some(file.clone()), dashboard.clone());
            return Ok(StoredDocument { version: 0, file, value });
        }
        if !Document::is_name(name) {
            return Err(unknown(kind, name));
        }
        let stored = self.backend.definitions.document(kind, name).await;
        let stored = stored.map_err(|error| FrontendError::from(&error))?;
        stored.map(StoredDocument::from).ok_or_else(|| unknown(kind, name))
    }

    /// Saves a document, or replaces it; returns its version. `based_on` is the version that it
    /// replaces, 0 if there is none, or `None` for any.
    ///
    /// # Errors
    /// [`FrontendError`] when the principal may not save, the document was changed meanwhile or is
    /// a file, or a limit is reached.
    pub async fn save_document(
        &self,
        principal: &Principal,
        based_on: Option<i64>,
        document: &Document,
    ) -> Result<i64, FrontendError> {
        principal.require(Permission::Save)?;
        self.refuse_file(document.kind(), document.name())?;
        let version = self.backend.definitions.set_document(based_on, document).await;
        version.map_err(|error| FrontendError::from(&error))
    }

    /// Removes a document. `based_on` is its version, or `None` for any.
    ///
    /// # Errors
    /// As [`Self::save_document`], or when there is no such document.
    pub async fn remove_document(
        &self,
        principal: &Principal,
        kind: DocumentKind,
        name: &str,
        based_on: Option<i64>,
    ) -> Result<(), FrontendError> {
        principal.require(Permission::Save)?;
        self.refuse_file(kind, name)?;
        if !Document::is_name(name) {
            return Err(unknown(kind, name));
        }
        let removed = self.backend.definitions.remove_document(kind, name, based_on).await;
        match removed.map_err(|error| FrontendError::from(&error))? {
            true => Ok(()),
            false => Err(unknown(kind, name)),
        }
    }

    /// A name for a frozen answer that nobody can guess.
    ///
    /// # Errors
    /// [`FrontendError`] when the system has no randomness.
    pub fn new_snapshot_name(&self) -> Result<String, FrontendError> {
        Ok(crate::batch_id::random_id()?.to_string())
    }

    /// The dashboards of files as they are now.
    fn dashboard_files(&self) -> Arc<DashboardFiles> {
        Arc::clone(&self.config.dashboard_files.lock())
    }

    fn refuse_file(&self, kind: DocumentKind, name: &str) -> Result<(), FrontendError> {
        let files = self.dashboard_files();
        let Some(file) = dashboard_file(&files, kind, name) else { return Ok(()) };
        let detail = format!("dashboard {name} is the file {} of --dashboards", file.file);
        let refused = FrontendError::new(ErrorKind::Forbidden, detail);
        Err(refused.hint("change the file, or save the dashboard under another name"))
    }
}

fn dashboard_file<'f>(
    files: &'f DashboardFiles,
    kind: DocumentKind,
    name: &str,
) -> Option<&'f DashboardFile> {
    files.named(name).filter(|_| kind == DocumentKind::Dashboard)
}

fn unknown(kind: DocumentKind, name: &str) -> FrontendError {
    let detail = format!("there is no {} {name}", kind.name());
    FrontendError::new(ErrorKind::UnknownDocument, detail)
}

/// The error of a body that is no document.
#[must_use]
pub fn bad_document(field: &str, reason: &str) -> FrontendError {
    FrontendError::from(&DocumentError::new(field, reason))
}
