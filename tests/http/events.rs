//! Answers as server-sent events: what a client learns of a query that takes long.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Instant;

use hadal_aggregate::{Coverage, LeafCoverage, LeafOutcome, Partial};
use hadal_peer::{BoxFuture, Peer, PeerStatus, StatusScope, TableBlocks, TableReport};
use hadal_query::Query;
use hadal_tree::{Aggregator, ExpectedRows};
use hadal_types::{LeafName, TableName, limits};
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::fakes::{Act, FakeLeaf, over};
use crate::server::{Server, memory_app_behind, memory_backend};

const NAME: &str = "frozen";

/// A leaf with two rows, which answers without them after a notification.
struct Frozen(Arc<Notify>);

impl Peer for Frozen {
    fn query(&self, query: Arc<Query>, _deadline: Instant) -> BoxFuture<'_, Partial> {
        Box::pin(async move {
            self.0.notified().await;
            let leaf = LeafCoverage {
                name: LeafName(NAME.into()),
                outcome: LeafOutcome::Answered,
                rows_expected: 2,
                rows_scanned: 2,
                micros: 1,
                as_of: (0, 0),
            };
            Partial { coverage: Coverage::of_leaf(leaf, true), ..Partial::empty(&query) }
        })
    }

    fn status<'a>(&'a self, _scope: &'a StatusScope) -> BoxFuture<'a, PeerStatus> {
        Box::pin(async { PeerStatus::default() })
    }

    fn reports(&self, _table: &TableName) -> Vec<TableReport> {
        Vec::new()
    }

    fn blocks<'a>(&'a self, _table: &'a TableName) -> BoxFuture<'a, TableBlocks> {
        Box::pin(async { TableBlocks::default() })
    }
}

/// A server over two leaves that answer and one that waits for the notification.
fn server_with_frozen() -> (Server, Arc<Notify>) {
    let word = Arc::new(Notify::new());
    let backend = memory_app_behind(None, |tree| {
        let frozen = LeafName(NAME.into());
        let expected_rows = Arc::new(ExpectedRows::default());
        expected_rows.set(&frozen, &TableName::new("t").expect("a name"), 2);
        let names = ["leaf-0", "leaf-1"].map(|name| LeafName(name.into()));
        let all = Aggregator::over(tree, names.to_vec(), &expected_rows);
        all.join(Arc::new(Frozen(Arc::clone(&word))), vec![frozen]);
        Arc::new(all)
    });
    (Server::over(backend, "127.0.0.1:0", |_| {}), word)
}

/// The events of an answer, as they come.
struct Events {
    reader: BufReader<TcpStream>,
    /// What was received and is not an event yet.
    text: String,
}

impl Events {
    /// Sends a query, and reads the head of its answer.
    fn begin(server: &Server, sql: &str) -> Self {
        let mut stream = TcpStream::connect(server.address).expect("a connection");
        let deadline_ms = limits::QUERY_DEADLINE_MS_MAX;
        let body = json!({ "sql": sql, "deadline_ms": deadline_ms }).to_string();
        let head = "POST /v1/query HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n";
        let request = format!("{head}Content-Length: {}\r\n\r\n{body}", body.len());
        stream.write_all(request.as_bytes()).expect("sent");
        let mut events = Self { reader: BufReader::new(stream), text: String::new() };
        let lines = std::iter::repeat_with(|| events.line());
        let head: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
        assert_eq!(head[0], "HTTP/1.1 200 OK");
        assert!(head.contains(&"content-type: text/event-stream".to_owned()), "{head:?}");
        events
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        assert!(self.reader.read_line(&mut line).expect("a line") > 0, "the answer breaks off");
        line.trim_end().to_owned()
    }

    /// The bytes of the next chunk; nothing at the end of the body.
    fn chunk(&mut self) -> String {
        let length = usize::from_str_radix(&self.line(), 16).expect("a length");
        let mut bytes = vec![0; length + 2];
        self.reader.read_exact(&mut bytes).expect("a chunk");
        bytes.truncate(length);
        String::from_utf8(bytes).expect("UTF-8")
    }

    /// The next event: its name and its data.
    fn next(&mut self) -> (String, Value) {
        loop {
            if let Some((event, rest)) = self.text.split_once("\n\n") {
                let event = event.strip_prefix("event: ").expect("a name");
                let (name, data) = event.split_once("\ndata: ").expect("data");
                let event = (name.to_owned(), serde_json::from_str(data).expect("JSON"));
                self.text = rest.to_owned();
                return event;
            }
            let chunk = self.chunk();
            assert!(!chunk.is_empty(), "the answer ends");
            self.text.push_str(&chunk);
        }
    }
}

#[test]
fn a_slow_leaf_does_not_hide_what_others_answered() {
    let (server, word) = server_with_frozen();
    server.log("t", "{\"a\":1}\n{\"a\":2}\n{\"a\":3}\n");
    let mut events = Events::begin(&server, "SELECT count(*) FROM t");
    let (name, progress) = events.next();
    assert_eq!(name, "progress");
    assert_eq!((&progress["leaves_answered"], &progress["leaves_asked"]), (&json!(2), &json!(3)));
    assert_eq!((&progress["rows_scanned"], &progress["rows_expected"]), (&json!(3), &json!(5)));
    let micros = progress["elapsed_micros"].as_u64().expect("a number");
    assert!(micros >= limits::QUERY_UPDATE_MS * 1_000, "{micros}");
    let (name, partial) = events.next();
    assert_eq!((name.as_str(), &partial["rows"]), ("partial", &json!([[3]])));
    let coverage = &partial["coverage"];
    assert_eq!((&coverage["rows_scanned"], &coverage["fraction"]), (&json!(3), &json!(0.6)));
    let leaf = &coverage["leaves"][0];
    assert_eq!((&leaf["name"], &leaf["outcome"]), (&json!(NAME), &json!("late")));
    // The same partial answer is not sent again.
    assert_eq!(events.next().0, "progress");
    assert_eq!(events.next().0, "progress");
    word.notify_one();
    let (name, answer) = loop {
        let event = events.next();
        if event.0 != "progress" {
            break event;
        }
    };
    assert_eq!((name.as_str(), &answer["rows"]), ("answer", &json!([[3]])));
    assert_eq!(answer["coverage"]["fraction"], json!(1.0));
    assert!(events.text.is_empty());
    assert!(events.chunk().is_empty(), "the end of the body");
}

#[test]
fn a_short_query_has_an_answer_or_a_problem_only() {
    let server = Server::over(memory_backend(None), "127.0.0.1:0", |_| {});
    server.log("t", "{\"a\":1}\n");
    let (name, answer) = Events::begin(&server, "SELECT a FROM t").next();
    assert_eq!((name.as_str(), &answer["rows"]), ("answer", &json!([[1]])));
    let ask = |sql: &str| {
        let body = json!({ "sql": sql }).to_string();
        let request = server.request("POST", "/v1/query").body(body);
        request.header("Accept", "text/event-stream").send()
    };
    assert_eq!(ask("SELECT a FROM t").header("content-type"), Some("text/event-stream"));
    ask("SELEC").problem(400, "bad-query");
    ask("SELECT a FROM no_table").problem(404, "unknown-table");
}

#[test]
fn a_client_that_goes_cancels_its_query() {
    let (peer, calls) = FakeLeaf::watched(Act::Hang);
    let server = over(peer, Vec::new());
    let mut events = Events::begin(&server, "SELECT count(*) FROM t");
    assert_eq!(events.next().0, "progress");
    assert_eq!(calls.recv(), Ok("begun"));
    drop(events);
    assert_eq!(calls.recv(), Ok("dropped"));
}
