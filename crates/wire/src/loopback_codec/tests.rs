use std::pin::pin;
use std::sync::Mutex;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use hadal_peer::TableReport;
use hadal_query::{Expr, Function};
use hadal_types::Value;
use proptest::prelude::*;

use super::*;
use crate::tests::strategies;
use crate::tests::vectors::{groups_partial, rows_partial, rows_query};

/// Answers at once with fixed values, and records the requests.
#[derive(Default)]
struct Fake {
    partial: Mutex<Option<Partial>>,
    status: PeerStatus,
    blocks: TableBlocks,
    reports: Vec<TableReport>,
    accepted: Option<SinkError>,
    asked: Mutex<Vec<(Query, Instant)>>,
    batches: Mutex<Vec<Batch>>,
    changes: Mutex<Vec<TableChange>>,
    scopes: Mutex<Vec<StatusScope>>,
}

impl Peer for Fake {
    fn query(&self, query: Arc<Query>, deadline: Instant) -> BoxFuture<'_, Partial> {
        self.asked.lock().unwrap().push(((*query).clone(), deadline));
        let partial = self.partial.lock().unwrap().clone();
        Box::pin(async move { partial.unwrap_or_else(|| Partial::empty(&query)) })
    }

    fn status<'a>(&'a self, scope: &'a StatusScope) -> BoxFuture<'a, PeerStatus> {
        self.scopes.lock().unwrap().push(scope.clone());
        Box::pin(async { self.status.clone() })
    }

    fn reports(&self, table: &TableName) -> Vec<TableReport> {
        self.reports.iter().filter(|report| report.table == *table).cloned().collect()
    }

    fn blocks<'a>(&'a self, _table: &'a TableName) -> BoxFuture<'a, TableBlocks> {
        Box::pin(async { self.blocks.clone() })
    }
}

impl Sink for Fake {
    fn accept(&self, batch: Batch) -> BoxFuture<'_, Result<Receipt, SinkError>> {
        let receipt = Receipt {
            rows: batch.rows,
            duplicate: false,
            durable: true,
            overflowing: false,
            report: None,
        };
        self.batches.lock().unwrap().push(batch);
        Box::pin(async move { self.accepted.clone().map_or(Ok(receipt), Err) })
    }

    fn look_up<'a>(&'a self, table: &'a TableName, id: &'a BatchId) -> BoxFuture<'a, BatchLookup> {
        let batches = self.batches.lock().unwrap();
        let is_known = batches.iter().any(|batch| batch.table == *table && batch.id == *id);
        Box::pin(async move {
            let free_bytes = u64::MAX;
            let lookup = BatchLookup { is_answered: true, is_known, ..BatchLookup::default() };
            BatchLookup { takes_batches: true, free_bytes, ..lookup }
        })
    }
}

impl Admin for Fake {
    fn apply(&self, change: TableChange) -> BoxFuture<'_, Result<u64, SinkError>> {
        self.changes.lock().unwrap().push(change);
        Box::pin(async { self.accepted.clone().map_or(Ok(7), Err) })
    }
}

/// The output of a future that is ready at once.
fn now<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("it waits"),
    }
}

fn mirrored(fake: Fake) -> LoopbackCodec<Fake> {
    LoopbackCodec::new(LeafName("leaf-7".into()), Arc::new(fake))
}

fn answering(partial: Partial) -> LoopbackCodec<Fake> {
    mirrored(Fake { partial: Mutex::new(Some(partial)), ..Fake::default() })
}

fn ask<P: Peer + ?Sized>(peer: &LoopbackCodec<P>, query: Query) -> Partial {
    now(peer.query(Arc::new(query), Instant::now() + Duration::from_secs(5)))
}

proptest! {
    #[test]
    fn questions_and_answers_come_through((query, partial) in strategies::query_and_partial()) {
        let peer = answering(partial.clone());
        let mut sent = partial;
        sent.keep_sent(&query);
        prop_assert_eq!(ask(&peer, query.clone()), sent);
        prop_assert_eq!(&peer.inner.asked.lock().unwrap()[0].0, &query);
        prop_assert_eq!((peer.failures(), peer.first_failure()), (0, None));
    }

    #[test]
    fn batches_come_through(batch in strategies::batch(), error in strategies::sink_error()) {
        let sink = mirrored(Fake::default());
        let free_bytes = u64::MAX;
        let lookup = BatchLookup { is_answered: true, takes_batches: true, ..BatchLookup::default() };
        let lookup = BatchLookup { free_bytes, ..lookup };
        prop_assert_eq!(now(sink.look_up(&batch.table, &batch.id)), lookup);
        let receipt = Receipt { rows: batch.rows, duplicate: false, durable: true, overflowing: false, report: None };
        prop_assert_eq!(now(sink.accept(batch.clone())), Ok(receipt));
        prop_assert_eq!(&sink.inner.batches.lock().unwrap()[0], &batch);
        prop_assert!(now(sink.look_up(&batch.table, &batch.id)).is_known);
        let refusing = mirrored(Fake { accepted: Some(error.clone()), ..Fake::default() });
        prop_assert_eq!(now(refusing.accept(batch)), Err(error));
        prop_assert_eq!(sink.failures() + refusing.failures(), 0);
    }

    #[test]
    fn damaged_foreign_bytes_never_reach_the_sink(batch in strategies::batch(), at in any::<usize>()) {
        let sink = mirrored(Fake::default());
        let mut damaged = ForeignBatch::from(batch.clone());
        let at = at % damaged.block.len();
        damaged.block[at] ^= 1;
        let refused = now(sink.forward(damaged));
        prop_assert!(matches!(refused, Err(SinkError::Corrupt { .. })), "{:?}", refused);
        prop_assert!(sink.inner.batches.lock().unwrap().is_empty());
        prop_assert!(now(sink.forward(batch.into())).is_ok());
    }

    #[test]
    fn changes_come_through(
        change in strategies::table_change(),
        error in strategies::sink_error(),
    ) {
        let admin = mirrored(Fake::default());
        prop_assert_eq!(now(admin.apply(change.clone())), Ok(7));
        prop_assert_eq!(admin.inner.changes.lock().unwrap().pop(), Some(change.clone()));
        let refusing = mirrored(Fake { accepted: Some(error.clone()), ..Fake::default() });
        prop_assert_eq!(now(refusing.apply(change)), Err(error));
        prop_assert_eq!(admin.failures() + refusing.failures(), 0);
    }

    #[test]
    fn reports_come_through(report in strategies::table_report()) {
        let reports = vec![report.clone(), TableReport { version: 0, status: None, ..report.clone() }];
        let peer = mirrored(Fake { reports: reports.clone(), ..Fake::default() });
        prop_assert_eq!(peer.reports(&report.table), reports);
        prop_assert_eq!(peer.failures(), 0);
    }

    #[test]
    fn states_come_through(status in strategies::status(), scope in strategies::status_scope()) {
        let peer = mirrored(Fake { status: status.clone(), ..Fake::default() });
        prop_assert_eq!(now(peer.status(&scope)), status);
        prop_assert_eq!(peer.inner.scopes.lock().unwrap().pop(), Some(scope));
        prop_assert_eq!(peer.failures(), 0);
    }
}

#[test]
fn mirrors_nest_and_need_not_know_what_they_wrap() {
    let inner: Arc<dyn Peer> = Arc::new(answering(rows_partial()));
    let peer: LoopbackCodec<dyn Peer> = LoopbackCodec::new(LeafName("outer".into()), inner);
    assert_eq!(ask(&peer, rows_query()), rows_partial());
    assert_eq!(peer.failures(), 0);
}

#[test]
fn a_deadline_is_never_later_than_it_was() {
    let peer = answering(rows_partial());
    let deadline = Instant::now() + Duration::from_micros(2_500_900);
    now(peer.query(Arc::new(rows_query()), deadline));
    now(peer.query(Arc::new(rows_query()), Instant::now()));
    let asked = peer.inner.asked.lock().unwrap();
    assert!(asked[0].1 > deadline - Duration::from_secs(2));
    assert!(asked[1].1 <= Instant::now());
}

#[test]
fn an_answer_to_another_question_is_no_answer() {
    let peer = answering(groups_partial());
    let partial = ask(&peer, rows_query());
    assert!(partial.fits(&Partial::empty(&rows_query())));
    assert!(partial.errors.is_empty(), "it is not the user's");
    let [leaf] = &partial.coverage.leaves[..] else { panic!("{:?}", partial.coverage) };
    assert_eq!((&*leaf.name.0, leaf.outcome), ("leaf-7", LeafOutcome::Failed));
    assert_eq!((partial.coverage.leaves_asked, partial.coverage.leaves_answered), (1, 0));
    assert_eq!(peer.failures(), 1);
    assert!(peer.first_failure().is_some_and(|error| !error.is_limit()));
}

#[test]
fn a_question_beyond_the_limits_is_the_users_fault() {
    let deep =
        (0..70).fold(Expr::Literal(Value::Bool(true)), |expr, _| Expr::call(Function::Not, [expr]));
    let peer = answering(rows_partial());
    let partial = ask(&peer, Query { filter: Some(deep), ..rows_query() });
    let faults: Vec<&QueryError> = partial.errors.iter().collect();
    let message = "QueryRequest.query.filter.nodes[6]: 65 levels; at most 64 are allowed";
    assert_eq!(faults, [&QueryError::new(QueryErrorCode::Invalid, message)]);
    assert_eq!(peer.failures(), 1);
    assert!(peer.inner.asked.lock().unwrap().is_empty());
}

#[test]
fn what_a_broken_peer_says_of_itself_is_left_out() {
    let status = PeerStatus {
        leaves: vec![hadal_peer::LeafStatus {
            name: LeafName("".into()),
            state: hadal_peer::MemberState::Announced(hadal_types::LeafState::Alive),
            block_bytes: 0,
            tables: Arc::default(),
            losses: Vec::new(),
        }],
    };
    let peer = mirrored(Fake { status, ..Fake::default() });
    assert_eq!(now(peer.status(&StatusScope::All)), PeerStatus::default());
    let error = peer.first_failure().expect("an error").to_string();
    assert_eq!(error, "Status.leaves[0].name: found no text, expected a leaf's name");
}

#[test]
fn blocks_pass_through_or_are_none() {
    let column = hadal_peer::ColumnBlocks { blocks: 1, rows: 2, bytes: 3, warm_bytes: 4 };
    let of = |encoding: String| {
        let name = hadal_types::ColumnName::new("a").expect("a name");
        let key = (name, hadal_types::Kind::Set, encoding);
        TableBlocks { columns: [(key, column)].into(), ..TableBlocks::default() }
    };
    let table = TableName::new("t").expect("a name");
    let through = |blocks: TableBlocks| {
        let inner = Arc::new(Fake { blocks, ..Fake::default() });
        let mirrored = LoopbackCodec::new(LeafName("m".into()), inner);
        (now(mirrored.blocks(&table)), mirrored.failures())
    };
    let blocks = of("lists".to_owned());
    assert_eq!(through(blocks.clone()), (blocks, 0));
    assert_eq!(through(of("x".repeat(129))), (TableBlocks::default(), 1));
}
