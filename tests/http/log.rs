//! `POST /v1/log/{table}`: accepted and rejected bodies, and the answers.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use hadal_types::limits;
use serde_json::json;

use crate::client::{Reply, Request};
use crate::server::Server;

const TWO: &str = "{\"time\": \"2026-11-21T11:00:00Z\", \"a\": 1}\n\
                   {\"time\": \"2026-11-21T11:00:01Z\", \"a\": 2}\n";

fn post(server: &Server) -> Request {
    server.request("POST", "/v1/log/t")
}

fn count(server: &Server) -> serde_json::Value {
    server.rows("SELECT count(*), sum(a) FROM t")
}

#[test]
fn a_batch_is_taken_back_by_its_id() {
    let server = Server::start();
    server.request("POST", "/v1/log/t").header("Hadal-Batch", "b").body("{\"a\": 1}").send().ok();
    server.log("t", "{\"a\": 2}\n");
    let revoke = |id: &str| {
        let request = server.request("DELETE", "/v1/log/t");
        if id.is_empty() { request.send() } else { request.header("Hadal-Batch", id).send() }
    };
    revoke("").problem(400, "bad-request");
    revoke("b#1").problem(400, "bad-request");
    revoke("c").problem(404, "unknown-batch");
    let chunk = server.request("DELETE", "/v1/log/t").header("Hadal-Batch", "b");
    chunk.header("Hadal-Chunk", "1").send().problem(400, "bad-request");
    assert_eq!(revoke("b").ok(), json!({ "table": "t", "batch": "b", "rows": 1 }));
    assert_eq!(revoke("b").ok()["rows"], 0);
    assert_eq!(server.rows("SELECT a FROM t"), json!([[2]]));
}

#[test]
fn the_answer_has_the_fixed_shape() {
    let server = Server::start();
    let logged = post(&server).body(TWO).send();
    assert_eq!(logged.header("content-type"), Some("application/json"));
    assert_eq!(
        logged.ok(),
        json!({
            "accepted": 2, "rejected_count": 0, "rejected": [], "reject_kinds": [],
            "warnings": [], "time_from": "column time", "detected": "JSON lines",
            "duplicate": false, "durable": false,
        })
    );
    assert_eq!(count(&server), json!([[2, 3]]));
}

#[test]
fn rows_in_a_folder_are_durable() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = Server::in_folder(folder.path());
    assert_eq!(server.log("t", TWO)["durable"], true);
}

#[test]
fn json_comes_in_several_forms() {
    let server = Server::start();
    for (rows, accepted) in [
        ("{\"a\": 1}", 1),
        ("{\"a\": 1}\n{\"a\": 1}\n\n", 2),
        ("[{\"a\": 1},\n {\"a\": 1}, {\"a\": 1}]", 3),
        ("{\n  \"a\": 1\n}\n", 1),
        ("[]", 0),
        ("", 0),
    ] {
        assert_eq!(server.log("t", rows)["accepted"], accepted, "{rows}");
    }
    assert_eq!(count(&server), json!([[7, 7]]));
}

#[test]
fn lines_of_text_are_messages() {
    let server = Server::start();
    let lines = "2026-11-21T11:59:58Z all is well\nnothing to see\n";
    let reply = post(&server).header("Content-Type", "text/plain").body(lines).send();
    let receipt = reply.ok();
    assert_eq!(receipt["accepted"], 1);
    assert_eq!(receipt["warnings"][0]["code"], "joined_lines");
    let rows = server.rows("SELECT message, stack FROM t WHERE message LIKE '%well'");
    assert_eq!(rows, json!([["2026-11-21T11:59:58Z all is well", ["nothing to see"]]]));
}

#[test]
fn other_types_and_encodings_are_refused() {
    let server = Server::start();
    let reply = post(&server).header("Content-Type", "application/x-parquet").body(TWO).send();
    reply.problem(415, "encoding");
    let reply = post(&server).header("Content-Encoding", "br").body(TWO).send();
    reply.problem(415, "encoding");
}

#[test]
fn compressed_bodies_are_inflated() {
    let server = Server::start();
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(TWO.as_bytes()).expect("gzip");
    let gzip = gzip.finish().expect("gzip");
    let reply = post(&server).header("Content-Encoding", "gzip").body(gzip.clone()).send();
    assert_eq!(reply.ok()["accepted"], 2);
    let zstd = zstd::encode_all(TWO.as_bytes(), 3).expect("zstd");
    let reply = post(&server).header("Content-Encoding", "zstd").body(zstd).send();
    assert_eq!(reply.ok()["accepted"], 2);
    assert_eq!(count(&server), json!([[4, 6]]));
    let half = &gzip[..gzip.len() / 2];
    let reply = post(&server).header("Content-Encoding", "gzip").body(half).send();
    reply.problem(400, "bad-batch");
    let reply = post(&server).header("Content-Encoding", "zstd").body(TWO).send();
    reply.problem(400, "bad-batch");
    assert_eq!(count(&server), json!([[4, 6]]));
}

#[test]
fn a_bomb_is_refused() {
    let server = Server::start();
    let spaces = vec![b' '; 64 << 20];
    let bomb = zstd::encode_all(spaces.as_slice(), 3).expect("zstd");
    assert!(bomb.len() * limits::INFLATE_RATIO_MAX < spaces.len());
    let reply = post(&server).header("Content-Encoding", "zstd").body(bomb).send();
    reply.problem(413, "too-large");
}

#[test]
fn a_retry_adds_nothing() {
    let server = Server::start();
    let send = |rows: &str| post(&server).header("Hadal-Batch", "b-1").body(rows).send();
    let first = send(TWO).ok();
    assert_eq!((&first["accepted"], &first["duplicate"]), (&json!(2), &json!(false)));
    let second = send(TWO).ok();
    assert_eq!((&second["accepted"], &second["duplicate"]), (&json!(2), &json!(true)));
    assert_eq!(count(&server), json!([[2, 3]]));
    let problem = send("{\"a\": 7}").problem(409, "batch-conflict");
    assert!(problem["detail"].as_str().expect("text").contains("b-1"));
    assert_eq!(count(&server), json!([[2, 3]]));
    // The same id in another table is another batch.
    let other = server.request("POST", "/v1/log/u").header("Hadal-Batch", "b-1").body(TWO);
    assert_eq!(other.send().ok()["duplicate"], false);
}

#[test]
fn bad_lines_are_reported_and_kept() {
    let server = Server::start();
    let rows = "{\"a\": 1}\n{\"a\": \n{\"a\": 2}\n[1]\n{\"a\": 1e400}\n{\"sample_rate\": -1}\n";
    let send = || post(&server).header("Hadal-Batch", "b").body(rows).send().ok();
    let logged = send();
    assert_eq!(logged["accepted"], 2);
    assert_eq!(logged["rejected_count"], 4);
    let lines: Vec<u64> = logged["rejected"]
        .as_array()
        .expect("rejected")
        .iter()
        .map(|rejected| rejected["line"].as_u64().expect("a line"))
        .collect();
    assert_eq!(lines, [2, 4, 5, 6]);
    let kinds = logged["reject_kinds"].as_array().expect("kinds");
    assert_eq!(kinds.len(), 4);
    let kind = json!({
        "kind": "the object does not end at character …", "count": 1, "line": 2,
        "reason": "the object does not end at character 6", "excerpt": "{\"a\":",
    });
    assert_eq!(kinds[0], kind);
    assert_eq!(count(&server), json!([[2, 3]]));
    let kept = "SELECT \"table\", source, line FROM _rejects ORDER BY line";
    let expected = json!([["t", "http", 2], ["t", "http", 4], ["t", "http", 5], ["t", "http", 6]]);
    assert_eq!(server.rows(kept), expected);
    // A retry is not stored again.
    assert_eq!(send()["duplicate"], true);
    assert_eq!(server.rows(kept), expected);
}

#[test]
fn only_the_first_hundred_bad_lines_are_listed() {
    let server = Server::start();
    let json = post(&server).header("Content-Type", "application/json");
    let logged = json.body("x\n".repeat(250) + "{\"a\": 1}").send().ok();
    assert_eq!(logged["accepted"], 1);
    assert_eq!(logged["rejected_count"], 250);
    assert_eq!(logged["rejected"].as_array().map(Vec::len), Some(limits::REJECTS_SHOWN_MAX));
    assert_eq!(server.rows("SELECT count(*) FROM _rejects"), json!([[250]]));
}

#[test]
fn a_strict_body_is_taken_whole_or_not_at_all() {
    let server = Server::start();
    let send = |rows: &str| post(&server).header("Hadal-Strict", "true").body(rows).send();
    let problem = send(&format!("{TWO}nonsense\n")).problem(422, "rows-rejected");
    assert_eq!(problem["rejected_count"], 1);
    assert_eq!(problem["rejected"][0]["line"], 3);
    server.sql("SELECT count(*) FROM t").problem(404, "unknown-table");
    assert_eq!(send(TWO).ok()["accepted"], 2);
    assert_eq!(count(&server), json!([[2, 3]]));
}

#[test]
fn a_strict_body_must_not_be_long() {
    let server = Server::start();
    let line = format!("{{\"a\": 0, \"text\": \"{}\"}}\n", "x".repeat(1 << 10));
    let long = line.repeat(limits::BODY_BYTES_MAX / line.len() + 1);
    let send = |body: &str| post(&server).header("Hadal-Strict", "true").body(body).send();
    send(&long).problem(413, "too-large");
    assert_eq!(send(long[..limits::BODY_BYTES_MAX].trim_end_matches(|c| c != '\n')).status, 200);
    let longer = line.repeat(limits::BODY_INFLATED_BYTES_MAX / line.len() + 1);
    let zstd = zstd::encode_all(longer.as_bytes(), -7).expect("zstd");
    assert!(zstd.len() < limits::BODY_BYTES_MAX);
    let strict = post(&server).header("Hadal-Strict", "true");
    strict.header("Content-Encoding", "zstd").body(zstd).send().problem(413, "too-large");
}

#[test]
fn the_caller_names_times_and_sets() {
    let server = Server::start();
    let row = "{\"at\": 1795262400, \"time\": 5, \"tags\": [\"b\", \"a\", \"b\"], \"path\": [\"b\", \"a\"]}";
    let send = post(&server).header("Hadal-Time", "at").header("Hadal-Sets", "tags").body(row);
    assert_eq!(send.send().ok()["time_from"], "column at");
    let answer = server.sql("SELECT at, tags, path FROM t").ok();
    assert_eq!(answer["rows"], json!([["2026-11-21T12:00:00Z", ["a", "b"], ["b", "a"]]]));
    let types: Vec<&str> = answer["columns"]
        .as_array()
        .expect("columns")
        .iter()
        .filter_map(|column| column["type"].as_str())
        .collect();
    assert_eq!(types, ["time", "set", "vector"]);
}

#[test]
fn a_hint_once_given_stays() {
    let server = Server::start();
    server.log("t", "{\"tags\": {\"$set\": [\"b\", \"a\"]}, \"path\": [\"b\", \"a\"], \"n\": 1}");
    server.log("t", "{\"tags\": [\"d\", \"c\", \"d\"], \"path\": [\"d\", \"c\", \"d\"], \"n\": 2}");
    let sql = "SELECT tags, path FROM t ORDER BY n";
    let expected = json!([[["a", "b"], ["b", "a"]], [["c", "d"], ["d", "c", "d"]]]);
    assert_eq!(server.rows(sql), expected);
    // An explicit value wins, and then the column holds both kinds.
    server.log("t", "{\"tags\": {\"$vector\": [\"f\", \"e\"]}, \"n\": 3}");
    server.log("t", "{\"tags\": [\"h\", \"g\"], \"n\": 4}");
    let vectors = "SELECT tags::vector FROM t WHERE n > 2 ORDER BY n";
    assert_eq!(server.rows(vectors), json!([[["f", "e"]], [["h", "g"]]]));
}

#[test]
fn csv_has_its_times_and_missing_numbers_told() {
    let server = Server::start();
    let csv = "seen,n\n2026-11-21T11:00:00Z,1\n2026-11-21T11:00:01Z,NA\n";
    let logged = post(&server).header("Content-Type", "text/csv").body(csv).send().ok();
    assert_eq!((&logged["accepted"], &logged["time_from"]), (&json!(2), &json!("column seen")));
    let warning = json!([{
        "code": "missing_number", "count": 1,
        "message": "1 cell such as NA or - became null in column n; --null '' keeps such words",
    }]);
    assert_eq!(logged["warnings"], warning);
    let expected = json!([["2026-11-21T11:00:00Z", 1], ["2026-11-21T11:00:01Z", null]]);
    assert_eq!(server.rows("SELECT seen, n FROM t ORDER BY seen"), expected);
}

#[test]
fn json_as_text_is_taken_with_a_warning() {
    let server = Server::start();
    let logged = post(&server).header("Content-Type", "text/plain").body(TWO).send().ok();
    assert_eq!(logged["accepted"], 2);
    let codes: Vec<_> = logged["warnings"].as_array().expect("warnings").iter().collect();
    let warning =
        codes.iter().find(|warning| warning["code"] == "json_as_text").expect("a warning");
    let message = warning["message"].as_str().expect("text");
    assert!(message.contains("application/x-ndjson"), "{message}");
}

#[test]
fn wrong_headers_are_named() {
    let server = Server::start();
    for (name, value) in [
        ("Hadal-Batch", "two words"),
        ("Hadal-Batch", "b#1"),
        ("Hadal-Batch", &"x".repeat(113)),
        ("Hadal-Chunk", "1"),
        ("Hadal-Strict", "perhaps"),
        ("Hadal-Bacth", "b"),
    ] {
        let problem = post(&server).header(name, value).body(TWO).send();
        let problem = problem.problem(400, "bad-request");
        let detail = problem["detail"].as_str().expect("text").to_lowercase();
        assert!(detail.contains(&name.to_lowercase()), "{detail}");
    }
    let told_in_the_address = server.request("POST", "/v1/log/t?batch=b").body(TWO).send();
    let problem = told_in_the_address.problem(400, "bad-request");
    assert!(problem["detail"].as_str().expect("text").contains("\"batch=b\""), "{problem}");
    let longest = "x".repeat(112);
    assert_eq!(post(&server).header("Hadal-Batch", &longest).body(TWO).send().status, 200);
}

#[test]
fn tables_have_names_of_their_own() {
    let server = Server::start();
    let log = |table: &str| -> Reply {
        server.request("POST", &format!("/v1/log/{table}")).body(TWO).send()
    };
    assert_eq!(log("a.b:c-d_9").status, 200);
    log("_rejects").problem(403, "forbidden");
    for bad in ["a%20b", "%2e%2e%2fx", "a%00b", "%C3%BC", &"x".repeat(129)] {
        log(bad).problem(400, "bad-request");
    }
    // Clients that normalize URLs could never reach them.
    for bad in [".", "..", "%2e", ".%2E"] {
        log(bad).problem(400, "bad-request");
    }
}

#[test]
fn put_does_as_post() {
    let server = Server::start();
    assert_eq!(server.request("PUT", "/v1/log/t").body(TWO).send().ok()["accepted"], 2);
    assert_eq!(count(&server), json!([[2, 3]]));
}

#[test]
fn rows_of_any_age_are_taken_on_request() {
    let server = Server::start();
    server.log("t", "{\"time\": \"2026-11-21T11:00:00Z\", \"a\": 1}");
    let old = "{\"time\": \"2026-01-01T00:00:00Z\", \"a\": 2}";
    assert_eq!(post(&server).body(old).send().ok()["rejected_count"], 1);
    let logged = post(&server).header("Hadal-Any-Age", "true").body(old).send().ok();
    assert_eq!((&logged["accepted"], &logged["rejected_count"]), (&json!(1), &json!(0)));
    assert_eq!(count(&server), json!([[2, 3]]));
}

#[test]
fn chunks_of_a_batch_and_parts_of_a_body_are_told_apart() {
    let server = Server::start();
    let send = |chunk: &str, rows: &str| {
        let post = post(&server).header("Hadal-Batch", "b").header("Hadal-Chunk", chunk);
        post.body(rows).send()
    };
    // The first body is more than one block, so it has a part.
    let long = "{\"a\":1}\n".repeat(65_536 + 1);
    for duplicate in [false, true] {
        assert_eq!(send("0", &long).ok()["duplicate"], duplicate);
        assert_eq!(send("1", TWO).ok()["duplicate"], duplicate);
    }
    // The first one needs no number.
    let reply = post(&server).header("Hadal-Batch", "b").body(long.as_str()).send();
    assert_eq!(reply.ok()["duplicate"], true);
    send("1", "{\"a\": 7}").problem(409, "batch-conflict");
    // Not checked by a query: it does not wait for a slow leaf with three of these rows.
    assert_eq!(server.get("/v1/tables/t").ok()["rows"], 65_537 + 2);
}
