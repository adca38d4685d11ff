//! A process whose answers a test sets, and servers of it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hadal_aggregate::{Coverage, LeafCoverage, LeafOutcome, Partial};
use hadal_block::BlockBuilder;
use hadal_definitions::DefinitionStore;
use hadal_peer::{
    Admin, Batch, BatchLookup, BoxFuture, ExpectedRowsDelta, ExpectedRowsSource, ExpectedShare,
    ForeignBatch, LeafRestart, LeafRestarter, LeafStatus, MemberState, Peer, PeerStatus, Plan,
    PlannedPeer, Receipt, ReportSource, Sink, SinkError, StatusScope, TableBlocks, TableChange,
    TableReport, TableRun,
};
use hadal_query::{Query, QueryKind};
use hadal_types::{
    BatchId, ColumnName, FixedClock, Kind, LeafName, LeafState, MemoryPool, Micros, TableName,
};
use parking_lot::Mutex;
use tokio::net::TcpListener;
use tokio::sync::{Notify, oneshot, watch};
use tokio::task::JoinHandle;

use crate::server::Services;
use crate::{ClusterToken, Connection, Identity, RemoteLeaf, Tls, serve};

/// The clock of every process of a test.
pub(crate) const NOW: Micros = Micros(1_700_000_000_000_000);
/// The deadline of calls that must not reach it.
pub(crate) const LONG: Duration = Duration::from_secs(30);

pub(crate) fn table() -> TableName {
    TableName::new("requests").expect("a name")
}

pub(crate) fn leaf_name() -> LeafName {
    LeafName("machine-1/leaf-0".into())
}

pub(crate) fn query() -> Arc<Query> {
    let kind = QueryKind::Groups { keys: Vec::new(), measures: Vec::new() };
    Arc::new(Query::new(table(), kind))
}

/// A partial of the leaf with this many rows.
pub(crate) fn partial(rows: u64) -> Partial {
    let leaf = LeafCoverage {
        name: leaf_name(),
        outcome: LeafOutcome::Answered,
        rows_expected: rows,
        rows_scanned: rows,
        micros: 5,
        as_of: (0, 0),
    };
    let mut partial = Partial::empty(&query());
    partial.coverage = Coverage::of_leaf(leaf, true);
    partial
}

pub(crate) fn batch_id() -> BatchId {
    BatchId::new("batch-1").expect("an id")
}

/// A batch of three rows.
pub(crate) fn batch() -> Batch {
    let name = |text: &str| ColumnName::new(text).expect("a name");
    let mut builder = BlockBuilder::new(name("time"));
    let column = builder.column(&name("host"), Kind::String);
    for row in 0..3 {
        builder.push_string(column, "web-1").expect("taken");
        builder.end_row(Micros(row));
    }
    let block = builder.finish(Micros(0), Some((&batch_id(), 7))).expect("fits");
    Batch::encoded(table(), batch_id(), 7, 3, block)
}

pub(crate) fn report(table: &str, version: u64) -> TableReport {
    let table = TableName::new(table).expect("a name");
    let (leaf, started, recovered_rows, accepted_rows) = (leaf_name(), 1, 2, 3);
    TableReport { leaf, table, started, version, recovered_rows, accepted_rows, status: None }
}

/// What the fake does with a query.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum OnQuery {
    #[default]
    Answer,
    Panic,
    /// Waits forever.
    Hang,
}

/// Counts the event of being dropped.
struct Dropped<'f>(&'f Notify);

impl Drop for Dropped<'_> {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

pub(crate) struct Fake {
    /// The answer to queries; a small one if there is none.
    pub(crate) partial: Mutex<Option<Partial>>,
    /// The memory of the queries.
    pub(crate) memory: Arc<MemoryPool>,
    pub(crate) on_query: Mutex<OnQuery>,
    pub(crate) refusal: Mutex<Option<SinkError>>,
    pub(crate) batches: Mutex<Vec<ForeignBatch>>,
    pub(crate) changes: Mutex<Vec<TableChange>>,
    pub(crate) restarts: Mutex<Vec<LeafRestart>>,
    pub(crate) plans: Mutex<Vec<Arc<Plan>>>,
    pub(crate) remaining: Mutex<Vec<Duration>>,
    /// Signalled when a query begins, and when it is dropped.
    pub(crate) begun: Notify,
    pub(crate) dropped: Notify,
    pub(crate) reports: watch::Sender<Vec<TableReport>>,
}

impl Default for Fake {
    fn default() -> Self {
        Self {
            partial: Mutex::default(),
            memory: MemoryPool::new(usize::MAX),
            on_query: Mutex::default(),
            refusal: Mutex::default(),
            batches: Mutex::default(),
            changes: Mutex::default(),
            restarts: Mutex::default(),
            plans: Mutex::default(),
            remaining: Mutex::default(),
            begun: Notify::default(),
            dropped: Notify::default(),
            reports: watch::Sender::default(),
        }
    }
}

impl Fake {
    async fn answer(&self, deadline: Instant) -> Partial {
        let _dropped = Dropped(&self.dropped);
        self.remaining.lock().push(deadline.saturating_duration_since(Instant::now()));
        self.begun.notify_one();
        let on_query = *self.on_query.lock();
        match on_query {
            OnQuery::Answer => {
                let set = self.partial.lock().clone();
                let mut partial = set.unwrap_or_else(|| partial(7));
                partial.reservation = self.memory.reservation();
                partial.hold(usize::MAX);
                partial
            }
            OnQuery::Panic => panic!("on purpose"),
            OnQuery::Hang => std::future::pending().await,
        }
    }
}

impl Peer for Fake {
    fn query(&self, _query: Arc<Query>, deadline: Instant) -> BoxFuture<'_, Partial> {
        Box::pin(self.answer(deadline))
    }

    fn status<'a>(&'a self, _scope: &'a StatusScope) -> BoxFuture<'a, PeerStatus> {
        let leaf = LeafStatus {
            name: leaf_name(),
            state: MemberState::Announced(LeafState::Alive),
            block_bytes: 9,
            tables: Arc::default(),
            losses: Vec::new(),
        };
        Box::pin(async { PeerStatus { leaves: vec![leaf] } })
    }

    fn reports(&self, _table: &TableName) -> Vec<TableReport> {
        Vec::new()
    }

    fn blocks<'a>(&'a self, _table: &'a TableName) -> BoxFuture<'a, TableBlocks> {
        Box::pin(std::future::pending())
    }
}

impl PlannedPeer for Fake {
    fn query_planned(
        &self,
        _query: Arc<Query>,
        plan: Arc<Plan>,
        deadline: Instant,
    ) -> BoxFuture<'_, Partial> {
        self.plans.lock().push(plan);
        Box::pin(self.answer(deadline))
    }
}

impl Sink for Fake {
    fn accept(&self, batch: Batch) -> BoxFuture<'_, Result<Receipt, SinkError>> {
        let rows = batch.rows;
        self.batches.lock().push(batch.into());
        let refusal = self.refusal.lock().clone();
        let (duplicate, durable, overflowing) = (false, true, false);
        let report = Some(report("requests", 3));
        let receipt = Receipt { rows, duplicate, durable, overflowing, report };
        Box::pin(async move { refusal.map_or(Ok(receipt), Err) })
    }

    fn look_up<'a>(&'a self, _table: &'a TableName, id: &'a BatchId) -> BoxFuture<'a, BatchLookup> {
        let is_known = self.batches.lock().iter().any(|batch| batch.id == *id);
        Box::pin(async move {
            BatchLookup {
                is_answered: true,
                is_known,
                takes_batches: true,
                free_bytes: 11,
                ..BatchLookup::default()
            }
        })
    }
}

impl Admin for Fake {
    fn apply(&self, change: TableChange) -> BoxFuture<'_, Result<u64, SinkError>> {
        self.changes.lock().push(change);
        let refusal = self.refusal.lock().clone();
        Box::pin(async move { refusal.map_or(Ok(13), Err) })
    }
}

/// The mark is the number of reports that were read.
impl ReportSource for Fake {
    fn reports_since(&self, mark: u64) -> (u64, Vec<TableReport>) {
        let reports = self.reports.borrow();
        let skipped = usize::try_from(mark).expect("few");
        (reports.len() as u64, reports[skipped..].to_vec())
    }

    fn changed(&self, mark: u64) -> BoxFuture<'_, ()> {
        let mut changes = self.reports.subscribe();
        Box::pin(async move {
            let _ = changes.wait_for(|reports| reports.len() as u64 > mark).await;
        })
    }
}

impl LeafRestarter for Fake {
    fn restart(&self, restart: &LeafRestart) -> bool {
        self.restarts.lock().push(restart.clone());
        restart.leaf == leaf_name()
    }
}

/// What the fake expects: its epoch and version follow those of the request.
pub(crate) fn expected_rows(epoch: u64, version: u64) -> ExpectedRowsDelta {
    let run = TableRun { started: 1, version: 2, rows: 3, ..TableRun::default() };
    let (leaf, table) = (leaf_name(), table());
    ExpectedRowsDelta {
        epoch: epoch + 1,
        version: version + 1,
        shares: vec![ExpectedShare { leaf, table, runs: vec![run], acknowledged: 4 }],
        ..ExpectedRowsDelta::default()
    }
}

impl ExpectedRowsSource for Fake {
    fn changes(&self, epoch: u64, version: u64) -> ExpectedRowsDelta {
        assert!(version < u64::MAX, "on purpose");
        expected_rows(epoch, version)
    }
}

/// The identity of a process of cluster `test`.
pub(crate) fn identity(name: &str) -> Identity {
    let clock = Arc::new(FixedClock::new(NOW));
    Identity::new("test", LeafName(name.into()), "0.1.0", 1, clock).expect("sound")
}

pub(crate) fn leaf_identity() -> Identity {
    identity("machine-1/leaf-0")
}

pub(crate) fn token(text: &str) -> Option<ClusterToken> {
    Some(ClusterToken::parse(&text.repeat(16)).expect("long enough"))
}

/// A running server.
pub(crate) struct TestServer {
    pub(crate) address: SocketAddr,
    pub(crate) fake: Arc<Fake>,
    stop: oneshot::Sender<()>,
    served: JoinHandle<Result<(), crate::ServeError>>,
}

impl TestServer {
    /// Starts a leaf on a free port.
    pub(crate) async fn start() -> Self {
        Self::of(leaf_identity(), None, "127.0.0.1:0").await
    }

    pub(crate) async fn of(identity: Identity, tls: Option<Tls>, address: &str) -> Self {
        Self::open(identity, tls, address, None).await
    }

    /// Starts a process with these definitions.
    pub(crate) async fn with_definitions(
        identity: Identity,
        definitions: Option<Arc<dyn DefinitionStore>>,
    ) -> Self {
        Self::open(identity, None, "127.0.0.1:0", definitions).await
    }

    async fn open(
        identity: Identity,
        tls: Option<Tls>,
        address: &str,
        definitions: Option<Arc<dyn DefinitionStore>>,
    ) -> Self {
        let listener = TcpListener::bind(address).await.expect("a free port");
        let address = listener.local_addr().expect("bound");
        let fake = Arc::new(Fake::default());
        let services = Services {
            peer: fake.clone(),
            planned: Some(fake.clone()),
            sink: Some(fake.clone()),
            admin: Some(fake.clone()),
            reports: Some(fake.clone()),
            definitions,
            restarter: Some(fake.clone()),
            expected_rows: Some(fake.clone()),
            functions: Default::default(),
        };
        let (stop, stopped) = oneshot::channel::<()>();
        let served = tokio::spawn(async move {
            let shutdown = async { drop(stopped.await) };
            let identity = Arc::new(identity.with_tls(tls));
            serve(listener, identity, services, shutdown).await
        });
        Self { address, fake, stop, served }
    }

    /// Stops the server, and returns once it has ended.
    pub(crate) async fn stop(self) {
        let _ = self.stop.send(());
        self.served.await.expect("no panic").expect("it ended in order");
    }

    pub(crate) fn connection(&self, identity: Identity) -> Arc<Connection> {
        connection(self.address, identity)
    }

    /// The proxy of the leaf, in another process of its cluster.
    pub(crate) fn leaf(&self) -> RemoteLeaf {
        RemoteLeaf::new(leaf_name(), self.connection(identity("machine-2")))
    }
}

pub(crate) fn connection(address: SocketAddr, identity: Identity) -> Arc<Connection> {
    Arc::new(Connection::new(address, Arc::new(identity)).expect("no TLS"))
}

/// An address where nothing listens.
pub(crate) async fn unused_address() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    listener.local_addr().expect("bound")
}
