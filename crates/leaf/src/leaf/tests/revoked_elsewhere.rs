//! Batches that go to another leaf: promises, revoked batches, and copies that are dropped.

use super::*;
use crate::revocations::HeldBatch;

fn id(text: &str) -> BatchId {
    BatchId::new(text).expect("an id")
}

async fn accept(bed: &Bed, id: &str, values: std::ops::Range<i64>) -> Result<Receipt, SinkError> {
    bed.leaf.accept(batch(id, 1, values)).await
}

fn set_revoked(bed: &Bed, ids: &[&str]) {
    bed.leaf.set_revoked(ids.iter().map(|text| (name("t"), id(text))).collect());
}

#[tokio::test]
async fn a_promise_holds_unless_the_batch_moves_here() {
    let bed = open(None);
    let promised = bed.leaf.refuse(&name("t"), &id("a")).await;
    assert!(promised.is_refused && !promised.is_known && !promised.is_revoked);
    assert!(bed.leaf.look_up(&name("t"), &id("a")).await.is_refused);
    let refused = accept(&bed, "a", 0..3).await.expect_err("promised");
    assert!(matches!(&refused, SinkError::Unavailable(text) if text.contains("batch a")));
    let receipt = bed.leaf.accept_moved(batch("a", 1, 0..3)).await.expect("it moved");
    assert!(!receipt.duplicate);
    let lookup = bed.leaf.refuse(&name("t"), &id("a")).await;
    assert!(lookup.is_known && lookup.is_accepted && !lookup.is_refused, "too late");
    assert!(accept(&bed, "a", 0..3).await.expect("a retry").duplicate);
}

#[tokio::test]
async fn a_revoked_batch_is_refused_even_if_it_moves_here() {
    let bed = open(None);
    set_revoked(&bed, &["a", "b"]);
    assert!(bed.leaf.look_up(&name("t"), &id("a")).await.is_revoked);
    let refused = bed.leaf.accept_moved(batch("a", 1, 0..3)).await;
    assert!(matches!(refused, Err(SinkError::Unavailable(_))), "{refused:?}");
    assert_eq!(bed.leaf.held_batch(&name("t"), &id("a")), HeldBatch::No);
    // The records are read again, and do not name it any more.
    set_revoked(&bed, &["b"]);
    accept(&bed, "a", 0..3).await.expect("taken");
}

#[tokio::test]
async fn a_copy_is_dropped_without_other_parts_and_stays_known() {
    let folder = tempfile::tempdir().expect("a folder");
    let bed = open(Some(folder.path()));
    for (id, values) in [("a", 0..3), ("a#1", 10..13), ("b", 20..22)] {
        accept(&bed, id, values).await.expect("taken");
    }
    set_revoked(&bed, &["a"]);
    assert_eq!(bed.leaf.held_batch(&name("t"), &id("a")), HeldBatch::Yes);
    assert!(!bed.leaf.look_up(&name("t"), &id("a")).await.is_revoked, "it has the batch");
    assert_eq!(bed.leaf.drop_revoked(&name("t"), &id("a")).await, Ok(3));
    assert_eq!(values(&bed.leaf).await.0, [10, 11, 12, 20, 21]);
    assert_eq!(bed.leaf.held_batch(&name("t"), &id("a")), HeldBatch::No);
    assert!(accept(&bed, "a", 0..3).await.expect("a retry").duplicate);
    assert_eq!(bed.leaf.drop_revoked(&name("t"), &id("a")).await, Ok(0));
    assert_eq!(bed.leaf.drop_revoked(&name("t"), &id("unknown")).await, Ok(0));
    drop(bed);
    let bed = open(Some(folder.path()));
    assert!(bed.leaf.remembers_batches());
    assert_eq!(values(&bed.leaf).await.0, [10, 11, 12, 20, 21]);
    assert_eq!(bed.leaf.held_batch(&name("t"), &id("a")), HeldBatch::No);
}

#[tokio::test]
async fn nothing_is_settled_before_the_records_are_read() {
    let bed = open(None);
    assert!(!bed.leaf.remembers_batches());
    bed.leaf.note_revocations_read(Micros(0));
    accept(&bed, "a", 0..5_000).await.expect("taken");
    bed.clock.set(Micros(NOW.0 + 3_600 * Micros::SECOND));
    bed.leaf.merge_all();
    bed.leaf.note_revocations_read(NOW);
    bed.leaf.merge_all();
    assert_eq!(bed.leaf.drop_revoked(&name("t"), &id("a")).await, Ok(5_000));
    accept(&bed, "b", 0..5_000).await.expect("taken");
    bed.clock.set(Micros(NOW.0 + 7_200 * Micros::SECOND));
    bed.leaf.note_revocations_read(bed.clock.now());
    bed.leaf.merge_all();
    let settled = bed.leaf.drop_revoked(&name("t"), &id("b")).await;
    assert!(matches!(settled, Err(SinkError::Limit(_))), "{settled:?}");
}
