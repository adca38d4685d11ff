//! The self tables.

use std::net::TcpStream;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use hadal_aggregate::Partial;
use hadal_frontend::Backend;
use hadal_peer::{
    Batch, BatchLookup, BoxFuture, MemberState, Peer, PeerStatus, Receipt, Sink, SinkError,
    StatusScope, TableBlocks, TableReport,
};
use hadal_query::Query;
use hadal_types::{BatchId, LeafState, TableName, limits};
use serde_json::json;
use tokio::sync::Semaphore;

use crate::client::ask_on;
use crate::fakes::{FakeLeaf, nothing_but_batches};
use crate::server::{Server, backend_of, memory_app_behind, memory_backend};

/// Returns another server of the same rows, after the one with the acts has stopped: then all self
/// tables are written.
fn after(backend: &Backend, acts: impl FnOnce(&Server)) -> Server {
    let mut server = Server::with_journal(backend);
    acts(&server);
    server.join();
    Server::with_journal(backend)
}

#[test]
fn questions_are_written_down_with_what_became_of_them() {
    let backend = memory_backend(None);
    let mut tables = 0;
    let server = after(&backend, |server| {
        server.log("t", "{\"n\": 1}\n{\"n\": 2}\n{\"n\": 3}\n");
        server.rows("SELECT n FROM t WHERE n > 1");
        server.sql("SELECT m FROM t").problem(400, "bad-query");
        // Earlier entries have created tables.
        tables = server.rows("SHOW TABLES").as_array().expect("tables").len();
        let body = json!({ "query": { "table": "t", "aggregates": "count(*)" } }).to_string();
        server.request("POST", "/v1/query").header("User-Agent", "a page").body(body).send().ok();
    });
    let select = "SELECT table, sql, outcome, rows, rows_matched, client FROM _queries \
                  ORDER BY outcome, sql DESC";
    assert_eq!(
        server.rows(select),
        json!([
            [null, "SHOW TABLES", "answered", tables, 0, null],
            ["t", "SELECT n FROM t WHERE n > 1", "answered", 2, 2, null],
            ["t", "SELECT count(*) FROM \"t\" GROUP BY ALL", "answered", 1, 3, "a page"],
            [null, "SELECT m FROM t", "bad-query", 0, 0, null],
        ])
    );
    // Queries of self tables are not recorded.
    assert_eq!(server.rows("SELECT count(*) FROM _queries"), json!([[4]]));
    let server = after(&backend, |_| {});
    assert_eq!(server.rows("SELECT count(*) FROM _queries"), json!([[4]]));
}

#[test]
fn a_question_without_an_answer_has_no_rows() {
    let backend = memory_backend(None);
    let server = after(&backend, |server| {
        server.log("t", "{\"n\": 1}\n");
        let body = json!({ "sql": "SELECT n FROM t", "deadline_ms": 0 }).to_string();
        server.request("POST", "/v1/query").body(body).send().problem(400, "bad-request");
        server.sql("SELECT n FROM t LIMIT 1 OFFSET -1").problem(400, "bad-query");
    });
    let noted = server.rows("SELECT outcome, rows FROM _queries");
    // JSON that is no query is not recorded.
    assert_eq!(noted, json!([["bad-query", 0]]));
}

#[test]
fn what_comes_in_is_added_up_by_table() {
    let backend = memory_backend(None);
    let mut bytes = 0;
    let server = after(&backend, |server| {
        for body in ["{\"n\": 1}\n", "{\"n\": 2}\n{\"n\": \n"] {
            bytes += body.len();
            server.request("POST", "/v1/log/t").body(body).send().ok();
        }
        let strict = server.request("POST", "/v1/log/t").header("Hadal-Strict", "true");
        strict.body("{\n").send().problem(422, "rows-rejected");
        bytes += 2;
        server.log("u", "{\"n\": 1}\n");
    });
    let select = "SELECT table, sum(bodies), sum(refused), sum(rows), sum(rejected), sum(bytes) \
                  FROM _ingest GROUP BY table ORDER BY table";
    assert_eq!(server.rows(select), json!([["t", 3, 1, 2, 1, bytes], ["u", 1, 0, 1, 0, 9]]));
}

#[test]
fn own_tables_are_small_unless_somebody_says_otherwise() {
    let backend = memory_backend(None);
    let server = after(&backend, |server| {
        server.log("t", "{\"n\": 1}\n");
        server.rows("SELECT n FROM t");
    });
    let effective = |table: &str| {
        let settings = server.get(&format!("/v1/tables/{table}/settings")).ok();
        settings["effective"]["bytes"].clone()
    };
    let limit = json!(hadal_types::limits::OWN_TABLE_BYTES);
    assert_eq!((effective("_queries"), effective("_ingest")), (limit.clone(), limit.clone()));
    assert_ne!(effective("t"), limit);
    server.request("DELETE", "/v1/tables/_queries/settings").send().ok();
    assert_eq!(effective("_queries"), limit);
}

#[test]
fn own_tables_are_not_among_what_leaves_are_said_to_have() {
    let backend = memory_backend(None);
    let acts = |server: &Server| {
        server.log("t", "{\"n\": 1}\n{\"n\": 2}\n{\"n\": 3}\n");
        server.rows("SELECT n FROM t");
    };
    drop(after(&backend, acts));
    // Now there are self tables, which the first row of each leaf could not count yet.
    let server = after(&backend, |server| drop(server.rows("SELECT n FROM t")));
    assert_eq!(server.rows("SELECT count(*) FROM _queries"), json!([[2]]));
    assert_eq!(server.rows("SELECT count(*) FROM t"), json!([[3]]));
    let leaves = server.rows(
        "SELECT leaf, min(rows), max(rows), max(tables) FROM _leaves GROUP BY leaf ORDER BY 3",
    );
    assert_eq!(leaves[1][1], 3, "{leaves}");
    assert_eq!((&leaves[0][2], &leaves[1][2], &leaves[1][3]), (&json!(0), &json!(3), &json!(1)));
}

/// Leaves in the state that the test gives.
struct Being {
    leaves: Arc<dyn Peer>,
    state: Arc<Mutex<LeafState>>,
}

impl Peer for Being {
    fn query(&self, query: Arc<Query>, deadline: Instant) -> BoxFuture<'_, Partial> {
        self.leaves.query(query, deadline)
    }

    fn status<'a>(&'a self, scope: &'a StatusScope) -> BoxFuture<'a, PeerStatus> {
        Box::pin(async {
            let mut status = self.leaves.status(scope).await;
            let state = *self.state.lock().expect("no panic");
            status.leaves.iter_mut().for_each(|leaf| leaf.state = MemberState::Announced(state));
            status
        })
    }

    fn reports(&self, table: &TableName) -> Vec<TableReport> {
        self.leaves.reports(table)
    }

    fn blocks<'a>(&'a self, table: &'a TableName) -> BoxFuture<'a, TableBlocks> {
        self.leaves.blocks(table)
    }
}

#[test]
fn a_leaf_that_is_recovered_is_told_as_such_before_anybody_asks() {
    let state = Arc::new(Mutex::new(LeafState::Alive));
    let being = |leaves| Arc::new(Being { leaves, state: Arc::clone(&state) }) as Arc<dyn Peer>;
    let backend = memory_app_behind(None, being);
    for now in [LeafState::Alive, LeafState::MemoryRecovery, LeafState::DiskRecovery] {
        *state.lock().expect("no panic") = now;
        let mut server = Server::with_journal(&backend);
        let status = server.get("/v1/status").ok();
        assert_eq!(status["leaves"][1]["state"], now.name(), "{status}");
        server.join();
    }
    let states =
        "SELECT state, count(DISTINCT leaf), count(*) FROM _leaves GROUP BY state ORDER BY state";
    let rows = Server::over(backend, "127.0.0.1:0", |_| {}).rows(states);
    assert_eq!(rows, json!([["disk recovery", 2, 2], ["memory recovery", 2, 2]]));
}

/// Accepts rows of `_queries` one batch per permit, and reports their number.
struct Slow {
    sender: Mutex<Sender<usize>>,
    turns: Semaphore,
}

impl Sink for Slow {
    fn accept(&self, batch: Batch) -> BoxFuture<'_, Result<Receipt, SinkError>> {
        Box::pin(async move {
            if batch.table.as_str() == "_queries" {
                self.sender.lock().expect("no panic").send(batch.rows).expect("somebody listens");
                self.turns.acquire().await.expect("it is open").forget();
            }
            Ok(Receipt {
                rows: batch.rows,
                duplicate: false,
                durable: true,
                overflowing: false,
                report: None,
            })
        })
    }

    fn look_up<'a>(
        &'a self,
        _table: &'a TableName,
        _id: &'a BatchId,
    ) -> BoxFuture<'a, BatchLookup> {
        Box::pin(async { BatchLookup::default() })
    }
}

nothing_but_batches!(Slow);

/// The number of notes that a server says it has lost.
fn lost(server: &Server) -> usize {
    let metrics = server.get("/metrics").text();
    let line = metrics.lines().find_map(|line| line.strip_prefix("hadal_notes_lost_total "));
    line.expect("a metric").parse().expect("a number")
}

#[test]
fn notes_for_which_there_is_no_room_are_counted() {
    let (sender, events) = channel();
    let sink = Arc::new(Slow { sender: Mutex::new(sender), turns: Semaphore::new(0) });
    let backend = backend_of(Arc::new(FakeLeaf::default()), Arc::clone(&sink) as _);
    let mut server = Server::with_journal(&backend);
    let mut stream = TcpStream::connect(server.address).expect("a connection");
    let body = json!({ "sql": "SELECT 1" }).to_string();
    let mut ask = |times: usize| {
        for _ in 0..times {
            ask_on(&mut stream, "POST", "/v1/query", &body).ok();
        }
    };
    ask(1);
    // Until this one is written, others wait.
    assert_eq!(events.recv(), Ok(1));
    ask(limits::JOURNAL_ROWS_MAX);
    sink.turns.add_permits(1);
    assert_eq!(events.recv(), Ok(limits::JOURNAL_ROWS_MAX));
    assert_eq!(lost(&server), 0, "there was room for all");
    ask(limits::JOURNAL_ROWS_MAX + 2);
    sink.turns.add_permits(2);
    assert_eq!(events.recv(), Ok(limits::JOURNAL_ROWS_MAX));
    assert_eq!(lost(&server), 2);
    server.join();
}

#[test]
fn long_texts_are_noted_up_to_their_length() {
    let backend = memory_backend(None);
    let server = after(&backend, |server| {
        server.log("t", "{\"n\": 1}\n");
        let text = "x".repeat(2 * limits::JOURNAL_SQL_BYTES);
        let sql = format!("SELECT n FROM t WHERE '{text}' <> ''");
        let body = json!({ "sql": sql }).to_string();
        let client = "c".repeat(2 * limits::JOURNAL_CLIENT_BYTES);
        server.request("POST", "/v1/query").header("User-Agent", &client).body(body).send().ok();
    });
    assert_eq!(
        server.rows("SELECT length(sql), length(client) FROM _queries"),
        json!([[limits::JOURNAL_SQL_BYTES, limits::JOURNAL_CLIENT_BYTES]])
    );
}
