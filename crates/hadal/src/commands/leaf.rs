//! `hadal leaf`: one leaf process of a machine of a cluster.

use clap::Args;

use std::net::{Ipv4Addr, SocketAddr};

use crate::args::{ClusterArgs, DataArgs, StorageArgs};
use crate::commands::serve::log_to_stderr;
use crate::error::Error;
use crate::process::cluster::config::ClusterConfig;
use crate::process::data_folder::LEAVES_IN_PROCESS_MAX;
use crate::process::role::leaf::LeafProcess;

/// Start one leaf of a cluster, where a supervisor such as systemd starts each leaf
///
/// `hadal serve --join` starts the leaves of its machine itself.
#[derive(Args)]
#[command(after_help = "Examples:
  hadal leaf --cluster prod --join 10.0.0.1:4282 --index 0 --of 4 --data /var/lib/hadal \\
      --member-listen 10.0.0.2:4283 --cluster-token-file /etc/hadal/cluster-token")]
pub(crate) struct LeafArgs {
    #[command(flatten)]
    cluster: ClusterArgs,
    /// The leaf's number on its machine, from 0; its rows are in this folder of the data folder
    #[arg(long, default_value_t = 0, value_name = "K", value_parser = clap::value_parser!(u16)
        .range(0..LEAVES_IN_PROCESS_MAX as i64))]
    index: u16,
    /// The leaves of its machine, which share its processors, and its memory unless --memory-max
    /// says how much this one may take
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u16)
        .range(1..=LEAVES_IN_PROCESS_MAX as i64))]
    of: u16,
    #[command(flatten)]
    data: DataArgs,
    /// Keep rows in memory only
    #[arg(long, conflicts_with_all = ["data", "durability"])]
    memory: bool,
    #[command(flatten)]
    storage: StorageArgs,
    /// Stop in order at the end of standard input
    #[arg(long, hide = true)]
    stop_with_input: bool,
}

/// Runs the command.
pub(crate) fn run(args: &LeafArgs) -> Result<(), Error> {
    log_to_stderr();
    let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, crate::args::MEMBER_PORT));
    let cluster = ClusterConfig::of(&args.cluster, listen, args.index.saturating_add(1))?;
    let cluster = cluster.ok_or_else(|| {
        Error::Usage("a leaf is of a cluster: give --cluster NAME and --join HOST:PORT".to_owned())
    })?;
    let leaf = LeafProcess {
        cluster,
        index: usize::from(args.index),
        of: usize::from(args.of),
        folder: if args.memory { None } else { Some(args.data.folder()?) },
        storage: args.storage.clone(),
        ends_with_input: args.stop_with_input,
    };
    leaf.run()
}
