//! A server that is followed by another on the same folder: clients do not notice, and nothing is
//! lost.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rustix::process::Signal;

use crate::before::HEADER_BYTES;
use crate::harness::{DEADLINE, Server, hadal, post};

/// Rows of one batch.
const BATCH_ROWS: usize = 500;

fn flags(folder: &Path) -> Vec<String> {
    ["--data", folder.to_str().unwrap(), "--leaves", "2"].map(str::to_owned).to_vec()
}

fn start(folder: &Path, more: &[&str]) -> Server {
    let flags = flags(folder);
    let flags: Vec<&str> = flags.iter().map(String::as_str).chain(more.iter().copied()).collect();
    Server::start_with(&flags)
}

fn body(batch: usize) -> String {
    let row = |row| format!("{{\"n\": {}, \"b\": {batch}}}\n", batch * BATCH_ROWS + row);
    (0..BATCH_ROWS).map(row).collect()
}

/// Posts batch after batch until it is stopped, each again after a failed attempt. Returns the
/// number of acknowledged batches and of failed attempts.
fn produce(url: &str, done: &AtomicUsize, is_over: &AtomicBool) -> (usize, usize) {
    let mut failures = 0;
    for batch in 0.. {
        let id = format!("batch-{batch}");
        let mut tries = 0..1;
        while post(url, "/v1/log/t", &id, &body(batch)) != Some(true) {
            failures += 1;
            assert!(tries.next().is_some(), "batch {batch} was not taken when sent again");
        }
        done.store(batch + 1, Ordering::SeqCst);
        if is_over.load(Ordering::SeqCst) {
            return (batch + 1, failures);
        }
    }
    unreachable!("batches do not end")
}

/// Queries the count repeatedly, with one more attempt after a failure. Each answer must have all
/// rows that were acknowledged before the query. Returns the number of answers.
fn ask(server: &str, done: &AtomicUsize, is_over: &AtomicBool) -> usize {
    let mut answers = 0;
    while !is_over.load(Ordering::SeqCst) {
        let least = done.load(Ordering::SeqCst) * BATCH_ROWS;
        let count = || {
            let mut command = hadal(&["query", "--format", "csv", "--server", server]);
            command.arg("SELECT count(*) FROM t").output().unwrap()
        };
        // A connection that was accepted just before the stop may be closed without an answer: one
        // more attempt.
        let output = Some(count()).filter(|output| output.status.success()).unwrap_or_else(count);
        let text = String::from_utf8(output.stdout).unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        let count: usize = text.lines().nth(1).unwrap_or_else(|| panic!("{said}")).parse().unwrap();
        assert!(count >= least, "{count} of {least}: {said}");
        answers += 1;
    }
    answers
}

fn wait_until(what: &str, condition: impl Fn() -> bool) {
    let start = std::time::Instant::now();
    while !condition() {
        assert!(start.elapsed() < DEADLINE, "{what}");
        std::thread::yield_now();
    }
}

#[test]
fn a_successor_takes_over_under_load_and_one_retry_mends_all() {
    let folder = tempfile::tempdir().unwrap();
    let first = start(folder.path(), &[]);
    let url = first.url.clone();
    post(&url, "/v1/log/t", "batch-0", &body(0)).unwrap();
    let (done, is_over) = (AtomicUsize::new(1), AtomicBool::new(false));
    let listen = url.strip_prefix("http://").unwrap();
    let (last, (acknowledged, failures), answers) = std::thread::scope(|scope| {
        let producer = scope.spawn(|| produce(&url, &done, &is_over));
        let asker = scope.spawn(|| ask(&url, &done, &is_over));
        let mut server = first;
        for round in 1..=3 {
            let before = done.load(Ordering::SeqCst);
            wait_until("nothing is taken", || done.load(Ordering::SeqCst) > before + 5 * round);
            let next = start(folder.path(), &["--listen", listen, "--take-over"]);
            assert_eq!(next.url, url);
            assert!(server.process.wait().success());
            server = next;
        }
        let before = done.load(Ordering::SeqCst);
        wait_until("nothing is taken any more", || done.load(Ordering::SeqCst) > before + 5);
        is_over.store(true, Ordering::SeqCst);
        (server, producer.join().unwrap(), asker.join().unwrap())
    });
    assert!(failures <= 3, "{failures}: at most one for each successor");
    assert!(answers > 3, "{answers}");
    let rows = acknowledged * BATCH_ROWS;
    let counted = last.query("SELECT count(*), sum(n) FROM t");
    assert_eq!(counted, [format!("{rows},{}", rows * (rows - 1) / 2)]);
}

#[test]
fn a_stop_that_takes_too_long_ends_and_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let server = start(folder.path(), &["--stop-max", "0"]);
    for batch in 0..10 {
        assert_eq!(server.post("/v1/log/t", &format!("b{batch}"), &body(batch)), Some(true));
    }
    assert_eq!(server.process.stop(Signal::TERM).code(), Some(3));
    let next = start(folder.path(), &[]);
    let rows = 10 * BATCH_ROWS;
    let counted = next.query("SELECT count(*), sum(n) FROM t");
    assert_eq!(counted, [format!("{rows},{}", rows * (rows - 1) / 2)]);
}

#[test]
fn what_is_in_memory_is_there_at_once_after_a_stop_and_verified_after_a_kill() {
    for (storage, after_crash) in [("memory", "memory"), ("memory", "disk"), ("mmap", "memory")] {
        let folder = tempfile::tempdir().unwrap();
        let more = ["--storage", storage, "--after-crash", after_crash];
        let mut last = Some(start(folder.path(), &more));
        let server = last.as_ref().unwrap();
        for batch in 0..40 {
            assert_eq!(server.post("/v1/log/t", &format!("b{batch}"), &body(batch)), Some(true));
        }
        for is_killed in [false, true, false, true] {
            let server = last.take().unwrap();
            match is_killed {
                // The drop also waits for its end.
                true => drop(server),
                false => assert!(server.process.stop(Signal::TERM).success()),
            }
            let server = last.insert(start(folder.path(), &more));
            wait_until("it does not recover", || {
                !server.run(&["status"], b"").stdout.contains("being brought back")
            });
            assert_eq!(server.query("SELECT count(*), sum(n) FROM t"), ["20000,199990000"]);
        }
    }
}

#[test]
fn there_need_be_nobody_to_take_over_from() {
    let folder = tempfile::tempdir().unwrap();
    let server = start(folder.path(), &["--take-over"]);
    server.log(&["t"], "{\"a\": 1}\n");
    drop(server);
    let server = start(folder.path(), &["--take-over"]);
    assert_eq!(server.query("SELECT count(*) FROM t"), ["1"]);
    // Without `--take-over` no server stops.
    let path = folder.path().to_str().unwrap();
    let second = crate::harness::run(&["serve", "--listen", "127.0.0.1:0", "--data", path], b"");
    assert!(second.stderr.contains("in use"), "{}", second.stderr);
    let third = start(folder.path(), &["--take-over"]);
    assert!(server.process.wait().success());
    assert_eq!(third.query("SELECT count(*) FROM t"), ["1"]);
}

#[test]
fn a_successor_that_cannot_be_leaves_the_server_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let server = start(folder.path(), &[]);
    server.log(&["t"], "{\"a\": 1}\n");
    let listen = server.url.strip_prefix("http://").unwrap();
    let other = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = other.local_addr().unwrap().to_string();
    let wrong = folder.path().join("wrong");
    fs::write(&wrong, "no definitions and no token").unwrap();
    let wrong = wrong.to_str().unwrap();
    let definitions = format!("sqlite:{wrong}");
    for (listen, more, reason) in [
        (taken.as_str(), ["--storage", "memory"], "cannot listen on"),
        (listen, ["--definitions", &definitions], "is not a database"),
        (listen, ["--token-file", wrong], "does not hold 64 hexadecimal digits"),
        (listen, ["--memory-max", "10MiB"], "10.0 MiB"),
    ] {
        let data_flags = flags(folder.path());
        let data_flags = data_flags.iter().map(String::as_str);
        let flags =
            ["serve", "--take-over", "--listen", listen].into_iter().chain(data_flags).chain(more);
        let next = crate::harness::run(&flags.collect::<Vec<_>>(), b"");
        assert_ne!(next.code, 0, "{more:?}");
        assert!(next.stderr.contains(reason), "{more:?}: {}", next.stderr);
        assert_eq!(server.query("SELECT count(*) FROM t"), ["1"]);
    }
    let next = start(folder.path(), &["--listen", listen, "--take-over"]);
    assert!(server.process.wait().success());
    assert_eq!(next.query("SELECT count(*) FROM t"), ["1"]);
}

#[test]
fn a_successor_that_cannot_read_the_folder_leaves_the_server_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let server = start(folder.path(), &[]);
    server.log(&["t"], "{\"a\": 1}\n");
    for age in ["age=20d", "age=21d"] {
        assert_eq!(server.run(&["settings", "t", age], b"").code, 0);
    }
    let manifest = folder.path().join("leaf-1/manifest");
    let written = fs::read(&manifest).unwrap();
    // A byte of the frame after the head, which other frames follow.
    let mut frames = (0..written.len()).filter(|&at| written[at..].starts_with(b"\x89HDLMAN\x01"));
    let body = frames.nth(1).unwrap() + HEADER_BYTES;
    let file = File::options().write(true).open(&manifest).unwrap();
    file.write_all_at(&[!written[body]], body as u64).unwrap();
    let path = folder.path().to_str().unwrap();
    let flags = ["serve", "--take-over", "--listen", "127.0.0.1:0", "--data", path];
    let next = crate::harness::run(&flags, b"");
    assert_eq!(next.code, 1, "{}", next.stderr);
    assert!(next.stderr.contains("leaf-1/manifest is corrupt: bytes"), "{}", next.stderr);
    assert_eq!(server.query("SELECT count(*) FROM t"), ["1"]);
    file.write_all_at(&written[body..=body], body as u64).unwrap();
    let next = start(folder.path(), &["--take-over"]);
    assert!(server.process.wait().success());
    assert_eq!(next.query("SELECT count(*) FROM t"), ["1"]);
}

#[test]
fn a_server_that_says_where_it_listens_can_be_stopped() {
    let folder = tempfile::tempdir().unwrap();
    for _ in 0..20 {
        let server = Server::start(folder.path());
        assert!(server.process.stop(Signal::TERM).success());
    }
}
