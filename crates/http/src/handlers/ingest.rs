//! `POST /v1/log/{table}`: a body of rows.

pub(crate) mod headers;

use std::sync::Arc;

use axum::Extension;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Request, State};
use axum::http::Uri;
use axum::response::Response;
use hadal_frontend::{ErrorKind, IngestReceipt, Principal};
use hadal_ingest::ExplainedRow;
use hadal_types::MemoryReservation;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::parameters::readable;
use crate::problem::{Problem, RejectBody, RejectKindBody};
use crate::query_response::json;
use crate::request_body::RequestBody;
use crate::state::AppState;

/// Ingests the rows of a body.
pub(crate) async fn post(
    State(state): State<Arc<AppState>>,
    Extension(principal): Extension<Principal>,
    table: Result<Path<String>, PathRejection>,
    request: Request,
) -> Result<Response, Problem> {
    let Path(table) = readable(table)?;
    let (head, body) = request.into_parts();
    let mut body = RequestBody::new(body, state.frontend.shutdown(), state.config.pace);
    let receipt = match no_parameters(&head.uri) {
        Ok(()) => {
            let options = headers::read(&head.headers);
            let ingest = state.frontend.ingest(&principal, &table, options, &mut body);
            ingest.await.map_err(Problem::from)
        }
        Err(problem) => Err(problem),
    };
    // Of a body that is only explained, the beginning is read.
    if receipt.as_ref().map_or(true, |receipt| receipt.explanation.is_some()) {
        body.drain().await;
    }
    Ok(json(&ReceiptBody::new(&receipt?), MemoryReservation::default())?)
}

/// Refuses parameters, because options are headers: a client with a batch id in the address would
/// expect that it can send the address again.
fn no_parameters(address: &Uri) -> Result<(), Problem> {
    match address.query() {
        None | Some("") => Ok(()),
        Some(query) => {
            let detail = format!("there are no parameters here, such as {query:?}");
            let hint = format!("options are headers: {}", headers::names());
            Err(Problem::new(ErrorKind::BadRequest, detail).hint(hint))
        }
    }
}

/// The body of a response to accepted rows.
#[derive(Debug, Serialize)]
struct ReceiptBody<'r> {
    accepted: u64,
    rejected_count: u64,
    rejected: Vec<RejectBody<'r>>,
    reject_kinds: Vec<RejectKindBody<'r>>,
    warnings: Vec<WarningBody<'r>>,
    time_from: &'r str,
    detected: &'r str,
    /// How times are written, in the words of strptime; left out for ISO 8601.
    #[serde(skip_serializing_if = "Option::is_none")]
    time_format: Option<&'r str>,
    /// The zone that was assumed for times that name none.
    #[serde(skip_serializing_if = "Option::is_none")]
    zone_assumed: Option<&'r str>,
    /// Whether the year was assumed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    year_assumed: bool,
    /// Other columns whose values are times.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    other_times: &'r [String],
    /// What became of rows without a time, if that had to be detected.
    #[serde(skip_serializing_if = "Option::is_none")]
    untimed: Option<&'static str>,
    duplicate: bool,
    durable: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    evidence: Option<&'r [String]>,
    /// The first rows as they would be stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    rows: Option<Vec<Box<RawValue>>>,
}

#[derive(Debug, Serialize)]
struct WarningBody<'r> {
    code: &'static str,
    count: u64,
    message: &'r str,
}

impl<'r> ReceiptBody<'r> {
    fn new(receipt: &'r IngestReceipt) -> Self {
        let warning = |warning: &'r hadal_ingest::Warning| WarningBody {
            code: warning.code,
            count: warning.count,
            message: &warning.message,
        };
        let explanation = receipt.explanation.as_ref();
        let raw = |row: &ExplainedRow| RawValue::from_string(row.to_json()).ok();
        let wording = receipt.time_wording.as_ref();
        Self {
            accepted: receipt.accepted,
            rejected_count: receipt.rejects.count,
            rejected: RejectBody::of(&receipt.rejects.first),
            reject_kinds: RejectKindBody::of(&receipt.rejects.kinds),
            warnings: receipt.warnings.iter().map(warning).collect(),
            time_from: &receipt.time_from,
            detected: &receipt.detected,
            time_format: wording.and_then(|wording| wording.format.as_deref()),
            zone_assumed: wording.and_then(|wording| wording.zone_assumed.as_deref()),
            year_assumed: wording.is_some_and(|wording| wording.is_year_assumed),
            other_times: &receipt.other_times,
            untimed: receipt.untimed.map(hadal_ingest::Untimed::name),
            duplicate: receipt.duplicate,
            durable: receipt.durable,
            evidence: explanation.map(|explanation| explanation.evidence.as_slice()),
            rows: explanation.map(|explanation| explanation.rows.iter().filter_map(raw).collect()),
        }
    }
}
