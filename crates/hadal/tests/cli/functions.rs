//! User functions: defined, called, stopped; the server serves the next query.

use std::process::Command;
use std::time::Instant;

use crate::harness::{DEADLINE, Server, exchange_raw, hadal, try_ask};

const ROWS: &str = r#"{"ms": 1.5, "host": "alpha", "ok": true}
{"ms": 20, "host": "beta", "ok": false}
{"ms": 7, "host": "alpha"}
{"host": "gamma", "ok": true}
"#;

fn server() -> Server {
    let server = Server::start_with(&["--memory", "--leaves", "2", "--allow-functions"]);
    server.log(&["t"], ROWS);
    server
}

/// The answer to a statement that fails.
fn refused(server: &Server, sql: &str) -> String {
    let (status, body) = try_ask(&server.url, sql, 5_000).unwrap();
    assert_eq!(status, "400", "{body}");
    let problem: serde_json::Value = serde_json::from_str(&body).unwrap();
    problem["detail"].as_str().unwrap().to_owned()
}

#[test]
fn functions_group_filter_and_return_every_type() {
    let server = server();
    for definition in [
        "CREATE FUNCTION grade(ms number) RETURNS string LANGUAGE js AS \
         $$ return ms < 5 ? 'quick' : 'slow' $$",
        "CREATE FUNCTION is_late(ms number, ok bool) RETURNS bool LANGUAGE js AS \
         $$ return ms > 5 && !ok $$",
        "CREATE FUNCTION letters(name string) RETURNS number LANGUAGE js AS \
         $$ return name.length $$",
        "CREATE FUNCTION or_zero(ms number) RETURNS number LANGUAGE js CALLED ON NULL INPUT AS \
         $$ return ms === null ? 0 : ms $$",
    ] {
        server.query(definition);
    }
    let rows = server.query("SELECT grade(ms) AS g, count(*) FROM t GROUP BY 1 ORDER BY 1");
    assert_eq!(rows, ["quick,1", "slow,2", ",1"]);
    assert_eq!(server.query("SELECT host FROM t WHERE is_late(ms, ok)"), ["beta"]);
    let rows = server.query("SELECT host, letters(host) FROM t WHERE letters(host) > 4 ORDER BY 1");
    assert_eq!(rows, ["alpha,5", "alpha,5", "gamma,5"]);
    assert_eq!(server.query("SELECT sum(or_zero(ms)), sum(letters(host)) FROM t"), ["28.5,19"]);
    assert_eq!(server.query("SELECT max(letters(grade(ms))) FROM t"), ["5"]);
    server.query(
        "CREATE OR REPLACE FUNCTION letters(name string) RETURNS number LANGUAGE js AS \
                  $$ return -1 $$",
    );
    assert_eq!(server.query("SELECT DISTINCT letters(host) FROM t"), ["-1"]);
    server.query("DROP FUNCTION letters");
    let error = refused(&server, "SELECT letters(host) FROM t");
    assert!(error.contains("there is no function letters"), "{error}");
}

#[test]
fn functions_that_fail_fail_their_query_only() {
    let server = server();
    let repeat = "'a'.repeat(4e5)).indexOf('a'.repeat(2e5)+'b'";
    for (name, source, reason) in [
        ("looping", "while (true);", "runs longer than 1000 ms"),
        ("stalling", &*format!("return ({repeat})"), "no answer in time"),
        ("hoarding", "let x = []; while (true) x.push('y'.repeat(1e6) + x.length)", "memory"),
        ("throwing", "\nthrow new Error('no ' + ms)", "line 2: Error: no "),
        ("wrong", "return 'text'", "line 1: returns a string, but the declared result is a number"),
        ("deep", "const f = n => f(n + 1) + 1; return f(0)", "line 1"),
    ] {
        let create = format!(
            "CREATE FUNCTION {name}(ms number) RETURNS number LANGUAGE js AS $$ {source} $$"
        );
        server.query(&create);
        let error = refused(&server, &format!("SELECT {name}(ms) FROM t"));
        assert!(error.starts_with(&format!("{name}: ")) && error.contains(reason), "{error}");
        assert_eq!(server.query("SELECT count(*) FROM t"), ["4"]);
    }
    server.query("CREATE FUNCTION fine(ms number) RETURNS number LANGUAGE js AS $$ return ms $$");
    assert_eq!(server.query("SELECT max(fine(ms)) FROM t"), ["20"]);
}

#[test]
fn no_state_goes_from_one_query_to_the_next() {
    let server = server();
    server.query(
        "CREATE FUNCTION counter(ms number) RETURNS number LANGUAGE js CALLED ON NULL INPUT AS \
         $$ globalThis.n = (globalThis.n ?? 0) + 1; return globalThis.n $$",
    );
    for _ in 0..3 {
        assert_eq!(server.query("SELECT min(counter(ms)) FROM t"), ["1"]);
    }
}

#[test]
fn functions_are_listed_and_kept_by_address() {
    let folder = tempfile::tempdir().unwrap();
    let flags = ["--data", folder.path().to_str().unwrap(), "--allow-functions"];
    let server = Server::start_with(&flags);
    server.query("CREATE FUNCTION f(a number) RETURNS number LANGUAGE js AS $$ return a $$");
    let shown = server.get("/v1/functions/f");
    assert!(shown.contains(r#""source":" return a ""#), "{shown}");
    assert!(server.get("/v1/functions").contains(r#""name":"f""#));
    let again =
        refused_with(&server, "CREATE FUNCTION f() RETURNS number LANGUAGE js AS $$ $$", "409");
    assert!(again.contains("function f was changed meanwhile"), "{again}");
    let wrong = refused(&server, "CREATE FUNCTION g() RETURNS number LANGUAGE js AS $$\n\n+*$$");
    assert!(wrong.starts_with("g: line 3: SyntaxError"), "{wrong}");
    let built_in = refused(&server, "CREATE FUNCTION sum() RETURNS number LANGUAGE js AS $$ $$");
    assert!(built_in.contains("sum is a built-in function"), "{built_in}");
    assert!(server.process.stop(rustix::process::Signal::TERM).success());
    let server = Server::start_with(&flags);
    server.log(&["t"], ROWS);
    assert_eq!(server.query("SELECT max(f(ms)) FROM t"), ["20"]);
}

#[test]
fn functions_are_off_unless_they_are_allowed() {
    let server = Server::start_with(&["--memory"]);
    server.log(&["t"], ROWS);
    let create = "CREATE FUNCTION f() RETURNS number LANGUAGE js AS $$ return 1 $$";
    let off = refused_with(&server, create, "403");
    assert!(off.contains("--allow-functions"), "{off}");
    assert!(refused(&server, "SELECT f() FROM t").contains("there is no function f"));
}

fn refused_with(server: &Server, sql: &str, expected: &str) -> String {
    let (status, body) = try_ask(&server.url, sql, 5_000).unwrap();
    assert_eq!(status, expected, "{body}");
    body
}

#[test]
fn a_worker_has_no_files_and_no_new_rights() {
    let server = server();
    server.query("CREATE FUNCTION f(ms number) RETURNS number LANGUAGE js AS $$ return ms $$");
    server.query("SELECT max(f(ms)) FROM t");
    let parent = server.process.pid().as_raw_nonzero().to_string();
    let children = Command::new("pgrep").args(["-P", &parent]).output().unwrap();
    let children = String::from_utf8(children.stdout).unwrap();
    let worker = children.lines().next().expect("a worker process");
    let read = |file: &str| std::fs::read_to_string(format!("/proc/{worker}/{file}")).unwrap();
    let limits = read("limits");
    let open = limits.lines().find(|line| line.starts_with("Max open files")).unwrap();
    assert!(open.contains(" 0 "), "{open}");
    let status = read("status");
    assert!(status.contains("NoNewPrivs:\t1"), "{status}");
    assert!(status.contains("Seccomp:\t2"), "{status}");
    assert!(status.contains("Threads:\t1"), "{status}");
    let commands = read("cmdline");
    assert!(commands.contains("function-worker"), "{commands}");
}

#[test]
fn functions_can_be_put_and_deleted() {
    let server = server();
    let body = r#"{"parameters": [{"name": "a", "type": "number"}], "returns": "number",
        "source": "return a + 1"}"#;
    let (status, answer) = send(&server, "PUT", "/v1/functions/next", body);
    assert_eq!(status, "200", "{answer}");
    assert_eq!(server.query("SELECT max(next(ms)) FROM t"), ["21"]);
    let (status, answer) = send(&server, "DELETE", "/v1/functions/next", "");
    assert_eq!((status.as_str(), answer.as_str()), ("200", r#"{"dropped":"next"}"#));
    assert_eq!(send(&server, "DELETE", "/v1/functions/next", "").0, "404");
}

/// Sends a request of any method.
fn send(server: &Server, method: &str, path: &str, body: &str) -> (String, String) {
    let url = &server.url;
    let address = url.strip_prefix("http://").unwrap();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    exchange_raw(url, request.as_bytes()).unwrap()
}

/// The paper's example: the covariance between integer columns, in one pass, with weights.
const COVARIANCE: &str = "CREATE AGGREGATE covariance(x number, y number) RETURNS number \
    LANGUAGE js AS $$
    function init() { return { n: 0, x: 0, y: 0, c: 0 } }
    function update(s, x, y, weight) {
        s.n += weight;
        const dx = x - s.x;
        s.x += weight * dx / s.n;
        s.y += weight * (y - s.y) / s.n;
        s.c += weight * dx * (y - s.y);
    }
    function merge(a, b) {
        const n = a.n + b.n, dx = b.x - a.x, dy = b.y - a.y;
        return { n, x: a.x + dx * b.n / n, y: a.y + dy * b.n / n,
                 c: a.c + b.c + dx * dy * a.n * b.n / n };
    }
    function finish(s) { return s.c / s.n }
    $$";

/// Rows of two integer columns, some with weights, and some nulls.
fn pairs() -> String {
    let row = |n: u32| {
        let (x, y) = (n % 97, (n * n) % 89);
        let weight = if n.is_multiple_of(5) { ", \"sample_rate\": 3" } else { "" };
        match n % 11 {
            0 => format!("{{\"x\": {x}, \"host\": \"h{}\"{weight}}}\n", n % 3),
            _ => format!("{{\"x\": {x}, \"y\": {y}, \"host\": \"h{}\"{weight}}}\n", n % 3),
        }
    };
    (1..=20_000).map(row).collect()
}

#[test]
fn the_papers_covariance_is_that_of_the_built_in_one() {
    let server = server();
    for _ in 0..3 {
        server.log(&["pairs"], &pairs());
    }
    server.query(COVARIANCE);
    for rest in [
        "FROM pairs",
        "FROM pairs WHERE y > 40",
        "FROM pairs GROUP BY host ORDER BY host",
        "FROM pairs GROUP BY x % 7 ORDER BY x % 7",
    ] {
        let defined = server.query(&format!("SELECT round(covariance(x, y), 6) {rest}"));
        let built_in = server.query(&format!("SELECT round(covar_pop(x, y), 6) {rest}"));
        assert_eq!(defined, built_in, "{rest}");
    }
    let sql = "SELECT round(NAME(x, y) FILTER (WHERE host = 'h1'), 6), count(*) FROM pairs";
    let of = |name| server.query(&sql.replace("NAME", name));
    assert_eq!(of("covariance"), of("covar_pop"));
    let none = server.query("SELECT covariance(x, y) IS NULL FROM pairs WHERE x < 0");
    assert_eq!(none, ["true"]);
}

#[test]
fn aggregates_that_fail_fail_their_query_only() {
    let server = server();
    let parts = "function merge(a, b) { return a + b } function finish(s) { return s }";
    for (name, source, reason) in [
        (
            "throws",
            format!(
                "{parts}\nfunction init() {{ return 0 }}\nfunction update(s, x) {{ throw 'no' }}"
            ),
            "throws no",
        ),
        (
            "grows",
            format!(
                "{parts} function init() {{ return '' }} \
                 function update(s, x) {{ return s + 'x'.repeat(70000) }}"
            ),
            "bytes of JSON",
        ),
        (
            "wrong",
            "function init() { return 1 } function update(s) { return s } \
             function merge(a) { return a } function finish() { return 'x' }"
                .to_owned(),
            "returns a string",
        ),
    ] {
        server.query(&format!(
            "CREATE AGGREGATE {name}(x number) RETURNS number LANGUAGE js AS $$ {source} $$"
        ));
        let error = refused(&server, &format!("SELECT {name}(ms) FROM t"));
        assert!(error.starts_with(&format!("{name}: ")) && error.contains(reason), "{error}");
        assert_eq!(server.query("SELECT count(*) FROM t"), ["4"]);
    }
    let missing = "CREATE AGGREGATE part(x number) RETURNS number LANGUAGE js AS \
                   $$ function init() { return 0 } $$";
    let error = refused(&server, missing);
    assert!(error.contains("update is not defined"), "{error}");
}

/// Starts a machine of two leaf processes; returns also the address for other members.
fn machine(name: &str, join: &str, folder: &std::path::Path) -> (Server, String) {
    let data = folder.join(name).display().to_string();
    let server = Server::by(hadal(&[
        "serve",
        "--cluster",
        "c",
        "--machine",
        name,
        "--join",
        join,
        "--leaves",
        "2",
        "--listen",
        "127.0.0.1:0",
        "--data",
        &data,
        "--allow-functions",
    ]));
    let line = server.process.wait_for_error("takes calls of other members on");
    (server, line.rsplit(' ').next().unwrap().to_owned())
}

/// Asks until the condition holds.
fn wait_until(what: &str, holds: impl Fn() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < DEADLINE, "{what}");
    }
}

#[test]
fn members_of_a_cluster_follow_definitions_and_run_them_beside_their_rows() {
    let scratch = tempfile::tempdir().unwrap();
    let (one, address) = machine("one", "127.0.0.1:0", scratch.path());
    let (two, _) = machine("two", &address, scratch.path());
    for server in [&one, &two] {
        wait_until("four leaves answer", || {
            server.get("/v1/cluster").contains(r#""leaves_answering":4"#)
        });
    }
    for _ in 0..8 {
        one.log(&["pairs"], &pairs());
    }
    one.query(COVARIANCE);
    one.query("CREATE FUNCTION half(x number) RETURNS number LANGUAGE js AS $$ return x / 2 $$");
    wait_until("the other machine has the functions", || {
        let listed = two.get("/v1/functions");
        listed.contains(r#""name":"half""#) && listed.contains(r#""name":"covariance""#)
    });
    for server in [&one, &two] {
        let defined = "SELECT round(covariance(x, y), 6), sum(half(x)) FROM pairs";
        let built_in = "SELECT round(covar_pop(x, y), 6), sum(x / 2.0) FROM pairs";
        assert_eq!(server.query(defined), server.query(built_in));
        let by_host = "GROUP BY host ORDER BY host";
        let defined = format!("SELECT round(covariance(x, y), 6) FROM pairs {by_host}");
        let built_in = format!("SELECT round(covar_pop(x, y), 6) FROM pairs {by_host}");
        assert_eq!(server.query(&defined), server.query(&built_in));
    }
    one.query("CREATE FUNCTION bad(x number) RETURNS number LANGUAGE js AS $$\nthrow 'no' $$");
    let error = refused(&one, "SELECT bad(x) FROM pairs");
    assert_eq!(error, "bad: throws no");
}
