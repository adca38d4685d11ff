//! The state of the server: for people, for supervisors and for Prometheus.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use hadal_frontend::{ErrorKind, Frontend, MemoryUse};
use hadal_peer::{LeafLoss, TableStatus};
use hadal_tree::ClusterStatus;
use hadal_types::{LeafName, MemoryReservation, limits};
use serde::Serialize;

use crate::problem::Problem;
use crate::query_response::json;
use crate::state::AppState;

/// `GET /healthz`: the process answers.
pub(crate) async fn healthy() -> &'static str {
    "ok\n"
}

/// `GET /readyz`: whether any leaf accepts batches and answers queries, during recovery possibly
/// with a part of its rows. A full disk and lost rows are reported, but the server stays ready.
pub(crate) async fn ready(State(state): State<Arc<AppState>>) -> Result<String, Problem> {
    let catalog = state.frontend.cluster_status().await;
    if catalog.leaves.iter().all(|(_, state, _)| !state.answers()) {
        return Err(Problem::new(ErrorKind::Unavailable, "no leaf is alive"));
    }
    if state.frontend.is_disk_full() {
        return Ok("ok, but no space is left on disk: rows are refused\n".to_owned());
    }
    Ok(match catalog.tables.values().map(|table| table.lost_rows).sum::<u64>() {
        0 if state.frontend.damage().is_empty() && catalog.losses.is_empty() => "ok\n".to_owned(),
        0 => "ok, but rows may be lost: see /v1/status\n".to_owned(),
        rows => format!("ok, but {rows} rows are lost: see /v1/status\n"),
    })
}

/// `GET /v1/version`.
pub(crate) async fn version(State(state): State<Arc<AppState>>) -> Result<Response, Problem> {
    #[derive(Serialize)]
    struct Version<'a> {
        version: &'a str,
        commit: &'a str,
        cpu: &'a str,
        data: &'a str,
    }
    let about = &state.config.about;
    let version = Version {
        version: &about.version,
        commit: &about.commit,
        cpu: &about.cpu,
        data: &about.data,
    };
    Ok(json(&version, MemoryReservation::default())?)
}

#[derive(Serialize)]
struct Status {
    uptime_seconds: u64,
    tables: usize,
    rows: u64,
    blocks: u64,
    block_bytes: u64,
    raw_bytes: u64,
    dropped_rows: u64,
    dropped_bytes: u64,
    expired_rows: u64,
    lost_rows: u64,
    waiting_rows: u64,
    memory: Memory,
    damage: Vec<String>,
    losses: Vec<Loss>,
    archive: Archive,
    leaves: Vec<Leaf>,
}

/// A loss whose rows and tables are unknown.
#[derive(Serialize)]
struct Loss {
    leaf: String,
    found_at: String,
    what: String,
}

impl Loss {
    fn new((leaf, loss): &(LeafName, LeafLoss)) -> Self {
        let LeafLoss { found, what } = loss;
        Self { leaf: leaf.to_string(), found_at: found.to_string(), what: what.clone() }
    }
}

/// All damage, the outage of the definitions, and all losses of unknown size, a sentence each.
fn damage(frontend: &Frontend, catalog: &ClusterStatus) -> Vec<String> {
    let losses = catalog.losses.iter();
    let losses = losses.map(|(leaf, loss)| format!("{leaf}: {} ({})", loss.what, loss.found));
    frontend.damage().iter().cloned().chain(frontend.definitions_outage()).chain(losses).collect()
}

/// Where expiring rows are archived, and which tables fail to be.
#[derive(Serialize)]
struct Archive {
    place: Option<String>,
    /// Why writing there failed.
    error: Option<String>,
    /// Tables whose rows stay because of this error or another one.
    failing: Vec<Failing>,
}

#[derive(Serialize)]
struct Failing {
    table: String,
    error: String,
}

impl Archive {
    fn new(frontend: &Frontend, catalog: &ClusterStatus) -> Self {
        let failing = catalog.tables.iter().filter_map(|(table, status)| {
            Some(Failing { table: table.to_string(), error: status.archive_error.clone()? })
        });
        Self {
            place: frontend.archive().map(str::to_owned),
            error: frontend.archive_error(),
            failing: failing.collect(),
        }
    }
}

#[derive(Serialize)]
struct Memory {
    max: u64,
    row_blocks: u64,
    row_blocks_max: u64,
    heap: u64,
    queries: u64,
    fresh: u64,
}

impl From<MemoryUse> for Memory {
    fn from(memory: MemoryUse) -> Self {
        let MemoryUse { max, row_blocks, row_blocks_max, heap, queries, fresh } = memory;
        Self { max, row_blocks, row_blocks_max, heap, queries, fresh }
    }
}

#[derive(Serialize)]
struct Leaf {
    name: String,
    state: &'static str,
    block_bytes: u64,
    /// Rows that the ledger of acknowledgements expects on the leaf, over all tables.
    rows_expected: u64,
}

/// `GET /v1/status`.
pub(crate) async fn status(State(state): State<Arc<AppState>>) -> Result<Response, Problem> {
    let catalog = state.frontend.cluster_status().await;
    let sum = |of: fn(&TableStatus) -> u64| catalog.tables.values().map(of).sum();
    let ledger = state.frontend.ledger();
    let leaves = catalog.leaves.iter().map(|(name, state, block_bytes)| Leaf {
        name: name.to_string(),
        state: state.name(),
        block_bytes: *block_bytes,
        rows_expected: catalog.tables.keys().map(|table| ledger.expected(name, table)).sum(),
    });
    let status = Status {
        uptime_seconds: state.frontend.uptime().as_secs(),
        tables: catalog.tables.len(),
        rows: sum(|table| table.schema.rows),
        blocks: sum(|table| table.blocks),
        block_bytes: sum(|table| table.block_bytes),
        raw_bytes: sum(|table| table.raw_bytes),
        dropped_rows: sum(|table| table.dropped_rows),
        dropped_bytes: sum(|table| table.dropped_bytes),
        expired_rows: sum(|table| table.expired_rows),
        lost_rows: sum(|table| table.lost_rows),
        waiting_rows: sum(|table| table.waiting_rows),
        memory: state.frontend.memory_use().into(),
        damage: damage(&state.frontend, &catalog),
        losses: catalog.losses.iter().map(Loss::new).collect(),
        archive: Archive::new(&state.frontend, &catalog),
        leaves: leaves.collect(),
    };
    Ok(json(&status, MemoryReservation::default())?)
}

/// `POST /v1/stop`: the server stops as SIGTERM makes it stop. It has not yet when this is
/// answered, and finishes running requests.
pub(crate) async fn stop(State(state): State<Arc<AppState>>) -> Result<Response, Problem> {
    #[derive(Serialize)]
    struct Stopping {
        stopping: bool,
    }
    let body = json(&Stopping { stopping: true }, MemoryReservation::default())?;
    state.config.stop.notify_one();
    Ok((StatusCode::ACCEPTED, body).into_response())
}

/// `GET /metrics`.
pub(crate) async fn metrics(State(state): State<Arc<AppState>>) -> Response {
    let catalog = state.frontend.cluster_status().await;
    let cluster = state.frontend.cluster_report(limits::CLUSTER_TABLES_LISTED_MAX).await;
    let text = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    let figures = state.metrics.text(&state.frontend, &catalog, &cluster);
    ([(header::CONTENT_TYPE, text)], figures).into_response()
}
