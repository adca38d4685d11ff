//! The reports that the leaf pushes to catalogs of other processes.

use hadal_peer::{BoxFuture, ReportSource, TableReport};
use hadal_types::limits::REPORTS_AT_ONCE_MAX;

use crate::leaf::Leaf;

impl ReportSource for Leaf {
    /// The first report of a table opens the row blocks that an earlier process left.
    fn reports_since(&self, mark: u64) -> (u64, Vec<TableReport>) {
        let (last, tables) = self.context.changes.since(mark, REPORTS_AT_ONCE_MAX);
        (last, tables.iter().map(|table| self.report(table)).collect())
    }

    fn changed(&self, mark: u64) -> BoxFuture<'_, ()> {
        Box::pin(self.context.changes.wait(mark))
    }
}
