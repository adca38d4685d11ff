//! `/v1/rollover`: restarts all leaves of a cluster in turn.

use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::extract::{Request, State};
use axum::response::Response;
use hadal_frontend::{
    ErrorKind, Principal, RollingLeaf, RolloverMoment, RolloverPhase, RolloverReport,
    RolloverSettings,
};
use hadal_types::time::parse_timestamp;
use hadal_types::{MemoryReservation, limits};
use serde::{Deserialize, Serialize};

use crate::problem::Problem;
use crate::query_response::json;
use crate::request_body::RequestBody;
use crate::state::AppState;
use crate::strict_object::StrictObject;

/// The settings of a rollover; each may be left out.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct RolloverBody {
    share: Option<f64>,
    coverage_floor: Option<f64>,
    stop_seconds: Option<u64>,
    started_before: Option<String>,
}

/// The rollover that runs, or the last one.
#[derive(Serialize)]
struct Answer {
    rollover: Option<Rollover>,
}

#[derive(Serialize)]
struct Rollover {
    phase: &'static str,
    reason: Option<String>,
    begun: String,
    at: String,
    share: f64,
    coverage_floor: f64,
    stop_seconds: u64,
    started_before: Option<String>,
    resume_from: String,
    old: usize,
    rolling: Vec<Rolling>,
    new: usize,
    coverage: f64,
    history: Vec<Moment>,
}

#[derive(Serialize)]
struct Rolling {
    name: String,
    since: String,
    failed: bool,
}

#[derive(Serialize)]
struct Moment {
    at: String,
    old: usize,
    rolling: usize,
    new: usize,
    coverage: f64,
}

/// `POST`: begins one.
pub(crate) async fn begin(
    State(state): State<Arc<AppState>>,
    Extension(principal): Extension<Principal>,
    request: Request,
) -> Result<Response, Problem> {
    let frontend = &state.frontend;
    let body = RequestBody::new(request.into_body(), frontend.shutdown(), state.config.pace);
    let settings = read(&body.all(limits::ROLLOVER_BODY_BYTES_MAX).await?)?;
    respond(Some(frontend.begin_rollover(&principal, settings).await?))
}

/// `GET`.
pub(crate) async fn get(State(state): State<Arc<AppState>>) -> Result<Response, Problem> {
    respond(state.frontend.rollover_report())
}

/// `DELETE`: restarts no more leaves.
pub(crate) async fn stop(
    State(state): State<Arc<AppState>>,
    Extension(principal): Extension<Principal>,
) -> Result<Response, Problem> {
    respond(Some(state.frontend.stop_rollover(&principal)?))
}

fn respond(report: Option<RolloverReport>) -> Result<Response, Problem> {
    let answer = Answer { rollover: report.map(Rollover::new) };
    Ok(json(&answer, MemoryReservation::default())?)
}

const EXAMPLE: &str = "send {\"share\": 0.02, \"coverage_floor\": 0.97}, or no body at all";

/// Reads the settings; an empty body has the standard ones.
fn read(bytes: &[u8]) -> Result<RolloverSettings, Problem> {
    let bad = |detail: String| Problem::new(ErrorKind::BadRequest, detail).hint(EXAMPLE);
    let body = match bytes {
        [] => RolloverBody::default(),
        bytes => {
            let read = serde_json::from_slice::<StrictObject<RolloverBody>>(bytes);
            read.map_err(|error| bad(format!("the body is no rollover: {error}")))?.0
        }
    };
    let started_before = body.started_before.map(|text| {
        parse_timestamp(&text).ok_or_else(|| {
            bad(format!("started_before is {text:?}; expected a time such as 2026-11-27T18:00:00Z"))
        })
    });
    let standard = RolloverSettings::default();
    Ok(RolloverSettings {
        share: body.share.unwrap_or(standard.share),
        coverage_floor: body.coverage_floor.unwrap_or(standard.coverage_floor),
        stop_max: body.stop_seconds.map_or(standard.stop_max, Duration::from_secs),
        started_before: started_before.transpose()?,
    })
}

impl Rollover {
    fn new(report: RolloverReport) -> Self {
        let resume_from = report.resume_from.to_string();
        let RolloverSettings { share, coverage_floor, stop_max, started_before } = report.settings;
        Self {
            phase: phase(report.phase),
            reason: report.reason,
            begun: report.begun.to_string(),
            at: report.at.to_string(),
            share,
            coverage_floor,
            stop_seconds: stop_max.as_secs(),
            started_before: started_before.map(|time| time.to_string()),
            resume_from,
            old: report.old,
            rolling: report.rolling.into_iter().map(Rolling::new).collect(),
            new: report.new,
            coverage: report.coverage,
            history: report.history.into_iter().map(Moment::new).collect(),
        }
    }
}

const fn phase(phase: RolloverPhase) -> &'static str {
    match phase {
        RolloverPhase::Running => "running",
        RolloverPhase::Stopping => "stopping",
        RolloverPhase::Stopped => "stopped",
        RolloverPhase::Done => "done",
    }
}

impl Rolling {
    fn new(leaf: RollingLeaf) -> Self {
        let RollingLeaf { name, since, has_failed } = leaf;
        Self { name: name.to_string(), since: since.to_string(), failed: has_failed }
    }
}

impl Moment {
    fn new(moment: RolloverMoment) -> Self {
        let RolloverMoment { at, old, rolling, new, coverage } = moment;
        Self { at: at.to_string(), old, rolling, new, coverage }
    }
}
