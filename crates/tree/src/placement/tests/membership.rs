//! Leaves join and leave while batches arrive.

use super::*;

/// A small generator of pseudo-random numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        usize::try_from(self.0 >> 33).expect("small") % most
    }
}

fn first_try(number: usize) -> Batch {
    let mut batch = batch(number, 1 + number % 7);
    batch.first_try = true;
    batch
}

#[tokio::test]
async fn every_batch_counts_once_whoever_joins_and_leaves() {
    for seed in 0..50 {
        let mut random = Random(seed);
        let sinks: Vec<Arc<FakeSink>> = (0..6).map(|_| Arc::default()).collect();
        let (placement, expected_rows) = placement(&sinks[..2]);
        let mut staying = vec![0, 1];
        let mut batches = 0;
        for _ in 0..300 {
            match random.below(10) {
                0 => {
                    let index = random.below(sinks.len());
                    if !staying.contains(&index) {
                        placement.join(placed(index, &sinks[index]));
                        staying.push(index);
                    }
                }
                1 if staying.len() > 1 => {
                    let index = staying.swap_remove(random.below(staying.len()));
                    placement.leave(&leaf(index));
                }
                2 => {
                    let closed = &sinks[random.below(sinks.len())].is_closed;
                    closed.fetch_xor(true, Ordering::SeqCst);
                }
                3..6 if batches > 0 => {
                    let retry = batch(random.below(batches), 1);
                    let receipt = placement.accept(retry).await.expect("taken");
                    assert!(receipt.duplicate, "seed {seed}");
                }
                _ => {
                    let receipt = placement.accept(first_try(batches)).await.expect("taken");
                    assert!(!receipt.duplicate, "seed {seed}");
                    batches += 1;
                }
            }
        }
        let rows: u64 = sinks.iter().map(|sink| sink.rows.load(Ordering::SeqCst)).sum();
        assert_eq!(rows, batches as u64, "seed {seed}");
        let expected = (0..6).map(|index| expected_rows.expected(&leaf(index), &name("t")));
        assert_eq!(expected.sum::<u64>(), rows, "seed {seed}");
    }
}

#[tokio::test]
async fn new_batches_go_to_leaves_that_stay_and_retries_to_those_that_leave() {
    let sinks: Vec<Arc<FakeSink>> = (0..3).map(|_| Arc::default()).collect();
    let (placement, _) = placement(&sinks);
    for number in 0..100 {
        placement.accept(first_try(number)).await.expect("taken");
    }
    placement.leave(&leaf(0));
    let rows = |index: usize| sinks[index].rows.load(Ordering::SeqCst);
    let before = rows(0);
    assert!(before > 0);
    for number in 0..200 {
        let receipt = placement.accept(batch(number, 1)).await.expect("taken");
        assert_eq!(receipt.duplicate, number < 100, "{number}");
    }
    assert_eq!(rows(0), before);
    assert_eq!(rows(0) + rows(1) + rows(2), 200);
    // The whole table is dropped, also on leaves that are leaving.
    let dropped = placement.apply(TableChange::Drop { table: name("t") }).await;
    assert_eq!(dropped, Ok(200));
    [1, 2].iter().for_each(|&index| placement.leave(&leaf(index)));
    let refused = placement.accept(first_try(1_000)).await;
    assert_eq!(refused, Err(SinkError::Unavailable("every leaf".to_owned())));
}

#[tokio::test]
async fn a_leaf_that_joins_gets_its_share_and_one_that_is_removed_is_forgotten() {
    let sinks: Vec<Arc<FakeSink>> = (0..3).map(|_| Arc::default()).collect();
    let (placement, expected_rows) = placement(&sinks[..2]);
    placement.join(PlacementLeaf { tables: vec![(name("u"), 9)], ..placed(2, &sinks[2]) });
    for number in 0..300 {
        placement.accept(first_try(number)).await.expect("taken");
    }
    let rows = |index: usize| sinks[index].rows.load(Ordering::SeqCst);
    assert!((0..3).all(|index| rows(index) > 80), "{} {} {}", rows(0), rows(1), rows(2));
    placement.remove(&leaf(2));
    let load = |table| placement.state.lock().tables.load(&name(table), &leaf(2));
    assert_eq!((load("t"), load("u")), ((0, 0), (0, 0)));
    assert_eq!(expected_rows.expected(&leaf(2), &name("t")), 0);
    assert_eq!(placement.state.lock().tables.count(), 1, "the other table was there only");
    let before = rows(2);
    placement.accept(first_try(1_000)).await.expect("taken");
    assert_eq!(rows(2), before);
}

#[tokio::test]
async fn a_first_try_asks_two_leaves_and_a_retry_all_that_are_needed() {
    let sinks: Vec<Arc<FakeSink>> = (0..8).map(|_| Arc::default()).collect();
    let (placement, _) = placement(&sinks);
    let look_ups = || sinks.iter().map(|sink| sink.look_ups.swap(0, Ordering::SeqCst)).sum::<u64>();
    placement.accept(first_try(1)).await.expect("taken");
    assert_eq!(look_ups(), 2);
    placement.accept(batch(1, 1)).await.expect("taken");
    assert_eq!(look_ups(), 2, "it is where its id names");
    placement.accept(batch(2, 1)).await.expect("taken");
    assert_eq!(look_ups(), 8, "it may be anywhere");
}
