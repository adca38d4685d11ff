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
    // Also when there is nothing yet.
    import(&server, &file, &["--replace"]);
    import(&server, &file, &[]);
    assert_eq!(server.query("SELECT count(*) FROM t"), ["2"]);
    import(&server, &file, &["--replace"]);
    assert_eq!(server.query("SELECT count(*) FROM t"), ["1"]);
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
