//! `hadal stop`: stops a server in order.

use clap::Args;

use crate::args::ServerArgs;
use crate::error::Error;
use crate::output;

/// Stop a server in order: it finishes what runs, and the next one finds what is in memory as it is
///
/// Returns as soon as the server knows; it ends when what runs is finished.
#[derive(Args)]
#[command(after_help = "Examples:
  hadal stop
  hadal stop --server http://db:4280 --token TOKEN")]
pub(crate) struct StopArgs {
    #[command(flatten)]
    server: ServerArgs,
}

/// Runs the command.
pub(crate) fn run(args: &StopArgs) -> Result<(), Error> {
    let client = args.server.client()?;
    client.stop()?;
    output::say(&format!("{} is stopping: it finishes what runs", client.url()));
    Ok(())
}
