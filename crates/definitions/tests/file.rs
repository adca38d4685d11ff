//! The SQLite file: its owner, and the treatment of a file in an unexpected state.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use hadal_definitions::{Definitions, DefinitionsError, Location, VERSIONS};

use super::{days, runtime, table, versions};

fn open(file: &Path) -> Result<Definitions, DefinitionsError> {
    runtime().block_on(Definitions::open(&Location::File(file.to_path_buf())))
}

/// A folder with a store that holds the settings of a hundred tables.
fn filled() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("d.sqlite");
    runtime().block_on(async {
        let store = Definitions::open(&Location::File(file.clone())).await.expect("opens");
        for number in 0..100 {
            let table = table(&format!("table-{number}"));
            store.set_table_settings(&table, 0, &days(7)).await.expect("set");
        }
    });
    (folder, file)
}

/// Changes a store by a separate statement.
fn alter(file: &Path, statement: &'static str) {
    runtime().block_on(async {
        sqlx::any::install_default_drivers();
        let url = format!("sqlite://{}", file.display());
        let pool = sqlx::AnyPool::connect(&url).await.expect("a connection");
        sqlx::query(statement).execute(&pool).await.expect("done");
        pool.close().await;
    });
}

#[test]
fn a_file_and_its_folder_are_for_their_owner_only() {
    let folder = tempfile::tempdir().expect("a folder");
    let inner = folder.path().join("made on the way %25 ?x");
    let file = inner.join("d#1.sqlite");
    drop(open(&file).expect("opens"));
    let mode = |path: &Path| fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
    assert_eq!((mode(&inner), mode(&file)), (0o700, 0o600));
    let names: Vec<_> = fs::read_dir(&inner).expect("a folder").collect();
    assert_eq!(names.len(), 1, "nothing else is left: {names:?}");
}

#[test]
fn what_a_process_left_half_made_goes_with_the_next_one() {
    let (folder, file) = filled();
    // Killed in the middle, or on a full disk; the last file belongs to another store.
    for name in ["d.sqlite.new-7", "d.sqlite.new-7-journal", "other.sqlite.new-7"] {
        fs::write(folder.path().join(name), "").expect("written");
    }
    drop(open(&file).expect("opens"));
    let names = fs::read_dir(folder.path()).expect("a folder").flatten();
    let mut names: Vec<_> = names.map(|entry| entry.file_name()).collect();
    names.sort();
    assert_eq!(names, ["d.sqlite", "other.sqlite.new-7"]);
}

#[test]
fn a_damaged_file_is_an_error_that_says_so() {
    type Tamper = fn(&mut Vec<u8>);
    let tampers: [(&str, Tamper); 5] = [
        ("empty", Vec::clear),
        ("cut", |bytes| bytes.truncate(bytes.len() / 2)),
        ("other bytes", |bytes| bytes.fill(b'x')),
        ("wrong head", |bytes| bytes[0] ^= 1),
        ("a page of zeros", |bytes| bytes[4_096..8_192].fill(0)),
    ];
    for (what, tamper) in tampers {
        let (_folder, file) = filled();
        let mut bytes = fs::read(&file).expect("read");
        tamper(&mut bytes);
        fs::write(&file, &bytes).expect("written");
        let error = open(&file).expect_err(what);
        assert!(matches!(error, DefinitionsError::Damaged { .. }), "{what}: {error:?}");
        let text = error.to_string();
        assert!(text.contains("are damaged") && text.contains("d.sqlite"), "{what}: {text}");
        assert_eq!(fs::read(&file).expect("read"), bytes, "{what}: it is left as it is");
    }
}

#[test]
fn a_later_version_is_refused_by_its_number() {
    let (_folder, file) = filled();
    let supported = i64::try_from(VERSIONS.len()).expect("few");
    let set = |version: i64| format!("UPDATE hadal_definitions SET version = {version}").leak();
    alter(&file, set(supported + 1));
    let error = open(&file).expect_err("later");
    let is_newer = |error: &DefinitionsError| match error {
        DefinitionsError::Newer { version, supported: known, .. } => {
            (*version, *known) == (supported + 1, supported)
        }
        _ => false,
    };
    assert!(is_newer(&error), "{error:?}");
    assert!(error.to_string().contains("start the later program"), "{error}");
    alter(&file, set(supported));
    let store = open(&file).expect("opens");
    let all = runtime().block_on(store.all_table_settings()).expect("read");
    assert_eq!(all.len(), 100, "nothing was lost on the way");
}

#[test]
fn a_store_of_an_earlier_version_becomes_one_of_the_next() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("d.sqlite");
    let url = format!("sqlite://{}", file.display());
    runtime().block_on(versions::exercise(&Location::File(file), &url));
}

#[test]
fn settings_of_a_later_program_are_an_error_that_names_their_table() {
    let (_folder, file) = filled();
    alter(
        &file,
        "UPDATE hadal_table_settings SET settings = '{\"cold\":1}' \
                  WHERE table_name = 'table-7'",
    );
    let store = open(&file).expect("opens");
    let error = runtime().block_on(store.all_table_settings()).expect_err("not known");
    let text = error.to_string();
    assert!(text.contains("settings of table table-7") && text.contains("cold: "), "{text}");
}

#[test]
fn a_folder_that_is_none_is_an_error_that_names_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("file");
    fs::write(&file, "x").expect("written");
    let error = open(&file.join("d.sqlite")).expect_err("no folder");
    assert!(matches!(error, DefinitionsError::File { .. }), "{error:?}");
    let error = open(folder.path()).expect_err("no file").to_string();
    assert!(error.contains(&folder.path().display().to_string()), "{error}");
}
