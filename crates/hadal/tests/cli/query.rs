//! Running queries.

use std::io::{Read, Write};
use std::net::TcpListener;

use crate::harness::{Finished, Server, run};

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

#[test]
fn a_question_may_begin_with_a_hyphen() {
    let server = filled();
    for sql in ["-- how many?\nSELECT count(*) AS c FROM t", "--how many?\nSELECT 2 AS c"] {
        let finished = server.run(&["query", "--format", "csv", sql], b"");
        assert_eq!((finished.code, finished.stdout.as_str()), (0, "c\n2\n"), "{}", finished.stderr);
    }
    for flags in [&["--formt", "csv", "SELECT 1"][..], &["--formt"], &["-x", "SELECT 1"]] {
        let finished = server.run(&[&["query"], flags].concat(), b"");
        assert_eq!((finished.code, finished.stdout.as_str()), (2, ""), "{flags:?}");
        assert!(finished.stderr.contains(flags[0]), "{}", finished.stderr);
    }
    let words = server.run(&["query", "SELECT", "1"], b"");
    assert_eq!(words.code, 2);
    assert!(words.stderr.contains("between quotes"), "{}", words.stderr);
}

#[test]
fn keys_of_json_are_distinct() {
    let server = filled();
    let finished =
        server.run(&["query", "--format", "jsonl", "SELECT n AS a, n AS a FROM t ORDER BY n"], b"");
    assert_eq!(finished.stdout.lines().next(), Some("{\"a\":1.5,\"a_2\":1.5}"), "{finished:?}");
}

#[test]
fn values_reach_a_pipe_as_they_are_and_never_a_message() {
    let server = Server::start_with(&["--memory"]);
    server.log(&["t"], "{\"g\": \"a\\u001b[2Jb\", \"x\": 1}\n");
    assert_eq!(server.query("SELECT g FROM t"), ["a\u{1b}[2Jb"]);
    let table = server.run(&["query", "--format", "table", "SELECT * FROM t"], b"");
    assert!(table.stdout.contains("a\\u001b[2Jb"), "{}", table.stdout);
    let refused = server.run(&["query", "SELECT a\u{1b}[2J FROM t"], b"");
    for text in [&table.stdout, &table.stderr, &refused.stderr] {
        assert!(!text.contains('\u{1b}'), "{text:?}");
    }
}

#[test]
fn a_percentile_that_could_mean_two_things_is_refused() {
    let server = filled();
    assert_eq!(server.query("SELECT p999(n), p025(n), p100(n) FROM t"), ["1.9995,1.5125,2"]);
    let finished = server.run(&["query", "SELECT p200(n) FROM t"], b"");
    assert_eq!(finished.code, 1);
    assert!(finished.stderr.contains("percentile(x, "), "{}", finished.stderr);
}

#[test]
fn hints_are_for_the_command_line() {
    let server = filled();
    let finished = server.run(&["drop", "nothing", "--yes"], b"");
    assert!(finished.stderr.contains("hadal status"), "{}", finished.stderr);
    assert!(!finished.stderr.contains("GET "), "{}", finished.stderr);
}

/// Queries a server that answers every request with these bytes.
fn ask_one_that_says(reply: &'static str) -> (Finished, String) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            // The client may have gone already.
            let _ = stream.read(&mut [0; 4096]).and_then(|_| stream.write_all(reply.as_bytes()));
        }
    });
    (run(&["query", "SELECT 1", "--server", &url], b""), url)
}

#[test]
fn a_server_of_another_kind_is_called_so() {
    let page = "<!doctype html>\r\n<h1>Not\u{1b}[2J here</h1>";
    for reply in [
        format!("HTTP/1.1 404 Not Found\r\nContent-Length: {}\r\n\r\n{page}", page.len()),
        format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{page}", page.len()),
        "SSH-2.0-Other\r\n".to_owned(),
    ] {
        let (finished, url) = ask_one_that_says(reply.leak());
        assert_eq!(finished.code, 1);
        let expected = format!("{url} does not answer like a Hadal server");
        assert!(finished.stderr.contains(&expected), "{}", finished.stderr);
        assert!(!finished.stderr.contains("html"), "{}", finished.stderr);
    }
}
