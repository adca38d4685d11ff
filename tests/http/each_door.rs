//! Failures that can happen at any route, tested at each of them: a broken backend, too many
//! connections, a request of a foreign page.

use std::net::TcpStream;
use std::sync::Arc;
use std::time::Instant;

use hadal_aggregate::Partial;
use hadal_peer::{
    Admin, Batch, BatchLookup, BoxFuture, Peer, PeerStatus, Receipt, Sink, SinkError, StatusScope,
    TableBlocks, TableChange, TableReport,
};
use hadal_query::Query;
use hadal_types::{BatchId, TableName};
use serde_json::json;

use crate::client::{Reply, ask_on};
use crate::fakes::{FakeLeaf, FakeSink};
use crate::openapi;
use crate::server::{Server, backend_of};

/// Routes that change something.
fn changing() -> impl Iterator<Item = (&'static str, String)> {
    doors().filter(|(method, path)| {
        *method != "GET" && !["/v1/query", "/v1/explain"].contains(&path.as_str())
    })
}

/// All routes, with a table `t` and a column `a`.
fn doors() -> impl Iterator<Item = (&'static str, String)> {
    hadal_http::route_list().into_iter().map(|(method, path)| {
        let methods = ["GET", "POST", "PUT", "DELETE"];
        let method = methods.into_iter().find(|known| *known == method).expect("a known method");
        let path = path.replace("{table}", "t").replace("{column}", "a");
        (method, path.replace("{member}", "m").replace("{function}", "f").replace("{name}", "n"))
    })
}

/// Sends a valid request to a route.
fn ask(server: &Server, method: &'static str, path: &str) -> Reply {
    let request = server.request(method, path).header("Hadal-Batch", "b");
    let body = match path {
        "/v1/query" => json!({ "sql": "SELECT count(*) FROM t" }).to_string(),
        path if path.ends_with("/settings") && method == "PUT" => {
            let version = server.get(path).json()["version"].as_i64().unwrap_or(0);
            json!({ "version": version, "settings": { "age": "7d" } }).to_string()
        }
        path if path.starts_with("/v1/log") && method != "DELETE" => "{\"a\": \"x\"}".to_owned(),
        _ => String::new(),
    };
    request.body(body).send()
}

/// A leaf and its sink that panic at every request.
struct Panicking;

impl Peer for Panicking {
    fn query(&self, _query: Arc<Query>, _deadline: Instant) -> BoxFuture<'_, Partial> {
        panic!("a secret of the server")
    }

    fn status<'a>(&'a self, _scope: &'a StatusScope) -> BoxFuture<'a, PeerStatus> {
        panic!("a secret of the server")
    }

    fn reports(&self, _table: &TableName) -> Vec<TableReport> {
        panic!("a secret of the server")
    }

    fn blocks<'a>(&'a self, _table: &'a TableName) -> BoxFuture<'a, TableBlocks> {
        panic!("a secret of the server")
    }
}

#[test]
fn a_panic_behind_a_door_is_an_answer_without_its_text() {
    let backend = backend_of(Arc::new(Panicking), Arc::new(Refusing(None)));
    let server = Server::over(backend, "127.0.0.1:0", |_| {});
    let mut failed = Vec::new();
    for (method, path) in doors().filter(|(method, path)| (*method, path.as_str()) != STOP) {
        let reply = ask(&server, method, &path);
        assert!(!reply.text().contains("secret"), "{method} {path}");
        if reply.status == 500 {
            reply.problem(500, "internal");
            failed.push(format!("{method} {path}"));
        }
    }
    // The others ask no leaf.
    for door in ["POST /v1/query", "POST /v1/log/t", "GET /v1/tables", "PUT /v1/tables/t/settings"]
    {
        assert!(failed.iter().any(|failed| failed == door), "{door} of {failed:?}");
    }
    assert_eq!(server.get("/healthz").status, 200);
}

/// The route that ends the server.
const STOP: (&str, &str) = ("POST", "/v1/stop");

/// Refuses every request, for one reason; without one it panics.
struct Refusing(Option<SinkError>);

impl Refusing {
    fn reason(&self) -> SinkError {
        self.0.clone().expect("a secret of the server")
    }
}

impl Sink for Refusing {
    fn accept(&self, _batch: Batch) -> BoxFuture<'_, Result<Receipt, SinkError>> {
        Box::pin(async { Err(self.reason()) })
    }

    fn look_up<'a>(
        &'a self,
        _table: &'a TableName,
        _id: &'a BatchId,
    ) -> BoxFuture<'a, BatchLookup> {
        Box::pin(async { BatchLookup::default() })
    }
}

impl Admin for Refusing {
    fn apply(&self, _change: TableChange) -> BoxFuture<'_, Result<u64, SinkError>> {
        Box::pin(async { Err(self.reason()) })
    }
}

#[test]
fn what_a_leaf_refuses_is_told_at_every_door_that_changes_something() {
    let text = || "disk 7".to_owned();
    let conflict = SinkError::Conflict { id: BatchId::new("b").expect("an id") };
    for (refusal, status, kind) in [
        (conflict, 409, "batch-conflict"),
        (SinkError::Busy(text()), 429, "busy"),
        (SinkError::Limit(text()), 422, "limit"),
        (SinkError::Full(text()), 503, "unavailable"),
    ] {
        let is_conflict = status == 409;
        let sink = Arc::new(Refusing(Some(refusal)));
        let backend = backend_of(Arc::new(FakeLeaf::default()), sink);
        let server = Server::over(backend, "127.0.0.1:0", |_| {});
        for (method, path) in changing() {
            // Only rows can conflict with others, and a table can be dropped at any time.
            let is_log = path.starts_with("/v1/log") && method != "DELETE";
            let is_drop = (method, path.as_str()) == ("DELETE", "/v1/tables/t");
            // Whether a leaf is gone, or whether there is a cluster, is not asked of the leaf.
            let is_of_cluster = path.starts_with("/v1/cluster/") || path == "/v1/rollover";
            // Definitions are not the leaf's.
            let definitions = ["/v1/functions/", "/v1/dashboards", "/v1/views", "/v1/snapshots"];
            let is_definition = definitions.iter().any(|start| path.starts_with(start));
            let is_other = is_of_cluster || is_definition;
            let applies = !is_other && (is_log || !is_conflict && (!is_drop || status == 503));
            if (method, path.as_str()) != STOP && applies {
                let reply = ask(&server, method, &path);
                reply.problem(status, kind);
                assert_eq!(reply.header("retry-after").is_some(), [429, 503].contains(&status));
            }
        }
    }
}

#[test]
fn a_foreign_page_changes_nothing_at_any_door() {
    let server = Server::start();
    server.log("t", "{\"a\": \"x\"}\n");
    for (method, path) in changing() {
        for site in ["cross-site", "same-site"] {
            let request = server.request(method, &path).header("Sec-Fetch-Site", site);
            request.send().problem(403, "forbidden");
        }
    }
    assert_eq!(server.rows("SELECT count(*) FROM t"), json!([[1]]), "nothing was done");
}

#[test]
fn too_many_connections_are_told_so_at_every_door() {
    let server = Server::with(|config| config.connections_max = 1);
    let mut inside = TcpStream::connect(server.address).expect("a connection");
    assert_eq!(ask_on(&mut inside, "GET", "/healthz", "").status, 200);
    for (method, path) in doors() {
        // The refusal comes before any byte is read, so no request needs to be sent.
        let mut beyond = TcpStream::connect(server.address).expect("a connection");
        let reply = crate::client::read_reply(&mut beyond);
        reply.problem(503, "unavailable");
        openapi::check(method, &path, &reply);
    }
}

#[test]
fn a_page_that_is_as_it_was_is_not_sent_again() {
    let server = Server::start();
    let page = server.get("/");
    let tag = page.header("etag").expect("a tag").to_owned();
    let again = server.request("GET", "/").header("If-None-Match", &tag).send();
    assert_eq!((again.status, again.body.len()), (304, 0));
}

#[test]
fn a_body_of_another_kind_or_length_is_refused_by_put_as_by_post() {
    let server = Server::start();
    for method in ["POST", "PUT"] {
        let log = |body: String| server.request(method, "/v1/log/t").body(body);
        let pdf = log("{}".to_owned()).header("Content-Type", "application/pdf").send();
        assert_eq!(pdf.status, 415, "{}", pdf.text());
        let long = "{\"a\": \"x\"}\n".repeat(hadal_types::limits::BODY_BYTES_MAX / 8);
        let strict = log(long).header("Hadal-Strict", "true").send();
        strict.problem(413, "too-large");
    }
    let long = "x".repeat(hadal_types::limits::TABLE_SETTINGS_BYTES_MAX + 1);
    let settings = server.request("PUT", "/v1/tables/t/settings").body(long).send();
    settings.problem(413, "too-large");
}

#[test]
fn settings_of_a_table_that_cannot_be_are_not_found() {
    let server = Server::over(
        backend_of(Arc::new(FakeLeaf::default()), Arc::new(FakeSink::default())),
        "127.0.0.1:0",
        |_| {},
    );
    for method in ["GET", "PUT", "DELETE"] {
        let reply = server.request(method, "/v1/tables/a%20b/settings").body("{}").send();
        let problem = reply.problem(404, "unknown-table");
        assert_eq!(problem["hint"], "GET /v1/tables lists the tables");
    }
}

#[test]
fn losses_of_which_there_are_none_are_acknowledged() {
    let server = Server::start();
    let losses = server.request("DELETE", "/v1/losses").send().ok();
    assert_eq!((&losses["rows"], &losses["unknown_losses"]), (&json!(0), &json!(0)));
    server.request("DELETE", "/v1/losses?table=nope").send().problem(404, "unknown-table");
}
