//! What a server is started with.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use hadal_definitions::Location;
use hadal_leaf::Durability;
use hadal_types::limits::{CLOCK_PROVING_SECONDS, SERVER_STOP_SECONDS_MAX};
use hadal_types::{Clock, SystemClock};

use crate::archive::ArchiveLocation;
use crate::cli::DoorArgs;
use crate::process::memory::MemoryArgs;
use crate::process::system;

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
