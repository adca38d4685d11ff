//! Asking questions.

use crate::harness::{Server, run};

fn filled() -> Server {
    let server = Server::start_with(&["--memory"]);
    server.log(
        &["t"],
        "{\"name\": \"a,b\", \"n\": 1.5, \"tags\": [\"x\", \"y\"]}\n{\"name\": \"c\", \"n\": 2}\n",
    );
    server
}

#[test]
fn answers_come_in_four_formats() {
    let server = filled();
    let ask = |format| {
        let sql = "SELECT name, n, tags FROM t ORDER BY n";
        let finished = server.run(&["query", "--format", format, sql], b"");
        assert_eq!(finished.code, 0, "{}", finished.stderr);
        finished.stdout
    };
    assert_eq!(ask("csv"), "name,n,tags\n\"a,b\",1.5,\"[\"\"x\"\",\"\"y\"\"]\"\nc,2,\n");
    let (first, second) = (
        "{\"name\":\"a,b\",\"n\":1.5,\"tags\":[\"x\",\"y\"]}",
        "{\"name\":\"c\",\"n\":2,\"tags\":null}",
    );
    assert_eq!(ask("jsonl"), format!("{first}\n{second}\n"));
    assert_eq!(ask("json"), format!("[{first},\n {second}]\n"));
    let table = ask("table");
    assert!(table.contains("name    n  tags"), "{table}");
    assert!(table.contains("c       2  null"), "{table}");
}

#[test]
fn the_question_may_come_on_standard_input() {
    let server = filled();
    let finished = server.run(&["query"], b"SELECT count(*) AS c\nFROM t;\n");
    assert_eq!((finished.code, finished.stdout.as_str()), (0, "c\n2\n"), "{}", finished.stderr);
}

#[test]
fn mistakes_are_shown_with_a_caret() {
    let server = filled();
    let finished = server.run(&["query", "SELECT name,\n  nn FROM t"], b"");
    assert_eq!((finished.code, finished.stdout.as_str()), (1, ""));
    let lines: Vec<&str> = finished.stderr.lines().collect();
    let at = lines.iter().position(|line| *line == "    nn FROM t").unwrap();
    assert_eq!(lines[at + 1], "    ^", "{}", finished.stderr);
    assert!(lines[0].starts_with("error: ") && lines[0].contains("nn"), "{}", finished.stderr);
}

#[test]
fn coverage_is_said_with_a_table() {
    let server = filled();
    let finished = server.run(&["query", "--format", "table", "SELECT count(*) FROM t"], b"");
    assert!(finished.stderr.contains("looked at 2 of 2 stored rows"), "{}", finished.stderr);
}

#[test]
fn tables_are_dropped_only_on_purpose() {
    let server = filled();
    let refused = server.run(&["drop", "t"], b"y\n");
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("--yes"), "{}", refused.stderr);
    assert_eq!(server.query("SELECT count(*) FROM t"), ["2"]);
    let dropped = server.run(&["drop", "t", "--yes"], b"");
    assert_eq!(dropped.code, 0);
    assert!(dropped.stderr.contains("dropped table t with 2 rows"), "{}", dropped.stderr);
    let gone = server.run(&["query", "SELECT count(*) FROM t"], b"");
    assert_eq!(gone.code, 1);
    assert!(gone.stderr.contains('t'), "{}", gone.stderr);
    assert_eq!(server.run(&["drop", "t", "--yes"], b"").code, 1);
}

#[test]
fn status_lists_tables() {
    let server = filled();
    let status = server.run(&["status"], b"");
    assert_eq!(status.code, 0, "{}", status.stderr);
    assert!(status.stdout.contains("table t: 2 rows"), "{}", status.stdout);
    assert!(status.stdout.contains("leaf-0: alive"), "{}", status.stdout);
}

#[test]
fn a_server_that_is_not_there_is_named() {
    let finished = run(&["query", "SELECT 1", "--server", "http://127.0.0.1:1"], b"");
    assert_eq!(finished.code, 1);
    assert!(finished.stderr.contains("http://127.0.0.1:1"), "{}", finished.stderr);
    assert!(finished.stderr.contains("hadal serve"), "{}", finished.stderr);
}
