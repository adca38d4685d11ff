//! `/v1/functions`: user functions, to be listed, defined and dropped.

use std::sync::Arc;

use axum::Extension;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Request, State};
use axum::response::Response;
use hadal_frontend::{ErrorKind, FrontendError, Principal};
use hadal_types::{FunctionDefinition, FunctionError, MemoryReservation, limits};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::parameters::readable;
use crate::problem::Problem;
use crate::query_response::json;
use crate::request_body::RequestBody;
use crate::state::AppState;

/// Bytes of a body beside the source, whose characters may each be escaped.
const BODY_BYTES_MAX: usize = 6 * limits::FUNCTION_SOURCE_BYTES_MAX + (16 << 10);

/// One function.
#[derive(Serialize)]
struct Report {
    version: i64,
    function: Map<String, Value>,
}

#[derive(Serialize)]
struct Reports {
    functions: Vec<Report>,
}

#[derive(Serialize)]
struct Dropped {
    dropped: String,
}

impl Report {
    fn new(version: i64, definition: &FunctionDefinition) -> Self {
        Self { version, function: definition.to_object() }
    }
}

/// `GET /v1/functions`.
pub(crate) async fn list(
    State(state): State<Arc<AppState>>,
    Extension(principal): Extension<Principal>,
) -> Result<Response, Problem> {
    let functions = state.frontend.functions(&principal).await?;
    let functions = functions.iter().map(|one| Report::new(one.version, &one.value)).collect();
    Ok(json(&Reports { functions }, MemoryReservation::default())?)
}

/// `GET`.
pub(crate) async fn get(
    State(state): State<Arc<AppState>>,
    Extension(principal): Extension<Principal>,
    name: Result<Path<String>, PathRejection>,
) -> Result<Response, Problem> {
    let Path(name) = readable(name)?;
    let function = state.frontend.function(&principal, &name).await?;
    Ok(json(&Report::new(function.version, &function.value), MemoryReservation::default())?)
}

/// `PUT`: defines the function or replaces it.
pub(crate) async fn put(
    State(state): State<Arc<AppState>>,
    Extension(principal): Extension<Principal>,
    name: Result<Path<String>, PathRejection>,
    request: Request,
) -> Result<Response, Problem> {
    let Path(name) = readable(name)?;
    let frontend = &state.frontend;
    let body = RequestBody::new(request.into_body(), frontend.shutdown(), state.config.pace);
    let body = body.all(BODY_BYTES_MAX).await?;
    let (based_on, definition) = read(&name, &body)?;
    let version = frontend.define_function(&principal, based_on, definition.clone()).await?;
    Ok(json(&Report::new(version, &definition), MemoryReservation::default())?)
}

/// `DELETE`.
pub(crate) async fn delete(
    State(state): State<Arc<AppState>>,
    Extension(principal): Extension<Principal>,
    name: Result<Path<String>, PathRejection>,
) -> Result<Response, Problem> {
    let Path(name) = readable(name)?;
    state.frontend.drop_function(&principal, &name).await?;
    Ok(json(&Dropped { dropped: name }, MemoryReservation::default())?)
}

const EXAMPLE: &str = "send {\"parameters\": [{\"name\": \"a\", \"type\": \"number\"}], \
                       \"returns\": \"number\", \"source\": \"return 2 * a\"}";

/// Reads a definition without its name, and perhaps the version that it replaces.
fn read(name: &str, body: &[u8]) -> Result<(Option<i64>, FunctionDefinition), Problem> {
    let bad = |field: &str, reason: &str| {
        Problem::from(FrontendError::from(&FunctionError::new(field, reason)))
    };
    let value = serde_json::from_slice::<Value>(body).map_err(|error| {
        let detail = format!("the body is no JSON: {error}");
        Problem::new(ErrorKind::BadRequest, detail).hint(EXAMPLE)
    })?;
    let Value::Object(mut object) = value else {
        return Err(Problem::new(ErrorKind::BadRequest, "the body is no object").hint(EXAMPLE));
    };
    let based_on = match object.remove("version") {
        None | Some(Value::Null) => None,
        Some(version) => Some(
            version
                .as_i64()
                .filter(|version| *version >= 0)
                .ok_or_else(|| bad("version", "expected the version that is replaced, or 0"))?,
        ),
    };
    match object.insert("name".to_owned(), name.into()) {
        Some(other) if other != *name => Err(bad("name", "the address has another name")),
        _ => {
            let definition = FunctionDefinition::from_value(&Value::Object(object));
            Ok((based_on, definition.map_err(|error| FrontendError::from(&error))?))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_a_definition_and_perhaps_a_version() {
        let body = br#"{"version": 3, "returns": "number", "source": "return 1"}"#;
        let (based_on, definition) = read("f", body).expect("read");
        assert_eq!((based_on, definition.name.as_str()), (Some(3), "f"));
        for (body, expected) in [
            ("x", "the body is no JSON"),
            ("[]", "the body is no object"),
            (r#"{"version": -1}"#, "version: expected"),
            (r#"{"name": "g"}"#, "name: the address has another name"),
            (r#"{"source": ""}"#, "returns: missing"),
            (r#"{"returns": "number", "source": "", "x": 1}"#, "x: unknown"),
        ] {
            let problem = read("f", body.as_bytes()).expect_err(body);
            assert!(problem.detail().contains(expected), "{body}: {}", problem.detail());
        }
    }
}
