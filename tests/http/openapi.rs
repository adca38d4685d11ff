//! Compares `spec/openapi.json` with the server: the same routes, and every answer as described.

use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::Write;
use std::sync::LazyLock;

use hadal_sql::{Compare, QuerySpec};
use serde_json::Value;

use crate::client::Reply;
use crate::schema::{faults, resolve, undescribed};
use crate::server::Server;

const TEXT: &str = include_str!("../../spec/openapi.json");

static SPEC: LazyLock<Value> = LazyLock::new(|| serde_json::from_str(TEXT).expect("JSON"));

/// The variable with the file that gets a line for each answer, if it is set: `make/answers`
/// compares the lines with all described answers.
const SEEN: &str = "HADAL_SEEN_ANSWERS";

/// Asserts that a reply is as described.
#[track_caller]
pub(crate) fn check(method: &str, path: &str, reply: &Reply) {
    let Some((template, operation)) = operation(method, path) else {
        // The page's files have other addresses.
        let is_file = path.starts_with("/assets/") && reply.status == 200;
        assert!(is_file || [404, 405].contains(&reply.status), "{method} {path}: {}", reply.status);
        return;
    };
    let status = reply.status.to_string();
    note_seen(&format!("{method} {template} {status}\n"));
    let response = operation["responses"].get(&status);
    let response = response.unwrap_or_else(|| {
        panic!("{method} {path}: status {status} is not described\n{}", reply.text())
    });
    let response = resolve(&SPEC, response);
    if response.get("content").is_none() {
        assert!(reply.body.is_empty(), "{method} {path} {status}: it has no body");
        return;
    }
    let kind = reply.header("content-type").expect("a content type");
    let kind = kind.split(';').next().expect("a type");
    let content = response["content"].get(kind);
    let schema = &content.unwrap_or_else(|| panic!("{method} {path} {status}: {kind}"))["schema"];
    if kind.ends_with("json") && kind != "application/x-ndjson" {
        let body = reply.json();
        assert_eq!(faults(&SPEC, schema, &body), [""; 0], "{method} {path} {status}");
        let open = resolve(&SPEC, schema).get("properties").is_none()
            && resolve(&SPEC, schema).get("allOf").is_none();
        let unknown = undescribed(&SPEC, schema, &body);
        assert!(open || unknown.is_empty(), "{method} {path} {status}: {unknown:?}");
    }
}

/// Appends a line to the file of answers. One write: other tests append at the same time.
fn note_seen(line: &str) {
    let Some(path) = std::env::var_os(SEEN) else { return };
    let file = OpenOptions::new().create(true).append(true).open(path);
    file.and_then(|mut file| file.write_all(line.as_bytes())).expect("a line written");
}

/// The operation of a request, and the path that describes it.
fn operation(method: &str, path: &str) -> Option<(&'static str, &'static Value)> {
    let path = path.split('?').next().expect("a path");
    let segments: Vec<&str> = path.split('/').collect();
    let fits = |template: &str| {
        let parts: Vec<&str> = template.split('/').collect();
        let same = |(part, segment): (&&str, &&str)| part.starts_with('{') || part == segment;
        parts.len() == segments.len() && parts.iter().zip(&segments).all(same)
    };
    let paths = SPEC["paths"].as_object().expect("paths");
    let (template, operations) = paths.iter().find(|(template, _)| fits(template))?;
    Some((template, operations.get(method.to_lowercase())?))
}

#[test]
fn every_door_is_described_and_there_are_no_others() {
    let described: BTreeSet<(String, String)> = SPEC["paths"]
        .as_object()
        .expect("paths")
        .iter()
        .flat_map(|(path, operations)| {
            let methods = operations.as_object().expect("operations").keys();
            methods.map(|method| (method.to_uppercase(), path.clone()))
        })
        .collect();
    let doors: BTreeSet<(String, String)> = hadal_http::route_list()
        .into_iter()
        .map(|(method, path)| (method, path.to_owned()))
        .collect();
    assert_eq!(doors, described);
}

#[test]
fn every_field_of_a_query_is_described_and_there_are_no_others() {
    let spec = QuerySpec { compare: Some(Compare::default()), ..QuerySpec::default() };
    let fields = serde_json::to_value(&spec).expect("JSON");
    for (schema, fields) in [("Query", &fields), ("Compare", &fields["compare"])] {
        let described = &SPEC["components"]["schemas"][schema]["properties"];
        let names = |object: &Value| -> BTreeSet<String> {
            object.as_object().expect("an object").keys().cloned().collect()
        };
        assert_eq!(names(fields), names(described), "{schema}");
    }
}

#[test]
fn every_parameter_of_a_path_is_described() {
    for (path, operations) in SPEC["paths"].as_object().expect("paths") {
        let named: Vec<&str> =
            path.split('{').skip(1).filter_map(|rest| rest.split('}').next()).collect();
        for operation in operations.as_object().expect("operations").values() {
            let parameters = operation["parameters"].as_array();
            let in_path: Vec<&str> = parameters
                .into_iter()
                .flatten()
                .filter(|parameter| parameter["in"] == "path")
                .filter_map(|parameter| parameter["name"].as_str())
                .collect();
            assert_eq!(in_path, named, "{path}");
        }
    }
}

#[test]
fn the_server_tells_its_own_description() {
    let server = Server::start();
    assert_eq!(server.get("/openapi.json").ok(), *SPEC);
}

#[test]
fn every_reference_is_there() {
    fn walk(node: &Value) {
        let _ = resolve(&SPEC, node);
        match node {
            Value::Object(object) => object.values().for_each(walk),
            Value::Array(array) => array.iter().for_each(walk),
            _ => {}
        }
    }
    walk(&SPEC);
}
