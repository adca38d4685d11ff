//! A server in this process: opened, announced, run until it is told to stop, closed.

use std::future::{Future, pending};
use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::{AsFd, OwnedFd};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use hadal_frontend::{Frontend, restore_settings};
use hadal_types::{TableName, TableSettings};
use tokio::runtime::{Handle, Runtime};
use tokio::sync::{Notify, oneshot};

use crate::error::Error;
use crate::output;
use crate::process::handover::{Door, Stopped, Successor, stop_time};
use crate::process::recovered::Recovered;
use crate::process::role;
use crate::process::role::all::Parts;
use crate::process::role::doors::check_files;
use crate::process::role::tree::Tree;
use crate::process::service_config::ServiceConfig;
use crate::process::shutdown::{Reason, asked_by_signal, end_at_the_latest};
use crate::process::system;

/// After a stop, queries and threads that are still at work are given so long.
const STOP_TIME: Duration = Duration::from_secs(5);
/// A server that this one follows ends so long after this one serves.
const FIRST_ANSWERS_TIME: Duration = Duration::from_millis(100);

/// A server that is open, and not yet served.
pub(crate) struct Service {
    parts: Parts,
    /// Becomes ready when the process is asked to end, by a signal.
    asked_to_end: Pin<Box<dyn Future<Output = Reason> + Send>>,
    runtime: Runtime,
    stop_max: Duration,
}

impl Service {
    /// Opens all parts of a server, and recovers the rows that are there.
    pub(crate) fn open(config: ServiceConfig) -> Result<Self, Error> {
        let connections_max = check_files(&config)?;
        let runtime = runtime()?;
        let stop_max = config.stop_max;
        let parts = role::all::open(config, connections_max, &runtime)?;
        // Whoever reads where it listens may stop it at once.
        let asked_to_end = Box::pin(runtime.block_on(async { asked_by_signal() })?);
        Ok(Self { parts, asked_to_end, runtime, stop_max })
    }

    /// The tree, for those that ask it and send to it without a door.
    pub(crate) fn tree(&self) -> &Tree {
        &self.parts.tree
    }

    /// What was there at the start.
    pub(crate) fn recovered(&self) -> &Recovered {
        &self.parts.recovered
    }

    /// The address to open in a browser: this machine's own where the server listens on all.
    pub(crate) fn url(&self) -> String {
        let mut address = self.parts.http.listen;
        if address.ip().is_unspecified() {
            address.set_ip(IpAddr::V4(Ipv4Addr::LOCALHOST));
        }
        format!("http://{address}")
    }

    /// Where rows are kept, in words.
    pub(crate) fn data(&self) -> &str {
        &self.parts.data
    }

    /// Tells definitions and leaves of tables that are filled by other ways than the doors, which
    /// would tell them: such a table has the defaults unless somebody has set something.
    pub(crate) fn define(&self, tables: &[TableName]) -> Result<(), Error> {
        let new = |table: &TableName| (table.clone(), TableSettings::of_new(table));
        let new: Vec<_> = tables.iter().map(new).collect();
        self.runtime.block_on(async {
            let added = self.parts.backend.definitions.add_table_settings(&new).await;
            added.map_err(|error| Error::Server(error.to_string()))?;
            let told = restore_settings(&self.parts.backend).await;
            told.map_err(|error| Error::Server(error.to_string()))
        })
    }

    /// For threads that hand batches over.
    pub(crate) fn handle(&self) -> Handle {
        self.runtime.handle().clone()
    }

    /// Serves until a signal asks for the end, or a client that may, or a successor; then stops in
    /// order: no new requests, running ones finished, no more batches, files closed. `stop` is
    /// called when it begins to stop.
    pub(crate) fn run(self, stop: impl FnOnce(Reason) + Send + 'static) -> Result<(), Error> {
        let Self { parts, asked_to_end, runtime, stop_max } = self;
        let Parts { leaves, http, frontend, listener, door, backend, predecessor, .. } = parts;
        let socket = listener.as_fd().try_clone_to_owned();
        let socket = socket.map_err(Error::io("listen on", http.listen))?;
        let (give, given) = oneshot::channel();
        let prepare = leaves.preparation();
        let asked = Arc::clone(&http.stop);
        let shutdown = async move {
            end_in_a_moment(predecessor);
            let (reason, successor) =
                asked_to_stop(asked_to_end, &asked, door.as_ref(), &socket).await;
            prepare();
            stop(reason);
            let is_waited_for = successor.is_some() || door.as_ref().is_some_and(Door::has_guest);
            let limit = end_at_the_latest(stop_time(stop_max, is_waited_for));
            // Nobody waits for it when the server has failed meanwhile.
            let _ = give.send((successor, door, socket, limit));
        };
        let frontend = Frontend::new(frontend, backend);
        let serving = hadal_http::serve(http, Arc::clone(&frontend), listener, shutdown);
        let served = runtime.block_on(frontend.keep_self_tables_while(serving));
        leaves.stop_taking();
        runtime.shutdown_timeout(STOP_TIME);
        leaves.stop().iter().for_each(|failure| output::say(failure));
        if let Ok((successor, door, socket, limit)) = given.blocking_recv() {
            // How long the successor takes to serve is not this one's fault.
            drop(limit);
            let successor = successor.or_else(|| door.as_ref().and_then(Door::guest));
            // Whoever finds nobody behind the door finds the address free; and the successor opens a door
            // of its own in the same place.
            drop(socket);
            drop(door);
            if let Some(successor) = successor {
                successor.tell_stopped();
            }
        }
        // The system takes back what a process had when it ends, all at once: to drop a hundred thousand
        // row blocks one by one would keep whoever waits for that end, and so would a merge that is still
        // under way and comes to nothing.
        std::mem::forget(leaves);
        served.map_err(|error| Error::Server(error.to_string()))
    }
}

/// Threads for all that waits: one for each core.
fn runtime() -> Result<Runtime, Error> {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    runtime.worker_threads(system::cores()).thread_name("hadal").enable_all();
    runtime.build().map_err(Error::io("start", "the runtime"))
}

/// Lets the server before this one end, once whoever waited for an answer has one: to take apart what it
/// has mapped keeps a core busy.
fn end_in_a_moment(predecessor: Option<Stopped>) {
    if predecessor.is_some() {
        tokio::spawn(async move {
            tokio::time::sleep(FIRST_ANSWERS_TIME).await;
            drop(predecessor);
        });
    }
}

/// Becomes ready when the process is asked to end, or a successor has been given the socket.
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
