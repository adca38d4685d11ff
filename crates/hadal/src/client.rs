//! A small blocking HTTP client for a Hadal server.

mod problem;
mod responses;

use std::io::Read;
use std::time::{Duration, Instant};

use hadal_ingest::InputFormat;
use hadal_types::limits::{ANSWER_BYTES_MAX, QUERY_DEADLINE_MS};
use hadal_types::{BatchId, TableName};
use serde::de::DeserializeOwned;
use ureq::Agent;
use ureq::http::{Method, Request, Response};

pub(crate) use problem::Problem;
use problem::may_pass;
pub(crate) use responses::{Answer, Column, GROUP, LogReceipt, RejectedKind, Warning};

use crate::error::Error;

/// The time limit for connecting to a server.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// The time limit for the answer to a query: the server's query deadline and 5 s for the network.
const QUERY_TIME: Duration = Duration::from_millis(QUERY_DEADLINE_MS + 5_000);
/// The time limit for any other answer. A server may have to wait for its disk.
const ANSWER_TIME: Duration = Duration::from_secs(60);
/// How long a batch is sent again while the server is busy or restarting.
const RETRY_TIME: Duration = Duration::from_secs(10);
/// The pause between two attempts.
const RETRY_PAUSE: Duration = Duration::from_millis(200);
/// Limit of a response. Most of an answer is its rows; the rest may take as many bytes again.
const RESPONSE_BYTES_MAX: u64 = 2 * ANSWER_BYTES_MAX as u64;

/// A server and the means to send requests to it.
#[derive(Clone)]
pub(crate) struct Client {
    agent: Agent,
    base: String,
    token: Option<String>,
}

/// Options for logging rows.
#[derive(Clone, Debug, Default)]
pub(crate) struct LogOptions {
    /// The column with the rows' times.
    pub(crate) time_column: Option<String>,
    /// Columns whose arrays are sets.
    pub(crate) sets: Vec<String>,
    /// Whether rows of any age are accepted.
    pub(crate) any_age: bool,
    /// How times are written, as the option `time-format`.
    pub(crate) time_format: Option<String>,
    /// The zone of times that name none.
    pub(crate) zone: Option<String>,
    /// What becomes of rows without a time, as the option `untimed`.
    pub(crate) untimed: Option<String>,
}

/// A request to a server.
struct ClientRequest<'a> {
    method: Method,
    path: &'a str,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
    /// Time limit until the answer begins, and for each pause while it arrives.
    patience: Duration,
}

/// One batch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LogBatch<'b> {
    pub(crate) id: &'b BatchId,
    /// The number of this body among the bodies of the batch, from 0.
    pub(crate) chunk: u32,
    /// The media type of the lines.
    pub(crate) media_type: &'b str,
    /// The format of the lines, where the server would have to detect it from the first one.
    pub(crate) format: Option<InputFormat>,
    pub(crate) lines: &'b [u8],
}

impl LogOptions {
    fn headers(&self) -> Vec<(&'static str, String)> {
        let mut headers = Vec::new();
        if let Some(column) = &self.time_column {
            headers.push(("Hadal-Time", column.clone()));
        }
        if !self.sets.is_empty() {
            headers.push(("Hadal-Sets", self.sets.join(",")));
        }
        if self.any_age {
            headers.push(("Hadal-Any-Age", "true".to_owned()));
        }
        let texts = [
            ("Hadal-Time-Format", &self.time_format),
            ("Hadal-Zone", &self.zone),
            ("Hadal-Untimed", &self.untimed),
        ];
        headers.extend(texts.into_iter().filter_map(|(name, text)| Some((name, text.clone()?))));
        headers
    }
}

impl Client {
    /// Returns a client of the server at `url`: `http://host:port`, or `host:port`.
    pub(crate) fn new(url: &str, token: Option<&str>) -> Result<Self, Error> {
        let base = url.trim_end_matches('/');
        let base = match base.split_once("://") {
            Some(("http", _)) => base.to_owned(),
            None => format!("http://{base}"),
            Some((scheme, _)) => {
                let message = format!("{url}: {scheme} is not supported; use http://host:port");
                return Err(Error::Usage(message));
            }
        };
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .timeout_connect(Some(CONNECT_TIMEOUT))
            // A server on this machine is never behind the proxy that the environment names.
            .proxy(None)
            .user_agent(concat!("hadal/", env!("CARGO_PKG_VERSION")))
            .build();
        Ok(Self { agent: config.new_agent(), base, token: token.map(str::to_owned) })
    }

    /// The server's URL.
    pub(crate) fn url(&self) -> &str {
        &self.base
    }

    /// Whether a server answers at the URL.
    pub(crate) fn is_there(&self) -> bool {
        let request = ClientRequest {
            patience: CONNECT_TIMEOUT,
            ..ClientRequest::new(Method::GET, "/healthz")
        };
        self.send(&request).is_ok()
    }

    /// Runs a query; with `intervals`, columns follow with the ends of confidence intervals.
    pub(crate) fn query(&self, sql: &str, intervals: bool) -> Result<Answer, Error> {
        let mut body = serde_json::json!({ "sql": sql });
        if intervals {
            body["intervals"] = "columns".into();
        }
        let body = body.to_string().into_bytes();
        let request = ClientRequest {
            headers: vec![("Content-Type", "application/json".to_owned())],
            body,
            patience: QUERY_TIME,
            ..ClientRequest::new(Method::POST, "/v1/query")
        };
        match self.json(&request) {
            Err(Error::Refused(problem)) => Err(Error::Refused(Box::new(problem.with_sql(sql)))),
            answer => answer.map(Answer::with_row_kind_column),
        }
    }

    /// Logs the lines of a batch. While the server is busy or gone, the batch is sent again for a
    /// while, since a batch may be sent twice. Rows that arrived with an attempt that got no answer
    /// are not counted as duplicates.
    pub(crate) fn log(
        &self,
        table: &TableName,
        options: &LogOptions,
        batch: LogBatch<'_>,
    ) -> Result<LogReceipt, Error> {
        let path = format!("/v1/log/{table}");
        let mut headers = options.headers();
        headers.push(("Content-Type", batch.media_type.to_owned()));
        if let Some(format) = batch.format {
            headers.push(("Hadal-Format", format.name().to_owned()));
        }
        headers.push(("Hadal-Batch", batch.id.to_string()));
        if batch.chunk > 0 {
            headers.push(("Hadal-Chunk", batch.chunk.to_string()));
        }
        let body = batch.lines.to_vec();
        let request = ClientRequest { headers, body, ..ClientRequest::new(Method::POST, &path) };
        let start = Instant::now();
        let mut is_unanswered = false;
        loop {
            let outcome = self.json::<LogReceipt>(&request).map(|receipt| LogReceipt {
                duplicate: receipt.duplicate && !is_unanswered,
                ..receipt
            });
            let goes_on = match &outcome {
                Err(Error::NoServer { .. }) => true,
                Err(Error::Refused(problem)) => problem.may_pass(),
                Err(Error::NotHadal { status, .. }) => status.is_some_and(may_pass),
                _ => false,
            };
            if !goes_on || start.elapsed() > RETRY_TIME {
                return outcome;
            }
            is_unanswered |= !matches!(outcome, Err(Error::Refused(_)));
            std::thread::sleep(RETRY_PAUSE);
        }
    }

    /// Revokes a batch. Returns the number of its rows.
    pub(crate) fn revoke(&self, table: &TableName, batch: &BatchId) -> Result<u64, Error> {
        #[derive(serde::Deserialize)]
        struct Revoked {
            rows: u64,
        }
        let path = format!("/v1/log/{table}");
        let headers = vec![("Hadal-Batch", batch.to_string())];
        let request = ClientRequest { headers, ..ClientRequest::new(Method::DELETE, &path) };
        self.json::<Revoked>(&request).map(|revoked| revoked.rows)
    }

    /// Acknowledges the losses of one table or of all tables, which are then reported no more.
    /// Returns the number of rows known to be lost, and the number of losses with an unknown number
    /// of rows.
    pub(crate) fn forget_losses(&self, table: Option<&TableName>) -> Result<(u64, u64), Error> {
        #[derive(serde::Deserialize)]
        struct Forgotten {
            rows: u64,
            unknown_losses: u64,
        }
        let path = match table {
            Some(table) => format!("/v1/losses?table={table}"),
            None => "/v1/losses".to_owned(),
        };
        let forgotten = self.json::<Forgotten>(&ClientRequest::new(Method::DELETE, &path));
        forgotten.map(|losses| (losses.rows, losses.unknown_losses))
    }

    /// Drops a table. Returns the number of its rows.
    pub(crate) fn drop_table(&self, table: &TableName) -> Result<u64, Error> {
        #[derive(serde::Deserialize)]
        struct Dropped {
            rows: u64,
        }
        let path = format!("/v1/tables/{table}");
        self.json::<Dropped>(&ClientRequest::new(Method::DELETE, &path)).map(|dropped| dropped.rows)
    }

    /// Drops a table if it exists.
    pub(crate) fn drop_table_if_there(&self, table: &TableName) -> Result<(), Error> {
        match self.drop_table(table) {
            Err(Error::Refused(problem)) if problem.is_not_found() => Ok(()),
            other => other.map(drop),
        }
    }

    /// Makes the cluster forget a silent leaf. Returns the number of rows that are no longer
    /// expected, and of their tables.
    pub(crate) fn forget_leaf(&self, leaf: &str) -> Result<(u64, u64), Error> {
        #[derive(serde::Deserialize)]
        struct Forgotten {
            rows: u64,
            tables: u64,
        }
        let path = format!("/v1/cluster/members/{}", path_segment(leaf));
        let forgotten = self.json::<Forgotten>(&ClientRequest::new(Method::DELETE, &path));
        forgotten.map(|leaf| (leaf.rows, leaf.tables))
    }

    /// Posts JSON to a path, and returns the JSON of the answer.
    pub(crate) fn post<T: DeserializeOwned>(&self, path: &str, body: Vec<u8>) -> Result<T, Error> {
        let headers = vec![("Content-Type", "application/json".to_owned())];
        self.json(&ClientRequest { headers, body, ..ClientRequest::new(Method::POST, path) })
    }

    /// Deletes what is at a path, and returns the JSON of the answer.
    pub(crate) fn delete<T: DeserializeOwned>(&self, path: &str) -> Result<T, Error> {
        self.json(&ClientRequest::new(Method::DELETE, path))
    }

    /// Returns the time column of a table, or `None` if the table does not exist.
    pub(crate) fn time_column(&self, table: &TableName) -> Result<Option<String>, Error> {
        #[derive(serde::Deserialize)]
        struct Table {
            time_column: String,
        }
        match self.get::<Table>(&format!("/v1/tables/{table}")) {
            Ok(table) => Ok(Some(table.time_column)),
            Err(Error::Refused(problem)) if problem.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Asks the server to stop.
    pub(crate) fn stop(&self) -> Result<(), Error> {
        self.json::<serde_json::Value>(&ClientRequest::new(Method::POST, "/v1/stop")).map(drop)
    }

    /// Gets the JSON at a path.
    pub(crate) fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, Error> {
        self.json(&ClientRequest::new(Method::GET, path))
    }

    /// Puts JSON at a path, and returns the JSON of the answer.
    pub(crate) fn put<T: DeserializeOwned>(&self, path: &str, body: Vec<u8>) -> Result<T, Error> {
        let headers = vec![("Content-Type", "application/json".to_owned())];
        self.json(&ClientRequest { headers, body, ..ClientRequest::new(Method::PUT, path) })
    }

    fn json<T: DeserializeOwned>(&self, request: &ClientRequest<'_>) -> Result<T, Error> {
        let response = self.send(request)?;
        let status = response.status();
        let mut bytes = Vec::new();
        response
            .into_body()
            .into_with_config()
            .limit(RESPONSE_BYTES_MAX)
            .reader()
            .read_to_end(&mut bytes)
            .map_err(|error| self.failed(error.into(), request.patience))?;
        if !status.is_success() {
            let problem = Problem::read(status.as_u16(), &bytes);
            return Err(match problem {
                Some(problem) => Error::Refused(Box::new(problem)),
                None => self.not_hadal(Some(status.as_u16()), &format!("it answers {status}")),
            });
        }
        serde_json::from_slice(&bytes).map_err(|error| self.not_hadal(None, &error))
    }

    fn send(&self, request: &ClientRequest<'_>) -> Result<Response<ureq::Body>, Error> {
        let uri = format!("{}{}", self.base, request.path);
        let mut http_request = Request::builder().method(&request.method).uri(uri);
        for (name, value) in &request.headers {
            // Column names may be any text.
            http_request = http_request.header(*name, value.as_bytes());
        }
        if let Some(token) = &self.token {
            http_request = http_request.header("Authorization", format!("Bearer {token}"));
        }
        let malformed = |error: ureq::http::Error| Error::Usage(format!("{}: {error}", self.base));
        let http_request = http_request.body(request.body.as_slice()).map_err(malformed)?;
        let http_request = self
            .agent
            .configure_request(http_request)
            .timeout_recv_response(Some(request.patience))
            .timeout_per_read(Some(request.patience))
            .build();
        self.agent.run(http_request).map_err(|error| self.failed(error, request.patience))
    }

    fn failed(&self, error: ureq::Error, patience: Duration) -> Error {
        use ureq::Timeout::{PerRead, RecvResponse};
        match error {
            ureq::Error::Timeout(RecvResponse | PerRead) => {
                Error::Mute { url: self.base.clone(), seconds: patience.as_secs() }
            }
            ureq::Error::Protocol(_) | ureq::Error::BodyExceedsLimit(_) => {
                self.not_hadal(None, &error)
            }
            error => Error::NoServer { url: self.base.clone(), reason: error.to_string() },
        }
    }

    fn not_hadal(&self, status: Option<u16>, reason: &dyn std::fmt::Display) -> Error {
        Error::NotHadal { url: self.base.clone(), status, reason: reason.to_string() }
    }
}

impl<'a> ClientRequest<'a> {
    fn new(method: Method, path: &'a str) -> Self {
        Self { method, path, headers: Vec::new(), body: Vec::new(), patience: ANSWER_TIME }
    }
}

/// A text as one segment of a path (RFC 3986, section 2.1).
fn path_segment(text: &str) -> String {
    let mut segment = String::new();
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'~' => {
                segment.push(char::from(byte));
            }
            byte => segment.push_str(&format!("%{byte:02X}")),
        }
    }
    segment
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_segment_of_a_path() {
        assert_eq!(path_segment("machine-2/leaf-0"), "machine-2%2Fleaf-0");
        assert_eq!(path_segment("..?é"), "%2E%2E%3F%C3%A9");
    }

    #[test]
    fn urls_are_completed_or_refused() {
        let base = |url| Client::new(url, None).map(|client| client.base);
        assert_eq!(base("127.0.0.1:4280").expect("a url"), "http://127.0.0.1:4280");
        assert_eq!(base("http://h:1/").expect("a url"), "http://h:1");
        assert!(matches!(base("https://h"), Err(Error::Usage(_))));
    }

    #[test]
    fn a_mute_server_is_not_waited_for() {
        // The system accepts the connection; no process reads from it.
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address").to_string();
        let client = Client::new(&address, None).expect("a client");
        let patience = Duration::from_millis(20);
        let request = ClientRequest {
            patience,
            body: b"x".to_vec(),
            ..ClientRequest::new(Method::POST, "/v1/query")
        };
        let error = client.json::<Answer>(&request).expect_err("no answer");
        assert!(matches!(error, Error::Mute { .. }), "{error}");
    }

    #[test]
    fn an_answer_that_stops_coming_is_not_waited_for() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address").to_string();
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("a connection");
            let head = b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{";
            std::io::Write::write_all(&mut stream, head).expect("sent");
            // Reads until the client closes the connection, perhaps with a reset.
            let _ = stream.read_to_end(&mut Vec::new());
        });
        let client = Client::new(&address, None).expect("a client");
        let request = ClientRequest {
            patience: Duration::from_millis(200),
            ..ClientRequest::new(Method::GET, "/")
        };
        let error = client.json::<Answer>(&request).expect_err("no answer");
        assert!(matches!(error, Error::Mute { .. }), "{error}");
        drop(client);
        server.join().expect("a server");
    }

    #[test]
    fn what_an_unanswered_try_brought_in_is_no_duplicate() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address").to_string();
        let receipt = r#"{"accepted": 1, "rejected_count": 0, "duplicate": true}"#;
        let server = std::thread::spawn(move || {
            for is_lost in [false, true, false] {
                let (mut stream, _) = listener.accept().expect("a connection");
                // So small a request arrives with one read.
                let read = stream.read(&mut [0; 4_096]).expect("a request");
                assert!(read > 0);
                let length = receipt.len();
                let answer = format!(
                    "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{receipt}"
                );
                if !is_lost {
                    std::io::Write::write_all(&mut stream, answer.as_bytes()).expect("sent");
                    let _ = stream.read_to_end(&mut Vec::new());
                }
            }
        });
        let client = Client::new(&address, None).expect("a client");
        let (id, table) = (BatchId::new("b").expect("an id"), TableName::new("t").expect("a name"));
        let batch = LogBatch { id: &id, chunk: 0, media_type: "x", format: None, lines: b"{}\n" };
        let log = || client.log(&table, &LogOptions::default(), batch).expect("a receipt");
        assert!(log().duplicate, "it was there");
        assert!(!log().duplicate, "the try before may have brought it");
        drop(client);
        server.join().expect("a server");
    }

    #[test]
    fn options_become_headers() {
        assert!(LogOptions::default().headers().is_empty());
        let options = LogOptions {
            time_column: Some("at".to_owned()),
            sets: vec!["x".to_owned(), "y z".to_owned()],
            any_age: true,
            untimed: Some("detect".to_owned()),
            ..LogOptions::default()
        };
        let expected = [
            ("Hadal-Time", "at"),
            ("Hadal-Sets", "x,y z"),
            ("Hadal-Any-Age", "true"),
            ("Hadal-Untimed", "detect"),
        ];
        assert_eq!(options.headers(), expected.map(|(name, value)| (name, value.to_owned())));
    }
}
