//! Dashboards, saved views and frozen answers: saved, listed, protected from lost updates, removed.

use std::sync::Arc;

use hadal_frontend::{DashboardFile, DashboardFiles, FrontendConfig};
use hadal_types::limits::{DOCUMENT_BYTES_MAX, QUERY_BODY_BYTES_MAX, SNAPSHOT_ANSWERS_MAX};
use hadal_types::{Document, DocumentKind};
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::client::Reply;
use crate::server::{Server, memory_backend};

const DASHBOARD: &str = "/v1/dashboards/Service%20health";
const VIEW: &str = "/v1/views/v";

fn put(server: &Server, path: &str, body: &Value) -> Reply {
    server.request("PUT", path).body(body.to_string()).send()
}

fn freeze(server: &Server, body: &Value) -> Reply {
    server.request("POST", "/v1/snapshots").body(body.to_string()).send()
}

fn tiles() -> Value {
    json!([{ "title": "All", "query": "table=t&view=time", "x": 0, "y": 0, "w": 12, "h": 4 }])
}

#[test]
fn a_dashboard_is_saved_listed_replaced_and_removed() {
    let server = Server::start();
    let list = || server.get("/v1/dashboards").ok();
    assert_eq!(list(), json!({ "dashboards": [], "problems": [] }));
    server.get(DASHBOARD).problem(404, "unknown-document");
    let body = json!({ "version": 0, "owner": "Julie", "compare": "7d", "tiles": tiles() });
    let first = put(&server, DASHBOARD, &body).ok();
    assert_eq!(first["dashboard"]["name"], "Service health");
    assert_eq!(server.get(DASHBOARD).ok(), first);
    let summary = json!({
        "name": "Service health", "owner": "Julie", "tiles": 1, "version": first["version"],
    });
    assert_eq!(list()["dashboards"], json!([summary]));
    let stale = put(&server, DASHBOARD, &body).problem(409, "document-conflict");
    assert_eq!(stale["version"], first["version"]);
    let second = put(&server, DASHBOARD, &json!({ "tiles": [] })).ok();
    assert!(second["version"].as_i64() > first["version"].as_i64());
    let stale = format!("{DASHBOARD}?version={}", first["version"]);
    server.request("DELETE", &stale).send().problem(409, "document-conflict");
    server.request("DELETE", &format!("{DASHBOARD}?version=x")).send().problem(400, "bad-request");
    server.request("DELETE", DASHBOARD).send().ok();
    server.request("DELETE", DASHBOARD).send().problem(404, "unknown-document");
}

#[test]
fn a_view_is_saved_with_its_query() {
    let server = Server::start();
    let body = json!({ "owner": "Bob", "description": "Mine", "query": "table=t&by=a" });
    let saved = put(&server, VIEW, &body).ok();
    assert_eq!(server.get(VIEW).ok(), saved);
    let listed = server.get("/v1/views").ok();
    assert_eq!(listed["views"][0]["query"], "table=t&by=a");
    // A dashboard of the same name is another thing.
    server.get("/v1/dashboards/v").problem(404, "unknown-document");
    let stale = json!({ "version": 0, "query": "" });
    put(&server, VIEW, &stale).problem(409, "document-conflict");
    server.request("DELETE", VIEW).send().ok();
    server.request("DELETE", VIEW).send().problem(404, "unknown-document");
}

#[test]
fn what_cannot_be_drawn_is_refused_with_its_place() {
    let server = Server::start();
    for (path, body, field) in [
        (DASHBOARD, json!({}), "tiles"),
        (DASHBOARD, json!({ "tiles": [{ "x": 13 }] }), "tiles[0].x"),
        (DASHBOARD, json!({ "tiles": tiles(), "colour": "red" }), "colour"),
        (DASHBOARD, json!({ "tiles": tiles(), "name": "another" }), "name"),
        (DASHBOARD, json!({ "tiles": tiles(), "version": -1 }), "version"),
        (VIEW, json!({ "query": 7 }), "query"),
        ("/v1/views/%20a", json!({ "query": "" }), "name"),
        ("/v1/views/a%2Fb", json!({ "query": "" }), "name"),
    ] {
        let problem = put(&server, path, &body).problem(400, "bad-document");
        assert_eq!(problem["field"], field, "{problem}");
    }
    for path in [DASHBOARD, VIEW] {
        let long = "x".repeat(7 * DOCUMENT_BYTES_MAX);
        server.request("PUT", path).body(long).send().problem(413, "too-large");
        server.request("PUT", path).body("[]").send().problem(400, "bad-request");
        server.request("PUT", path).body("{").send().problem(400, "bad-request");
    }
    assert_eq!(server.get("/v1/views").ok(), json!({ "views": [] }));
}

#[test]
fn an_answer_is_frozen_as_it_was() {
    let server = Server::start();
    server.request("POST", "/v1/log/t").body("{\"a\": 1}\n{\"a\": 2}\n").send().ok();
    let count = json!({ "query": { "table": "t", "aggregates": ["count(*)"] } });
    let body = json!({ "query": "table=t&view=number", "requests": [count] });
    let frozen = freeze(&server, &body).ok();
    server.request("POST", "/v1/log/t").body("{\"a\": 3}\n").send().ok();
    let name = frozen["snapshot"]["name"].as_str().expect("a name").to_owned();
    let path = format!("/v1/snapshots/{name}");
    let read = server.get(&path).ok();
    assert_eq!(read, frozen);
    let answer = &read["snapshot"]["answers"][0];
    assert_eq!(answer["request"], count);
    assert_eq!(answer["answer"]["rows"], json!([[2]]));
    assert_eq!(answer["answer"]["coverage"]["fraction"], 1.0);
    assert!(read["snapshot"]["taken"].as_str().is_some_and(|taken| taken.ends_with('Z')));
    let listed = server.get("/v1/snapshots").ok();
    assert_eq!(listed["snapshots"][0]["name"], name.as_str());
    assert_eq!(listed["snapshots"][0]["answers"], Value::Null);
    server.request("DELETE", &path).send().ok();
    server.get(&path).problem(404, "unknown-document");
    server.request("DELETE", &path).send().problem(404, "unknown-document");
}

/// Of doubles with up to 17 digits, some are other ones when they were read as quickly as possible.
#[test]
fn numbers_of_a_frozen_answer_keep_their_digits() {
    let server = Server::start();
    let roots: Vec<_> = (1..=200).map(|n| format!("{{\"a\": {}}}", f64::from(n).sqrt())).collect();
    server.request("POST", "/v1/log/t").body(roots.join("\n")).send().ok();
    let request = "{\"sql\": \"SELECT a FROM t WHERE a > 1.4142135623730951 LIMIT 200\"}";
    let answer = server.request("POST", "/v1/query").body(request).send().text();
    let rows = answer.split("\"rows\":").nth(1).and_then(|rest| rest.split("]]").next());
    let rows = rows.expect("rows");
    assert!(rows.contains("1.7320508075688772"), "{rows}");
    let body = format!("{{\"query\": \"\", \"requests\": [{request}]}}");
    let frozen = server.request("POST", "/v1/snapshots").body(body).send();
    assert!(frozen.text().contains(rows), "{rows} is not in {}", frozen.text());
    let name = frozen.ok()["snapshot"]["name"].as_str().expect("a name").to_owned();
    let read = server.get(&format!("/v1/snapshots/{name}")).text();
    assert!(read.contains(rows), "{rows} is not in {read}");
    assert!(read.contains(request), "{request} is not in {read}");
}

#[test]
fn an_answer_that_cannot_be_frozen_is_refused() {
    let server = Server::start();
    server.request("POST", "/v1/log/t").body("{\"a\": 1}\n").send().ok();
    let request = json!({ "sql": "SELECT count(*) FROM t" });
    for (body, field) in [
        (json!({ "query": "table=t" }), "requests"),
        (json!({ "query": "", "requests": [] }), "requests"),
        (json!({ "query": "", "requests": vec![&request; SNAPSHOT_ANSWERS_MAX + 1] }), "requests"),
        (json!({ "query": "", "requests": [request], "taken": "now" }), "taken"),
        (json!({ "query": 1, "requests": [request] }), "query"),
        (json!({ "query": "", "requests": [request], "x": 1 }), "x"),
    ] {
        let problem = freeze(&server, &body).problem(400, "bad-document");
        assert_eq!(problem["field"], field, "{problem}");
    }
    let wrong = json!({ "query": "", "requests": [{ "sql": "SELECT count(*) FROM nope" }] });
    freeze(&server, &wrong).problem(404, "unknown-table");
    let wrong = json!({ "query": "", "requests": [{ "sql": "SELECT nope FROM t" }] });
    freeze(&server, &wrong).problem(400, "bad-query");
    let long = "x".repeat(QUERY_BODY_BYTES_MAX + 1);
    server.request("POST", "/v1/snapshots").body(long).send().problem(413, "too-large");
    // More bytes than a frozen answer may have.
    let rows: String =
        (0..300).map(|_| format!("{{\"a\": \"{}\"}}\n", "x".repeat(5_000))).collect();
    server.request("POST", "/v1/log/long").body(rows).send().ok();
    let long = json!({ "query": "", "requests": [{ "sql": "SELECT a FROM long LIMIT 300" }] });
    let problem = freeze(&server, &long).problem(400, "bad-document");
    assert!(problem["detail"].as_str().is_some_and(|text| text.contains("fewer rows")));
    assert_eq!(server.get("/v1/snapshots").ok(), json!({ "snapshots": [] }));
}

#[test]
fn a_dashboard_of_a_file_is_read_only_and_hides_a_stored_one() {
    let value = json!({ "name": "Service health", "description": "kept in git", "tiles": tiles() });
    let dashboard = Document::from_json(DocumentKind::Dashboard, &value.to_string());
    let dashboard = dashboard.expect("a dashboard");
    let files: Arc<Mutex<Arc<DashboardFiles>>> = Arc::default();
    let config =
        FrontendConfig { dashboard_files: Arc::clone(&files), ..FrontendConfig::default() };
    let server = Server::with_frontend(memory_backend(None), config);
    put(&server, DASHBOARD, &json!({ "description": "stored", "tiles": [] })).ok();
    *files.lock() = Arc::new(DashboardFiles {
        dashboards: vec![DashboardFile { file: "health.json".to_owned(), dashboard }],
        problems: vec!["broken.json: this is no JSON".to_owned()],
    });
    let list = server.get("/v1/dashboards").ok();
    assert_eq!(list["dashboards"].as_array().map(Vec::len), Some(1));
    assert_eq!(list["dashboards"][0]["file"], "health.json");
    assert_eq!(list["problems"], json!(["broken.json: this is no JSON"]));
    let read = server.get(DASHBOARD).ok();
    assert_eq!(read["dashboard"]["description"], "kept in git");
    let refused = put(&server, DASHBOARD, &json!({ "tiles": [] })).problem(403, "forbidden");
    assert!(refused["detail"].as_str().is_some_and(|text| text.contains("health.json")));
    server.request("DELETE", DASHBOARD).send().problem(403, "forbidden");
    *files.lock() = Arc::default();
    assert_eq!(server.get(DASHBOARD).ok()["dashboard"]["description"], "stored");
}
