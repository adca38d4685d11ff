//! `hadal acknowledge-loss`: acknowledges lost rows.

use clap::Args;
use hadal_types::TableName;

use crate::args::ServerArgs;
use crate::error::Error;
use crate::output;

/// Acknowledge lost rows, so that they are no longer reported
#[derive(Args)]
#[command(after_help = "Examples:
  hadal status                     shows what is lost
  hadal acknowledge-loss clicks    of one table
  hadal acknowledge-loss           of all tables, and losses whose tables are unknown

Lost rows are reported with every answer and at every start, until they are acknowledged, the table's age
limit passes the moment of the loss, or the table is dropped. Acknowledging gives up nothing that can be
read, except what is left of damaged row blocks.")]
pub(crate) struct AcknowledgeArgs {
    /// The table; without one, everything
    table: Option<String>,
    #[command(flatten)]
    server: ServerArgs,
}

/// Runs the command.
pub(crate) fn run(args: &AcknowledgeArgs) -> Result<(), Error> {
    let table = args.table.as_deref().map(TableName::new).transpose()?;
    let (rows, unknown) = args.server.client()?.forget_losses(table.as_ref())?;
    output::say(&match (rows, unknown) {
        (0, 0) => "nothing was lost".to_owned(),
        (rows, 0) => format!("{} lost; no longer reported", output::count(rows, "row")),
        (rows, unknown) => format!(
            "{} lost, and an unknown number in {}; no longer reported",
            output::count(rows, "row"),
            output::count(unknown, "place")
        ),
    });
    Ok(())
}
