//! Queries and batches find their table without asking the leaves, and see what was acknowledged.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use hadal_aggregate::Partial;
use hadal_peer::{BoxFuture, Peer, PeerStatus, StatusScope, TableBlocks, TableReport};
use hadal_query::Query;
use hadal_types::TableName;
use serde_json::json;

use crate::server::{Server, memory_app_behind};

/// Leaves, and the number of status requests to them.
struct Counting {
    leaves: Arc<dyn Peer>,
    statuses: Arc<AtomicUsize>,
}

impl Peer for Counting {
    fn query(&self, query: Arc<Query>, deadline: Instant) -> BoxFuture<'_, Partial> {
        self.leaves.query(query, deadline)
    }

    fn status<'a>(&'a self, scope: &'a StatusScope) -> BoxFuture<'a, PeerStatus> {
        self.statuses.fetch_add(1, Ordering::SeqCst);
        self.leaves.status(scope)
    }

    fn reports(&self, table: &TableName) -> Vec<TableReport> {
        self.leaves.reports(table)
    }

    fn blocks<'a>(&'a self, table: &'a TableName) -> BoxFuture<'a, TableBlocks> {
        self.leaves.blocks(table)
    }
}

/// A server over two leaves, and the number of status requests to them.
fn server() -> (Server, Arc<AtomicUsize>) {
    let statuses = Arc::<AtomicUsize>::default();
    let counting =
        |leaves| Arc::new(Counting { leaves, statuses: Arc::clone(&statuses) }) as Arc<dyn Peer>;
    let backend = memory_app_behind(None, counting);
    (Server::over(backend, "127.0.0.1:0", |_| {}), statuses)
}

#[test]
fn queries_and_batches_ask_no_leaf_for_its_tables() {
    let (server, statuses) = server();
    for number in 0..20 {
        let logged = server.log("t", &format!("{{\"c{number}\": {number}}}\n"));
        assert_eq!(logged["accepted"], 1);
        let sql = format!("SELECT count(*), max(c{number}) FROM t");
        assert_eq!(server.rows(&sql), json!([[number + 1, number]]), "the new column is there");
    }
    assert_eq!(server.sql("DESCRIBE t").ok()["rows"].as_array().map(Vec::len), Some(21));
    assert_eq!(statuses.load(Ordering::SeqCst), 0);
    // Another letter case, and a name that is nearly right.
    assert_eq!(server.rows("SELECT count(*) FROM T"), json!([[20]]));
    server.sql("SELECT count(*) FROM tt").problem(404, "unknown-table");
    assert!(statuses.load(Ordering::SeqCst) > 0);
}

#[test]
fn a_dropped_table_is_gone_at_once_and_begins_anew() {
    let (server, _) = server();
    for _ in 0..10 {
        // Enough batches for both leaves.
        (0..8).for_each(|number| drop(server.log("t", &format!("{{\"old\": {number}}}\n"))));
        assert_eq!(server.rows("SELECT count(*) FROM t"), json!([[8]]));
        assert_eq!(server.request("DELETE", "/v1/tables/t").send().ok()["rows"], 8);
        server.sql("SELECT count(*) FROM t").problem(404, "unknown-table");
        server.log("t", "{\"new\": 1}\n");
        server.sql("SELECT old FROM t").problem(400, "bad-query");
        assert_eq!(server.rows("SELECT new FROM t"), json!([[1]]));
        server.request("DELETE", "/v1/tables/t").send().ok();
    }
}
