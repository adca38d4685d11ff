//! Repeats the experiments of "Scuba: Diving into Data at Facebook" (VLDB 2013), section 5, and
//! compares them with the model of section 4.
//!
//! Real leaves are measured first. Where a cluster has more machines than this one has cores,
//! leaves are replayed: they answer with what a real leaf answered, after the time that it took.
//! Aggregators, messages and merges are always real. Every answer is checked. The results are JSON;
//! `scuba.py` draws them.

mod cli;
mod clients;
mod cluster;
mod codec;
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
use std::process::ExitCode;

use clap::Parser;
use serde_json::{Value, json};

use crate::cli::Cli;
use crate::error::Error;
use crate::experiments::Experiments;

/// As in the server.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// How often partials are encoded and decoded.
const CODEC_TIMES: usize = 100;

async fn run(cli: &Cli) -> Result<Value, Error> {
    let mut out = io::stderr();
    let mut say = |part: &str| writeln!(out, "{part}");
    let mut codec = Vec::new();
    if cli.wants("codec") {
        say("codec of partials")?;
        codec = codec::measure(CODEC_TIMES)?;
        // It needs no leaves.
        if cli.only == ["codec"] {
            return Ok(json!({ "codec": codec }));
        }
    }
    say("real leaves")?;
    let mut experiments = Experiments::new(cli).await?;
    let mut results = json!({ "rows": cli.rows, "leaves": cli.leaves, "fanout": cli.fanout,
        "repeats": cli.repeats, "queries": cli.queries, "scale_units": cli.scale_units,
        "client_units": cli.client_units, "codec": codec });
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
