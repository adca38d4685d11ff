//! Several senders share the leaves, and leaves are away. Time is simulated.

use std::collections::BTreeMap;
use std::time::Duration;

use hadal_peer::MemberState;
use hadal_types::LeafState;
use hadal_types::limits::{ACCEPT_SECONDS, LEAF_AWAY_SECONDS, LOOK_UP_MILLIS, PLACEMENT_SECONDS};
use tokio::time::{Instant, sleep};

use super::*;

const ALIVE: MemberState = MemberState::Announced(LeafState::Alive);

/// The records, by leaf and batch: where it goes instead, and whether it is known to be there.
#[derive(Default)]
struct Records(Mutex<BTreeMap<(LeafName, BatchId), (LeafName, bool)>>);

impl Revocations for Records {
    fn record<'a>(&'a self, revocation: &'a Revocation) -> BoxFuture<'a, Result<Record, String>> {
        let Revocation { leaf, batch, instead, .. } = revocation.clone();
        let mut records = self.0.lock();
        let (instead, _) = records.entry((leaf, batch)).or_insert((instead, false)).clone();
        Box::pin(async move { Ok(Record { instead, at: Micros(i64::MAX) }) })
    }

    fn note_held<'a>(
        &'a self,
        _: &'a TableName,
        batch: &'a BatchId,
        leaf: &'a LeafName,
    ) -> BoxFuture<'a, Result<(), String>> {
        for ((_, other), (instead, is_held)) in self.0.lock().iter_mut() {
            *is_held |= other == batch && instead == leaf;
        }
        Box::pin(async { Ok(()) })
    }
}

/// Two senders over the same leaves.
struct Cluster {
    sinks: Vec<Arc<FakeSink>>,
    records: Arc<Records>,
    senders: [Placement; 2],
}

impl Cluster {
    fn new(leaves: usize) -> Self {
        let sinks: Vec<Arc<FakeSink>> = (0..leaves).map(|_| Arc::default()).collect();
        let records = Arc::<Records>::default();
        let sender = |_| {
            let records = Arc::<Records>::clone(&records);
            Placement::in_cluster(
                records,
                Arc::new(FixedClock::default()),
                &Arc::default(),
                &Arc::default(),
            )
        };
        let senders = [0, 1].map(sender);
        for sender in &senders {
            for (index, sink) in sinks.iter().enumerate() {
                sender.join(PlacementLeaf { joined: Some(Micros(0)), ..placed(index, sink) });
            }
        }
        let cluster = Self { sinks, records, senders };
        (0..leaves).for_each(|index| cluster.announce(index, ALIVE));
        cluster
    }

    fn announce(&self, index: usize, state: MemberState) {
        for sender in &self.senders {
            sender.set_state(&leaf(index), state, 0, 1 << 30);
        }
    }

    /// Freezes a leaf; its silence is noticed two seconds later.
    async fn freeze(&self, index: usize) {
        self.sinks[index].hangs.store(true, Ordering::SeqCst);
        sleep(Duration::from_secs(2)).await;
        self.announce(index, MemberState::Silent);
    }

    fn rows(&self) -> u64 {
        self.sinks.iter().map(|sink| sink.rows.load(Ordering::SeqCst)).sum()
    }

    fn look_ups(&self) -> u64 {
        self.sinks.iter().map(|sink| sink.look_ups.swap(0, Ordering::SeqCst)).sum()
    }

    /// The leaf that has most of the first batches: the number of the leaf of batch 0.
    async fn leaf_of_first(&self) -> usize {
        self.senders[0].accept(batch(0, 1)).await.expect("taken");
        self.sinks.iter().position(|sink| !sink.taken.lock().is_empty()).expect("somewhere")
    }
}

#[tokio::test(start_paused = true)]
async fn two_senders_of_one_batch_at_the_same_time_add_it_once() {
    let cluster = Cluster::new(5);
    for number in 0..200 {
        let [one, other] = &cluster.senders;
        let (one, other) =
            tokio::join!(one.accept(batch(number, 1)), other.accept(batch(number, 1)));
        let duplicates = [one, other].map(|receipt| receipt.expect("taken").duplicate);
        assert!(duplicates.contains(&true), "batch {number}");
    }
    assert_eq!(cluster.rows(), 200);
}

#[tokio::test(start_paused = true)]
async fn announced_leaves_are_not_asked_before_a_first_try() {
    let cluster = Cluster::new(8);
    let mut first = batch(1, 1);
    first.first_try = true;
    cluster.senders[0].accept(first).await.expect("taken");
    assert_eq!(cluster.look_ups(), 0);
    cluster.senders[0].accept(batch(2, 1)).await.expect("taken");
    assert_eq!(cluster.look_ups(), 1, "the other candidate");
    for (index, sink) in cluster.sinks.iter().enumerate() {
        cluster.senders[0].join(placed(index, sink));
    }
    cluster.announce(0, ALIVE);
    cluster.senders[0].accept(batch(3, 1)).await.expect("taken");
    assert_eq!(cluster.look_ups(), 8, "leaves that did not say when they joined");
}

#[tokio::test(start_paused = true)]
async fn a_frozen_leaf_gets_no_first_try_and_delays_its_batches_for_a_set_time() {
    let cluster = Cluster::new(5);
    let frozen = cluster.leaf_of_first().await;
    cluster.freeze(frozen).await;
    let since = Instant::now();
    let before = cluster.rows();
    for number in 100..200 {
        let mut batch = batch(number, 1);
        batch.first_try = true;
        cluster.senders[0].accept(batch).await.expect("taken");
    }
    assert_eq!(since.elapsed(), Duration::ZERO, "nobody waits for it");
    // The retry of the batch that it has: it waits, and is revoked there before it goes elsewhere.
    let retried = cluster.senders[1].accept(batch(0, 1)).await.expect("taken");
    assert!(!retried.duplicate);
    assert_eq!(since.elapsed(), Duration::from_secs(LEAF_AWAY_SECONDS));
    let record = cluster.records.0.lock().get(&(leaf(frozen), batch(0, 1).id)).cloned();
    assert!(record.is_some_and(|(_, is_held)| is_held));
    assert_eq!(cluster.rows(), before + 101);
    cluster.announce((frozen + 1) % 5, ALIVE);
    let again = cluster.senders[0].accept(batch(0, 1)).await.expect("taken");
    assert!(again.duplicate, "where the record says");
}

#[tokio::test(start_paused = true)]
async fn a_batch_that_a_leaf_took_without_an_answer_stays_there_until_it_is_back() {
    let cluster = Cluster::new(5);
    cluster.sinks.iter().for_each(|sink| sink.hangs.store(true, Ordering::SeqCst));
    let start = Instant::now();
    let mut first = batch(1, 1);
    first.first_try = true;
    let placing = cluster.senders[0].accept(first);
    let thaw = async {
        sleep(Duration::from_secs(ACCEPT_SECONDS - 1)).await;
        cluster.sinks.iter().for_each(|sink| sink.hangs.store(false, Ordering::SeqCst));
    };
    let (receipt, ()) = tokio::join!(placing, thaw);
    assert!(receipt.expect("taken").duplicate, "the first request had arrived");
    assert!(start.elapsed() > Duration::from_secs(ACCEPT_SECONDS), "it had its time");
    assert_eq!(cluster.rows(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_leaf_that_is_not_silent_and_does_not_answer_is_asked_until_patience_ends() {
    let cluster = Cluster::new(3);
    cluster.sinks.iter().for_each(|sink| sink.hangs.store(true, Ordering::SeqCst));
    let start = Instant::now();
    let refused = cluster.senders[0].accept(batch(1, 1)).await.expect_err("nobody answers");
    assert!(refused.to_string().contains("which may have the batch"), "{refused}");
    let late = Duration::from_millis(LOOK_UP_MILLIS);
    let patience = Duration::from_secs(PLACEMENT_SECONDS);
    assert!((patience..patience + late).contains(&start.elapsed()), "{:?}", start.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_silent_leaf_misses_settings_and_prevents_a_drop() {
    let cluster = Cluster::new(3);
    cluster.freeze(1).await;
    let settings = TableSettings { bytes: Some(1 << 30), ..TableSettings::default() };
    let configure = TableChange::Configure { table: name("t"), settings };
    let applied = cluster.senders[0].apply_to_all(&configure).await.expect("set");
    assert_eq!(applied, Applied { rows: 0, unreached: vec![leaf(1)] });
    assert!(cluster.sinks[2].settings.lock().is_some());
    let revoke = TableChange::Revoke { table: name("t"), batch: batch(1, 1).id };
    for change in [TableChange::Drop { table: name("t") }, revoke] {
        let refused = cluster.senders[0].apply(change).await.expect_err("one is away");
        assert!(refused.to_string().contains("leaf leaf-1 is away"), "{refused}");
    }
    cluster.announce(1, ALIVE);
    let dropped = cluster.senders[0].apply(TableChange::Drop { table: name("t") }).await;
    assert_eq!(dropped, Ok(0));
}

#[tokio::test(start_paused = true)]
async fn a_batch_goes_to_the_next_process_of_its_leaf_only_after_a_look_up() {
    let cluster = Cluster::new(3);
    cluster.sinks.iter().for_each(|sink| sink.hangs.store(true, Ordering::SeqCst));
    let mut first = batch(1, 1);
    first.first_try = true;
    let placing = cluster.senders[0].accept(first);
    let restart = async {
        sleep(Duration::from_secs(1)).await;
        let at = cluster.sinks.iter().position(|sink| !sink.taken.lock().is_empty());
        let at = at.expect("sent");
        // It died before it wrote the batch.
        let next = Arc::<FakeSink>::default();
        cluster.senders[0].join(placed(at, &next));
        next
    };
    let (receipt, next) = tokio::join!(placing, restart);
    assert!(!receipt.expect("taken").duplicate);
    assert_eq!(next.look_ups.load(Ordering::SeqCst), 1);
}
