//! `/v1/dashboards`, `/v1/views` and `/v1/snapshots`: what people save.

use std::sync::Arc;

use axum::Extension;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, Request, State};
use axum::response::Response;
use hadal_frontend::{ErrorKind, Principal, bad_document};
use hadal_types::{Document, DocumentKind, MemoryReservation};
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use serde_json::{Map, Value, json};

use crate::handlers::table_settings::BasedOn;
use crate::parameters::readable;
use crate::problem::Problem;
use crate::query_response::json as respond;
use crate::request_body::RequestBody;
use crate::state::AppState;

/// Bytes of a body beside the document, whose characters may each be escaped.
const ESCAPED_FACTOR: usize = 6;

/// `GET` without a name: all of a kind.
pub(crate) async fn list(
    kind: DocumentKind,
    State(state): State<Arc<AppState>>,
    Extension(principal): Extension<Principal>,
) -> Result<Response, Problem> {
    let list = state.frontend.documents(&principal, kind).await?;
    let documents = list.documents.into_iter().map(|one| {
        let mut object = one.value.0;
        object.insert("version".to_owned(), one.version.into());
        one.file.map(|file| object.insert("file".to_owned(), file.into()));
        Value::Object(object)
    });
    let documents: Vec<_> = documents.collect();
    let mut body = json!({ format!("{}s", kind.name()): documents });
    if kind == DocumentKind::Dashboard {
        body["problems"] = json!(list.problems);
    }
    Ok(respond(&body, MemoryReservation::default())?)
}

/// `GET` of one.
pub(crate) async fn get(
    kind: DocumentKind,
    State(state): State<Arc<AppState>>,
    Extension(principal): Extension<Principal>,
    name: Result<Path<String>, PathRejection>,
) -> Result<Response, Problem> {
    let Path(name) = readable(name)?;
    let one = state.frontend.document(&principal, kind, &name).await?;
    report(one.version, one.file.as_deref(), &one.value)
}

/// `PUT`: saves a document or replaces it.
pub(crate) async fn put(
    kind: DocumentKind,
    State(state): State<Arc<AppState>>,
    Extension(principal): Extension<Principal>,
    name: Result<Path<String>, PathRejection>,
    request: Request,
) -> Result<Response, Problem> {
    let Path(name) = readable(name)?;
    let frontend = &state.frontend;
    let body = RequestBody::new(request.into_body(), frontend.shutdown(), state.config.pace);
    let body = body.all(ESCAPED_FACTOR * kind.bytes_max()).await?;
    let (based_on, document) = read(kind, &name, &body)?;
    let version = frontend.save_document(&principal, based_on, &document).await?;
    report(version, None, &document)
}

/// `DELETE`.
pub(crate) async fn delete(
    kind: DocumentKind,
    State(state): State<Arc<AppState>>,
    Extension(principal): Extension<Principal>,
    name: Result<Path<String>, PathRejection>,
    based_on: Result<Query<BasedOn>, QueryRejection>,
) -> Result<Response, Problem> {
    let Path(name) = readable(name)?;
    let Query(BasedOn { version }) = readable(based_on)?;
    state.frontend.remove_document(&principal, kind, &name, version).await?;
    Ok(respond(&json!({ "removed": name }), MemoryReservation::default())?)
}

/// One document, under the name of its kind.
struct Report<'a> {
    version: i64,
    /// The file that has it.
    file: Option<&'a str>,
    document: &'a Document,
}

impl Serialize for Report<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(None)?;
        object.serialize_entry("version", &self.version)?;
        object.serialize_entry(self.document.kind().name(), self.document.json())?;
        if let Some(file) = self.file {
            object.serialize_entry("file", file)?;
        }
        object.end()
    }
}

/// The answer about one document.
pub(crate) fn report(
    version: i64,
    file: Option<&str>,
    document: &Document,
) -> Result<Response, Problem> {
    Ok(respond(&Report { version, file, document }, MemoryReservation::default())?)
}

/// Reads a JSON object.
pub(crate) fn read_object(body: &[u8], example: &str) -> Result<Map<String, Value>, Problem> {
    let bad = |detail: String| Problem::new(ErrorKind::BadRequest, detail).hint(example);
    match serde_json::from_slice::<Value>(body) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(bad("the body is no object".to_owned())),
        Err(error) => Err(bad(format!("the body is no JSON: {error}"))),
    }
}

/// Reads a document, which may leave out its name, and perhaps the version that it replaces.
fn read(kind: DocumentKind, name: &str, body: &[u8]) -> Result<(Option<i64>, Document), Problem> {
    let example = match kind {
        DocumentKind::Dashboard => {
            "send {\"tiles\": [{\"query\": \"table=t&view=time\", \"x\": 0, \"y\": 0, \"w\": 6, \
             \"h\": 4}]}"
        }
        _ => "send {\"query\": \"table=t&view=time\"}",
    };
    let mut object = read_object(body, example)?;
    let expected = || bad_document("version", "expected the version that is replaced, or 0");
    let based_on = match object.remove("version") {
        None | Some(Value::Null) => None,
        Some(version) => {
            Some(version.as_i64().filter(|version| *version >= 0).ok_or_else(expected)?)
        }
    };
    match object.insert("name".to_owned(), name.into()) {
        Some(other) if other != *name => {
            Err(bad_document("name", "the address has another name").into())
        }
        _ => {
            let document = Document::from_json(kind, &Value::Object(object).to_string());
            Ok((based_on, document.map_err(|error| bad_document(&error.field, &error.reason))?))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_a_document_and_perhaps_a_version() {
        let body = br#"{"version": 3, "query": "table=t"}"#;
        let (based_on, view) = read(DocumentKind::View, "my view", body).expect("read");
        assert_eq!((based_on, view.name()), (Some(3), "my view"));
        for (body, expected) in [
            ("x", "the body is no JSON"),
            ("[]", "the body is no object"),
            (r#"{"version": -1}"#, "version: expected"),
            (r#"{"name": "g"}"#, "name: the address has another name"),
            (r#"{}"#, "query: missing"),
            (r#"{"query": "", "x": 1}"#, "x: unknown"),
        ] {
            let problem = read(DocumentKind::View, "f", body.as_bytes()).expect_err(body);
            assert!(problem.detail().contains(expected), "{body}: {}", problem.detail());
        }
    }
}
