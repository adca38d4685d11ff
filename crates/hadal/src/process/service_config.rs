//! The settings with which a server starts.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use hadal_definitions::Location;
use hadal_types::{Clock, SystemClock};

use crate::args::{DoorArgs, StorageArgs};
use crate::process::cluster::config::ClusterConfig;
use crate::process::system;

/// The settings of a server.
pub(crate) struct ServiceConfig {
    pub(crate) doors: DoorArgs,
    /// The data folder; `None` keeps rows in memory.
    pub(crate) folder: Option<PathBuf>,
    pub(crate) storage: StorageArgs,
    /// Whether this server takes over from the one that has the folder.
    pub(crate) takes_over: bool,
    /// The location of definitions; `None` stores them with the rows.
    pub(crate) definitions: Option<Location>,
    /// The leaves of this process, or the leaf processes of its machine.
    pub(crate) leaves: usize,
    /// The cluster that the server joins; `None` for a server on its own.
    pub(crate) cluster: Option<ClusterConfig>,
    /// Whether the end of standard input stops the server.
    pub(crate) ends_with_input: bool,
    pub(crate) clock: Arc<dyn Clock>,
}

impl ServiceConfig {
    /// A server in memory on a free port of this machine.
    pub(crate) fn private() -> Self {
        let doors = DoorArgs::private();
        let clock = Arc::new(SystemClock);
        Self {
            doors,
            folder: None,
            storage: StorageArgs::default(),
            takes_over: false,
            definitions: None,
            leaves: system::cores(),
            cluster: None,
            ends_with_input: false,
            clock,
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
