//! `hadal serve`: a server that keeps its rows in a folder.

use std::io::IsTerminal;
use std::sync::Arc;

use clap::Args;
use hadal_types::SystemClock;
use tracing_subscriber::filter::LevelFilter;

use crate::args::{ClusterArgs, DataArgs, DoorArgs, StorageArgs, location};
use crate::error::Error;
use crate::output;
use crate::process::cluster::config::ClusterConfig;
use crate::process::damage::say_damage;
use crate::process::data_folder::LEAVES_IN_PROCESS_MAX;
use crate::process::service::Service;
use crate::process::service_config::ServiceConfig;
use crate::process::system;

/// Start a server
#[derive(Args)]
#[command(after_help = "Examples:
  hadal serve                                        on 127.0.0.1:4280
  hadal serve --listen 127.0.0.1:9000 --data ./data  elsewhere, rows in ./data
  hadal serve --memory                               keep nothing

It stops in order on Ctrl-C and on SIGTERM. What was acknowledged outlives kill -9, too.
With HADAL_LOG=debug in the environment it says more on standard error. To measure:
HADAL_ZONE_ANSWERS=off reads all rows even where the edges of a block tell the answer,
HADAL_CPU=baseline or avx2 leaves out instructions that this processor has.")]
pub(crate) struct ServeArgs {
    #[command(flatten)]
    doors: DoorArgs,
    #[command(flatten)]
    data: DataArgs,
    /// Keep rows in memory only
    #[arg(long, conflicts_with_all = ["data", "durability"])]
    memory: bool,
    #[command(flatten)]
    storage: StorageArgs,
    /// Take over from the server that has the folder: it stops for this one, no client is refused
    #[arg(long, conflicts_with = "memory")]
    take_over: bool,
    /// Where definitions such as settings of tables are: postgres://USER@HOST/DATABASE, or
    /// sqlite:FILE [default: definitions.sqlite in the data folder]
    #[arg(long, env = "HADAL_DEFINITIONS", value_name = "URL", hide_env_values = true)]
    definitions: Option<String>,
    /// Parts that work side by side [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16)
        .range(1..=LEAVES_IN_PROCESS_MAX as i64))]
    leaves: Option<u16>,
    #[command(flatten)]
    cluster: ClusterArgs,
    /// Stop in order at the end of standard input
    #[arg(long, hide = true)]
    stop_with_input: bool,
}

/// The leaf processes of a machine of a cluster, if it has as many cores.
const LEAF_PROCESSES: usize = 8;

/// Runs the command.
pub(crate) fn run(args: &ServeArgs) -> Result<(), Error> {
    log_to_stderr();
    if system::is_root() {
        output::say(
            "hadal runs as root and needs no such rights: better give it a user of its own",
        );
    }
    let folder = if args.memory { None } else { Some(args.data.folder()?) };
    // A leaf of a cluster is a process; Scuba, section 3.1, has eight of them on a machine.
    let is_of_cluster = args.cluster.cluster.is_some();
    let leaves = if is_of_cluster { system::cores().min(LEAF_PROCESSES) } else { system::cores() };
    let service = Service::open(ServiceConfig {
        doors: args.doors.clone(),
        folder,
        storage: args.storage.clone(),
        takes_over: args.take_over,
        definitions: location("--definitions", args.definitions.as_deref())?,
        leaves: args.leaves.map_or(leaves, usize::from),
        cluster: ClusterConfig::of(&args.cluster, args.doors.listen, 0)?,
        ends_with_input: args.stop_with_input,
        clock: Arc::new(SystemClock),
    })?;
    say_damage(service.recovered());
    output::print(&announcement(&service))?;
    service.run(|reason| output::say(&format!("stopping: {reason}")))
}

/// One line: the address, the data folder, the rows that were recovered, and the CPU level.
pub(crate) fn announcement(service: &Service) -> String {
    let recovered = service.recovered();
    let recovery = match recovered.rows {
        0 if recovered.tables == 0 => "no rows yet".to_owned(),
        // The reason has been reported for each table.
        0 => format!("no row is left of {}", output::count(recovered.tables as u64, "table")),
        rows => format!(
            "recovered {} of {} in {:.2} s",
            output::count(rows, "row"),
            output::count(recovered.tables as u64, "table"),
            recovered.time.as_secs_f64()
        ),
    };
    let (url, data, cpu) = (service.url(), service.data(), hadal_leaf::cpu_path());
    format!("hadal listens on {url} data: {data}; {recovery}; cpu: {cpu}\n")
}

/// Sends the log of the server's parts to standard error: warnings and errors, unless `HADAL_LOG`
/// names another level. Only a terminal gets colours.
pub(crate) fn log_to_stderr() {
    let level = std::env::var("HADAL_LOG").ok().and_then(|level| level.parse().ok());
    let subscriber = tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .with_max_level(level.unwrap_or(LevelFilter::WARN));
    // The subscriber may be installed already; there is only one per process.
    let _ = subscriber.try_init();
}
