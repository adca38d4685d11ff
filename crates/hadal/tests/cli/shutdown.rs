//! Stops that exceed their limit: no client waits for ever, every client gets an answer, and
//! nothing acknowledged is lost.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;

use rustix::process::Signal;

use crate::harness::Server;

/// The number of rows with a string each. Their bytes exceed the socket buffers of an answer that
/// is not read.
const ROWS: usize = 800;
const TEXT_BYTES: usize = 60_000;

/// A server that may take two seconds to stop: one until running requests are ended, and one more.
fn start(folder: &Path, more: &[&str]) -> Server {
    let flags = ["--data", folder.to_str().unwrap(), "--leaves", "2", "--stop-max", "2"];
    Server::start_with(&[&flags, more].concat())
}

/// Logs the rows.
fn fill(server: &Server) {
    let row = |n: usize| {
        format!("{{\"n\": {n}, \"s\": \"{}\"}}\n", format!("{n:06}").repeat(TEXT_BYTES / 6))
    };
    let rows: String = (0..ROWS).map(row).collect();
    assert_eq!(server.post("/v1/log/t", "all", &rows), Some(true));
}

/// The server has all rows.
fn has_all(server: &Server) {
    let counted = server.query("SELECT count(*), sum(n) FROM t");
    assert_eq!(counted, [format!("{ROWS},{}", ROWS * (ROWS - 1) / 2)]);
}

/// Sends this head and body, and reads the beginning of the response, which must be `answer`.
fn send(server: &Server, head: &str, rest: &str, answer: &str) -> TcpStream {
    let address = server.url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "{head}\r\nHost: {address}\r\n\r\n{rest}").unwrap();
    let mut read = vec![0; answer.len()];
    stream.read_exact(&mut read).unwrap();
    assert_eq!(String::from_utf8(read).unwrap(), answer);
    stream
}

/// A client that queries all strings and does not read the answer.
fn does_not_read(server: &Server) -> TcpStream {
    let body = "{\"sql\": \"SELECT s FROM t\"}";
    let head = format!("POST /v1/query HTTP/1.1\r\nContent-Length: {}", body.len());
    send(server, &head, body, "HTTP/1.1 200 OK\r\n")
}

/// A client that does not send its rows; the server has said that it waits for them.
fn does_not_send(server: &Server) -> TcpStream {
    let head = "POST /v1/log/t HTTP/1.1\r\nContent-Length: 9\r\nExpect: 100-continue";
    send(server, head, "", "HTTP/1.1 100 Continue\r\n")
}

/// The rest of the response.
fn rest(mut stream: TcpStream) -> String {
    let mut rest = Vec::new();
    // A connection that is cut off may end in an error: only the received bytes count.
    let _ = stream.read_to_end(&mut rest);
    String::from_utf8_lossy(&rest).into_owned()
}

#[test]
fn a_stop_does_not_wait_for_ever_for_a_client_that_does_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let server = start(folder.path(), &[]);
    fill(&server);
    let reader = does_not_read(&server);
    let sender = does_not_send(&server);
    server.process.send(Signal::TERM);
    let answer = rest(sender);
    assert!(
        answer.contains("HTTP/1.1 503 ") && answer.contains("the server is stopping"),
        "{answer}"
    );
    server.process.wait_for_error("the stop takes longer than 2 s");
    assert_eq!(server.process.wait().code(), Some(3));
    drop(reader);
    has_all(&start(folder.path(), &[]));
}

#[test]
fn a_successor_follows_a_server_whose_stop_takes_too_long() {
    let folder = tempfile::tempdir().unwrap();
    let before = start(folder.path(), &[]);
    fill(&before);
    let reader = does_not_read(&before);
    let listen = before.url.strip_prefix("http://").unwrap();
    let server = start(folder.path(), &["--listen", listen, "--take-over"]);
    assert_eq!(before.process.wait().code(), Some(3));
    assert_eq!(server.url, before.url);
    has_all(&server);
    drop(reader);
}
