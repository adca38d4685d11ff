//! Blocks that cannot be read any more, although they were verified before: their file became
//! shorter. (What a disk does that fails is the same to a reader.)

use super::*;
use crate::merge::merge_blocks;
use crate::plan_merge::MergeKind;

const ROWS: i64 = 100_000;

/// A leaf that reads from disk, with rows 0 to [`ROWS`] in several blocks, all of them verified.
async fn verified(folder: &Path) -> Leaf {
    let leaf = Leaf::open(config(Some(folder))).expect("opens");
    for index in 0..20 {
        let rows = index * ROWS / 20..(index + 1) * ROWS / 20;
        leaf.accept(batch(&format!("b{index}"), 1, rows)).await.expect("taken");
        leaf.merge_all();
    }
    let (values, _) = values(&leaf).await;
    assert_eq!(values.len(), usize::try_from(ROWS).expect("small"));
    leaf
}

/// Cuts the last of the segment's pages that are taken off: within a page the system tells nobody.
fn cut(folder: &Path) {
    let path = folder.join("segments/00000001.segment");
    let bytes = std::fs::read(&path).expect("read");
    let used = bytes.iter().rposition(|byte| *byte != 0).expect("blocks");
    let file = std::fs::File::options().write(true).open(&path).expect("opened");
    file.set_len(used as u64 / 4_096 * 4_096).expect("cut");
}

#[tokio::test]
async fn a_file_that_becomes_shorter_costs_the_rows_that_are_gone() {
    let folder = tempfile::tempdir().expect("a folder");
    let leaf = verified(folder.path()).await;
    cut(folder.path());
    let (first, partial) = values(&leaf).await;
    let Coverage { rows_scanned, rows_expected, .. } = partial.coverage;
    let unreadable =
        partial.warnings.iter().find(|warning| warning.code == WarningCode::BlocksUnreadable);
    assert!(unreadable.is_some(), "{:?}", partial.warnings);
    assert_eq!((first.len() as u64, rows_expected), (rows_scanned, ROWS.unsigned_abs()));
    assert!((1..ROWS.unsigned_abs()).contains(&rows_scanned), "{rows_scanned}");
    // No value is one that nobody sent, or a zero too many.
    assert!(first.is_sorted_by(|left, right| left < right));
    assert!(first.iter().all(|value| (0..ROWS).contains(value)));
    // The process lives, and goes on.
    leaf.merge_all();
    leaf.accept(batch("later", 1, ROWS..ROWS + 5_000)).await.expect("taken");
    leaf.merge_all();
    let (second, _) = values(&leaf).await;
    assert_eq!(second[..first.len()], first);
    assert!(second[first.len()..].iter().copied().eq(ROWS..ROWS + 5_000));
}

#[tokio::test]
async fn a_merge_of_what_cannot_be_read_comes_to_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let leaf = verified(folder.path()).await;
    cut(folder.path());
    let table = Arc::clone(&read(&leaf.inner.tables)[&name("t")]);
    let inputs = table.snapshot();
    let merged = merge_blocks(&table, &inputs, MergeKind::Settle, NOW);
    assert!(inputs.iter().any(|block| block.faults() > 0));
    assert!(merged.is_err());
    // Which of them are damaged is known at the next try, and the others can be merged.
    let _ = merge_blocks(&table, &inputs, MergeKind::Settle, NOW);
    let sound: Vec<_> = inputs.iter().filter(|block| !block.is_damaged()).cloned().collect();
    assert!((1..inputs.len()).contains(&sound.len()), "{} of {}", sound.len(), inputs.len());
    merge_blocks(&table, &sound, MergeKind::Settle, NOW).expect("merged");
}
