//! A front door: placement and the tree over leaves that it reaches by `rpc`, and the clients that
//! use it.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use hadal_block::BlockBuilder;
use hadal_peer::{Batch, MemberState, Peer, PeerStatus, Sink, StatusScope};
use hadal_query::{Query, QueryKind};
use hadal_rpc::{Connection, Identity, RemoteLeaf};
use hadal_tree::{ClusterTree, ExpectedRows, Placement, PlacementLeaf};
use hadal_types::{
    BatchId, ColumnName, Kind, LeafName, LeafState, MachineName, Micros, SystemClock, TableName,
};
use tokio::time::{Instant, sleep, timeout};

use crate::network::{Simulated, address_of};
use crate::records::Records;
use crate::world::{Clients, DEADLINE};

/// How often a door asks each leaf whether it is there, and after how long without an answer the
/// leaf is silent.
const ASK: Duration = Duration::from_millis(500);
const SILENT: Duration = Duration::from_millis(1_500);
/// How late an answer may be.
const LATE: Duration = Duration::from_millis(50);

pub(crate) fn identity(name: &str, started: u64) -> Result<Arc<Identity>, String> {
    let name = LeafName(name.into());
    let identity = Identity::new("turmoil", name, "0.1.0", started, Arc::new(SystemClock));
    identity.map(Arc::new).map_err(|error| error.to_string())
}

/// The processes of the leaves that serve: their starts. It stands for what members announce.
pub(crate) type Processes = Arc<Vec<AtomicU64>>;

/// The parts of a door.
pub(crate) struct Door {
    machine: MachineName,
    identity: Arc<Identity>,
    tree: ClusterTree,
    placement: Placement,
    leaves: Vec<String>,
    processes: Processes,
    planted: Planted,
}

/// A mistake made on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Planted {
    None,
    /// A door takes each try for the first one.
    NewLeafEachTry,
}

impl Door {
    pub(crate) fn open(
        name: &str,
        leaves: &[String],
        (processes, records): (&Processes, Arc<Records>),
        planted: Planted,
    ) -> Result<Self, String> {
        let expected_rows = Arc::new(ExpectedRows::default());
        let machine = MachineName(name.into());
        let clock = Arc::new(SystemClock);
        let door = Self {
            identity: identity(name, 1)?,
            tree: ClusterTree::new(machine.clone(), 5, &expected_rows),
            placement: Placement::in_cluster(records, clock, &expected_rows, &Arc::default()),
            machine,
            leaves: leaves.to_vec(),
            processes: Arc::clone(processes),
            planted,
        };
        for (leaf, started) in processes.iter().enumerate() {
            door.join(leaf, started.load(Ordering::SeqCst))?;
        }
        Ok(door)
    }

    /// Makes the process of a leaf that started at this time reachable.
    fn join(&self, leaf: usize, started: u64) -> Result<Arc<RemoteLeaf>, String> {
        let host = self.leaves[leaf].as_str();
        let name = LeafName(host.into());
        let (network, identity) = (Arc::new(Simulated), Arc::clone(&self.identity));
        let connection = Connection::over(network, address_of(host), identity);
        let connection = Arc::new(connection.map_err(|error| error.to_string())?);
        let proxy = Arc::new(RemoteLeaf::new(name.clone(), connection).of_process(started));
        let alive = MemberState::Announced(LeafState::Alive);
        self.tree.put_leaf(name.clone(), self.machine.clone(), proxy.clone(), alive);
        self.placement.join(PlacementLeaf {
            name,
            sink: proxy.clone(),
            admin: proxy.clone(),
            tables: Vec::new(),
            joined: Some(Micros(0)),
        });
        Ok(proxy)
    }

    /// Stands for membership.
    pub(crate) async fn watch(&self, leaf: usize) -> Result<(), String> {
        let name = LeafName(self.leaves[leaf].as_str().into());
        let mut started = self.processes[leaf].load(Ordering::SeqCst);
        let mut proxy = self.join(leaf, started)?;
        let mut heard = Instant::now();
        loop {
            let now = self.processes[leaf].load(Ordering::SeqCst);
            if now != started {
                started = now;
                proxy = self.join(leaf, started)?;
            }
            let asked = proxy.status(&StatusScope::Leaves);
            let status = timeout(ASK, asked).await.unwrap_or_else(|_| PeerStatus::default());
            if !status.leaves.is_empty() {
                heard = Instant::now();
            }
            let state = match heard.elapsed() > SILENT {
                true => MemberState::Silent,
                false => MemberState::Announced(LeafState::Alive),
            };
            self.tree.set_leaf_state(&name, state);
            self.placement.set_state(&name, state, 0, 1 << 30);
            sleep(ASK).await;
        }
    }

    /// Sends a batch of one row until it is acknowledged, or another door has it acknowledged.
    pub(crate) async fn send(&self, number: usize, clients: &Clients) -> Result<(), String> {
        let mut batch = batch(&format!("b{number}")).ok_or("no batch")?;
        batch.first_try = self.planted == Planted::NewLeafEachTry;
        loop {
            clients.note_sent(&batch.id);
            match self.placement.accept(batch.clone()).await {
                Ok(_) => {
                    clients.note_acknowledged(&batch.id);
                    return Ok(());
                }
                Err(_) => sleep(Duration::from_millis(300)).await,
            }
        }
    }

    /// Asks for all rows again and again, and checks each answer.
    pub(crate) async fn ask(&self, times: usize, clients: &Clients) -> Result<(), String> {
        for _ in 0..times {
            let table = table().ok_or("no table")?;
            let kind = QueryKind::Groups { keys: Vec::new(), measures: Vec::new() };
            let query = Arc::new(Query { deadline: DEADLINE, ..Query::new(table, kind) });
            let start = Instant::now();
            let partial = self.tree.query(query, (start + DEADLINE).into_std()).await;
            let (took, coverage) = (start.elapsed(), partial.coverage);
            let sent = clients.sent() as u64;
            let names: BTreeSet<_> = coverage.leaves.iter().map(|leaf| &leaf.name).collect();
            let whole = names.len() == self.leaves.len() && coverage.leaves.len() == names.len();
            if took > DEADLINE + LATE || coverage.rows_scanned > sent || !whole {
                return Err(format!("after {took:?}, with {sent} batches sent: {coverage:?}"));
            }
            sleep(Duration::from_millis(200)).await;
        }
        Ok(())
    }
}

fn table() -> Option<TableName> {
    TableName::new("t").ok()
}

fn batch(id: &str) -> Option<Batch> {
    let mut builder = BlockBuilder::new(ColumnName::new("time").ok()?);
    let column = builder.column(&ColumnName::new("v").ok()?, Kind::String);
    builder.push_string(column, id).ok()?;
    builder.end_row(Micros(1));
    let id = BatchId::new(id)?;
    let block = builder.finish(Micros(0), Some((&id, 7))).ok()?;
    Some(Batch::encoded(table()?, id, 7, 1, block))
}
