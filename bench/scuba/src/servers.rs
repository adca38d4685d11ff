//! Servers of processes of one cluster, all in this process, each on a port of its own.

use std::net::SocketAddr;
use std::sync::Arc;

use hadal_peer::{Peer, PlannedPeer};
use hadal_rpc::{Connection, Identity, RemoteAggregator, RemoteLeaf, Services, serve};
use hadal_types::{LeafName, MachineName, SystemClock};
use tokio::net::TcpListener;

use crate::error::Error;

/// The name of a machine.
pub(crate) fn machine_name(machine: usize) -> MachineName {
    MachineName(format!("machine-{machine:04}").into())
}

/// The name of a leaf of a machine.
pub(crate) fn leaf_name(machine: usize, leaf: usize) -> LeafName {
    LeafName(format!("machine-{machine:04}/leaf-{leaf}").into())
}

fn identity(name: LeafName) -> Result<Arc<Identity>, Error> {
    Ok(Arc::new(Identity::new("scuba", name, "0.1.0", 1, Arc::new(SystemClock))?))
}

/// Starts a server, which ends with the runtime; returns its address.
///
/// # Errors
/// When no port is free.
pub(crate) async fn start(
    name: LeafName,
    peer: Arc<dyn Peer>,
    planned: Option<Arc<dyn PlannedPeer>>,
) -> Result<SocketAddr, Error> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let identity = identity(name)?;
    let services = Services {
        peer,
        planned,
        sink: None,
        admin: None,
        reports: None,
        definitions: None,
        restarter: None,
        expected_rows: None,
        functions: Default::default(),
    };
    tokio::spawn(async move {
        let never = std::future::pending();
        // A server fails at its start only, for want of a certificate that it does not use.
        let _ = serve(listener, identity, services, never).await;
    });
    Ok(address)
}

fn connection(address: SocketAddr, caller: &MachineName) -> Result<Arc<Connection>, Error> {
    let caller = identity(LeafName(Arc::clone(&caller.0)))?;
    let connection = Connection::new(address, caller);
    Ok(Arc::new(connection.map_err(std::io::Error::other)?))
}

/// The proxy of a leaf for the aggregator of a machine.
pub(crate) fn remote_leaf(
    name: LeafName,
    address: SocketAddr,
    caller: &MachineName,
) -> Result<Arc<dyn Peer>, Error> {
    Ok(Arc::new(RemoteLeaf::new(name, connection(address, caller)?)))
}

/// The proxy of an aggregator for that of another machine.
pub(crate) fn remote_aggregator(
    machine: &MachineName,
    address: SocketAddr,
    caller: &MachineName,
) -> Result<Arc<dyn PlannedPeer>, Error> {
    Ok(Arc::new(RemoteAggregator::new(machine, connection(address, caller)?)))
}
