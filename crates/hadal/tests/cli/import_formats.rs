//! The same content as CSV, JSON, Parquet and Arrow: the same rows, time column and kinds.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Float64Array, Int64Array, RecordBatch, StringArray,
    TimestampMillisecondArray,
};
use parquet::arrow::ArrowWriter;

use crate::harness::Server;

/// 2026-11-20T00:00:00Z in milliseconds, and as a day.
const START_MS: i64 = 1_795_132_800_000;
const START_DAY: i32 = 20_777;
const ROWS: usize = 200;

/// The columns of the content.
fn content() -> RecordBatch {
    let rows = || 0..ROWS;
    let number = |row: usize| i64::try_from(row).unwrap();
    let day = |row: usize| START_DAY + i32::try_from(row % 5).unwrap();
    let columns: [(&str, ArrayRef); 6] = [
        (
            "n",
            Arc::new(rows().map(|row| (row % 7 > 0).then(|| number(row))).collect::<Int64Array>()),
        ),
        ("x", Arc::new(rows().map(|row| Some(row as f64 / 4.0)).collect::<Float64Array>())),
        ("ok", Arc::new(rows().map(|row| Some(row % 3 == 0)).collect::<BooleanArray>())),
        (
            "word",
            Arc::new(rows().map(|row| Some(format!("w\"{}", row % 11))).collect::<StringArray>()),
        ),
        ("due", Arc::new(rows().map(|row| Some(day(row))).collect::<Date32Array>())),
        (
            "happened",
            Arc::new(
                rows()
                    .map(|row| Some(START_MS + 1_500 * number(row)))
                    .collect::<TimestampMillisecondArray>()
                    .with_timezone_utc(),
            ),
        ),
    ];
    RecordBatch::try_from_iter(columns).unwrap()
}

/// The cells of a row as JSON texts; empty where there is no value.
fn cells(row: usize) -> [(&'static str, String); 6] {
    let moment = hadal_types::Micros(1_000 * (START_MS + 1_500 * i64::try_from(row).unwrap()));
    let n = if row.is_multiple_of(7) { String::new() } else { row.to_string() };
    [
        ("n", n),
        ("x", (row as f64 / 4.0).to_string()),
        ("ok", (row.is_multiple_of(3)).to_string()),
        ("word", format!("\"w\\\"{}\"", row % 11)),
        ("due", format!("\"2026-11-{:02}\"", 20 + row % 5)),
        ("happened", format!("\"{moment}\"")),
    ]
}

fn json_lines() -> String {
    let line = |row| {
        let cells = cells(row);
        let members = cells.iter().filter(|(_, cell)| !cell.is_empty());
        let members: Vec<_> = members.map(|(name, cell)| format!("\"{name}\":{cell}")).collect();
        format!("{{{}}}\n", members.join(","))
    };
    (0..ROWS).map(line).collect()
}

fn csv() -> String {
    let line = |row| cells(row).map(|(_, cell)| cell.replace("\\\"", "\"\"")).join(",") + "\n";
    let head = cells(0).map(|(name, _)| name).join(",");
    format!("{head}\n{}", (0..ROWS).map(line).collect::<String>())
}

fn write_parquet(path: &Path, batch: &RecordBatch) {
    let mut writer =
        ArrowWriter::try_new(File::create(path).unwrap(), batch.schema(), None).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
}

fn write_arrow(path: &Path, batch: &RecordBatch) {
    let file = File::create(path).unwrap();
    let mut writer = arrow_ipc::writer::FileWriter::try_new(file, &batch.schema()).unwrap();
    writer.write(batch).unwrap();
    writer.finish().unwrap();
}

#[test]
fn import_of_the_same_content_in_any_format_gives_the_same_table() {
    let (server, folder) = (Server::start_with(&["--memory"]), tempfile::tempdir().unwrap());
    let place = |name: &str| folder.path().join(name);
    std::fs::write(place("csv.csv"), csv()).unwrap();
    std::fs::write(place("jsonl.jsonl"), json_lines()).unwrap();
    let array = format!("[{}]", json_lines().trim_end().replace('\n', ",\n"));
    std::fs::write(place("json.json"), array).unwrap();
    write_parquet(&place("parquet.parquet"), &content());
    write_arrow(&place("arrow.arrow"), &content());
    let mut expected: Option<(Vec<String>, Vec<String>)> = None;
    for name in ["jsonl.jsonl", "json.json", "csv.csv", "parquet.parquet", "arrow.arrow"] {
        let table = name.split('.').next().unwrap();
        let path = place(name);
        let imported = server.run(&["import", path.to_str().unwrap(), "--table", table], b"");
        assert_eq!(imported.code, 0, "{name}: {}", imported.stderr);
        assert!(imported.stderr.contains("200 rows went"), "{name}: {}", imported.stderr);
        let rows = server.query(&format!(
            "SELECT happened, n, x, ok, word, due FROM {table} ORDER BY happened LIMIT 1000"
        ));
        let kinds = server.query(&format!("DESCRIBE {table}"));
        match &expected {
            None => expected = Some((rows, kinds)),
            Some((expected_rows, expected_kinds)) => {
                assert_eq!(&kinds, expected_kinds, "{name}");
                for (row, expected) in rows.iter().zip(expected_rows) {
                    assert_eq!(row, expected, "{name}");
                }
                assert_eq!(rows.len(), expected_rows.len(), "{name}");
            }
        }
    }
}
