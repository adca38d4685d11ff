//! Values in answers: each kind as it is written, from the row that was sent.

use serde_json::{Value, json};

use crate::server::Server;

/// Logs one value and queries it.
fn there_and_back(value: &str) -> Value {
    let server = Server::start();
    server.log("t", &format!("{{\"a\": {value}}}"));
    server.rows("SELECT a FROM t")[0][0].take()
}

#[test]
fn values_are_written_as_described() {
    for (sent, expected) in [
        ("9007199254740992", json!(9_007_199_254_740_992_u64)),
        ("9007199254740993", json!("9007199254740993")),
        ("-9007199254740993", json!("-9007199254740993")),
        ("9223372036854775807", json!("9223372036854775807")),
        ("0.1", json!(0.1)),
        ("0.30000000000000004", json!(0.300_000_000_000_000_04)),
        ("0.123456789012345678", json!("0.123456789012345678")),
        ("1.50", json!(1.5)),
        ("1e300", json!(1e300)),
        ("true", json!(true)),
        ("\"text \\u0007\"", json!("text \u{7}")),
        ("[\"b\", \"a\", \"b\"]", json!(["b", "a", "b"])),
        ("{\"$set\": [\"b\", \"a\", \"b\"]}", json!(["a", "b"])),
    ] {
        assert_eq!(there_and_back(sent), expected, "{sent}");
    }
}

#[test]
fn sums_keep_all_digits() {
    let server = Server::start();
    let row = "{\"a\": 9223372036854775807, \"b\": 0.1}\n";
    server.log("t", &row.repeat(3));
    let sums = server.rows("SELECT sum(a), sum(b), count(*) FROM t");
    assert_eq!(sums, json!([["27670116110564327421", 0.3, 3]]));
}

#[test]
fn histograms_are_triples() {
    let server = Server::start();
    server.log("t", "{\"a\": 1}\n{\"a\": 2}\n{\"a\": 3}\n");
    let answer = server.sql("SELECT histogram(a, 2) FROM t").ok();
    assert_eq!(answer["columns"][0]["type"], "histogram");
    let buckets = answer["rows"][0][0].as_array().expect("buckets");
    let counts: u64 = buckets
        .iter()
        .map(|bucket| bucket.as_array().expect("a triple")[2].as_u64().expect("a count"))
        .sum();
    assert_eq!(counts, 3);
    assert!(buckets.iter().all(|bucket| bucket.as_array().map(Vec::len) == Some(3)));
}

#[test]
fn no_row_has_a_null() {
    let server = Server::start();
    server.log("t", "{\"a\": 1}\n{\"b\": \"x\"}\n");
    assert_eq!(server.rows("SELECT a, b FROM t ORDER BY a"), json!([[1, null], [null, "x"]]));
    assert_eq!(server.rows("SELECT avg(a) FROM t WHERE b = 'x'"), json!([[null]]));
}
