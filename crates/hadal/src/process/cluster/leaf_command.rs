//! The command lines of a machine's leaf processes.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Command;

use crate::error::Error;
use crate::process::cluster::config::ClusterConfig;
use crate::process::cluster::supervisor::Supervisor;
use crate::process::service_config::ServiceConfig;

/// Starts the leaf processes of this machine.
pub(crate) fn start_leaves(
    cluster: &ClusterConfig,
    config: &ServiceConfig,
    (count, bound): (usize, SocketAddr),
    memory: u64,
) -> Result<Supervisor, Error> {
    let program = std::env::current_exe().map_err(Error::io("find", "this program"))?;
    let arguments = LeafArguments {
        program,
        cluster: cluster.clone(),
        seed: cluster.advertised(bound),
        bound,
        count,
        folder: config.folder.clone(),
        storage: config.storage.for_process(memory),
        secrets: config.storage.secret_variables(),
    };
    let names = (0..count).map(|index| cluster.leaf_name(index).to_string()).collect();
    Supervisor::start(names, config.storage.stop_max(), move |index| arguments.command(index))
}

/// What the command line of a leaf process is made of.
struct LeafArguments {
    program: PathBuf,
    cluster: ClusterConfig,
    /// The address of this process, through which a leaf joins.
    seed: SocketAddr,
    bound: SocketAddr,
    count: usize,
    folder: Option<PathBuf>,
    storage: Vec<OsString>,
    secrets: Vec<(&'static str, String)>,
}

impl LeafArguments {
    /// The command of the leaf with this number.
    fn command(&self, index: usize) -> Command {
        let mut command = Command::new(&self.program);
        let port = match self.cluster.listen.port() {
            0 => 0,
            port => port.saturating_add(1).saturating_add(u16::try_from(index).unwrap_or(u16::MAX)),
        };
        command.arg("leaf").arg("--stop-with-input");
        command.args(["--cluster", &self.cluster.cluster]);
        command.args(["--machine", &self.cluster.machine.0]);
        command.args(["--join", &self.seed.to_string()]);
        command.args(["--index", &index.to_string(), "--of", &self.count.to_string()]);
        command.args(["--member-listen", &SocketAddr::new(self.bound.ip(), port).to_string()]);
        if !self.cluster.rack.is_empty() {
            command.args(["--rack", &self.cluster.rack]);
        }
        if let Some(advertise) = self.cluster.advertise {
            command.args(["--advertise", &advertise.to_string()]);
        }
        if let Some(file) = &self.cluster.token_file {
            command.arg("--cluster-token-file").arg(file);
        }
        if let Some(files) = &self.cluster.certificates {
            command.arg("--cluster-certificate").arg(&files.certificate);
            command.arg("--cluster-key").arg(&files.key);
            command.arg("--cluster-authority").arg(&files.authority);
        }
        match &self.folder {
            Some(folder) => command.arg("--data").arg(folder),
            None => command.arg("--memory"),
        };
        command.args(&self.storage).envs(self.secrets.iter().cloned());
        command
    }
}
