//! Logging standard input.

use rustix::process::Signal;

use crate::harness::{Running, Server, hadal, url_in};

#[test]
fn json_lines_and_plain_lines_are_told_apart() {
    let server = Server::start_with(&["--memory"]);
    let said = server.log(&["j"], "{\"a\": 1}\n{\"a\": 2}\n");
    assert!(said.contains("2 rows went to table j"), "{said}");
    assert!(said.ends_with(" s, time of arrival\n"), "{said}");
    server.log(&["p"], "it began\nit went on\n");
    assert_eq!(server.query("SELECT a FROM j ORDER BY a"), ["1", "2"]);
    assert_eq!(server.query("SELECT message FROM p ORDER BY message"), ["it began", "it went on"]);
}

#[test]
fn rejected_rows_are_reported_with_reasons() {
    let server = Server::start_with(&["--memory"]);
    let lines = b"{\"a\": 1}\n{\"a\": \n{\"a\": 3}\nnonsense\n";
    let finished = server.run(&["log", "t"], lines);
    assert_eq!(finished.code, 1);
    let said = finished.stderr;
    let error =
        "error: 2 rows were not taken; --allow-rejects 2 ends the command without an error\n";
    assert!(said.ends_with(error), "{said}");
    assert_eq!(server.run(&["log", "u", "--allow-rejects", "2"], lines).code, 0);
    assert_eq!(server.run(&["log", "u", "--allow-rejects", "1"], lines).code, 1);
    assert!(said.contains("2 rows went to table t"), "{said}");
    assert!(said.contains("2 rows rejected"), "{said}");
    assert!(said.contains("line 2: ") && said.contains("line 4: "), "{said}");
}

#[test]
fn a_command_whose_rows_were_all_rejected_fails() {
    let server = Server::start_with(&["--memory"]);
    let finished = server.run(&["log", "t"], b"{\"bad\n");
    assert_eq!(finished.code, 1);
    assert!(finished.stderr.contains("line 1: "), "{}", finished.stderr);
    assert!(
        finished.stderr.ends_with("error: none of the rows was taken\n"),
        "{}",
        finished.stderr
    );
}

#[test]
fn the_same_batch_twice_is_once() {
    let server = Server::start_with(&["--memory"]);
    let send = || server.log(&["t", "--batch", "monday"], "{\"a\": 1}\n{\"a\": 2}\n");
    let first = send();
    assert!(first.contains("2 rows went to table t"), "{first}");
    assert_eq!(send(), "nothing new: batch monday was there already\n");
    assert_eq!(server.query("SELECT count(*) FROM t"), ["2"]);
    let other = server.run(&["log", "t", "--batch", "monday"], b"{\"a\": 3}\n");
    assert_eq!(other.code, 1);
    assert!(other.stderr.contains("monday"), "{}", other.stderr);
}

#[test]
fn a_batch_is_taken_back_and_nothing_else() {
    let server = Server::start_with(&["--memory", "--leaves", "3"]);
    let line = format!("{{\"a\": 1, \"padding\":\"{}\"}}\n", "x".repeat(1_000));
    // In several chunks, of several parts each.
    let rows = 70_000;
    server.log(&["t", "--batch", "import"], &line.repeat(rows));
    server.log(&["t", "--batch", "import2"], "{\"a\": 2}\n");
    let revoke = |id: &str| server.run(&["revoke", "t", id], b"");
    let said = revoke("import");
    assert_eq!((said.code, &*said.stderr), (0, "took back batch import of table t: 70,000 rows\n"));
    assert_eq!(server.query("SELECT a, count(*) FROM t GROUP BY a"), ["2,1"]);
    assert!(revoke("import").stderr.contains("taken back before"));
    let again = server.log(&["t", "--batch", "import"], &line.repeat(rows));
    assert_eq!(again, "nothing new: batch import was there already\n");
    for (id, problem) in [("monday", "no batch monday of table t is known"), ("a#1", "a#1")] {
        let said = revoke(id);
        assert!(said.code != 0 && said.stderr.contains(problem), "{}", said.stderr);
    }
    let said = server.run(&["revoke", "u", "import2"], b"");
    assert!(
        said.code != 0 && said.stderr.contains("no batch import2 of table u"),
        "{}",
        said.stderr
    );
    assert_eq!(server.query("SELECT a, count(*) FROM t GROUP BY a"), ["2,1"]);
}

#[test]
fn a_batch_is_not_taken_for_a_part_of_another() {
    let server = Server::start_with(&["--memory"]);
    let line = format!("{{\"padding\":\"{}\"}}\n", "x".repeat(1_000));
    server.log(&["t", "--batch", "import"], &line.repeat(10_000));
    let other = server.log(&["t", "--batch", "import.1"], "{\"a\": 1}\n");
    assert!(other.contains("1 row went to table t"), "{other}");
    for id in ["import#1", "import##1", "two words", ""] {
        let refused = server.run(&["log", "t", "--batch", id], b"{\"a\": 1}\n");
        assert_eq!(refused.code, 2, "{}", refused.stderr);
        assert!(refused.stderr.starts_with("error: "), "{}", refused.stderr);
        if !id.is_empty() {
            assert!(refused.stderr.contains(&format!("{id:?}")), "{}", refused.stderr);
        }
    }
}

#[test]
fn a_chunk_that_is_refused_ends_the_command() {
    let server = Server::start_with(&["--memory"]);
    let line = |n: usize| format!("{{\"n\":{n},\"padding\":\"{}\"}}\n", "x".repeat(1_000));
    let lines: Vec<String> = (0..30_000).map(line).collect();
    // A first attempt that was broken off after one chunk, which is full at 4 MiB.
    let mut bytes = 0;
    let ends = |line: &String| {
        bytes += line.len();
        bytes >= 4 << 20
    };
    let chunk = lines.iter().position(ends).unwrap() + 1;
    server.log(&["t", "--batch", "b"], &lines[..chunk].concat());
    let rest = server.log(&["t", "--batch", "b"], &lines.concat());
    assert!(rest.contains("; 4,0"), "{rest}");
    assert!(rest.contains(" others of batch b were there already"), "{rest}");
    let mut changed = lines;
    changed[15_000] = changed[15_000].replace("15000", "-5000");
    let refused = server.run(&["log", "t", "--batch", "b"], changed.concat().as_bytes());
    assert_eq!(refused.code, 1);
    assert!(refused.stderr.contains("batch b##"), "{}", refused.stderr);
    assert_eq!(server.query("SELECT count(*), min(n) FROM t"), ["30000,0"]);
}

#[test]
fn the_time_column_and_sets_may_be_named() {
    let server = Server::start_with(&["--memory"]);
    let rows = "{\"at\": \"2026-11-21T12:00:00Z\", \"tags\": [\"b\", \"a\", \"b\"]}\n";
    let said = server.log(&["t", "--time", "at", "--sets", "tags"], rows);
    assert!(said.contains("1 row went") && said.ends_with(" s, time from at\n"), "{said}");
    let rows = server.query("SELECT at, tags FROM t");
    assert_eq!(rows, ["2026-11-21T12:00:00Z,\"[\"\"a\"\",\"\"b\"\"]\""]);
}

#[test]
fn lines_without_times_keep_their_order() {
    let server = Server::start_with(&["--memory"]);
    // Several chunks of 4 MiB. Sorting them as text would give another order.
    let line = |n: usize| format!("{} {}", n * 7_919 % 12_000, "x".repeat(1_000));
    let lines: Vec<String> = (0..12_000).map(line).collect();
    server.log(&["t"], &lines.join("\n"));
    let messages = server.query("SELECT message FROM t ORDER BY time");
    assert!(messages == lines, "{} of {} lines, or in another order", messages.len(), lines.len());
}

#[test]
fn rows_that_trickle_are_there_at_once() {
    let server = Server::start_with(&["--memory"]);
    let mut log = Running::start(hadal(&["log", "t", "--server", &server.url]));
    for n in 1..=3 {
        log.write("{\"a\": 1}\n");
        let expected = n.to_string();
        let start = std::time::Instant::now();
        loop {
            // The table does not exist before its first row.
            let answer = server.run(&["query", "SELECT count(*) FROM t"], b"");
            if answer.stdout.lines().nth(1) == Some(&expected) {
                break;
            }
            assert!(start.elapsed() < crate::harness::DEADLINE, "row {n} does not come");
        }
    }
    log.close_input();
    log.wait_for_error("3 rows went to table t");
}

#[test]
fn without_a_server_it_starts_one() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = hadal(&["log", "t", "--listen", "127.0.0.1:0"]);
    command.env("XDG_DATA_HOME", folder.path());
    let mut log = Running::start(command);
    let url = url_in(&log.wait_for_error("http://"));
    log.write("{\"a\": 1}\n");
    log.close_input();
    log.wait_for_error("1 row went to table t");
    let answer = crate::harness::run(&["query", "SELECT a FROM t", "--server", &url], b"");
    assert_eq!(answer.stdout, "a\n1\n", "{}", answer.stderr);
    assert!(log.stop(Signal::TERM).success());
    assert!(folder.path().join("hadal").is_dir());
}

#[test]
fn documents_of_telemetry_become_rows() {
    let server = Server::start_with(&["--memory"]);
    let record = |body: &str| {
        format!(
            "{{\"resourceLogs\":[{{\"scopeLogs\":[{{\"logRecords\":[{{\"timeUnixNano\":\
             \"1795233102000000000\",\"body\":{{\"stringValue\":\"{body}\"}}}}]}}]}}]}}\n"
        )
    };
    server.log(&["t"], &[record("a"), record("b")].concat());
    let rows = server.query("SELECT timeUnixNano, body FROM t ORDER BY body");
    assert_eq!(rows, ["2026-11-21T03:51:42Z,a", "2026-11-21T03:51:42Z,b"]);
    let at = "SELECT count(*) FROM t WHERE time_bucket('1 second', timeUnixNano) = '2026-11-21T03:51:42Z'";
    assert_eq!(server.query(at), ["2"], "it is the time column");
}
