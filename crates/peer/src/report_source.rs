//! The reports that a process pushes to catalogs.

use crate::{BoxFuture, TableReport};

/// Reports its tables as they change.
///
/// A caller starts with the mark 0, which stands before every table's first change. It repeats:
/// take the reports, wait for a change. Of several changes of a table, only the last is reported.
pub trait ReportSource: Send + Sync {
    /// Returns the newest reports of tables that changed after `mark`, and the mark of the last of
    /// them. There are at most `REPORTS_AT_ONCE_MAX`; none if no table has changed. May block.
    fn reports_since(&self, mark: u64) -> (u64, Vec<TableReport>);

    /// Returns once a table has changed after `mark`.
    fn changed(&self, mark: u64) -> BoxFuture<'_, ()>;
}
