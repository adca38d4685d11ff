//! Lines of text become columns: by `import`, by `hadal log` and at the door.

use std::path::PathBuf;

use crate::harness::{Finished, Server};

/// A file of `tests/cases`.
fn case(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/cases")).join(name)
}

/// Sends a text in all three ways to tables called `import`, `log` and `door`, and returns what the
/// import printed.
fn send(server: &Server, text: &[u8], options: &[&str]) -> Finished {
    let import = server.run(&[&["import", "-", "--table", "import"], options].concat(), text);
    let log = server.run(&[&["log", "log"], options].concat(), text);
    assert_eq!(log.code, import.code, "{}", log.stderr);
    let headers = options.chunks(2).map(|option| {
        let name = option[0].trim_start_matches('-');
        format!("Hadal-{name}: {}\r\n", option[1])
    });
    let headers = headers.collect::<String>() + "Content-Type: text/plain\r\n";
    server.post_with("door", &headers, text);
    import
}

/// Sends a text in all ways, and checks the answer of a query on each table.
fn check(text: &[u8], options: &[&str], columns: &str, rows: &[&str]) -> Finished {
    let server = Server::start_with(&["--memory"]);
    let import = send(&server, text, options);
    for table in ["import", "log", "door"] {
        let sql = format!("SELECT {columns} FROM {table} ORDER BY message");
        assert_eq!(server.query(&sql), rows, "{table}: {}", import.stderr);
    }
    import
}

#[test]
fn access_logs_have_columns() {
    let text = std::fs::read(case("22-access.log")).unwrap();
    let columns = "time, host, method, path, protocol, status, bytes";
    let import = check(
        &text,
        &[],
        columns,
        &[
            "2020-08-10T09:31:01Z,203.0.113.5,GET,/api,HTTP/1.1,200,474",
            "2020-08-10T09:31:02Z,203.0.113.6,GET,/ping,HTTP/1.1,500,2",
        ],
    );
    assert_eq!(import.code, 0);
    assert!(import.stderr.contains("common log format"), "{}", import.stderr);
}

#[test]
fn other_layouts_have_columns() {
    for (text, columns, row) in [
        (
            "time=2026-11-21T03:51:42Z level=WARN msg=\"a b\" status=200\n",
            "time, level, msg, status",
            "2026-11-21T03:51:42Z,warn,a b,200",
        ),
        (
            "<34>1 2026-11-21T03:51:42Z web1 su 7 ID [x@1 n=\"1\"] text\n",
            "level, facility, host, app, pid",
            "fatal,auth,web1,su,7",
        ),
        (
            "2026-11-21 03:51:42,123 [main] INFO  a.b.C - up {\"n\": {\"m\": 1}}\n",
            "time, level, thread, logger, \\\"n.m\\\"",
            "2026-11-21T03:51:42.123Z,info,main,a.b.C,1",
        ),
    ] {
        check(text.as_bytes(), &[], &columns.replace('\\', ""), &[row]);
    }
}

#[test]
fn zones_after_the_time_count() {
    for (name, rows) in [
        ("01-zone-after-space.log", ["2026-02-17T21:02:49Z,error", "2026-02-17T21:02:50Z,info"]),
        ("01-zone-name.log", ["2024-05-01T08:15:00.123Z,info", "2024-05-01T08:15:01.123Z,info"]),
    ] {
        let text = std::fs::read(case(name)).unwrap();
        check(&text, &[], "time, level", &rows);
    }
}

#[test]
fn stack_traces_belong_to_their_event() {
    let text = "2026-11-21 03:51:42 ERROR failed\njava.lang.IllegalStateException: no\n\
                \tat a.B.c(B.java:1)\n\t... 23 more\n2026-11-21 03:51:43 INFO up\n";
    let rows = [
        "2026-11-21T03:51:42Z,error,\"[\"\"java.lang.IllegalStateException: no\"\",\"\"at \
         a.B.c(B.java:1)\"\",\"\"... 23 more\"\"]\"",
        "2026-11-21T03:51:43Z,info,",
    ];
    let import = check(text.as_bytes(), &[], "time, level, stack", &rows);
    let warning = "3 lines without a time went to the event before, column stack";
    assert!(import.stderr.contains(warning), "{}", import.stderr);
}

#[test]
fn plain_lines_and_a_regex_are_options() {
    let text = b"2026-11-21T03:51:42Z ada 7\n2026-11-21T03:51:43Z bob 8\n";
    let rows = ["2026-11-21T03:51:42Z", "2026-11-21T03:51:43Z"];
    check(text, &["--format", "lines"], "time", &rows);
    let rows = ["2026-11-21T03:51:42Z,ada,7", "2026-11-21T03:51:43Z,bob,8"];
    let regex = r"^(?<time>\S+) (?<user>\w+) (?<n>\d+)$";
    check(text, &["--regex", regex], "time, user, n", &rows);
}

#[test]
fn a_line_that_no_regex_matches_is_rejected() {
    let server = Server::start_with(&["--memory"]);
    let options = ["--regex", r"^(?<user>\w+) (?<n>\d+)$"];
    let import = send(&server, b"ada 7\nnonsense\nbob 8\n", &options);
    assert!(import.stderr.contains("does not match --regex"), "{}", import.stderr);
    for table in ["import", "log", "door"] {
        let sql = format!("SELECT user, n FROM {table} ORDER BY n");
        assert_eq!(server.query(&sql), ["ada,7", "bob,8"], "{table}");
    }
    let wrong = server.run(&["import", "-", "--table", "t", "--regex", "("], b"");
    assert_eq!(wrong.code, 2, "{}", wrong.stderr);
    assert!(wrong.stderr.contains("--regex is \"(\": unclosed group"), "{}", wrong.stderr);
}
