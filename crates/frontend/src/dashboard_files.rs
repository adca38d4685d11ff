//! Dashboards of files, which are read only.

use hadal_types::Document;

/// The dashboards of a folder of files, as they were read last. They are shared, never copied.
#[derive(Debug, Default)]
pub struct DashboardFiles {
    /// The dashboards, by name.
    pub dashboards: Vec<DashboardFile>,
    /// Files that have none, with the reason, a sentence each.
    pub problems: Vec<String>,
}

impl DashboardFiles {
    /// The dashboard of this name.
    pub(crate) fn named(&self, name: &str) -> Option<&DashboardFile> {
        self.dashboards.iter().find(|file| file.dashboard.name() == name)
    }
}

/// A dashboard of a file.
#[derive(Debug)]
pub struct DashboardFile {
    /// The file's name.
    pub file: String,
    /// The dashboard.
    pub dashboard: Document,
}
