//! Bad input from outside: each gets a clear answer, and everything else continues.

use std::io::{Read, Write};
use std::net::TcpStream;

use hadal_types::limits;
use serde_json::json;

use crate::client::{Reply, is_closed, read_reply};
use crate::server::Server;

fn log(server: &Server, body: impl Into<Vec<u8>>) -> Reply {
    server.request("POST", "/v1/log/t").body(body).send()
}

#[test]
fn bad_rows_do_no_harm() {
    let server = Server::start();
    for (bad, reason) in [
        ("{\"a\": }".to_owned(), "expected a value at character 7"),
        ("{\"a\": 1e400}".to_owned(), "column a: number 1e400 is beyond"),
        ("{\"time\": \"0001-01-01T00:00:00Z\"}".to_owned(), "older than the table's limit"),
        ("{\"time\": \"0000-12-31T23:59:59Z\"}".to_owned(), "is not a time"),
        ("{\"time\": \"300000-01-01T00:00:00Z\"}".to_owned(), "is not a time"),
        ("{\"time\": \"+300000-01-01T00:00:00Z\"}".to_owned(), "is not a time"),
        ("{\"time\": 300000000000000000000}".to_owned(), "is not a time"),
        ("{\"time\": \"9999-12-31T23:59:59Z\"}".to_owned(), "more than a day in the future"),
        ("{\"sample_rate\": 0}".to_owned(), "sample_rate 0 is outside"),
        ("{\"sample_rate\": -1}".to_owned(), "sample_rate -1 is outside"),
        ("\"text\"".to_owned(), "not a JSON object"),
        ("x".repeat(100 << 10), "not a JSON object"),
    ] {
        let logged = log(&server, format!("{{\"good\": 1}}\n{bad}\n{{\"good\": 1}}\n")).ok();
        assert_eq!(
            (&logged["accepted"], &logged["rejected_count"]),
            (&json!(2), &json!(1)),
            "{reason}: {logged}"
        );
        assert_eq!(logged["rejected"][0]["line"], 2, "{reason}");
        let rejected = logged["rejected"][0]["reason"].as_str().expect("a reason");
        assert!(rejected.contains(reason), "{rejected}");
    }
}

#[test]
fn a_new_table_takes_the_year_one_and_no_later_one_than_tomorrow() {
    let server = Server::start();
    let old = "{\"time\": \"0001-01-01T00:00:00Z\"}";
    let first = server.request("POST", "/v1/log/old").body(old).send().ok();
    assert_eq!((&first["accepted"], &first["rejected_count"]), (&json!(1), &json!(0)));
    assert_eq!(first["warnings"][0]["code"], "no_age_limit");
    assert_eq!(server.rows("SELECT time FROM old"), json!([["0001-01-01T00:00:00Z"]]));
    // Beside a row that shows that the column has times.
    for (time, reason) in
        [("300000-01-01T00:00:00Z", "is not a time"), ("9999-01-01T00:00:00Z", "in the future")]
    {
        let body = format!("{{\"time\": \"2026-11-21T11:00:00Z\"}}\n{{\"time\": \"{time}\"}}");
        let path = format!("/v1/log/late-{}", &time[..4]);
        let late = server.request("POST", &path).body(body).send().ok();
        assert_eq!((&late["accepted"], &late["rejected_count"]), (&json!(1), &json!(1)), "{late}");
        let rejected = late["rejected"][0]["reason"].as_str().expect("a reason");
        assert!(rejected.contains(reason), "{rejected}");
    }
}

/// A line of this length is neither stored nor awaited.
#[test]
fn a_line_of_100_mb_does_no_harm() {
    let server = Server::start();
    let logged =
        log(&server, [b"{\"good\": 1}\n", &*vec![b'x'; 100 << 20], b"\n{\"good\": 1}\n"].concat())
            .ok();
    assert_eq!((&logged["accepted"], &logged["rejected_count"]), (&json!(2), &json!(1)));
    assert_eq!(logged["rejected"][0], json!({"line": 2, "reason": "longer than 1048576 bytes"}));
    assert_eq!(server.rows("SELECT sum(good) FROM t"), json!([[2]]));
}

#[test]
fn deep_rows_do_no_harm() {
    let server = Server::start();
    let log_deep = |open: &str, close: &str, depth: usize| {
        let deep = format!("{{\"a\": {}1{}}}", open.repeat(depth), close.repeat(depth));
        log(&server, format!("{{\"good\": 1}}\n{deep}\n{{\"good\": 1}}\n")).ok()
    };
    // Objects are distinguished by the names on the path: no deeper than names go.
    let beyond = log_deep("{\"a\":", "}", limits::JSON_DEPTH_MAX);
    let far_beyond = log_deep("{\"a\":", "}", 100_000);
    for logged in [beyond, far_beyond] {
        assert_eq!((&logged["accepted"], &logged["rejected_count"]), (&json!(2), &json!(1)));
        let reject = json!({"line": 2, "reason": "nested deeper than 64 levels"});
        assert_eq!(logged["rejected"][0], reject);
    }
    let within = log_deep("{\"a\":", "}", limits::JSON_DEPTH_MAX - 1);
    assert_eq!((&within["accepted"], &within["rejected_count"]), (&json!(3), &json!(0)));
    // Arrays of arrays are stored as their text, cut at the limit of strings.
    for (open, close) in [("[", "]"), ("[{\"a\":", "}]")] {
        let logged = log_deep(open, close, 100_000);
        assert_eq!((&logged["accepted"], &logged["rejected_count"]), (&json!(3), &json!(0)));
        for code in ["nested_array", "cut"] {
            let warnings = logged["warnings"].as_array().expect("warnings");
            let warned = warnings.iter().find(|warning| warning["code"] == code);
            assert_eq!(warned.map(|warning| &warning["count"]), Some(&json!(1)), "{code}");
        }
    }
    assert_eq!(server.rows("SELECT sum(good) FROM t"), json!([[10]]));
}

#[test]
fn bytes_that_are_no_text_are_taken_with_a_warning() {
    let server = Server::start();
    let logged = log(&server, b"{\"a\": \"\xff\xfe\"}\n".as_slice()).ok();
    assert_eq!(logged["accepted"], 1);
    let warnings = logged["warnings"].as_array().expect("warnings");
    assert!(warnings.iter().any(|warning| warning["code"] == "invalid_utf8"), "{warnings:?}");
    assert_eq!(server.rows("SELECT a FROM t"), json!([["\u{fffd}\u{fffd}"]]));
}

#[test]
fn a_flood_of_columns_flows_over() {
    let server = Server::start();
    let rows: String = (0..1_000)
        .map(|row| {
            let fields: Vec<String> =
                (0..100).map(|field| format!("\"c{}\": 1", row * 100 + field)).collect();
            format!("{{{}}}\n", fields.join(","))
        })
        .collect();
    let logged = log(&server, rows).ok();
    assert_eq!(logged["accepted"], 1_000);
    let columns = server.get("/v1/tables/t").ok()["columns"].as_array().map(Vec::len);
    assert!(columns <= Some(4_100), "{columns:?}");
    let kept = server.rows("SELECT count(*) FROM t WHERE _overflow IS NOT NULL");
    assert!(kept[0][0].as_u64() > Some(900), "{kept}");
}

#[test]
fn bad_questions_do_no_harm() {
    let server = Server::start();
    log(&server, "{\"a\": \"x\", \"n\": 1}").ok();
    let nested = format!("SELECT {}1{}", "(".repeat(10_000), ")".repeat(10_000));
    let items: Vec<String> = (0..2_000).map(|item| item.to_string()).collect();
    let many = format!("SELECT count(*) FROM t WHERE n IN ({})", items.join(","));
    for sql in [
        "",
        ";",
        "SELECT",
        "SELECT * FROM t LIMIT -1",
        "SELECT b FROM t",
        "SELECT count(*) FROM t WHERE a > 1 AND n LIKE 3",
        "SELECT count(*) FROM t WHERE a ~ '('",
        "SELECT count(*) FROM t WHERE a ~ '(x{1000}){1000}'",
        "SELECT count(*) FROM t WHERE a ~ '(.*'",
        &nested,
        &many,
        "SELECT \u{0} FROM t",
        "\u{feff}\u{202e}SELECT",
    ] {
        let problem = server.sql(sql).problem(400, "bad-query");
        assert!(problem["detail"].as_str().is_some_and(|text| !text.is_empty()), "{sql}");
    }
    assert_eq!(server.rows("SELECT count(*) FROM t"), json!([[1]]));
}

#[test]
fn what_is_no_http_is_closed() {
    let server = Server::start();
    for bytes in [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03".as_slice(),
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\0\0\0\0\0\0\0\0\r\n\r\n",
        b"GET / HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
    ] {
        let mut stream = TcpStream::connect(server.address).expect("a connection");
        stream.write_all(bytes).expect("bytes sent");
        let mut answer = Vec::new();
        // The end may come as a reset; only that it comes counts.
        let _ = stream.read_to_end(&mut answer);
        let answer = String::from_utf8_lossy(&answer);
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 400 "), "{answer}");
    }
    assert_eq!(server.get("/healthz").status, 200);
}

#[test]
fn a_body_that_breaks_off_leaves_no_half_row() {
    let server = Server::start();
    let mut stream = TcpStream::connect(server.address).expect("a connection");
    let rows = "{\"a\": 1}\n{\"a\": 2";
    let head = "POST /v1/log/t HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n";
    stream.write_all(format!("{head}{rows}").as_bytes()).expect("bytes sent");
    stream.shutdown(std::net::Shutdown::Write).expect("an end");
    assert!(is_closed(&mut stream) || server.get("/v1/tables").status == 200);
    server.sql("SELECT count(*) FROM t").problem(404, "unknown-table");
}

#[test]
fn chunks_of_any_size_are_one_body() {
    let server = Server::start();
    let mut stream = TcpStream::connect(server.address).expect("a connection");
    let head = "POST /v1/log/t HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n";
    stream.write_all(head.as_bytes()).expect("a head");
    for byte in b"{\"a\": 1}\n{\"a\": 2}\n" {
        stream.write_all(&[b'1', b'\r', b'\n', *byte, b'\r', b'\n']).expect("a chunk");
    }
    stream.write_all(b"0\r\n\r\n").expect("an end");
    assert_eq!(read_reply(&mut stream).ok()["accepted"], 2);
}

#[test]
fn names_and_values_come_back_as_they_were() {
    let server = Server::start();
    let odd = ["<script>alert(1)</script>", "' OR 1=1 --", "\u{202e}abc", "=1+1", "\\\"\n\t"];
    let rows: Vec<String> = odd.iter().map(|text| json!({ "a": text }).to_string()).collect();
    server.log("t", &rows.join("\n"));
    let mut names: Vec<String> = server
        .rows("SELECT a FROM t")
        .as_array()
        .expect("rows")
        .iter()
        .filter_map(|row| Some(row[0].as_str()?.to_owned()))
        .collect();
    let mut expected: Vec<String> = odd.iter().map(|text| (*text).to_owned()).collect();
    names.sort();
    expected.sort();
    assert_eq!(names, expected);
}
