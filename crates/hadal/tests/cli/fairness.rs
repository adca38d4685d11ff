//! Small queries beside the largest: none of them waits for memory, and none is refused.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::harness::{Server, try_ask};

/// Different strings. Grouping by them takes more memory than all queries may have.
const ROWS: usize = 600_000;
const SERVICES: usize = 10;

/// The queries that take most memory and time.
const WORST: [&str; 8] = [
    "SELECT id, count(*) FROM t GROUP BY id ORDER BY count(*) DESC LIMIT 10",
    "SELECT id, n, count(*) FROM t GROUP BY id, n LIMIT 10",
    "SELECT id, service, p95(n) FROM t GROUP BY id, service LIMIT 10",
    "SUMMARIZE t",
    "SELECT id, count(DISTINCT n) FROM t GROUP BY id ORDER BY id DESC LIMIT 10",
    "SELECT concat(id, service) AS x, count(*) FROM t GROUP BY x LIMIT 100000",
    "SELECT * FROM t ORDER BY id LIMIT 100000",
    "SELECT count(*) FROM t WHERE id ~ '(a|b|c)+[d-f]{3}.*(g|h)+'",
];

/// Rows whose ids are letters, so that they do not form templates.
fn rows() -> String {
    let letters = |mut state: u64| -> String {
        let mut text = String::with_capacity(24);
        for _ in 0..24 {
            text.push(char::from(b'a' + u8::try_from(state % 26).unwrap()));
            state = state / 26 + state.wrapping_mul(0x9E37_79B9_7F4A_7C15) % 1_000_003;
        }
        text
    };
    let row = |n: usize| {
        let (id, service) = (letters(n as u64), n % SERVICES);
        format!("{{\"id\": \"{id}{n}\", \"service\": \"s{service}\", \"n\": {n}}}\n")
    };
    (0..ROWS).map(row).collect()
}

/// Runs a light query. It is answered in full with the expected rows.
fn light(server: &Server, sql: &str, expected: &Value) {
    let (status, answer) = try_ask(&server.url, sql, 30_000).unwrap();
    assert_eq!(status, "200", "{sql}: {answer}");
    let answer: Value = serde_json::from_str(&answer).unwrap();
    let coverage = &answer["coverage"];
    assert_eq!(coverage["rows_scanned"], coverage["rows_expected"], "{sql}: {coverage}");
    assert_eq!(answer["rows"], *expected, "{sql}");
}

/// Ends the loops, even if a light query fails.
struct Over<'o>(&'o AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn small_queries_are_answered_beside_eight_of_the_worst() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().to_str().unwrap();
    let flags = ["--data", data, "--leaves", "1", "--memory-max", "256MiB", "--no-journal"];
    let server = Server::start_with(&flags);
    server.log(&["t"], &rows());
    let (is_over, refused) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for sql in WORST {
            let (url, is_over, refused) = (&*server.url, &is_over, &refused);
            scope.spawn(move || {
                while !is_over.load(Ordering::Relaxed) {
                    let (status, answer) = try_ask(url, sql, 30_000).unwrap();
                    // It may be refused for lack of memory or time, but in order.
                    assert!(["200", "422", "503", "504"].contains(&&*status), "{sql}: {answer}");
                    refused.fetch_add(usize::from(status != "200"), Ordering::Relaxed);
                }
            });
        }
        let _over = Over(&is_over);
        for _ in 0..20 {
            let sql = "SELECT service, count(*) FROM t GROUP BY service ORDER BY service";
            let expected =
                (0..SERVICES).map(|service| json!([format!("s{service}"), ROWS / SERVICES]));
            light(&server, sql, &expected.collect::<Value>());
            let sql = "SELECT n FROM t ORDER BY n DESC LIMIT 50";
            let expected = (0..50).map(|n| json!([ROWS - 1 - n]));
            light(&server, sql, &expected.collect::<Value>());
        }
    });
    assert!(refused.into_inner() > 0, "some of them wanted more than there is");
}
