//! Confidence intervals and time zones of queries over HTTP.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::client::Reply;
use crate::server::Server;

/// A table of 400 rows, each kept one in ten.
fn server() -> Server {
    let server = Server::start();
    let mut rows = String::new();
    for row in 0..400 {
        let _ = writeln!(rows, "{{\"time\": {}, \"v\": {}, \"sample_rate\": 10}}", row, row % 2);
    }
    server.log("t", &rows);
    server
}

fn ask(server: &Server, body: &Value) -> Reply {
    server.request("POST", "/v1/query").body(body.to_string()).send()
}

#[test]
fn the_interval_of_a_rare_share_begins_at_0() {
    let server = server();
    let sql = "SELECT avg(time = 7) AS rare, avg(time <> 7) AS usual, avg(v) FROM t";
    let answer = ask(&server, &json!({ "sql": sql, "intervals": "beside" })).ok();
    assert_eq!(answer["rows"], json!([[0.0025, 0.9975, 0.5]]));
    let [rare, usual, average] = [0, 1, 2].map(|at: usize| &answer["intervals"][0][at]);
    let end = |interval: &Value, at: usize| interval[at].as_f64().expect("a number");
    assert_eq!((end(rare, 0), end(usual, 1)), (0.0, 1.0));
    assert!(end(rare, 1) > 0.0025 && end(usual, 0) < 0.9975, "{rare} {usual}");
    assert!(end(average, 0) < 0.5 && end(average, 1) > 0.5, "{average}");
}

#[test]
fn a_share_of_no_kept_row_may_have_some_that_were_not_kept() {
    let server = Server::start();
    let rows = |rate: u32, ok: bool| -> String {
        let row = |at: u32| format!("{{\"time\": {at}, \"ok\": {ok}, \"sample_rate\": {rate}}}\n");
        (0..400).map(row).collect()
    };
    let [sampled, whole] = [10, 1].map(|rate| rows(rate, true));
    server.log("sampled", &sampled);
    server.log("whole", &whole);
    let few: String = sampled.split_inclusive('\n').take(8).collect();
    server.log("few", &few);
    let intervals = |table: &str| {
        let sql = format!(
            "SELECT avg(NOT ok), avg(ok), count(*) FILTER (WHERE NOT ok)::float / count(*) FROM {table}"
        );
        let answer = ask(&server, &json!({ "sql": sql, "intervals": "beside" })).ok();
        assert_eq!(answer["rows"], json!([[0, 1, 0]]), "{table}");
        answer["intervals"][0].clone()
    };
    // 28 events have a chance of 0.9^28 = 5 % that none of their rows is kept.
    let unseen = 0.05f64.ln() / 0.9f64.ln() / 4000.0;
    let of_sampled = intervals("sampled");
    for (at, expected) in [[0.0, unseen], [1.0 - unseen, 1.0], [0.0, unseen]].iter().enumerate() {
        for (end, expected) in expected.iter().enumerate() {
            let actual = of_sampled[at][end].as_f64().expect("a number");
            assert!((actual - expected).abs() < 1e-9, "{of_sampled}");
        }
    }
    assert_eq!(intervals("whole"), json!([[0.0, 0.0], [1.0, 1.0], [0.0, 0.0]]));
    assert_eq!(intervals("few"), json!(["too_few", "too_few", "too_few"]));
}

#[test]
fn intervals_stand_beside_the_rows_or_are_columns() {
    let server = server();
    let sql = "SELECT min(v), count(*), sum(v), count(*) FILTER (WHERE time < 50) AS few FROM t";
    let answer = ask(&server, &json!({ "sql": sql, "intervals": "beside" })).ok();
    assert_eq!(answer["rows"], json!([[0, 4000, 2000, 500]]));
    let intervals = &answer["intervals"][0];
    assert_eq!((&intervals[0], &intervals[3]), (&Value::Null, &json!("too_few")));
    // Each row adds 10 · 9 to the variance, and each row with the value 1 to that of the sum.
    let assert_around = |interval: &Value, middle: f64, rows: f64| {
        let width = 1.96 * (rows * 90.0).sqrt();
        let ends = [0, 1].map(|end: usize| interval[end].as_f64().expect("a number"));
        assert!((ends[0] - (middle - width)).abs() < 0.1, "{interval}");
        assert!((ends[1] - (middle + width)).abs() < 0.1, "{interval}");
    };
    assert_around(&intervals[1], 4000.0, 400.0);
    assert_around(&intervals[2], 2000.0, 200.0);
    let warning = &answer["warnings"].as_array().expect("warnings")[1];
    assert_eq!((&warning["code"], &warning["count"]), (&json!("interval_too_few"), &json!(1)));

    let answer = ask(&server, &json!({ "sql": sql, "intervals": "columns" })).ok();
    let names: Vec<&str> = answer["columns"]
        .as_array()
        .expect("columns")
        .iter()
        .map(|column| column["name"].as_str().expect("a name"))
        .collect();
    let expected = [
        "min(v)",
        "count(*)",
        "count(*)_estimate",
        "count(*)_low",
        "count(*)_high",
        "sum(v)",
        "sum(v)_estimate",
        "sum(v)_low",
        "sum(v)_high",
        "few",
        "few_estimate",
        "few_low",
        "few_high",
    ];
    assert_eq!(names, expected);
    assert_eq!(answer["rows"][0][4], intervals[1][1]);
    assert_eq!((&answer["rows"][0][11], answer.get("intervals")), (&Value::Null, None));

    let query = json!({ "table": "t", "columns": ["v"], "limit": 1 });
    let answer = ask(&server, &json!({ "query": query, "intervals": "beside" })).ok();
    assert_eq!(answer.get("intervals"), None, "raw rows have none");
    let problem = ask(&server, &json!({ "sql": sql, "intervals": "yes" }));
    problem.problem(400, "bad-request");
}

#[test]
fn distinct_values_of_sampled_rows_are_a_lower_bound() {
    let server = server();
    server.log("whole", "{\"v\": 1}\n{\"v\": 2}\n");
    let codes = |table: &str| {
        let sql = format!("SELECT count(DISTINCT v) AS n FROM {table}");
        let answer = ask(&server, &json!({ "sql": sql })).ok();
        assert_eq!(answer["rows"], json!([[2]]));
        let warnings = answer["warnings"].as_array().expect("warnings").clone();
        warnings.iter().any(|warning| warning["code"] == "distinct_of_sampled")
    };
    assert!(codes("t"));
    assert!(!codes("whole"), "all rows are there");
}

#[test]
fn an_answer_about_all_rows_is_certain() {
    let server = Server::start();
    server.log("t", "{\"v\": 1}\n{\"v\": 3}\n");
    let sql = "SELECT avg(v), p50(v), count(*) / 2 FROM t";
    let answer = ask(&server, &json!({ "sql": sql, "intervals": "beside" })).ok();
    assert_eq!(answer["rows"], json!([[2, 2, 1]]));
    assert_eq!(answer["intervals"], json!([[[2.0, 2.0], [2.0, 2.0], [1.0, 1.0]]]));
}

#[test]
fn rows_of_a_sample_key_are_kept_together() {
    let server = Server::start();
    let mut rows = String::new();
    for row in 0..4_000 {
        let _ = writeln!(rows, "{{\"user\": {}, \"sample_rate\": 10}}", row / 8);
    }
    server.log("t", &rows);
    let width = || {
        let body = json!({ "sql": "SELECT count(*) FROM t", "intervals": "beside" });
        let interval = ask(&server, &body).ok()["intervals"][0][0].clone();
        interval[1].as_f64().expect("a number") - interval[0].as_f64().expect("a number")
    };
    let by_row = width();
    let path = "/v1/tables/t/settings";
    let version = server.get(path).ok()["version"].clone();
    let settings = json!({ "version": version, "settings": { "sample_key": "user" } });
    server.request("PUT", path).body(settings.to_string()).send().ok();
    // 8 rows of a user add 8 times as much to the variance as each by itself.
    let ratio = width() / by_row / 8.0_f64.sqrt();
    assert!((0.7..1.4).contains(&ratio), "{ratio}");
}
