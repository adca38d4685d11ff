//! Rollovers as clients see them: `/v1/rollover`.

use std::time::{Duration, Instant};

use hadal_peer::MemberState;
use hadal_types::limits::{ROLLOVER_BODY_BYTES_MAX, ROLLOVER_STOP_SECONDS};
use serde_json::{Value, json};

use crate::client::Reply;
use crate::cluster::{FakeMembers, abyss, set_states};
use crate::server::Server;

/// The time limit of a rollover whose leaves restart at once.
const LONG: Duration = Duration::from_secs(60);

fn begin(server: &Server, body: &Value) -> Reply {
    server.request("POST", "/v1/rollover").body(body.to_string()).send()
}

/// Lets the server's clock pass until the rollover has ended.
fn ended(server: &Server, members: &FakeMembers) -> Value {
    let start = Instant::now();
    loop {
        let rollover = server.get("/v1/rollover").ok()["rollover"].clone();
        if rollover["phase"] == "done" || rollover["phase"] == "stopped" {
            return rollover;
        }
        assert!(start.elapsed() < LONG, "{rollover}");
        members.clock.pass(1);
    }
}

#[test]
fn all_leaves_are_restarted() {
    let (server, members) = abyss();
    server.log("t", "{\"a\": \"x\"}\n");
    assert_eq!(server.get("/v1/rollover").ok(), json!({ "rollover": null }));
    // Seven rows of a machine that is gone are missing.
    let begun = begin(&server, &json!({ "share": 0.5, "coverage_floor": 0 })).ok();
    let rollover = &begun["rollover"];
    assert_eq!((&rollover["phase"], &rollover["old"]), (&json!("running"), &json!(2)));
    assert_eq!(rollover["stop_seconds"], ROLLOVER_STOP_SECONDS);
    let rollover = ended(&server, &members);
    assert_eq!((&rollover["phase"], &rollover["new"]), (&json!("done"), &json!(2)));
    assert_eq!((&rollover["old"], &rollover["rolling"]), (&json!(0), &json!([])));
    let history = rollover["history"].as_array().expect("moments");
    assert_eq!(history.last().expect("a moment")["new"], 2);
    // Nothing is left for one that continues it.
    let before = json!({ "started_before": "1970-01-01T00:00:01Z", "coverage_floor": 0 });
    begin(&server, &before).ok();
    assert_eq!(ended(&server, &members)["new"], 2);
}

#[test]
fn a_rollover_waits_when_rows_are_missing_and_can_be_stopped() {
    let (server, members) = abyss();
    let stop = || server.request("DELETE", "/v1/rollover").send();
    stop().problem(404, "no-rollover");
    let begun = server.request("POST", "/v1/rollover").send().ok();
    assert_eq!(begun["rollover"]["coverage_floor"], 0.97);
    let problem = begin(&server, &json!({})).problem(409, "rollover-running");
    assert!(problem["detail"].as_str().expect("a text").starts_with("a rollover is under way"));
    // The clock of the server stands still, so the rollover does not stop by itself.
    let stopped = stop().ok();
    assert_eq!(stopped["rollover"]["phase"], "stopping");
    let rollover = ended(&server, &members);
    assert_eq!((&rollover["phase"], &rollover["old"]), (&json!("stopped"), &json!(2)));
    assert_eq!(rollover["reason"], "it was asked to stop");
    assert_eq!(rollover["resume_from"], rollover["begun"]);
}

#[test]
fn a_leaf_that_is_away_is_named() {
    let (server, members) = abyss();
    set_states(&members, MemberState::Silent);
    let problem = begin(&server, &json!({})).problem(503, "unavailable");
    assert_eq!(problem["detail"], "leaf-1 is silent; a rollover begins when all leaves are alive");
    set_states(&members, MemberState::Announced(hadal_types::LeafState::Alive));
    *members.refusal.lock().expect("no panic") = Some("m-1 was asked: no".to_owned());
    begin(&server, &json!({ "coverage_floor": 0 })).ok();
    let rollover = ended(&server, &members);
    assert_eq!(rollover["reason"], "leaf-0 cannot be restarted: m-1 was asked: no");
    assert_eq!(rollover["rolling"][0]["failed"], true);
}

#[test]
fn wrong_settings_are_named() {
    let (server, _members) = abyss();
    for (body, field) in [
        (json!({ "share": 0 }), "share"),
        (json!({ "share": 2 }), "share"),
        (json!({ "coverage_floor": 97 }), "coverage_floor"),
        (json!({ "stop_seconds": 0 }), "stop_seconds"),
        (json!({ "started_before": "noon" }), "started_before"),
        (json!({ "shares": 0.1 }), "shares"),
        (json!([]), "sequence"),
    ] {
        let problem = begin(&server, &body).problem(400, "bad-request");
        let detail = problem["detail"].as_str().expect("a text");
        assert!(detail.contains(field), "{body}: {detail}");
    }
    let long = json!({ "started_before": "x".repeat(ROLLOVER_BODY_BYTES_MAX) });
    begin(&server, &long).problem(413, "too-large");
    // Without a cluster there is nothing to roll.
    let problem = begin(&Server::start(), &json!({})).problem(400, "bad-request");
    assert!(problem["hint"].as_str().expect("a hint").contains("--take-over"));
}
