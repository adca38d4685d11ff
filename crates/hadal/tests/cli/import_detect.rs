//! The detector, through `import`, `log` and `POST /v1/log/T`: the same bytes give the same rows.

use std::io::Write;
use std::path::PathBuf;

use serde_json::Value;

use crate::harness::{Finished, Server, exchange};

/// A file of `tests/cases`.
fn case(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/cases")).join(name)
}

fn import(server: &Server, table: &str, file: &str, more: &[&str]) -> Finished {
    let path = case(file);
    server.run(&[&["import", path.to_str().unwrap(), "--table", table], more].concat(), b"")
}

/// Sends a body with these headers; returns the status and the answer.
fn post(server: &Server, table: &str, headers: &[&str], body: &[u8]) -> (u16, Value) {
    let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
    let path = format!("/v1/log/{table}");
    let (status, answer) = exchange(&server.url, &path, &headers, body).unwrap();
    (status.parse().unwrap(), serde_json::from_str(&answer).unwrap())
}

#[test]
fn dialects_of_csv_are_told_in_import_and_at_the_door() {
    let server = Server::start_with(&["--memory"]);
    let cases: [(&str, &str, &[&str], &str); 9] = [
        (
            "08-sep.csv",
            "SELECT visitors FROM TABLE ORDER BY visitors",
            &["12", "31"],
            "CSV with `;`, head in line 2",
        ),
        (
            "08-preamble.csv",
            "SELECT name, age, city FROM TABLE ORDER BY age",
            &["Ada,25,Oslo", "Bob,31,Rome"],
            "CSV with `,`, head in line 4",
        ),
        (
            "09-pipe.csv",
            "SELECT Carrier, City FROM TABLE ORDER BY Carrier",
            &["AA,\"New York, NY\"", "UA,\"Austin, TX\""],
            "CSV with `|`, head in line 1",
        ),
        (
            "09-semicolons-ragged.csv",
            "SELECT id, name, note FROM TABLE ORDER BY id",
            &["1,Ada,x", "2,Bob,", "3,Cy,z"],
            "CSV with `;`, head in line 1",
        ),
        (
            "09-semicolons-trailing.csv",
            "SELECT id, name FROM TABLE ORDER BY id",
            &["1,Ada", "2,Bob"],
            "CSV with `;`, head in line 1",
        ),
        (
            "10-decimal-comma.csv",
            "SELECT colx, coly FROM TABLE ORDER BY coly",
            &["10.2,4.5", "1299.99,7.25"],
            "CSV with `;`, head in line 1",
        ),
        (
            "11-backslash-comma.csv",
            "SELECT id, msg, code FROM TABLE ORDER BY id",
            &["1,\"say \"\"hi, there\"\"\",3", "2,ok,4"],
            "CSV with `,`, head in line 1, `\\` before quotes",
        ),
        (
            "12-head-newline.csv",
            "SELECT x, y, \"test 123\" FROM TABLE ORDER BY x",
            &["1,2,3", "a,b,c"],
            "CSV with `,`, head in line 1",
        ),
        (
            "15-day-first.csv",
            "SELECT v FROM TABLE ORDER BY v",
            &["1", "2"],
            "CSV with `,`, head in line 1",
        ),
    ];
    for (index, (file, sql, rows, sentence)) in cases.into_iter().enumerate() {
        let (imported, posted) = (format!("imported_{index}"), format!("posted_{index}"));
        let said = import(&server, &imported, file, &[]);
        assert_eq!(said.code, 0, "{file}: {}", said.stderr);
        assert!(said.stderr.contains(sentence), "{file}: {}", said.stderr);
        assert_eq!(server.query(&sql.replace("TABLE", &imported)), rows, "{file}");
        let body = std::fs::read(case(file)).unwrap();
        let (status, receipt) = post(&server, &posted, &["content-type: text/csv"], &body);
        assert_eq!((status, &receipt["detected"]), (200, &Value::from(sentence)), "{receipt}");
        assert_eq!(receipt["accepted"], rows.len(), "{file}: {receipt}");
    }
}

#[test]
fn guesses_name_the_option_that_decides_otherwise() {
    let server = Server::start_with(&["--memory"]);
    for (index, (file, option)) in [
        ("08-preamble.csv", "--skip 0"),
        ("09-semicolons-ragged.csv", "fewer cells"),
        ("10-decimal-comma.csv", "--decimal ."),
        ("11-backslash-comma.csv", "--escape '\\'"),
        ("12-head-newline.csv", "became blanks"),
    ]
    .into_iter()
    .enumerate()
    {
        let said = import(&server, &format!("t{index}"), file, &[]).stderr;
        let warning = said.lines().find(|line| line.contains(option)).unwrap_or_default();
        assert!(warning.starts_with("warning: "), "{file}: {said}");
    }
    let options: [(&str, &[&str], &str, &[&str]); 5] = [
        ("10-decimal-comma.csv", &["--decimal", ","], "colx", &["10.2", "1299.99"]),
        ("10-decimal-comma.csv", &["--decimal", "."], "colx", &["\"1.299,99\"", "\"10,20\""]),
        ("11-backslash-comma.csv", &["--escape", "\\"], "code", &["3", "4"]),
        ("08-preamble.csv", &["--skip", "3"], "age", &["25", "31"]),
        ("09-pipe.csv", &["--no-header", "--separator", "|"], "column_2", &["AA", "Carrier", "UA"]),
    ];
    for (index, (file, options, column, cells)) in options.into_iter().enumerate() {
        let table = format!("o{index}");
        let said = import(&server, &table, file, options);
        assert_eq!(said.code, 0, "{file}: {}", said.stderr);
        let sql = format!("SELECT {column} FROM {table} ORDER BY {column}");
        assert_eq!(server.query(&sql), cells, "{file} {options:?}");
    }
}

#[test]
fn most_lines_decide_for_json() {
    let server = Server::start_with(&["--memory"]);
    for (file, rows, rejected) in [("03-first-line-cut.jsonl", 2, 1), ("03-banner.jsonl", 3, 2)] {
        let table = |how: &str| format!("{how}_{rows}");
        let said = import(&server, &table("imported"), file, &[]).stderr;
        assert!(said.contains(&format!("{rows} rows went to table")), "{said}");
        assert!(said.contains(&format!("{rejected} row")), "{said}");
        let body = std::fs::read(case(file)).unwrap();
        let logged = server.run(&["log", &table("logged")], &body);
        assert!(logged.stderr.contains(&format!("{rows} rows went to table")), "{}", logged.stderr);
        for headers in [&[][..], &["content-type: application/json"]] {
            let (_, receipt) = post(&server, &table("posted"), headers, &body);
            let counts = (&receipt["accepted"], &receipt["rejected_count"]);
            assert_eq!(counts, (&Value::from(rows), &Value::from(rejected)), "{receipt}");
        }
    }
}

#[test]
fn a_body_without_a_type_is_detected() {
    let server = Server::start_with(&["--memory"]);
    let curl = "content-type: application/x-www-form-urlencoded";
    let bytes = "content-type: application/octet-stream";
    let tests: [(&str, &[&str], &str, &str); 8] = [
        ("a;b\n1;2\n", &[], "CSV with `;`, head in line 1", "b"),
        ("a;b\n1;2\n", &[curl], "CSV with `;`, head in line 1", "b"),
        ("{\"b\":2}\n", &[bytes], "JSON lines", "b"),
        ("[{\"b\":2}]", &[], "JSON", "b"),
        ("it began at 2\n", &[], "plain text", "length(message)"),
        ("b\n2\n", &["hadal-name: x.csv"], "CSV of one column, head in line 1", "b"),
        ("b\n2\n", &["hadal-format: csv", curl], "CSV of one column, head in line 1", "b"),
        (
            "x|b\n1|2\n",
            &["content-type: text/csv", "hadal-separator: pipe"],
            "CSV with `|`, head in line 1",
            "b",
        ),
    ];
    for (index, (body, headers, sentence, column)) in tests.into_iter().enumerate() {
        let table = format!("t{index}");
        let (status, receipt) = post(&server, &table, headers, body.as_bytes());
        assert_eq!((status, &receipt["detected"]), (200, &Value::from(sentence)), "{receipt}");
        let expected = if column == "b" { "2" } else { "13" };
        assert_eq!(server.query(&format!("SELECT {column} FROM {table}")), [expected], "{body}");
    }
}

#[test]
fn bytes_that_are_not_read_are_refused_in_one_sentence() {
    let server = Server::start_with(&["--memory"]);
    let utf16: Vec<u8> = "\u{feff}a,b\n1,2\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let gzip = |plain: &[u8]| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(plain).unwrap();
        encoder.finish().unwrap()
    };
    let types = [
        "",
        "content-type: application/json",
        "content-type: text/plain",
        "content-type: text/csv",
        "content-type: application/octet-stream",
    ];
    for kind in types {
        let headers: &[&str] = if kind.is_empty() { &[] } else { &[kind] };
        for (body, sentence) in [
            (gzip(b"{\"a\":1}\n"), "send it with the header Content-Encoding: gzip"),
            (zstd::encode_all(&b"x"[..], 0).unwrap(), "the header Content-Encoding: zstd"),
            (b"PAR1\0\0\0\0".to_vec(), "the body is Parquet; import it: hadal import FILE"),
            (b"ARROW1\0\0".to_vec(), "the body is Arrow IPC; import it"),
            (utf16.clone(), "is text in UTF-16, not in UTF-8; convert it first: iconv"),
            (b"PK\x03\x04\x14\0\0\0".to_vec(), "the body is a zip archive; unpack it first"),
        ] {
            let (status, problem) = post(&server, "t", headers, &body);
            assert_eq!(status, 415, "{kind}: {problem}");
            let detail = problem["detail"].as_str().unwrap();
            assert!(detail.contains(sentence), "{kind}: {problem}");
        }
    }
    let (status, receipt) = post(&server, "z", &["content-encoding: gzip"], &gzip(b"{\"a\":1}\n"));
    assert_eq!((status, &receipt["accepted"]), (200, &Value::from(1)), "{receipt}");
    let twice = gzip(&gzip(b"{\"a\":1}\n"));
    let (status, problem) = post(&server, "z", &["content-encoding: gzip"], &twice);
    assert_eq!(status, 415);
    assert!(problem["detail"].as_str().unwrap().contains("compressed twice"), "{problem}");
}

#[test]
fn an_explanation_stores_nothing() {
    let server = Server::start_with(&["--memory"]);
    let path = case("10-decimal-comma.csv");
    let explained = crate::harness::run(&["import", "--explain", path.to_str().unwrap()], b"");
    assert_eq!(explained.code, 0, "{}", explained.stderr);
    for part in [
        "CSV with `;`, head in line 1",
        "its name ends with .csv",
        "`;` makes 100 % of 3 records equally wide",
        "1299.99",
        "--decimal .",
        "nothing was imported",
    ] {
        assert!(explained.stdout.contains(part), "{part}: {}", explained.stdout);
    }
    let body = std::fs::read(&path).unwrap();
    let headers = ["hadal-explain: true", "hadal-name: x.csv"];
    let (status, receipt) = post(&server, "t", &headers, &body);
    assert_eq!((status, &receipt["accepted"]), (200, &Value::from(2)), "{receipt}");
    assert_eq!(receipt["rows"][1]["colx"], 1299.99, "{receipt}");
    assert_eq!(receipt["evidence"][0], "its name ends with .csv");
    assert!(server.query("SHOW TABLES").iter().all(|table| !table.starts_with("t,")));
    // Only the beginning of a long body is read.
    let long = "n,s\n".to_owned() + &"1,x\n".repeat(1 << 19);
    let (_, receipt) = post(&server, "t", &headers, long.as_bytes());
    assert_eq!(receipt["rows"].as_array().unwrap().len(), 5);
    assert!(receipt["accepted"].as_u64().unwrap() < 1 << 19, "{receipt}");
    // Lines of text are explained too.
    let (_, receipt) = post(&server, "t", &["hadal-explain: true"], b"all is well\n");
    assert_eq!(receipt["rows"][0]["message"], "all is well", "{receipt}");
}
