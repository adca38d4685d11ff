//! The role of a server that does everything: it stores rows, queries them, and serves clients.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hadal_definitions::{Definitions, Location};
use hadal_frontend::{Backend, FrontendConfig, restore_settings};
use hadal_leaf::Archive;
use hadal_types::Clock;
use tokio::runtime::Runtime;

use crate::archive::{ArchiveLocation, Watch};
use crate::error::Error;
use crate::output;
use crate::process::cluster::belonging::Belonging;
use crate::process::damage::damage;
use crate::process::handover::{Door, Predecessor};
use crate::process::memory::Memory;
use crate::process::recovered::Recovered;
use crate::process::role::Parts;
use crate::process::role::address::{ASK_AGAIN, Address, patience};
use crate::process::role::doors::{frontend_config, http_config};
use crate::process::role::leaves::{Leaves, LeavesConfig, OpenLeaves};
use crate::process::role::pg_door::PgDoor;
use crate::process::role::tree::Tree;
use crate::process::service_config::ServiceConfig;

/// The name of the file of definitions in a data folder.
const DEFINITIONS_FILE: &str = "definitions.sqlite";

/// Opens all parts. Takes the address first, so that a second server on it fails before it opens
/// any data. A server that hands over gets the stop message only once this process needs nothing
/// but its folder. Errors of this process leave that server running.
pub(crate) fn open(
    config: ServiceConfig,
    connections_max: usize,
    runtime: &Runtime,
) -> Result<Parts, Error> {
    let memory = Memory::decide(&config.storage.memory_of, config.folder.is_some())?;
    let folder = config.folder.as_deref();
    folder.map(Belonging::refuse).transpose()?;
    let Address { listener, bound, predecessor } =
        Address::take(runtime, config.doors.listen, folder, config.takes_over)?;
    let mut http = http_config(&config, bound, connections_max)?;
    let open_pg =
        |http: &mut _, takes_over| PgDoor::open(&config.doors, http, runtime, patience(takes_over));
    let pg = if predecessor.is_none() { open_pg(&mut http, false)? } else { None };
    let archive_location = config.storage.archive()?;
    let frontend = frontend_config(&config, archive_location.as_ref(), memory.table_bytes_max)?;
    let location = definitions_location(config.definitions, folder);
    let data = folder.map(|folder| folder.display().to_string());
    let data = data.unwrap_or_else(|| http.about.data.clone());
    let mut leaves_config = LeavesConfig {
        archive: archive(archive_location.as_ref(), &frontend)?,
        folder: config.folder,
        durability: config.storage.durability(),
        memory,
        preopened: Vec::new(),
        leaves: OpenLeaves::All(config.leaves),
        clock: Arc::clone(&config.clock),
        clock_proving: config.storage.clock_proving(),
    };
    let refused = |error: String| Error::Server(format!("{error}; the server does not start"));
    let definitions = runtime.block_on(Definitions::open(&location));
    let definitions = definitions.map_err(|error| refused(error.to_string()))?;
    if predecessor.is_some() {
        leaves_config.preopen()?;
    }
    let predecessor = predecessor.map(Predecessor::stop).transpose()?;
    // The server before had the address of this door until now.
    let pg = if predecessor.is_some() { open_pg(&mut http, true)? } else { pg };
    let opened = runtime.block_on(open_with_door(&leaves_config, config.takes_over));
    let ((leaves, recovered), door) = opened?;
    let tree = Tree::over(&leaves);
    let backend = backend(&leaves, &tree, definitions, config.clock, &recovered);
    runtime.block_on(restore_settings(&backend)).map_err(|error| refused(error.to_string()))?;
    Ok(Parts {
        listener,
        http,
        pg,
        frontend,
        backend,
        leaves,
        recovered,
        tree,
        data,
        door,
        predecessor,
        node: None,
    })
}

/// Opens the leaves, and then the handover socket in their folder.
async fn open_with_door(
    config: &LeavesConfig,
    takes_over: bool,
) -> Result<((Leaves, Recovered), Option<Door>), Error> {
    let opened = open_leaves(config, patience(takes_over)).await?;
    // The socket may belong to another server until the folder belongs to this process.
    let door = config.folder.as_deref().and_then(|folder| {
        let opened = Door::open(folder);
        opened.inspect_err(|error| output::say(&format!("no handover: {error}"))).ok()
    });
    Ok((opened, door))
}

/// Opens the leaves. Tries again for `patience` while another process has their folder.
async fn open_leaves(
    config: &LeavesConfig,
    patience: Duration,
) -> Result<(Leaves, Recovered), Error> {
    let start = Instant::now();
    loop {
        match Leaves::open(config).await {
            Err(Error::Store(hadal_store::Error::InUse(_))) if start.elapsed() < patience => {
                tokio::time::sleep(ASK_AGAIN).await;
            }
            opened => return opened,
        }
    }
}

/// Opens the archive at a place, if one is given, and starts to watch whether it can be written.
fn archive(
    place: Option<&ArchiveLocation>,
    frontend: &FrontendConfig,
) -> Result<Option<Arc<dyn Archive>>, Error> {
    let Some(place) = place else { return Ok(None) };
    let files = place.open()?;
    Watch::start(Arc::clone(&files), Arc::clone(&frontend.archive_error))?;
    Ok(Some(files))
}

/// Assembles the backend of the front.
fn backend(
    leaves: &Leaves,
    tree: &Tree,
    definitions: Definitions,
    clock: Arc<dyn Clock>,
    recovered: &Recovered,
) -> Backend {
    let memories = leaves.memories.clone();
    Backend {
        memory: Arc::new(move || memories.used()),
        root: tree.root.clone(),
        sink: Arc::clone(&tree.placement) as _,
        admin: Arc::clone(&tree.placement) as _,
        definitions: Arc::new(definitions),
        ledger: Arc::clone(&tree.expected_rows),
        clock,
        members: None,
        damage: damage(recovered).into(),
    }
}

/// Returns the location of definitions. Reports if a file that the user named does not exist: after
/// a typing error all tables would have default settings.
fn definitions_location(given: Option<Location>, folder: Option<&Path>) -> Location {
    if let Some(Location::File(path)) = &given
        && !path.exists()
    {
        output::say(&format!("starting with new definitions: {} does not exist", path.display()));
    }
    let with_rows = folder.map(|folder| Location::File(folder.join(DEFINITIONS_FILE)));
    given.or(with_rows).unwrap_or(Location::Memory)
}
