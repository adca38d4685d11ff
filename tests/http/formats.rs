//! Answers in other formats than JSON, and answers of many rows, which are sent while they are
//! made.

use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use hadal_aggregate::{Partial, QueryError, QueryErrorCode, RowColumns};
use hadal_frontend::AnswerColumn;
use hadal_http::{AnswerEncoder, AnswerFormat};
use hadal_peer::{BoxFuture, Peer, PeerStatus, StatusScope, TableBlocks, TableReport};
use hadal_query::Query;
use hadal_types::time::parse_timestamp;
use hadal_types::{Micros, TableName, limits};
use serde_json::{Value, json};

use crate::client::{Reply, read_chunks};
use crate::server::{NOW, Server, memory_app_behind, memory_backend};

const ROWS: &str = "{\"time\": \"2026-11-21T11:58:00Z\", \"service\": \"a,b\", \"ms\": 10}\n\
                    {\"time\": \"2026-11-21T11:59:00Z\", \"service\": \"web\", \"tags\": [\"x\", \"y\"]}\n";
/// Rows of a table that is fetched in slices.
const MANY: usize = 230_000;

fn ask(server: &Server, accept: &str, sql: &str) -> Reply {
    let body = json!({ "sql": sql }).to_string();
    let request = server.request("POST", "/v1/query").header("Accept", accept);
    request.header("TE", "trailers").body(body).send()
}

/// The summary in the header, and the one at the end.
fn summaries(reply: &Reply) -> (Value, Value) {
    let header = reply.header("hadal-answer").expect("a summary");
    let trailer = reply.trailer.as_deref().expect("a trailer");
    let trailer = trailer.strip_prefix("hadal-answer: ").expect("a summary");
    let json = |text: &str| serde_json::from_str(text).expect("JSON");
    (json(header), json(trailer))
}

/// The time and the number of row `row`: three rows have each time.
fn many_row(row: usize) -> (Micros, usize) {
    let now = parse_timestamp(NOW).expect("a time");
    let seconds = i64::try_from((MANY - row) / 3).expect("small");
    (Micros(now.0 - seconds * 10_000), row)
}

/// A server with a table `many`, whose backend has `before` in front of the leaves.
fn server_of_many(
    before: impl FnOnce(Arc<dyn Peer>) -> Arc<dyn Peer>,
    change: impl FnOnce(&mut hadal_http::Config),
) -> Server {
    let server = Server::over(memory_app_behind(None, before), "127.0.0.1:0", change);
    for rows in (0..MANY).collect::<Vec<_>>().chunks(50_000) {
        let mut text = String::new();
        for &row in rows {
            let (time, n) = many_row(row);
            // The first row is in the last slice of rows that come newest first.
            let half = if row == 0 { "0.5" } else { "7" };
            writeln!(text, "{{\"time\": \"{time}\", \"n\": {n}, \"half\": {half}, \"id\": 9223372036854775809}}")
                .expect("written");
        }
        server.log("many", &text);
    }
    server
}

#[test]
fn csv_and_json_lines_have_the_rows_of_json() {
    let server = Server::start();
    server.log("t", ROWS);
    let sql = "SELECT service, ms, tags, time AS t, ms FROM t ORDER BY time";
    let csv = ask(&server, "text/csv", sql);
    assert_eq!(csv.header("content-type"), Some("text/csv; charset=utf-8; header=present"));
    let expected = "service,ms,tags,t,ms_2\n\"a,b\",10,,2026-11-21T11:58:00Z,10\n\
                    web,,\"[\"\"x\"\",\"\"y\"\"]\",2026-11-21T11:59:00Z,\n";
    assert_eq!(csv.text(), expected);
    let lines = ask(&server, "application/x-ndjson", sql).text();
    let rows: Vec<Value> =
        lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let answer = server.rows(sql);
    for (object, row) in rows.iter().zip(answer.as_array().expect("rows")) {
        let names = ["service", "ms", "tags", "t", "ms_2"];
        let values: Vec<Value> = names.iter().map(|name| object[name].clone()).collect();
        assert_eq!(Value::from(values), *row);
    }
    assert_eq!(rows.len(), 2);
}

#[test]
fn rows_that_are_no_groups_are_marked_in_every_format() {
    let server = Server::start();
    server.log("t", ROWS);
    let sql = "SELECT service, count(*) AS n FROM t GROUP BY service WITH TOTALS ORDER BY service";
    let csv = ask(&server, "text/csv", sql).text();
    assert_eq!(csv, "service,n,row_kind\n\"a,b\",1,group\nweb,1,group\n,2,total\n");
    let lines = ask(&server, "application/x-ndjson", sql).text();
    assert!(lines.ends_with("{\"service\":null,\"n\":2,\"row_kind\":\"total\"}\n"), "{lines}");
    let body = serde_json::json!({ "sql": sql }).to_string();
    let answer = server.request("POST", "/v1/query").body(body).send().ok();
    assert_eq!(answer["row_kinds"], serde_json::json!(["group", "group", "total"]));
    assert_eq!(answer["rows"][2], serde_json::json!([null, 2]));
    let groups = ask(&server, "text/csv", "SELECT service FROM t GROUP BY service LIMIT 1").text();
    assert_eq!(groups, "service\n\"a,b\"\n", "groups alone need no mark");
}

#[test]
fn every_statement_has_every_format_and_a_summary() {
    let server = Server::start();
    server.log("t", ROWS);
    for sql in ["SHOW TABLES", "DESCRIBE t", "SUMMARIZE t", "SELECT 1", "SELECT count(*) FROM t"] {
        for accept in ["text/csv", "application/x-ndjson"] {
            let reply = ask(&server, accept, sql);
            let rows = server.rows(sql).as_array().expect("rows").len();
            let (first, last) = summaries(&reply);
            assert_eq!(reply.status, 200, "{sql}");
            assert_eq!((&first["rows"], &first["ended"]), (&json!(rows), &json!(true)), "{sql}");
            assert_eq!((&last["rows"], &last["ended"]), (&json!(rows), &json!(true)), "{sql}");
            let head = usize::from(accept == "text/csv");
            assert_eq!(reply.text().lines().count(), rows + head, "{sql}");
        }
    }
    let (_, summary) = summaries(&ask(&server, "text/csv", "SELECT ms FROM t"));
    assert_eq!(summary["coverage"]["rows_scanned"], 2);
    assert_eq!(summary["warnings"][0]["code"], "no_time_range");
    assert_eq!(summary["truncated"], false);
}

#[test]
fn errors_are_problems_in_every_format() {
    let server = Server::start();
    server.log("t", ROWS);
    ask(&server, "text/csv", "SELECT nothing FROM t").problem(400, "bad-query");
    ask(&server, "text/csv", "SELECT 1 FROM nowhere").problem(404, "unknown-table");
    let refused = ask(&server, "image/png", "SELECT 1").problem(406, "not-acceptable");
    let hint = refused["hint"].as_str().expect("a hint");
    assert!(hint.contains("application/json, text/csv, application/x-ndjson"), "{hint}");
    assert_eq!(ask(&server, "text/html, */*;q=0.1", "SELECT 1").ok()["rows"], json!([[1]]));
}

#[test]
fn a_long_header_leaves_out_warnings_and_counts_them() {
    let server = Server::start();
    let column = |index: usize| format!("\"column_{index}_{}\": 1", "x".repeat(60));
    let columns: Vec<String> = (0..limits::WARNINGS_MAX).map(column).collect();
    let strings = columns.join(", ").replace(": 1", ": \"é\"");
    server.log("t", &format!("{{{0}}}\n{{{0}}}\n{{{strings}}}\n", columns.join(", ")));
    let sum: Vec<String> =
        (0..limits::WARNINGS_MAX).map(|i| format!("sum(column_{i}_{})", "x".repeat(60))).collect();
    let reply = ask(&server, "text/csv", &format!("SELECT {} FROM t", sum.join(", ")));
    let (header, trailer) = summaries(&reply);
    assert_eq!(header["warnings"], trailer["warnings"]);
    let left_out = header["warnings_left_out"].as_u64().expect("a number");
    let shown = header["warnings"].as_array().expect("warnings").len() as u64;
    assert!(left_out > 0 && shown > 0, "{header}");
    let length = reply.header("hadal-answer").expect("a summary").len();
    assert!(length <= limits::ANSWER_HEADER_BYTES_MAX, "{length}");
}

#[test]
fn many_rows_come_in_slices_in_their_order() {
    let queries = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&queries);
    let server =
        server_of_many(|leaves| Arc::new(Counted { leaves, queries: counter, last: None }), |_| {});
    for (order, limit) in [("DESC", 150_000), ("ASC", 200_001), ("DESC", 1_000_000)] {
        let before = queries.load(Ordering::SeqCst);
        let sql = format!("SELECT n, time FROM many ORDER BY time {order} LIMIT {limit}");
        let reply = ask(&server, "text/csv", &sql);
        let slices = queries.load(Ordering::SeqCst) - before;
        assert!((3..=9).contains(&slices), "{slices} queries");
        let mut rows: Vec<(Micros, usize)> = (0..MANY).map(many_row).collect();
        match order {
            // Ties are ordered by the values.
            "ASC" => rows.sort_unstable(),
            _ => rows.sort_unstable_by_key(|(time, n)| (std::cmp::Reverse(*time), *n)),
        }
        rows.truncate(limit);
        let mut expected = "n,time\n".to_owned();
        for (time, n) in &rows {
            writeln!(expected, "{n},{time}").expect("written");
        }
        assert!(reply.text() == expected, "{order} {limit}");
        let (header, trailer) = summaries(&reply);
        assert_eq!(header["ended"], false);
        assert_eq!((&trailer["ended"], &trailer["rows"]), (&json!(true), &json!(rows.len())));
        assert_eq!(trailer["truncated"], false);
        assert_eq!(trailer["coverage"]["rows_scanned"], MANY);
        assert_eq!(trailer["time"]["to"].as_str(), Some("2026-11-21T12:00:00.000001Z"));
    }
    let most = limits::STREAMED_ROWS_MAX;
    let reply =
        ask(&server, "text/csv", &format!("SELECT n FROM many WHERE n < 9 LIMIT {}", most + 1));
    let (_, summary) = summaries(&reply);
    let warnings = summary["warnings"].as_array().expect("warnings");
    assert!(warnings.iter().any(|warning| warning["code"] == "limit_lowered"), "{summary}");
    assert_eq!((&summary["rows"], &summary["truncated"]), (&json!(9), &json!(false)));
    // Without an order by time, or without LIMIT, the limit is that of all answers.
    for sql in ["SELECT n FROM many ORDER BY n LIMIT 150000", "SELECT n FROM many"] {
        let (header, _) = summaries(&ask(&server, "text/csv", sql));
        assert_eq!((&header["rows"], &header["truncated"]), (&json!(100_000), &json!(true)));
    }
    // One time has three rows, and none is lost between two slices.
    assert_eq!(server.rows("SELECT count(*) FROM many"), json!([[MANY]]));
}

#[test]
fn columns_of_slices_have_one_type_from_the_first_row_to_the_last() {
    let server =
        server_of_many(|leaves| leaves, |config| config.answer_formats.push(Arc::new(Forms)));
    let sql = "SELECT n, half, id, n / 2 AS mean, time, n::string AS text FROM many LIMIT 1000000";
    let expected =
        "n Whole\nhalf Double\nid Decimal { scale: 0 }\nmean Double\ntime Time\ntext Text\n";
    let text = ask(&server, "text/x-forms", sql).text();
    assert_eq!(text, format!("{expected}{MANY}\n"));
}

#[test]
fn an_answer_whose_query_fails_breaks_off() {
    let queries = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&queries);
    let failing =
        |leaves| Arc::new(Counted { leaves, queries: counter, last: Some(2) }) as Arc<dyn Peer>;
    let server = server_of_many(failing, |_| {});
    let mut stream = begin(&server, "SELECT time FROM many LIMIT 1000000");
    assert!(read_chunks(&mut stream).is_err(), "it has no end");
    assert_eq!(queries.load(Ordering::SeqCst), 3);
}

#[test]
fn a_client_that_stops_reading_stops_the_query() {
    let queries = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&queries);
    let backend = memory_app_behind(None, |leaves| {
        Arc::new(Counted { leaves, queries: counter, last: None })
    });
    let mut server = Server::with_journal(&backend);
    // Far more bytes than the buffers of a connection hold.
    let text = "x".repeat(1_000);
    for batch in 0..8 {
        let row = |row: usize| {
            let time = many_row(batch * 25_000 + row).0;
            format!("{{\"time\": \"{time}\", \"text\": \"{text}\"}}\n")
        };
        server.log("wide", &(0..25_000).map(row).collect::<String>());
    }
    let slices = |queries: &AtomicUsize| queries.swap(0, Ordering::SeqCst);
    slices(&queries);
    let sql = "SELECT time, text FROM wide LIMIT 1000000";
    let all = ask(&server, "text/csv", sql);
    let needed = slices(&queries);
    assert!(all.body.len() > 200_000_000 && needed > 4, "{needed} queries");
    let mut stream = begin(&server, sql);
    stream.read_exact(&mut [0; 1_000]).expect("the first rows");
    drop(stream);
    server.join();
    let fetched = slices(&queries);
    assert!(fetched < needed, "{fetched} of {needed} queries");
    let server = Server::with_journal(&backend);
    let outcomes =
        server.rows("SELECT outcome FROM _queries WHERE sql LIKE '%wide%' ORDER BY time");
    assert_eq!(outcomes, json!([["answered"], ["cancelled"]]));
}

#[test]
fn rows_that_many_share_one_time_are_fetched_at_once() {
    let server = Server::over(memory_backend(None), "127.0.0.1:0", |_| {});
    let rows: String = (0..50_000).fold(String::new(), |mut text, n| {
        writeln!(text, "{{\"time\": \"{NOW}\", \"n\": {n}}}").expect("written");
        text
    });
    for _ in 0..3 {
        // The same rows again, as batches of their own.
        server.log("t", &rows);
        server.log("t", &format!("{{\"time\": \"{NOW}\", \"n\": 1}}\n"));
    }
    let reply = ask(&server, "text/csv", "SELECT n FROM t LIMIT 200000");
    assert_eq!(reply.text().lines().count(), 1 + 150_003);
}

/// Sends a query, and reads the head of its answer as CSV.
fn begin(server: &Server, sql: &str) -> TcpStream {
    let mut stream = TcpStream::connect(server.address).expect("a connection");
    let body = json!({ "sql": sql }).to_string();
    let head = format!(
        "POST /v1/query HTTP/1.1\r\nHost: localhost\r\nAccept: text/csv\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all((head + &body).as_bytes()).expect("a request sent");
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).expect("a head");
        head.extend_from_slice(&byte);
    }
    assert!(head.starts_with(b"HTTP/1.1 200 "), "{}", String::from_utf8_lossy(&head));
    stream
}

/// Counts queries; those after number `last` fail.
struct Counted {
    leaves: Arc<dyn Peer>,
    queries: Arc<AtomicUsize>,
    last: Option<usize>,
}

impl Peer for Counted {
    fn query(&self, query: Arc<Query>, deadline: Instant) -> BoxFuture<'_, Partial> {
        let before = self.queries.fetch_add(1, Ordering::SeqCst);
        if self.last.is_some_and(|last| before >= last) {
            let fault = QueryError::new(QueryErrorCode::Memory, "no memory");
            return Box::pin(async move { Partial::failed(&query, fault) });
        }
        self.leaves.query(query, deadline)
    }

    fn status<'a>(&'a self, scope: &'a StatusScope) -> BoxFuture<'a, PeerStatus> {
        self.leaves.status(scope)
    }

    fn reports(&self, table: &TableName) -> Vec<TableReport> {
        self.leaves.reports(table)
    }

    fn blocks<'a>(&'a self, table: &'a TableName) -> BoxFuture<'a, TableBlocks> {
        self.leaves.blocks(table)
    }
}

/// A format that writes the forms of the columns, and the number of rows.
#[derive(Debug)]
struct Forms;

struct FormsEncoder {
    columns: Vec<AnswerColumn>,
    rows: usize,
}

impl AnswerFormat for Forms {
    fn media_type(&self) -> &'static str {
        "text/x-forms"
    }

    fn content_type(&self) -> &'static str {
        "text/csv"
    }

    fn begin(
        &self,
        columns: &[AnswerColumn],
        _summary: &str,
        out: &mut Vec<u8>,
    ) -> Result<Box<dyn AnswerEncoder>, String> {
        for AnswerColumn { name, form } in columns {
            writeln!(out, "{name} {form:?}").map_err(|error| error.to_string())?;
        }
        Ok(Box::new(FormsEncoder { columns: columns.to_vec(), rows: 0 }))
    }
}

impl AnswerEncoder for FormsEncoder {
    fn batch(&mut self, rows: &RowColumns, _out: &mut Vec<u8>) -> Result<(), String> {
        self.rows += rows.rows();
        for (column, values) in self.columns.iter().zip(rows.columns()) {
            for row in 0..rows.rows() {
                let value = values.value(row);
                assert!(column.form.holds(&value), "{column:?}: {value:?}");
            }
        }
        Ok(())
    }

    fn end(self: Box<Self>, _summary: &str, out: &mut Vec<u8>) -> Result<(), String> {
        writeln!(out, "{}", self.rows).map_err(|error| error.to_string())
    }
}
