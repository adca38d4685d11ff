//! A cluster of processes on the loopback addresses of this machine.

use std::time::Instant;

use rustix::process::{Pid, Signal, kill_process};

use crate::harness::{DEADLINE, Running, Server, hadal, run, try_ask, url_in};

/// A demo cluster: its process is the first machine.
pub(crate) struct Cluster {
    pub(crate) process: Running,
    pub(crate) url: String,
}

/// The coverage of an answer.
#[derive(Debug, PartialEq)]
pub(crate) struct Counted {
    pub(crate) rows: u64,
    pub(crate) fraction: f64,
    pub(crate) leaves_answered: u64,
}

impl Cluster {
    /// Starts machines, each with two leaves unless the arguments say otherwise.
    pub(crate) fn start(machines: &str, more: &[&str]) -> Self {
        let args = ["demo", "--machines", machines, "--listen", "127.0.0.1:0", "--rows", "600000"];
        let process = Running::start(hadal(&[&args, more].concat()));
        let url = url_in(&process.wait_for_output("http://"));
        Self { process, url }
    }

    /// Counts the rows of the demo's table.
    pub(crate) fn count(&self) -> Counted {
        let (head, body) = try_ask(&self.url, "SELECT count(*) FROM requests", 10_000).unwrap();
        let answer: serde_json::Value =
            serde_json::from_str(&body).unwrap_or_else(|_| panic!("{head} {body}"));
        let coverage = &answer["coverage"];
        Counted {
            rows: coverage["rows_scanned"].as_u64().unwrap(),
            fraction: coverage["fraction"].as_f64().unwrap(),
            leaves_answered: coverage["leaves_answered"].as_u64().unwrap(),
        }
    }

    pub(crate) fn wait_until(&self, what: &str, is_expected: impl Fn(&Counted) -> bool) -> Counted {
        let start = Instant::now();
        loop {
            let counted = self.count();
            if is_expected(&counted) {
                return counted;
            }
            assert!(start.elapsed() < DEADLINE, "{what}: {counted:?}");
        }
    }

    /// The process of a leaf of the first machine.
    pub(crate) fn leaf(&self, line: &str) -> Pid {
        let id = line.rsplit(' ').next().unwrap();
        Pid::from_raw(id.parse().unwrap()).unwrap()
    }
}

#[test]
fn coverage_falls_while_a_leaf_is_frozen_and_comes_back() {
    let cluster = Cluster::start("2", &[]);
    let line = cluster.process.wait_for_error("machine-1/leaf-1 is process");
    let leaf = cluster.leaf(&line);
    cluster.process.wait_for_error("600,000 rows in");
    let whole = cluster.wait_until("all four leaves answer", |counted| {
        counted.leaves_answered == 4 && counted.fraction == 1.0
    });
    kill_process(leaf, Signal::STOP).unwrap();
    let frozen = cluster.wait_until("one is missing", |counted| counted.leaves_answered == 3);
    assert!(frozen.fraction < 1.0, "{frozen:?}");
    kill_process(leaf, Signal::CONT).unwrap();
    // Rows that arrive at this moment may be expected before they are counted.
    cluster.wait_until("it is back", |counted| {
        counted.leaves_answered == 4 && counted.rows >= whole.rows && counted.fraction == 1.0
    });
    // A leaf that was killed is started again, and has its rows.
    kill_process(leaf, Signal::KILL).unwrap();
    cluster.process.wait_for_error("machine-1/leaf-1 was killed by signal 9");
    cluster.process.wait_for_error("machine-1/leaf-1 is process");
    cluster.wait_until("it is back with all rows", |counted| {
        counted.leaves_answered == 4 && counted.rows >= whole.rows && counted.fraction == 1.0
    });
    let status = cluster.process.stop(Signal::TERM);
    assert!(status.success(), "{status}");
}

#[test]
fn a_member_that_does_not_belong_is_refused_with_one_sentence() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = |name: &str| scratch.path().join(name).display().to_string();
    let first = Running::start(hadal(&[
        "serve",
        "--cluster",
        "prod",
        "--machine",
        "one",
        "--join",
        "127.0.0.1:0",
        "--leaves",
        "1",
        "--listen",
        "127.0.0.1:0",
        "--data",
        &folder("one"),
    ]));
    let address = first.wait_for_error("takes calls of other members on");
    let address = address.rsplit(' ').next().unwrap().to_owned();
    let join = |more: &[&str]| {
        let args = ["serve", "--listen", "127.0.0.1:0", "--leaves", "1"];
        let refused = run(&[&args, more].concat(), b"");
        assert_eq!(refused.code, 2, "{refused:?}");
        refused.stderr.lines().last().unwrap().to_owned()
    };
    let data = folder("two");
    let refused =
        join(&["--cluster", "test", "--machine", "two", "--join", &address, "--data", &data]);
    assert!(refused.contains("\"prod\"") && refused.contains("\"test\""), "{refused}");
    let refused =
        join(&["--cluster", "prod", "--machine", "one", "--join", &address, "--data", &data]);
    assert!(refused.contains("named one already"), "{refused}");
    // A server's HTTP port is no member port.
    let other = Server::start_with(&["--memory"]);
    let port = other.url.strip_prefix("http://").unwrap();
    let refused = join(&["--cluster", "prod", "--machine", "two", "--join", port, "--data", &data]);
    assert!(refused.contains("is no Hadal process"), "{refused}");
    let refused = join(&["--data", &folder("one")]);
    assert!(refused.contains("machine one of cluster prod"), "{refused}");
    let wide =
        ["--cluster", "prod", "--join", &address, "--member-listen", "0.0.0.0:0", "--memory"];
    let refused = join(&wide);
    assert!(refused.contains("--cluster-token-file"), "{refused}");
}
