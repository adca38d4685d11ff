//! `POST /v1/snapshots`: runs queries, and stores their answers as they are now.
//!
//! The server runs the queries itself, so that a stored answer was a real one.

use std::sync::Arc;
use std::time::Instant;

use axum::Extension;
use axum::body::to_bytes;
use axum::extract::{Request, State};
use axum::http::HeaderMap;
use axum::response::Response;
use hadal_frontend::{Principal, bad_document, blocking};
use hadal_types::limits::{QUERY_BODY_BYTES_MAX, SNAPSHOT_ANSWERS_MAX, SNAPSHOT_BYTES_MAX};
use hadal_types::{Document, DocumentKind};
use serde_json::{Map, Value, json};

use crate::handlers::documents::{read_object, report};
use crate::handlers::query::{QueryBody, client_of};
use crate::problem::Problem;
use crate::query_response::respond;
use crate::request_body::RequestBody;
use crate::state::AppState;

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
    let mut object = read_object(&body, EXAMPLE)?;
    let requests = requests_of(&mut object)?;
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
        let answer: Value = serde_json::from_slice(&answer)
            .map_err(|error| bad_document(&format!("requests[{index}]"), &error.to_string()))?;
        answers.push(json!({ "request": request, "answer": answer }));
    }
    let frontend = &state.frontend;
    object.insert("answers".to_owned(), answers.into());
    object.insert("name".to_owned(), frontend.new_snapshot_name()?.into());
    object.insert("taken".to_owned(), frontend.clock().now().to_string().into());
    let snapshot = Document::from_value(DocumentKind::Snapshot, Value::Object(object));
    let snapshot = snapshot.map_err(|error| bad_document(&error.field, &error.reason))?;
    let version = frontend.save_document(&principal, Some(0), &snapshot).await?;
    report(version, None, &snapshot)
}

/// The requests of a body, whose other fields are those of the stored object.
fn requests_of(object: &mut Map<String, Value>) -> Result<Vec<Value>, Problem> {
    for key in ["answers", "name", "taken"] {
        if object.contains_key(key) {
            return Err(bad_document(key, "the server sets it").into());
        }
    }
    match object.remove("requests") {
        Some(Value::Array(requests)) if (1..=SNAPSHOT_ANSWERS_MAX).contains(&requests.len()) => {
            Ok(requests)
        }
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
    request: &Value,
) -> Result<Vec<u8>, Problem> {
    let start = Instant::now();
    let body = QueryBody::read(request.to_string().as_bytes())?;
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
    use super::*;

    #[test]
    fn requests_are_taken_out_and_limited() {
        let requests = |body: Value| match body {
            Value::Object(mut object) => requests_of(&mut object),
            _ => Err(bad_document("body", "no object").into()),
        };
        let body = json!({ "query": "", "requests": [{ "sql": "SELECT 1" }] });
        assert_eq!(requests(body).expect("read").len(), 1);
        let many = json!({ "requests": vec![json!({}); SNAPSHOT_ANSWERS_MAX + 1] });
        for body in [json!({}), json!({ "requests": [] }), many, json!({ "taken": "" })] {
            requests(body).expect_err("refused");
        }
    }
}
