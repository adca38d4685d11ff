use std::future::poll_fn;
use std::sync::mpsc;
use std::task::Poll;

use hadal_peer::QueryWatch;
use hadal_query::{Expr, RowInput};
use hadal_types::limits::MERGE_AT_ONCE_BYTES;
use hadal_types::{MemoryPool, Value, Weight};
use tokio::runtime::Builder;
use tokio::task::{spawn_blocking, yield_now};

use super::*;

/// Answers with groups that take more bytes than are copied at once.
struct ManyGroups(LeafName);

impl Peer for ManyGroups {
    fn query(&self, query: Arc<Query>, _deadline: Instant) -> BoxFuture<'_, Partial> {
        let mut partial = Partial::empty(&query);
        let PartialBody::Groups(groups) = &mut partial.body else { panic!("groups") };
        for group in 0..=MERGE_AT_ONCE_BYTES / 1_000 {
            groups.add_row(&[Value::string(&format!("{group:01000}"))], &[], Weight::ONE);
        }
        partial.reservation = MemoryPool::new(usize::MAX).reservation();
        partial.hold(usize::MAX);
        let leaf = LeafCoverage {
            name: self.0.clone(),
            outcome: LeafOutcome::Answered,
            rows_expected: 1_000,
            rows_scanned: 1_000,
            micros: 1,
            as_of: (0, 0),
        };
        partial.coverage = Coverage::of_leaf(leaf, true);
        Box::pin(std::future::ready(partial))
    }

    fn status<'a>(&'a self, _scope: &'a StatusScope) -> BoxFuture<'a, PeerStatus> {
        Box::pin(async { PeerStatus::default() })
    }

    fn reports(&self, _table: &TableName) -> Vec<TableReport> {
        Vec::new()
    }

    fn blocks<'a>(&'a self, _table: &'a TableName) -> BoxFuture<'a, TableBlocks> {
        Box::pin(async { TableBlocks::default() })
    }
}

/// Many groups are copied on the only blocking thread, so they are not shown while it is busy.
#[test]
fn many_groups_are_copied_for_a_watch_on_no_async_thread() {
    let expected_rows = Arc::new(ExpectedRows::default());
    let names = ["leaf-0", "leaf-1"].map(|name| LeafName(name.into()));
    let [many, frozen] = names.clone();
    names.iter().for_each(|name| expected_rows.add(name, &table(), 1_000));
    let frozen_leaf = FakeLeaf {
        name: frozen.clone(),
        rows: 1_000,
        delay: Duration::from_secs(1_000_000),
        outcome: LeafOutcome::Answered,
    };
    let leaves: Vec<(LeafName, Arc<dyn Peer>)> =
        vec![(many.clone(), Arc::new(ManyGroups(many))), (frozen, Arc::new(frozen_leaf))];
    let tree = Aggregator::over_leaves(leaves, &expected_rows);
    let kind = QueryKind::Groups { keys: vec![Expr::Leaf(RowInput::Time)], measures: Vec::new() };
    let deadline = Duration::from_secs(1_000);
    let query = Arc::new(Query { deadline, require_complete: true, ..Query::new(table(), kind) });
    let runtime = Builder::new_current_thread().enable_time().max_blocking_threads(1).build();
    runtime.expect("a runtime").block_on(async {
        let (release, released) = mpsc::channel::<()>();
        let busy = spawn_blocking(move || released.recv().is_ok());
        let watch = QueryWatch::new();
        let until = Instant::now() + deadline;
        let mut asking = tree.query_watched(Arc::clone(&query), until, watch.clone());
        for _ in 0..10 {
            let polled = poll_fn(|context| Poll::Ready(asking.as_mut().poll(context)));
            assert!(polled.await.is_pending());
            yield_now().await;
        }
        assert!(watch.collect(&query, 0).1.is_none(), "copied before there was a thread for it");
        release.send(()).expect("the thread waits");
        assert!(busy.await.expect("no panic"));
        let shown = async {
            while watch.collect(&query, 0).1.is_none() {
                yield_now().await;
            }
        };
        tokio::select! {
            _ = &mut asking => panic!("a leaf is frozen"),
            () = shown => {}
        }
    });
}
