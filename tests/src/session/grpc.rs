//! A cluster of three machines in one process: every leaf and every aggregator is a server of its
//! own on a loopback socket, and all calls between them are gRPC.

use std::future::pending;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use hadal_leaf::Leaf;
use hadal_peer::{MemberState, Peer, PlannedPeer};
use hadal_query::FunctionRegistry;
use hadal_rpc::{Connection, Identity, RemoteAggregator, RemoteLeaf, Services, serve};
use hadal_tree::{ClusterTree, ExpectedRows, PlacementLeaf};
use hadal_types::limits::TREE_FANOUT;
use hadal_types::{LeafName, LeafState, MachineName, SystemClock};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

use super::sent::{CountedLeaf, Sent};

const MACHINES: usize = 3;

/// A member that other members can call.
struct Server {
    name: LeafName,
    machine: MachineName,
    address: SocketAddr,
}

/// Serves the leaves on three machines; returns the tree of the first machine, and every leaf for
/// placement.
pub(super) fn cluster(
    runtime: &Runtime,
    leaves: &[Arc<Leaf>],
    expected_rows: &Arc<ExpectedRows>,
    sent: &Arc<Sent>,
) -> Result<(Arc<dyn Peer>, Vec<PlacementLeaf>), String> {
    runtime.block_on(async {
        let mut servers = Vec::new();
        for (index, leaf) in leaves.iter().enumerate() {
            let counted = CountedLeaf { leaf: Arc::clone(leaf) as _, sent: Arc::clone(sent) };
            let services = services(Arc::new(counted), None, Some(leaf));
            servers.push(start(leaf.name().clone(), machine(index % MACHINES), services).await?);
        }
        let mut trees = Vec::new();
        let mut aggregators = Vec::new();
        for index in 0..MACHINES {
            let tree = Arc::new(ClusterTree::new(machine(index), TREE_FANOUT, expected_rows));
            let services = services(Arc::clone(&tree) as _, Some(Arc::clone(&tree) as _), None);
            let name = LeafName(machine(index).0);
            aggregators.push(start(name, machine(index), services).await?);
            trees.push(tree);
        }
        let mut placed = Vec::new();
        for tree in &trees {
            placed.clear();
            for server in &servers {
                let leaf = Arc::new(RemoteLeaf::new(server.name.clone(), connect(server)?));
                let state = MemberState::Announced(LeafState::Alive);
                let peer = Arc::clone(&leaf) as _;
                tree.put_leaf(server.name.clone(), server.machine.clone(), peer, state);
                let (sink, admin) = (Arc::clone(&leaf) as _, leaf as _);
                let tables = Vec::new();
                placed.push(PlacementLeaf {
                    name: server.name.clone(),
                    sink,
                    admin,
                    tables,
                    joined: None,
                });
            }
            for server in &aggregators {
                let remote = RemoteAggregator::new(&server.machine, connect(server)?);
                tree.put_aggregator(server.machine.clone(), Arc::new(remote), true);
            }
        }
        let root = Arc::clone(trees.first().ok_or("no machines")?);
        Ok((root as Arc<dyn Peer>, placed))
    })
}

fn machine(index: usize) -> MachineName {
    MachineName(format!("machine-{index}").into())
}

fn services(
    peer: Arc<dyn Peer>,
    planned: Option<Arc<dyn PlannedPeer>>,
    leaf: Option<&Arc<Leaf>>,
) -> Services {
    Services {
        peer,
        planned,
        sink: leaf.map(|leaf| Arc::clone(leaf) as _),
        admin: leaf.map(|leaf| Arc::clone(leaf) as _),
        reports: None,
        definitions: None,
        restarter: None,
        expected_rows: None,
        functions: FunctionRegistry::default(),
    }
}

/// Serves until the runtime ends.
async fn start(name: LeafName, machine: MachineName, services: Services) -> Result<Server, String> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
    let listener = listener.map_err(|error| error.to_string())?;
    let address = listener.local_addr().map_err(|error| error.to_string())?;
    let identity = identity(name.clone())?;
    tokio::spawn(async move { serve(listener, identity, services, pending()).await });
    Ok(Server { name, machine, address })
}

fn connect(server: &Server) -> Result<Arc<Connection>, String> {
    let identity = identity(LeafName("session".into()))?;
    let connection = Connection::new(server.address, identity);
    connection.map(Arc::new).map_err(|error| error.to_string())
}

fn identity(name: LeafName) -> Result<Arc<Identity>, String> {
    let identity = Identity::new("tests", name, "0.1.0", 1, Arc::new(SystemClock));
    identity.map(Arc::new).map_err(|error| error.to_string())
}
