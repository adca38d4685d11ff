//! A small blocking HTTP client for a Hadal server.

mod answer;
mod problem;

use std::io::Read;
use std::time::{Duration, Instant};

use hadal_types::limits::ANSWER_BYTES_MAX;
use hadal_types::{BatchId, TableName};
use serde::de::DeserializeOwned;
use ureq::Agent;
use ureq::http::{Method, Request, Response};

pub(crate) use answer::{Answer, LogReceipt, Warning};
pub(crate) use problem::Problem;

use crate::error::Error;

/// A server is there or not within this time.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// A batch is sent again for so long while the server is busy or restarting.
const RETRY_TIME: Duration = Duration::from_secs(10);
/// The pause between two tries.
const RETRY_PAUSE: Duration = Duration::from_millis(200);
/// Most of an answer is its rows; the rest of it is given as much room again.
const RESPONSE_BYTES_MAX: u64 = 2 * ANSWER_BYTES_MAX as u64;

/// A server, and how to talk to it.
#[derive(Clone)]
pub(crate) struct Client {
    agent: Agent,
    base: String,
    token: Option<String>,
}

/// How rows are to be logged.
#[derive(Clone, Debug, Default)]
pub(crate) struct LogOptions {
    /// The column that holds the time.
    pub(crate) time_column: Option<String>,
    /// Columns whose arrays are sets.
    pub(crate) sets: Vec<String>,
    /// Whether rows may be of any age.
    pub(crate) any_age: bool,
}

/// One batch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LogBatch<'b> {
    pub(crate) id: &'b BatchId,
    /// What its lines are.
    pub(crate) media_type: &'b str,
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
        headers
    }
}

impl Client {
    /// A client of the server at `url`: `http://host:port`, or `host:port`.
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
            // A server on this machine is never behind the proxy of the environment.
            .proxy(None)
            .user_agent(concat!("hadal/", env!("CARGO_PKG_VERSION")))
            .build();
        Ok(Self { agent: config.new_agent(), base, token: token.map(str::to_owned) })
    }

    /// Where the server is.
    pub(crate) fn url(&self) -> &str {
        &self.base
    }

    /// Whether anything answers there.
    pub(crate) fn is_there(&self) -> bool {
        self.send(Method::GET, "/healthz", &[], Vec::new()).is_ok()
    }

    /// Answers a query.
    pub(crate) fn query(&self, sql: &str) -> Result<Answer, Error> {
        let body = serde_json::json!({ "sql": sql }).to_string().into_bytes();
        let json = [("Content-Type", "application/json".to_owned())];
        match self.json(Method::POST, "/v1/query", &json, body) {
            Err(Error::Refused(problem)) => Err(Error::Refused(Box::new(problem.with_sql(sql)))),
            other => other,
        }
    }

    /// Logs the lines of a batch. The same batch may be sent again, so it is, for a while, when
    /// the server is busy or gone.
    pub(crate) fn log(
        &self,
        table: &TableName,
        options: &LogOptions,
        batch: LogBatch<'_>,
    ) -> Result<LogReceipt, Error> {
        let path = format!("/v1/log/{table}");
        let mut headers = options.headers();
        headers.push(("Content-Type", batch.media_type.to_owned()));
        headers.push(("Hadal-Batch", batch.id.to_string()));
        let start = Instant::now();
        loop {
            let outcome = self.json(Method::POST, &path, &headers, batch.lines.to_vec());
            let may_pass = match &outcome {
                Err(Error::NoServer { .. }) => true,
                Err(Error::Refused(problem)) => problem.may_pass(),
                _ => false,
            };
            if !may_pass || start.elapsed() > RETRY_TIME {
                return outcome;
            }
            std::thread::sleep(RETRY_PAUSE);
        }
    }

    /// Drops a table; returns how many rows it had.
    pub(crate) fn drop_table(&self, table: &TableName) -> Result<u64, Error> {
        #[derive(serde::Deserialize)]
        struct Dropped {
            rows: u64,
        }
        let path = format!("/v1/tables/{table}");
        self.json::<Dropped>(Method::DELETE, &path, &[], Vec::new()).map(|dropped| dropped.rows)
    }

    /// Drops a table if there is one.
    pub(crate) fn drop_table_if_there(&self, table: &TableName) -> Result<(), Error> {
        match self.drop_table(table) {
            Err(Error::Refused(problem)) if problem.is_not_found() => Ok(()),
            other => other.map(drop),
        }
    }

    /// The time column of a table, if there is one of this name.
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

    /// What stands at a path.
    pub(crate) fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, Error> {
        self.json(Method::GET, path, &[], Vec::new())
    }

    fn json<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, String)],
        body: Vec<u8>,
    ) -> Result<T, Error> {
        let response = self.send(method, path, headers, body)?;
        let status = response.status();
        let mut bytes = Vec::new();
        response
            .into_body()
            .into_with_config()
            .limit(RESPONSE_BYTES_MAX)
            .reader()
            .read_to_end(&mut bytes)
            .map_err(|error| self.no_server(&error))?;
        if !status.is_success() {
            return Err(Error::Refused(Box::new(Problem::read(status.as_u16(), &bytes))));
        }
        serde_json::from_slice(&bytes)
            .map_err(|error| Error::NotHadal { url: self.base.clone(), reason: error.to_string() })
    }

    fn send(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, String)],
        body: Vec<u8>,
    ) -> Result<Response<ureq::Body>, Error> {
        let mut request = Request::builder().method(method).uri(format!("{}{path}", self.base));
        for (name, value) in headers {
            // Names of columns may be any text.
            request = request.header(*name, value.as_bytes());
        }
        if let Some(token) = &self.token {
            request = request.header("Authorization", format!("Bearer {token}"));
        }
        let malformed = |error: ureq::http::Error| Error::Usage(format!("{}: {error}", self.base));
        let request = request.body(body).map_err(malformed)?;
        self.agent.run(request).map_err(|error| self.no_server(&error))
    }

    fn no_server(&self, error: &dyn std::fmt::Display) -> Error {
        Error::NoServer { url: self.base.clone(), reason: error.to_string() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_completed_or_refused() {
        let base = |url| Client::new(url, None).map(|client| client.base);
        assert_eq!(base("127.0.0.1:4280").expect("a url"), "http://127.0.0.1:4280");
        assert_eq!(base("http://h:1/").expect("a url"), "http://h:1");
        assert!(matches!(base("https://h"), Err(Error::Usage(_))));
    }

    #[test]
    fn options_become_headers() {
        assert!(LogOptions::default().headers().is_empty());
        let options = LogOptions {
            time_column: Some("at".to_owned()),
            sets: vec!["x".to_owned(), "y z".to_owned()],
            any_age: true,
        };
        let expected = [("Hadal-Time", "at"), ("Hadal-Sets", "x,y z"), ("Hadal-Any-Age", "true")];
        assert_eq!(options.headers(), expected.map(|(name, value)| (name, value.to_owned())));
    }
}
