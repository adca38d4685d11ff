//! `hadal drop`: drops a table with all its rows.

use clap::Args;
use hadal_types::TableName;

use crate::args::ServerArgs;
use crate::error::Error;
use crate::output;

/// Drop a table with all its rows
#[derive(Args)]
#[command(after_help = "Examples:
  hadal drop clicks          asks first
  hadal drop clicks --yes    for scripts")]
pub(crate) struct DropArgs {
    /// The table
    table: String,
    /// Do not ask
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    server: ServerArgs,
}

/// Runs the command.
pub(crate) fn run(args: &DropArgs) -> Result<(), Error> {
    let table = TableName::new(&args.table)?;
    let client = args.server.client()?;
    if !args.yes {
        if !output::can_ask() {
            let message = format!("there is nobody to ask; to drop table {table} say --yes");
            return Err(Error::Usage(message));
        }
        if !output::ask(&format!("Drop table {table} with all its rows on {}?", client.url()))? {
            output::say("nothing was dropped");
            return Ok(());
        }
    }
    let rows = client.drop_table(&table)?;
    output::say(&format!("dropped table {table} with {}", output::count(rows, "row")));
    Ok(())
}
