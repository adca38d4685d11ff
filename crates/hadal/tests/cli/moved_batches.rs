//! Batches whose leaf is away go to another leaf, and count once when it is back.

use std::time::Instant;

use rustix::process::{Pid, Signal, kill_process};

use crate::harness::{DEADLINE, Running, hadal, post, try_ask, url_in};

/// Batches of one row each.
const BATCHES: usize = 40;

/// One machine of a cluster, and where its door and its member port are.
struct Machine {
    process: Running,
    url: String,
    address: String,
    leaves: Vec<Pid>,
}

impl Machine {
    /// Starts a machine with two leaves that joins the member at `join`.
    fn start(name: &str, join: &str, folder: &std::path::Path) -> Self {
        let folder = folder.join(name).display().to_string();
        let process = Running::start(hadal(&[
            "serve",
            "--cluster",
            "prod",
            "--machine",
            name,
            "--join",
            join,
            "--leaves",
            "2",
            "--listen",
            "127.0.0.1:0",
            "--data",
            &folder,
        ]));
        let address = process.wait_for_error("takes calls of other members on");
        let address = address.rsplit(' ').next().unwrap().to_owned();
        let leaf = |_| {
            let line = process.wait_for_error(" is process ");
            Pid::from_raw(line.rsplit(' ').next().unwrap().parse().unwrap()).unwrap()
        };
        let leaves = (0..2).map(leaf).collect();
        let url = url_in(&process.wait_for_output("http://"));
        Self { process, url, address, leaves }
    }

    /// The rows that answer, the share of all, and how many leaves answer.
    fn count(&self) -> (u64, f64, u64) {
        let (head, body) = try_ask(&self.url, "SELECT count(*) FROM t", 10_000).unwrap();
        let answer: serde_json::Value =
            serde_json::from_str(&body).unwrap_or_else(|_| panic!("{head} {body}"));
        let coverage = &answer["coverage"];
        let number = |name: &str| coverage[name].as_u64().unwrap();
        let fraction = coverage["fraction"].as_f64().unwrap();
        (number("rows_scanned"), fraction, number("leaves_answered"))
    }

    /// Waits until the machine knows this many leaves; batches go to the leaves that it knows.
    fn wait_for_leaves(&self, count: u64) {
        let start = Instant::now();
        loop {
            let answer = try_ask(&self.url, "SELECT count(*) FROM _queries", 10_000);
            let answer = answer.and_then(|(_, body)| serde_json::from_str(&body).ok());
            let answer: serde_json::Value = answer.unwrap_or_default();
            if answer["coverage"]["leaves_answered"].as_u64() == Some(count) {
                return;
            }
            assert!(start.elapsed() < DEADLINE, "it does not know {count} leaves: {answer}");
        }
    }

    /// Counts until `is_expected`. Never may there be more rows than were sent.
    fn wait_until(&self, what: &str, is_expected: impl Fn(u64, f64, u64) -> bool) {
        let start = Instant::now();
        loop {
            let (rows, fraction, leaves) = self.count();
            assert!(rows <= BATCHES as u64, "{what}: {rows} rows: some count twice");
            if is_expected(rows, fraction, leaves) {
                return;
            }
            assert!(start.elapsed() < DEADLINE, "{what}: {rows} {fraction} {leaves}");
        }
    }
}

/// Sends every batch until it is acknowledged, all at the same time.
fn send_all(Machine { url, .. }: &Machine) {
    std::thread::scope(|scope| {
        for number in 0..BATCHES {
            scope.spawn(move || {
                let row = format!("{{\"n\": {number}}}\n");
                let start = Instant::now();
                while post(url, "/v1/log/t", &format!("b{number}"), &row) != Some(true) {
                    assert!(start.elapsed() < DEADLINE, "batch b{number} is not acknowledged");
                }
            });
        }
    });
}

#[test]
fn batches_of_a_frozen_leaf_move_and_count_once_when_it_is_back() {
    let scratch = tempfile::tempdir().unwrap();
    let one = Machine::start("one", "127.0.0.1:0", scratch.path());
    let two = Machine::start("two", &one.address, scratch.path());
    let all = BATCHES as u64;
    one.wait_for_leaves(4);
    send_all(&one);
    two.wait_until("all rows are there", |rows, fraction, leaves| {
        rows == all && fraction == 1.0 && leaves == 4
    });
    // The clients of this leaf's batches do not know that they were acknowledged.
    kill_process(two.leaves[0], Signal::STOP).unwrap();
    one.wait_until("one leaf is missing", |rows, _, leaves| rows < all && leaves == 3);
    send_all(&one);
    one.wait_until("its batches have moved", |rows, _, leaves| rows == all && leaves == 3);
    kill_process(two.leaves[0], Signal::CONT).unwrap();
    for machine in [&one, &two] {
        machine.wait_until("they count once", |rows, fraction, leaves| {
            rows == all && fraction == 1.0 && leaves == 4
        });
    }
    // The same after the next process of the leaf has read its files.
    kill_process(two.leaves[0], Signal::KILL).unwrap();
    two.process.wait_for_error("was killed by signal 9");
    two.process.wait_for_error(" is process ");
    send_all(&two);
    // What a killed leaf dropped and had not reported yet is still expected of it.
    one.wait_until("they still count once", |rows, _, leaves| rows == all && leaves == 4);
}
