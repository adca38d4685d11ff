//! kill -9 while rows are logged: what was acknowledged is there afterwards, once. And what
//! somebody took from the disk meanwhile is missed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::process::Signal;
use tempfile::TempDir;

use crate::harness::{DEADLINE, Server, post};

/// Rows of one batch.
const BATCH_ROWS: usize = 7;
/// Batches that are acknowledged before the server is killed, by round.
const ROUNDS: [usize; 5] = [3, 40, 1, 150, 12];

/// Logs batch after batch until the server is gone; returns the first batch that was not
/// acknowledged: it may be there or not.
fn produce(url: &str, first: usize, acknowledged: &AtomicUsize) -> usize {
    for batch in first.. {
        let rows = (0..BATCH_ROWS).map(|row| format!("{{\"n\": {}}}\n", batch * BATCH_ROWS + row));
        let body: String = rows.collect();
        match post(url, "/v1/log/t", &format!("batch-{batch}"), &body) {
            Some(true) => acknowledged.store(batch + 1, Ordering::SeqCst),
            Some(false) => panic!("batch {batch} was refused"),
            None => return batch,
        }
    }
    unreachable!("batches do not end")
}

#[test]
fn acknowledged_rows_outlive_kill_nine_exactly_once() {
    outlive_kill_nine("sync");
}

#[test]
fn so_do_rows_that_do_not_wait_for_the_disk() {
    outlive_kill_nine("async");
}

fn outlive_kill_nine(durability: &str) {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().to_str().unwrap();
    let flags = ["--data", data, "--leaves", "2", "--durability", durability];
    let (mut next, mut server) = (0, Server::start_with(&flags));
    for count in ROUNDS {
        let (acknowledged, url) = (AtomicUsize::new(next), server.url.clone());
        let in_doubt = std::thread::scope(|scope| {
            let producer = scope.spawn(|| produce(&url, next, &acknowledged));
            let start = std::time::Instant::now();
            while acknowledged.load(Ordering::SeqCst) < next + count {
                assert!(start.elapsed() < DEADLINE, "nothing is acknowledged");
                std::thread::yield_now();
            }
            server.process.kill_now();
            producer.join().unwrap()
        });
        drop(server);
        server = Server::start_with(&flags);
        // What is in doubt is sent again: the first thing that a producer does.
        next = in_doubt;
        check(&server, in_doubt);
    }
    assert!(next >= ROUNDS.iter().sum(), "{next}");
}

/// Every row of the batches before `in_doubt` is there once; that batch whole or not at all.
fn check(server: &Server, in_doubt: usize) {
    let lines = server.query("SELECT n, count(*) FROM t GROUP BY n LIMIT 100000");
    let found: BTreeMap<usize, usize> = lines
        .iter()
        .map(|line| {
            let (n, count) = line.split_once(',').unwrap();
            (n.parse().unwrap(), count.parse().unwrap())
        })
        .collect();
    let acknowledged = in_doubt * BATCH_ROWS;
    for n in 0..acknowledged {
        assert_eq!(found.get(&n), Some(&1), "row {n} of {acknowledged}");
    }
    let rest = found.len() - acknowledged;
    assert!(rest == 0 || rest == BATCH_ROWS, "{rest} rows of the batch in doubt");
    assert!(found.values().all(|&count| count == 1));
}

fn start_one(folder: &Path) -> Server {
    // What is on disk is all that there is.
    let path = folder.to_str().unwrap();
    Server::start_with(&["--data", path, "--leaves", "1", "--storage", "mmap"])
}

/// The folder of a server that was killed: of table `t`, one merged block of 4,096 rows, and one
/// row in the log.
fn killed_with_a_block() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let server = start_one(folder.path());
    for batch in 0..16 {
        let rows = (0..256).map(|row| format!("{{\"n\": {row}, \"z\": \"{row}-{batch}\"}}\n"));
        let body: String = rows.collect();
        assert_eq!(server.post("/v1/log/t", &format!("b{batch}"), &body), Some(true));
    }
    let start = std::time::Instant::now();
    while server.run(&["inspect", "t", "--blocks"], b"").stdout.contains("not in a segment") {
        assert!(start.elapsed() < DEADLINE, "nothing is merged");
    }
    server.log(&["t"], "{\"n\": 1, \"z\": \"last\"}\n");
    server.process.kill_now();
    folder
}

fn segment(folder: &TempDir) -> PathBuf {
    folder.path().join("leaf-0/segments/00000001.segment")
}

/// The server tells everywhere that of table `t` the row in the log is there, and the block is lost.
fn tells_of_the_block(server: &Server) {
    let status = server.run(&["status"], b"").stdout;
    let expected = "4,096 rows LOST: their blocks are missing or damaged";
    assert!(status.contains("table t: 1 row,") && status.contains(expected), "{status}");
    for (path, expected) in [
        ("/readyz", "ok, but 4096 rows are lost"),
        ("/metrics", "\nhadal_rows_lost 4096\n"),
        ("/v1/status", "\"lost_rows\":4096"),
        ("/v1/tables/t", "\"lost_rows\":4096"),
    ] {
        let answer = server.get(path);
        assert!(answer.contains(expected), "{expected} is not in {answer}");
    }
}

#[test]
fn lost_rows_are_missed_until_their_table_is_dropped() {
    let folder = killed_with_a_block();
    std::fs::remove_file(segment(&folder)).unwrap();
    for _ in 0..2 {
        let server = start_one(folder.path());
        let said = server.process.wait_for_error("LOST");
        assert!(said.contains("4,096 rows of table t in 1 row block"), "{said}");
        assert!(said.contains("00000001.segment is missing"), "{said}");
        let asked = server.run(&["query", "--format", "table", "SELECT z FROM t"], b"");
        let lost = "4096 rows of t are lost";
        for expected in [lost, "looked at 1 of 4,097 stored rows", "only 0.0 % of the rows"] {
            assert!(asked.stderr.contains(expected), "{expected} is not in {}", asked.stderr);
        }
        tells_of_the_block(&server);
        server.process.kill_now();
    }
    let server = start_one(folder.path());
    assert_eq!(server.run(&["drop", "t", "--yes"], b"").code, 0);
    server.log(&["t"], "{\"n\": 1, \"z\": \"new\"}\n");
    server.process.kill_now();
    drop(server);
    let server = start_one(folder.path());
    let asked = server.run(&["query", "--format", "table", "SELECT z FROM t"], b"");
    assert!(asked.stderr.contains("looked at 1 of 1 stored row"), "{}", asked.stderr);
    assert!(!asked.stderr.contains("lost"), "{}", asked.stderr);
    assert!(server.get("/readyz").ends_with("\r\n\r\nok\n"));
}

#[test]
fn damage_that_a_query_finds_is_told_with_its_place() {
    let folder = killed_with_a_block();
    // The last byte that is used belongs to the last column.
    let mut bytes = std::fs::read(segment(&folder)).unwrap();
    let last = bytes.iter().rposition(|&byte| byte != 0).unwrap();
    bytes[last] ^= 1;
    std::fs::write(segment(&folder), bytes).unwrap();
    let server = start_one(folder.path());
    for _ in 0..2 {
        let asked = server.run(&["query", "--format", "table", "SELECT z FROM t"], b"");
        for expected in ["1 row blocks of t could not be read", "looked at 1 of 4,097 stored rows"]
        {
            assert!(asked.stderr.contains(expected), "{expected} is not in {}", asked.stderr);
        }
    }
    let said = server.process.wait_for_error("a row block is damaged");
    for expected in ["table=\"t\"", "block=0", "00000001.segment at byte 4096", "rows=4096"] {
        assert!(said.contains(expected), "{expected} is not in {said}");
    }
    assert!(!said.contains('\u{1b}'), "colours for nobody: {said:?}");
    tells_of_the_block(&server);
}

#[test]
fn a_file_that_is_cut_while_the_server_runs_is_told_everywhere() {
    let folder = killed_with_a_block();
    let server = start_one(folder.path());
    let select = ["query", "--format", "csv", "SELECT count(z) FROM t"];
    assert_eq!(server.run(&select, b"").stdout.lines().last(), Some("4097"));
    let file = std::fs::File::options().write(true).open(segment(&folder)).unwrap();
    file.set_len(4_096).unwrap();
    let asked = server.run(&select, b"");
    assert_eq!(asked.stdout.lines().last(), Some("1"), "{}", asked.stderr);
    server.process.wait_for_error("a row block is damaged");
    tells_of_the_block(&server);
    // So does the row that tells that it stops.
    assert!(server.process.stop(Signal::TERM).success());
    let server = start_one(folder.path());
    let leaves = "SELECT state, rows, rows_lost FROM _leaves ORDER BY time DESC LIMIT 1";
    assert_eq!(server.query(leaves), ["prepare,1,4096"]);
}

#[test]
fn missing_log_files_and_leaves_are_said() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    for batch in 0..20 {
        assert_eq!(server.post("/v1/log/t", &format!("b{batch}"), "{\"n\": 1}\n"), Some(true));
    }
    server.process.kill_now();
    drop(server);
    let log = folder.path().join("leaf-0/log/00000001.log");
    assert!(std::fs::metadata(&log).unwrap().len() > 0);
    std::fs::write(&log, b"").unwrap();
    std::fs::remove_dir_all(folder.path().join("leaf-1")).unwrap();
    let server = Server::start(folder.path());
    let said = server.process.wait_for_error("leaf-0: LOST");
    assert!(said.contains(log.to_str().unwrap()), "{said}");
    server.process.wait_for_error("leaf-1: LOST: its folder is missing or empty");
    server.log(&["t"], "{\"n\": 1}\n");
    assert_eq!(server.query("SELECT count(*) FROM t"), ["1"]);
    let status = server.run(&["status"], b"").stdout;
    assert!(status.contains("\nleaf-0: LOST") && status.contains("\nleaf-1: LOST"), "{status}");
    let told = server.run(&["query", "SELECT count(*) FROM t WHERE time > 0"], b"").stderr;
    assert!(told.contains("leaf-0: LOST") && told.contains("more of it in /v1/status"), "{told}");
}
