//! Coverage while a machine of a cluster is dead: at every door, restarted or not.

use std::ops::Range;
use std::path::Path;
use std::time::Instant;

use rustix::process::{Pid, Signal, kill_process};

use crate::harness::{DEADLINE, Server, hadal, post, try_ask};

const LEAF: &str = "b/leaf-0";

/// A machine with one leaf.
struct Machine {
    server: Server,
    address: String,
    leaf: Pid,
}

/// What an answer says of its rows.
#[derive(Debug, PartialEq)]
struct Counted {
    leaves: u64,
    scanned: u64,
    expected: u64,
}

impl Machine {
    /// Starts a machine that joins another one, or itself.
    fn start(scratch: &Path, name: &str, join: &str) -> Self {
        let data = scratch.join(name);
        let listen = ["--listen", "127.0.0.1:0", "--leaves", "1", "--data", data.to_str().unwrap()];
        let cluster = ["serve", "--cluster", "c", "--machine", name, "--join", join];
        let server = Server::by(hadal(&[&cluster[..], &listen].concat()));
        let last = |line: String| line.rsplit(' ').next().unwrap().to_owned();
        let address = last(server.process.wait_for_error("takes calls of other members on"));
        let leaf = last(server.process.wait_for_error("/leaf-0 is process"));
        let leaf = Pid::from_raw(leaf.parse().unwrap()).unwrap();
        Self { server, address, leaf }
    }

    /// Ends all processes of the machine at once.
    fn kill(&self) {
        // A server that is gone would have stopped its leaf in order.
        self.server.process.send(Signal::STOP);
        kill_process(self.leaf, Signal::KILL).unwrap();
        self.server.process.kill_now();
    }

    /// Waits until the machine knows this many leaves that answer.
    fn wait_for_leaves(&self, leaves: u64) {
        let start = Instant::now();
        loop {
            let answer = self.server.get("/v1/cluster");
            let (head, body) = answer.split_once("\r\n\r\n").unwrap();
            let cluster: serde_json::Value =
                serde_json::from_str(body).unwrap_or_else(|_| panic!("{head} {body}"));
            if cluster["leaves_answering"].as_u64() == Some(leaves) {
                return;
            }
            assert!(start.elapsed() < DEADLINE, "{cluster}");
        }
    }

    /// Counts the rows of the table; `None` if the machine does not know it yet.
    fn count(&self) -> Option<Counted> {
        let sql = "SELECT count(*) FROM t";
        let (_, body) = try_ask(&self.server.url, sql, 10_000).unwrap();
        let answer: serde_json::Value = serde_json::from_str(&body).unwrap();
        let number = |name: &str| answer["coverage"][name].as_u64();
        Some(Counted {
            leaves: number("leaves_answered")?,
            scanned: number("rows_scanned")?,
            expected: number("rows_expected")?,
        })
    }

    /// Counts until an answer is as expected. Every answer before it must be `sound`.
    fn count_until(
        &self,
        what: &str,
        sound: impl Fn(&Counted) -> bool,
        is_expected: impl Fn(&Counted) -> bool,
    ) -> Counted {
        let start = Instant::now();
        loop {
            let counted = self.count();
            if let Some(counted) = counted {
                assert!(sound(&counted), "{what}: {counted:?}");
                if is_expected(&counted) {
                    return counted;
                }
            }
            assert!(start.elapsed() < DEADLINE, "{what}");
        }
    }
}

/// The batches of the test.
const BATCHES: u64 = 90;

/// Posts batches of 100 rows.
fn fill(url: &str, batches: Range<u64>) {
    for batch in batches {
        let row = |row: u32| format!("{{\"batch\":{batch},\"row\":{row}}}\n");
        let rows: String = (0..100).map(row).collect();
        let posted = post(url, "/v1/log/t", &format!("batch-{batch}"), &rows);
        assert_eq!(posted, Some(true), "batch {batch}");
    }
}

#[test]
fn a_dead_leaf_is_expected_at_every_door_until_it_is_forgotten() {
    let scratch = tempfile::tempdir().unwrap();
    let any = |_: &Counted| true;
    let a = Machine::start(scratch.path(), "a", "127.0.0.1:0");
    let b = Machine::start(scratch.path(), "b", &a.address);
    let c = Machine::start(scratch.path(), "c", &a.address);
    [&a, &b, &c].iter().for_each(|door| door.wait_for_leaves(3));
    fill(&a.server.url, 0..1);
    let rows = BATCHES * 100;
    let whole = Counted { leaves: 3, scanned: rows, expected: rows };
    let url = a.server.url.clone();
    std::thread::scope(|scope| {
        scope.spawn(|| fill(&url, 1..BATCHES));
        // While all leaves answer, nothing is missing, whatever they report meanwhile.
        let sound = |counted: &Counted| counted.leaves < 3 || counted.expected == counted.scanned;
        c.count_until("rows that arrive", sound, |counted| *counted == whole);
    });
    for door in [&a, &b, &c] {
        door.count_until("all rows everywhere", any, |counted| *counted == whole);
    }
    b.kill();
    // Another door may have to tell of the last batch first. No row counts twice meanwhile.
    let all_expected = |counted: &Counted| counted.expected == rows;
    let not_more = |counted: &Counted| counted.expected <= rows;
    let partial = c.count_until("a dead leaf", not_more, |counted| {
        counted.leaves == 2 && all_expected(counted)
    });
    assert!((1..rows).contains(&partial.scanned), "{partial:?}");
    let present = partial.scanned;
    // A door that stopped in order, and one that was killed and lost its file.
    assert!(c.server.process.stop(Signal::TERM).success());
    let c = Machine::start(scratch.path(), "c", &a.address);
    let again = c.count_until("a restarted door", all_expected, |counted| counted.leaves == 2);
    assert_eq!(again, partial);
    c.kill();
    drop(c);
    std::fs::remove_file(scratch.path().join("c").join("expected-rows")).unwrap();
    let c = Machine::start(scratch.path(), "c", &a.address);
    c.count_until("a door that others tell", any, |counted| *counted == partial);
    let said = c.server.run(&["forget", LEAF, "--yes"], b"").stderr;
    assert!(said.contains("forgot leaf b/leaf-0"), "{said}");
    let without = Counted { leaves: 2, scanned: present, expected: present };
    for door in [&a, &c] {
        door.count_until("a forgotten leaf", any, |counted| *counted == without);
    }
    assert!(c.server.process.stop(Signal::TERM).success());
    let c = Machine::start(scratch.path(), "c", &a.address);
    let after = c.count_until("a forgotten leaf", any, |counted| counted.leaves == 2);
    assert_eq!(after, without, "also after a restart");
    for machine in [c, a] {
        assert!(machine.server.process.stop(Signal::TERM).success());
    }
}
