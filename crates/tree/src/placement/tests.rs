use std::collections::HashSet;
use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::Poll;

use tokio::sync::oneshot;

use hadal_peer::TableChange;
use hadal_types::TableSettings;

use super::*;

/// Takes every batch, and remembers the ids; can be set to fail.
#[derive(Default)]
struct FakeSink {
    taken: Mutex<HashSet<BatchId>>,
    rows: AtomicU64,
    fails: bool,
    /// Whether it refuses new batches.
    is_closed: AtomicBool,
    /// The next lookup of a batch waits for this, and then returns the state from before.
    slow_look: Option<Arc<Mutex<Option<oneshot::Receiver<()>>>>>,
    settings: Mutex<Option<TableSettings>>,
    /// The number of lookups.
    look_ups: AtomicU64,
    /// Whether it answers nothing.
    hangs: AtomicBool,
    /// Batches that it promised to refuse.
    refused: Mutex<HashSet<BatchId>>,
}

impl Sink for FakeSink {
    fn accept(&self, batch: Batch) -> BoxFuture<'_, Result<Receipt, SinkError>> {
        Box::pin(async move {
            if self.fails {
                return Err(SinkError::Busy("it".to_owned()));
            }
            if self.refused.lock().contains(&batch.id) {
                return Err(SinkError::Unavailable("it".to_owned()));
            }
            let is_new = self.taken.lock().insert(batch.id);
            if is_new {
                self.rows.fetch_add(batch.rows as u64, Ordering::SeqCst);
            }
            if self.hangs.load(Ordering::SeqCst) {
                std::future::pending::<()>().await;
            }
            Ok(Receipt {
                rows: batch.rows,
                duplicate: !is_new,
                durable: true,
                overflowing: false,
                report: None,
            })
        })
    }

    fn look_up<'a>(&'a self, _table: &'a TableName, id: &'a BatchId) -> BoxFuture<'a, BatchLookup> {
        Box::pin(async move {
            self.look_ups.fetch_add(1, Ordering::SeqCst);
            if self.hangs.load(Ordering::SeqCst) {
                std::future::pending::<()>().await;
            }
            let is_known = self.taken.lock().contains(id);
            let lookup = BatchLookup {
                is_answered: true,
                is_known,
                is_accepted: is_known,
                takes_batches: !self.is_closed.load(Ordering::SeqCst),
                free_bytes: u64::MAX,
                ..BatchLookup::default()
            };
            let wait = self.slow_look.as_ref().and_then(|wait| wait.lock().take());
            if let Some(wait) = wait {
                wait.await.expect("told to go on");
            }
            lookup
        })
    }

    fn accept_moved(&self, batch: Batch) -> BoxFuture<'_, Result<Receipt, SinkError>> {
        self.refused.lock().remove(&batch.id);
        self.accept(batch)
    }

    fn refuse<'a>(&'a self, table: &'a TableName, id: &'a BatchId) -> BoxFuture<'a, BatchLookup> {
        Box::pin(async move {
            let lookup = self.look_up(table, id).await;
            if lookup.is_known {
                return lookup;
            }
            self.refused.lock().insert(id.clone());
            BatchLookup { is_refused: true, ..lookup }
        })
    }
}

impl Admin for FakeSink {
    fn apply(&self, change: TableChange) -> BoxFuture<'_, Result<u64, SinkError>> {
        Box::pin(async move {
            match change {
                TableChange::Drop { .. } | TableChange::Revoke { .. } => {
                    Ok(self.rows.swap(0, Ordering::SeqCst))
                }
                TableChange::CheckRevoke { .. } if self.fails => {
                    Err(SinkError::Limit("late".to_owned()))
                }
                TableChange::CheckRevoke { .. } => Ok(0),
                TableChange::AcknowledgeLosses { .. } => Ok(1),
                TableChange::Configure { .. } if self.fails => {
                    Err(SinkError::Busy("it".to_owned()))
                }
                TableChange::Configure { settings, .. } => {
                    *self.settings.lock() = Some(settings);
                    Ok(0)
                }
            }
        })
    }
}

fn placement(sinks: &[Arc<FakeSink>]) -> (Placement, Arc<ExpectedRows>) {
    placement_of(sinks, TABLES_MAX)
}

fn placement_of(sinks: &[Arc<FakeSink>], tables_max: usize) -> (Placement, Arc<ExpectedRows>) {
    let expected_rows = Arc::new(ExpectedRows::default());
    let leaves = sinks.iter().enumerate().map(|(index, sink)| placed(index, sink)).collect();
    (Placement::with_tables_max(leaves, &expected_rows, &Arc::default(), tables_max), expected_rows)
}

fn placed(index: usize, sink: &Arc<FakeSink>) -> PlacementLeaf {
    PlacementLeaf {
        name: leaf(index),
        sink: Arc::<FakeSink>::clone(sink),
        admin: Arc::<FakeSink>::clone(sink),
        tables: Vec::new(),
        joined: None,
    }
}

fn leaf(index: usize) -> LeafName {
    LeafName(format!("leaf-{index}").into())
}

fn name(text: &str) -> TableName {
    TableName::new(text).expect("a name")
}

fn batch(number: usize, bytes: usize) -> Batch {
    let id = BatchId::new(&format!("batch-{number}")).expect("an id");
    Batch::encoded(name("t"), id, 7, 1, vec![0; bytes])
}

/// Returns the batch moved to another table.
fn in_table(table: &str, mut batch: Batch) -> Batch {
    batch.table = name(table);
    batch
}

#[tokio::test]
async fn batches_of_any_size_spread_evenly() {
    let sinks: Vec<Arc<FakeSink>> = (0..10).map(|_| Arc::default()).collect();
    let (placement, _) = placement(&sinks);
    for number in 0..5_000 {
        // Sizes differ by a factor of a hundred.
        let bytes = 100 * (1 + number * number % 100);
        placement.accept(batch(number, bytes)).await.expect("taken");
    }
    let load = |leaf| placement.state.lock().tables.load(&name("t"), &self::leaf(leaf)).0;
    let bytes: Vec<u64> = (0..10).map(load).collect();
    let mean = bytes.iter().sum::<u64>() as f64 / bytes.len() as f64;
    let most = *bytes.iter().max().expect("leaves") as f64;
    assert!(most / mean <= 1.05, "{bytes:?}");
}

#[tokio::test]
async fn leaves_that_take_nothing_are_passed_over_unless_they_have_the_batch() {
    let sinks: Vec<Arc<FakeSink>> = (0..3).map(|_| Arc::default()).collect();
    let (placement, _) = placement(&sinks);
    let place = async |numbers: std::ops::Range<usize>| {
        for number in numbers {
            placement.accept(batch(number, 1)).await.expect("taken");
        }
        sinks.iter().map(|sink| sink.rows.load(Ordering::SeqCst)).collect::<Vec<_>>()
    };
    let before = place(0..300).await;
    let mut end = 300;
    for closed in &sinks[..2] {
        closed.is_closed.store(true, Ordering::SeqCst);
        // Retries, including those of batches on closed leaves, then new batches.
        assert_eq!(place(0..300).await.iter().sum::<u64>(), end as u64);
        let now = place(end..end + 300).await;
        assert_eq!(now[0], before[0], "the first takes no more: {now:?}");
        end += 300;
    }
    sinks[2].is_closed.store(true, Ordering::SeqCst);
    // Then one of them is asked, which returns the reason.
    placement.accept(batch(9_999, 1)).await.expect("told");
}

#[tokio::test]
async fn a_retry_goes_where_the_batch_is() {
    let sinks: Vec<Arc<FakeSink>> = (0..4).map(|_| Arc::default()).collect();
    let (placement, expected_rows) = placement(&sinks);
    for _ in 0..2 {
        for number in 0..500 {
            placement.accept(batch(number, 1 + number)).await.expect("taken");
        }
    }
    let rows: u64 = sinks.iter().map(|sink| sink.rows.load(Ordering::SeqCst)).sum();
    assert_eq!(rows, 500);
    let table = name("t");
    let expected = |leaf: Arc<Member>| expected_rows.expected(&leaf.name, &table);
    assert_eq!(placement.members.all().into_iter().map(expected).sum::<u64>(), 500);
    assert_eq!(placement.apply(TableChange::Drop { table }).await, Ok(500));
}

#[tokio::test]
async fn a_retry_goes_where_the_batch_is_also_when_leaves_were_added() {
    let sinks: Vec<Arc<FakeSink>> = (0..8).map(|_| Arc::default()).collect();
    for leaves in [1, 2, 3, 8] {
        let (placement, _) = placement(&sinks[..leaves]);
        for number in 0..200 {
            let is_new = !placement.accept(batch(number, 1)).await.expect("taken").duplicate;
            assert_eq!(is_new, leaves == 1, "batch {number} with {leaves} leaves");
            assert!(placement.look_up(&name("t"), &batch(number, 1).id).await.is_known);
        }
    }
    let rows: u64 = sinks.iter().map(|sink| sink.rows.load(Ordering::SeqCst)).sum();
    assert_eq!(rows, 200);
}

#[tokio::test]
async fn of_two_tries_at_the_same_time_one_adds_nothing() {
    let (go_on, wait) = oneshot::channel();
    let slow_look = Some(Arc::new(Mutex::new(Some(wait))));
    let sink = || FakeSink { slow_look: slow_look.clone(), ..FakeSink::default() };
    let sinks = [Arc::new(sink()), Arc::new(sink())];
    let (placement, expected_rows) = placement(&sinks);
    // The slow request has looked up the leaf that will take the batch, and has not chosen one yet.
    let mut slow = placement.accept(batch(1, 1));
    poll_fn(|context| {
        assert!(slow.as_mut().poll(context).is_pending());
        Poll::Ready(())
    })
    .await;
    assert!(!placement.accept(batch(1, 1)).await.expect("taken").duplicate);
    go_on.send(()).expect("somebody waits");
    assert!(slow.await.expect("taken").duplicate);
    assert!(placement.state.lock().under_way.is_empty());
    let expected = |leaf: Arc<Member>| expected_rows.expected(&leaf.name, &name("t"));
    assert_eq!(placement.members.all().into_iter().map(expected).sum::<u64>(), 1);
}

#[tokio::test]
async fn a_refused_batch_counts_nowhere() {
    let sinks = [Arc::new(FakeSink { fails: true, ..FakeSink::default() })];
    let (placement, expected_rows) = placement(&sinks);
    assert!(placement.accept(batch(1, 1)).await.is_err());
    assert!(placement.state.lock().under_way.is_empty());
    assert_eq!(placement.state.lock().tables.count(), 0);
    let table = name("t");
    assert_eq!(expected_rows.expected(&leaf(0), &table), 0);
}

#[tokio::test]
async fn every_table_is_spread_evenly() {
    let sinks: Vec<Arc<FakeSink>> = (0..2).map(|_| Arc::default()).collect();
    let (placement, _) = placement(&sinks);
    // Of every three batches two are of table `a`: by the bytes of all tables alone, `b` would
    // always go to the other leaf.
    let batch = |number| match number % 3 {
        0 => in_table("b", batch(number, 100)),
        _ => in_table("a", batch(number, 10_000)),
    };
    for number in 0..600 {
        placement.accept(batch(number)).await.expect("taken");
        for (table, bytes) in [("a", 10_000), ("b", 100)] {
            let of = |leaf| placement.state.lock().tables.load(&name(table), &self::leaf(leaf)).0;
            assert!(of(0).abs_diff(of(1)) <= bytes, "{table}: {} and {}", of(0), of(1));
        }
    }
}

#[tokio::test]
async fn tables_are_counted_once_over_all_leaves() {
    let sinks: Vec<Arc<FakeSink>> = (0..2).map(|_| Arc::default()).collect();
    let (placement, _) = placement_of(&sinks, 3);
    let of = |table: &str, number| in_table(table, batch(number, 1));
    let take = |table, numbers: std::ops::Range<usize>| {
        let placement = &placement;
        async move {
            for number in numbers {
                placement.accept(of(table, number)).await?;
            }
            Ok(())
        }
    };
    // Ten batches each, so that both leaves have some of every table.
    for (table, numbers) in [("a", 0..10), ("b", 10..20), ("c", 20..30)] {
        assert_eq!(take(table, numbers).await, Ok(()));
    }
    assert!(sinks.iter().all(|sink| sink.rows.load(Ordering::SeqCst) > 3));
    let message = "too many tables: the limit is 3; d would be one more".to_owned();
    let refused = Err(SinkError::Limit(message));
    assert_eq!(take("d", 30..31).await, refused);
    assert_eq!(take("a", 31..32).await, Ok(()), "those that are there go on");
    placement.apply(TableChange::Drop { table: name("b") }).await.expect("dropped");
    assert_eq!(take("d", 30..31).await, Ok(()));
    assert_eq!(
        take("b", 40..41).await,
        Err(SinkError::Limit("too many tables: the limit is 3; b would be one more".to_owned()))
    );
}

#[tokio::test]
async fn tables_that_leaves_bring_with_them_count() {
    let sink = Arc::<FakeSink>::default();
    let leaf = |index: usize, tables: &[(&str, u64)]| PlacementLeaf {
        name: self::leaf(index),
        sink: Arc::<FakeSink>::clone(&sink),
        admin: Arc::<FakeSink>::clone(&sink),
        tables: tables.iter().map(|(table, bytes)| (name(table), *bytes)).collect(),
        joined: None,
    };
    let leaves = vec![leaf(0, &[("t", 1_000), ("u", 5)]), leaf(1, &[("t", 10), ("v", 5)])];
    let placement = Placement::with_tables_max(leaves, &Arc::default(), &Arc::default(), 2);
    let load = |leaf| placement.state.lock().tables.load(&name("t"), &self::leaf(leaf));
    assert_eq!((load(0), load(1)), ((1_000, 1_005), (10, 15)));
    placement.accept(batch(1, 5)).await.expect("a table that was there");
    assert_eq!((load(0), load(1)), ((1_000, 1_005), (15, 20)), "where less of it is");
    let other = in_table("w", batch(2, 1));
    assert!(matches!(placement.accept(other).await, Err(SinkError::Limit(_))));
}

#[tokio::test]
async fn settings_reach_every_leaf() {
    let sinks = [Arc::default(), Arc::default(), Arc::default()];
    let settings = TableSettings { bytes: Some(1 << 30), ..TableSettings::default() };
    let configure = || TableChange::Configure { table: name("t"), settings: settings.clone() };
    placement(&sinks).0.apply(configure()).await.expect("set");
    for sink in &sinks {
        assert_eq!(*sink.settings.lock(), Some(settings.clone()));
    }
    let failing = FakeSink { fails: true, ..FakeSink::default() };
    let sinks = [Arc::default(), Arc::new(failing)];
    let set = placement(&sinks).0.apply(configure()).await;
    assert_eq!(set, Err(SinkError::Busy("it".to_owned())), "not all of them have them");
}

#[tokio::test]
async fn nothing_is_taken_back_where_not_all_of_it_can_be() {
    let sinks = [false, true]
        .map(|fails| Arc::new(FakeSink { rows: AtomicU64::new(5), fails, ..FakeSink::default() }));
    let batch = BatchId::new("b").expect("an id");
    let revoke = || TableChange::Revoke { table: name("t"), batch: batch.clone() };
    let (placement, expected_rows) = placement(&sinks);
    expected_rows.add(&LeafName("leaf-0".into()), &name("t"), 7);
    assert!(matches!(placement.apply(revoke()).await, Err(SinkError::Limit(_))));
    assert_eq!(sinks[0].rows.load(Ordering::SeqCst), 5);
    let (placement, expected_rows) = self::placement(&sinks[..1]);
    expected_rows.add(&LeafName("leaf-0".into()), &name("t"), 7);
    assert_eq!(placement.apply(revoke()).await, Ok(5));
    assert_eq!(expected_rows.expected(&LeafName("leaf-0".into()), &name("t")), 2);
}

#[test]
fn the_order_of_two_leaves_is_that_of_the_list() {
    let members = Members::new(Duration::ZERO);
    let sink = Arc::default();
    (0..9).for_each(|index| members.join(placed(index, &sink), Duration::ZERO));
    for number in 0..50 {
        let id = BatchId::new(&format!("b{number}")).expect("an id");
        let at = (Duration::ZERO, Micros(0));
        let order = members.candidates((&id, false), at, |_| (0, 0));
        for (index, candidate) in order.iter().enumerate() {
            for (other_index, other) in order.iter().enumerate() {
                let is_later = comes_later(&id, &candidate.leaf, &other.leaf);
                assert_eq!(is_later, other_index > index, "{id}");
            }
        }
    }
}

mod cluster;
mod membership;
