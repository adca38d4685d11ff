//! Importing and opening files.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, Decimal128Array, Float64Array, RecordBatch, StringArray, TimestampNanosecondArray,
};
use parquet::arrow::ArrowWriter;
use rustix::process::Signal;

use crate::harness::{Running, Server, finish, hadal, url_in};

fn import(server: &Server, file: &Path, more: &[&str]) -> String {
    let path = file.to_str().unwrap();
    let finished = server.run(&[&["import", path, "--table", "t"], more].concat(), b"");
    assert_eq!(finished.code, 0, "{}", finished.stderr);
    finished.stderr
}

#[test]
fn csv_becomes_columns_with_kinds() {
    let (server, folder) = (Server::start_with(&["--memory"]), tempfile::tempdir().unwrap());
    let file = folder.path().join("orders.csv");
    let text = "day,n,paid,zip\n2013-01-01,1.50,true,01234\n2013-01-02,,false,99999\n";
    std::fs::write(&file, text).unwrap();
    let said = import(&server, &file, &["--time", "day"]);
    assert!(said.contains("2 rows went to table t"), "{said}");
    assert_eq!(
        server.query("SELECT day, n, paid, zip FROM t ORDER BY day"),
        ["2013-01-01T00:00:00Z,1.5,true,01234", "2013-01-02T00:00:00Z,,false,99999"]
    );
}

/// Rows as JSON objects, sorted as text, without the time of arrival.
fn objects(server: &Server, table: &str) -> Vec<String> {
    let sql = format!("SELECT * FROM {table} LIMIT 5000");
    let answer = server.run(&["query", "--format", "jsonl", &sql], b"");
    assert_eq!(answer.code, 0, "{}", answer.stderr);
    let object = |line: &str| {
        let mut object: serde_json::Map<String, serde_json::Value> =
            serde_json::from_str(line).unwrap();
        object.remove("time");
        serde_json::Value::Object(object).to_string()
    };
    let mut objects: Vec<String> = answer.stdout.lines().map(object).collect();
    objects.sort_unstable();
    objects
}

#[test]
fn csv_gives_the_same_rows_at_the_door() {
    let (server, folder) = (Server::start_with(&["--memory"]), tempfile::tempdir().unwrap());
    let late = format!("n,b\n{}x,maybe\nNA,true\n", "1,true\n".repeat(1_000));
    let long = format!("a,b\n1,2\n{},3\n4,5\n", "y".repeat(1 << 20));
    let typed = "born,n,ok,zip\n2020-01-01,1.50,true,007\n2020-01-02,NA,FALSE,\n\
                 2020-01-03,null,true,1\n";
    let texts: [(&[u8], usize); 14] = [
        (typed.as_bytes(), 3),
        (b"\xef\xbb\xbf\"a\",b\r\n1,\"x\r\ny \"\"z\"\"\"\r\n\r\n\"c\"d,\"\"\r\n", 2),
        (b"a,,a, a ,a_2\n1,2,3,4,5,6,7\n8\n,,,,\n", 3),
        (b"a,b\r1,2\r3,4\r", 2),
        (b"when,date\n2020-01-01 10:00,5\n2020-01-02 10:00,6\n", 2),
        (b"ts,when\n1577836800,2020-01-01\n1577836801,\n", 2),
        (b"a,b\n\xff,1\n\xc3,\xa9\n", 2),
        (b" a ,b\n 1 , x \n 2 ,y\n", 2),
        (b"a,b\n1e3,123456789012345678901234567890.5\n-0,1.\n+1,.5\n", 3),
        (b"a,b\n1,\"two\n2,3\"\n", 1),
        (b"NA\nNA\nNaN\n", 2),
        (b"a,b\n", 0),
        (late.as_bytes(), 1_002),
        (long.as_bytes(), 2),
    ];
    for (index, (text, rows)) in texts.into_iter().enumerate() {
        let file = folder.path().join(format!("{index}.csv"));
        std::fs::write(&file, text).unwrap();
        let (imported, posted) = (format!("imported_{index}"), format!("posted_{index}"));
        let path = file.to_str().unwrap();
        let said = server.run(&["import", path, "--table", &imported], b"");
        // The long row is rejected.
        assert_eq!(said.code, i32::from(index == 13), "{}", said.stderr);
        let receipt = server.post_csv(&posted, text);
        assert_eq!(receipt["accepted"], rows, "{index}: {receipt}");
        if rows > 0 {
            let expected = objects(&server, &imported);
            assert_eq!(expected.len(), rows, "{index}");
            assert_eq!(objects(&server, &posted), expected, "{index}");
            let columns = |table: &str| server.query(&format!("DESCRIBE {table}"));
            assert_eq!(columns(&posted), columns(&imported), "{index}");
        }
    }
}

#[test]
fn words_for_no_value_may_be_named() {
    let (server, folder) = (Server::start_with(&["--memory"]), tempfile::tempdir().unwrap());
    let file = folder.path().join("a.csv");
    std::fs::write(&file, "day,n,s\n2013-01-01,1,-\n2013-01-02,-,missing\n2013-01-03,3,x\n")
        .unwrap();
    let said = import(&server, &file, &["--null", "-", "--null", "missing"]);
    assert!(said.contains("3 rows went to table t in "), "{said}");
    assert!(said.contains(" s, time from day\n"), "{said}");
    assert!(!said.contains("null"), "{said}");
    assert_eq!(server.query("SELECT count(n), sum(n), count(s) FROM t"), ["2,4,1"]);
    let lines = folder.path().join("a.jsonl");
    std::fs::write(&lines, "{\"a\": \"-\"}\n").unwrap();
    let args = ["import", lines.to_str().unwrap(), "--table", "t", "--null", "-"];
    let refused = server.run(&args, b"");
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("--null is for CSV"), "{}", refused.stderr);
}

#[test]
fn a_damaged_file_is_one_error_and_nothing_else() {
    let (server, folder) = (Server::start_with(&["--memory"]), tempfile::tempdir().unwrap());
    let numbers: ArrayRef = Arc::new(Float64Array::from_iter_values((0..1_000).map(f64::from)));
    let batch = RecordBatch::try_from_iter([("n", numbers)]).unwrap();
    let mut whole = Vec::new();
    let mut writer = arrow_ipc::writer::FileWriter::try_new(&mut whole, &batch.schema()).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    drop(writer);
    let file = folder.path().join("x.arrow");
    let path = file.to_str().unwrap();
    let mut damaged = 0;
    // The metadata of the batch: some wrong bytes in it make the library panic.
    for at in (301..340).step_by(7) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0xff;
        std::fs::write(&file, bytes).unwrap();
        let finished = server.run(&["import", path, "--table", "t"], b"");
        if finished.stderr.contains("the file is damaged") {
            damaged += 1;
            assert_eq!(finished.code, 1);
            assert_eq!(finished.stderr, format!("error: {path}: the file is damaged\n"));
        }
        assert!(!finished.stderr.contains("panicked"), "{at}: {}", finished.stderr);
    }
    assert!(damaged > 0);
}

#[test]
fn compressed_files_and_arrays_are_read() {
    let (server, folder) = (Server::start_with(&["--memory"]), tempfile::tempdir().unwrap());
    let gzip = folder.path().join("a.jsonl.gz");
    let file = std::fs::File::create(&gzip).unwrap();
    let mut encoder = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
    encoder.write_all(b"{\"a\": 1}\n{\"a\": 2}\n").unwrap();
    encoder.finish().unwrap();
    import(&server, &gzip, &[]);
    let zstd = folder.path().join("b");
    let array = "[\n  {\"a\": 3},\n  {\"a\":\n    4}\n]\n";
    std::fs::write(&zstd, zstd::encode_all(array.as_bytes(), 0).unwrap()).unwrap();
    import(&server, &zstd, &[]);
    assert_eq!(server.query("SELECT a FROM t ORDER BY a"), ["1", "2", "3", "4"]);
}

#[test]
fn parquet_says_by_column_what_is_lost() {
    let (server, folder) = (Server::start_with(&["--memory"]), tempfile::tempdir().unwrap());
    let prices = Decimal128Array::from(vec![Some(1_050), None]);
    let prices = prices.with_precision_and_scale(10, 2).unwrap();
    let words: ArrayRef = Arc::new(StringArray::from(vec!["a|b|a", "b"]));
    let columns: [(&str, ArrayRef); 4] = [
        ("seen", Arc::new(TimestampNanosecondArray::from(vec![1_000_000_000_000_000_001, 5_000]))),
        ("price", Arc::new(prices)),
        ("ratio", Arc::new(Float64Array::from(vec![f64::NAN, 0.5]))),
        ("tags", words),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let file = folder.path().join("x.parquet");
    let out = std::fs::File::create(&file).unwrap();
    let mut writer = ArrowWriter::try_new(out, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    let said = import(&server, &file, &["--split", "tags=|", "--sets", "tags"]);
    for lost in [
        "warning: column seen: nanoseconds cut to microseconds, 1 value\n",
        "warning: column ratio: NaN and infinity became null, 1 value\n",
    ] {
        assert!(said.contains(lost), "{said}");
    }
    assert_eq!(
        server.query("SELECT seen, price, ratio, cardinality(tags) FROM t ORDER BY seen"),
        ["1970-01-01T00:00:00.000005Z,,0.5,1", "2001-09-09T01:46:40Z,10.5,,2"]
    );
    // The same again: the table's time column is known now.
    import(&server, &file, &[]);
    assert_eq!(server.query("SELECT count(*), count(price) FROM t"), ["4,2"]);
    let unknown = file.to_str().unwrap();
    let refused = server.run(&["import", unknown, "--table", "t", "--time", "when"], b"");
    assert_eq!(refused.code, 1);
    assert!(refused.stderr.contains("no column when; there are seen, price"), "{}", refused.stderr);
}

#[test]
fn features_and_members_of_documents_are_rows() {
    let (server, folder) = (Server::start_with(&["--memory"]), tempfile::tempdir().unwrap());
    let quakes = folder.path().join("quakes.json");
    let feature = r#"{"type":"Feature","properties":{"mag":2.5,"types":",a,b,"},
        "geometry":{"type":"Point","coordinates":[-118.6,34.5]},"id":"x"}"#;
    let text = format!(r#"{{"type":"FeatureCollection","features":[{feature}]}}"#);
    std::fs::write(&quakes, text).unwrap();
    import(&server, &quakes, &["--split", "types=,", "--sets", "types"]);
    assert_eq!(
        server.query("SELECT id, mag, longitude FROM t WHERE includes_all(types, 'a', 'b')"),
        ["x,2.5,-118.6"]
    );
    let answer = folder.path().join("answer.json");
    std::fs::write(&answer, r#"{"took":1,"result":{"hits":[{"id":"y"},{"id":"z"}]}}"#).unwrap();
    import(&server, &answer, &["--rows", "result.hits"]);
    assert_eq!(server.query("SELECT id FROM t ORDER BY id"), ["x", "y", "z"]);
}

#[test]
fn replacing_drops_what_was_there() {
    let (server, folder) = (Server::start_with(&["--memory"]), tempfile::tempdir().unwrap());
    let file = folder.path().join("a.jsonl");
    std::fs::write(&file, "{\"a\": 1}\n").unwrap();
    // Also for a table that does not exist yet.
    import(&server, &file, &["--replace"]);
    import(&server, &file, &[]);
    assert_eq!(server.query("SELECT count(*) FROM t"), ["2"]);
    import(&server, &file, &["--replace"]);
    assert_eq!(server.query("SELECT count(*) FROM t"), ["1"]);
}

#[test]
fn only_a_table_that_the_import_makes_takes_rows_of_any_age() {
    let (server, folder) = (Server::start_with(&["--memory"]), tempfile::tempdir().unwrap());
    server.log(&["t"], "{\"a\": 0}\n");
    let csv = |name: &str, year: u32| {
        let file = folder.path().join(name);
        let rows: String = (1..=1_500).map(|n| format!("{year}-01-01T00:00:00Z,{n}\n")).collect();
        std::fs::write(&file, format!("time,a\n{rows}")).unwrap();
        file
    };
    let (old, older) = (csv("old.csv", 2021), csv("older.csv", 2001));
    let (old, older) = (old.to_str().unwrap(), older.to_str().unwrap());
    let refused = server.run(&["import", old, "--table", "t"], b"");
    assert_eq!(refused.code, 1);
    let said = refused.stderr;
    assert!(
        said.contains("0 rows went to table t") && said.contains("1,500 rows rejected"),
        "{said}"
    );
    assert!(
        said.contains("  1,500 rows such as row 1: ")
            && said.contains("older than the table's limit"),
        "{said}"
    );
    assert!(said.contains("\nhint: ") && said.contains("--replace"), "{said}");
    assert_eq!(server.query("SELECT count(*) FROM t"), ["1"]);
    // Both files belong to the import that creates the table.
    for table in ["t", "u"] {
        let args = ["import", old, older, "--table", table, "--replace"];
        let args = if table == "t" { &args[..] } else { &args[..5] };
        let taken = server.run(args, b"");
        assert_eq!(taken.code, 0, "{}", taken.stderr);
        assert!(!taken.stderr.contains("hint:"), "{}", taken.stderr);
        let warning = "warning: 1500 rows are older than 30 days; the table takes any age";
        assert!(taken.stderr.contains(warning), "{}", taken.stderr);
        assert_eq!(server.query(&format!("SELECT count(*) FROM {table}")), ["3000"]);
    }
}

#[test]
fn a_first_line_of_numbers_may_be_a_row() {
    let (server, folder) = (Server::start_with(&["--memory"]), tempfile::tempdir().unwrap());
    let file = folder.path().join("points.csv");
    std::fs::write(&file, "1,2,3\n4,5,6\n").unwrap();
    let said = import(&server, &file, &["--replace", "--header"]);
    assert!(said.contains("1 row went") && !said.contains("warning"), "{said}");
    let said = import(&server, &file, &["--replace", "--no-head"]);
    assert!(said.contains("2 rows went") && !said.contains("warning"), "{said}");
    let said = import(&server, &file, &["--replace"]);
    let warned = "warning: the first line looks like a row (1, 2, 3), so the columns are column_1 \
                  and so on; --header takes it as their names\n";
    assert!(said.ends_with(warned), "{said}");
    let sum = "SELECT sum(column_1), sum(column_3) FROM t";
    assert_eq!(server.query(sum), ["5,9"]);
    // Detected as JSON without a file name.
    let args = ["import", "-", "--table", "t", "--no-head"];
    assert_eq!(server.run(&args, b"7\t8\t9\n").code, 0);
    assert_eq!(server.query(sum), ["12,18"]);
    let refused = server.run(&args, b"{\"a\": 1}\n");
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("--no-header is for CSV"), "{}", refused.stderr);
}

#[test]
fn what_is_no_text_is_refused_unless_it_is_asked_for() {
    let (server, folder) = (Server::start_with(&["--memory"]), tempfile::tempdir().unwrap());
    let gzip = |bytes: &[u8]| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    };
    let wide: Vec<u8> = "a,b\n1,2\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let marked = [b"\xff\xfe", wide.as_slice()].concat();
    let binary = b"\x7fELF\x02\x01\x01\0\0rest\n".to_vec();
    let files = [
        ("twice.csv.gz", gzip(&gzip(b"a,b\n1,2\n")), "is compressed twice"),
        ("zstd.gz", gzip(&zstd::encode_all(&b"a\n"[..], 0).unwrap()), "is compressed twice"),
        ("marked.csv", marked, "iconv -f utf-16 -t utf-8"),
        ("wide.csv", wide, "iconv -f utf-16le -t utf-8"),
        ("packed.csv.gz", gzip(&binary), "is no text: byte 8 is NUL; --format text"),
        ("program", binary, "is no text: byte 8 is NUL; --format text"),
    ];
    for (name, bytes, reason) in files {
        let file = folder.path().join(name);
        std::fs::write(&file, bytes).unwrap();
        let args = ["import", file.to_str().unwrap(), "--table", "t"];
        let refused = server.run(&args, b"");
        assert_eq!(refused.code, 1, "{name}");
        assert!(refused.stderr.contains(reason), "{name}: {}", refused.stderr);
        let taken = server.run(&[&args[..], &["--format", "text"]].concat(), b"");
        assert_eq!(taken.code, 0, "{name}: {}", taken.stderr);
        assert!(taken.stderr.contains(" went to table t"), "{name}: {}", taken.stderr);
    }
}

#[test]
fn the_way_out_of_other_encodings_is_named() {
    let server = Server::start_with(&["--memory"]);
    let latin = b"n,s\n1,\xe9t\xe9\n";
    for format in ["csv", "text"] {
        let taken = server.run(&["import", "-", "--table", format, "--format", format], latin);
        assert_eq!(taken.code, 0, "{}", taken.stderr);
        assert!(taken.stderr.ends_with("iconv -f latin1 -t utf-8\n"), "{}", taken.stderr);
    }
    assert_eq!(server.query("SELECT s FROM csv"), ["\u{fffd}t\u{fffd}"]);
}

#[test]
fn what_cannot_be_read_costs_nothing() {
    let (server, folder) = (Server::start_with(&["--memory"]), tempfile::tempdir().unwrap());
    server.log(&["t"], "{\"a\": 1}\n");
    let parquet = folder.path().join("x.parquet");
    std::fs::write(&parquet, b"PAR1....PAR1").unwrap();
    for file in [parquet.to_str().unwrap(), "no-such-file"] {
        let args = ["import", file, "--table", "t", "--replace"];
        let refused = server.run(&args, b"");
        assert_eq!(refused.code, 1);
        assert!(refused.stderr.contains(file), "{}", refused.stderr);
    }
    assert_eq!(server.query("SELECT count(*) FROM t"), ["1"]);
}

#[test]
fn many_chunks_arrive_whole() {
    let (server, folder) = (Server::start_with(&["--memory"]), tempfile::tempdir().unwrap());
    let file = folder.path().join("many.csv");
    let mut text = "n,padding\n".to_owned();
    for n in 0..60_000 {
        text.push_str(&format!("{n},{:0>200}\n", n % 7));
    }
    std::fs::write(&file, text).unwrap();
    import(&server, &file, &[]);
    assert_eq!(server.query("SELECT count(*), sum(n), max(n) FROM t"), ["60000,1799970000,59999"]);
}

#[test]
fn rejected_rows_of_many_chunks_are_named() {
    let (server, folder) = (Server::start_with(&["--memory"]), tempfile::tempdir().unwrap());
    let file = folder.path().join("many.jsonl");
    let line = |n: usize| match n {
        10 | 40_000 | 90_000 | 99_999 => "broken\n".to_owned(),
        _ => format!("{{\"n\":{n},\"padding\":\"{}\"}}\n", "x".repeat(200)),
    };
    std::fs::write(&file, (1..=100_000).map(line).collect::<String>()).unwrap();
    let said = import(&server, &file, &["--allow-rejects", "4"]);
    assert!(said.contains("99,996 rows went"), "{said}");
    let kind = "\n4 rows rejected; table _rejects has up to 1,000 of each request:\n  4 rows such as \
                line 10: not a JSON object: broken\n";
    assert!(said.ends_with(kind), "{said}");
    let lines = server.query("SELECT line FROM _rejects ORDER BY time, line");
    assert_eq!(lines.len(), 4);
    assert_eq!(server.query("SELECT count(*), max(n) FROM t"), ["99996,100000"]);
}

#[test]
fn rows_before_the_damage_are_counted() {
    let (server, folder) = (Server::start_with(&["--memory"]), tempfile::tempdir().unwrap());
    let file = folder.path().join("cut.json");
    let row = format!("{{\"padding\":\"{}\"}},", "x".repeat(1_000));
    std::fs::write(&file, format!("[{}{{", row.repeat(20_000))).unwrap();
    let finished = server.run(&["import", file.to_str().unwrap(), "--table", "t"], b"");
    assert_eq!(finished.code, 1);
    let said = finished.stderr;
    assert!(said.contains("20,000 rows went to table t"), "{said}");
    assert!(said.lines().last().unwrap().starts_with("error: "), "{said}");
    assert_eq!(server.query("SELECT count(*) FROM t"), ["20000"]);
}

#[test]
fn a_quote_that_is_never_closed_is_an_error_with_its_line() {
    let (server, folder) = (Server::start_with(&["--memory"]), tempfile::tempdir().unwrap());
    let file = folder.path().join("x.csv");
    let rows: Vec<String> = (1..=20_000).map(|n| format!("{n},fine\n")).collect();
    let text = format!("n,s\n{}", rows.concat()).replace("\n1000,fine\n", "\n1000,\"oops\n");
    std::fs::write(&file, text).unwrap();
    let finished = server.run(&["import", file.to_str().unwrap(), "--table", "t"], b"");
    assert_eq!(finished.code, 1);
    let said = finished.stderr;
    assert!(said.contains("999 rows went to table t"), "{said}");
    assert!(said.contains("a quote in the record of line 1001 is never closed"), "{said}");
    assert_eq!(server.query("SELECT count(*), max(n) FROM t"), ["999,999"]);
}

#[test]
fn open_serves_files_until_it_is_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("access.log");
    let line = "10.0.0.1 - - [10/Oct/2000:13:55:36 -0700] \"GET / HTTP/1.0\" 200 5\n";
    std::fs::write(&log, line.repeat(3)).unwrap();
    let csv = folder.path().join("prices.csv");
    std::fs::write(&csv, "item,price\na,1\nb,2\n").unwrap();
    let args = ["open", log.to_str().unwrap(), csv.to_str().unwrap(), "--no-browser"];
    let open = Running::start(hadal(&args));
    let url = url_in(&open.wait_for_output("http://"));
    open.wait_for_error("ready");
    let ask = |sql| finish(hadal(&["query", sql, "--server", &url]), b"");
    assert_eq!(ask("SELECT count(*) AS n FROM access").stdout, "n\n3\n");
    assert_eq!(ask("SELECT sum(price) AS n FROM prices").stdout, "n\n3\n");
    assert!(open.stop(Signal::INT).success());
}
