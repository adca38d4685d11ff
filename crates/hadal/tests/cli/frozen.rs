//! A data folder of an earlier version that was killed: this version reads all of it and continues
//! with it.

use std::path::Path;
use std::process::Command;

use rustix::process::Signal;

use crate::harness::{Server, post};

/// Written by the version of commit ac3ad54. It has twelve batches of a thousand rows in segments,
/// three of a hundred in the log, and a table of one row.
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/frozen/folder-2026-11-22.tar.gz");

/// The rows `from..to` of table `t`, as they were sent then.
fn rows(from: usize, to: usize) -> String {
    let row = |n: usize| {
        let tags = if n.is_multiple_of(3) { "null" } else { r#"{"$set": ["a", "b"]}"# };
        let (minute, second) = (n / 60 % 60, n % 60);
        let quarter = ["0", "25", "5", "75"][n % 4];
        format!(
            "{{\"n\": {n}, \"s\": \"user {} did {n}\", \"v\": {}.{quarter}, \"tags\": {tags}, \
             \"time\": \"2026-11-22T10:{minute:02}:{second:02}Z\"}}\n",
            n % 97,
            n / 4
        )
    };
    (from..to).map(row).collect()
}

fn start(data: &Path, storage: &str) -> Server {
    let data = data.to_str().unwrap();
    Server::start_with(&["--data", data, "--leaves", "1", "--storage", storage])
}

#[test]
fn a_folder_of_an_earlier_version_is_read_whole_and_goes_on() {
    for storage in ["auto", "mmap"] {
        let folder = tempfile::tempdir().unwrap();
        let mut unpack = Command::new("tar");
        let unpacked = unpack.args(["-xzf", FOLDER, "-C"]).arg(folder.path()).status().unwrap();
        assert!(unpacked.success());
        let data = folder.path().join("data");
        let mut server = start(&data, storage);
        let all = |server: &Server| {
            // Answers come before all rows are restored.
            while !server.get("/v1/status").contains("\"waiting_rows\":0") {}
            assert_eq!(server.query("SELECT a FROM u"), ["1"]);
            assert_eq!(
                server.query("SELECT s, v, n FROM t WHERE n = 5003 OR n = 14050 ORDER BY n"),
                ["user 56 did 5003,1250.75,5003", "user 82 did 14050,3512.5,14050"]
            );
            let tagged = "SELECT count(*) FROM t WHERE tags IS NOT NULL";
            let sums = server.query("SELECT count(*), sum(n), max(v) FROM t");
            (sums, server.query(tagged))
        };
        let numbers =
            (0..12_000).chain([12_000, 13_000, 14_000].into_iter().flat_map(|n| n..n + 100));
        let (mut count, mut sum, mut tagged) = (0, 0, 0);
        for n in numbers {
            (count, sum, tagged) = (count + 1, sum + n, tagged + usize::from(n % 3 > 0));
        }
        let expected = |more: usize| {
            let sum = sum + (20_000..20_000 + more).sum::<usize>();
            let last = if more > 0 { 20_000 + more - 1 } else { 14_099 };
            #[expect(clippy::cast_precision_loss, reason = "small")]
            let most = last as f64 / 4.0;
            let tagged = tagged + (20_000..20_000 + more).filter(|n| n % 3 > 0).count();
            (vec![format!("{},{sum},{most}", count + more)], vec![tagged.to_string()])
        };
        assert_eq!(all(&server), expected(0), "{storage}");
        // Batches accepted by the earlier version are known.
        for (batch, from, to) in [(3, 3_000, 4_000), (13, 13_000, 13_100)] {
            assert_eq!(
                post(&server.url, "/v1/log/t", &format!("b{batch}"), &rows(from, to)),
                Some(true)
            );
        }
        assert_eq!(all(&server), expected(0), "{storage}");
        assert_eq!(post(&server.url, "/v1/log/t", "more", &rows(20_000, 20_300)), Some(true));
        for signal in [Signal::TERM, Signal::KILL] {
            server.process.stop(signal);
            server = start(&data, storage);
            assert_eq!(all(&server), expected(300), "{storage}");
        }
    }
}
