//! Batches that are revoked.

use super::*;

async fn revoke(bed: &Bed, id: &str) -> Result<u64, SinkError> {
    bed.leaf
        .apply(TableChange::Revoke { table: name("t"), batch: BatchId::new(id).expect("an id") })
        .await
}

async fn check(bed: &Bed, id: &str) -> Result<u64, SinkError> {
    let batch = BatchId::new(id).expect("an id");
    bed.leaf.apply(TableChange::CheckRevoke { table: name("t"), batch }).await
}

/// The values present, which must match the partial's coverage.
async fn visible_values(bed: &Bed) -> Vec<i64> {
    let (values, partial) = values(&bed.leaf).await;
    assert_eq!(partial.coverage.rows_scanned, values.len() as u64);
    assert_eq!(partial.coverage.leaves[0].rows_expected, values.len() as u64);
    values
}

async fn accept(bed: &Bed, id: &str, values: std::ops::Range<i64>) -> Receipt {
    bed.leaf.accept(batch(id, 1, values)).await.expect("taken")
}

fn all(ranges: &[std::ops::Range<i64>]) -> Vec<i64> {
    ranges.iter().cloned().flatten().collect()
}

/// The event between accepting and revoking the batches.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Between {
    Nothing,
    Merge,
    Stop,
    Kill,
}

#[tokio::test]
async fn a_batch_goes_whole_with_its_parts_and_nothing_else_does() {
    for between in [Between::Nothing, Between::Merge, Between::Stop, Between::Kill] {
        let folder = tempfile::tempdir().expect("a folder");
        let mut bed = open(Some(folder.path()));
        // Large ones are written to a segment when they are merged.
        for (id, values) in
            [("a", 0..3), ("b", 10..5_010), ("b#1", 6_000..6_100), ("b2", 7_000..7_005)]
        {
            accept(&bed, id, values).await;
        }
        match between {
            Between::Nothing => {}
            Between::Merge => bed.leaf.merge_all(),
            Between::Stop => {
                bed.leaf.stop().expect("stops");
                drop(bed);
                bed = open(Some(folder.path()));
            }
            Between::Kill => {
                drop(bed);
                bed = open(Some(folder.path()));
            }
        }
        assert_eq!(revoke(&bed, "unknown").await, Ok(0), "{between:?}");
        assert_eq!(revoke(&bed, "b").await, Ok(5_100), "{between:?}");
        let left = all(&[0..3, 7_000..7_005]);
        assert_eq!(visible_values(&bed).await, left, "{between:?}");
        assert_eq!(revoke(&bed, "b").await, Ok(0), "it was taken back before");
        assert!(accept(&bed, "b", 10..5_010).await.duplicate, "it stays known");
        bed.leaf.merge_all();
        assert_eq!(visible_values(&bed).await, left);
        // The same after a restart, and the other batches can still be revoked.
        drop(bed);
        let bed = open(Some(folder.path()));
        assert_eq!(visible_values(&bed).await, left, "{between:?}");
        assert!(accept(&bed, "b#1", 6_000..6_100).await.duplicate, "it stays known");
        assert_eq!(revoke(&bed, "b").await, Ok(0));
        assert_eq!(revoke(&bed, "a").await, Ok(3), "{between:?}");
        assert_eq!(revoke(&bed, "b2").await, Ok(5), "{between:?}");
        assert_eq!(visible_values(&bed).await, [0; 0]);
    }
}

#[tokio::test]
async fn what_is_not_at_hand_is_asked_for_again_as_long_as_it_may_go() {
    let folder = tempfile::tempdir().expect("a folder");
    let bed = open(Some(folder.path()));
    accept(&bed, "a", 0..5_000).await;
    bed.leaf.stop().expect("stopped");
    drop(bed);
    // As if its block was still to be restored.
    for file in std::fs::read_dir(folder.path().join("segments")).expect("listed") {
        std::fs::remove_file(file.expect("read").path()).expect("removed");
    }
    let bed = open(Some(folder.path()));
    assert!(matches!(check(&bed, "a").await, Err(SinkError::Busy(_))));
    assert!(matches!(revoke(&bed, "a").await, Err(SinkError::Busy(_))));
    bed.clock.set(Micros(NOW.0 + 91 * Micros::SECOND));
    assert!(matches!(check(&bed, "a").await, Err(SinkError::Limit(_))));
    assert!(matches!(revoke(&bed, "a").await, Err(SinkError::Limit(_))));
}

#[tokio::test]
async fn what_is_settled_stays() {
    let folder = tempfile::tempdir().expect("a folder");
    let bed = open(Some(folder.path()));
    accept(&bed, "a", 0..5_000).await;
    bed.leaf.merge_all();
    assert_eq!(check(&bed, "a").await, Ok(0));
    bed.clock.set(Micros(NOW.0 + 91 * Micros::SECOND));
    accept(&bed, "a#1", 6_000..6_003).await;
    // Some of it came too long ago, though no block is settled.
    assert!(matches!(check(&bed, "a").await, Err(SinkError::Limit(_))));
    bed.clock.set(Micros(NOW.0 + 3_600 * Micros::SECOND));
    bed.leaf.merge_all();
    let refused = revoke(&bed, "a").await.expect_err("settled");
    assert!(matches!(&refused, SinkError::Limit(text) if text.contains("batch a")), "{refused}");
    assert_eq!(visible_values(&bed).await.len(), 5_003);
    // A leaf without a folder can revoke, too.
    let bed = open(None);
    accept(&bed, "a", 0..3).await;
    accept(&bed, "b", 3..6).await;
    assert_eq!(revoke(&bed, "a").await, Ok(3));
    assert_eq!(visible_values(&bed).await, [3, 4, 5]);
}
