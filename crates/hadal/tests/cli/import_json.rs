//! Importing JSON as people have it, and what is said about rows that are not taken.

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::harness::{Finished, Server};

/// A file of `tests/cases`.
fn case(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases").join(name)
}

fn import(server: &Server, file: &Path, table: &str, more: &[&str]) -> Finished {
    let args = ["import", file.to_str().unwrap(), "--table", table];
    server.run(&[&args, more].concat(), b"")
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn a_body_and_a_file_of_almost_json_give_the_same_rows() {
    let server = Server::start_with(&["--memory"]);
    let cases = [
        ("06-glued-one-line.json", 2, 0, ""),
        ("07-comma-each-line.jsonl", 3, 0, ""),
        ("07-comma-one-line.json", 2, 0, ""),
        ("13-lone-surrogates.jsonl", 5, 0, "3 escapes are halves of surrogate pairs"),
        ("14-nan.jsonl", 5, 0, "3 numbers are NaN, infinite or undefined"),
        ("04-array-open.json", 2, 1, "the array does not end"),
        ("03-banner.jsonl", 3, 2, "not a JSON object"),
        ("03-first-line-cut.jsonl", 2, 1, "not a JSON object"),
    ];
    for (index, (name, rows, rejected, says)) in cases.into_iter().enumerate() {
        let file = case(name);
        let (imported, posted) = (format!("imported_{index}"), format!("posted_{index}"));
        let finished = import(&server, &file, &imported, &[]);
        assert_eq!(finished.code, i32::from(rejected > 0), "{name}: {}", finished.stderr);
        assert!(finished.stderr.contains(says), "{name}: {}", finished.stderr);
        let receipt = server.post_json(&posted, &std::fs::read(&file).unwrap());
        assert_eq!(receipt["accepted"], rows, "{name}: {receipt}");
        assert_eq!(receipt["rejected_count"], rejected, "{name}: {receipt}");
        assert!(receipt.to_string().contains(says), "{name}: {receipt}");
        for table in [&imported, &posted] {
            assert_eq!(server.query(&format!("SELECT count(*) FROM {table}")), [rows.to_string()]);
        }
        let columns = |table: &str| server.query(&format!("DESCRIBE {table}"));
        assert_eq!(columns(&posted), columns(&imported), "{name}");
    }
    assert_eq!(
        server.query("SELECT ts FROM imported_0 ORDER BY ts LIMIT 1"),
        ["2024-07-29T06:57:14Z"]
    );
    assert_eq!(server.query("SELECT count(v), sum(v) FROM imported_4"), ["2,4"]);
}

#[test]
fn an_array_without_an_end_is_said_from_anywhere() {
    let server = Server::start_with(&["--memory"]);
    let folder = tempfile::tempdir().unwrap();
    let text = std::fs::read(case("04-array-open.json")).unwrap();
    let packed = folder.path().join("x.json.gz");
    std::fs::write(&packed, gzip(&text)).unwrap();
    let from_gzip = import(&server, &packed, "t", &[]);
    let from_pipe = server.run(&["import", "-", "--table", "t"], &text);
    let from_log = server.run(&["log", "t"], b"[{\"n\":1},{\"n\":2}");
    let banner = std::fs::read(case("03-banner.jsonl")).unwrap();
    let with_banner = server.run(&["log", "banner"], &banner);
    assert_eq!(with_banner.code, 1);
    assert!(with_banner.stderr.contains("3 rows went to table banner"), "{}", with_banner.stderr);
    for finished in [from_gzip, from_pipe, from_log] {
        assert_eq!(finished.code, 1);
        assert!(finished.stderr.contains("2 rows went to table t"), "{}", finished.stderr);
        assert!(finished.stderr.contains("the array does not end"), "{}", finished.stderr);
        assert!(finished.stderr.ends_with("--allow-rejects 1 ends the command without an error\n"));
    }
    let allowed = server.run(&["import", "-", "--table", "t", "--allow-rejects", "1"], &text);
    assert_eq!(allowed.code, 0, "{}", allowed.stderr);
}

#[test]
fn rows_are_found_in_documents() {
    let server = Server::start_with(&["--memory"]);
    let items = case("21-items.jsonl");
    let hinted = import(&server, &items, "whole", &[]);
    assert_eq!(hinted.code, 0);
    assert!(
        hinted.stderr.contains("--rows items makes a row of each element"),
        "{}",
        hinted.stderr
    );
    let finished = import(&server, &items, "items", &["--rows", "items"]);
    assert_eq!(finished.code, 0, "{}", finished.stderr);
    let sql = "SELECT sku, count(*), sum(qty), max(order) FROM items GROUP BY sku ORDER BY sku";
    assert_eq!(server.query(&sql.replace("order)", "\"order\")")), ["A,2,7,2", "B,1,1,1"]);
    let body = std::fs::read(&items).unwrap();
    let receipt = server.post_with("posted", "Hadal-Rows: items\r\n", &body);
    assert_eq!(receipt["accepted"], 3, "{receipt}");
    let none = import(&server, &items, "t", &["--rows", "hits"]);
    assert_eq!(none.code, 1);
    assert!(none.stderr.contains("document 1 has no array hits"), "{}", none.stderr);
}

#[test]
fn otlp_is_recognized() {
    let server = Server::start_with(&["--memory"]);
    let file = case("21-otlp.json");
    let body = std::fs::read(&file).unwrap();
    for (table, more) in [
        ("a", &[][..]),
        ("b", &["--rows", "resourceSpans.scopeSpans.spans"]),
        ("c", &["--format", "otlp"]),
    ] {
        let finished = import(&server, &file, table, more);
        assert_eq!(finished.code, 0, "{}", finished.stderr);
        assert!(finished.stderr.contains("time from startTimeUnixNano"), "{}", finished.stderr);
    }
    let receipt = server.post_json("d", &body);
    assert_eq!((&receipt["accepted"], &receipt["rejected_count"]), (&2.into(), &0.into()));
    for table in ["a", "b", "c", "d"] {
        let sql = format!(
            "SELECT startTimeUnixNano, name, duration_ns, http.response.status_code, \
             resource.service.name, scope.name FROM {table} ORDER BY startTimeUnixNano"
        );
        let expected = [
            "2018-12-13T14:51:00Z,GET /,1500000000,500,cart,lib",
            "2018-12-13T14:51:00.1Z,SELECT,200000000,,cart,lib",
        ];
        assert_eq!(server.query(&sql), expected, "{table}");
    }
}

#[test]
fn compressed_files_may_have_more_or_less_than_data() {
    let server = Server::start_with(&["--memory"]);
    let folder = tempfile::tempdir().unwrap();
    let skipped = import(&server, &case("20-pzstd.jsonl.zst"), "t", &[]);
    assert_eq!(skipped.code, 0, "{}", skipped.stderr);
    let rows: String =
        (0..2_000).map(|n| format!("{{\"date\":{},\"n\":{n}}}\n", 1_722_236_234 + n)).collect();
    let whole = gzip(rows.as_bytes());
    let file = |name: &str, bytes: &[u8]| {
        let file = folder.path().join(name);
        std::fs::write(&file, bytes).unwrap();
        file
    };
    let padded = import(&server, &file("padded.gz", &[&*whole, &[0; 512]].concat()), "padded", &[]);
    assert_eq!(padded.code, 0, "{}", padded.stderr);
    assert!(!padded.stderr.contains("left out"), "{}", padded.stderr);
    let more = import(&server, &file("more.gz", &[&*whole, b"garbage"].concat()), "more", &[]);
    assert_eq!(more.code, 0, "{}", more.stderr);
    assert!(more.stderr.contains("after the end of the gzip data"), "{}", more.stderr);
    let less = import(&server, &file("less.gz", &whole[..whole.len() / 2]), "less", &[]);
    assert_eq!(less.code, 1);
    assert!(less.stderr.contains("the gzip data breaks off"), "{}", less.stderr);
    let count = |table: &str| -> u64 {
        server.query(&format!("SELECT count(*) FROM {table}"))[0].parse().unwrap()
    };
    assert_eq!((count("t"), count("padded"), count("more")), (2, 2_000, 2_000));
    assert!((1..2_000).contains(&count("less")));
}

#[test]
fn tables_are_named_after_files() {
    let server = Server::start_with(&["--memory"]);
    let folder = tempfile::tempdir().unwrap();
    for name in ["web.jsonl", "web.jsonl.1", "other.json", ".hidden"] {
        std::fs::write(folder.path().join(name), "{\"a\": 1}\n").unwrap();
    }
    let path = folder.path().to_str().unwrap();
    let finished = server.run(&["import", path], b"");
    assert_eq!(finished.code, 0, "{}", finished.stderr);
    assert!(finished.stderr.contains("1 hidden file left out"), "{}", finished.stderr);
    assert_eq!(server.query("SELECT count(*) FROM web"), ["2"]);
    assert_eq!(server.query("SELECT count(*) FROM other"), ["1"]);
    let finished = server.run(&["import", &format!("{path}/*.json")], b"");
    assert_eq!(finished.code, 0, "{}", finished.stderr);
    assert_eq!(server.query("SELECT count(*) FROM other"), ["2"]);
    let none = server.run(&["import", &format!("{path}/*.csv")], b"");
    assert_eq!(none.code, 1);
    assert!(none.stderr.contains("no file has such a name"), "{}", none.stderr);
    // A file that cannot be read to its end does not stop the others.
    std::fs::write(folder.path().join("cut.json.gz"), &gzip(b"{\"a\": 1}\n")[..20]).unwrap();
    std::fs::write(folder.path().join("last.jsonl"), "{\"a\": 1}\n").unwrap();
    let some = server.run(&["import", &format!("{path}/[cl]*")], b"");
    assert_eq!(some.code, 1);
    assert!(some.stderr.contains("table last"), "{}", some.stderr);
    assert!(some.stderr.ends_with("error: 1 of 2 files could not be read to the end\n"));
}

#[test]
fn addresses_are_read() {
    let server = Server::start_with(&["--memory"]);
    // The server's own answers are data.
    let url = format!("{}/v1/tables", server.url);
    server.log(&["t"], "{\"a\": 1}\n");
    let finished = server.run(&["import", &url, "--table", "found", "--rows", "tables"], b"");
    assert_eq!(finished.code, 0, "{}", finished.stderr);
    assert!(finished.stderr.contains("to table found"), "{}", finished.stderr);
    let missing = server.run(&["import", &format!("{}/v1/none", server.url)], b"");
    assert_eq!(missing.code, 1);
    assert!(missing.stderr.contains("the server answers 404 Not Found"), "{}", missing.stderr);
    let page = server.run(&["import", &format!("{}/", server.url)], b"");
    assert_eq!(page.code, 1);
    assert!(page.stderr.contains("is a page for people"), "{}", page.stderr);
}
