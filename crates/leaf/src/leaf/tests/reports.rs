//! The reports that a leaf pushes.

use hadal_peer::ReportSource;
use hadal_types::limits::REPORTS_AT_ONCE_MAX;

use super::*;

/// The tables of the reports after `mark` with their rows, and the next mark.
fn rows_since(leaf: &Leaf, mark: u64) -> (u64, Vec<(String, Option<u64>)>) {
    let (mark, reports) = leaf.reports_since(mark);
    let rows = reports.iter().map(|report| {
        let rows = report.status.as_ref().map(|status| status.schema.rows);
        (report.table.to_string(), rows)
    });
    (mark, rows.collect())
}

#[tokio::test]
async fn every_table_is_reported_first_and_then_those_that_change() {
    let folder = tempfile::tempdir().expect("a folder");
    let bed = open(Some(folder.path()));
    bed.leaf.accept(batch("a", 1, 0..3)).await.expect("taken");
    bed.leaf.accept(in_table("u", batch("b", 1, 0..2))).await.expect("taken");
    drop(bed);
    let Bed { leaf, .. } = open(Some(folder.path()));
    let (mut mark, mut all) = rows_since(&leaf, 0);
    all.sort_unstable();
    assert_eq!(all, [("t".to_owned(), Some(3)), ("u".to_owned(), Some(2))]);
    // Opening row blocks of an earlier process counts as a change.
    while let (next, reports) = rows_since(&leaf, mark)
        && !reports.is_empty()
    {
        mark = next;
    }
    let (accepted, ()) =
        tokio::join!(leaf.accept(in_table("v", batch("c", 1, 0..4))), leaf.changed(mark));
    accepted.expect("taken");
    let (mark, changed) = rows_since(&leaf, mark);
    assert_eq!(changed, [("v".to_owned(), Some(4))]);
    leaf.apply(TableChange::Drop { table: name("t") }).await.expect("dropped");
    leaf.changed(mark).await;
    let (_, changed) = rows_since(&leaf, mark);
    assert_eq!(changed, [("t".to_owned(), None)]);
}

#[tokio::test]
async fn reports_come_in_groups() {
    let Bed { leaf, .. } = open(None);
    for index in 0..=REPORTS_AT_ONCE_MAX {
        leaf.context.create_table(&name(&format!("t{index}"))).expect("few");
    }
    let (mark, first) = rows_since(&leaf, 0);
    assert_eq!((first.len(), rows_since(&leaf, mark).1.len()), (REPORTS_AT_ONCE_MAX, 1));
}
