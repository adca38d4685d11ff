//! Archived rows equal the rows of the table: read here, by `DuckDB`, and from an S3-compatible
//! store.

use std::io::{BufRead, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use arrow_array::RecordBatch;
use hadal_block::{BlockBuilder, BlockView};
use hadal_types::{ColumnName, Kind, Micros, Number};
use object_store::ObjectStoreExt;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use super::*;

const PATH: &str = "requests/2023-11-14/leaf-0-7-1700000000000000.parquet";
/// 2023-11-14T22:13:20Z.
const START: i64 = 1_700_000_000_000_000;
const GOES_ON: IsStopping<'static> = &|| false;

/// A value of a row.
#[derive(Clone)]
enum Cell {
    Whole(i64),
    /// As it is written.
    Decimal(&'static str),
    Truth(bool),
    Text(&'static str),
    Set(&'static [&'static str]),
    Vector(&'static [&'static str]),
}

/// A block with one row per second. The time of the first row is `START` plus `first` seconds.
fn block(first: i64, rows: &[&[(&str, Cell)]]) -> Vec<u8> {
    let name = |name: &str| ColumnName::new(name).expect("a name");
    let mut builder = BlockBuilder::new(name("time"));
    for (row, cells) in (0..).zip(rows) {
        for (column, cell) in *cells {
            let mut id = |kind| builder.column(&name(column), kind);
            let pushed = match cell {
                Cell::Whole(number) => {
                    let id = id(Kind::Number);
                    builder.push_number(id, Number::integer(*number))
                }
                Cell::Decimal(text) => {
                    let id = id(Kind::Number);
                    builder.push_number(id, text.parse().expect("a number"))
                }
                Cell::Truth(truth) => {
                    let id = id(Kind::Number);
                    builder.push_bool(id, *truth)
                }
                Cell::Text(text) => {
                    let id = id(Kind::String);
                    builder.push_string(id, text)
                }
                Cell::Set(list) => {
                    let id = id(Kind::Set);
                    builder.push_list(id, list)
                }
                Cell::Vector(list) => {
                    let id = id(Kind::Vector);
                    builder.push_list(id, list)
                }
            };
            pushed.expect("taken");
        }
        builder.end_row(at(first + row));
    }
    builder.finish(Micros(START), None).expect("fits")
}

fn at(seconds: i64) -> Micros {
    Micros(START + seconds * Micros::SECOND)
}

/// All rows of these blocks.
fn whole(blocks: &[Vec<u8>]) -> Vec<ArchivePart<'_>> {
    let view = |bytes| BlockView::parse(bytes).expect("parses");
    let part = |bytes| ArchivePart { block: view(bytes), from: Micros::MIN, until: Micros::MAX };
    blocks.iter().map(|bytes| part(bytes)).collect()
}

/// Two blocks with all kinds of values, and the expected columns of a file of both.
fn sample() -> (Vec<Vec<u8>>, Value) {
    let blocks = vec![
        block(
            0,
            &[
                &[
                    ("n", Cell::Whole(i64::MIN)),
                    ("price", Cell::Decimal("0.25")),
                    ("ok", Cell::Truth(true)),
                    ("host", Cell::Text("wéb \"1\"")),
                    ("tags", Cell::Set(&["b", "a"])),
                    ("stack", Cell::Vector(&["main", "f", "f"])),
                    ("mixed", Cell::Whole(7)),
                ],
                &[("n", Cell::Whole(2)), ("tags", Cell::Set(&[])), ("mixed", Cell::Text("seven"))],
            ],
        ),
        block(
            2,
            &[&[
                ("price", Cell::Decimal("-12345678901234.5")),
                ("ok", Cell::Truth(false)),
                ("huge", Cell::Decimal("1e300")),
                ("host", Cell::Text("")),
            ]],
        ),
    ];
    let columns = json!({
        "time": ["2023-11-14 22:13:20+00", "2023-11-14 22:13:21+00", "2023-11-14 22:13:22+00"],
        "host": ["wéb \"1\"", null, ""],
        "huge": [null, null, 1e300],
        "mixed (number)": [7, null, null],
        "mixed (string)": [null, "seven", null],
        "n": [i64::MIN, 2, null],
        "ok": [true, null, false],
        "price": ["0.25", null, "-12345678901234.50"],
        "stack": [["main", "f", "f"], null, null],
        "tags": [["a", "b"], [], null],
    });
    (blocks, columns)
}

fn folder() -> (TempDir, Arc<dyn Archive>) {
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path().join("archive");
    std::fs::create_dir(&place).expect("made");
    let archive = ArchiveLocation::Folder(place).open().expect("opens");
    (folder, archive)
}

fn batches(file: &Path) -> Vec<RecordBatch> {
    let file = std::fs::File::open(file).expect("there");
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).expect("a file of Parquet");
    let batches = reader.build().expect("readable");
    batches.map(|batch| batch.expect("readable")).collect()
}

/// Every file below a folder.
fn files(folder: &Path) -> Vec<String> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("read") {
            let path = entry.expect("read").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files.push(path.display().to_string());
            }
        }
    }
    files.sort();
    files
}

/// The Python with the packages of `tests/python-requirements.txt`.
fn python() -> Option<String> {
    std::env::var("HADAL_TEST_PYTHON").ok().filter(|python| !python.is_empty())
}

/// The columns that `DuckDB` reads from files.
fn by_duckdb(python: &str, files: &Path) -> Value {
    let program = "\
import duckdb, json, sys
duckdb.sql(\"SET TimeZone = 'UTC'\")
rows = duckdb.sql(f\"SELECT * REPLACE (time::VARCHAR AS time) FROM '{sys.argv[1]}' ORDER BY time\")
names, rows = rows.columns, rows.fetchall()
print(json.dumps({name: [row[at] for row in rows] for at, name in enumerate(names)}, default=str))";
    let output = Command::new(python).args(["-c", program]).arg(files).output().expect("runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

#[test]
fn places_are_folders_and_buckets() {
    let read = |text: &str| text.parse::<ArchiveLocation>();
    assert_eq!(read("old/rows"), Ok(ArchiveLocation::Folder("old/rows".into())));
    let bucket = |name: &str, prefix: &str| {
        Ok(ArchiveLocation::Bucket { name: name.to_owned(), prefix: prefix.to_owned() })
    };
    assert_eq!(read("s3://old"), bucket("old", ""));
    assert_eq!(read("s3://old/a/b/"), bucket("old", "a/b"));
    assert_eq!(read("s3://old/a/b/").expect("a bucket").to_string(), "s3://old/a/b");
    for (text, expected) in [
        ("", "it is empty"),
        ("s3://", "\"s3://\" names no bucket"),
        ("gs://old", "gs:// is not known; write a folder, or s3://BUCKET/PREFIX"),
    ] {
        let error = read(text).expect_err(text);
        assert!(error.starts_with(expected), "{error}");
    }
    // Texts that resemble a bucket's address are no folders, and the error shows nothing of a user
    // part.
    for text in [
        "s3:/old",
        "S3:old",
        " s3://old",
        "s3://old ",
        "old//a",
        "s3://key:secret@old",
        "s3:key:secret@old",
    ] {
        let error = read(text).expect_err(text);
        assert!(error.contains("s3://BUCKET/PREFIX"), "{error}");
        assert!(!error.contains("secret") && !error.contains("key:"), "{error}");
    }
    assert_eq!(read("./a:b"), Ok(ArchiveLocation::Folder("./a:b".into())));
}

#[test]
fn duckdb_reads_what_was_archived() {
    let Some(python) = python() else { return println!("skipped: needs duckdb") };
    let (folder, archive) = folder();
    let (blocks, expected) = sample();
    archive.write(PATH, &whole(&blocks), GOES_ON).expect("written");
    let file = folder.path().join("archive").join(PATH);
    assert_eq!(by_duckdb(&python, &file), expected);
    // One file for all: a column that a block lacks is null there.
    archive.write("requests/2023-11-14/b.parquet", &whole(&blocks[1..]), GOES_ON).expect("written");
    let schema = batches(&file)[0].schema();
    let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    assert_eq!(names[..3], ["time", "host", "huge"]);
}

#[test]
fn rows_of_other_times_are_left_out() {
    let (folder, archive) = folder();
    let rows: Vec<[(&str, Cell); 1]> = (0..100).map(|row| [("n", Cell::Whole(row))]).collect();
    let rows: Vec<&[(&str, Cell)]> = rows.iter().map(|row| &row[..]).collect();
    let blocks = [block(0, &rows[..60]), block(60, &rows[60..])];
    let mut parts = whole(&blocks);
    for part in &mut parts {
        (part.from, part.until) = (at(50), at(70));
    }
    archive.write(PATH, &parts, GOES_ON).expect("written");
    let read = batches(&folder.path().join("archive").join(PATH));
    assert_eq!(read.iter().map(RecordBatch::num_rows).sum::<usize>(), 20);
}

#[test]
fn many_rows_are_as_they_were() {
    let (folder, archive) = folder();
    let rows: Vec<[(&str, Cell); 2]> = (0..70_000)
        .map(|row| {
            [
                ("n", Cell::Whole(row * 7)),
                ("host", Cell::Text(if row % 3 == 0 { "a" } else { "b" })),
            ]
        })
        .collect();
    let rows: Vec<&[(&str, Cell)]> = rows.iter().map(|row| &row[..]).collect();
    let blocks = [block(0, &rows[..65_536]), block(65_536, &rows[65_536..])];
    archive.write(PATH, &whole(&blocks), GOES_ON).expect("written");
    let mut row = 0;
    for batch in batches(&folder.path().join("archive").join(PATH)) {
        let n = batch.column_by_name("n").expect("there");
        let n = n.as_any().downcast_ref::<arrow_array::Int64Array>().expect("whole numbers");
        for &value in n.values() {
            assert_eq!(value, row * 7);
            row += 1;
        }
    }
    assert_eq!(row, 70_000);
}

#[test]
fn who_gives_up_leaves_nothing() {
    let (folder, archive) = folder();
    let (blocks, _) = sample();
    let is_stopping = AtomicBool::new(true);
    let error = archive.write(PATH, &whole(&blocks), &|| is_stopping.load(Ordering::SeqCst));
    assert!(error.expect_err("given up").to_string().ends_with("the server stops"));
    assert_eq!(files(folder.path()), Vec::<String>::new());
    is_stopping.store(false, Ordering::SeqCst);
    archive.write(PATH, &whole(&blocks), GOES_ON).expect("written");
    let again = archive.write(PATH, &whole(&blocks), GOES_ON).expect_err("it is there");
    assert!(again.to_string().contains("exists"), "{again}");
}

#[test]
fn what_is_on_a_missing_disk_is_neither_written_nor_taken_for_removed() {
    let (folder, archive) = folder();
    let (blocks, _) = sample();
    archive.write(PATH, &whole(&blocks), GOES_ON).expect("written");
    let (root, away) = (folder.path().join("archive"), folder.path().join("away"));
    std::fs::rename(&root, &away).expect("renamed");
    for done in
        [archive.write("t/2023-11-14/a.parquet", &whole(&blocks), GOES_ON), archive.remove(PATH)]
    {
        let error = done.expect_err("it is not there").to_string();
        assert!(error.contains("there is no folder "), "{error}");
    }
    assert!(!root.exists(), "it is not made");
    std::fs::rename(&away, &root).expect("renamed");
    archive.remove(PATH).expect("removed");
    assert_eq!(files(folder.path()), Vec::<String>::new());
}

#[test]
fn a_file_goes_with_what_is_left_of_it() {
    let (folder, archive) = folder();
    let (blocks, _) = sample();
    archive.write(PATH, &whole(&blocks), GOES_ON).expect("written");
    let file = folder.path().join("archive").join(PATH);
    std::fs::write(format!("{}.part", file.display()), "half").expect("written");
    archive.remove(PATH).expect("removed");
    assert_eq!(files(folder.path()), Vec::<String>::new());
    archive.remove(PATH).expect("it is not there");
    archive.remove("other/2023-11-14/x.parquet").expect("nor is its folder");
}

/// An S3-compatible store with an empty bucket `old`.
struct Store {
    process: Child,
    address: String,
}

impl Store {
    fn start(python: &str) -> Self {
        let program = "\
import moto.server, sys, threading
server = moto.server.ThreadedMotoServer('127.0.0.1', 0)
server.start()
print('http://%s:%d' % server.get_host_and_port(), flush=True)
import boto3
keys = dict(aws_access_key_id='a', aws_secret_access_key='b', region_name='us-east-1')
boto3.client('s3', endpoint_url='http://%s:%d' % server.get_host_and_port(), **keys).create_bucket(Bucket='old')
print('ready', flush=True)
sys.stdin.read()";
        let mut process = Command::new(python)
            .args(["-c", program])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("starts");
        let mut lines = BufReader::new(process.stdout.take().expect("piped")).lines();
        // It prints other lines as well.
        let mut line = |begin: &str| {
            let mut read = lines.by_ref().map(|line| line.expect("read"));
            read.find(|line| line.starts_with(begin)).expect("it starts")
        };
        let address = line("http://");
        line("ready");
        Self { process, address }
    }

    /// The keys in the bucket, and the unfinished uploads.
    fn holds(&self, python: &str) -> Value {
        let program = "\
import boto3, json, sys
keys = dict(aws_access_key_id='a', aws_secret_access_key='b', region_name='us-east-1')
s3 = boto3.client('s3', endpoint_url=sys.argv[1], **keys)
keys = [one['Key'] for one in s3.list_objects_v2(Bucket='old').get('Contents', [])]
begun = [one['Key'] for one in s3.list_multipart_uploads(Bucket='old').get('Uploads', [])]
for key in keys:
    s3.download_file('old', key, sys.argv[2])
print(json.dumps({'keys': keys, 'begun': begun}))";
        let to = std::env::temp_dir().join(format!("hadal-archive-{}.parquet", self.process.id()));
        let output = Command::new(python).args(["-c", program, &self.address]).arg(&to).output();
        let output = output.expect("runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let mut held: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        if to.exists() {
            held["rows"] = batches(&to).iter().map(RecordBatch::num_rows).sum::<usize>().into();
            std::fs::remove_file(to).expect("removed");
        }
        held
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn a_bucket_has_what_was_archived() {
    let Some(python) = python() else { return println!("skipped: needs moto") };
    let store = Store::start(&python);
    let runtime = Runtime::new().expect("a runtime");
    let bucket = Bucket::of(
        Bucket::builder("old")
            .with_endpoint(&store.address)
            .with_allow_http(true)
            .with_access_key_id("a")
            .with_secret_access_key("b")
            .with_region("us-east-1"),
        "hadal/rows",
    );
    let place = Box::new(bucket.expect("set up"));
    let archive = Files { place, name: "s3://old/hadal/rows".to_owned() };
    let (blocks, _) = sample();
    archive.write(PATH, &whole(&blocks), GOES_ON).expect("written");
    let key = format!("hadal/rows/{PATH}");
    assert_eq!(store.holds(&python), json!({ "keys": [key], "begun": [], "rows": 3 }));
    archive.remove(PATH).expect("removed");
    archive.remove(PATH).expect("it is not there");
    let error = archive.write(PATH, &whole(&blocks), &|| true).expect_err("given up");
    assert!(error.to_string().ends_with("the server stops"), "{error}");
    assert_eq!(store.holds(&python)["keys"], json!([]));
    archive.check().expect("can be written");
    assert_eq!(store.holds(&python)["keys"], json!([]), "nothing is left of it");
    let builder = || {
        let builder = Bucket::builder("new").with_endpoint(&store.address).with_allow_http(true);
        let builder = builder.with_access_key_id("a").with_secret_access_key("b");
        builder.with_region("us-east-1")
    };
    let other = Bucket::of(builder(), "").expect("set up");
    let other = Files { place: Box::new(other), name: "s3://new".to_owned() };
    let error = other.check().expect_err("there is no such bucket").to_string();
    assert!(error.contains("s3://new/hadal-check-") && error.contains("NoSuchBucket"), "{error}");
    // A file of several parts.
    let large: Vec<u8> =
        (0u32..3_000_000).flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
    let mut upload = archive.place.begin("large", GOES_ON).expect("begun");
    for some in large.chunks(100_000) {
        upload.write_all(some).expect("written");
    }
    upload.finish().expect("finished");
    let stored = runtime.block_on(async {
        let key = object_store::path::Path::from("hadal/rows/large");
        bucket_store(&store).get(&key).await.expect("there").bytes().await.expect("read")
    });
    assert!(stored == large, "{} bytes of {}", stored.len(), large.len());
    drop(store);
    let error = archive.remove(PATH).expect_err("nobody is there").to_string();
    assert!(error.starts_with("remove s3://old/hadal/rows/requests/"), "{error}");
}

/// The bucket, accessed without the archive.
fn bucket_store(store: &Store) -> impl object_store::ObjectStore + use<> {
    let builder = Bucket::builder("old").with_endpoint(&store.address).with_allow_http(true);
    let builder = builder.with_access_key_id("a").with_secret_access_key("b");
    builder.with_region("us-east-1").build().expect("set up")
}
