//! A downgrade by one release: the previous program accepts the files of this program
//! (`before.rs`).

use rustix::process::Signal;
use serde_json::Value;
use tempfile::TempDir;
use twox_hash::XxHash3_64;

use crate::before::{
    FolderStats, HEAD_BYTES, HEADER_BYTES, LISTS, frames, read_folder, read_manifest,
};
use crate::harness::Server;

/// Enough for one of two leaves to have sixteen that are merged.
const BATCHES: u64 = 48;
/// All settings, in two tables, as no table can have all of them.
const SETTINGS: [(&str, &[&str]); 2] = [
    (
        "t",
        &[
            "age=30d",
            "bytes=1GiB",
            "cold_after=2d",
            "sample_after=10d",
            "sample_keep=1/20",
            "sample_key=user",
            "storage=mmap",
            "time_column=time",
            "units=took:ms",
        ],
    ),
    ("u", &["archive=on", "sample_after=20d", "sample_by=user,n", "sample_least=9"]),
];

/// The folders of a server's files.
struct ServerFolders {
    data: TempDir,
    archive: TempDir,
    tmpfs: TempDir,
}

impl ServerFolders {
    fn start(&self, storage: &str) -> Server {
        let [data, archive, tmpfs] =
            [&self.data, &self.archive, &self.tmpfs].map(|folder| folder.path().to_str().unwrap());
        let places = ["--data", data, "--archive", archive, "--tmpfs", tmpfs];
        Server::start_with(
            &[&places[..], &["--leaves", "2", "--no-journal", "--storage", storage]].concat(),
        )
    }

    /// Reads the remaining files as the previous program does.
    fn read(&self, stats: &mut FolderStats) {
        assert_eq!(read_folder(self.data.path(), self.tmpfs.path(), stats), Ok(()));
    }
}

/// `count` rows with `user`, `n`, and a string that no encoding makes much smaller.
fn rows(from: u64, count: u64) -> String {
    let text =
        |n: u64| (0..6).map(move |word| XxHash3_64::oneshot_with_seed(word, &n.to_le_bytes()));
    let row = |n: u64| {
        let text: String = text(n).map(|word| format!("{word:016x}")).collect();
        format!("{{\"user\": {}, \"n\": {n}, \"text\": \"{text}\"}}\n", n % 7)
    };
    (from..from + count).map(row).collect()
}

fn done(server: &Server, args: &[&str]) {
    let finished = server.run(args, b"");
    assert_eq!(finished.code, 0, "{args:?}: {}", finished.stderr);
}

fn block_count(server: &Server, table: &str) -> u64 {
    let answer = server.get(&format!("/v1/tables/{table}/blocks?limit=1"));
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    serde_json::from_str::<Value>(body).unwrap()["block_count"].as_u64().unwrap()
}

/// Causes every kind of record that a manifest can have.
fn live(server: &Server) {
    for batch in 0..BATCHES {
        let body = rows(batch * 500, 500);
        assert_eq!(server.post("/v1/log/t", &format!("b{batch}"), &body), Some(true));
    }
    for (table, rows) in [("u", rows(0, 3)), ("gone", rows(0, 3))] {
        assert_eq!(server.post(&format!("/v1/log/{table}"), "one", &rows), Some(true));
    }
    assert_eq!(server.post("/v1/log/u", "two", &rows(3, 3)), Some(true));
    done(server, &["revoke", "u", "two"]);
    done(server, &["drop", "gone", "--yes"]);
    for (table, settings) in SETTINGS {
        done(server, &[&["settings", table], settings].concat());
    }
    // More than the limit allows.
    for batch in 0..8 {
        let body = rows(batch * 8_000, 8_000);
        assert_eq!(server.post("/v1/log/large", &format!("l{batch}"), &body), Some(true));
    }
    done(server, &["settings", "large", "bytes=1MiB"]);
    let count = |table: &str| server.query(&format!("SELECT count(*) FROM {table}"));
    while count("large") == ["64000"] {}
    // Sixteen similar blocks are merged in the background.
    while block_count(server, "t") >= BATCHES {}
}

#[test]
fn the_program_before_accepts_what_this_one_leaves() {
    let [data, archive] = std::array::from_fn(|_| tempfile::tempdir().unwrap());
    let tmpfs = tempfile::tempdir_in("/dev/shm").unwrap();
    let (folders, mut stats) = (ServerFolders { data, archive, tmpfs }, FolderStats::default());
    let server = folders.start("memory");
    live(&server);
    assert!(server.process.stop(Signal::TERM).success());
    folders.read(&mut stats);
    assert_eq!(stats.marks, (2, 0));
    // On disk, and killed with small and large rows in the log.
    let server = folders.start("mmap");
    server.process.stop(Signal::TERM);
    folders.read(&mut stats);
    assert_eq!(stats.marks, (2, 2));
    let server = folders.start("memory");
    done(&server, &["drop", "large", "--yes"]);
    for (batch, count) in [("small", 3), ("large", 8_000)] {
        assert_eq!(server.post("/v1/log/v", batch, &rows(0, count)), Some(true));
    }
    server.process.stop(Signal::KILL);
    folders.read(&mut stats);
    for list in LISTS.split(' ') {
        assert!(stats.lists[list] > 0, "no record has {list}: {stats:?}");
    }
    let settings = SETTINGS.iter().flat_map(|(_, settings)| *settings);
    for name in settings.map(|setting| setting.split('=').next().unwrap()).chain(["format"]) {
        assert!(stats.settings.contains(name), "{name} is not set: {stats:?}");
    }
    assert!(stats.blocks > 0 && stats.codecs.len() == 2, "{stats:?}");
}

/// A frame of the manifest.
fn sealed(salt: u64, sequence: u64, body: &[u8]) -> Vec<u8> {
    let mut frame = b"\x89HDLMAN\x01".to_vec();
    frame.extend(sequence.to_le_bytes());
    frame.extend((body.len() as u64).to_le_bytes());
    frame.extend(XxHash3_64::oneshot_with_seed(salt, body).to_le_bytes());
    frame.extend(XxHash3_64::oneshot_with_seed(salt, &frame).to_le_bytes());
    assert_eq!(frame.len(), HEADER_BYTES);
    [&frame, body].concat()
}

#[test]
fn the_program_before_refuses_what_it_does_not_know() {
    let salt = 7_u64;
    let head = |version: u32| {
        let fields = [u64::from(version), salt, 1, 1].map(u64::to_le_bytes).concat();
        sealed(0, 0, &fields)
    };
    let settings = |json: &str| {
        let length = u32::try_from(json.len()).unwrap().to_le_bytes();
        let before = [0; 5 * 4];
        let settings_list = [b"\x01\0\0\0\x01t", &length[..], json.as_bytes()].concat();
        [&before[..], &settings_list, &[0; 3 * 4]].concat()
    };
    let read = |head: &[u8], records: &[Vec<u8>]| {
        let records = (1..).zip(records).map(|(number, body)| sealed(salt, number, body));
        let file = [head.to_vec(), records.collect::<Vec<_>>().concat()].concat();
        assert_eq!(frames(b"MAN", 0, &file[..HEAD_BYTES]).unwrap().len(), 1);
        read_manifest(&file, &mut FolderStats::default()).map(|manifest| manifest.salt)
    };
    let record = settings(r#"{"age":"7d","format":1}"#);
    assert_eq!(read(&head(4), &[vec![0; 9 * 4], record.clone()]), Ok(salt));
    let refused = |head: &[u8], record: Vec<u8>| read(head, &[record]).unwrap_err();
    assert_eq!(refused(&head(5), record.clone()), "another version of the folder");
    let tenth = [&record[..], &[0; 4]].concat();
    assert_eq!(refused(&head(4), tenth), "record 1: more than it knows");
    let shorter = record[..record.len() - 4].to_vec();
    assert_eq!(refused(&head(4), shorter), "record 1: it is too short");
    for (json, why) in [
        (r#"{"format":2}"#, "setting format is 2"),
        (r#"{"format":1,"weight":3}"#, "setting weight is 3"),
        (r#"{"age":"7w","format":1}"#, "setting age is \"7w\""),
        (r#"{"format":1,"storage":"tape"}"#, "setting storage is \"tape\""),
    ] {
        assert_eq!(refused(&head(4), settings(json)), format!("record 1: {why}"));
    }
}
