//! `hadal revoke`: revokes a batch.

use clap::Args;
use hadal_types::{BatchId, TableName};

use crate::args::ServerArgs;
use crate::error::Error;
use crate::output;

/// Take back what was logged under a batch id, within 90 seconds
#[derive(Args)]
#[command(after_help = "Examples:
  hadal log clicks --batch monday < clicks.jsonl
  hadal revoke clicks monday

The id stays known: what is sent under it again adds nothing.")]
pub(crate) struct RevokeArgs {
    /// The table
    table: String,
    /// The id
    batch: String,
    #[command(flatten)]
    server: ServerArgs,
}

/// Runs the command.
pub(crate) fn run(args: &RevokeArgs) -> Result<(), Error> {
    let table = TableName::new(&args.table)?;
    let batch = BatchId::of_client(&args.batch).map_err(|error| Error::Usage(error.to_string()))?;
    let rows = args.server.client()?.revoke(&table, &batch)?;
    output::say(&match rows {
        0 => format!("batch {batch} of table {table} has no rows: it was taken back before"),
        rows => format!("took back batch {batch} of table {table}: {}", output::count(rows, "row")),
    });
    Ok(())
}
