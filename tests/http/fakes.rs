//! Fake peers and sinks, and the server's reaction to them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use hadal_aggregate::{Coverage, LeafCoverage, LeafOutcome, Partial, QueryError, QueryErrorCode};
use hadal_peer::{
    Batch, BatchLookup, BoxFuture, LeafStatus, MemberState, Peer, PeerStatus, Receipt, Sink,
    SinkError, StatusScope, TableBlocks, TableReport, TableStatus,
};
use hadal_query::Query;
use hadal_types::{
    BatchId, ColumnName, ColumnPart, ColumnSchema, Kind, LeafName, LeafState, Logical, Micros,
};
use hadal_types::{TableName, TableSchema, limits};
use serde_json::json;
use tokio::sync::Notify;
use tokio::time::timeout_at;

use crate::server::{Server, backend_of};

/// A fake leaf's reaction to a query.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Act {
    /// It answers without rows.
    #[default]
    Answer,
    /// It is late.
    BeLate,
    /// It cannot be reached.
    BeDead,
    /// It never answers.
    Hang,
    /// It answers after a notification.
    Wait,
    /// It answers without some of its rows.
    AnswerPartly,
    /// It lacks the memory for an answer.
    ReachALimit,
    Panic,
}

/// A leaf with a table `t` of one string column `a`.
#[derive(Default)]
pub(crate) struct FakeLeaf {
    act: Act,
    /// Receives a message when a query begins, and when its future is dropped.
    sender: Option<Mutex<Sender<&'static str>>>,
    /// The notification for which `Act::Wait` waits.
    pub(crate) word: Notify,
    is_stopping: bool,
    /// The time that each query was given.
    given: Mutex<Vec<Duration>>,
}

struct Gone(Option<Sender<&'static str>>);

impl Drop for Gone {
    fn drop(&mut self) {
        if let Some(sender) = &self.0 {
            let _ = sender.send("dropped");
        }
    }
}

impl FakeLeaf {
    fn acting(act: Act) -> Arc<Self> {
        Arc::new(Self { act, ..Self::default() })
    }

    pub(crate) fn watched(act: Act) -> (Arc<Self>, Receiver<&'static str>) {
        let (sender, events) = channel();
        let sender = Some(Mutex::new(sender));
        (Arc::new(Self { act, sender, ..Self::default() }), events)
    }

    /// A leaf with one row in table `t`.
    fn leaf(&self) -> LeafStatus {
        let table = TableName::new("t").expect("a name");
        let column = |name: &str, kind, logical| ColumnSchema {
            name: ColumnName::new(name).expect("a name"),
            parts: vec![ColumnPart { kind, logical, rows: 1 }],
        };
        let schema = TableSchema {
            name: table.clone(),
            time_column: ColumnName::new("time").expect("a name"),
            columns: vec![
                column("a", Kind::String, Logical::Plain),
                column("time", Kind::Number, Logical::Time),
            ],
            rows: 1,
            time_range: Some((Micros(0), Micros(0))),
        };
        let status = TableStatus {
            schema: Arc::new(schema),
            blocks: 1,
            block_bytes: 1,
            raw_bytes: 1,
            dropped_rows: 0,
            dropped_bytes: 0,
            dropped_until: None,
            expired_rows: 0,
            expired_until: None,
            lost_rows: 0,
            waiting_rows: 0,
            state: LeafState::Alive,
            settings: None,
            expiry: None,
            archive_error: None,
        };
        LeafStatus {
            name: LeafName("fake".into()),
            state: MemberState::Announced(match self.is_stopping {
                true => LeafState::Prepare,
                false => LeafState::Alive,
            }),
            block_bytes: 1,
            tables: Arc::new([(table, Arc::new(status))].into()),
            losses: Vec::new(),
        }
    }
}

impl Peer for FakeLeaf {
    fn query(&self, query: Arc<Query>, _deadline: Instant) -> BoxFuture<'_, Partial> {
        self.given.lock().expect("no panic").push(query.deadline);
        let sender = self.sender.as_ref().map(|sender| sender.lock().expect("no panic").clone());
        if let Some(sender) = &sender {
            sender.send("begun").expect("somebody listens");
        }
        let gone = Gone(sender);
        Box::pin(async move {
            let _gone = gone;
            let outcome = match self.act {
                Act::Answer | Act::AnswerPartly | Act::ReachALimit => LeafOutcome::Answered,
                Act::BeDead => LeafOutcome::Dead,
                Act::BeLate => LeafOutcome::Late,
                Act::Hang => std::future::pending().await,
                Act::Wait => {
                    self.word.notified().await;
                    LeafOutcome::Answered
                }
                Act::Panic => panic!("a secret of the server"),
            };
            if self.act == Act::BeLate {
                let late = Instant::now() + query.deadline;
                let _ = timeout_at(late.into(), std::future::pending::<()>()).await;
            }
            let mut partial = Partial::empty(&query);
            let leaf = LeafCoverage {
                name: LeafName("fake".into()),
                outcome,
                rows_expected: if self.act == Act::AnswerPartly { 4 } else { 0 },
                rows_scanned: if self.act == Act::AnswerPartly { 3 } else { 0 },
                micros: 1,
                as_of: (0, 0),
            };
            partial.coverage = Coverage::of_leaf(leaf, true);
            if self.act == Act::ReachALimit {
                partial.fail(QueryError::new(QueryErrorCode::Memory, "a byte more is needed"));
            }
            partial
        })
    }

    fn status<'a>(&'a self, _scope: &'a StatusScope) -> BoxFuture<'a, PeerStatus> {
        Box::pin(async move { PeerStatus { leaves: vec![self.leaf()] } })
    }

    fn reports(&self, table: &TableName) -> Vec<TableReport> {
        let LeafStatus { name: leaf, tables, .. } = self.leaf();
        let status = tables.get(table).cloned();
        let (table, started, version) = (table.clone(), 1, 1);
        let (recovered_rows, accepted_rows) = (0, 0);
        vec![TableReport { leaf, table, started, version, recovered_rows, accepted_rows, status }]
    }

    fn blocks<'a>(&'a self, _table: &'a TableName) -> BoxFuture<'a, TableBlocks> {
        Box::pin(async { TableBlocks::default() })
    }
}

/// A sink that knows no batch, and an admin that drops no table and reports success otherwise.
macro_rules! nothing_but_batches {
    ($sink:ty) => {
        impl hadal_peer::Admin for $sink {
            fn apply(
                &self,
                change: hadal_peer::TableChange,
            ) -> hadal_peer::BoxFuture<'_, Result<u64, hadal_peer::SinkError>> {
                Box::pin(async move {
                    match change {
                        hadal_peer::TableChange::Drop { .. } => {
                            Err(hadal_peer::SinkError::Full("the disk".to_owned()))
                        }
                        _ => Ok(0),
                    }
                })
            }
        }
    };
}
pub(crate) use nothing_but_batches;

/// Accepts and discards batches, after a number of refusals.
#[derive(Default)]
pub(crate) struct FakeSink {
    pub(crate) rows: AtomicUsize,
    pub(crate) refusals: Mutex<Vec<SinkError>>,
    /// How often parts of a body other than its first are refused as busy.
    busy: AtomicUsize,
}

impl Sink for FakeSink {
    fn accept(&self, batch: Batch) -> BoxFuture<'_, Result<Receipt, SinkError>> {
        Box::pin(async move {
            if let Some(refusal) = self.refusals.lock().expect("no panic").pop() {
                return Err(refusal);
            }
            let less = |busy: usize| busy.checked_sub(1);
            let is_later = batch.id.as_str().contains('#');
            if is_later && self.busy.fetch_update(Ordering::SeqCst, Ordering::SeqCst, less).is_ok()
            {
                return Err(SinkError::Busy("the log".to_owned()));
            }
            self.rows.fetch_add(batch.rows, Ordering::SeqCst);
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

nothing_but_batches!(FakeSink);

/// A server over a fake leaf, whose sink refuses as given.
pub(crate) fn over(peer: Arc<FakeLeaf>, refusals: Vec<SinkError>) -> Server {
    let sink = FakeSink { refusals: Mutex::new(refusals), ..FakeSink::default() };
    Server::over(backend_of(peer, Arc::new(sink)), "127.0.0.1:0", |_| {})
}

#[test]
fn refusals_of_the_sink_have_their_statuses() {
    let id = BatchId::new("b").expect("an id");
    let table = TableName::new("t").expect("a name");
    let text = || "disk 7".to_owned();
    for (refusal, status, kind) in [
        (SinkError::Conflict { id: id.clone() }, 409, "batch-conflict"),
        (SinkError::Corrupt { id, table, reason: text() }, 400, "bad-batch"),
        (SinkError::Busy(text()), 429, "busy"),
        (SinkError::Limit(text()), 422, "limit"),
        (SinkError::Full(text()), 503, "unavailable"),
        (SinkError::Store(text()), 503, "unavailable"),
        (SinkError::Unavailable(text()), 503, "unavailable"),
        (SinkError::OutcomeUnknown(text()), 503, "unavailable"),
    ] {
        let server = over(Arc::default(), vec![refusal]);
        let log = || server.request("POST", "/v1/log/t").body("{\"a\": 1}").send();
        let reply = log();
        reply.problem(status, kind);
        assert_eq!(reply.header("retry-after").is_some(), [429, 503].contains(&status));
        assert_eq!(log().ok()["accepted"], 1, "the next one is taken");
    }
}

#[test]
fn the_rest_of_a_long_body_waits_for_a_busy_sink() {
    let sink = Arc::new(FakeSink { busy: 3.into(), ..FakeSink::default() });
    let backend = backend_of(Arc::new(FakeLeaf::default()), Arc::clone(&sink) as _);
    let server = Server::over(backend, "127.0.0.1:0", |_| {});
    let rows = 3 * 65_536;
    let logged = server.request("POST", "/v1/log/t").body("{\"a\":1}\n".repeat(rows)).send().ok();
    assert_eq!(logged["accepted"], rows);
    assert_eq!(sink.rows.load(Ordering::SeqCst), rows);
    assert_eq!(sink.busy.load(Ordering::SeqCst), 0);
}

/// Accepts all parts of a body but one, and answers the last one late.
#[derive(Default)]
struct Uneven {
    rows: AtomicUsize,
    /// Whether the refusal comes before the late answer.
    refuses_first: bool,
    /// Notified by the part that is to answer first.
    word: Notify,
}

impl Sink for Uneven {
    fn accept(&self, batch: Batch) -> BoxFuture<'_, Result<Receipt, SinkError>> {
        Box::pin(async move {
            let is_refused = batch.id.as_str().ends_with("#1");
            if !is_refused {
                self.rows.fetch_add(batch.rows, Ordering::SeqCst);
            }
            match (is_refused, batch.id.as_str().ends_with("#2")) {
                (false, false) => {}
                (refused, _) if refused == self.refuses_first => self.word.notify_one(),
                _ => self.word.notified().await,
            }
            match is_refused {
                true => Err(SinkError::Full("the disk".to_owned())),
                false => Ok(Receipt {
                    rows: batch.rows,
                    duplicate: false,
                    durable: true,
                    overflowing: false,
                    report: None,
                }),
            }
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

nothing_but_batches!(Uneven);

#[test]
fn rows_that_went_in_beside_a_refusal_are_counted() {
    for refuses_first in [true, false] {
        let sink = Arc::new(Uneven { refuses_first, ..Uneven::default() });
        let backend = backend_of(Arc::new(FakeLeaf::default()), Arc::clone(&sink) as _);
        let server = Server::over(backend, "127.0.0.1:0", |_| {});
        let body = "{\"a\":1}\n".repeat(3 * 65_536);
        let problem = server.request("POST", "/v1/log/t").body(body).send();
        let problem = problem.problem(503, "unavailable");
        assert_eq!(problem["accepted"], 2 * 65_536, "refused first: {refuses_first}");
        assert_eq!(sink.rows.load(Ordering::SeqCst), 2 * 65_536);
    }
}

#[test]
fn bad_rows_that_cannot_be_kept_are_a_warning() {
    let server = over(Arc::default(), vec![SinkError::Full("x".to_owned())]);
    let json = server.request("POST", "/v1/log/t").header("Content-Type", "application/json");
    let logged = json.body("nonsense\n").send().ok();
    assert_eq!(logged["rejected_count"], 1);
    let codes: Vec<_> = logged["warnings"].as_array().expect("warnings").iter().collect();
    assert!(codes.iter().any(|warning| warning["code"] == "rejects_not_kept"), "{codes:?}");
}

#[test]
fn a_table_that_cannot_be_dropped_says_so() {
    let server = over(Arc::default(), Vec::new());
    server.request("DELETE", "/v1/tables/t").send().problem(503, "unavailable");
}

#[test]
fn no_leaf_is_503_and_a_late_one_504() {
    let server = over(FakeLeaf::acting(Act::BeDead), Vec::new());
    server.sql("SELECT count(*) FROM t").problem(503, "unavailable");
    let server = over(FakeLeaf::acting(Act::BeLate), Vec::new());
    let body = json!({ "sql": "SELECT count(*) FROM t", "deadline_ms": 20 }).to_string();
    let reply = server.request("POST", "/v1/query").body(body).send();
    assert!(reply.problem(504, "late")["hint"].is_string());
}

#[test]
fn an_answer_without_some_rows_is_none_where_it_must_be_complete() {
    let server = over(FakeLeaf::acting(Act::AnswerPartly), Vec::new());
    let ask = |complete: bool| {
        let query = json!({
            "table": "t", "aggregates": "count(*)", "require_complete": complete,
        });
        let body = json!({ "query": query });
        server.request("POST", "/v1/query").body(body.to_string()).send()
    };
    assert_eq!(ask(false).ok()["coverage"]["fraction"], 0.75);
    let problem = ask(true).problem(503, "incomplete");
    assert!(problem["detail"].as_str().is_some_and(|text| text.contains("3 of 4")), "{problem}");
}

#[test]
fn a_limit_that_facts_of_columns_reach_is_told() {
    let server = over(FakeLeaf::acting(Act::ReachALimit), Vec::new());
    server.get("/v1/tables/t/columns/a/values").problem(422, "limit");
    server.sql("SELECT count(*) FROM t").problem(422, "limit");
}

#[test]
fn a_query_has_its_time_or_ten_seconds() {
    let peer = Arc::new(FakeLeaf::default());
    let server = over(Arc::clone(&peer), Vec::new());
    let ask = |more: &str| {
        let body = format!("{{\"sql\": \"SELECT count(*) FROM t\"{more}}}");
        server.request("POST", "/v1/query").body(body).send()
    };
    let (default, longest) = (limits::QUERY_DEADLINE_MS, limits::QUERY_DEADLINE_MS_MAX);
    for (more, millis) in [
        (String::new(), default),
        (format!(", \"deadline_ms\": {}", default + 5_000), default + 5_000),
        (format!(", \"deadline_ms\": {longest}"), longest),
    ] {
        ask(&more).ok();
        let given = peer.given.lock().expect("no panic").pop().expect("it was asked");
        // The time runs from the arrival of the query.
        let until = Duration::from_millis(millis);
        assert!(
            (until - Duration::from_secs(4)..=until).contains(&given),
            "{given:?} of {until:?}"
        );
    }
    for refused in [0, longest + 1] {
        ask(&format!(", \"deadline_ms\": {refused}")).problem(400, "bad-request");
    }
}

#[test]
fn a_server_without_a_leaf_that_is_alive_is_not_ready() {
    let peer = FakeLeaf { is_stopping: true, ..FakeLeaf::default() };
    let server = over(Arc::new(peer), Vec::new());
    server.get("/readyz").problem(503, "unavailable");
    assert_eq!(server.get("/healthz").status, 200);
}

#[test]
fn a_panic_is_an_answer_without_its_text() {
    let server = over(FakeLeaf::acting(Act::Panic), Vec::new());
    for _ in 0..2 {
        let reply = server.sql("SELECT count(*) FROM t");
        reply.problem(500, "internal");
        assert!(!reply.text().contains("secret"));
    }
    assert_eq!(server.get("/healthz").status, 200);
}

#[test]
fn whoever_hangs_up_cancels_the_query() {
    let (peer, events) = FakeLeaf::watched(Act::Hang);
    let server = over(peer, Vec::new());
    let mut stream = std::net::TcpStream::connect(server.address).expect("a connection");
    let body = "{\"sql\": \"SELECT count(*) FROM t\"}";
    let head = format!(
        "POST /v1/query HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    std::io::Write::write_all(&mut stream, (head + body).as_bytes()).expect("a request");
    assert_eq!(events.recv(), Ok("begun"));
    drop(stream);
    assert_eq!(events.recv(), Ok("dropped"));
}

#[test]
fn columns_are_told_before_their_facts_are_found() {
    let (peer, events) = FakeLeaf::watched(Act::Wait);
    let server = over(Arc::clone(&peer), Vec::new());
    let get = || server.get("/v1/tables/t/columns").ok();
    for _ in 0..2 {
        let page = get();
        assert_eq!((&page["complete"], &page["columns"][0]["name"]), (&json!(false), &json!("a")));
        assert_eq!(page["columns"][0]["distinct"], json!(null));
    }
    assert_eq!(events.try_recv(), Ok("begun"));
    assert!(events.try_recv().is_err(), "the second one left the search to the first");
    peer.word.notify_one();
    assert_eq!(events.recv(), Ok("dropped"));
    // The search has its result, and is about to publish it.
    let page = std::iter::repeat_with(get).take(1_000).find(|page| page["complete"] == true);
    assert_eq!(page.expect("facts")["columns"][0]["distinct"], 0);
    assert!(events.try_recv().is_err(), "an unchanged table is not searched again");
}
