//! Dashboards of files, which are read only.

use hadal_types::Document;

/// The dashboards of a folder of files, as they were read last.
#[derive(Clone, Debug, Default)]
pub struct DashboardFiles {
    /// The dashboards, by name.
    pub dashboards: Vec<DashboardFile>,
    /// Files that have none, with the reason, a sentence each.
    pub problems: Vec<String>,
}

/// A dashboard of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct DashboardFile {
    /// The file's name.
    pub file: String,
    /// The dashboard.
    pub dashboard: Document,
}
