//! `/v1/cluster`: machines, leaves, their states and their rows.

use std::sync::Arc;

use axum::Extension;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::response::Response;
use hadal_frontend::{
    AggregatorReport, ClusterReport, ClusterTotals, ForgottenLeaf, LeafReport, MachineReport,
    Principal, RowCounts, TableCoverage, TableShare,
};
use hadal_peer::MemberState;
use hadal_types::{MemoryReservation, Micros, limits};
use serde::{Deserialize, Serialize};

use crate::parameters::{listed, readable};
use crate::problem::Problem;
use crate::query_response::json;
use crate::state::AppState;

/// How many tables are listed.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Listed {
    limit: Option<usize>,
}

#[derive(Serialize)]
struct Cluster<'r> {
    cluster: Option<&'r str>,
    at: String,
    leaves: usize,
    leaves_answering: usize,
    #[serde(flatten)]
    rows: Rows,
    block_bytes: u64,
    used_bytes: u64,
    free_bytes: u64,
    problems: &'r [String],
    machines: Vec<Machine<'r>>,
    tables: Vec<Table<'r>>,
    tables_left_out: usize,
}

/// Rows that queries see, and rows that they should see.
#[derive(Serialize)]
struct Rows {
    rows: u64,
    rows_expected: u64,
    rows_waiting: u64,
    coverage: f64,
}

#[derive(Serialize)]
struct Machine<'r> {
    name: &'r str,
    rack: &'r str,
    aggregator: Option<Aggregator<'r>>,
    leaves: Vec<Leaf<'r>>,
}

#[derive(Serialize)]
struct Aggregator<'r> {
    name: &'r str,
    address: String,
    url: &'r str,
    #[serde(flatten)]
    process: Process<'r>,
}

#[derive(Serialize)]
struct Leaf<'r> {
    name: &'r str,
    #[serde(flatten)]
    process: Process<'r>,
    used_bytes: u64,
    free_bytes: u64,
    block_bytes: u64,
    #[serde(flatten)]
    rows: Rows,
    tables: Vec<Table<'r>>,
    tables_left_out: usize,
}

/// The state of a process.
#[derive(Serialize)]
struct Process<'r> {
    state: &'static str,
    answers: bool,
    since: Option<String>,
    release: Option<&'r str>,
    started: Option<String>,
}

/// A table, or a leaf's share of one.
#[derive(Serialize)]
struct Table<'r> {
    name: &'r str,
    #[serde(flatten)]
    rows: Rows,
    block_bytes: u64,
}

/// `GET /v1/cluster`.
pub(crate) async fn get(
    State(state): State<Arc<AppState>>,
    parameters: Result<Query<Listed>, QueryRejection>,
) -> Result<Response, Problem> {
    let Query(Listed { limit }) = readable(parameters)?;
    let limit = listed(limit, limits::CLUSTER_TABLES_LISTED_MAX)?;
    let report = state.frontend.cluster_report(limit).await;
    Ok(json(&Cluster::new(&report), state.frontend.hold())?)
}

/// `DELETE /v1/cluster/members/{member}`: a leaf is gone permanently, so its rows are no longer
/// expected.
pub(crate) async fn forget(
    State(state): State<Arc<AppState>>,
    Extension(principal): Extension<Principal>,
    name: Result<Path<String>, PathRejection>,
) -> Result<Response, Problem> {
    #[derive(Serialize)]
    struct Forgotten<'n> {
        leaf: &'n str,
        rows: u64,
        tables: usize,
    }
    let Path(name) = readable(name)?;
    let ForgottenLeaf { rows, tables } = state.frontend.forget_leaf(&principal, &name).await?;
    Ok(json(&Forgotten { leaf: &name, rows, tables }, MemoryReservation::default())?)
}

impl<'r> Cluster<'r> {
    fn new(report: &'r ClusterReport) -> Self {
        let ClusterTotals { rows, block_bytes, used_bytes, free_bytes, leaves, leaves_answering } =
            report.totals;
        Self {
            cluster: report.cluster.as_deref(),
            at: report.at.to_string(),
            leaves,
            leaves_answering,
            rows: rows.into(),
            block_bytes,
            used_bytes,
            free_bytes,
            problems: &report.problems,
            machines: report.machines.iter().map(Machine::new).collect(),
            tables: report.tables.iter().map(Table::from).collect(),
            tables_left_out: report.tables_left_out,
        }
    }
}

impl<'r> Machine<'r> {
    fn new(machine: &'r MachineReport) -> Self {
        let MachineReport { name, rack, aggregator, leaves } = machine;
        Self {
            name: &name.0,
            rack,
            aggregator: aggregator.as_ref().map(Aggregator::new),
            leaves: leaves.iter().map(Leaf::new).collect(),
        }
    }
}

impl<'r> Aggregator<'r> {
    fn new(aggregator: &'r AggregatorReport) -> Self {
        let AggregatorReport { name, address, url, release, state, since, started } = aggregator;
        let process = Process::new(*state, *since, release, Some(*started));
        Self { name: &name.0, address: address.to_string(), url, process }
    }
}

impl<'r> Leaf<'r> {
    fn new(leaf: &'r LeafReport) -> Self {
        let LeafReport { name, state, since, release, started, .. } = leaf;
        Self {
            name: &name.0,
            process: Process::new(*state, *since, release, *started),
            used_bytes: leaf.used_bytes,
            free_bytes: leaf.free_bytes,
            block_bytes: leaf.block_bytes,
            rows: leaf.rows.into(),
            tables: leaf.tables.iter().map(Table::from).collect(),
            tables_left_out: leaf.tables_left_out,
        }
    }
}

impl<'r> Process<'r> {
    fn new(
        state: MemberState,
        since: Option<Micros>,
        release: &'r str,
        started: Option<Micros>,
    ) -> Self {
        Self {
            state: state.name(),
            answers: state.answers(),
            since: since.map(|since| since.to_string()),
            release: (!release.is_empty()).then_some(release),
            started: started.map(|started| started.to_string()),
        }
    }
}

impl From<RowCounts> for Rows {
    fn from(counts: RowCounts) -> Self {
        Self {
            rows: counts.present,
            rows_expected: counts.expected,
            rows_waiting: counts.waiting,
            coverage: counts.coverage(),
        }
    }
}

impl<'r> From<&'r TableCoverage> for Table<'r> {
    fn from(table: &'r TableCoverage) -> Self {
        let TableCoverage { table: name, rows, block_bytes } = table;
        Self { name: name.as_str(), rows: (*rows).into(), block_bytes: *block_bytes }
    }
}

impl<'r> From<&'r TableShare> for Table<'r> {
    fn from(share: &'r TableShare) -> Self {
        let TableShare { table: name, rows, block_bytes } = share;
        Self { name: name.as_str(), rows: (*rows).into(), block_bytes: *block_bytes }
    }
}
