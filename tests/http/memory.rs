//! The memory of queries is freed however a query ends, as the server's own metrics show.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use hadal_aggregate::Partial;
use hadal_frontend::MemoryUse;
use hadal_peer::{BoxFuture, Peer, PeerStatus, StatusScope, TableBlocks, TableReport};
use hadal_query::Query;
use hadal_types::{TableName, limits};
use serde_json::json;

use crate::client::{Request, read_reply};
use crate::server::{Server, memory_app_behind};

/// Rows of the table, each in its own group.
const ROWS: usize = 40_000;
/// Longer than anything that a test waits for.
const PATIENCE: Duration = Duration::from_secs(60);

/// What happens to the leaves' partial answers, which hold memory.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Act {
    Pass,
    /// They wait for ever, and hold their memory.
    Keep,
    /// Some of the rows are reported as missing.
    Miss,
}

/// A peer in front of the tree over the leaves.
struct Between {
    tree: Arc<dyn Peer>,
    act: Arc<Mutex<Act>>,
    /// Receives a message when a partial answer is kept.
    kept: Mutex<Sender<()>>,
}

impl Peer for Between {
    fn query(&self, query: Arc<Query>, deadline: Instant) -> BoxFuture<'_, Partial> {
        Box::pin(async move {
            let mut partial = self.tree.query(query, deadline).await;
            assert!(partial.reservation.bytes() > 0, "it holds something");
            let act = *self.act.lock().expect("no panic");
            match act {
                Act::Pass => {}
                Act::Keep => {
                    self.kept.lock().expect("no panic").send(()).expect("somebody listens");
                    std::future::pending::<()>().await;
                }
                Act::Miss => partial.coverage.rows_expected += 1,
            }
            partial
        })
    }

    fn status<'a>(&'a self, scope: &'a StatusScope) -> BoxFuture<'a, PeerStatus> {
        self.tree.status(scope)
    }

    fn reports(&self, table: &TableName) -> Vec<TableReport> {
        self.tree.reports(table)
    }

    fn blocks<'a>(&'a self, table: &'a TableName) -> BoxFuture<'a, TableBlocks> {
        self.tree.blocks(table)
    }
}

/// A server whose `/metrics` shows the memory of queries.
struct Bed {
    server: Server,
    act: Arc<Mutex<Act>>,
    kept: Receiver<()>,
}

impl Bed {
    fn new() -> Self {
        let (sender, kept) = channel();
        let act = Arc::new(Mutex::new(Act::Pass));
        let shared_act = Arc::clone(&act);
        let between = |tree| -> Arc<dyn Peer> {
            Arc::new(Between { tree, act: shared_act, kept: Mutex::new(sender) })
        };
        let mut backend = memory_app_behind(None, between);
        let budget = Arc::clone(backend.root.budget());
        backend.memory = Arc::new(move || MemoryUse {
            queries: budget.reserved() as u64,
            ..MemoryUse::default()
        });
        let server = Server::over(backend, "127.0.0.1:0", |_| {});
        // The sum of all is beyond a double.
        let row = |row: usize| format!("{{\"id\":\"id-{row}-{}\",\"n\":1e308}}\n", "x".repeat(200));
        server.log("t", &(0..ROWS).map(row).collect::<String>());
        Self { server, act, kept }
    }

    fn set(&self, act: Act) {
        *self.act.lock().expect("no panic") = act;
    }

    fn asking(&self, sql: &str, deadline_ms: u64) -> Request {
        let body = json!({ "sql": sql, "deadline_ms": deadline_ms }).to_string();
        self.server.request("POST", "/v1/query").body(body)
    }

    /// A connection on which a query was sent, and from which nothing was read.
    fn asked(&self, sql: &str) -> TcpStream {
        let body = json!({ "sql": sql, "deadline_ms": limits::QUERY_DEADLINE_MS_MAX }).to_string();
        let mut stream = TcpStream::connect(self.server.address).expect("a connection");
        let head = "POST /v1/query HTTP/1.1\r\nHost: localhost\r\n";
        let request = format!("{head}Content-Length: {}\r\n\r\n{body}", body.len());
        stream.write_all(request.as_bytes()).expect("sent");
        stream
    }

    /// Bytes that queries hold, from the metrics.
    fn held(&self) -> u64 {
        let metrics = self.server.get("/metrics").text();
        let name = "\nhadal_memory_query_bytes ";
        let (_, rest) = metrics.split_once(name).expect("a line of metrics");
        rest.lines().next().and_then(|bytes| bytes.parse().ok()).expect("a number")
    }

    /// Waits until queries hold nothing, since connections may end a little later.
    #[track_caller]
    fn assert_free(&self, after: &str) {
        let begun = Instant::now();
        while self.held() > 0 {
            assert!(begun.elapsed() < PATIENCE, "{} bytes are held {after}", self.held());
        }
    }
}

const ALL: &str = "SELECT id, count(*) FROM t GROUP BY id";

#[test]
fn whatever_way_a_query_ends_it_holds_nothing_afterwards() {
    let bed = Bed::new();
    let hour = 3_600_000.min(limits::QUERY_DEADLINE_MS_MAX);
    bed.assert_free("before any was asked");

    bed.asking(ALL, hour).send().ok();
    bed.assert_free("by one that was answered");
    let few = format!("{ALL} ORDER BY id LIMIT 3");
    bed.asking(&few, hour).send().ok();
    bed.assert_free("by one with a small answer");
    bed.asking("SELECT * FROM t", hour).send().ok();
    bed.assert_free("by one for raw rows");

    bed.asking("SELECT sum(n) FROM t", hour).send().problem(422, "limit");
    bed.assert_free("by one that failed");

    bed.set(Act::Miss);
    let all_rows = json!({ "table": "t", "group_by": "id", "aggregates": "count(*)", "require_complete": true });
    let body = json!({ "query": all_rows }).to_string();
    let refused = bed.server.request("POST", "/v1/query").body(body).send();
    refused.problem(503, "incomplete");
    bed.assert_free("by one that wanted all rows");

    bed.set(Act::Keep);
    let late = bed.asking(ALL, 2_000).send();
    late.problem(504, "late");
    bed.kept.recv_timeout(PATIENCE).expect("it held something by then");
    bed.assert_free("by one that was late");

    let cancelled = bed.asked(ALL);
    bed.kept.recv_timeout(PATIENCE).expect("it is kept");
    assert!(bed.held() > 0, "while somebody waits");
    drop(cancelled);
    bed.assert_free("by one whose client went away while it ran");

    bed.set(Act::Pass);
    let mut unread = bed.asked("SELECT * FROM t");
    let mut status = [0; 12];
    unread.read_exact(&mut status).expect("the head of an answer");
    assert_eq!(&status, b"HTTP/1.1 200");
    assert!(bed.held() > 0, "while the answer is not read");
    drop(unread);
    bed.assert_free("by one whose client went away while it was answered");

    // A connection that stays open holds nothing either, once its answer is read.
    let mut stays = bed.asked(ALL);
    read_reply(&mut stays).ok();
    bed.assert_free("by a connection that stays");
}
