//! `POST /v1/explain`: what distinguishes two sides.

use std::fmt::Write as _;

use hadal_types::limits::{CONTRAST_COLUMNS_MAX, CONTRAST_FINDINGS_MAX, CONTRAST_VALUES_MAX};
use serde_json::{Value, json};

use crate::client::Reply;
use crate::server::Server;

/// 4,000 rows: those of build 7 in the zone "b" fail often, others seldom. Nothing else matters.
fn server() -> Server {
    let server = Server::start();
    let mut rows = String::new();
    for row in 0..4_000 {
        let (build, zone) = (row % 10, ["a", "b"][row / 10 % 2]);
        let fails = if build == 7 && zone == "b" { row / 20 % 2 == 0 } else { row % 97 == 0 };
        let tag = if fails && row % 3 > 0 { "retry" } else { "plain" };
        let _ = writeln!(
            rows,
            r#"{{"build": {build}, "zone": "{zone}", "failed": {fails}, "tags": ["{tag}", "all"],
            "ms": {}}}"#,
            row % 501
        );
    }
    server.log("t", &rows.replace(",\n            ", ", "));
    server
}

fn explain(server: &Server, body: &Value) -> Reply {
    server.request("POST", "/v1/explain").body(body.to_string()).send()
}

#[test]
fn the_cause_comes_first() {
    let server = server();
    let query = json!({ "table": "t", "compare": { "where": "failed" } });
    let answer = explain(&server, &json!({ "query": query, "columns": ["build", "zone", "ms"] }));
    let answer = answer.ok();
    let first = &answer["findings"][0];
    let conditions: Vec<&Value> =
        first["conditions"].as_array().expect("conditions").iter().map(|of| &of["sql"]).collect();
    assert_eq!(conditions, ["\"build\" = 7", "\"zone\" = 'b'"], "{answer:#}");
    // 100 of the 200 rows of build 7 in the zone b fail, and of the others one in 97.
    assert_eq!(first["events"], json!({ "selection": 100.0, "baseline": 100.0 }));
    assert_eq!(first["conditions"][0]["test"], "is");
    assert!(first["chance"].as_f64().expect("a number") < 1e-9);
    assert_eq!(answer["coverage"]["fraction"], 1.0);
    // The same as SQL says.
    let sql = "SELECT count(*) FROM t WHERE failed AND build = 7 AND zone = 'b'";
    assert_eq!(server.rows(sql), json!([[100]]));
}

#[test]
fn columns_that_define_the_sides_are_not_examined() {
    let server = server();
    let query = json!({ "table": "t", "compare": { "where": "failed AND ms >= 0" } });
    let answer = explain(&server, &json!({ "query": query })).ok();
    assert_eq!(answer["columns"], json!(["build", "tags", "zone"]));
    let tag = json!({ "column": "tags", "test": "has", "value": "retry",
        "sql": "includes_any(\"tags\", 'retry')" });
    assert_eq!(answer["findings"][0]["conditions"], json!([tag]));
    let (Some(all), Some(events)) = (
        answer["events"]["selection"].as_f64(),
        server.rows("SELECT count(*) FROM t WHERE failed")[0][0].as_f64(),
    ) else {
        panic!("{answer:#}")
    };
    assert_eq!(all, events);
}

#[test]
fn wrong_comparisons_are_refused_by_name() {
    let server = server();
    let compare = json!({ "where": "failed" });
    let bad = |body: Value| explain(&server, &body).problem(400, "bad-request").to_string();
    assert!(bad(json!({ "query": { "table": "t" } })).contains("no sides to compare"));
    let grouped = json!({ "table": "t", "compare": compare, "group_by": ["zone"] });
    assert!(bad(json!({ "query": grouped })).contains("has groups"));
    let query = json!({ "table": "t", "compare": compare });
    let bad_limit = |limit: usize| bad(json!({ "query": query, "limit": limit }));
    assert!(bad_limit(0).contains("limit is 0; 1 to 100"));
    assert!(bad_limit(CONTRAST_FINDINGS_MAX + 1).contains("limit is 101"));
    assert!(bad(json!({ "query": query, "colums": [] })).contains("colums"));
    for (name, value) in [("limit", json!(5)), ("offset", json!(1)), ("totals", json!(true))] {
        let mut query = query.clone();
        query[name] = value;
        assert!(bad(json!({ "query": query })).contains("or a limit"), "{name}");
    }
    let absent = json!({ "query": query, "columns": ["nope"] });
    explain(&server, &absent).problem(404, "unknown-column");
    let query = json!({ "table": "nope", "compare": compare });
    explain(&server, &json!({ "query": query })).problem(404, "unknown-table");
    let query = json!({ "table": "t", "compare": { "where": "faled" } });
    let problem = explain(&server, &json!({ "query": query })).problem(400, "bad-query");
    assert!(problem.to_string().contains("faled"), "{problem}");
}

#[test]
fn a_side_without_rows_explains_nothing() {
    let server = server();
    let query = json!({ "table": "t", "compare": { "where": "build = 99" } });
    let answer = explain(&server, &json!({ "query": query })).ok();
    assert_eq!((&answer["findings"], &answer["events"]["selection"]), (&json!([]), &json!(0.0)));
}

#[test]
fn many_columns_and_values_are_examined_up_to_a_limit() {
    let server = Server::start();
    let values = usize::try_from(CONTRAST_VALUES_MAX).expect("fits") + 100;
    let mut rows = String::new();
    for row in 0..values {
        let mut object = json!({ "failed": row % 2 == 0 });
        for column in 0..=CONTRAST_COLUMNS_MAX {
            if column == 0 || row < 3 {
                object[format!("c{column:03}")] = json!(format!("v{row}"));
            }
        }
        let _ = writeln!(rows, "{object}");
    }
    server.log("t", &rows);
    let query = json!({ "table": "t", "compare": { "where": "failed OR NOT failed" } });
    let answer = explain(&server, &json!({ "query": query })).ok();
    assert_eq!(answer["columns"].as_array().expect("columns").len(), CONTRAST_COLUMNS_MAX);
    let warning = &answer["warnings"][0];
    assert_eq!((&warning["code"], &warning["count"]), (&json!("columns_left_out"), &json!(1)));
    // The values of the first column, and of each other one three texts and none.
    let tried = answer["tried"].as_u64().expect("a number");
    assert!(tried < CONTRAST_VALUES_MAX + 4 * CONTRAST_COLUMNS_MAX as u64, "{tried}");
    assert!(tried >= CONTRAST_VALUES_MAX, "{tried}");
}

#[test]
fn a_time_is_compared_with_the_one_just_before_it() {
    let server = Server::start();
    let mut rows = String::new();
    for second in 0..1_200 {
        let build = if second >= 600 && second % 3 == 0 { "new" } else { "old" };
        let _ = writeln!(rows, r#"{{"time": {}, "build": "{build}"}}"#, 1_700_000_000 + second);
    }
    server.log("t", &rows);
    for (shift, before) in [("10m", 600.0), ("11m", 540.0)] {
        let query = json!({ "table": "t", "from": 1_700_000_600, "to": 1_700_001_200,
            "compare": { "shift": shift } });
        let answer = explain(&server, &json!({ "query": query })).ok();
        assert_eq!(answer["events"], json!({ "selection": 600.0, "baseline": before }), "{shift}");
        assert_eq!(answer["findings"][0]["conditions"][0]["value"], "new");
        assert_eq!(answer["findings"][0]["lift"], Value::Null);
    }
}

#[test]
fn ranges_end_where_their_condition_does() {
    let server = Server::start();
    let mut rows = String::new();
    for row in 0..6_000 {
        // A third of the failures is cut off at 30,000; a few others take longer.
        let fails = row % 10 == 0;
        let ms = match (fails, row % 30, row % 1_000) {
            (true, 0, _) => 30_000,
            (false, _, 1) => 40_000 + row,
            _ => row * 7_919 % 29_000,
        };
        let _ = writeln!(rows, r#"{{"failed": {fails}, "ms": {ms}}}"#);
    }
    server.log("t", &rows);
    let query = json!({ "table": "t", "compare": { "where": "failed" } });
    let answer = explain(&server, &json!({ "query": query })).ok();
    for finding in answer["findings"].as_array().expect("findings") {
        let sql = finding["conditions"][0]["sql"].as_str().expect("a text");
        let counted = server.rows(&format!("SELECT count(*) FROM t WHERE failed AND {sql}"));
        assert_eq!(counted[0][0].as_f64(), finding["events"]["selection"].as_f64(), "{sql}");
    }
    assert!(answer["findings"].as_array().is_some_and(|all| !all.is_empty()), "{answer:#}");
}

#[test]
fn long_texts_are_left_out_and_elements_are_not_cut() {
    let server = Server::start();
    let mut rows = String::new();
    for row in 0..3_000 {
        let fails = row % 20 == 0;
        let text = format!("{row}{}", "x".repeat(if row % 2 == 0 { 2_000 } else { 200 }));
        // The element "mark" is as frequent on both sides, beside 1,500 others.
        let element = if row % 10 == 0 { "mark".to_owned() } else { format!("e{}", row % 1_500) };
        let line = json!({ "failed": fails, "text": text, "tags": [element, "all"] });
        let _ = writeln!(rows, "{line}");
    }
    server.log("t", &rows);
    let query = json!({ "table": "t", "compare": { "where": "failed" } });
    let answer = explain(&server, &json!({ "query": query })).ok();
    assert_eq!(answer["columns"], json!(["tags", "text"]));
    for finding in answer["findings"].as_array().expect("findings") {
        let condition = &finding["conditions"][0];
        let sql = condition["sql"].as_str().expect("a text");
        let counted = server.rows(&format!("SELECT count(*) FROM t WHERE NOT failed AND {sql}"));
        assert_eq!(counted[0][0].as_f64(), finding["events"]["baseline"].as_f64(), "{sql}");
    }
}
