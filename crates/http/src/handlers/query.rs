//! `POST /v1/query`: SQL or a query in JSON to an answer.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Extension;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, header};
use axum::response::Response;
use hadal_frontend::{ErrorKind, IntervalForm, Principal, QueryRequest, QueryText, blocking};
use hadal_query::TimeZone;
use hadal_sql::QuerySpec;
use hadal_types::limits;
use serde::Deserialize;

use crate::accept::{Accepted, accepted};
use crate::event_stream::respond_in_events;
use crate::problem::Problem;
use crate::query_response::respond;
use crate::request_body::RequestBody;
use crate::state::AppState;
use crate::streamed_answer::respond_in;
use crate::strict_object::StrictObject;

/// The body: one of the first two, and how long the answer may take.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct QueryBody {
    sql: Option<String>,
    query: Option<StrictObject<QuerySpec>>,
    deadline_ms: Option<u64>,
    #[serde(default)]
    null_if_absent: bool,
    time_zone: Option<String>,
    intervals: Option<Intervals>,
}

/// Where the answer has confidence intervals.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Intervals {
    Beside,
    Columns,
}

/// Answers one statement.
pub(crate) async fn post(
    State(state): State<Arc<AppState>>,
    Extension(principal): Extension<Principal>,
    request: Request,
) -> Result<Response, Problem> {
    let (head, body) = request.into_parts();
    let form = accepted(&head.headers, &state.config.answer_formats)?;
    let body = RequestBody::new(body, state.frontend.shutdown(), state.config.pace);
    let body = body.all(limits::QUERY_BODY_BYTES_MAX).await?;
    let start = Instant::now();
    let mut request = QueryBody::read(&body)?.into_request(start, client_of(&head.headers))?;
    match form {
        Accepted::Json => {}
        Accepted::Events => return respond_in_events(&state, principal, request).await,
        Accepted::Batches(format) => {
            // These formats have nothing but columns.
            request.row_kind_column = true;
            return respond_in(&*format, &state, &principal, request).await;
        }
    }
    let until = request.until;
    let deliver = |result| async move { blocking(move || respond(result, start, until)).await? };
    Ok(state.frontend.execute(&principal, request, deliver).await?)
}

/// The name that a client gives itself.
pub(crate) fn client_of(headers: &HeaderMap) -> String {
    let agent = headers.get(header::USER_AGENT);
    agent.map(|agent| String::from_utf8_lossy(agent.as_bytes()).into_owned()).unwrap_or_default()
}

impl QueryBody {
    pub(crate) fn read(body: &[u8]) -> Result<Self, Problem> {
        let read = serde_json::from_slice::<StrictObject<Self>>(body);
        let StrictObject(body) = read.map_err(|error| {
            let detail = format!("the body is not a query in JSON: {error}");
            Problem::new(ErrorKind::BadRequest, detail)
                .hint("send {\"sql\": \"SELECT …\"} or {\"query\": {\"table\": \"…\", …}}")
        })?;
        Ok(body)
    }

    pub(crate) fn into_request(
        self,
        start: Instant,
        client: String,
    ) -> Result<QueryRequest, Problem> {
        let bad = |detail: String| Err(Problem::new(ErrorKind::BadRequest, detail));
        let text = match (self.sql, self.query) {
            (Some(_), None) if self.null_if_absent => {
                return bad("null_if_absent goes with \"query\" only".to_owned());
            }
            (Some(sql), None) => QueryText::Sql(sql),
            (None, Some(StrictObject(spec))) => QueryText::Spec(Box::new(spec)),
            _ => return bad("the body must have one of \"sql\" and \"query\"".to_owned()),
        };
        let longest = limits::QUERY_DEADLINE_MS_MAX;
        let deadline_ms = self.deadline_ms.unwrap_or(limits::QUERY_DEADLINE_MS);
        if !(1..=longest).contains(&deadline_ms) {
            return bad(format!("deadline_ms must be 1 to {longest}"));
        }
        let until = start + Duration::from_millis(deadline_ms);
        let null_if_absent = self.null_if_absent;
        let time_zone = match self.time_zone.as_deref() {
            None => TimeZone::UTC,
            Some(name) => match TimeZone::named(name) {
                Some(zone) => zone,
                None => {
                    return bad(format!("no time zone {name:?}; one is \"Europe/Berlin\""));
                }
            },
        };
        // SQL over HTTP has no such option; a spec has its own.
        let require_complete = false;
        let intervals = match self.intervals {
            None => IntervalForm::None,
            Some(Intervals::Beside) => IntervalForm::Beside,
            Some(Intervals::Columns) => IntervalForm::Columns,
        };
        Ok(QueryRequest {
            text,
            null_if_absent,
            require_complete,
            time_zone,
            intervals,
            row_kind_column: false,
            start,
            until,
            client,
            updates: None,
        })
    }
}
