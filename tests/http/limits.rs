//! Limits of the HTTP API: a request at the limit passes, one beyond it fails cleanly.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use hadal_types::limits;
use serde_json::json;

use crate::client::{is_closed, read_reply};
use crate::openapi;
use crate::server::Server;

/// The text, padded with spaces.
fn pad(text: &str, length: usize) -> String {
    text.to_owned() + &" ".repeat(length - text.len())
}

#[test]
fn sql_has_a_length() {
    let server = Server::start();
    let padded = |length: usize| pad("SELECT 1", length);
    assert_eq!(server.sql(&padded(limits::SQL_BYTES_MAX)).status, 200);
    server.sql(&padded(limits::SQL_BYTES_MAX + 1)).problem(413, "too-large");
}

#[test]
fn the_body_of_a_query_has_a_length() {
    let server = Server::start();
    let padded = |length: usize| pad("{\"sql\": \"SELECT 1\"}", length);
    let post = |body: String| server.request("POST", "/v1/query").body(body).send();
    assert_eq!(post(padded(limits::QUERY_BODY_BYTES_MAX)).status, 200);
    post(padded(limits::QUERY_BODY_BYTES_MAX + 1)).problem(413, "too-large");
}

#[test]
fn a_head_has_a_length() {
    let server = Server::start();
    let with = |length: usize| {
        let mut stream = TcpStream::connect(server.address).expect("a connection");
        let value = "x".repeat(length);
        let head = format!("GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Long: {value}\r\n\r\n");
        let _ = stream.write_all(head.as_bytes());
        read_reply(&mut stream).status
    };
    assert_eq!(with(limits::HEADER_BYTES_MAX / 2), 200);
    assert_eq!(with(limits::HEADER_BYTES_MAX + 1), 431);
    assert_eq!(server.get("/healthz").status, 200);
}

#[test]
fn connections_beyond_the_limit_are_told_to_come_back() {
    let server = Server::with(|config| config.connections_max = 3);
    let mut open: Vec<TcpStream> = (0..3)
        .map(|_| {
            let mut stream = TcpStream::connect(server.address).expect("a connection");
            ask(&mut stream);
            stream
        })
        .collect();
    let mut beyond = TcpStream::connect(server.address).expect("a connection");
    let reply = read_reply(&mut beyond);
    reply.problem(503, "unavailable");
    assert!(is_closed(&mut beyond));
    // The other connections are served as before, and closing one makes room for another.
    for stream in &mut open {
        ask(stream);
    }
    drop(open.pop());
    let served = std::iter::repeat_with(|| server.get("/healthz").status);
    assert!(served.take(10_000).any(|status| status == 200));
}

/// A refused connection holds a file while its answer is sent.
#[test]
fn not_all_who_are_too_many_are_told_at_once() {
    let server = Server::with(|config| config.connections_max = 1);
    let mut inside = TcpStream::connect(server.address).expect("a connection");
    ask(&mut inside);
    let connect = |_| TcpStream::connect(server.address).expect("a connection");
    let outside: Vec<TcpStream> = (0..5 * limits::REFUSALS_MAX).map(connect).collect();
    let first_byte = |mut stream: &TcpStream| stream.read(&mut [0]).unwrap_or(0);
    let refused = outside.iter().map(first_byte).sum::<usize>();
    assert!((limits::REFUSALS_MAX..outside.len()).contains(&refused), "{refused} were told");
    ask(&mut inside);
}

fn ask(stream: &mut TcpStream) {
    stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").expect("a request");
    assert_eq!(read_reply(stream).status, 200);
}

#[test]
fn a_line_has_a_length() {
    let server = Server::start();
    let line = |length: usize| {
        let around = "{\"a\":\"\"}".len();
        format!("{{\"a\":\"{}\"}}", "x".repeat(length - around))
    };
    let body = format!(
        "{}\n{}\n{{\"b\": 1}}\n",
        line(limits::LINE_BYTES_MAX),
        line(limits::LINE_BYTES_MAX + 1)
    );
    let logged = server.request("POST", "/v1/log/t").body(body).send().ok();
    assert_eq!(logged["accepted"], 2);
    assert_eq!(logged["rejected"][0]["line"], 2);
}

#[test]
fn an_answer_has_a_length() {
    let server = Server::start();
    let text = "x".repeat(limits::STRING_BYTES_MAX);
    let rows: String = (0..=1_024).map(|_| format!("{{\"a\":\"{text}\"}}\n")).collect();
    server.log("t", &rows);
    assert_eq!(server.sql("SELECT a FROM t LIMIT 900").status, 200);
    let problem = server.sql("SELECT a FROM t").problem(422, "limit");
    assert_eq!(problem["hint"].as_str().map(|hint| hint.contains("LIMIT")), Some(true));
}

#[test]
fn a_summary_looks_at_so_many_columns() {
    let server = Server::start();
    let fields: Vec<String> =
        (0..limits::SUMMARY_COLUMNS_MAX).map(|index| format!("\"c{index}\": {index}")).collect();
    server.log("t", &format!("{{{}}}", fields.join(",")));
    let answer = server.sql("SUMMARIZE t").ok();
    assert_eq!(answer["rows"].as_array().map(Vec::len), Some(limits::SUMMARY_COLUMNS_MAX));
    let warning = &answer["warnings"][0];
    assert_eq!((&warning["code"], &warning["count"]), (&json!("columns_left_out"), &json!(1)));
}

#[test]
fn many_large_questions_at_once_are_answered_in_time() {
    let server = Server::start();
    let row = |row: usize| {
        let values: Vec<String> =
            (0..8).map(|at| format!("\"c{at}\":{}", row * 7_919 + at)).collect();
        format!("{{{}}}\n", values.join(","))
    };
    server.log("t", &(0..100_000).map(row).collect::<String>());
    let deadline = Duration::from_millis(300);
    let sql = "SELECT *, c0 + c1, c2 * c3, c4 - c5 FROM t ORDER BY c7 * c6, c1";
    let body = json!({ "sql": sql, "deadline_ms": deadline.as_millis() }).to_string();
    let asked = |_| {
        let request = server.request("POST", "/v1/query").body(body.clone());
        std::thread::spawn(move || {
            let start = Instant::now();
            (request.send().status, start.elapsed())
        })
    };
    let asked: Vec<_> = (0..8).map(asked).collect();
    for asked in asked {
        let (status, took) = asked.join().expect("no panic");
        assert!([200, 504].contains(&status), "{status}");
        // All eight together need several times as much.
        assert!(took < deadline + Duration::from_secs(1), "{took:?}");
    }
}

/// A request whose body stops arriving, at each route that takes one.
#[test]
fn a_body_that_stops_coming_is_told_so_at_each_door() {
    let server = Server::with(|config| config.pace.stall_time = Duration::from_millis(50));
    for (method, path) in [
        ("POST", "/v1/log/t"),
        ("PUT", "/v1/log/t"),
        ("POST", "/v1/query"),
        ("PUT", "/v1/tables/t/settings"),
        ("PUT", "/v1/functions/f"),
        ("PUT", "/v1/dashboards/d"),
        ("PUT", "/v1/views/v"),
        ("POST", "/v1/snapshots"),
    ] {
        let mut stream = TcpStream::connect(server.address).expect("a connection");
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{{"
        )
        .expect("sent");
        let reply = read_reply(&mut stream);
        let problem = reply.problem(408, "stalled");
        assert_eq!(problem["detail"], "nothing came for 0.05 seconds", "{method} {path}");
        openapi::check(method, path, &reply);
        assert!(is_closed(&mut stream), "{method} {path}");
    }
}
