//! The cluster as clients see it: `/v1/cluster`, its metrics, and forgetting a leaf.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};

use hadal_frontend::Members;
use hadal_peer::{BoxFuture, LeafRestart, Member, MemberRole, MemberState};
use hadal_types::limits::CLUSTER_TABLES_LISTED_MAX;
use hadal_types::{FixedClock, LeafName, LeafState, MachineName, Micros, TableName};
use serde_json::{Value, json};

use crate::server::{Server, memory_backend, now};

const ALIVE: MemberState = MemberState::Announced(LeafState::Alive);

/// The members of a cluster, as a test sets them.
pub(crate) struct FakeMembers {
    /// The clock of the server.
    pub(crate) clock: Arc<FixedClock>,
    members: Mutex<Vec<Member>>,
    /// The leaves that were forgotten, or why none can be.
    forgotten: Mutex<Vec<LeafName>>,
    pub(crate) refusal: Mutex<Option<String>>,
}

impl FakeMembers {
    fn new() -> Self {
        Self {
            clock: Arc::new(FixedClock::new(now())),
            members: Mutex::default(),
            forgotten: Mutex::default(),
            refusal: Mutex::default(),
        }
    }

    fn set(&self, members: &[(&str, MemberRole, MemberState)]) {
        let members = members.iter().map(|(name, role, state)| member(name, *role, *state));
        *self.members.lock().expect("no panic") = members.collect();
    }
}

impl Members for FakeMembers {
    fn cluster(&self) -> String {
        "abyss".to_owned()
    }

    fn members(&self) -> Vec<Member> {
        self.members.lock().expect("no panic").clone()
    }

    fn since(&self, member: &LeafName) -> Option<Micros> {
        let ago = 3 * Micros::SECOND;
        (&*member.0 == "leaf-1").then(|| Micros(now().0 - ago))
    }

    fn problems(&self) -> Vec<String> {
        vec!["the clock of 10.0.0.9:4282 is off by 2 min".to_owned()]
    }

    fn forget<'a>(&'a self, leaf: &'a LeafName) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(async {
            if let Some(refusal) = self.refusal.lock().expect("no panic").clone() {
                return Err(refusal);
            }
            self.forgotten.lock().expect("no panic").push(leaf.clone());
            Ok(())
        })
    }

    fn restart<'a>(&'a self, restart: &'a LeafRestart) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(async {
            if let Some(refusal) = self.refusal.lock().expect("no panic").clone() {
                return Err(refusal);
            }
            let mut members = self.members.lock().expect("no panic");
            let leaf = members.iter_mut().find(|member| member.name == restart.leaf);
            leaf.expect("a member").started += 1;
            Ok(())
        })
    }
}

fn member(name: &str, role: MemberRole, state: MemberState) -> Member {
    Member {
        name: LeafName(name.into()),
        role,
        machine: MachineName("m-1".into()),
        rack: "r1".to_owned(),
        address: SocketAddr::from((Ipv4Addr::LOCALHOST, 4_282)),
        url: "http://127.0.0.1:4280".to_owned(),
        started: 1_000_000,
        joined: 5,
        release: "0.1.0".to_owned(),
        wire_version: 1,
        state,
        used_bytes: 10,
        free_bytes: 30,
        catalog_version: 1,
        expected_rows_version: 1,
        has_definitions: true,
    }
}

/// A server whose two leaves and aggregator are members of a cluster, and two leaves of machines
/// that are gone: one is known to membership, one only by its rows.
pub(crate) fn abyss() -> (Server, Arc<FakeMembers>) {
    let members = Arc::new(FakeMembers::new());
    set_states(&members, ALIVE);
    let mut backend = memory_backend(None);
    backend.members = Some(Arc::clone(&members) as _);
    backend.clock = Arc::clone(&members.clock) as _;
    let table = TableName::new("t").expect("a name");
    backend.ledger.set(&LeafName("m-9/leaf-0".into()), &table, 7);
    (Server::over(backend, "127.0.0.1:0", |_| {}), members)
}

pub(crate) fn set_states(members: &FakeMembers, second: MemberState) {
    use MemberRole::{Aggregator, Leaf};
    members.set(&[("m-1", Aggregator, ALIVE), ("leaf-0", Leaf, ALIVE), ("leaf-1", Leaf, second)]);
}

/// Logs batches until both leaves have rows of table `t`; returns the rows of the second leaf.
fn log_on_both(server: &Server) -> u64 {
    for _ in 0..64 {
        server.log("t", "{\"a\": \"x\"}\n");
        let leaves = &server.get("/v1/cluster").ok()["machines"][0]["leaves"];
        let rows = [0, 1].map(|index: usize| leaves[index]["rows"].as_u64().expect("rows"));
        if rows.iter().all(|rows| *rows > 0) {
            return rows[1];
        }
    }
    panic!("64 batches went to one leaf")
}

#[test]
fn a_server_alone_is_one_machine() {
    let server = Server::start();
    server.log("t", "{\"a\": \"x\"}\n{\"a\": \"y\"}\n");
    let cluster = server.get("/v1/cluster").ok();
    assert_eq!(cluster["cluster"], Value::Null);
    assert_eq!((&cluster["rows"], &cluster["coverage"]), (&json!(2), &json!(1.0)));
    assert_eq!((&cluster["leaves"], &cluster["leaves_answering"]), (&json!(2), &json!(2)));
    assert_eq!(cluster["problems"], json!([]));
    let machines = cluster["machines"].as_array().expect("machines");
    let [machine] = machines.as_slice() else { panic!("{machines:?}") };
    assert_eq!((&machine["name"], &machine["aggregator"]), (&json!("localhost"), &Value::Null));
    let names = |index: usize| &machine["leaves"][index]["name"];
    assert_eq!((names(0), names(1)), (&json!("leaf-0"), &json!("leaf-1")));
    assert_eq!(cluster["tables"][0]["name"], "t");
    let metrics = server.get("/metrics").text();
    assert!(metrics.contains("hadal_members{role=\"leaf\",state=\"alive\"} 2\n"), "{metrics}");
}

#[test]
fn rows_of_a_silent_leaf_are_missing_until_it_is_back() {
    let (server, members) = abyss();
    let second = log_on_both(&server);
    let all = server.get("/v1/cluster").ok();
    assert_eq!((&all["cluster"], &all["at"]), (&json!("abyss"), &json!("2026-11-21T12:00:00Z")));
    set_states(&members, MemberState::Silent);
    let cluster = server.get("/v1/cluster").ok();
    let rows = |cluster: &Value| cluster["rows"].as_u64().expect("rows");
    assert_eq!(rows(&cluster), rows(&all) - second);
    assert_eq!(cluster["rows_expected"], all["rows_expected"]);
    let machine = &cluster["machines"][0];
    assert_eq!(machine["aggregator"]["address"], "127.0.0.1:4282");
    let leaf = &machine["leaves"][1];
    assert_eq!((&leaf["state"], &leaf["answers"]), (&json!("silent"), &json!(false)));
    assert_eq!(
        (&leaf["since"], &leaf["started"]),
        (&json!("2026-11-21T11:59:57Z"), &json!("1970-01-01T00:00:01Z"),)
    );
    let problems = cluster["problems"].as_array().expect("problems");
    let problem = problems[0].as_str().expect("a sentence");
    assert!(problem.starts_with("leaf-1 is silent for 3 s; answers lack its "), "{problem}");
    assert!(problems.contains(&json!("the clock of 10.0.0.9:4282 is off by 2 min")));
    let metrics = server.get("/metrics").text();
    let coverage = cluster["tables"][0]["coverage"].as_f64().expect("a number");
    for line in [
        "hadal_members{role=\"leaf\",state=\"silent\"} 2\n".to_owned(),
        "hadal_members{role=\"aggregator\",state=\"alive\"} 1\n".to_owned(),
        format!("hadal_coverage{{table=\"t\"}} {coverage}\n"),
        format!("hadal_rows_missing {}\n", second + 7),
    ] {
        assert!(metrics.contains(&line), "{line} is not in\n{metrics}");
    }
    set_states(&members, ALIVE);
    assert_eq!(server.get("/v1/cluster").ok()["rows"], all["rows"]);
}

#[test]
fn the_largest_tables_are_listed_and_the_others_counted() {
    let server = Server::start();
    server.log("small", "{\"a\": \"x\"}\n");
    server.log("big", "{\"a\": \"x\"}\n{\"a\": \"x\"}\n");
    let cluster = server.get("/v1/cluster?limit=1").ok();
    assert_eq!(
        (&cluster["tables"][0]["name"], &cluster["tables_left_out"]),
        (&json!("big"), &json!(1),)
    );
    assert_eq!(cluster["tables"].as_array().map(Vec::len), Some(1));
    let beyond = CLUSTER_TABLES_LISTED_MAX + 1;
    for bad in
        ["limit=0".to_owned(), format!("limit={beyond}"), "limit=x".to_owned(), "a=1".to_owned()]
    {
        server.get(&format!("/v1/cluster?{bad}")).problem(400, "bad-request");
    }
}

#[test]
fn a_leaf_is_forgotten_once_it_is_gone() {
    let (server, members) = abyss();
    let second = log_on_both(&server);
    let forget =
        |name: &str| server.request("DELETE", &format!("/v1/cluster/members/{name}")).send();
    let problem = forget("leaf-1").problem(409, "member-alive");
    assert_eq!(problem["detail"], "leaf-1 is not gone: its state is alive");
    forget("leaf-7").problem(404, "unknown-member");
    forget("m-1").problem(404, "unknown-member");
    set_states(&members, MemberState::Silent);
    *members.refusal.lock().expect("no panic") = Some("m-2 did not answer".to_owned());
    let problem = forget("leaf-1").problem(503, "unavailable");
    assert_eq!(problem["detail"], "m-2 did not answer");
    *members.refusal.lock().expect("no panic") = None;
    assert_eq!(forget("leaf-1").ok(), json!({ "leaf": "leaf-1", "rows": second, "tables": 1 }));
    let gone = forget("m-9%2Fleaf-0").ok();
    assert_eq!(gone, json!({ "leaf": "m-9/leaf-0", "rows": 7, "tables": 1 }));
    let forgotten = members.forgotten.lock().expect("no panic").clone();
    assert_eq!(forgotten, ["leaf-1", "m-9/leaf-0"].map(|name| LeafName(name.into())));
    assert_eq!(server.get("/v1/cluster").ok()["coverage"], 1.0);
}
