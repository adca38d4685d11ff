//! The settings with which a server starts.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use hadal_definitions::Location;
use hadal_leaf::Durability;
use hadal_types::limits::{CLOCK_PROVING_SECONDS, SERVER_STOP_SECONDS_MAX};
use hadal_types::{Clock, SystemClock};

use crate::archive::ArchiveLocation;
use crate::args::DoorArgs;
use crate::process::memory::MemoryArgs;
use crate::process::system;

/// The settings of a server.
pub(crate) struct ServiceConfig {
    pub(crate) doors: DoorArgs,
    /// The data folder; `None` keeps rows in memory.
    pub(crate) folder: Option<PathBuf>,
    /// When a batch is acknowledged.
    pub(crate) durability: Durability,
    pub(crate) memory: MemoryArgs,
    /// Whether this server takes over from the one that has the folder.
    pub(crate) takes_over: bool,
    /// The location of definitions; `None` stores them with the rows.
    pub(crate) definitions: Option<Location>,
    pub(crate) leaves: usize,
    pub(crate) clock: Arc<dyn Clock>,
    /// The archive that gets expiring rows of tables set to it.
    pub(crate) archive: Option<ArchiveLocation>,
    /// The time limit of a stop.
    pub(crate) stop_max: Duration,
    /// How long the clock must run correctly before rows expire.
    pub(crate) clock_proving: Duration,
}

impl ServiceConfig {
    /// A server in memory on a free port of this machine.
    pub(crate) fn private() -> Self {
        let doors = DoorArgs {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            token_file: None,
            no_tls: false,
            allowed_host: Vec::new(),
            // No user searches its self tables.
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

    /// A server at the address that clients expect, with its rows in a folder.
    pub(crate) fn standard(listen: SocketAddr, folder: PathBuf) -> Self {
        let mut config = Self { folder: Some(folder), ..Self::private() };
        config.doors.listen = listen;
        config.doors.no_journal = false;
        config
    }
}
