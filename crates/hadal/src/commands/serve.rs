//! `hadal serve`: a server that keeps its rows in a folder.

use std::fmt;
use std::io::IsTerminal;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, ValueEnum};
use hadal_leaf::Durability;
use hadal_types::SystemClock;
use hadal_types::limits::{CLOCK_PROVING_SECONDS, SERVER_STOP_SECONDS_MAX};
use tracing_subscriber::filter::LevelFilter;

use crate::args::{DataArgs, DoorArgs};
use crate::error::Error;
use crate::output;
use crate::process::damage::say_damage;
use crate::process::data_folder::LEAVES_IN_PROCESS_MAX;
use crate::process::memory::MemoryArgs;
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
    #[arg(long, conflicts_with = "data")]
    memory: bool,
    #[command(flatten)]
    memory_of: MemoryArgs,
    /// When rows count as taken: once they are on disk, or at once (sync, async: a machine that
    /// loses its power may lose the last second; kill -9 loses nothing)
    #[arg(long, value_enum, default_value_t = WhenTaken::Sync, value_name = "WHEN", conflicts_with = "memory")]
    durability: WhenTaken,
    /// Take over from the server that has the folder: it stops for this one, no client is refused
    #[arg(long, conflicts_with = "memory")]
    take_over: bool,
    /// Where definitions such as settings of tables are: postgres://USER@HOST/DATABASE, or
    /// sqlite:FILE [default: definitions.sqlite in the data folder]
    #[arg(long, env = "HADAL_DEFINITIONS", value_name = "URL", hide_env_values = true)]
    definitions: Option<String>,
    /// Where rows of tables that are set so go before they are dropped, as files of Parquet: a
    /// folder that is there, or s3://BUCKET/PREFIX [default: nowhere]
    #[arg(long, env = "HADAL_ARCHIVE", value_name = "PLACE", hide_env_values = true)]
    archive: Option<String>,
    /// Seconds that a stop may take, 180 at most where a successor waits for it; then the process
    /// ends, and the next one recovers as after a crash
    #[arg(long, value_name = "SECONDS", default_value_t = SERVER_STOP_SECONDS_MAX)]
    stop_max: u64,
    /// Seconds for which the clock has to go right after a start, and after a jump, before rows go
    /// for their age
    #[arg(long, value_name = "SECONDS", default_value_t = CLOCK_PROVING_SECONDS)]
    clock_proving: u64,
    /// Parts that work side by side [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16)
        .range(1..=LEAVES_IN_PROCESS_MAX as i64))]
    leaves: Option<u16>,
}

/// When rows count as taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum WhenTaken {
    /// Once they are on disk
    Sync,
    /// Once the system has them, which writes them within a second
    Async,
}

impl From<WhenTaken> for Durability {
    fn from(when: WhenTaken) -> Self {
        match when {
            WhenTaken::Sync => Self::Sync,
            WhenTaken::Async => Self::Async,
        }
    }
}

/// Parses the place that an option names. clap does not parse it, because its errors show the text
/// as it is, with a password.
fn place<P: FromStr<Err: fmt::Display>>(
    option: &str,
    text: Option<&str>,
) -> Result<Option<P>, Error> {
    let place = text.map(str::parse).transpose();
    place.map_err(|error| Error::Usage(format!("{option}: {error}")))
}

/// Runs the command.
pub(crate) fn run(args: &ServeArgs) -> Result<(), Error> {
    log_to_stderr();
    if system::is_root() {
        output::say(
            "hadal runs as root and needs no such rights: better give it a user of its own",
        );
    }
    let folder = if args.memory { None } else { Some(args.data.folder()?) };
    let service = Service::open(ServiceConfig {
        doors: args.doors.clone(),
        folder,
        durability: args.durability.into(),
        memory: args.memory_of.clone(),
        takes_over: args.take_over,
        definitions: place("--definitions", args.definitions.as_deref())?,
        leaves: args.leaves.map_or_else(system::cores, usize::from),
        clock: Arc::new(SystemClock),
        archive: place("--archive", args.archive.as_deref())?,
        stop_max: Duration::from_secs(args.stop_max),
        clock_proving: Duration::from_secs(args.clock_proving),
    })?;
    say_damage(service.recovered());
    output::print(&announcement(&service))?;
    service.run(|reason| output::say(&format!("stopping: {reason}")))
}

/// One line: the address, the data folder, the rows that were recovered, and the CPU level.
fn announcement(service: &Service) -> String {
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
