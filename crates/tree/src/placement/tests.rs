use std::collections::HashSet;

use super::*;

/// Takes everything, and remembers the ids; can be told to fail.
#[derive(Default)]
struct FakeSink {
    taken: Mutex<HashSet<BatchId>>,
    rows: AtomicU64,
    fails: bool,
}

impl Sink for FakeSink {
    fn accept(&self, batch: Batch) -> BoxFuture<'_, Result<Receipt, SinkError>> {
        Box::pin(async move {
            if self.fails {
                return Err(SinkError::Busy("it".to_owned()));
            }
            let is_new = self.taken.lock().expect("no poison").insert(batch.id);
            if is_new {
                self.rows.fetch_add(batch.rows as u64, Ordering::SeqCst);
            }
            Ok(Receipt { rows: batch.rows, duplicate: !is_new, durable: true })
        })
    }

    fn knows<'a>(&'a self, _table: &'a TableName, id: &'a BatchId) -> BoxFuture<'a, bool> {
        Box::pin(async move { self.taken.lock().expect("no poison").contains(id) })
    }

    fn drop_table(&self, _table: TableName) -> BoxFuture<'_, Result<u64, SinkError>> {
        Box::pin(async move { Ok(self.rows.swap(0, Ordering::SeqCst)) })
    }
}

fn placement(sinks: &[Arc<FakeSink>]) -> (Placement, Arc<Ledger>) {
    let ledger = Arc::new(Ledger::default());
    let leaf = |(index, sink): (usize, &Arc<FakeSink>)| PlacementLeaf {
        name: LeafName(format!("leaf-{index}").into()),
        sink: Arc::clone(sink) as Arc<dyn Sink>,
        block_bytes: 0,
    };
    let leaves = sinks.iter().enumerate().map(leaf).collect();
    (Placement::new(leaves, &ledger), ledger)
}

fn batch(number: usize, bytes: usize) -> Batch {
    Batch {
        table: TableName::new("t").expect("a name"),
        id: BatchId::new(&format!("batch-{number}")).expect("an id"),
        content_hash: 7,
        rows: 1,
        block: vec![0; bytes],
    }
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
    let bytes: Vec<u64> =
        placement.leaves.iter().map(|leaf| leaf.bytes.load(Ordering::Relaxed)).collect();
    let mean = bytes.iter().sum::<u64>() as f64 / bytes.len() as f64;
    let most = *bytes.iter().max().expect("leaves") as f64;
    assert!(most / mean <= 1.05, "{bytes:?}");
}

#[tokio::test]
async fn a_retry_goes_where_the_batch_is() {
    let sinks: Vec<Arc<FakeSink>> = (0..4).map(|_| Arc::default()).collect();
    let (placement, ledger) = placement(&sinks);
    for _ in 0..2 {
        for number in 0..500 {
            placement.accept(batch(number, 1 + number)).await.expect("taken");
        }
    }
    let rows: u64 = sinks.iter().map(|sink| sink.rows.load(Ordering::SeqCst)).sum();
    assert_eq!(rows, 500);
    let table = TableName::new("t").expect("a name");
    let expected = |leaf: &Placed| ledger.expected(&leaf.name, &table);
    assert_eq!(placement.leaves.iter().map(expected).sum::<u64>(), 500);
    assert_eq!(placement.drop_table(table).await, Ok(500));
}

#[tokio::test]
async fn a_refused_batch_counts_nowhere() {
    let sinks = [Arc::new(FakeSink { fails: true, ..FakeSink::default() })];
    let (placement, ledger) = placement(&sinks);
    assert!(placement.accept(batch(1, 1)).await.is_err());
    assert!(placement.lock().is_empty());
    let table = TableName::new("t").expect("a name");
    assert_eq!(ledger.expected(&placement.leaves[0].name, &table), 0);
}
