//! Rollovers of clusters of processes on this machine.

use std::collections::BTreeMap;
use std::fs;
use std::time::Instant;

use rustix::process::{Signal, kill_process};
use serde_json::Value;

use crate::cluster::Cluster;
use crate::harness::{DEADLINE, Finished, Running, hadal, run, url_in};

/// The leaves of the cluster at a URL.
fn leaves(url: &str) -> Vec<Value> {
    let shown = run(&["cluster", "--json", "--server", url], b"");
    let cluster: Value =
        serde_json::from_str(&shown.stdout).unwrap_or_else(|_| panic!("{shown:?}"));
    let machines = cluster["machines"].as_array().unwrap().clone();
    machines.iter().flat_map(|machine| machine["leaves"].as_array().unwrap().clone()).collect()
}

/// When each leaf was started, by its name.
fn starts(url: &str) -> BTreeMap<String, String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    leaves(url).iter().map(|leaf| (text(&leaf["name"]), text(&leaf["started"]))).collect()
}

fn wait_until_all_are_alive(url: &str) {
    let start = Instant::now();
    while leaves(url).iter().any(|leaf| leaf["state"] != "alive") {
        assert!(start.elapsed() < DEADLINE, "{:?}", leaves(url));
    }
}

fn rollover(url: &str, more: &[&str]) -> Finished {
    run(&[&["rollover", "--server", url], more].concat(), b"")
}

#[test]
fn every_leaf_is_restarted_in_place_and_few_rows_are_missing_meanwhile() {
    let cluster = Cluster::start("3", &[]);
    let url = cluster.url.as_str();
    cluster.process.wait_for_error("600,000 rows in");
    let whole = cluster.wait_until("all six leaves answer", |counted| {
        counted.leaves_answered == 6 && counted.fraction == 1.0
    });
    wait_until_all_are_alive(url);
    let before = leaves(url);
    let rows = |leaf: &Value| leaf["rows"].as_u64().unwrap() as f64;
    let largest = before.iter().map(rows).fold(0.0, f64::max);
    let least = 1.0 - largest / before.iter().map(rows).sum::<f64>() - 0.03;
    let started = starts(url);
    let command = Running::start(hadal(&["rollover", "--server", url]));
    command.wait_for_error("drives the rollover");
    let refused = rollover(url, &[]);
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(refused.stderr.contains("a rollover is under way since"), "{refused:?}");
    let (mut lowest, start) = (1.0_f64, Instant::now());
    loop {
        let counted = cluster.count();
        assert!(counted.leaves_answered >= 5, "{counted:?}");
        assert!(counted.fraction >= least, "{counted:?}, at least {least}");
        lowest = lowest.min(counted.fraction);
        if starts(url).iter().all(|(leaf, time)| !time.is_empty() && *time != started[leaf]) {
            break;
        }
        assert!(start.elapsed() < DEADLINE, "{:?}", leaves(url));
    }
    assert!(lowest < 1.0, "a query was answered without a leaf");
    command.wait_for_output("6 of 6 leaves restarted in");
    assert!(command.wait().success());
    assert!(starts(url).iter().all(|(leaf, time)| *time > started[leaf]));
    cluster.wait_until("all rows are there", |counted| {
        counted.rows >= whole.rows && counted.fraction == 1.0
    });
    // Nothing is left to restart.
    let again = rollover(url, &["--follow"]);
    assert_eq!(again.code, 0, "{again:?}");
    assert!(cluster.process.stop(Signal::TERM).success());
}

#[test]
fn a_leaf_that_does_not_come_back_stops_it_and_it_can_go_on() {
    let scratch = tempfile::tempdir().unwrap();
    let data = scratch.path().display().to_string();
    let cluster = Cluster::start("2", &["--leaves", "1", "--data", &data]);
    let url = cluster.url.as_str();
    let line = cluster.process.wait_for_error("machine-2/leaf-0 is process");
    cluster.process.wait_for_error("600,000 rows in");
    let both = |counted: &crate::cluster::Counted| counted.leaves_answered == 2;
    cluster.wait_until("both leaves answer", both);
    // A frozen leaf is named, and the rollover does not begin.
    let leaf = cluster.leaf(&line);
    kill_process(leaf, Signal::STOP).unwrap();
    cluster.wait_until("one is missing", |counted| counted.leaves_answered == 1);
    let refused = rollover(url, &[]);
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(
        refused.stderr.contains("machine-2/leaf-0 is silent; a rollover begins"),
        "{refused:?}"
    );
    kill_process(leaf, Signal::CONT).unwrap();
    cluster.wait_until("it is back", both);
    wait_until_all_are_alive(url);
    // Its next process refuses the data folder.
    let belonging = scratch.path().join("machine-2/cluster");
    let sound = fs::read(&belonging).unwrap();
    fs::write(&belonging, "other\nmachine-2\n").unwrap();
    let first = starts(url);
    let stopped = rollover(url, &["--kill-after", "5"]);
    assert_eq!(stopped.code, 1, "{stopped:?}");
    let reason = "the rollover stopped: machine-2/leaf-0 did not start again within 20 s";
    assert!(stopped.stderr.contains(reason), "{stopped:?}");
    assert!(stopped.stderr.contains("1 of 2 leaves are new"), "{stopped:?}");
    let second = starts(url);
    assert!(second["machine-1/leaf-0"] > first["machine-1/leaf-0"]);
    fs::write(&belonging, sound).unwrap();
    cluster.wait_until("it is back", |counted| both(counted) && counted.fraction == 1.0);
    wait_until_all_are_alive(url);
    let time = stopped.stderr.trim_end().rsplit(' ').next().unwrap();
    let done = rollover(url, &["--started-before", time]);
    assert_eq!(done.code, 0, "{done:?}");
    // The leaf came back by itself, so nothing was left to do.
    let third = starts(url);
    assert_eq!(third["machine-1/leaf-0"], second["machine-1/leaf-0"]);
    assert!(third["machine-2/leaf-0"] > first["machine-2/leaf-0"]);
    assert!(cluster.process.stop(Signal::TERM).success());
}

#[test]
fn a_leaf_of_another_supervisor_ends_so_that_it_is_started_again() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = |name: &str| scratch.path().join(name).display().to_string();
    let member = ["--cluster", "prod", "--machine", "one"];
    let aggregator = ["aggregator", "--join", "127.0.0.1:0", "--listen", "127.0.0.1:0", "--data"];
    let door = Running::start(hadal(&[&aggregator[..], &[&*folder("door")], &member].concat()));
    let address = door.wait_for_error("takes calls of other members on");
    let address = address.rsplit(' ').next().unwrap().to_owned();
    let url = url_in(&door.wait_for_output("http://"));
    let leaf = ["leaf", "--join", &address, "--member-listen", "127.0.0.1:0", "--data"];
    let leaf = || Running::start(hadal(&[&leaf[..], &[&*folder("leaf")], &member].concat()));
    let alive = |url: &str| {
        let start = Instant::now();
        loop {
            match leaves(url).as_slice() {
                [leaf] if leaf["state"] == "alive" => return leaf["started"].clone(),
                leaves => assert!(start.elapsed() < DEADLINE, "{leaves:?}"),
            }
        }
    };
    let first = leaf();
    let started = alive(&url);
    let command = Running::start(hadal(&["rollover", "--server", &url]));
    first.wait_for_error("one/leaf-0 ends, as asked: its supervisor starts it again");
    assert!(first.wait().success());
    let second = leaf();
    command.wait_for_output("1 of 1 leaf restarted in");
    assert!(command.wait().success());
    assert_ne!(alive(&url), started);
    assert!(second.stop(Signal::TERM).success());
    assert!(door.stop(Signal::TERM).success());
}

#[test]
fn wrong_arguments_are_named() {
    for (args, message) in [
        (["--share", "0%"], "no leaf would be restarted"),
        (["--share", "two"], "expected 0% to 100%, such as 2%"),
        (["--coverage-floor", "97"], "expected 0% to 100%"),
        (["--kill-after", "0"], "0 is not in 1..=3600"),
    ] {
        let refused = rollover("http://127.0.0.1:1", &args);
        assert_eq!(refused.code, 2, "{refused:?}");
        assert!(refused.stderr.contains(message), "{args:?}: {refused:?}");
    }
    let server = crate::harness::Server::start_with(&["--memory"]);
    let refused = server.run(&["rollover"], b"");
    assert!(refused.stderr.contains("this server has no cluster"), "{refused:?}");
    let time = server.run(&["rollover", "--started-before", "noon"], b"");
    assert!(time.stderr.contains("started_before is \"noon\""), "{time:?}");
    let none = server.run(&["rollover", "--follow"], b"");
    assert!(none.stderr.contains("has driven no rollover"), "{none:?}");
    let none = server.run(&["rollover", "--stop"], b"");
    assert!(none.stderr.contains("this server drives no rollover"), "{none:?}");
}
