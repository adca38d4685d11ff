//! `POST /v1/query`: statements and their errors.

use serde_json::{Value, json};

use crate::client::Reply;
use crate::server::Server;

const ROWS: &str = "{\"time\": \"2026-11-21T11:58:00Z\", \"service\": \"web\", \"ms\": 10, \"sample_rate\": 5}\n\
                    {\"time\": \"2026-11-21T11:59:00Z\", \"service\": \"web\", \"ms\": 30}\n\
                    {\"time\": \"2026-11-21T11:59:30Z\", \"service\": \"api\", \"ms\": 2.5, \"tags\": [\"x\", \"y\"]}\n";

fn server() -> Server {
    let server = Server::start();
    server.log("requests", ROWS);
    server
}

fn ask(server: &Server, body: &Value) -> Reply {
    server.request("POST", "/v1/query").body(body.to_string()).send()
}

#[test]
fn the_answer_has_the_fixed_shape() {
    let server = server();
    let sql = "SELECT service, count(*) AS n, sum(ms) FROM requests \
               WHERE time >= now() - 3600 AND time < now() GROUP BY service ORDER BY service";
    let mut answer = server.sql(sql).ok();
    let stats = answer["stats"].take();
    assert_eq!(stats["rows_matched"], 3);
    for leaf in answer["coverage"]["leaves"].as_array_mut().expect("leaves") {
        assert!(leaf["micros"].take().is_u64());
    }
    let leaves = answer["coverage"]["leaves"].take();
    assert_eq!(leaves[1]["outcome"], "answered");
    assert_eq!(
        answer,
        json!({
            "columns": [
                { "name": "service", "type": "string" },
                { "name": "n", "type": "number" },
                { "name": "sum(ms)", "type": "number" },
            ],
            "rows": [["api", 1, 2.5], ["web", 6, 80]],
            "coverage": {
                "leaves_asked": 2, "leaves_answered": 2, "leaves_with_table": 1,
                "rows_expected": 3, "rows_scanned": 3, "fraction": 1.0,
                "fraction_is_upper_bound": false, "leaves": null,
            },
            "stats": null,
            "warnings": [],
            "samples": [1, 2],
            "time": { "from": "2026-11-21T11:00:00Z", "to": "2026-11-21T12:00:00Z" },
        })
    );
}

#[test]
fn a_query_in_json_asks_the_same() {
    let server = server();
    let query = json!({
        "table": "requests", "from": "-1h", "to": "now", "group_by": "service",
        "aggregates": ["count(*)"], "order_by": "service",
    });
    let answer = ask(&server, &json!({ "query": query })).ok();
    assert_eq!(answer["rows"], json!([["api", 1], ["web", 6]]));
    let sql = answer["sql"].as_str().expect("SQL");
    assert!(sql.contains("GROUP BY"), "{sql}");
    let again = server.sql(sql).ok();
    assert_eq!((&again["rows"], again.get("sql")), (&answer["rows"], None));
}

#[test]
fn two_times_are_compared() {
    let server = server();
    let query = json!({
        "table": "requests", "from": "2026-11-21T11:59:00Z", "to": "2026-11-21T12:00:00Z",
        "bucket": "30s", "compare": { "shift": "1m" }, "aggregates": "count(*)",
        "order_by": ["time", "side"],
    });
    let answer = ask(&server, &json!({ "query": query })).ok();
    let names: Vec<&Value> =
        answer["columns"].as_array().expect("columns").iter().map(|c| &c["name"]).collect();
    assert_eq!(names, ["side", "time", "count(*)"]);
    assert_eq!(
        answer["rows"],
        json!([
            ["before", "2026-11-21T11:59:00Z", 5],
            ["now", "2026-11-21T11:59:00Z", 1],
            ["now", "2026-11-21T11:59:30Z", 1],
        ])
    );
    let sql = answer["sql"].as_str().expect("SQL");
    assert_eq!(server.rows(sql), answer["rows"]);
}

/// The file has a row for each hour from 9 in the first, two in the second and so on, of Berlin's
/// clocks, which were set forward between the two weeks.
#[test]
fn weeks_are_compared_hour_by_hour_across_a_change_of_clocks() {
    let server = Server::start();
    server.log("dst", include_str!("../cases/23-dst.jsonl"));
    let query = json!({
        "table": "dst", "from": "2024-03-31T00:00:00+01:00", "to": "2024-04-07T00:00:00+02:00",
        "bucket": "1h", "time_zone": "Europe/Berlin", "compare": { "shift": "7d" },
        "aggregates": ["min(h)", "max(h)", "count(*)"], "order_by": ["time", "side"],
    });
    let answer = ask(&server, &json!({ "query": query })).ok();
    let rows = answer["rows"].as_array().expect("rows");
    let mut compared = 0;
    for pair in rows.chunk_by(|one, other| one[1] == other[1]) {
        match pair {
            [_] => {}
            [before, now] => {
                assert_eq!((&before[2], &before[3], &before[4]), (&now[2], &now[3], &now[4]));
                compared += 1;
            }
            _ => panic!("{pair:?}"),
        }
    }
    // The file begins on a Friday and ends on the next one.
    assert_eq!(compared, 9);
    let total: i64 = rows.iter().filter_map(|row| row[4].as_i64()).sum();
    assert_eq!(total, 360);
}

/// A comparison's rates divide by the time that each side covers of a bucket. This holds even if
/// one bucket has the end of the earlier side and the beginning of the later one.
#[test]
fn rates_of_a_comparison_are_by_the_time_of_each_side() {
    let server = Server::start();
    // One row per second for two minutes.
    let row = |second: i64| json!({ "time": 1_763_726_400 + second, "n": 1 }).to_string() + "\n";
    server.log("ticks", &(0..120).map(row).collect::<String>());
    let asked = |from: i64, to: i64, bucket: Value| {
        let mut query = json!({
            "table": "ticks", "from": 1_763_726_400 + from, "to": 1_763_726_400 + to,
            "aggregates": ["per_minute(count(*))"], "order_by": ["side", "2"],
        });
        query.as_object_mut().expect("an object").extend(bucket.as_object().expect("one").clone());
        let answer = ask(&server, &json!({ "query": query })).ok();
        let rows = answer["rows"].as_array().expect("rows");
        rows.iter().map(|row| json!([row[0], row[2]])).collect::<Vec<Value>>()
    };
    let grouped = json!({
        "group_by": "time_bucket('1 minute', time)", "compare": { "shift": "40s" },
    });
    let side = |side: &str, rate: i64| json!([side, rate]);
    // From 70 to 100 beside from 30 to 60: 30 rows in the 30 seconds of each bucket.
    assert_eq!(asked(70, 100, grouped.clone()), [side("before", 60), side("now", 60)]);
    // From 75 to 105 beside from 35 to 65: the second minute has 5 seconds of the earlier side.
    let both = [side("before", 60), side("before", 60), side("now", 60)];
    assert_eq!(asked(75, 105, grouped), both);
    // The last bucket of either side is cut at its end.
    let bucket = json!({ "bucket": "20s", "compare": { "shift": "1m" } });
    let each = ["before", "before", "now", "now"].map(|of| side(of, 60));
    assert_eq!(asked(60, 90, bucket), each);
}

#[test]
fn columns_that_are_absent_may_be_null() {
    let server = server();
    let query = json!({ "table": "requests", "group_by": "gone", "filter": "ms > 5" });
    let body = |is_null: bool| json!({ "query": query, "null_if_absent": is_null });
    let problem = ask(&server, &body(false)).problem(400, "bad-query");
    assert_eq!(problem["field"], "group_by");
    let answer = ask(&server, &body(true)).ok();
    assert_eq!(answer["rows"], json!([[null, 6]]));
    let warnings = answer["warnings"].as_array().expect("warnings");
    let warning = warnings.iter().find(|w| w["code"] == "unknown_column").expect("a warning");
    assert!(warning["message"].as_str().is_some_and(|text| text.contains("gone")), "{warning}");
}

#[test]
fn series_beyond_the_limit_are_marked() {
    let server = server();
    let query = json!({
        "table": "requests", "from": "-1h", "to": "now", "bucket": "1h", "group_by": "service",
        "aggregates": "count(*)", "series": 1, "order_by": "service",
    });
    let answer = ask(&server, &json!({ "query": query })).ok();
    let other: Vec<(&Value, &Value)> = answer["rows"]
        .as_array()
        .expect("rows")
        .iter()
        .map(|row| &row[1])
        .zip(answer["other"].as_array().expect("other"))
        .collect();
    assert_eq!(other, [(&json!("web"), &json!(false)), (&Value::Null, &json!(true))]);
}

#[test]
fn raw_rows_have_no_samples_and_no_range_is_said() {
    let server = server();
    let answer = server.sql("SELECT ms FROM requests ORDER BY ms LIMIT 2").ok();
    assert_eq!(answer["rows"], json!([[2.5], [10]]));
    assert!(answer.get("samples").is_none() && answer.get("other").is_none());
    assert_eq!(answer["time"], json!({ "from": null, "to": null }));
    let codes: Vec<&str> = answer["warnings"]
        .as_array()
        .expect("warnings")
        .iter()
        .filter_map(|warning| warning["code"].as_str())
        .collect();
    assert!(codes.contains(&"no_time_range"), "{codes:?}");
}

#[test]
fn constants_need_no_table() {
    let server = Server::start();
    let answer = server.sql("SELECT 1;").ok();
    assert_eq!(answer["rows"], json!([[1]]));
    assert_eq!(answer["coverage"]["fraction"], 1.0);
    let version = server.rows("SELECT version()");
    assert!(version[0][0].as_str().expect("text").to_lowercase().contains("hadal"), "{version}");
}

#[test]
fn tables_are_shown_and_described() {
    let server = server();
    let tables = server.sql("SHOW TABLES").ok();
    assert_eq!(tables["columns"][0]["name"], "table");
    assert_eq!(tables["rows"][0][0], "requests");
    assert_eq!(tables["rows"][0][1], 3);
    let columns = server.rows("DESCRIBE requests");
    let row = |name: &str| {
        let rows = columns.as_array().expect("rows");
        rows.iter().find(|row| row[0] == name).unwrap_or_else(|| panic!("no {name}")).clone()
    };
    assert_eq!(row("ms"), json!(["ms", "number", ["number"], 3, 0, false]));
    assert_eq!(row("tags"), json!(["tags", "vector", ["vector"], 1, 2, false]));
    assert_eq!(row("time"), json!(["time", "time", ["number"], 3, 0, true]));
}

#[test]
fn a_table_is_summarized() {
    let server = server();
    let answer = server.sql("SUMMARIZE requests").ok();
    let rows = answer["rows"].as_array().expect("rows");
    let row = |name: &str| {
        rows.iter().find(|row| row[0] == name).unwrap_or_else(|| panic!("no {name}")).clone()
    };
    let ms = row("ms");
    assert_eq!(
        ms.as_array().expect("a row")[..7],
        [json!("ms"), json!("number"), json!(3), json!(0), json!(3), json!("2.5"), json!("30"),]
    );
    assert_eq!(ms[7], 10);
    let service = row("service");
    assert_eq!(service[9], json!(["web (6)", "api (1)"]));
    assert_eq!(row("time")[5], "2026-11-21T11:58:00Z");
    assert_eq!(answer["coverage"]["rows_scanned"], 3);
}

#[test]
fn an_error_has_its_place() {
    let server = server();
    let problem = server.sql("SELECT service,\n  servise FROM requests").problem(400, "bad-query");
    assert_eq!(problem["position"], json!({ "line": 2, "column": 3, "offset": 18 }));
    assert!(problem["detail"].as_str().expect("text").contains("servise"));
    assert!(problem["hint"].as_str().expect("text").contains("service"));
    let query = json!({ "table": "requests", "filter": ["ms > 1", "ms >"] });
    let problem = ask(&server, &json!({ "query": query })).problem(400, "bad-query");
    assert_eq!(problem["field"], "filter[1]");
}

#[test]
fn an_unknown_table_has_a_nearest_name() {
    let server = server();
    let problem = server.sql("SELECT count(*) FROM request").problem(404, "unknown-table");
    assert_eq!(problem["hint"], "did you mean requests?");
    let spec = json!({ "query": { "table": "requets" } });
    assert_eq!(ask(&server, &spec).problem(404, "unknown-table")["hint"], "did you mean requests?");
    server.sql("DESCRIBE nothing").problem(404, "unknown-table");
    server.sql("SUMMARIZE nothing").problem(404, "unknown-table");
}

#[test]
fn other_statements_are_refused_with_advice() {
    let server = server();
    for sql in [
        "SELECT * FROM requests JOIN b USING (x)",
        "SELECT * FROM (SELECT 1) JOIN b USING (x)",
        "DROP TABLE requests",
    ] {
        let problem = server.sql(sql).problem(400, "bad-query");
        assert!(problem["hint"].is_string(), "{sql}: {problem}");
    }
}

#[test]
fn the_body_must_be_a_question() {
    let server = server();
    for body in [
        "",
        "SELECT 1",
        "{",
        "[]",
        "[\"SELECT 1\", null, null, false]",
        "{\"query\": [\"t\"]}",
        "{}",
        "{\"sql\": 1}",
        "{\"sql\": \"SELECT 1\", \"query\": {\"table\": \"t\"}}",
        "{\"sql\": \"SELECT 1\", \"enabled\": true}",
        "{\"sql\": \"SELECT 1\", \"null_if_absent\": true}",
        "{\"query\": {\"table\": \"t\", \"filtre\": \"x\"}}",
        "{\"sql\": \"SELECT 1\", \"deadline_ms\": 0}",
        "{\"sql\": \"SELECT 1\", \"deadline_ms\": 600001}",
    ] {
        let reply = server.request("POST", "/v1/query").body(body).send();
        let problem = reply.problem(400, "bad-request");
        let detail = problem["detail"].as_str().expect("text");
        assert!(!detail.contains("struct"), "{body}: {detail}");
    }
    let ask = |deadline| ask(&server, &json!({ "sql": "SELECT 1", "deadline_ms": deadline }));
    assert_eq!(ask(600_000).status, 200);
    // A millisecond may pass before the query is examined.
    assert!([200, 504].contains(&ask(1).status));
}

#[test]
fn the_same_question_twice_has_the_same_answer() {
    let server = server();
    let sql = "SELECT service, count(*), avg(ms), count(DISTINCT ms) FROM requests GROUP BY ALL";
    assert_eq!(server.rows(sql), server.rows(sql));
}

#[test]
fn the_paper_s_queries_run_as_printed() {
    let server = Server::start();
    server.log("mytable", "{\"time\": \"2026-11-21T11:58:00Z\", \"service\": \"web\", \"column1\": 10, \"column2\": 1}");
    let first = "SELECT count(*), SUM(column1) as sum1, SUM(column2) as sum2 FROM mytable \
                 WHERE time >= now()-3*3600";
    assert_eq!(server.rows(first), json!([[1, 10, 1]]));
    for comma in [",", ""] {
        let second = format!(
            "SELECT count(*), sum(column1) as sum1, service, \
             (time - now())/60*60 + now() as minute{comma} FROM mytable \
             WHERE time >= now()-3*3600 and time <= now() \
             GROUP BY service, minute ORDER BY sum1 DESC LIMIT 1800"
        );
        assert_eq!(server.rows(&second), json!([[1, 10, "web", "2026-11-21T11:58:00Z"]]));
    }
}
