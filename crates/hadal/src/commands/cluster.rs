//! `hadal cluster`: the machines and leaves of a cluster, their states and their rows.

pub(crate) mod report;
mod text;

use std::time::Duration;

use clap::Args;

use crate::args::ServerArgs;
use crate::client::Client;
use crate::error::Error;
use crate::output;
use report::Cluster;

/// The pause between two looks of `--watch`.
const WATCH_PAUSE: Duration = Duration::from_secs(1);
/// Columns of the text if there is no terminal.
const LINE_WIDTH: usize = 80;

/// Show the machines and leaves of a cluster
#[derive(Args)]
#[command(after_help = "Examples:
  hadal cluster
  hadal cluster --watch                            once a second, until Ctrl-C
  hadal cluster --json | jq .coverage
  hadal cluster --server http://machine-2:4280     as another machine sees it

A server without a cluster shows itself, as one machine.")]
pub(crate) struct ClusterArgs {
    /// Look again every second
    #[arg(long)]
    watch: bool,
    /// Write the server's answer, a line of JSON for each look
    #[arg(long)]
    json: bool,
    /// Tables that are listed: those with the most rows
    #[arg(long, value_name = "N", default_value_t = 10)]
    tables: usize,
    #[command(flatten)]
    server: ServerArgs,
}

/// Runs the command.
pub(crate) fn run(args: &ClusterArgs) -> Result<(), Error> {
    let client = args.server.client()?;
    if !args.watch {
        return output::print(&look(args, &client)?);
    }
    loop {
        match look(args, &client) {
            Ok(text) if args.json => output::print(&text)?,
            Ok(text) => output::redraw(&text)?,
            // A server that restarts is asked again.
            Err(error @ (Error::NoServer { .. } | Error::Mute { .. })) => {
                output::say(&error.to_string());
            }
            Err(error) => return Err(error),
        }
        std::thread::sleep(WATCH_PAUSE);
    }
}

/// The cluster at this moment, as the arguments want it.
fn look(args: &ClusterArgs, client: &Client) -> Result<String, Error> {
    let path = format!("/v1/cluster?limit={}", args.tables);
    if args.json {
        return client.get::<serde_json::Value>(&path).map(|cluster| format!("{cluster}\n"));
    }
    let cluster: Cluster = client.get(&path)?;
    Ok(text::text(&cluster, output::line_width().unwrap_or(LINE_WIDTH)))
}
