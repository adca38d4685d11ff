//! The end of a server: running requests are finished, or get an error.

use std::io::Write;
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::Duration;

use hadal_types::limits;
use serde_json::json;

use crate::client::{Reply, Request, is_closed, read_reply};
use crate::fakes::{Act, FakeLeaf, FakeSink, over};
use crate::server::{Server, backend_of};

/// Rows that make a batch.
const BATCH: usize = limits::BLOCK_ROWS_MAX;

/// Queries with the longest deadline.
fn asking(address: SocketAddr, sql: &str) -> JoinHandle<Reply> {
    let body = json!({ "sql": sql, "deadline_ms": limits::QUERY_DEADLINE_MS_MAX }).to_string();
    let request = Request::new(address, "POST", "/v1/query").body(body);
    std::thread::spawn(|| request.send())
}

#[test]
fn a_server_that_stops_finishes_what_runs() {
    let (peer, events) = FakeLeaf::watched(Act::Wait);
    let mut server = over(Arc::clone(&peer), Vec::new());
    let asking = asking(server.address, "SELECT count(*) FROM t");
    let mut idle = TcpStream::connect(server.address).expect("a connection");
    assert_eq!(events.recv(), Ok("begun"));
    server.ask_to_stop();
    assert!(is_closed(&mut idle), "an idle connection is not waited for");
    assert!(TcpStream::connect(server.address).is_err(), "nobody listens any more");
    peer.word.notify_one();
    server.join();
    assert_eq!(asking.join().expect("no panic").status, 200);
}

#[test]
fn a_question_that_has_more_time_than_the_stop_is_told_so() {
    for sql in ["SELECT count(*) FROM t", "SUMMARIZE t"] {
        let (peer, events) = FakeLeaf::watched(Act::Hang);
        let backend = backend_of(peer, Arc::new(FakeSink::default()));
        let stopping_time = Duration::ZERO;
        let mut server =
            Server::over(backend, "127.0.0.1:0", |config| config.stopping_time = stopping_time);
        let asking = asking(server.address, sql);
        assert_eq!(events.recv(), Ok("begun"));
        server.join();
        // A request that is not answered by now never will be.
        drop(server);
        let reply = asking.join().expect("an answer");
        let problem = reply.problem(503, "unavailable");
        let detail = problem["detail"].as_str().unwrap_or_default();
        assert!(detail.contains("the server is stopping"), "{problem}");
        assert_eq!(reply.header("retry-after"), Some("1"));
        assert_eq!(events.recv(), Ok("dropped"), "the leaves need not go on");
    }
}

#[test]
fn a_body_that_does_not_end_is_told_what_was_taken_of_it() {
    let sink = Arc::new(FakeSink::default());
    let backend = backend_of(Arc::new(FakeLeaf::default()), Arc::clone(&sink) as _);
    let mut server = Server::over(backend, "127.0.0.1:0", |config| {
        config.stopping_time = Duration::ZERO;
    });
    let mut stream = TcpStream::connect(server.address).expect("a connection");
    let head = "PUT /v1/log/t HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n";
    stream.write_all(head.as_bytes()).expect("a head");
    // The last rows are in no batch yet.
    let rows = "{\"a\":1}\n".repeat(2 * BATCH - 1);
    stream.write_all(format!("{:x}\r\n{rows}\r\n", rows.len()).as_bytes()).expect("a chunk");
    while sink.rows.load(Ordering::SeqCst) < BATCH {
        std::thread::yield_now();
    }
    server.join();
    let problem = read_reply(&mut stream).problem(503, "unavailable");
    let detail = problem["detail"].as_str().unwrap_or_default();
    assert!(detail.contains("the server is stopping"), "{problem}");
    assert_eq!(problem["accepted"], BATCH);
    assert!(is_closed(&mut stream));
}
