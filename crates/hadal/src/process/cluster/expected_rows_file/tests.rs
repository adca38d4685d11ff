use hadal_peer::TableReport;
use hadal_types::limits::{EXPECTED_ROWS_WRITE_SECONDS, EXPECTED_SHARES_MAX};
use hadal_types::{LeafName, TableName};

use super::*;

fn leaf(index: usize) -> LeafName {
    LeafName(format!("m/leaf-{index}").into())
}

fn table() -> TableName {
    TableName::new("t").expect("a name")
}

/// Expected rows of this many leaves.
fn expected_rows(leaves: usize) -> Arc<ExpectedRows> {
    let expected_rows = ExpectedRows::default();
    for index in 0..leaves {
        let report = |started, recovered_rows| TableReport {
            leaf: leaf(index),
            table: table(),
            started,
            version: 1,
            recovered_rows,
            accepted_rows: 0,
            status: None,
        };
        expected_rows.report(&report(1, index as u64));
    }
    Arc::new(expected_rows)
}

fn shares(of: &ExpectedRows) -> usize {
    of.everything().map(|delta| delta.shares.len()).sum()
}

/// The bytes of a file with a leaf and a forgotten one.
fn file_bytes(folder: &Path) -> Vec<u8> {
    let expected_rows = expected_rows(1);
    expected_rows.forget_leaf(&leaf(9));
    let file = ExpectedRowsFile::open(folder, &expected_rows).expect("no file");
    file.write().expect("written");
    fs::read(folder.join(NAME)).expect("a file")
}

fn opened(folder: &Path) -> Arc<ExpectedRows> {
    let expected_rows = Arc::new(ExpectedRows::default());
    ExpectedRowsFile::open(folder, &expected_rows).expect("opened");
    expected_rows
}

#[test]
fn what_was_written_is_known_after_a_restart() {
    let folder = tempfile::tempdir().expect("a folder");
    let first = expected_rows(EXPECTED_SHARES_MAX + 1);
    first.forget_leaf(&leaf(0));
    let file = ExpectedRowsFile::open(folder.path(), &first).expect("no file");
    file.write().expect("written");
    let second = opened(folder.path());
    assert_eq!(shares(&second), EXPECTED_SHARES_MAX);
    let shares_of = |of: &ExpectedRows| -> Vec<_> {
        let mut all: Vec<_> = of.everything().flat_map(|delta| delta.shares).collect();
        all.sort_unstable_by(|left, right| left.leaf.cmp(&right.leaf));
        all
    };
    assert_eq!(shares_of(&second), shares_of(&first));
    let forgotten = |of: &ExpectedRows| of.changes_since(0).forgotten_leaves;
    assert_eq!((forgotten(&second).len(), forgotten(&second)), (1, forgotten(&first)));
    // An unfinished write does not matter, and an unchanged state is not written again.
    fs::write(folder.path().join("expected-rows.new"), "half").expect("written");
    fs::remove_file(folder.path().join(NAME)).expect("removed");
    file.write().expect("nothing to do");
    assert_eq!(shares(&opened(folder.path())), 0);
}

#[test]
fn altered_and_cut_bytes_are_noticed() {
    let folder = tempfile::tempdir().expect("a folder");
    let sound = file_bytes(folder.path());
    let is_sound = |bytes: &[u8]| read(bytes, |_| ()).is_ok();
    assert!(is_sound(&sound));
    for bit in 0..sound.len() * 8 {
        let mut altered = sound.clone();
        altered[bit / 8] ^= 1 << (bit % 8);
        assert!(!is_sound(&altered), "bit {bit}");
    }
    for cut in 0..sound.len() {
        assert!(!is_sound(&sound[..cut]), "{cut} bytes");
    }
    assert!(!is_sound(&[&sound[..], b"x"].concat()));
}

#[test]
fn a_damaged_file_is_put_aside() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, aside) = (folder.path().join(NAME), folder.path().join("expected-rows.damaged"));
    let sound = file_bytes(folder.path());
    assert_eq!(shares(&opened(folder.path())), 1);
    for damaged in [&sound[..20], b"", b"no file of expected rows"] {
        fs::write(&path, damaged).expect("written");
        assert_eq!(shares(&opened(folder.path())), 0);
        assert_eq!(fs::read(&aside).expect("put aside"), damaged);
        assert!(!path.exists());
    }
}

#[test]
fn the_sound_part_of_a_damaged_file_counts() {
    let folder = tempfile::tempdir().expect("a folder");
    let many = expected_rows(EXPECTED_SHARES_MAX + 1);
    let file = ExpectedRowsFile::open(folder.path(), &many).expect("no file");
    file.write().expect("written");
    let path = folder.path().join(NAME);
    let mut bytes = fs::read(&path).expect("a file");
    *bytes.last_mut().expect("not empty") ^= 1;
    fs::write(&path, &bytes).expect("written");
    assert_eq!(shares(&opened(folder.path())), EXPECTED_SHARES_MAX);
    let aside = folder.path().join("expected-rows.damaged");
    fs::remove_file(&aside).expect("put aside");
    fs::create_dir(&path).expect("made");
    assert_eq!(shares(&opened(folder.path())), 0);
    assert!(aside.is_dir() && !path.exists());
}

#[test]
fn a_slow_write_is_followed_by_a_longer_pause() {
    let seconds = Duration::from_secs;
    assert_eq!(pause_after(seconds(0)), seconds(EXPECTED_ROWS_WRITE_SECONDS));
    assert_eq!(pause_after(seconds(3)), seconds(60));
}
