//! The demo as a cluster: several machines on the loopback addresses of this one, each with its own
//! server and leaf processes.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use hadal_types::limits::SERVER_STOP_SECONDS_MAX;

use crate::args::ClusterArgs;
use crate::error::Error;
use crate::process::cluster::config::ClusterConfig;
use crate::process::cluster::supervisor::Supervisor;

/// The name of the demo's cluster.
const CLUSTER: &str = "demo";

/// The machines of a demo.
pub(crate) struct Machines {
    pub(crate) count: u8,
    /// The leaf processes of each.
    pub(crate) leaves: usize,
    /// The address of the first machine's page. The others have the same port.
    pub(crate) listen: SocketAddr,
    /// The folder that has a data folder for each machine.
    pub(crate) folder: PathBuf,
    /// The memory of each machine, in bytes.
    pub(crate) memory_max: u64,
}

impl Machines {
    /// The data folder of a machine; the first is number 1.
    pub(crate) fn folder_of(&self, number: u8) -> PathBuf {
        self.folder.join(name(number))
    }

    /// The settings by which this process is the first machine.
    pub(crate) fn first(&self) -> Result<Option<ClusterConfig>, Error> {
        let args = ClusterArgs {
            cluster: Some(CLUSTER.to_owned()),
            machine: Some(name(1)),
            ..ClusterArgs::default()
        };
        ClusterConfig::of(&args, self.listen, 0)
    }

    /// Starts the other machines, which join the first one at `seed`.
    pub(crate) fn start_others(self, seed: SocketAddr) -> Result<Supervisor, Error> {
        let program = std::env::current_exe().map_err(Error::io("find", "this program"))?;
        let names = (2..=self.count).map(name).collect();
        let stop_max = Duration::from_secs(SERVER_STOP_SECONDS_MAX);
        Supervisor::start(names, stop_max, move |index| {
            let number = u8::try_from(index + 2).unwrap_or(u8::MAX);
            let mut command = Command::new(&program);
            let listen = SocketAddr::new(address(number), self.listen.port());
            // That door is the first machine's.
            command.env_remove("HADAL_PG_LISTEN");
            command.args(["serve", "--stop-with-input", "--cluster", CLUSTER]);
            command.args(["--machine", &name(number), "--join", &seed.to_string()]);
            command.args(["--listen", &listen.to_string()]);
            command.args(["--leaves", &self.leaves.to_string()]);
            command.args(["--memory-max", &self.memory_max.to_string()]);
            command.arg("--data").arg(self.folder_of(number)).stdout(Stdio::null());
            command
        })
    }
}

/// The name of a machine.
fn name(number: u8) -> String {
    format!("machine-{number}")
}

/// The loopback address of a machine. Linux has all of 127.0.0.0/8.
fn address(number: u8) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(127, 0, 0, number))
}
