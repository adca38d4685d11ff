//! The store of definitions is down: rows and queries continue, changes fail by name, and the
//! status says so.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hadal_definitions::{
    AllTableSettings, DefinitionStore, Definitions, DefinitionsError, FollowedDefinitions,
    Revocation, StoreFuture, Versioned,
};
use hadal_frontend::Backend;
use hadal_types::limits::NAME_BYTES_MAX;
use hadal_types::{BatchId, Document, DocumentKind, LeafName, TableName, TableSettings};
use serde_json::json;

use crate::server::{Server, memory_backend, no_definitions};

const ROW: &str = "{\"time\": \"2026-11-21T11:00:00Z\", \"a\": 1}\n";

/// A store on another member that may be away.
struct Member {
    store: Arc<Definitions>,
    is_away: AtomicBool,
}

impl Member {
    fn ask<'a, T: 'a>(&'a self, request: StoreFuture<'a, T>) -> StoreFuture<'a, T> {
        let is_away = self.is_away.load(Ordering::SeqCst);
        let (member, reason) = (LeafName("m1".into()), "the connection was refused".to_owned());
        let away = DefinitionsError::MemberAway { member, reason };
        if is_away { Box::pin(async { Err(away) }) } else { request }
    }

    fn store(&self) -> &dyn DefinitionStore {
        &*self.store
    }
}

impl DefinitionStore for Member {
    fn version(&self) -> StoreFuture<'_, i64> {
        self.ask(self.store().version())
    }

    fn table_settings<'a>(
        &'a self,
        table: &'a TableName,
    ) -> StoreFuture<'a, Option<Versioned<TableSettings>>> {
        self.ask(self.store().table_settings(table))
    }

    fn all_table_settings(&self) -> StoreFuture<'_, AllTableSettings> {
        self.ask(self.store().all_table_settings())
    }

    fn add_table_settings<'a>(
        &'a self,
        tables: &'a [(TableName, TableSettings)],
    ) -> StoreFuture<'a, ()> {
        self.ask(self.store().add_table_settings(tables))
    }

    fn set_table_settings<'a>(
        &'a self,
        table: &'a TableName,
        based_on: i64,
        settings: &'a TableSettings,
    ) -> StoreFuture<'a, i64> {
        self.ask(self.store().set_table_settings(table, based_on, settings))
    }

    fn remove_table_settings<'a>(
        &'a self,
        table: &'a TableName,
        based_on: Option<i64>,
    ) -> StoreFuture<'a, bool> {
        self.ask(self.store().remove_table_settings(table, based_on))
    }

    fn remove_function<'a>(&'a self, name: &'a str) -> StoreFuture<'a, bool> {
        self.ask(DefinitionStore::remove_function(self.store(), name))
    }

    fn document<'a>(
        &'a self,
        kind: DocumentKind,
        name: &'a str,
    ) -> StoreFuture<'a, Option<Versioned<Document>>> {
        self.ask(DefinitionStore::document(self.store(), kind, name))
    }

    fn remove_document<'a>(
        &'a self,
        kind: DocumentKind,
        name: &'a str,
        based_on: Option<i64>,
    ) -> StoreFuture<'a, bool> {
        self.ask(DefinitionStore::remove_document(self.store(), kind, name, based_on))
    }

    fn record_revocation<'a>(&'a self, revocation: &'a Revocation) -> StoreFuture<'a, Revocation> {
        self.ask(self.store().record_revocation(revocation))
    }

    fn note_held<'a>(
        &'a self,
        table: &'a TableName,
        batch: &'a BatchId,
        leaf: &'a LeafName,
    ) -> StoreFuture<'a, ()> {
        self.ask(self.store().note_held(table, batch, leaf))
    }

    fn revocations_of<'a>(
        &'a self,
        leaf: &'a LeafName,
        after: Option<&'a (TableName, BatchId)>,
    ) -> StoreFuture<'a, Vec<Revocation>> {
        self.ask(self.store().revocations_of(leaf, after))
    }

    fn remove_revocations<'a>(&'a self, revocations: &'a [Revocation]) -> StoreFuture<'a, ()> {
        self.ask(self.store().remove_revocations(revocations))
    }
}

/// A server whose definitions are on another member.
struct Scene {
    member: Arc<Member>,
    followed: Arc<FollowedDefinitions>,
    server: Server,
}

impl Scene {
    fn new() -> Self {
        let member = Arc::new(Member { store: no_definitions(), is_away: AtomicBool::new(false) });
        Self::over(member, memory_backend(None))
    }

    fn over(member: Arc<Member>, mut backend: Backend) -> Self {
        let followed = Arc::new(FollowedDefinitions::new(Arc::clone(&member) as _));
        backend.definitions = Arc::clone(&followed) as _;
        let server = Server::over(backend, "127.0.0.1:0", |_| {});
        Self { member, followed, server }
    }

    /// Lets the member go away or come back; the server has noticed it afterwards.
    fn set_away(&self, is_away: bool) {
        self.member.is_away.store(is_away, Ordering::SeqCst);
        let polled = crate::server::runtime().block_on(self.followed.poll());
        assert_eq!(polled.is_err(), is_away);
    }

    fn put(&self, table: &str, version: i64) -> crate::client::Reply {
        let body = json!({ "version": version, "settings": { "age": "7d" } }).to_string();
        self.server.request("PUT", &format!("/v1/tables/{table}/settings")).body(body).send()
    }
}

#[test]
fn rows_and_queries_go_on_and_changes_fail_by_name() {
    let scene = Scene::new();
    scene.server.log("t", ROW);
    scene.set_away(false);
    let version = scene.server.get("/v1/tables/t/settings").ok()["version"].as_i64();
    scene.set_away(true);
    scene.server.log("t", ROW);
    scene.server.log("new", ROW);
    assert_eq!(scene.server.rows("SELECT count(*) FROM t"), json!([[2]]));
    assert_eq!(scene.server.rows("SELECT count(*) FROM new"), json!([[1]]));
    let away = "the definitions are on m1, which cannot be reached (the connection was refused): \
                start m1 again";
    let status = scene.server.get("/v1/status").ok();
    let damage = format!("{away}; until then settings of tables cannot be changed");
    assert_eq!(status["damage"], json!([damage]));
    let problem = scene.put("t", version.expect("a version")).problem(503, "unavailable");
    assert_eq!(problem["detail"], away);
    scene.set_away(false);
    assert_eq!(scene.server.get("/v1/status").ok()["damage"], json!([]));
    scene.put("t", version.expect("a version")).ok();
    // The table that began meanwhile gets its settings with the next rows.
    scene.server.log("new", ROW);
    assert!(scene.server.get("/v1/tables/new/settings").ok()["version"].as_i64() > Some(0));
}

/// PostgreSQL refuses a text with a null character, so no store is asked for such a name.
#[test]
fn names_that_nothing_can_have_are_unknown_whatever_the_store_says() {
    let scene = Scene::new();
    scene.set_away(true);
    scene.server.get("/v1/views/v").problem(503, "unavailable");
    let long = "x".repeat(NAME_BYTES_MAX + 1);
    for name in ["%00", "a%0A", "%20a", "a%2Fb", &long] {
        for kind in ["dashboards", "views", "snapshots"] {
            let path = format!("/v1/{kind}/{name}");
            scene.server.get(&path).problem(404, "unknown-document");
            scene.server.request("DELETE", &path).send().problem(404, "unknown-document");
        }
        let path = format!("/v1/functions/{name}");
        scene.server.get(&path).problem(404, "unknown-function");
        scene.server.request("DELETE", &path).send().problem(404, "unknown-function");
        for path in ["", "/columns", "/settings", "/blocks"] {
            let path = format!("/v1/tables/{name}{path}");
            scene.server.get(&path).problem(404, "unknown-table");
        }
        let path = format!("/v1/tables/{name}/settings");
        scene.server.request("DELETE", &path).send().problem(404, "unknown-table");
    }
}

#[test]
fn a_server_that_never_reached_the_store_goes_by_what_leaves_know() {
    let backend = memory_backend(None);
    let first = Scene::over(
        Arc::new(Member { store: no_definitions(), is_away: AtomicBool::new(false) }),
        backend.clone(),
    );
    first.server.log("t", ROW);
    first.put("t", first.server.get("/v1/tables/t/settings").ok()["version"].as_i64().unwrap_or(0));
    let second = Scene::over(Arc::clone(&first.member), backend);
    second.set_away(true);
    second.server.log("t", ROW);
    assert_eq!(second.server.rows("SELECT count(*) FROM t"), json!([[2]]));
    // Its age limit, which nobody but the leaves could say.
    let old = "{\"time\": \"2026-11-11T12:00:00Z\", \"a\": 2}\n";
    let logged = second.server.request("POST", "/v1/log/t").body(old).send().ok();
    assert_eq!(logged["rejected_count"], 1, "{logged}");
    let refused = second.server.request("POST", "/v1/log/unknown").body(ROW).send();
    refused.problem(503, "unavailable");
}
