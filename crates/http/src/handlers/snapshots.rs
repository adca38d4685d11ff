//! `POST /v1/snapshots`: runs queries, and stores their answers as they are now.
//!
//! The server runs the queries itself, so that a stored answer was a real one.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use axum::Extension;
use axum::body::to_bytes;
use axum::extract::{Request, State};
use axum::http::HeaderMap;
use axum::response::Response;
use hadal_frontend::{FrontendError, Principal, bad_document, blocking};
use hadal_types::limits::{QUERY_BODY_BYTES_MAX, SNAPSHOT_ANSWERS_MAX, SNAPSHOT_BYTES_MAX};
use hadal_types::{Document, DocumentKind};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use crate::handlers::documents::{read_object, report};
use crate::handlers::query::{QueryBody, client_of};
use crate::problem::Problem;
use crate::query_response::respond;
use crate::request_body::RequestBody;
use crate::state::AppState;

/// The fields of a body by name, as text: no digit of a number is lost.
type Fields = BTreeMap<String, Box<RawValue>>;

/// A request, and the answer to it.
#[derive(Serialize)]
struct Answered {
    request: Box<RawValue>,
    answer: Box<RawValue>,
}

const EXAMPLE: &str = "send {\"query\": \"table=t&view=time\", \"requests\": [{\"sql\": \"…\"}]}";

/// Answers the requests of the body, and stores the answers.
pub(crate) async fn post(
    State(state): State<Arc<AppState>>,
    Extension(principal): Extension<Principal>,
    request: Request,
) -> Result<Response, Problem> {
    let (head, body) = request.into_parts();
    let body = RequestBody::new(body, state.frontend.shutdown(), state.config.pace);
    let body = body.all(QUERY_BODY_BYTES_MAX).await?;
    read_object(&body, EXAMPLE)?;
    let no_json = |error: serde_json::Error| bad_document("body", &error.to_string());
    let mut fields: Fields = serde_json::from_slice(&body).map_err(no_json)?;
    let requests = requests_of(&mut fields)?;
    let mut answers = Vec::new();
    let mut bytes = 0;
    for (index, request) in requests.into_iter().enumerate() {
        let answer = answer(&state, &principal, &head.headers, &request).await?;
        bytes += answer.len();
        if bytes > SNAPSHOT_BYTES_MAX {
            let reason = format!(
                "its answer makes {bytes} bytes; at most {SNAPSHOT_BYTES_MAX} are frozen: ask for \
                 fewer groups or rows"
            );
            return Err(bad_document(&format!("requests[{index}]"), &reason).into());
        }
        let answer = serde_json::from_slice(&answer)
            .map_err(|error| bad_document(&format!("requests[{index}]"), &error.to_string()))?;
        answers.push(Answered { request, answer });
    }
    let frontend = &state.frontend;
    set(&mut fields, "answers", &answers)?;
    set(&mut fields, "name", &frontend.new_snapshot_name()?)?;
    set(&mut fields, "taken", &frontend.clock().now().to_string())?;
    let text = serde_json::to_string(&fields).map_err(|error| not_written(&error))?;
    let snapshot = Document::from_json(DocumentKind::Snapshot, &text);
    let snapshot = snapshot.map_err(|error| bad_document(&error.field, &error.reason))?;
    let version = frontend.save_document(&principal, Some(0), &snapshot).await?;
    report(version, None, &snapshot)
}

/// Adds a field to those of the stored object.
fn set(fields: &mut Fields, key: &str, value: &impl Serialize) -> Result<(), Problem> {
    let value = to_raw_value(value).map_err(|error| not_written(&error))?;
    fields.insert(key.to_owned(), value);
    Ok(())
}

fn not_written(error: &serde_json::Error) -> FrontendError {
    FrontendError::internal("a frozen answer was not written", error)
}

/// The requests of a body, whose other fields are those of the stored object.
fn requests_of(fields: &mut Fields) -> Result<Vec<Box<RawValue>>, Problem> {
    for key in ["answers", "name", "taken"] {
        if fields.contains_key(key) {
            return Err(bad_document(key, "the server sets it").into());
        }
    }
    let requests = fields.remove("requests");
    match requests.and_then(|requests| serde_json::from_str::<Vec<_>>(requests.get()).ok()) {
        Some(requests) if (1..=SNAPSHOT_ANSWERS_MAX).contains(&requests.len()) => Ok(requests),
        _ => {
            let reason = format!("expected 1 to {SNAPSHOT_ANSWERS_MAX} bodies of /v1/query");
            Err(bad_document("requests", &reason).into())
        }
    }
}

/// The bytes of the answer to a body of `/v1/query`.
async fn answer(
    state: &AppState,
    principal: &Principal,
    headers: &HeaderMap,
    request: &RawValue,
) -> Result<Vec<u8>, Problem> {
    let start = Instant::now();
    let body = QueryBody::read(request.get().as_bytes())?;
    let request = body.into_request(start, client_of(headers))?;
    let until = request.until;
    let deliver = |result| async move { blocking(move || respond(result, start, until)).await? };
    let response = state.frontend.execute(principal, request, deliver).await?;
    let bytes = to_bytes(response.into_body(), SNAPSHOT_BYTES_MAX).await;
    let reason = format!("an answer has more than {SNAPSHOT_BYTES_MAX} bytes: ask for fewer rows");
    Ok(bytes.map_err(|_| bad_document("requests", &reason))?.to_vec())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn requests_are_taken_out_and_limited() {
        let requests = |body: Value| {
            let mut fields = serde_json::from_str(&body.to_string()).expect("an object");
            requests_of(&mut fields)
        };
        let body = json!({ "query": "", "requests": [{ "sql": "SELECT 1" }] });
        assert_eq!(requests(body).expect("read").len(), 1);
        let many = json!({ "requests": vec![json!({}); SNAPSHOT_ANSWERS_MAX + 1] });
        for body in [json!({}), json!({ "requests": [] }), many, json!({ "taken": "" })] {
            requests(body).expect_err("refused");
        }
    }
}
