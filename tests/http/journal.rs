//! What Hadal writes down about itself.

use hadal_server::App;
use serde_json::json;

use crate::server::{Server, memory_app};

/// Another server of the same rows, once the one that saw all of this has stopped: then all is
/// written.
fn after(app: &App, acts: impl FnOnce(&Server)) -> Server {
    let mut server = Server::with_journal(app);
    acts(&server);
    server.join();
    Server::with_journal(app)
}

#[test]
fn questions_are_written_down_with_what_became_of_them() {
    let app = memory_app(None);
    let mut tables = 0;
    let server = after(&app, |server| {
        server.log("t", "{\"n\": 1}\n{\"n\": 2}\n{\"n\": 3}\n");
        server.rows("SELECT n FROM t WHERE n > 1");
        server.sql("SELECT m FROM t").problem(400, "bad-query");
        // What was written down before makes tables of its own.
        tables = server.rows("SHOW TABLES").as_array().expect("tables").len();
        let body = json!({ "query": { "table": "t", "aggregates": "count(*)" } }).to_string();
        server.request("POST", "/v1/query").header("User-Agent", "a page").body(body).send().ok();
    });
    let select = "SELECT table, sql, outcome, rows, rows_matched, client FROM _queries \
                  ORDER BY outcome, sql DESC";
    assert_eq!(
        server.rows(select),
        json!([
            [null, "SHOW TABLES", "answered", tables, 0, null],
            ["t", "SELECT n FROM t WHERE n > 1", "answered", 2, 2, null],
            ["t", "SELECT count(*) FROM \"t\" GROUP BY ALL", "answered", 1, 3, "a page"],
            [null, "SELECT m FROM t", "bad-query", 0, 0, null],
        ])
    );
    // Questions about them are not among them.
    assert_eq!(server.rows("SELECT count(*) FROM _queries"), json!([[4]]));
    let server = after(&app, |_| {});
    assert_eq!(server.rows("SELECT count(*) FROM _queries"), json!([[4]]));
}

#[test]
fn a_question_without_an_answer_has_no_rows() {
    let app = memory_app(None);
    let server = after(&app, |server| {
        server.log("t", "{\"n\": 1}\n");
        let body = json!({ "sql": "SELECT n FROM t", "deadline_ms": 0 }).to_string();
        server.request("POST", "/v1/query").body(body).send().problem(400, "bad-request");
        server.sql("SELECT n FROM t LIMIT 1 OFFSET -1").problem(400, "bad-query");
    });
    let noted = server.rows("SELECT outcome, rows FROM _queries");
    // What is no question in JSON is none.
    assert_eq!(noted, json!([["bad-query", 0]]));
}

#[test]
fn what_comes_in_is_added_up_by_table() {
    let app = memory_app(None);
    let mut bytes = 0;
    let server = after(&app, |server| {
        for body in ["{\"n\": 1}\n", "{\"n\": 2}\n{\"n\": \n"] {
            bytes += body.len();
            server.request("POST", "/v1/log/t").body(body).send().ok();
        }
        let strict = server.request("POST", "/v1/log/t").header("Hadal-Strict", "true");
        strict.body("{\n").send().problem(422, "rows-rejected");
        bytes += 2;
        server.log("u", "{\"n\": 1}\n");
    });
    let select = "SELECT table, sum(bodies), sum(refused), sum(rows), sum(rejected), sum(bytes) \
                  FROM _ingest GROUP BY table ORDER BY table";
    assert_eq!(server.rows(select), json!([["t", 3, 1, 2, 1, bytes], ["u", 1, 0, 1, 0, 9]]));
}

#[test]
fn own_tables_are_small_unless_somebody_says_otherwise() {
    let app = memory_app(None);
    let server = after(&app, |server| {
        server.log("t", "{\"n\": 1}\n");
        server.rows("SELECT n FROM t");
    });
    let effective = |table: &str| {
        let settings = server.get(&format!("/v1/tables/{table}/settings")).ok();
        settings["effective"]["bytes"].clone()
    };
    let own = json!(hadal_types::limits::OWN_TABLE_BYTES);
    assert_eq!((effective("_queries"), effective("_ingest")), (own.clone(), own.clone()));
    assert_ne!(effective("t"), own);
    server.request("DELETE", "/v1/tables/_queries/settings").send().ok();
    assert_eq!(effective("_queries"), own);
}
