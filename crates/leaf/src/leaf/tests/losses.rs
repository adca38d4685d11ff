//! Losses on disk between two processes: reported until the age limits have passed them, or until a
//! person acknowledges them.

use hadal_types::{AgeLimit, TableSettings};

use super::*;
use crate::maintenance::flush::flush;

const DAY: u32 = 24 * 3_600;

async fn keep_for_a_day(leaf: &Leaf, table: &str) {
    let settings =
        TableSettings { age: Some(AgeLimit::Seconds(DAY.into())), ..TableSettings::default() };
    leaf.apply(TableChange::Configure { table: name(table), settings }).await.expect("set");
}

/// A leaf whose folder had three rows in the log and ten in a row block, and has lost all of them.
async fn with_losses(folder: &Path) -> Bed {
    let bed = open(Some(folder));
    keep_for_a_day(&bed.leaf, "t").await;
    bed.leaf.accept(batch("block", 1, 0..10)).await.expect("taken");
    flush(&bed.leaf.context.all_tables(), &bed.leaf.context.store).expect("moved");
    bed.leaf.accept(batch("log", 1, 10..13)).await.expect("taken");
    drop(bed);
    std::fs::remove_file(folder.join("segments/00000001.segment")).expect("removed");
    std::fs::remove_file(folder.join("log/00000001.log")).expect("removed");
    open(Some(folder))
}

/// Expected rows, losses of unknown size, and the codes of warnings.
async fn reported_losses(leaf: &Leaf) -> (u64, u64, Vec<WarningCode>) {
    let (_, partial) = values(leaf).await;
    let Coverage { rows_expected, unknown_losses, .. } = partial.coverage;
    let status = leaf.status(&StatusScope::All).await;
    assert_eq!(status.leaves[0].losses.len() as u64, unknown_losses);
    let codes = partial.warnings.iter().map(|warning| warning.code);
    (rows_expected, unknown_losses, codes.collect())
}

fn both() -> (u64, u64, Vec<WarningCode>) {
    (10, 1, vec![WarningCode::RowsLost, WarningCode::RowsLostUnknown])
}

#[tokio::test]
async fn losses_go_once_the_age_limits_have_passed_the_moment_of_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let bed = with_losses(folder.path()).await;
    assert_eq!(reported_losses(&bed.leaf).await, both());
    bed.clock.pass(DAY - 1_000);
    bed.leaf.merge_all();
    assert_eq!(reported_losses(&bed.leaf).await, both(), "it may be of just before it was found");
    bed.clock.pass(2_000);
    bed.leaf.merge_all();
    assert_eq!(reported_losses(&bed.leaf).await, (0, 0, vec![]));
    drop(bed);
    assert_eq!(reported_losses(&open(Some(folder.path())).leaf).await, (0, 0, vec![]));
}

#[tokio::test]
async fn a_loss_of_nobody_knows_which_table_waits_for_the_limits_of_all() {
    let folder = tempfile::tempdir().expect("a folder");
    let bed = with_losses(folder.path()).await;
    let settings = TableSettings { age: Some(AgeLimit::Unlimited), ..TableSettings::default() };
    bed.leaf.apply(TableChange::Configure { table: name("u"), settings }).await.expect("set");
    bed.clock.pass(2 * DAY);
    bed.leaf.merge_all();
    assert_eq!(reported_losses(&bed.leaf).await, (0, 1, vec![WarningCode::RowsLostUnknown]));
}

#[tokio::test]
async fn losses_that_somebody_knows_of_are_gone_for_good() {
    let folder = tempfile::tempdir().expect("a folder");
    let bed = with_losses(folder.path()).await;
    bed.leaf.accept(batch("new", 1, 20..25)).await.expect("taken");
    assert_eq!(
        bed.leaf.apply(TableChange::AcknowledgeLosses { table: Some(name("u")) }).await,
        Ok(0)
    );
    assert_eq!(
        bed.leaf.apply(TableChange::AcknowledgeLosses { table: Some(name("t")) }).await,
        Ok(10)
    );
    assert_eq!(reported_losses(&bed.leaf).await, (5, 1, vec![WarningCode::RowsLostUnknown]));
    assert_eq!(bed.leaf.apply(TableChange::AcknowledgeLosses { table: None }).await, Ok(0));
    assert_eq!(reported_losses(&bed.leaf).await, (5, 0, vec![]));
    bed.leaf.stop().expect("stopped");
    drop(bed);
    let bed = open(Some(folder.path()));
    assert_eq!(reported_losses(&bed.leaf).await, (5, 0, vec![]));
    assert_eq!(values(&bed.leaf).await.0, [20, 21, 22, 23, 24]);
}

#[tokio::test]
async fn losses_outlive_stops_and_starts() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut bed = with_losses(folder.path()).await;
    for round in 0..3 {
        assert_eq!(reported_losses(&bed.leaf).await, both(), "round {round}");
        keep_for_a_day(&bed.leaf, &format!("other-{round}")).await;
        bed.leaf.stop().expect("stopped");
        drop(bed);
        bed = open(Some(folder.path()));
    }
}
