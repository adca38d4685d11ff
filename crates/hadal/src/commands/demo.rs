//! `hadal demo`: a server with two tables that keep growing, and a page to explore them.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use clap::Args;
use hadal_peer::Sink;
use hadal_types::limits::MEMORY_BYTES_MIN;
use hadal_types::{Clock, SystemClock};
use indicatif::{ProgressBar, ProgressStyle};

use crate::args::{DoorArgs, MemoryArgs, StorageArgs};
use crate::commands::open::open_browser;
use crate::commands::serve::log_to_stderr;
use crate::demo::dashboards::dashboards;
use crate::demo::{Demo, Destination, Machines, Progress, ShiftedClock, Stop, parse_now};
use crate::error::Error;
use crate::output;
use crate::process::damage::say_damage;
use crate::process::memory::machine_ceiling;
use crate::process::service::Service;
use crate::process::service_config::ServiceConfig;
use crate::process::system;

/// Start a database full of events, to play with
#[derive(Args)]
#[command(after_help = "Examples:
  hadal demo
  hadal demo --rows 1000000 --listen 127.0.0.1:9000
  hadal demo --machines 3                           a cluster: 3 machines of 2 leaves each
  hadal demo --seed 7 --now 2026-11-21T12:00:00Z    the same rows every time

Table requests is an invented web shop: two weeks of its requests, and what goes on now. Its
newest build fails for one service in one datacenter: press \"error rate\" on the page to find it.
Table processes is this machine: what its processes do, every second (names only, never arguments).")]
pub(crate) struct DemoArgs {
    /// Rows of history
    #[arg(long, default_value_t = 10_000_000, value_name = "N")]
    rows: u64,
    /// Other seeds give other rows
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// The moment at which history ends and live events begin [default: now]
    #[arg(long, value_name = "TIME")]
    now: Option<String>,
    /// Folder that keeps the rows [default: none, they are kept in memory]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Machines of a cluster, all on this machine's loopback addresses
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u8)
        .range(1..=MACHINES_MAX))]
    machines: u8,
    /// Leaf processes of each machine of the cluster
    #[arg(long, default_value_t = 2, value_name = "N", value_parser = clap::value_parser!(u8)
        .range(1..=LEAF_PROCESSES_MAX))]
    leaves: u8,
    /// Do not open a browser
    #[arg(long)]
    no_browser: bool,
    #[command(flatten)]
    doors: DoorArgs,
}

/// The machines of a demo cluster at most; each takes as much memory as a small server.
const MACHINES_MAX: i64 = 20;
/// The leaf processes of each of its machines at most.
const LEAF_PROCESSES_MAX: i64 = 8;

/// Runs the command.
pub(crate) fn run(args: &DemoArgs) -> Result<(), Error> {
    log_to_stderr();
    let clock: Arc<dyn Clock> = match &args.now {
        Some(now) => Arc::new(ShiftedClock::new(SystemClock, parse_now(now)?)),
        None => Arc::new(SystemClock),
    };
    let now = match &args.now {
        Some(now) => parse_now(now)?,
        None => clock.now(),
    };
    // Removed at the end, with the rows of a cluster without --data.
    let scratch = tempfile::tempdir().map_err(Error::io("make", "a folder"))?;
    let machines = (args.machines > 1).then(|| machines(args, scratch.path()));
    let service = Service::open(service_config(args, machines.as_ref(), &clock)?)?;
    say_damage(service.recovered());
    let url = service.url();
    let runtime = service.handle();
    let catalog = runtime.block_on(service.tree().root.cluster_status());
    let demo = Demo {
        seed: args.seed,
        rows: args.rows,
        now,
        threads: system::cores(),
        has_history: catalog.tables.contains_key("requests"),
    };
    let others = match (machines, service.member_address()) {
        (Some(machines), Some(seed)) => Some(machines.start_others(seed)?),
        _ => None,
    };
    service.define(&Demo::tables()?)?;
    service.add_dashboards(&dashboards()?)?;
    let stop = Stop::default();
    let sink = Arc::clone(&service.tree().placement) as Arc<dyn Sink>;
    let to = Destination { sink, clock, runtime, stop: stop.clone() };
    let threads = demo.start(&to, progress(args.rows)?)?;
    drop(to);
    output::print(&format!("{url}\n"))?;
    if !args.no_browser && output::is_terminal() {
        open_browser(&url);
    }
    // The threads end before the leaves, so that no row is refused.
    service.run(move |_| {
        stop.stop();
        for thread in threads {
            // A thread that panicked has reported so.
            let _ = thread.join();
        }
        if let Some(others) = others {
            others.stop();
        }
    })
}

/// The machines of a demo cluster, which share this machine's memory.
fn machines(args: &DemoArgs, scratch: &Path) -> Machines {
    let memory = machine_ceiling(&MemoryArgs::default()) / u64::from(args.machines);
    Machines {
        count: args.machines,
        leaves: usize::from(args.leaves),
        listen: args.doors.listen,
        folder: args.data.clone().unwrap_or_else(|| scratch.to_path_buf()),
        memory_max: memory.max(MEMORY_BYTES_MIN),
    }
}

/// The settings of the server of this process: everything, or the first machine of a cluster.
fn service_config(
    args: &DemoArgs,
    machines: Option<&Machines>,
    clock: &Arc<dyn Clock>,
) -> Result<ServiceConfig, Error> {
    let alone = ServiceConfig {
        doors: args.doors.clone(),
        folder: args.data.clone(),
        clock: Arc::clone(clock),
        ..ServiceConfig::private()
    };
    let Some(machines) = machines else { return Ok(alone) };
    Ok(ServiceConfig {
        folder: Some(machines.folder_of(1)),
        storage: StorageArgs::with_memory(machines.memory_max),
        leaves: machines.leaves,
        cluster: machines.first()?,
        ..alone
    })
}

/// Shows a progress bar on standard error while history is generated, and a line at its end.
fn progress(rows: u64) -> Result<Arc<Progress>, Error> {
    let style = ProgressStyle::with_template("{bar:30} {human_pos} rows, {per_sec}, {eta} left");
    let style = style.map_err(|error| Error::Usage(error.to_string()))?;
    let (bar, start) = (ProgressBar::new(rows).with_style(style), Instant::now());
    let arrived = AtomicU64::new(0);
    Ok(Arc::new(move |block_rows| {
        bar.inc(block_rows);
        let before = arrived.fetch_add(block_rows, Ordering::Relaxed);
        let millions = |rows: u64| rows / 1_000_000;
        let seconds = start.elapsed().as_secs_f64();
        if before + block_rows == rows {
            bar.finish_and_clear();
            output::say(&format!("{} in {seconds:.1} s", output::count(rows, "row")));
        } else if bar.is_hidden() && millions(before) < millions(before + block_rows) {
            let arrived = output::count(before + block_rows, "row");
            output::say(&format!("{arrived} in {seconds:.1} s"));
        }
    }))
}
