//! Memory: no query takes memory that is not counted.

use serde_json::Value;

use crate::harness::{Server, try_ask};

const MEMORY_MAX: &str = "300MiB";
/// The maximum memory of the process in kibibytes: 1.2 times the limit.
const PEAK_KIB_MAX: u64 = 360 << 10;
/// The number of rows with long strings.
const LONG_ROWS: usize = 1_000;
/// Bytes of each long string.
const LONG_BYTES: usize = 64_000;
/// The number of ordinary rows.
const ROWS: usize = 50_000;

/// Short queries that compute, keep or show much.
fn worst() -> Vec<String> {
    let times = |count, text: &str, between: &str| vec![text; count].join(between);
    let sums: Vec<String> =
        (0..500).map(|addend| format!("CAST(n + {addend} AS VARCHAR)")).collect();
    vec![
        format!("SELECT {}, count(*) FROM long GROUP BY 1", times(40, "s", " || ")),
        format!("SELECT {}, count(*) FROM long GROUP BY 1", times(16, "s", " || ")),
        format!("SELECT sum(length({})) FROM long", times(16, "s", " || ")),
        format!("SELECT count(*) FROM long WHERE length(upper({})) > 7", times(15, "s", " || ")),
        "SELECT * FROM long ORDER BY s DESC LIMIT 100000".to_owned(),
        "SUMMARIZE long".to_owned(),
        format!("SELECT sum(length({})) FROM t", sums.join(" || ")),
        "SELECT *, lower(id) || id || id AS x FROM t ORDER BY x LIMIT 100000".to_owned(),
    ]
}

fn long_rows() -> String {
    let row = |n: usize| {
        let text: String = (0..LONG_BYTES / 8)
            .map(|at| format!("{:08x}", (n * 7_919 + at * 104_729) % (1 << 32)))
            .collect();
        format!("{{\"s\": \"{text}\", \"n\": {n}}}\n")
    };
    (0..LONG_ROWS).map(row).collect()
}

fn rows() -> String {
    let row = |n: usize| {
        let id = n.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        format!("{{\"id\": \"{id:016x}\", \"n\": {n}}}\n")
    };
    (0..ROWS).map(row).collect()
}

/// The peak memory of the server so far, in kibibytes.
fn peak_kib(server: &Server) -> u64 {
    let status =
        std::fs::read_to_string(format!("/proc/{}/status", server.process.pid().as_raw_nonzero()))
            .unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").trim().parse().unwrap()
}

#[test]
fn no_query_takes_memory_that_nobody_counts() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().to_str().unwrap();
    let flags = ["--data", data, "--leaves", "1", "--memory-max", MEMORY_MAX, "--no-journal"];
    let server = Server::start_with(&flags);
    server.log(&["long"], &long_rows());
    server.log(&["t"], &rows());
    let before = peak_kib(&server);
    for round in 0..3 {
        std::thread::scope(|scope| {
            for sql in worst() {
                let url = &*server.url;
                scope.spawn(move || {
                    let (status, answer) = try_ask(url, &sql, 30_000).unwrap();
                    let start = &sql[..sql.len().min(60)];
                    assert!(
                        ["200", "400", "422", "503", "504"].contains(&&*status),
                        "{start}: {answer}"
                    );
                    println!("{round} {status} {start}: {}", &answer[..answer.len().min(150)]);
                });
            }
        });
    }
    let peak = peak_kib(&server);
    println!("{} MiB before, {} MiB at most", before >> 10, peak >> 10);
    assert!(peak <= PEAK_KIB_MAX, "{} MiB of {}", peak >> 10, PEAK_KIB_MAX >> 10);
    // One at a time they are answered, or refused with the memory that they need.
    for (sql, expected) in
        worst().iter().zip(["400", "422", "200", "200", "422", "422", "200", "200"])
    {
        let (status, answer) = try_ask(&server.url, sql, 300_000).unwrap();
        let start = &answer[..answer.len().min(300)];
        assert_eq!(status, expected, "{}: {start}", &sql[..60.min(sql.len())]);
        if status == "200" {
            let answer: Value = serde_json::from_str(&answer).unwrap();
            assert_eq!(answer["coverage"]["fraction"], 1.0, "{}", answer["coverage"]);
        }
    }
    assert!(peak_kib(&server) <= PEAK_KIB_MAX);
}
