//! A full disk and a full tmpfs: acknowledged rows stay, and rows without room are refused. Once
//! there is room again, everything continues.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use rustix::process::Signal;
use tempfile::TempDir;

use crate::harness::{DEADLINE, Server, post, run};

/// Rows of one batch.
const BATCH_ROWS: usize = 200;

/// A file system of a few mebibytes; `None` without the permission to mount one.
struct Small(TempDir);

impl Small {
    fn mount(mebibytes: usize) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let mut mount = Command::new("mount");
        let options = format!("size={mebibytes}m");
        mount.args(["-t", "tmpfs", "-o", &options, "hadal-test"]).arg(folder.path());
        let is_mounted = mount.output().is_ok_and(|output| output.status.success());
        is_mounted.then(|| Self(folder))
    }

    fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        // A process with open files there keeps them until it ends.
        let _ = Command::new("umount").arg("-l").arg(self.0.path()).status();
    }
}

/// Rows that no encoding makes much smaller.
fn body(batch: usize) -> String {
    let mut random = batch as u64 + 1;
    let mut next = || {
        random =
            random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        random
    };
    let mut text = || (0..8).map(|_| format!("{:016x}", next())).collect::<String>();
    let row =
        |row: usize| format!("{{\"n\": {}, \"x\": \"{}\"}}\n", batch * BATCH_ROWS + row, text());
    (0..BATCH_ROWS).map(row).collect()
}

/// Posts batches from `first` on until one is refused or `most` are accepted. Returns the first
/// batch that was not accepted.
fn fill(server: &Server, first: usize, most: usize) -> usize {
    (first..first + most)
        .find(|batch| {
            let taken = post(&server.url, "/v1/log/t", &format!("b{batch}"), &body(*batch));
            !taken.expect("the server answers")
        })
        .unwrap_or(first + most)
}

/// The rows of the batches before `end` are stored, each once.
fn has_all(server: &Server, end: usize) {
    let start = Instant::now();
    // Answers come before all rows are restored.
    while !server.get("/v1/status").contains("\"waiting_rows\":0") {
        assert!(start.elapsed() < DEADLINE, "rows are not back");
    }
    let rows = end * BATCH_ROWS;
    let counted = server.query("SELECT count(*), sum(n), count(DISTINCT x) FROM t");
    let expected = format!("{rows},{},", rows * (rows - 1) / 2);
    assert!(counted[0].starts_with(&expected), "{counted:?}: {expected}");
}

fn start(data: &Path, more: &[&str]) -> Server {
    let flags = ["--data", data.to_str().unwrap(), "--leaves", "1"];
    Server::start_with(&[&flags[..], more].concat())
}

#[test]
fn a_full_disk_refuses_rows_and_loses_none() {
    let Some(disk) = Small::mount(24) else { return println!("skipped: needs root") };
    let data = disk.path().join("data");
    let mmap = ["--storage", "mmap"];
    let mut server = start(&data, &mmap);
    server.log(&["other"], "{\"n\": 1}\n");
    let mut end = fill(&server, 0, 10_000);
    assert!((10..10_000).contains(&end), "{end}");
    // For a while merges free a little room again and again.
    let logged = loop {
        let logged = server.run(&["log", "t"], body(end).as_bytes());
        if logged.code != 0 {
            break logged;
        }
        end += 1;
    };
    assert!(logged.stderr.contains("no space is left"), "{}", logged.stderr);
    let ready = server.get("/readyz");
    assert!(ready.contains("200 OK") && ready.contains("no space is left on disk"), "{ready}");
    // Paths are only for the operator of the server.
    let answers = ["/readyz", "/v1/version", "/v1/status", "/v1/tables", "/metrics"];
    let answers = answers.map(|path| server.get(path)).into_iter().chain([logged.stderr]);
    for answer in answers {
        assert!(!answer.contains(disk.path().to_str().unwrap()), "{answer}");
    }
    has_all(&server, end);
    // A crash and a stop with a full disk.
    for signal in [Signal::KILL, Signal::TERM, Signal::KILL] {
        server.process.stop(signal);
        server = start(&data, &mmap);
        has_all(&server, end);
    }
    // Dropped rows free room within a second or two.
    let dropped = server.run(&["drop", "t", "--yes"], b"");
    assert_eq!(dropped.code, 0, "{}", dropped.stderr);
    let (some, start_of_wait) = (20, Instant::now());
    while fill(&server, 0, 1) == 0 {
        assert!(start_of_wait.elapsed() < DEADLINE, "there is no room");
    }
    assert_eq!(fill(&server, 1, some - 1), some);
    has_all(&server, some);
    server.process.stop(Signal::KILL);
    let server = start(&data, &mmap);
    has_all(&server, some);
    assert_eq!(server.query("SELECT count(*) FROM other"), ["1"]);
}

#[test]
fn a_disk_is_filled_by_two_tables_and_one_of_them_goes() {
    let Some(disk) = Small::mount(64) else { return println!("skipped: needs root") };
    let data = disk.path().join("data");
    let server = start(&data, &["--storage", "mmap"]);
    let post_to = |table: &str, batch: usize| {
        let taken =
            post(&server.url, &format!("/v1/log/{table}"), &format!("b{batch}"), &body(batch));
        taken.expect("the server answers")
    };
    // Both tables in the same files of the log.
    let end = (0..10_000).find(|&batch| !post_to("gone", batch) || !post_to("t", batch));
    let end = end.expect("the disk is full");
    assert!(server.process.wait_for_error("no space").contains("rows are refused"));
    let dropped = server.run(&["drop", "gone", "--yes"], b"");
    assert_eq!(dropped.code, 0, "{}", dropped.stderr);
    let start_of_wait = Instant::now();
    let mut next = end;
    while next < 2 * end {
        if post_to("t", next) {
            next += 1;
        } else {
            assert!(
                start_of_wait.elapsed() < DEADLINE,
                "there is no room for batch {next} of {end}"
            );
        }
    }
    has_all(&server, next);
}

#[test]
fn a_full_tmpfs_refuses_nothing_and_rows_are_read_from_disk() {
    let Some(tmpfs) = Small::mount(6) else { return println!("skipped: needs root") };
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let memory = ["--storage", "auto", "--tmpfs", tmpfs.path().to_str().unwrap()];
    // Too small to be used at all.
    let server = start(&data, &memory);
    assert!(server.process.wait_for_error("MiB").contains("--storage mmap"));
    drop(server);
    let Some(tmpfs) = Small::mount(300) else { return println!("skipped: needs root") };
    let ballast = tmpfs.path().join("ballast");
    let memory = ["--tmpfs", tmpfs.path().to_str().unwrap()];
    let mut server = start(&data, &memory);
    // Another process takes all but 4 MiB of it.
    std::fs::write(&ballast, vec![1u8; 296 << 20]).unwrap();
    let batches = 400;
    assert_eq!(fill(&server, 0, batches), batches, "nothing is refused");
    has_all(&server, batches);
    for signal in [Signal::TERM, Signal::KILL, Signal::TERM] {
        server.process.stop(signal);
        server = start(&data, &memory);
        has_all(&server, batches);
    }
    std::fs::remove_file(&ballast).unwrap();
    assert_eq!(fill(&server, batches, 10), batches + 10);
    has_all(&server, batches + 10);
}

/// The bytes of all files in a folder and its folders, and the number of segments among them.
fn taken(folder: &Path) -> (u64, u64) {
    let (mut bytes, mut segments) = (0, 0);
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            let (own_bytes, own_segments) = taken(&path);
            (bytes, segments) = (bytes + own_bytes, segments + own_segments);
        } else if path.extension().is_some_and(|extension| extension == "segment") {
            // A file that is deleted at this moment takes nothing.
            bytes += std::fs::metadata(&path).map_or(0, |metadata| metadata.blocks() * 512);
            segments += 1;
        }
    }
    (bytes, segments)
}

#[test]
fn bytes_of_blocks_are_told_as_the_system_tells_them() {
    const PAGE: u64 = 4_096;
    let Some(tmpfs) = Small::mount(300) else { return println!("skipped: needs root") };
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let flags = ["--tmpfs", tmpfs.path().to_str().unwrap(), "--no-journal"];
    let mut server = start(&data, &flags);
    let batches = 150;
    assert_eq!(fill(&server, 0, batches), batches);
    server.log(&["u"], &"{\"a\": 1, \"b\": [\"x\", \"y\"]}\n".repeat(70_000));
    // A stop gives all of them their final position.
    server.process.stop(Signal::TERM);
    server = start(&data, &flags);
    let blocks_of = |table: &str| -> serde_json::Value {
        let response = server.get(&format!("/v1/tables/{table}/blocks?limit=1000"));
        let (_, body) = response.split_once("\r\n\r\n").unwrap_or(("", &response));
        serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {response}"))
    };
    let start = Instant::now();
    loop {
        let tables = ["t", "u"].map(blocks_of);
        let blocks: Vec<&serde_json::Value> =
            tables.iter().flat_map(|table| table["blocks"].as_array().unwrap()).collect();
        let paged =
            |block: &&serde_json::Value| block["bytes"].as_u64().unwrap().next_multiple_of(PAGE);
        let block_bytes: u64 = blocks.iter().map(paged).sum();
        let metrics = server.get("/metrics");
        let held =
            metrics.lines().find_map(|line| line.strip_prefix("hadal_memory_row_block_bytes "));
        let ((memory, files), (disk, _)) = (taken(tmpfs.path()), taken(&data));
        let is_settled = blocks.iter().all(|block| block["fresh"] == false);
        // One page of each file is its head. Blocks replaced by merges are deleted within a second
        // or two.
        let is_consistent = held == Some(&block_bytes.to_string()) && memory == block_bytes + files * PAGE
            // The file system may store a file's position in a page of its own.
            && (memory..=memory + files * PAGE).contains(&disk);
        if is_settled && is_consistent {
            for table in &tables {
                let sum = |list: &str| -> u64 {
                    table[list]
                        .as_array()
                        .unwrap()
                        .iter()
                        .map(|entry| entry["bytes"].as_u64().unwrap())
                        .sum()
                };
                let (columns, blocks) = (sum("columns"), sum("blocks"));
                assert_eq!(Some(blocks), table["bytes"].as_u64());
                // The rest is the beginning of each block: header, directory and batches.
                let most = PAGE * table["block_count"].as_u64().unwrap();
                assert!((columns..columns + most).contains(&blocks), "{columns} of {blocks}");
            }
            break;
        }
        let figures = (block_bytes, held, memory, disk, files, is_settled);
        assert!(start.elapsed() < DEADLINE, "{figures:?}");
    }
    // Inspecting the folder itself shows the same.
    let asked = ["t", "u"].map(|table| server.run(&["inspect", table, "--blocks"], b"").stdout);
    assert!(asked[0].contains("table t: 30,000 rows"), "{}", asked[0]);
    server.process.stop(Signal::TERM);
    let data = data.to_str().unwrap();
    let looked = ["t", "u"].map(|table| run(&["inspect", table, "--blocks", "--data", data], b""));
    assert_eq!(asked, looked.map(|looked| looked.stdout));
}

#[test]
fn memory_is_told_as_the_system_tells_it() {
    let folder = tempfile::tempdir().unwrap();
    let server = start(folder.path(), &["--memory-max", "256MiB"]);
    assert_eq!(fill(&server, 0, 50), 50);
    let metrics = server.get("/metrics");
    let metric = |name: &str| -> u64 {
        let line =
            metrics.lines().find_map(|line| line.strip_prefix(&format!("hadal_memory_{name} ")));
        line.unwrap_or_else(|| panic!("{name} is not in {metrics}")).parse().unwrap()
    };
    assert_eq!(metric("max_bytes"), 256 << 20);
    let status =
        std::fs::read_to_string(format!("/proc/{}/status", server.process.pid().as_raw_nonzero()))
            .unwrap();
    let rss_anon = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap();
    let rss_anon: u64 = rss_anon.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10;
    // It keeps changing meanwhile.
    let reported = metric("heap_bytes");
    assert!(reported.abs_diff(rss_anon) < (16 << 20).max(rss_anon / 4), "{reported} of {rss_anon}");
    let shown = server.run(&["status"], b"").stdout;
    assert!(shown.contains(" of its own, of 256.0 MiB\n"), "{shown}");
}
