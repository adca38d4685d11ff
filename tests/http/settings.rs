//! `/v1/tables/{table}/settings`: set, read, protected from lost updates, and in force at once.

use hadal_frontend::FrontendConfig;
use serde_json::{Value, json};

use crate::client::Reply;
use crate::server::{NOW, Server, memory_backend};

const PATH: &str = "/v1/tables/t/settings";
const NEW: &str = "{\"time\": \"2026-11-21T11:00:00Z\", \"a\": 1}\n";
/// Ten days before.
const OLD: &str = "{\"time\": \"2026-11-11T12:00:00Z\", \"a\": 2}\n";

fn put(server: &Server, version: i64, settings: &Value) -> Reply {
    let body = json!({ "version": version, "settings": settings }).to_string();
    server.request("PUT", PATH).body(body).send()
}

fn count(server: &Server) -> Value {
    server.rows("SELECT count(*) FROM t")
}

#[test]
fn a_table_without_settings_has_the_defaults() {
    let server = Server::start();
    server.log("t", NEW);
    let answer = server.get(PATH).ok();
    assert_eq!(answer["settings"], json!({}));
    assert_eq!(
        answer["effective"],
        json!({
            "age": "30d", "age_seconds": 2_592_000, "archive": false, "bytes": 1 << 30, "time_column": "time",
            "cold_after": "none", "cold_after_seconds": null,
            "sample_after": "none", "sample_after_seconds": null, "sample_by": [],
            "sample_keep": "1/10", "sample_key": null, "sample_least": 1, "storage": "memory",
            "units": {},
        })
    );
    assert_eq!((&answer["exists"], &answer["rows"]), (&json!(true), &json!(1)));
    let next = &answer["next_expiry"];
    assert_eq!(next["rows"], 0, "{answer}");
    // The first row requests a pass. Until it ends, it is the next one; then the next is due later.
    let passes = [
        json!(["2026-11-21T12:00:00Z", "2026-10-22T12:00:00Z"]),
        json!(["2026-11-21T12:15:00Z", "2026-10-22T12:15:00Z"]),
    ];
    assert!(passes.contains(&json!([next["at"], next["until"]])), "{answer}");
}

#[test]
fn a_table_of_old_rows_is_written_down_as_such() {
    let server = Server::start();
    server.log("t", "{\"time\": \"2001-01-01T00:00:00Z\", \"a\": 1}");
    let answer = server.get(PATH).ok();
    assert_eq!(answer["settings"], json!({ "age": "none" }));
    assert_eq!(
        (&answer["next_expiry"], &answer["effective"]["age_seconds"]),
        (&Value::Null, &Value::Null)
    );
    assert!(answer["version"].as_i64() > Some(0));
}

#[test]
fn settings_rule_at_once() {
    let server = Server::start();
    server.log("t", &(NEW.repeat(40) + OLD));
    let version = server.get(PATH).ok()["version"].as_i64().expect("a version");
    let answer =
        put(&server, version, &json!({ "age": "7d", "bytes": "2GB", "cold_after": "48h" })).ok();
    let expected = json!({ "age": "7d", "bytes": 2_000_000_000, "cold_after": "2d" });
    assert_eq!(answer["settings"], expected);
    assert_eq!(answer["effective"]["cold_after_seconds"], 172_800);
    assert_eq!(answer["effective"]["age_seconds"], 604_800);
    assert_eq!(server.get("/v1/tables/t").ok()["age_limit_days"], 7);
    let refused = server.request("POST", "/v1/log/t").body(OLD).send().ok();
    assert_eq!(refused["rejected_count"], 1);
    let reason = "its time 2026-11-11T12:00:00Z is older than the table's limit of 7 days";
    assert_eq!(refused["rejected"][0]["reason"], reason);
    // The header for rows of any age does not override a person's setting.
    let wish = server.request("POST", "/v1/log/t").header("Hadal-Any-Age", "true").body(OLD);
    assert_eq!(wish.send().ok()["rejected_count"], 1);
    let version = answer["version"].as_i64().expect("a version");
    put(&server, version, &json!({ "age": "none" })).ok();
    server.log("t", OLD);
}

#[test]
fn a_change_is_followed_by_a_look_at_once() {
    let server = Server::start();
    server.log("t", NEW);
    server.log("t", OLD);
    let version = server.get(PATH).ok()["version"].as_i64().expect("a version");
    let answer = put(&server, version, &json!({ "age": "7d" })).ok();
    // The pass may be over by now, but expired rows do not wait for a quarter of an hour.
    let next = &answer["next_expiry"];
    assert!(next["rows"] == 0 || next["at"] == NOW, "{answer}");
}

#[test]
fn a_table_whose_rows_have_all_gone_is_there_still() {
    let server = Server::start();
    server.log("t", NEW);
    put(
        &server,
        server.get(PATH).ok()["version"].as_i64().expect("a version"),
        &json!({ "age": "30m" }),
    )
    .ok();
    // A change starts a pass soon.
    while count(&server) != json!([[0]]) {
        std::thread::yield_now();
    }
    assert_eq!(server.rows("SELECT a, count(*) FROM t GROUP BY a"), json!([]));
    let table = server.get("/v1/tables/t").ok();
    assert_eq!((&table["rows"], &table["column_count"]), (&json!(0), &json!(2)));
    let answer = server.get(PATH).ok();
    assert_eq!((&answer["exists"], &answer["rows"]), (&json!(true), &json!(0)));
    server.request("DELETE", "/v1/tables/t").send().ok();
    server.get("/v1/tables/t").problem(404, "unknown-table");
}

#[test]
fn a_key_is_set_with_and_without_later_sampling() {
    let server = Server::start();
    let answer = put(&server, 0, &json!({ "sample_key": "user", "sample_keep": "1/5" })).ok();
    assert_eq!(answer["notes"], json!(["sample_keep does nothing without sample_after"]));
    let settings = json!({ "sample_after": "14d", "sample_key": "user" });
    let answer = put(&server, answer["version"].as_i64().expect("a version"), &settings).ok();
    assert_eq!((&answer["settings"], &answer["notes"]), (&settings, &json!([])));
    assert_eq!(answer["effective"]["sample_key"], "user");
}

#[test]
fn who_ends_archiving_is_told_what_goes_unarchived() {
    let config = FrontendConfig {
        archive: Some("/srv/old".to_owned()),
        keeps_self_tables: false,
        ..FrontendConfig::default()
    };
    let server = Server::with_frontend(memory_backend(None), config);
    server.log("t", &(NEW.repeat(40) + OLD + OLD));
    let set = |settings: Value| {
        let version = server.get(PATH).ok()["version"].as_i64().expect("a version");
        put(&server, version, &settings).ok()["notes"].clone()
    };
    let note = "archive=off: rows older than age=7d, 2 of them, are dropped unarchived";
    assert_eq!(set(json!({ "age": "7d", "archive": true })), json!([]));
    assert_eq!(set(json!({ "age": "7d" })), json!([note]));
    assert_eq!(server.get(PATH).ok()["notes"], json!([]), "it is told once");
    assert_eq!(set(json!({ "archive": true })), json!([]));
    assert_eq!(set(json!({ "age": "none" })), json!([]), "nothing goes");
    set(json!({ "age": "30d", "archive": true }));
    let answer = server.request("DELETE", PATH).send().ok();
    assert_eq!(answer["notes"], json!([]), "none is older than 30 days");
}

#[test]
fn a_wish_for_rows_of_any_age_makes_a_table_one_of_any_age() {
    let server = Server::start();
    server.log("t", NEW);
    let log = |row: &str| {
        server.request("POST", "/v1/log/t").header("Hadal-Any-Age", "true").body(row).send().ok()
    };
    assert_eq!(log(OLD)["accepted"], 1);
    assert_eq!(server.get(PATH).ok()["settings"], json!({}), "it was not needed");
    assert_eq!(log("{\"time\": \"2026-01-01T00:00:00Z\"}")["accepted"], 1);
    assert_eq!(server.get(PATH).ok()["settings"], json!({ "age": "none" }));
    assert_eq!(count(&server), json!([[3]]));
}

#[test]
fn a_change_that_saw_an_older_version_is_refused() {
    let server = Server::start();
    let first = put(&server, 0, &json!({ "age": "7d" })).ok();
    assert_eq!(first["exists"], false, "a table may be set before its first row");
    let first = first["version"].as_i64().expect("a version");
    let second = put(&server, first, &json!({ "bytes": "1GiB" })).ok();
    assert_eq!(second["settings"], json!({ "bytes": 1 << 30 }), "all settings at once");
    for stale in [0, first] {
        let problem =
            put(&server, stale, &json!({ "age": "1d" })).problem(409, "settings-conflict");
        assert_eq!(problem["version"], second["version"]);
        assert_eq!(problem["hint"], "GET the settings, and change those");
    }
    let problem = server.request("DELETE", &format!("{PATH}?version={first}")).send();
    problem.problem(409, "settings-conflict");
    assert_eq!(server.get(PATH).ok()["settings"], json!({ "bytes": 1 << 30 }));
    assert_eq!(server.request("DELETE", PATH).send().ok()["settings"], json!({}));
    assert_eq!(server.request("DELETE", PATH).send().ok()["version"], 0);
}

#[test]
fn what_cannot_be_is_refused_by_its_name() {
    let server = Server::start();
    for (settings, field) in [
        (json!({ "age": "soon" }), "age"),
        (json!({ "age": 59 }), "age"),
        (json!({ "bytes": 1 }), "bytes"),
        (json!({ "time_column": "" }), "time_column"),
        (json!({ "cold_after": 59 }), "cold_after"),
        (json!({ "cold_before": "1d" }), "cold_before"),
        // This server has no archive.
        (json!({ "archive": true }), "archive"),
        (json!({ "archive": 1 }), "archive"),
        (json!({ "sample_after": 59 }), "sample_after"),
        (json!({ "sample_by": ["a", 1] }), "sample_by"),
        (json!({ "sample_keep": 2 }), "sample_keep"),
        (json!({ "sample_key": ["a"] }), "sample_key"),
        (json!({ "sample_key": "a", "sample_by": ["b"] }), "sample_key"),
        (json!({ "sample_key": "a", "sample_least": 2 }), "sample_key"),
        (json!({ "sample_least": 0 }), "sample_least"),
        (json!({ "units": { "a": "meters" } }), "units"),
        (json!({ "units": ["a"] }), "units"),
        (json!([]), "settings"),
    ] {
        let problem = put(&server, 0, &settings).problem(400, "bad-settings");
        assert_eq!(problem["field"], field, "{problem}");
    }
    let send = |body: &str| server.request("PUT", PATH).body(body).send();
    send("{\"settings\": {}}").problem(400, "bad-settings");
    send("age=7d").problem(400, "bad-request");
    server.request("DELETE", &format!("{PATH}?version=x")).send().problem(400, "bad-request");
    server.get("/v1/tables/a%20b/settings").problem(404, "unknown-table");
    assert_eq!(server.get(PATH).ok()["version"], 0);
}

#[test]
fn columns_have_the_units_that_were_set() {
    let server = Server::start();
    server.log("t", NEW);
    let version = server.get(PATH).ok()["version"].as_i64().expect("a version");
    let units = json!({ "size": "bytes", "took": "per second" });
    let answer = put(&server, version, &json!({ "units": units })).ok();
    assert_eq!((&answer["settings"]["units"], &answer["effective"]["units"]), (&units, &units));
    assert_eq!(server.get(PATH).ok()["settings"], json!({ "units": units }));
    // A change that is based on an older version is refused, as of any setting.
    put(&server, version, &json!({ "units": {} })).problem(409, "settings-conflict");
    let version = answer["version"].as_i64().expect("a version");
    let answer = put(&server, version, &json!({ "units": {} })).ok();
    assert_eq!((&answer["settings"], &answer["effective"]["units"]), (&json!({}), &json!({})));
}

#[test]
fn the_time_column_can_be_set_before_the_first_row() {
    let server = Server::start();
    put(&server, 0, &json!({ "time_column": "received" })).ok();
    server.log("t", "{\"time\": \"2026-11-20T00:00:00Z\", \"received\": \"2026-11-21T11:00:00Z\"}");
    let table = server.get("/v1/tables/t").ok();
    assert_eq!(table["time_column"], "received");
    assert_eq!(table["first_time"], "2026-11-21T11:00:00Z");
    assert_eq!(server.get(PATH).ok()["effective"]["time_column"], "received");
}

#[test]
fn settings_go_with_their_table() {
    let server = Server::start();
    server.log("t", NEW);
    let version = server.get(PATH).ok()["version"].as_i64().expect("a version");
    put(&server, version, &json!({ "age": "7d" })).ok();
    server.request("DELETE", "/v1/tables/t").send().ok();
    assert_eq!(server.get(PATH).ok()["settings"], json!({}));
    server.log("t", OLD);
    assert_eq!(server.get(PATH).ok()["settings"], json!({ "age": "none" }), "a table of its own");
    // A table with settings only can be dropped, too.
    let path = "/v1/tables/u/settings";
    server.request("PUT", path).body("{\"version\":0,\"settings\":{\"age\":\"1d\"}}").send().ok();
    server.request("DELETE", "/v1/tables/u").send().ok();
    server.request("DELETE", "/v1/tables/u").send().problem(404, "unknown-table");
}
