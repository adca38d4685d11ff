//! kill -9 while rows are logged: acknowledged rows are there afterwards, exactly once. Files
//! removed from the disk are reported as missing.

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

/// Logs batch after batch until the server is gone. Returns the first batch that was not
/// acknowledged, which may be stored or not.
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
        // A batch in doubt is sent again first, as a producer would do.
        next = in_doubt;
        check(&server, in_doubt);
    }
    assert!(next >= ROUNDS.iter().sum(), "{next}");
}

/// Every row of the batches before `in_doubt` is stored once, and that batch completely or not at
/// all.
fn check(server: &Server, in_doubt: usize) {
    let lines = server.query("SELECT n, count(*) FROM t GROUP BY n LIMIT 100000");
    let counts: BTreeMap<usize, usize> = lines
        .iter()
        .map(|line| {
            let (n, count) = line.split_once(',').unwrap();
            (n.parse().unwrap(), count.parse().unwrap())
        })
        .collect();
    let acknowledged = in_doubt * BATCH_ROWS;
    for n in 0..acknowledged {
        assert_eq!(counts.get(&n), Some(&1), "row {n} of {acknowledged}");
    }
    let rest = counts.len() - acknowledged;
    assert!(rest == 0 || rest == BATCH_ROWS, "{rest} rows of the batch in doubt");
    assert!(counts.values().all(|&count| count == 1));
}

fn start_one(folder: &Path) -> Server {
    // All blocks are on disk only.
    let path = folder.to_str().unwrap();
    Server::start_with(&["--data", path, "--leaves", "1", "--storage", "mmap"])
}

/// The folder of a killed server. Table `t` has one merged block of 4,096 rows, and one row in the
/// log.
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

/// The server reports everywhere that table `t` has the row in the log and has lost the block.
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
    // The last used byte belongs to the last column.
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
    // The row that reports the stop has the lost rows too.
    assert!(server.process.stop(Signal::TERM).success());
    let server = start_one(folder.path());
    let leaves = "SELECT state, rows, rows_lost FROM _leaves ORDER BY time DESC LIMIT 1";
    assert_eq!(server.query(leaves), ["prepare,1,4096"]);
}

#[test]
fn missing_log_files_and_leaves_stay_told_until_somebody_knows() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    for batch in 0..20 {
        assert_eq!(server.post("/v1/log/t", &format!("b{batch}"), "{\"n\": 1}\n"), Some(true));
    }
    server.process.kill_now();
    drop(server);
    let log = folder.path().join("leaf-0/log/00000001.log");
    assert!(std::fs::metadata(&log).unwrap().len() > 0);
    std::fs::remove_file(&log).unwrap();
    std::fs::remove_dir_all(folder.path().join("leaf-1")).unwrap();
    // However often it is stopped and started, in order or not.
    for signal in [Signal::TERM, Signal::TERM, Signal::KILL] {
        let server = Server::start(folder.path());
        let said = server.process.wait_for_error("leaf-0: LOST");
        assert!(said.contains("log/00000001.log was missing or empty"), "{said}");
        server.process.wait_for_error("leaf-1: LOST: its folder was missing or empty");
        server.log(&["t"], "{\"n\": 1}\n");
        tells_of_unknown_losses(&server);
        server.process.stop(signal);
    }
    let server = Server::start(folder.path());
    // Acknowledging the losses of a table is not enough.
    let one = server.run(&["acknowledge-loss", "t"], b"");
    assert!(one.stderr.contains("nothing was lost"), "{}", one.stderr);
    tells_of_unknown_losses(&server);
    let all = server.run(&["acknowledge-loss"], b"");
    assert!(
        all.stderr.contains("an unknown number in 2 places; no longer reported"),
        "{}",
        all.stderr
    );
    tells_of_nothing(&server);
    server.process.stop(Signal::TERM);
    for signal in [Signal::TERM, Signal::KILL] {
        server_is_stopped(folder.path(), signal);
    }
    tells_of_nothing(&Server::start(folder.path()));
}

fn server_is_stopped(folder: &Path, signal: Signal) {
    let server = Server::start(folder);
    tells_of_nothing(&server);
    server.log(&["t"], "{\"n\": 1}\n");
    server.process.stop(signal);
}

/// The server reports everywhere that leaves 0 and 1 have lost an unknown number of rows.
fn tells_of_unknown_losses(server: &Server) {
    let status = server.run(&["status"], b"").stdout;
    assert!(status.contains("\nleaf-0: LOST") && status.contains("\nleaf-1: LOST"), "{status}");
    let warnings =
        server.run(&["query", "--format", "table", "SELECT count(*) FROM t"], b"").stderr;
    for leaf in ["leaf-0", "leaf-1"] {
        assert!(
            warnings.contains(&format!("{leaf} has lost rows in one place, how many")),
            "{warnings}"
        );
    }
    assert!(warnings.contains("of at least "), "{warnings}");
    for (path, expected) in [
        ("/readyz", "ok, but rows may be lost"),
        ("/metrics", "\nhadal_unknown_losses 2\n"),
        ("/v1/status", "\"leaf\":\"leaf-0\",\"found_at\":"),
    ] {
        let answer = server.get(path);
        assert!(answer.contains(expected), "{expected} is not in {answer}");
    }
    let (status, answer) = server.ask("SELECT count(*) FROM t");
    assert_eq!(status, "200", "{answer}");
    assert!(answer.contains("\"fraction_is_upper_bound\":true"), "{answer}");
    assert!(answer.contains("\"rows_lost_unknown\""), "{answer}");
}

fn tells_of_nothing(server: &Server) {
    assert!(server.get("/readyz").ends_with("\r\n\r\nok\n"));
    let (_, answer) = server.ask("SELECT count(*) FROM t");
    assert!(answer.contains("\"fraction_is_upper_bound\":false"), "{answer}");
    assert!(!answer.contains("lost"), "{answer}");
    assert!(!server.run(&["status"], b"").stdout.contains("LOST"));
}

#[test]
fn lost_blocks_are_gone_for_good_once_somebody_knows() {
    let folder = killed_with_a_block();
    std::fs::remove_file(segment(&folder)).unwrap();
    let server = start_one(folder.path());
    tells_of_the_block(&server);
    let said = server.run(&["acknowledge-loss", "t"], b"").stderr;
    assert!(said.contains("4,096 rows lost; no longer reported"), "{said}");
    tells_of_nothing(&server);
    assert_eq!(server.query("SELECT z FROM t"), ["last"]);
    assert!(server.process.stop(Signal::TERM).success());
    let server = start_one(folder.path());
    tells_of_nothing(&server);
    assert_eq!(server.query("SELECT z FROM t"), ["last"]);
    let unknown = server.run(&["acknowledge-loss", "nosuch"], b"");
    assert!(unknown.code != 0 && unknown.stderr.contains("nosuch"), "{}", unknown.stderr);
}

#[test]
fn damaged_blocks_are_gone_for_good_once_somebody_knows() {
    let folder = killed_with_a_block();
    let mut bytes = std::fs::read(segment(&folder)).unwrap();
    let last = bytes.iter().rposition(|&byte| byte != 0).unwrap();
    bytes[last] ^= 1;
    std::fs::write(segment(&folder), bytes).unwrap();
    let server = start_one(folder.path());
    assert_eq!(server.query("SELECT count(z) FROM t"), ["1"]);
    tells_of_the_block(&server);
    let said = server.run(&["acknowledge-loss"], b"").stderr;
    assert!(said.contains("4,096 rows lost; no longer reported"), "{said}");
    tells_of_nothing(&server);
    server.process.kill_now();
    drop(server);
    tells_of_nothing(&start_one(folder.path()));
}

/// Alters a byte in the middle of a file.
fn alter(file: &Path) {
    let mut bytes = std::fs::read(file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(file, bytes).unwrap();
}

/// The folder of a server with two leaves and 40 rows, and the number of rows of leaf 1.
fn two_leaves() -> (TempDir, u64) {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    for batch in 0..40 {
        assert_eq!(server.post("/v1/log/t", &format!("b{batch}"), "{\"n\": 1}\n"), Some(true));
    }
    let (_, answer) = server.ask("SELECT count(*) FROM t");
    let answer: serde_json::Value = serde_json::from_str(&answer).unwrap();
    let of_one = answer["coverage"]["leaves"][1]["rows_scanned"].as_u64().unwrap();
    assert!((1..40).contains(&of_one), "{answer}");
    assert!(server.process.stop(Signal::TERM).success());
    (folder, of_one)
}

#[test]
fn a_damaged_manifest_is_made_good_by_its_copy() {
    let (folder, _) = two_leaves();
    alter(&folder.path().join("leaf-0/manifest"));
    std::fs::remove_file(folder.path().join("leaf-1/manifest")).unwrap();
    let server = Server::start(folder.path());
    let said = server.process.wait_for_error("leaf-0: MENDED");
    assert!(said.contains("its copy took its place"), "{said}");
    server.process.wait_for_error("leaf-1: MENDED");
    assert_eq!(server.query("SELECT count(*) FROM t"), ["40"]);
    tells_of_nothing(&server);
    assert!(folder.path().join("leaf-0/manifest.damaged").exists());
    assert!(server.process.stop(Signal::TERM).success());
    let server = Server::start(folder.path());
    assert_eq!(server.query("SELECT count(*) FROM t"), ["40"]);
}

#[test]
fn where_the_copy_is_damaged_too_the_other_leaves_serve_and_say_so() {
    let (folder, of_one) = two_leaves();
    let (manifest, copy) = ("leaf-1/manifest", "leaf-1/manifest.copy");
    let whole = [manifest, copy].map(|file| std::fs::read(folder.path().join(file)).unwrap());
    for file in [manifest, copy] {
        std::fs::write(folder.path().join(file), vec![0; 300]).unwrap();
    }
    let server = Server::start(folder.path());
    let said = server.process.wait_for_error("leaf-1: DOES NOT SERVE");
    assert!(said.contains("docs/damage.md") && said.contains("leaf-1/manifest"), "{said}");
    assert_eq!(server.query("SELECT count(*) FROM t"), [(40 - of_one).to_string()]);
    let (_, answer) = server.ask("SELECT count(*) FROM t");
    let answer: serde_json::Value = serde_json::from_str(&answer).unwrap();
    let coverage = &answer["coverage"];
    assert_eq!((&coverage["leaves_asked"], &coverage["leaves_answered"]), (&2.into(), &1.into()));
    assert_eq!(coverage["leaves"][1]["outcome"], "dead", "{answer}");
    assert_eq!(coverage["fraction_is_upper_bound"], true, "{answer}");
    let status = server.run(&["status"], b"").stdout;
    assert!(status.contains("leaf-1: DOES NOT SERVE"), "{status}");
    // It accepts batches, and nothing in the damaged folder was changed.
    server.log(&["t"], "{\"n\": 1}\n");
    assert!(server.process.stop(Signal::TERM).success());
    for (file, bytes) in [manifest, copy].iter().zip(whole) {
        assert_eq!(std::fs::read(folder.path().join(file)).unwrap(), vec![0; 300]);
        std::fs::write(folder.path().join(file), bytes).unwrap();
    }
    let server = Server::start(folder.path());
    assert_eq!(server.query("SELECT count(*) FROM t"), ["41"]);
    tells_of_nothing(&server);
}

#[test]
fn altered_bytes_at_the_end_of_the_log_are_told_in_answers() {
    let folder = tempfile::tempdir().unwrap();
    let server = start_one(folder.path());
    for batch in 0..3 {
        assert_eq!(server.post("/v1/log/t", &format!("b{batch}"), "{\"n\": 1}\n"), Some(true));
    }
    server.process.kill_now();
    drop(server);
    let log = folder.path().join("leaf-0/log/00000001.log");
    let mut bytes = std::fs::read(&log).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    std::fs::write(&log, bytes).unwrap();
    for _ in 0..2 {
        let server = start_one(folder.path());
        let said = server.process.wait_for_error("leaf-0: DAMAGED");
        assert!(said.contains("in one place of log/00000001.log"), "{said}");
        let (_, answer) = server.ask("SELECT count(*) FROM t");
        assert!(answer.contains("rows_lost_unknown"), "{answer}");
        assert!(server.process.stop(Signal::TERM).success());
    }
}
