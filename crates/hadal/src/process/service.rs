//! A server in this process: opened, announced, run until it is asked to stop, closed.

use std::future::{Future, pending};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::fd::{AsFd, OwnedFd};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use hadal_definitions::DefinitionsError;
use hadal_frontend::{Frontend, restore_settings};
use hadal_types::{Document, TableName, TableSettings};
use tokio::runtime::{Handle, Runtime};
use tokio::sync::{Notify, oneshot};

use crate::error::Error;
use crate::output;
use crate::process::cluster::node::Node;
use crate::process::handover::{Door, Stopped, Successor, stop_time};
use crate::process::recovered::Recovered;
use crate::process::role;
use crate::process::role::Parts;
use crate::process::role::doors::check_files;
use crate::process::role::pg_door::PgDoor;
use crate::process::role::tree::Tree;
use crate::process::runtime::runtime;
use crate::process::service_config::ServiceConfig;
use crate::process::shutdown::{Reason, asked_by_end_of_input, asked_by_signal, end_at_the_latest};

/// The time limit for queries and threads that still run after a stop.
const STOP_TIME: Duration = Duration::from_secs(5);
/// The delay from the first served requests to the end of the server before this one.
const FIRST_ANSWERS_TIME: Duration = Duration::from_millis(100);

/// An open server that does not serve yet.
pub(crate) struct Service {
    parts: Parts,
    /// Becomes ready when a signal asks the process to end.
    asked_to_end: Pin<Box<dyn Future<Output = Reason> + Send>>,
    runtime: Runtime,
    stop_max: Duration,
}

impl Service {
    /// Opens all parts of a server and recovers the existing rows.
    pub(crate) fn open(config: ServiceConfig) -> Result<Self, Error> {
        let connections_max = check_files(&config)?;
        let runtime = runtime()?;
        let (stop_max, ends_with_input) = (config.storage.stop_max(), config.ends_with_input);
        let parts = match config.cluster.clone() {
            None => role::all::open(config, connections_max, &runtime)?,
            Some(cluster) => role::aggregator::open(config, &cluster, connections_max, &runtime)?,
        };
        // A process that reads the announced address may send a signal at once.
        let by_signal = runtime.block_on(async { asked_by_signal() })?;
        let asked_to_end = Box::pin(async move {
            tokio::select! {
                reason = by_signal => reason,
                () = asked_by_end_of_input(ends_with_input) => Reason::EndOfInput,
            }
        });
        if let Some(pg) = &parts.pg {
            output::say(&format!("PostgreSQL clients connect to {}", pg.bound));
        }
        Ok(Self { parts, asked_to_end, runtime, stop_max })
    }

    /// The tree, for code that queries it and sends batches to it without a door.
    pub(crate) fn tree(&self) -> &Tree {
        &self.parts.tree
    }

    /// Where other members of its cluster call this server; `None` for a server on its own.
    pub(crate) fn member_address(&self) -> Option<SocketAddr> {
        self.parts.node.as_ref().map(|node| node.address)
    }

    /// The result of the recovery at the start.
    pub(crate) fn recovered(&self) -> &Recovered {
        &self.parts.recovered
    }

    /// The URL to open in a browser. It has the loopback address if the server listens on all
    /// addresses.
    pub(crate) fn url(&self) -> String {
        let mut address = self.parts.http.listen;
        if address.ip().is_unspecified() {
            address.set_ip(IpAddr::V4(Ipv4Addr::LOCALHOST));
        }
        format!("http://{address}")
    }

    /// The location of the rows, worded for people.
    pub(crate) fn data(&self) -> &str {
        &self.parts.data
    }

    /// Adds tables that are filled without a door to the definitions and the leaves; a door would
    /// do so itself. Such a table has default settings unless others are set.
    pub(crate) fn define(&self, tables: &[TableName]) -> Result<(), Error> {
        let new = |table: &TableName| (table.clone(), TableSettings::of_new(table));
        let new: Vec<_> = tables.iter().map(new).collect();
        self.runtime.block_on(async {
            let added = self.parts.backend.definitions.add_table_settings(&new).await;
            added.map_err(|error| Error::Server(error.to_string()))?;
            let restored = restore_settings(&self.parts.backend).await;
            restored.map_err(|error| Error::Server(error.to_string()))
        })
    }

    /// Stores dashboards, except those whose names are taken.
    pub(crate) fn add_dashboards(&self, dashboards: &[Document]) -> Result<(), Error> {
        self.runtime.block_on(async {
            for dashboard in dashboards {
                match self.parts.backend.definitions.set_document(Some(0), dashboard).await {
                    Ok(_) | Err(DefinitionsError::DocumentConflict { .. }) => {}
                    Err(error) => return Err(Error::Server(error.to_string())),
                }
            }
            Ok(())
        })
    }

    /// The runtime, for threads that hand batches over.
    pub(crate) fn handle(&self) -> Handle {
        self.runtime.handle().clone()
    }

    /// Serves until a signal, an authorized client or a successor asks for the end. Then stops in
    /// order: no new requests, running ones finished, no more batches, files closed. Calls `stop`
    /// when the stop begins.
    pub(crate) fn run(self, stop: impl FnOnce(Reason) + Send + 'static) -> Result<(), Error> {
        let Self { parts, asked_to_end, runtime, stop_max } = self;
        let Parts {
            leaves, http, pg, frontend, listener, door, backend, predecessor, node, ..
        } = parts;
        let socket = listener.as_fd().try_clone_to_owned();
        let socket = socket.map_err(Error::io("listen on", http.listen))?;
        let (give, given) = oneshot::channel();
        let (stop_pg, pg_stopped) = oneshot::channel();
        let prepare = leaves.preparation();
        let membership = node.as_ref().map(|node| Arc::clone(&node.membership));
        let asked = Arc::clone(&http.stop);
        let shutdown = async move {
            end_in_a_moment(predecessor);
            let (reason, successor) =
                asked_to_stop(asked_to_end, &asked, door.as_ref(), &socket).await;
            prepare();
            if let Some(membership) = membership {
                Node::prepare(&membership);
            }
            stop(reason);
            let is_waited_for = successor.is_some() || door.as_ref().is_some_and(Door::has_guest);
            let limit = end_at_the_latest(stop_time(stop_max, is_waited_for));
            // The receivers have gone if the server has failed meanwhile.
            let _ = stop_pg.send(());
            let _ = give.send((successor, door, socket, limit));
        };
        let frontend = Frontend::new(frontend, backend);
        let serving_pg = serve_pg(pg, Arc::clone(&frontend), pg_stopped);
        let serving_http = hadal_http::serve(http, Arc::clone(&frontend), listener, shutdown);
        let serving = async {
            let (http, pg) = tokio::join!(serving_http, serving_pg);
            http.map_err(|error| Error::Server(error.to_string())).and(pg)
        };
        let served = runtime.block_on(frontend.keep_self_tables_while(serving));
        leaves.stop_taking();
        if let Some(node) = node {
            node.stop(&runtime);
        }
        runtime.shutdown_timeout(STOP_TIME);
        leaves.stop().iter().for_each(|failure| output::say(failure));
        if let Ok((successor, door, socket, limit)) = given.blocking_recv() {
            // The limit excludes the time that the successor takes to serve.
            drop(limit);
            let successor = successor.or_else(|| door.as_ref().and_then(Door::guest));
            // A process that finds no handover socket must find the address free. The successor
            // opens its own socket at the same path.
            drop(socket);
            drop(door);
            if let Some(successor) = successor {
                successor.tell_stopped();
            }
        }
        // The system frees a process's memory at its end, all at once. Dropping a hundred thousand
        // row blocks one by one would delay processes that wait for that end. So would a merge that
        // still runs and whose result is discarded.
        std::mem::forget(leaves);
        served
    }
}

/// Serves PostgreSQL clients, if there is a door for them, until `stopped` is sent or dropped.
async fn serve_pg(
    pg: Option<PgDoor>,
    frontend: Arc<Frontend>,
    stopped: oneshot::Receiver<()>,
) -> Result<(), Error> {
    let Some(PgDoor { listener, config, .. }) = pg else { return Ok(()) };
    let shutdown = async move {
        // The sender is dropped when the HTTP door has failed.
        let _ = stopped.await;
    };
    let served = hadal_pgwire::serve(config, frontend, listener, shutdown).await;
    served.map_err(|error| Error::Server(error.to_string()))
}

/// Lets the server before this one end once waiting clients have an answer: unmapping its memory
/// keeps a core busy.
fn end_in_a_moment(predecessor: Option<Stopped>) {
    if predecessor.is_some() {
        tokio::spawn(async move {
            tokio::time::sleep(FIRST_ANSWERS_TIME).await;
            drop(predecessor);
        });
    }
}

/// Becomes ready when the process is asked to end, or a successor has the socket and is ready.
async fn asked_to_stop(
    by_signal: impl Future<Output = Reason>,
    by_client: &Notify,
    door: Option<&Door>,
    socket: &OwnedFd,
) -> (Reason, Option<Successor>) {
    let succeeded = async {
        let Some(door) = door else { return pending().await };
        door.successor(socket).await
    };
    tokio::select! {
        reason = by_signal => (reason, None),
        () = by_client.notified() => (Reason::Client, None),
        successor = succeeded => (Reason::Successor, Some(successor)),
    }
}
