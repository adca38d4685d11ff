//! A server in this process: two leaves in memory, the tree over them, and the HTTP API.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use hadal_definitions::{Definitions, Location};
use hadal_frontend::{Backend, Frontend, FrontendConfig, MemoryUse};
use hadal_http::{About, Config, ServeError, serve};
use hadal_leaf::{Durability, Leaf, LeafConfig, LeafGroup, LeafLimits, PreopenedStore, ScanPool};
use hadal_peer::{Admin, Peer, Sink};
use hadal_tree::{Aggregator, ExpectedRows, Placement, PlacementLeaf, Root};
use hadal_types::time::parse_timestamp;
use hadal_types::{Clock, FixedClock, LeafName, MemoryPool, Micros, limits};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::client::{Reply, Request};

/// The time of every server's clock.
pub(crate) const NOW: &str = "2026-11-21T12:00:00Z";

pub(crate) fn now() -> Micros {
    parse_timestamp(NOW).expect("a time")
}

/// A server that listens until it is dropped.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    runtime: Option<Runtime>,
    stop: Option<oneshot::Sender<()>>,
    task: Option<JoinHandle<Result<(), ServeError>>>,
}

impl Server {
    /// Two leaves in memory.
    pub(crate) fn start() -> Self {
        Self::with(|_| {})
    }

    /// The same, with a changed configuration.
    pub(crate) fn with(change: impl FnOnce(&mut Config)) -> Self {
        Self::over(memory_backend(None), "127.0.0.1:0", change)
    }

    /// Two leaves that keep their rows in `folder`.
    pub(crate) fn in_folder(folder: &Path) -> Self {
        Self::over(memory_backend(Some(folder)), "127.0.0.1:0", |_| {})
    }

    /// A server with self tables.
    pub(crate) fn with_journal(backend: &Backend) -> Self {
        Self::with_frontend(backend.clone(), FrontendConfig::default())
    }

    /// A server with this configuration of its front.
    pub(crate) fn with_frontend(backend: Backend, config: FrontendConfig) -> Self {
        Self::open(Frontend::new(config, backend), "127.0.0.1:0", |_| {})
    }

    /// A server without self tables.
    pub(crate) fn over(backend: Backend, listen: &str, change: impl FnOnce(&mut Config)) -> Self {
        let config = FrontendConfig { keeps_self_tables: false, ..FrontendConfig::default() };
        Self::open(Frontend::new(config, backend), listen, change)
    }

    fn open(frontend: Arc<Frontend>, listen: &str, change: impl FnOnce(&mut Config)) -> Self {
        let runtime = runtime();
        let listener = runtime.block_on(TcpListener::bind(listen)).expect("a port");
        let mut address = listener.local_addr().expect("an address");
        let mut config = Config::new(address);
        config.about = About {
            version: "9.8.7".to_owned(),
            commit: "abcdef".to_owned(),
            cpu: "scalar".to_owned(),
            data: "memory".to_owned(),
        };
        change(&mut config);
        let (stop, stopped) = oneshot::channel::<()>();
        let asked = Arc::clone(&config.stop);
        let shutdown = async move {
            tokio::select! {
                _ = stopped => (),
                () = asked.notified() => (),
            }
        };
        let task = runtime.spawn(async move {
            let serving = serve(config, Arc::clone(&frontend), listener, shutdown);
            frontend.keep_self_tables_while(serving).await
        });
        if address.ip().is_unspecified() {
            address.set_ip([127, 0, 0, 1].into());
        }
        Self { address, runtime: Some(runtime), stop: Some(stop), task: Some(task) }
    }

    /// Asks the server to stop, without waiting for it.
    pub(crate) fn ask_to_stop(&mut self) {
        drop(self.stop.take());
    }

    /// Asks the server to stop, and waits until it has.
    pub(crate) fn join(&mut self) {
        self.ask_to_stop();
        self.wait();
    }

    /// Waits until it has stopped.
    pub(crate) fn wait(&mut self) {
        if let (Some(runtime), Some(task)) = (&self.runtime, self.task.take()) {
            runtime.block_on(task).expect("no panic").expect("a server that served");
        }
    }

    pub(crate) fn request(&self, method: &'static str, path: &str) -> Request {
        Request::new(self.address, method, path)
    }

    #[track_caller]
    pub(crate) fn get(&self, path: &str) -> Reply {
        self.request("GET", path).send()
    }

    /// Logs rows that must all be accepted.
    #[track_caller]
    pub(crate) fn log(&self, table: &str, rows: &str) -> Value {
        let logged = self.request("POST", &format!("/v1/log/{table}")).body(rows).send().ok();
        assert_eq!(logged["rejected_count"], 0, "{logged}");
        logged
    }

    #[track_caller]
    pub(crate) fn sql(&self, sql: &str) -> Reply {
        let body = json!({ "sql": sql }).to_string();
        self.request("POST", "/v1/query").body(body).send()
    }

    /// The rows of a successful answer.
    #[track_caller]
    pub(crate) fn rows(&self, sql: &str) -> Value {
        self.sql(sql).ok()["rows"].take()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.task.take());
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

pub(crate) fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime")
}

/// Definitions of a server in memory. They need a runtime that stays alive.
pub(crate) fn no_definitions() -> Arc<Definitions> {
    static RUNTIME: LazyLock<Runtime> = LazyLock::new(runtime);
    Arc::new(RUNTIME.block_on(Definitions::open(&Location::Memory)).expect("definitions"))
}

pub(crate) fn memory_backend(folder: Option<&Path>) -> Backend {
    memory_app_behind(folder, |tree| tree)
}

/// The same with a peer in front of the tree over the leaves.
pub(crate) fn memory_app_behind(
    folder: Option<&Path>,
    before: impl FnOnce(Arc<dyn Peer>) -> Arc<dyn Peer>,
) -> Backend {
    let clock: Arc<dyn Clock> = Arc::new(FixedClock::new(now()));
    let ledger = Arc::new(ExpectedRows::default());
    let budget = MemoryPool::new(limits::QUERIES_BYTES_MAX);
    let pool = ScanPool::new(2).expect("threads");
    let (mut leaves, mut sinks) = (Vec::new(), Vec::new());
    for index in 0..2 {
        let name = LeafName(format!("leaf-{index}").into());
        let leaf = Leaf::open(LeafConfig {
            name: name.clone(),
            folder: folder.map(|folder| folder.join(index.to_string())),
            memory: None,
            preopened: PreopenedStore::default(),
            expects_data: false,
            durability: Durability::Sync,
            pool: Arc::clone(&pool),
            zone_answers: true,
            limits: LeafLimits {
                table_bytes_max: u64::MAX,
                // The clock of the tests stands still.
                clock_proving: Duration::ZERO,
                ..LeafLimits::of_one_in(1)
            },
            query_bytes_max: limits::LEAF_QUERY_BYTES_MAX,
            budget: Arc::clone(&budget),
            clock: Arc::clone(&clock),
            archive: None,
        });
        let leaf = Arc::new(leaf.expect("a leaf"));
        leaves.push(Arc::clone(&leaf));
        let (sink, admin) = (Arc::clone(&leaf) as Arc<dyn Sink>, leaf as Arc<dyn Admin>);
        sinks.push(PlacementLeaf { name, sink, admin, tables: Vec::new(), joined: None });
    }
    let names = leaves.iter().map(|leaf| leaf.name().clone()).collect();
    let tree = Aggregator::over(Arc::new(LeafGroup::new(leaves)), names, &ledger);
    let root = Root::new(before(Arc::new(tree)), budget);
    let placement = Arc::new(Placement::new(sinks, &ledger, root.catalog()));
    Backend {
        memory: Arc::new(MemoryUse::default),
        root,
        sink: Arc::clone(&placement) as _,
        admin: placement,
        definitions: no_definitions(),
        ledger,
        clock,
        members: None,
        damage: Arc::default(),
    }
}

/// A backend over any peer and sink.
pub(crate) fn backend_of<S: Sink + Admin + 'static>(peer: Arc<dyn Peer>, sink: Arc<S>) -> Backend {
    Backend {
        memory: Arc::new(MemoryUse::default),
        root: Root::new(peer, MemoryPool::new(limits::QUERIES_BYTES_MAX)),
        sink: Arc::clone(&sink) as _,
        admin: sink,
        definitions: no_definitions(),
        ledger: Arc::new(ExpectedRows::default()),
        clock: Arc::new(FixedClock::new(now())),
        members: None,
        damage: Arc::default(),
    }
}
