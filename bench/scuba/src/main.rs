//! Repeats the experiments of "Scuba: Diving into Data at Facebook" (VLDB 2013), section 5, and
//! compares them with the model of section 4.
//!
//! Real leaves are measured first. Where a cluster has more machines than this one has cores,
//! leaves are replayed: they answer with what a real leaf answered, after the time that it took.
//! Aggregators, messages and merges are always real. Every answer is checked. The results are JSON;
//! `scuba.py` draws them.

mod clients;
mod cluster;
mod costs;
mod error;
mod events;
mod experiments;
mod model;
mod one_path;
mod question;
mod real;
mod replay;
mod samples;
mod servers;
mod simulate;

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use serde_json::{Value, json};

use crate::error::Error;
use crate::experiments::Experiments;

/// As in the server.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Repeat the experiments of the Scuba paper
#[derive(Parser)]
#[command(version)]
pub(crate) struct Cli {
    /// Rows of one unit of data
    #[arg(long, default_value_t = 1 << 20)]
    rows: u64,
    /// Most units of a leaf
    #[arg(long, default_value_t = 8)]
    units: u64,
    /// Units of each leaf where the number of machines varies
    #[arg(long, default_value_t = 8)]
    scale_units: u64,
    /// Units of each leaf where the number of clients varies
    #[arg(long, default_value_t = 8)]
    client_units: u64,
    /// Leaves of each replayed machine
    #[arg(long, default_value_t = 8)]
    leaves: usize,
    /// Groups into which an aggregator divides the machines below it
    #[arg(long, default_value_t = hadal_types::limits::TREE_FANOUT)]
    fanout: usize,
    /// How often each query is asked
    #[arg(long, default_value_t = 15)]
    repeats: usize,
    /// How many queries each client asks
    #[arg(long, default_value_t = 15)]
    queries: usize,
    /// Only these parts: steps, speed-up, scale-up, whole, clients
    #[arg(long)]
    only: Vec<String>,
    /// The file of results
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

impl Cli {
    fn wants(&self, part: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| only == part)
    }
}

async fn run(cli: &Cli) -> Result<Value, Error> {
    let mut out = io::stderr();
    let mut say = |part: &str| writeln!(out, "{part}");
    say("real leaves")?;
    let mut experiments = Experiments::new(cli).await?;
    let mut results = json!({ "rows": cli.rows, "leaves": cli.leaves, "fanout": cli.fanout,
        "repeats": cli.repeats, "queries": cli.queries, "scale_units": cli.scale_units,
        "client_units": cli.client_units });
    results["real"] = json!(experiments.real_leaves().await?);
    if cli.wants("steps") {
        say("steps of a query")?;
        results["steps"] = json!(experiments.steps().await?);
    }
    if cli.wants("speed-up") {
        say("speed-up")?;
        results["speed_up"] = json!(experiments.speed_up().await?);
    }
    if cli.wants("scale-up") {
        say("scale-up")?;
        let (machines, fanouts) = experiments.scale_up().await?;
        results["scale_up"] = json!(machines);
        results["fanouts"] = json!(fanouts);
    }
    if cli.wants("whole") {
        say("whole clusters")?;
        results["whole"] = json!(experiments.whole_clusters().await?);
    }
    if cli.wants("clients") {
        say("clients")?;
        results["clients"] = json!(experiments.clients().await?);
    }
    Ok(results)
}

fn measure(cli: &Cli) -> Result<(), Error> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let results = runtime.block_on(run(cli))?;
    // Connections and servers need not end one by one.
    runtime.shutdown_background();
    Ok(fs::write(&cli.out, format!("{results:#}\n"))?)
}

fn main() -> ExitCode {
    match measure(&Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // A failure of this write cannot be reported either.
            let _ = writeln!(io::stderr(), "error: {error}");
            ExitCode::FAILURE
        }
    }
}
