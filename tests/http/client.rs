//! A client that sends exactly the given bytes, and reads answers exactly.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};

use serde_json::Value;

use crate::openapi;

/// An HTTP response.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
    /// The line after a body in chunks.
    pub(crate) trailer: Option<String>,
}

impl Reply {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (header, value) = line.split_once(':')?;
            header.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.body.clone()).expect("UTF-8")
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error} in {}\n{}", self.head, self.text()))
    }

    /// The JSON of a reply that must be a success.
    #[track_caller]
    pub(crate) fn ok(&self) -> Value {
        assert_eq!(self.status, 200, "{}", self.text());
        self.json()
    }

    /// The JSON of a reply that must be this problem.
    #[track_caller]
    pub(crate) fn problem(&self, status: u16, kind: &str) -> Value {
        let text = String::from_utf8_lossy(&self.body);
        assert_eq!(self.status, status, "{text}");
        assert_eq!(self.header("content-type"), Some("application/problem+json"));
        let problem = self.json();
        assert_eq!(problem["type"], format!("urn:hadal:problem:{kind}"), "{text}");
        assert_eq!(problem["status"], status);
        problem
    }
}

/// A request that is being built.
pub(crate) struct Request {
    address: SocketAddr,
    method: &'static str,
    path: String,
    host: String,
    headers: String,
    body: Vec<u8>,
}

impl Request {
    pub(crate) fn new(address: SocketAddr, method: &'static str, path: &str) -> Self {
        Self {
            address,
            method,
            path: path.to_owned(),
            host: address.to_string(),
            headers: String::new(),
            body: Vec::new(),
        }
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push_str(&format!("{name}: {value}\r\n"));
        self
    }

    pub(crate) fn host(mut self, host: &str) -> Self {
        self.host = host.to_owned();
        self
    }

    pub(crate) fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    /// Sends the request on its own connection, and reads the reply.
    #[track_caller]
    pub(crate) fn send(self) -> Reply {
        let mut stream = TcpStream::connect(self.address).expect("a connection");
        let head = format!(
            "{} {} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Length: {}\r\n{}\r\n",
            self.method,
            self.path,
            self.host,
            self.body.len(),
            self.headers
        );
        stream.write_all(head.as_bytes()).expect("a head sent");
        // A server that refuses may close the connection before it has read all of a long body.
        let _ = stream.write_all(&self.body);
        let reply = read_reply(&mut stream);
        openapi::check(self.method, &self.path, &reply);
        reply
    }
}

/// Sends a request on a connection that stays open, and reads the reply.
#[track_caller]
pub(crate) fn ask_on(stream: &mut TcpStream, method: &str, path: &str, body: &str) -> Reply {
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all((head + body).as_bytes()).expect("a request sent");
    read_reply(stream)
}

/// Reads one reply, up to the end that its length gives.
#[track_caller]
pub(crate) fn read_reply(stream: &mut TcpStream) -> Reply {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        let read = stream.read(&mut byte).expect("a reply");
        assert!(read > 0, "the head breaks off: {}", String::from_utf8_lossy(&head));
        head.extend_from_slice(&byte);
    }
    let head = String::from_utf8(head).expect("a head in UTF-8");
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
    let mut reply =
        Reply { status: status.expect("a status"), head, body: Vec::new(), trailer: None };
    if reply.header("transfer-encoding") == Some("chunked") {
        (reply.body, reply.trailer) = read_chunks(stream).expect("a body with its end");
        return reply;
    }
    let length = reply.header("content-length").map_or(0, |l| l.parse().expect("a length"));
    reply.body.resize(length, 0);
    stream.read_exact(&mut reply.body).expect("a body as long as it says");
    reply
}

/// Reads a line without its end.
fn read_line(stream: &mut TcpStream) -> io::Result<String> {
    let (mut line, mut byte) = (Vec::new(), [0]);
    while !line.ends_with(b"\r\n") {
        stream.read_exact(&mut byte)?;
        line.extend_from_slice(&byte);
    }
    line.truncate(line.len() - 2);
    String::from_utf8(line).map_err(io::Error::other)
}

/// Reads a body in chunks, and its trailer if it has one. Fails when its end is missing.
pub(crate) fn read_chunks(stream: &mut TcpStream) -> io::Result<(Vec<u8>, Option<String>)> {
    let mut body = Vec::new();
    loop {
        let size = usize::from_str_radix(&read_line(stream)?, 16).map_err(io::Error::other)?;
        if size == 0 {
            break;
        }
        let start = body.len();
        body.resize(start + size, 0);
        stream.read_exact(&mut body[start..])?;
        assert_eq!(read_line(stream)?, "", "a chunk ends");
    }
    let mut trailer = None;
    loop {
        match read_line(stream)? {
            line if line.is_empty() => return Ok((body, trailer)),
            line => trailer = Some(line),
        }
    }
}

/// Whether the server closes the connection without a byte.
pub(crate) fn is_closed(stream: &mut TcpStream) -> bool {
    matches!(stream.read(&mut [0; 1]), Ok(0) | Err(_))
}
