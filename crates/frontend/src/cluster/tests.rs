//! A cluster of two machines, joined from fakes.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use hadal_peer::{
    BoxFuture, LeafRestart, Member, MemberRole, MemberState, TableReport, TableStatus,
};
use hadal_tree::ExpectedRows;
use hadal_types::{ColumnName, LeafName, LeafState, MachineName, Micros, TableName, TableSchema};

use super::join::{Alone, Knowledge, join};
use super::{ClusterReport, RowCounts};
use crate::members::Members;

const NOW: Micros = Micros(1_000 * Micros::SECOND);

struct Fake(Vec<Member>);

impl Members for Fake {
    fn cluster(&self) -> String {
        "abyss".to_owned()
    }

    fn members(&self) -> Vec<Member> {
        self.0.clone()
    }

    fn since(&self, member: &LeafName) -> Option<Micros> {
        (&*member.0 == "m-2/leaf-0").then_some(Micros(NOW.0 - 12 * Micros::SECOND))
    }

    fn problems(&self) -> Vec<String> {
        vec!["10.0.0.9:4282 is of the cluster trench".to_owned()]
    }

    fn forget<'a>(&'a self, _leaf: &'a LeafName) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(async { Ok(()) })
    }

    fn restart<'a>(&'a self, _restart: &'a LeafRestart) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(async { Ok(()) })
    }
}

fn member(name: &str, role: MemberRole, state: MemberState) -> Member {
    let machine = name.split('/').next().expect("a machine");
    Member {
        name: leaf_name(name),
        role,
        machine: MachineName(machine.into()),
        rack: "r1".to_owned(),
        address: SocketAddr::from((Ipv4Addr::LOCALHOST, 4_282)),
        url: String::new(),
        started: 5,
        joined: 5,
        release: if machine == "m-1" { "0.1.0" } else { "0.2.0" }.to_owned(),
        wire_version: 1,
        state,
        used_bytes: 100,
        free_bytes: 900,
        catalog_version: 1,
        expected_rows_version: 1,
        has_definitions: true,
    }
}

fn leaf_name(name: &str) -> LeafName {
    LeafName(name.into())
}

fn table(name: &str) -> TableName {
    TableName::new(name).expect("a name")
}

fn report(leaf: &str, name: &str, rows: u64, waiting_rows: u64) -> TableReport {
    let schema = TableSchema {
        name: table(name),
        time_column: ColumnName::new("time").expect("a name"),
        columns: Vec::new(),
        rows,
        time_range: None,
    };
    let status = TableStatus {
        schema: Arc::new(schema),
        blocks: 1,
        block_bytes: 10 * rows,
        raw_bytes: 100 * rows,
        dropped_rows: 0,
        dropped_bytes: 0,
        dropped_until: None,
        expired_rows: 0,
        expired_until: None,
        lost_rows: 0,
        waiting_rows,
        state: LeafState::Alive,
        settings: None,
        expiry: None,
        archive_error: None,
    };
    let (leaf, status) = (leaf_name(leaf), Some(Arc::new(status)));
    let (table, started, version) = (table(name), 1, 1);
    let (recovered_rows, accepted_rows) = (0, 0);
    TableReport { leaf, table, started, version, recovered_rows, accepted_rows, status }
}

/// Two machines. One of four leaves is silent, one is restoring; a fifth leaf is gone.
fn abyss(tables_max: usize) -> ClusterReport {
    use LeafState::{Alive, DiskRecovery};
    use MemberRole::{Aggregator, Leaf};
    let announced = MemberState::Announced;
    let members = Fake(vec![
        member("m-2", Aggregator, announced(Alive)),
        member("m-1", Aggregator, announced(Alive)),
        member("m-1/leaf-10", Leaf, announced(DiskRecovery)),
        member("m-1/leaf-9", Leaf, announced(Alive)),
        member("m-2/leaf-0", Leaf, MemberState::Silent),
        member("m-2/leaf-1", Leaf, announced(Alive)),
    ]);
    let expected = ExpectedRows::default();
    for (leaf, name, rows) in [
        ("m-1/leaf-9", "big", 50),
        ("m-2/leaf-0", "big", 100),
        ("m-2/leaf-0", "small", 1),
        ("m-3/leaf-0", "big", 7),
        // A leaf that is gone, without a row.
        ("m-4/leaf-0", "big", 0),
    ] {
        expected.set(&leaf_name(leaf), &table(name), rows);
    }
    let big = vec![
        report("m-1/leaf-9", "big", 40, 0),
        report("m-1/leaf-10", "big", 30, 10),
        // What a silent leaf said before.
        report("m-2/leaf-0", "big", 100, 0),
    ];
    let small = vec![report("m-2/leaf-1", "small", 2, 0)];
    join(&Knowledge {
        now: NOW,
        members: Some(&members),
        alone: None,
        expected: &expected,
        reports: vec![(table("small"), small), (table("big"), big), (table("none"), Vec::new())],
        damage: &["a disk is broken".to_owned()],
        tables_max,
    })
}

fn rows(present: u64, expected: u64, waiting: u64) -> RowCounts {
    RowCounts { present, expected, waiting }
}

#[test]
fn leaves_are_listed_under_their_machines() {
    let report = abyss(10);
    assert_eq!((report.cluster.as_deref(), report.at), (Some("abyss"), NOW));
    let listed: Vec<(&str, Vec<&str>)> = report
        .machines
        .iter()
        .map(|machine| {
            let leaves = machine.leaves.iter().map(|leaf| &*leaf.name.0);
            (&*machine.name.0, leaves.collect())
        })
        .collect();
    assert_eq!(
        listed,
        [
            ("m-1", vec!["m-1/leaf-9", "m-1/leaf-10"]),
            ("m-2", vec!["m-2/leaf-0", "m-2/leaf-1"]),
            ("m-3", vec!["m-3/leaf-0"]),
        ]
    );
    assert_eq!(report.machines[0].rack, "r1");
    assert!(report.machines[1].aggregator.is_some());
    assert!(report.machines[2].aggregator.is_none());
}

#[test]
fn rows_of_silent_leaves_are_missing() {
    let report = abyss(10);
    let leaf = |machine: usize, index: usize| &report.machines[machine].leaves[index];
    assert_eq!(leaf(0, 0).rows, rows(40, 40, 0), "an answering leaf knows better");
    assert_eq!(leaf(0, 1).rows, rows(30, 40, 10));
    assert_eq!(leaf(1, 0).rows, rows(0, 101, 0));
    assert_eq!(leaf(1, 0).since, Some(Micros(988 * Micros::SECOND)));
    assert_eq!(leaf(1, 1).rows, rows(2, 2, 0));
    assert_eq!((leaf(2, 0).rows, leaf(2, 0).started), (rows(0, 7, 0), None));
    let tables: Vec<_> = report.tables.iter().map(|it| (it.table.as_str(), it.rows)).collect();
    assert_eq!(tables, [("big", rows(70, 187, 10)), ("small", rows(2, 3, 0))]);
    let totals = report.totals;
    assert_eq!((totals.rows, totals.block_bytes), (rows(72, 190, 10), 720));
    assert_eq!((totals.used_bytes, totals.free_bytes), (400, 3_600));
    assert_eq!((totals.leaves, totals.leaves_answering), (5, 3));
    assert_eq!((totals.rows.missing(), totals.rows.coverage()), (118, 72.0 / 190.0));
}

#[test]
fn the_largest_tables_are_listed() {
    let report = abyss(1);
    assert_eq!((report.tables.len(), report.tables_left_out), (1, 1));
    assert_eq!(report.tables[0].table.as_str(), "big");
    let silent = &report.machines[1].leaves[0];
    assert_eq!((silent.tables.len(), silent.tables_left_out), (1, 1));
    assert_eq!(silent.rows.expected, 101, "of all tables");
}

#[test]
fn every_problem_is_one_sentence() {
    assert_eq!(
        abyss(0).problems,
        [
            "m-2/leaf-0 is silent for 12 s; answers lack its 101 rows",
            "m-3/leaf-0 is no member, but should hold 7 rows; if it will not return: \
             hadal forget m-3/leaf-0",
            "10.0.0.9:4282 is of the cluster trench",
            "m-1/leaf-10 is restoring 10 rows",
            "different releases are running: 0.1.0, 0.2.0",
            "a disk is broken",
        ]
    );
}

#[test]
fn a_process_alone_is_one_machine() {
    let expected = ExpectedRows::default();
    let leaf = |index| leaf_name(&format!("leaf-{index}"));
    let report = join(&Knowledge {
        now: NOW,
        members: None,
        alone: Some(Alone {
            leaves: vec![
                (leaf(0), MemberState::Announced(LeafState::Alive)),
                (leaf(1), MemberState::Announced(LeafState::Prepare)),
            ],
            started: Micros(3),
            free_bytes: 200,
        }),
        expected: &expected,
        reports: vec![(table("t"), vec![report("leaf-0", "t", 4, 0), report("leaf-1", "t", 5, 0)])],
        damage: &[],
        tables_max: 1,
    });
    assert_eq!((report.cluster, report.machines.len()), (None, 1));
    assert_eq!(&*report.machines[0].name.0, "localhost");
    let [first, second] = &*report.machines[0].leaves else { panic!("two leaves") };
    assert_eq!((first.used_bytes, first.free_bytes, first.started), (40, 100, Some(Micros(3))));
    assert_eq!(first.rows, rows(4, 4, 0));
    assert_eq!(second.state, MemberState::Announced(LeafState::Prepare));
    assert_eq!(report.totals.rows, rows(4, 4, 0));
    assert_eq!(report.problems, ["leaf-1 is about to stop"]);
}
