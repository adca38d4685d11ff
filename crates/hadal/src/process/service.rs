//! A server in this process: opened, announced, run until it is told to stop, closed.

use std::future::{Future, pending};
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hadal_definitions::{Definitions, Location};
use hadal_frontend::{Backend, Frontend, FrontendConfig, restore_settings};
use hadal_http::{About, Config};
use hadal_leaf::{Archive, Durability};
use hadal_types::limits::{CLOCK_PROVING_SECONDS, CONNECTIONS_MAX, SERVER_STOP_SECONDS_MAX};
use hadal_types::{Clock, SystemClock, TableName, TableSettings};
use tokio::net::TcpListener;
use tokio::runtime::{Handle, Runtime};
use tokio::sync::{Notify, oneshot};

use crate::archive::{ArchiveLocation, Watch};
use crate::cli::DoorArgs;
use crate::error::Error;
use crate::output;
use crate::process::damage::damage;
use crate::process::engine;
use crate::process::engine::{Engine, EngineConfig, Recovered};
use crate::process::file_permissions;
use crate::process::handover::{Door, Predecessor, Stopped, Successor, stop_time};
use crate::process::memory::{Memory, MemoryArgs};
use crate::process::shutdown::{Reason, asked_by_signal, end_at_the_latest};
use crate::process::system;
use crate::process::token;

/// The file of definitions in a data folder.
const DEFINITIONS_FILE: &str = "definitions.sqlite";
/// After a stop, queries and threads that are still at work are given so long.
const STOP_TIME: Duration = Duration::from_secs(5);
/// A server that was killed as its successor came, or whose stop took too long, may have its address and its
/// folder so long after it has left its door.
const END_TIME: Duration = Duration::from_secs(1);
/// So often they are asked for meanwhile.
const ASK_AGAIN: Duration = Duration::from_millis(5);
/// A server that this one follows ends so long after this one serves.
const FIRST_ANSWERS_TIME: Duration = Duration::from_millis(100);

/// What a server is made of.
pub(crate) struct ServiceConfig {
    pub(crate) doors: DoorArgs,
    /// `None`: in memory.
    pub(crate) folder: Option<PathBuf>,
    /// When a batch counts as taken.
    pub(crate) durability: Durability,
    pub(crate) memory: MemoryArgs,
    /// Whether a server that has the folder is to hand over to this one.
    pub(crate) takes_over: bool,
    /// Where definitions are; `None`: with the rows.
    pub(crate) definitions: Option<Location>,
    pub(crate) leaves: usize,
    pub(crate) clock: Arc<dyn Clock>,
    /// Where rows of tables that are set so go before they are dropped.
    pub(crate) archive: Option<ArchiveLocation>,
    /// What a stop may take at most.
    pub(crate) stop_max: Duration,
    /// For how long the clock goes right before rows go for their age.
    pub(crate) clock_proving: Duration,
}

/// A server that is open, and not yet served.
pub(crate) struct Service {
    pub(crate) engine: Engine,
    pub(crate) recovered: Recovered,
    config: Config,
    frontend: FrontendConfig,
    /// Where rows are kept: with a path, which no answer has.
    data: String,
    listener: TcpListener,
    /// Where a successor asks to take over; none without a folder.
    door: Option<Door>,
    backend: Backend,
    /// Becomes ready when the process is asked to end, by a signal.
    told: Pin<Box<dyn Future<Output = Reason> + Send>>,
    runtime: Runtime,
    stop_max: Duration,
    /// The server that this one follows.
    before: Option<Stopped>,
}

impl ServiceConfig {
    /// A server in memory on a free port of this machine.
    pub(crate) fn private() -> Self {
        let doors = DoorArgs {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            token_file: None,
            no_tls: false,
            allowed_host: Vec::new(),
            // Nobody looks for it there.
            no_journal: true,
        };
        let clock = Arc::new(SystemClock);
        Self {
            doors,
            folder: None,
            durability: Durability::Sync,
            memory: MemoryArgs::default(),
            takes_over: false,
            definitions: None,
            leaves: system::cores(),
            clock,
            archive: None,
            stop_max: Duration::from_secs(SERVER_STOP_SECONDS_MAX),
            clock_proving: Duration::from_secs(CLOCK_PROVING_SECONDS),
        }
    }

    /// A server where clients look for one, with its rows in a folder.
    pub(crate) fn standard(listen: SocketAddr, folder: PathBuf) -> Self {
        let mut config = Self { folder: Some(folder), ..Self::private() };
        config.doors.listen = listen;
        config.doors.no_journal = false;
        config
    }
}

impl Service {
    /// Takes the address first, so that a second server on it stops before it opens any data; or
    /// takes it over, from a server that stops for this one; then recovers what there is.
    pub(crate) fn open(config: ServiceConfig) -> Result<Self, Error> {
        let connections_max = checked_files(&config)?;
        let runtime = runtime()?;
        let listen = config.doors.listen;
        // From here on another server may know of this one. It is told to stop last: what is wrong with
        // this one is none of its business.
        let memory = Memory::decide(&config.memory, config.folder.is_some())?;
        let before = match &config.folder {
            Some(folder) if config.takes_over => Predecessor::ask(folder)?,
            _ => None,
        };
        let (listener, before) = runtime.block_on(listener(listen, config.takes_over, before))?;
        let bound = listener.local_addr().map_err(Error::io("listen on", listen))?;
        let mut doors = doors(&config, bound)?;
        doors.connections_max = connections_max;
        let frontend = frontend_config(&config, memory.table_bytes_max);
        // Whoever is told to end has as long again to say so.
        doors.stopping_time = doors.stopping_time.min(config.stop_max / 2);
        doors.check().map_err(|error| Error::Usage(error.to_string()))?;
        let place = definitions_location(config.definitions, config.folder.as_deref());
        let data = config.folder.as_ref().map(|folder| folder.display().to_string());
        let data = data.unwrap_or_else(|| doors.about.data.clone());
        let mut engine = EngineConfig {
            archive: archive(config.archive.as_ref(), &frontend)?,
            folder: config.folder,
            durability: config.durability,
            memory,
            early: Vec::new(),
            leaves: config.leaves,
            clock: Arc::clone(&config.clock),
            clock_proving: config.clock_proving,
        };
        let refused = |error: String| Error::Server(format!("{error}; the server does not start"));
        let definitions = runtime.block_on(Definitions::open(&place));
        let definitions = definitions.map_err(|error| refused(error.to_string()))?;
        if before.is_some() {
            engine.find_early()?;
        }
        let before = before.map(Predecessor::stop).transpose()?;
        let (opened, door) = runtime.block_on(open_with_door(&engine, config.takes_over))?;
        let (engine, recovered) = opened;
        let backend = backend(&engine, definitions, config.clock, &recovered);
        runtime.block_on(restore_settings(&backend)).map_err(|error| refused(error.to_string()))?;
        // Whoever reads where it listens may stop it at once.
        let told = Box::pin(runtime.block_on(async { asked_by_signal() })?);
        let stop_max = config.stop_max;
        let config = doors;
        Ok(Self {
            engine,
            recovered,
            config,
            frontend,
            data,
            listener,
            door,
            backend,
            told,
            runtime,
            stop_max,
            before,
        })
    }

    /// The address to open in a browser: this machine's own where the server listens on all.
    pub(crate) fn url(&self) -> String {
        let mut address = self.config.listen;
        if address.ip().is_unspecified() {
            address.set_ip(IpAddr::V4(Ipv4Addr::LOCALHOST));
        }
        format!("http://{address}")
    }

    /// Where rows are kept, in words.
    pub(crate) fn data(&self) -> &str {
        &self.data
    }

    /// Tells definitions and leaves of tables that are filled by other ways than the doors, which
    /// would tell them: such a table has the defaults unless somebody has set something.
    pub(crate) fn settle(&self, tables: &[TableName]) -> Result<(), Error> {
        let new = |table: &TableName| (table.clone(), TableSettings::of_new(table));
        let new: Vec<_> = tables.iter().map(new).collect();
        self.runtime.block_on(async {
            let added = self.backend.definitions.add_table_settings(&new).await;
            added.map_err(|error| Error::Server(error.to_string()))?;
            let told = restore_settings(&self.backend).await;
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
        let Self { engine, config, frontend, listener, door, backend, .. } = self;
        let (told, runtime) = (self.told, self.runtime);
        let (stop_max, before) = (self.stop_max, self.before);
        let socket = listener.as_fd().try_clone_to_owned();
        let socket = socket.map_err(Error::io("listen on", config.listen))?;
        let (give, given) = oneshot::channel();
        let prepare = engine.preparation();
        let asked = Arc::clone(&config.stop);
        let shutdown = async move {
            end_in_a_moment(before);
            let (reason, successor) = asked_to_stop(told, &asked, door.as_ref(), &socket).await;
            prepare();
            stop(reason);
            let is_waited_for = successor.is_some() || door.as_ref().is_some_and(Door::has_guest);
            let limit = end_at_the_latest(stop_time(stop_max, is_waited_for));
            // Nobody waits for it when the server has failed meanwhile.
            let _ = give.send((successor, door, socket, limit));
        };
        let frontend = Frontend::new(frontend, backend);
        let serving = hadal_http::serve(config, Arc::clone(&frontend), listener, shutdown);
        let served = runtime.block_on(frontend.keep_self_tables_while(serving));
        engine.stop_taking();
        runtime.shutdown_timeout(STOP_TIME);
        engine.stop().iter().for_each(|failure| output::say(failure));
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
        std::mem::forget(engine);
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
fn end_in_a_moment(before: Option<Stopped>) {
    if before.is_some() {
        tokio::spawn(async move {
            tokio::time::sleep(FIRST_ANSWERS_TIME).await;
            drop(before);
        });
    }
}

/// A socket for the address: the one of the server before, if it listens there, else a new one.
async fn listener(
    listen: SocketAddr,
    takes_over: bool,
    before: Option<Predecessor>,
) -> Result<(TcpListener, Option<Predecessor>), Error> {
    let failed = || Error::io("listen on", listen);
    let Some(before) = before else {
        return Ok((bind(listen, patience(takes_over)).await.map_err(failed())?, None));
    };
    let socket = before.listener.try_clone().map_err(failed())?;
    if socket.local_addr().is_ok_and(|address| address == listen) {
        socket.set_nonblocking(true).map_err(failed())?;
        return Ok((TcpListener::from_std(socket).map_err(failed())?, Some(before)));
    }
    Ok((TcpListener::bind(listen).await.map_err(failed())?, Some(before)))
}

/// How long what another server has is asked for again.
fn patience(takes_over: bool) -> Duration {
    if takes_over { END_TIME } else { Duration::ZERO }
}

/// Opens the engine, and then the door to its folder that a successor comes by.
async fn open_with_door(
    config: &EngineConfig,
    takes_over: bool,
) -> Result<((Engine, Recovered), Option<Door>), Error> {
    let opened = open_engine(config, patience(takes_over)).await?;
    // Not before the folder is this process's: the door may be another's.
    let door = config.folder.as_deref().and_then(|folder| {
        let opened = Door::open(folder);
        opened.inspect_err(|error| output::say(&format!("no handover: {error}"))).ok()
    });
    Ok((opened, door))
}

/// The database. Where somebody has a folder of it, it is asked for again for so long.
async fn open_engine(
    config: &EngineConfig,
    patience: Duration,
) -> Result<(Engine, Recovered), Error> {
    let start = Instant::now();
    loop {
        match Engine::open(config).await {
            Err(Error::Store(hadal_store::Error::InUse(_))) if start.elapsed() < patience => {
                tokio::time::sleep(ASK_AGAIN).await;
            }
            opened => return opened,
        }
    }
}

/// A new socket for the address. Where somebody has it, it is asked for again for so long.
async fn bind(listen: SocketAddr, patience: Duration) -> io::Result<TcpListener> {
    let start = Instant::now();
    loop {
        match TcpListener::bind(listen).await {
            Err(error)
                if error.kind() == io::ErrorKind::AddrInUse && start.elapsed() < patience =>
            {
                tokio::time::sleep(ASK_AGAIN).await;
            }
            bound => return bound,
        }
    }
}

/// The archive at a place, if there is to be one; whether it can be written is looked at from now on.
fn archive(
    place: Option<&ArchiveLocation>,
    frontend: &FrontendConfig,
) -> Result<Option<Arc<dyn Archive>>, Error> {
    let Some(place) = place else { return Ok(None) };
    let files = place.open()?;
    Watch::start(Arc::clone(&files), Arc::clone(&frontend.archive_error))?;
    Ok(Some(files))
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

fn doors(config: &ServiceConfig, bound: SocketAddr) -> Result<Config, Error> {
    let mut doors = Config::new(bound);
    doors.no_tls = config.doors.no_tls;
    doors.allowed_hosts.clone_from(&config.doors.allowed_host);
    doors.admin_token = match (&config.doors.token_file, &config.folder) {
        (Some(file), _) => Some(token::given(file)?),
        (None, Some(folder)) => Some(token::in_folder(folder)?),
        (None, None) => None,
    };
    doors.about = About {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        commit: env!("HADAL_COMMIT").to_owned(),
        cpu: hadal_leaf::cpu_path().to_owned(),
        data: match &config.folder {
            Some(_) => "in a folder".to_owned(),
            None => "in memory only".to_owned(),
        },
    };
    Ok(doors)
}

/// What is behind the front.
fn backend(
    engine: &Engine,
    definitions: Definitions,
    clock: Arc<dyn Clock>,
    recovered: &Recovered,
) -> Backend {
    let memories = engine.memories.clone();
    Backend {
        memory: Arc::new(move || memories.used()),
        root: engine.root.clone(),
        sink: Arc::clone(&engine.placement) as _,
        admin: Arc::clone(&engine.placement) as _,
        definitions,
        ledger: Arc::clone(&engine.ledger),
        clock,
        damage: damage(recovered).into(),
    }
}

fn frontend_config(config: &ServiceConfig, table_bytes_max: u64) -> FrontendConfig {
    FrontendConfig {
        table_bytes_max,
        archive: config.archive.as_ref().map(ToString::to_string),
        keeps_self_tables: !config.doors.no_journal,
        ..FrontendConfig::default()
    }
}

/// Sees to it that files are this user's alone, and that enough of them can be open; returns how many
/// connections that leaves.
fn checked_files(config: &ServiceConfig) -> Result<usize, Error> {
    if config.folder.is_some() {
        system::keep_files_private();
    }
    let files = system::raise_file_limit();
    let connections_max = connections_max(config, files)?;
    if let Some(folder) = &config.folder {
        file_permissions::keep_others_out(folder)?;
    }
    Ok(connections_max)
}

/// How many connections this limit of open files leaves.
fn connections_max(config: &ServiceConfig, files: Option<u64>) -> Result<usize, Error> {
    let holdings = config.folder.as_deref().map(|folder| engine::holdings(folder, config.leaves));
    let connections_max = holdings.unwrap_or_default().connections_max(files)?;
    if connections_max < CONNECTIONS_MAX {
        let connections = output::count(connections_max as u64, "connection");
        output::say(&format!("the limit of open files leaves {connections} at the same time"));
    }
    Ok(connections_max)
}

/// Where definitions are. Says that they begin anew where somebody wanted to have them: after a slip of the
/// finger all tables would have their defaults.
fn definitions_location(wanted: Option<Location>, folder: Option<&Path>) -> Location {
    if let Some(Location::File(path)) = &wanted
        && !path.exists()
    {
        output::say(&format!("definitions begin anew: {} was not there", path.display()));
    }
    let with_rows = folder.map(|folder| Location::File(folder.join(DEFINITIONS_FILE)));
    wanted.or(with_rows).unwrap_or(Location::Memory)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_waited_for_that_is_about_to_be_free() {
        let runtime = runtime().expect("a runtime");
        let other = std::net::TcpListener::bind("127.0.0.1:0").expect("bound");
        let address = other.local_addr().expect("an address");
        runtime.block_on(async {
            let refused = bind(address, Duration::ZERO).await.expect_err("somebody has it");
            assert_eq!(refused.kind(), io::ErrorKind::AddrInUse);
            let waiting = tokio::spawn(bind(address, Duration::from_secs(60)));
            drop(other);
            waiting.await.expect("no panic").expect("free");
        });
    }
}
