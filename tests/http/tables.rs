//! `/v1/tables` and the routes below it, and the server's metrics.

use hadal_types::limits;
use serde_json::{Value, json};

use crate::server::Server;

const ROWS: &str = "{\"time\": \"2026-11-21T11:58:00Z\", \"service\": \"web\", \"ms\": 10, \"sample_rate\": 5, \"path\": [\"a\", \"b\", \"a\"]}\n\
                    {\"time\": \"2026-11-21T11:59:00Z\", \"service\": \"Worker\", \"ms\": 30, \"path\": [\"b\"]}\n\
                    {\"time\": \"2026-11-21T11:59:30Z\", \"service\": \"api\", \"ms\": 2.5}\n";

fn server() -> Server {
    let server = Server::start();
    server.log("requests", ROWS);
    server
}

fn names(list: &Value) -> Vec<&str> {
    list.as_array().expect("a list").iter().filter_map(|item| item["name"].as_str()).collect()
}

#[test]
fn tables_are_listed() {
    let server = server();
    assert_eq!(server.get("/v1/tables").ok()["tables"].as_array().map(Vec::len), Some(1));
    server.log("b", "{}");
    let tables = server.get("/v1/tables").ok();
    assert_eq!(names(&tables["tables"]), ["b", "requests"]);
    let table = &tables["tables"][1];
    assert_eq!(table["rows"], 3);
    assert_eq!(table["column_count"], 5);
    assert_eq!(table["time_column"], "time");
    assert_eq!(table["first_time"], "2026-11-21T11:58:00Z");
    assert_eq!(table["last_time"], "2026-11-21T11:59:30Z");
    assert_eq!(table["age_limit_days"], 30);
    server.log("old", "{\"time\": \"2001-01-01T00:00:00Z\"}");
    assert_eq!(server.get("/v1/tables/old").ok()["age_limit_days"], json!(null));
}

#[test]
fn a_table_has_columns() {
    let server = server();
    let table = server.get("/v1/tables/requests").ok();
    assert_eq!(names(&table["columns"]), ["ms", "path", "sample_rate", "service", "time"]);
    assert_eq!(
        table["columns"][0],
        json!({ "name": "ms", "type": "number", "is_time": false,
                "parts": [{ "kind": "number", "rows": 3 }] })
    );
    server.get("/v1/tables/request").problem(404, "unknown-table");
    server.get("/v1/tables/..%2f..%2fetc").problem(404, "unknown-table");
}

#[test]
fn columns_have_statistics() {
    let server = server();
    let page = server.get("/v1/tables/requests/columns").ok();
    assert_eq!((&page["more"], &page["complete"]), (&json!(false), &json!(true)));
    assert_eq!(
        page["columns"][0],
        json!({
            "name": "ms", "type": "number", "is_time": false,
            "parts": [{ "kind": "number", "rows": 3 }],
            "rows": 3, "null_fraction": 0.0, "distinct": 3, "min": 2.5, "max": 30,
            "p50": 10, "p95": 24,
        })
    );
    let path = &page["columns"][1];
    assert_eq!((&path["rows"], &path["distinct"]), (&json!(2), &json!(2)));
    assert_eq!(path["min"], Value::Null);
    assert_eq!(page["columns"][4]["max"], "2026-11-21T11:59:30Z");
    // They are updated with the table.
    server.log("requests", "{\"ms\": 31}");
    let page = server.get("/v1/tables/requests/columns").ok();
    assert_eq!((&page["columns"][0]["rows"], &page["columns"][0]["max"]), (&json!(4), &json!(31)));
}

#[test]
fn blocks_can_be_looked_at() {
    let server = server();
    server.log("requests", "{\"time\": \"2026-11-21T11:57:00Z\", \"ms\": \"slow\"}");
    let get = |page: &str| server.get(&format!("/v1/tables/requests/blocks{page}"));
    let page = get("").ok();
    assert_eq!((&page["rows"], &page["block_count"]), (&json!(4), &json!(2)));
    let block = &page["blocks"][0];
    assert_eq!((&block["rows"], &block["fresh"]), (&json!(1), &json!(true)));
    assert_eq!(block["first_time"], "2026-11-21T11:57:00Z");
    let bytes = |of: &Value| of["bytes"].as_u64().expect("bytes");
    let blocks = page["blocks"].as_array().expect("blocks");
    assert_eq!(blocks.iter().map(bytes).sum::<u64>(), bytes(&page));
    let columns = page["columns"].as_array().expect("columns");
    let ms: Vec<(&Value, &Value, &Value)> = columns
        .iter()
        .filter(|column| column["name"] == "ms")
        .map(|column| (&column["kind"], &column["blocks"], &column["rows"]))
        .collect();
    assert_eq!(
        ms,
        [(&json!("number"), &json!(1), &json!(3)), (&json!("string"), &json!(1), &json!(1)),]
    );
    let time: Vec<&Value> = columns.iter().filter(|column| column["name"] == "time").collect();
    assert_eq!(time.iter().filter_map(|column| column["rows"].as_u64()).sum::<u64>(), 4);
    let first = get("?limit=1").ok();
    assert_eq!((&first["blocks"][0], &first["more"]), (block, &json!(true)));
    let second = get("?limit=1&offset=1").ok();
    assert_eq!((&second["blocks"][0], &second["more"]), (&page["blocks"][1], &json!(false)));
    get(&format!("?limit={}", limits::BLOCKS_LISTED_MAX)).ok();
    get(&format!("?limit={}", limits::BLOCKS_LISTED_MAX + 1)).problem(400, "bad-request");
    get("?offset=-1").problem(400, "bad-request");
    server.get("/v1/tables/nothing/blocks").problem(404, "unknown-table");
    server.get("/v1/tables/..%2fx/blocks").problem(404, "unknown-table");
}

#[test]
fn columns_come_in_pages() {
    let server = server();
    let get = |question: &str| server.get(&format!("/v1/tables/requests/columns?{question}"));
    let first = get("limit=2").ok();
    assert_eq!(names(&first["columns"]), ["ms", "path"]);
    assert_eq!(first["more"], true);
    let second = get("limit=2&after=path").ok();
    assert_eq!(names(&second["columns"]), ["sample_rate", "service"]);
    let page = get("prefix=S").ok();
    assert_eq!(names(&page["columns"]), ["sample_rate", "service"]);
    assert_eq!(page["more"], false);
    let too_many = format!("limit={}", limits::COLUMNS_LISTED_MAX + 1);
    for bad in ["limit=0", &too_many, "limit=x", "prefx=s"] {
        get(bad).problem(400, "bad-request");
    }
    assert_eq!(get(&format!("limit={}", limits::COLUMNS_LISTED_MAX)).status, 200);
    server.get("/v1/tables/nothing/columns").problem(404, "unknown-table");
}

#[test]
fn values_are_counted_with_their_weights() {
    let server = server();
    let get = |column: &str| server.get(&format!("/v1/tables/requests/columns/{column}"));
    let value = |value: Value, count: u64, samples: u64| json!({ "value": value, "count": count, "samples": samples });
    let services = get("service/values").ok();
    assert_eq!(services["complete"], true);
    assert_eq!(
        services["values"],
        json!([value(json!("web"), 5, 1), value(json!("Worker"), 1, 1), value(json!("api"), 1, 1)])
    );
    assert_eq!(
        get("service/values?prefix=W").ok()["values"],
        json!([value(json!("web"), 5, 1), value(json!("Worker"), 1, 1)])
    );
    assert_eq!(get("service/values?limit=1").ok()["values"].as_array().map(Vec::len), Some(1));
    assert_eq!(get("service/values?prefix=%25").ok()["values"], json!([]));
    assert_eq!(get("ms/values?prefix=2").ok()["values"], json!([value(json!(2.5), 1, 1)]));
    assert_eq!(
        get("path/values").ok()["values"],
        json!([value(json!("b"), 6, 2), value(json!("a"), 5, 1)])
    );
    assert_eq!(get("path/values?prefix=a").ok()["values"], json!([value(json!("a"), 5, 1)]));
    let minute = "from=2026-11-21T11:59:00Z&to=2026-11-21T11:59:30Z";
    for (range, services) in [
        (minute, json!([value(json!("Worker"), 1, 1)])),
        ("from=-90s", json!([value(json!("Worker"), 1, 1), value(json!("api"), 1, 1)])),
        ("from=2026-11-22T00:00:00Z", json!([])),
    ] {
        let page = get(&format!("service/values?{range}")).ok();
        assert_eq!((&page["values"], &page["complete"]), (&services, &json!(true)), "{range}");
    }
    let problem = get("service/values?from=soon").problem(400, "bad-request");
    assert_eq!(problem["field"], "from");
    get("service/values?after=x").problem(400, "bad-request");
    get("nothing/values").problem(404, "unknown-column");
    let values = |limit: usize| get(&format!("service/values?limit={limit}"));
    values(limits::VALUES_LISTED_MAX).ok();
    values(limits::VALUES_LISTED_MAX + 1).problem(400, "bad-request");
}

#[test]
fn csv_is_taken() {
    let server = Server::start();
    let csv =
        "time,service,ms\n2026-11-21T11:00:00Z,web,1.5\n2026-11-21T11:00:01Z,\"a,b\",\nx,y,2\n";
    let request = server.request("POST", "/v1/log/t").header("Content-Type", "text/csv");
    let logged = request.body(csv).send().ok();
    assert_eq!((&logged["accepted"], &logged["rejected"][0]["line"]), (&json!(2), &json!(4)));
    assert_eq!(
        server.rows("SELECT service, ms FROM t ORDER BY time"),
        json!([["web", 1.5], ["a,b", null]])
    );
}

#[test]
fn a_table_is_dropped() {
    let server = server();
    let drop = || server.request("DELETE", "/v1/tables/requests").send();
    assert_eq!(drop().ok(), json!({ "table": "requests", "rows": 3, "settings_kept": false }));
    drop().problem(404, "unknown-table");
    server.sql("SELECT count(*) FROM requests").problem(404, "unknown-table");
    server.log("requests", "{\"a\": 1}");
    assert_eq!(server.rows("SELECT count(*) FROM requests"), json!([[1]]));
}

#[test]
fn the_server_tells_how_it_is() {
    let server = server();
    assert_eq!(server.get("/healthz").text(), "ok\n");
    assert_eq!(server.get("/readyz").text(), "ok\n");
    let version = server.get("/v1/version").ok();
    assert_eq!(version["version"], "9.8.7");
    let status = server.get("/v1/status").ok();
    assert_eq!((&status["tables"], &status["rows"]), (&json!(1), &json!(3)));
    assert_eq!(names(&status["leaves"]), ["leaf-0", "leaf-1"]);
    assert_eq!(status["archive"], json!({ "place": null, "error": null, "failing": [] }));
    let expected: u64 = status["leaves"]
        .as_array()
        .expect("leaves")
        .iter()
        .filter_map(|leaf| leaf["rows_expected"].as_u64())
        .sum();
    assert_eq!(expected, 3);
}

#[test]
fn figures_are_for_prometheus() {
    let server = server();
    server.sql("SELECT 1").ok();
    server.sql("SELECT").problem(400, "bad-query");
    let figures = server.get("/metrics").text();
    for line in [
        "hadal_rows_accepted_total 3",
        "hadal_tables 1",
        "hadal_rows 3",
        "hadal_query_seconds_count 2",
        "hadal_http_requests_total{route=\"/v1/query\",status=\"200\"} 1",
        "hadal_http_requests_total{route=\"/v1/query\",status=\"400\"} 1",
    ] {
        assert!(figures.lines().any(|figure| figure == line), "{line} is not in\n{figures}");
    }
    // The connections of the earlier requests may not have been closed yet.
    let open = figures.lines().find_map(|line| line.strip_prefix("hadal_connections "));
    assert!(open.and_then(|open| open.parse().ok()) >= Some(1), "{figures}");
}

#[test]
fn the_page_or_how_to_build_it_is_shown() {
    let server = server();
    let page = server.get("/");
    assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
    let text = page.text();
    match text.split_once("src=\"/assets/") {
        Some((_, rest)) => {
            let (script, _) = rest.split_once('"').expect("an address");
            let script = server.get(&format!("/assets/{script}"));
            assert_eq!(script.header("content-type"), Some("text/javascript; charset=utf-8"));
            let cache = script.header("cache-control").expect("a rule");
            assert!(cache.contains("immutable"), "{cache}");
        }
        None => its_lines_work(&server, &text),
    }
    server.get("/assets/../index.html").problem(404, "unknown-route");
    server.get("/assets/nothing.js").problem(404, "unknown-route");
}

fn its_lines_work(server: &Server, text: &str) {
    assert!(text.contains(&format!("curl http://{}/v1/log/events", server.address)), "{text}");
    // The requests of the two lines are accepted and answered.
    let sent: Vec<&str> =
        text.split("-d '").skip(1).filter_map(|rest| rest.split('\'').next()).collect();
    server.log("events", sent[0]);
    let answer = server.request("POST", "/v1/query").body(sent[1]).send().ok();
    assert_eq!(answer["rows"], json!([["web", 1, 12.5]]));
}
