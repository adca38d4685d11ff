//! The demo's data, explored as a person would.

use std::time::Instant;

use rustix::process::Signal;

use crate::harness::{DEADLINE, Finished, Running, finish, hadal, url_in};

/// A running demo and its URL.
struct Demo {
    url: String,
    process: Running,
}

impl Demo {
    fn start(rows: &str, seed: &str, more: &[&str]) -> Self {
        let now = "2026-11-20T18:00:00Z";
        let args =
            ["demo", "--rows", rows, "--seed", seed, "--now", now, "--listen", "127.0.0.1:0"];
        let process = Running::start(hadal(&[&args, more].concat()));
        let url = url_in(&process.wait_for_output("http://"));
        Self { url, process }
    }

    fn ask(&self, sql: &str) -> Finished {
        finish(hadal(&["query", "--format", "csv", sql, "--server", &self.url]), b"")
    }

    fn rows(&self, sql: &str) -> Vec<String> {
        let finished = self.ask(sql);
        assert_eq!(finished.code, 0, "{sql}: {}", finished.stderr);
        finished.stdout.lines().skip(1).map(str::to_owned).collect()
    }

    /// Repeats the query until the answer is as expected.
    fn wait_until(&self, sql: &str, is_expected: impl Fn(&str) -> bool) {
        let start = Instant::now();
        loop {
            let answer = self.ask(sql);
            if answer.stdout.lines().nth(1).is_some_and(&is_expected) {
                return;
            }
            assert!(start.elapsed() < DEADLINE, "{sql}: {answer:?}");
        }
    }
}

/// The history only, without live events.
const HISTORY: &str = "time < '2026-11-20T18:00:00Z'";

#[test]
fn the_regression_can_be_found() {
    let demo = Demo::start("600000", "3", &[]);
    demo.process.wait_for_error("600,000 rows in");
    // Errors and latency of the last 40 minutes by service, datacenter and build.
    let sql = |time: &str| {
        format!(
            "SELECT service, datacenter, build, avg(status >= 500) AS failed, \
             avg(latency_us) AS latency, count(*) AS n FROM requests \
             WHERE kind = 'server' AND {time} GROUP BY service, datacenter, build \
             ORDER BY failed DESC LIMIT 100000"
        )
    };
    let parse = |line: &String| {
        let fields: Vec<String> = line.split(',').map(str::to_owned).collect();
        let number = |index: usize| fields[index].parse::<f64>().unwrap();
        (fields[..3].join(" "), number(3), number(4), number(5))
    };
    let since = "time >= '2026-11-20T17:20:00Z' AND time < '2026-11-20T18:00:00Z'";
    let large = |rows: Vec<String>| -> Vec<(String, f64, f64, f64)> {
        rows.iter().map(parse).filter(|(.., n)| *n >= 1_000.0).collect()
    };
    let now = large(demo.rows(&sql(since)));
    let (worst, failed, latency, _) = &now[0];
    assert_eq!(worst, "checkout fra2 r4830", "{now:#?}");
    assert!(*failed > 0.15 && now[1].1 < failed / 2.0, "{now:#?}");
    // The same service elsewhere, and the same datacenter with older builds, are as fast as ever.
    let others: Vec<_> = now.iter().filter(|(name, ..)| name.starts_with("checkout")).collect();
    assert!(others.iter().skip(1).all(|(.., other, _)| other * 2.0 < *latency), "{others:#?}");
    // Before the release of the build nothing of the sort happened.
    let before = "time >= '2026-11-20T16:00:00Z' AND time < '2026-11-20T17:20:00Z'";
    assert!(large(demo.rows(&sql(before))).iter().all(|(_, failed, ..)| *failed < 0.1));
}

#[test]
fn the_same_seed_gives_the_same_rows() {
    let sum = |seed| {
        let demo = Demo::start("70000", seed, &[]);
        demo.process.wait_for_error("70,000 rows in");
        let columns = "sum(user_id), sum(latency_us), sum(sample_rate), min(time), max(time)";
        demo.rows(&format!("SELECT {columns} FROM requests WHERE {HISTORY}"))
    };
    let first = sum("5");
    assert_eq!(first, sum("5"));
    assert_ne!(first, sum("6"));
}

#[test]
fn both_tables_go_on_living() {
    let demo = Demo::start("1000000", "1", &[]);
    let is_some = |line: &str| line.parse::<u64>().is_ok_and(|count| count > 0);
    demo.wait_until("SELECT count(*) FROM requests WHERE time >= '2026-11-20T18:00:00Z'", is_some);
    let hadal_rows = "SELECT count(*) FROM processes WHERE command = 'hadal' AND cpu_percent >= 0";
    demo.wait_until(hadal_rows, is_some);
    let shapes = demo.rows("SELECT kind, count(app), count(service) FROM requests GROUP BY kind");
    assert_eq!(shapes.len(), 2, "{shapes:?}");
}

#[test]
fn leaves_know_the_settings_of_both_tables_from_the_start() {
    let demo = Demo::start("70000", "1", &[]);
    let shown =
        |table: &str| finish(hadal(&["settings", table, "--server", &demo.url]), b"").stdout;
    assert!(shown("requests").contains("next expiry: nothing, at "), "{}", shown("requests"));
    demo.wait_until("SELECT count(*) FROM processes", |line| line != "0");
    assert!(shown("processes").contains("next expiry: nothing, at "), "{}", shown("processes"));
}

#[test]
fn history_is_made_once_for_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let data = ["--data", folder.path().to_str().unwrap()];
    let count = format!("SELECT count(user_id), min(time) FROM requests WHERE {HISTORY}");
    let demo = Demo::start("70000", "1", &data);
    demo.process.wait_for_error("70,000 rows in");
    let first = demo.rows(&count);
    assert!(demo.process.stop(Signal::TERM).success());
    // Another seed would add other rows.
    let demo = Demo::start("70000", "2", &data);
    assert_eq!(demo.rows(&count), first);
}
