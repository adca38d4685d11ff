//! The times of imported rows: where they are, how they are written, and what is said.

use std::path::{Path, PathBuf};

use crate::harness::Server;

fn case(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases").join(name)
}

/// What an import printed, and the table's rows in the order of their times.
fn imported(server: &Server, file: &Path, columns: &str, more: &[&str]) -> (String, Vec<String>) {
    let args = [&["import", file.to_str().unwrap(), "--table", "t", "--replace"], more].concat();
    let finished = server.run(&args, b"");
    (finished.stderr, server.query(&format!("SELECT {columns} FROM t")))
}

#[test]
fn cases_have_the_times_that_are_written() {
    let server = Server::start_with(&["--memory"]);
    let ordered = |column: &str| format!("{column} FROM t ORDER BY {column} LIMIT 9 --");
    for (name, column, said, times) in [
        (
            "02-time-is-a-duration.jsonl",
            "timestamp",
            "time from timestamp",
            ["2024-05-01T10:15:00Z", "2024-05-01T10:16:00Z"],
        ),
        (
            "02-time-is-a-duration.parquet",
            "pickup_at",
            "time from pickup_at, zone UTC assumed",
            ["2024-05-01T10:15:00Z", "2024-05-01T10:16:00Z"],
        ),
        (
            "02-time-text.parquet",
            "Timestamp",
            "column time: \"10:15\" is not understood as a time",
            ["2024-05-01T10:15:00Z", "2024-05-01T10:16:00Z"],
        ),
        (
            "15-ctime.jsonl",
            "time",
            "as %a %b %d %H:%M:%S%.f %Y, zone UTC assumed",
            ["2018-10-09T07:17:53.139742Z", "2018-10-09T07:17:54Z"],
        ),
        (
            "15-day-first.csv",
            "date",
            "time from date as %d.%m.%Y %H:%M, zone UTC assumed",
            ["2003-03-27T14:55:00Z", "2003-08-03T15:20:00Z"],
        ),
        (
            "06-glued-one-line.json",
            "ts",
            "time from ts",
            ["2024-07-29T06:57:14Z", "2024-07-29T06:57:15Z"],
        ),
    ] {
        let (output, rows) = imported(&server, &case(name), &ordered(column), &[]);
        assert_eq!(rows, times, "{name}: {output}");
        assert!(output.contains(said), "{name}: {output}");
    }
    let (output, rows) = imported(&server, &case("15-syslog.jsonl"), &ordered("timestamp"), &[]);
    assert!(output.contains("%b %d %H:%M:%S, latest possible year assumed"), "{output}");
    assert!(
        rows[0].ends_with("-12-31T23:59:59Z") || rows[0].ends_with("-01-10T06:07:06Z"),
        "{rows:?}"
    );
}

#[test]
fn times_of_lines_have_their_zones() {
    let server = Server::start_with(&["--memory"]);
    for (name, first) in [
        ("01-zone-after-space.log", "2026-02-17T21:02:49Z"),
        ("01-zone-name.log", "2024-05-01T08:15:00.123Z"),
    ] {
        let (output, rows) = imported(&server, &case(name), "min(time)", &[]);
        assert_eq!(rows, [first], "{output}");
    }
}

#[test]
fn a_time_after_tomorrow_is_no_rows_time() {
    let server = Server::start_with(&["--memory"]);
    let file = case("16-sentinel-int96.parquet");
    let (output, rows) = imported(&server, &file, "count(*)", &[]);
    assert!(output.contains("3 rows rejected"), "{output}");
    assert!(output.contains("--time received takes the time of arrival"), "{output}");
    assert_eq!(rows, ["1"]);
    let (output, rows) = imported(&server, &file, "count(*), count(load)", &["--time", "received"]);
    assert!(output.contains("4 rows went to table t"), "{output}");
    assert_eq!(rows, ["4,3"]);
}

#[test]
fn rows_without_a_time_are_kept_apart_unless_they_are_asked_for() {
    let (server, folder) = (Server::start_with(&["--memory"]), tempfile::tempdir().unwrap());
    let texts = [
        (
            "a.jsonl",
            "{\"ts\":\"2013-01-01T10:00:00Z\"}\n{\"ts\":\"2013-01-02T10:00:00Z\"}\n{\"a\":1}\n",
        ),
        ("a.csv", "ts,a\n2013-01-01T10:00:00Z,1\n2013-01-02T10:00:00Z,2\n,3\n"),
    ];
    for (name, text) in texts {
        let file = folder.path().join(name);
        std::fs::write(&file, text).unwrap();
        let (output, rows) = imported(&server, &file, "count(*), max(ts)", &[]);
        assert!(output.contains("it has no time; --untimed received"), "{output}");
        assert_eq!(rows, ["2,2013-01-02T10:00:00Z"], "{name}");
        let (_, rows) = imported(&server, &file, "count(*)", &["--untimed", "received"]);
        assert_eq!(rows, ["3"], "{name}");
    }
    let file = folder.path().join("none.jsonl");
    std::fs::write(&file, "{\"a\":1}\n{\"a\":2}\n").unwrap();
    let (output, rows) = imported(&server, &file, "count(*)", &[]);
    assert!(output.contains("2 rows went to table t in ") && output.contains("time of arrival"));
    assert_eq!(rows, ["2"]);
}

#[test]
fn options_say_how_times_are_written_and_in_which_zone() {
    let (server, folder) = (Server::start_with(&["--memory"]), tempfile::tempdir().unwrap());
    let texts = [
        ("a.csv", "when,a\n03/04/2003 12:00,1\n04/04/2003 12:00,2\n"),
        ("a.jsonl", "{\"date\":\"03/04/2003 12:00\"}\n{\"date\":\"04/04/2003 12:00\"}\n"),
    ];
    for ((name, text), column) in texts.into_iter().zip(["when", "date"]) {
        let file = folder.path().join(name);
        std::fs::write(&file, text).unwrap();
        let min = format!("min({column})");
        let (output, rows) = imported(&server, &file, &min, &[]);
        assert_eq!(rows, ["2003-03-04T12:00:00Z"], "{output}");
        assert!(output.contains("was read with the month first"), "{output}");
        assert!(output.contains("--time-format day-first"), "{output}");
        for format in ["day-first", "%d/%m/%Y %H:%M"] {
            let more = ["--time-format", format, "--zone", "Europe/Berlin"];
            let (output, rows) = imported(&server, &file, &min, &more);
            assert_eq!(rows, ["2003-04-03T10:00:00Z"], "{name} {format}: {output}");
            assert!(output.contains("zone Europe/Berlin assumed"), "{output}");
        }
    }
    let file = folder.path().join("a.csv");
    for (option, value) in [("--zone", "IST"), ("--zone", "Mars"), ("--time-format", "%H:%M")] {
        let args = ["import", file.to_str().unwrap(), "--table", "t", option, value];
        let refused = server.run(&args, b"");
        assert_eq!(refused.code, 2, "{option} {value}");
        assert!(refused.stderr.contains(option), "{}", refused.stderr);
    }
}

#[test]
fn other_columns_of_times_become_iso() {
    let (server, folder) = (Server::start_with(&["--memory"]), tempfile::tempdir().unwrap());
    let file = folder.path().join("a.csv");
    let text = "time,due,paid\n2013-01-01T10:00:00Z,27.03.2013,Jan 2 2013 3:04 PM\n\
                2013-01-01T11:00:00Z,28.03.2013,Jan 3 2013 3:04 PM\n";
    std::fs::write(&file, text).unwrap();
    let (output, rows) = imported(&server, &file, "due, paid FROM t ORDER BY time LIMIT 1 --", &[]);
    assert_eq!(rows, ["2013-03-27,2013-01-02T15:04:00Z"], "{output}");
}

#[test]
fn http_says_how_times_were_read() {
    let server = Server::start_with(&["--memory"]);
    let answer = server.post_csv("t", &std::fs::read(case("15-day-first.csv")).unwrap());
    assert_eq!(answer["time_from"], "column date");
    assert_eq!(answer["time_format"], "%d.%m.%Y %H:%M");
    assert_eq!(answer["zone_assumed"], "UTC");
    assert_eq!(server.query("SELECT min(date) FROM t"), ["2003-03-27T14:55:00Z"]);
    let text = b"when,paid\n03/04/2003,2003-03-04\n03/05/2003,2003-03-05\n";
    let answer = server.post_csv("u", text);
    assert_eq!(answer["time_from"], "column paid");
    assert_eq!(answer["other_times"], serde_json::json!(["when"]), "{answer}");
    assert_eq!(answer["warnings"][0]["code"], "ambiguous_dates", "{answer}");
    assert_eq!(answer["untimed"], "reject");
}
