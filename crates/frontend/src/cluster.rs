//! The cluster that this process belongs to, as clients see it and change it.

pub(crate) mod join;
mod natural_order;
mod problems;
mod report;
pub(crate) mod rollover;

use hadal_types::Micros;

pub use report::{
    AggregatorReport, ClusterReport, ClusterTotals, LeafReport, MachineReport, RowCounts,
    TableCoverage, TableShare,
};

use crate::error::{ErrorKind, FrontendError};
use crate::frontend::Frontend;
use crate::principal::{Permission, Principal};
use join::{Alone, Knowledge, join};

/// A leaf that was forgotten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForgottenLeaf {
    /// The rows that were expected of it, and no longer are.
    pub rows: u64,
    /// The number of tables of these rows.
    pub tables: usize,
}

impl Frontend {
    /// Returns the state of the cluster, with the shares of at most `tables_max` tables: those with
    /// the most expected rows. Sends no message to another process.
    pub async fn cluster_report(&self, tables_max: usize) -> ClusterReport {
        let backend = &self.backend;
        let members = backend.members.as_deref();
        let alone = match members {
            Some(_) => None,
            None => Some(self.alone().await),
        };
        let reports = backend.ledger.tables().into_iter().map(|table| {
            let reports = backend.root.reports(&table);
            (table, reports)
        });
        let damage = backend.damage.iter().cloned().chain(backend.definitions.outage());
        let damage: Vec<String> = damage.collect();
        join(&Knowledge {
            now: backend.clock.now(),
            members,
            alone,
            expected: &backend.ledger,
            reports: reports.collect(),
            damage: &damage,
            tables_max,
        })
    }

    /// Describes this process, which has no cluster.
    async fn alone(&self) -> Alone {
        let backend = &self.backend;
        let memory = self.memory_use();
        let uptime = i64::try_from(self.uptime().as_micros()).unwrap_or(i64::MAX);
        Alone {
            leaves: backend.root.states().await,
            started: Micros(backend.clock.now().0.saturating_sub(uptime)),
            free_bytes: memory.row_blocks_max.saturating_sub(memory.row_blocks),
        }
    }

    /// Forgets a leaf that is gone permanently: its rows are no longer expected.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownMember`]; [`ErrorKind::MemberAlive`] unless the leaf is silent;
    /// [`ErrorKind::Unavailable`] when some members did not forget it.
    pub async fn forget_leaf(
        &self,
        principal: &Principal,
        name: &str,
    ) -> Result<ForgottenLeaf, FrontendError> {
        principal.require(Permission::Admin)?;
        let report = self.cluster_report(0).await;
        let leaves = report.machines.iter().flat_map(|machine| &machine.leaves);
        let Some(leaf) = leaves.into_iter().find(|leaf| &*leaf.name.0 == name) else {
            let detail = format!("there is no leaf {name} in the cluster");
            return Err(FrontendError::new(ErrorKind::UnknownMember, detail));
        };
        if !leaf.is_silent() {
            let detail = format!("{name} is not gone: its state is {}", leaf.state.name());
            return Err(FrontendError::new(ErrorKind::MemberAlive, detail)
                .hint("stop it first, and wait until it is silent"));
        }
        if let Some(members) = self.backend.members.as_deref() {
            let forgotten = members.forget(&leaf.name).await;
            forgotten.map_err(|detail| FrontendError::new(ErrorKind::Unavailable, detail))?;
        }
        self.backend.ledger.forget_leaf(&leaf.name);
        Ok(ForgottenLeaf { rows: leaf.rows.expected, tables: leaf.tables_left_out })
    }
}

#[cfg(test)]
mod tests;
