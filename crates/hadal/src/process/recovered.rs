//! The result of a data folder's recovery at a start.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use hadal_leaf::Leaf;
use hadal_peer::LeafLoss;
use hadal_store::Report;
use hadal_types::{LeafName, TableName};

/// The result of a data folder's recovery. Rows and tables exclude Hadal's self tables.
#[derive(Default)]
pub(crate) struct Recovered {
    pub(crate) rows: u64,
    pub(crate) tables: usize,
    pub(crate) time: Duration,
    /// Per leaf.
    pub(crate) reports: Vec<(LeafName, Report)>,
    /// Per leaf: losses with an unknown number of rows.
    pub(crate) losses: Vec<(LeafName, Vec<LeafLoss>)>,
    /// Leaves that cannot be opened, and the reasons.
    pub(crate) leaves_failed: Vec<(LeafName, String)>,
}

impl Recovered {
    pub(crate) fn new(
        leaves: &[Arc<Leaf>],
        leaves_failed: Vec<(LeafName, String)>,
        time: Duration,
    ) -> Self {
        let holdings: Vec<_> = leaves.iter().map(|leaf| leaf.holdings()).collect();
        let report = |leaf: &Arc<Leaf>| (leaf.name().clone(), leaf.recovery_report().clone());
        let reports: Vec<_> = leaves.iter().map(report).collect();
        let lost = reports.iter().flat_map(|(_, report)| &report.lost_blocks);
        let lost = lost.filter(|block| !block.table.is_own());
        let lost: u64 = lost.map(|block| u64::from(block.rows)).sum();
        let user_tables = holdings.iter().flatten().filter(|(table, _)| !table.is_own());
        let rows: u64 = user_tables.clone().map(|(_, (rows, _))| rows).sum();
        let tables: BTreeSet<&TableName> = user_tables.map(|(table, _)| table).collect();
        Self {
            rows: rows.saturating_sub(lost),
            tables: tables.len(),
            time,
            reports,
            losses: leaves.iter().map(|leaf| (leaf.name().clone(), leaf.losses())).collect(),
            leaves_failed,
        }
    }
}
