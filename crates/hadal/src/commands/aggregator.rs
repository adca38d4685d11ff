//! `hadal aggregator`: a server of a cluster without leaves of its own.

use std::sync::Arc;

use clap::Args;
use hadal_types::SystemClock;

use crate::args::{ClusterArgs, DataArgs, DoorArgs, StorageArgs, location};
use crate::commands::serve::{announcement, log_to_stderr};
use crate::error::Error;
use crate::output;
use crate::process::cluster::config::ClusterConfig;
use crate::process::service::Service;
use crate::process::service_config::ServiceConfig;

/// Start a server of a cluster that holds no rows: it asks the leaves, and serves clients
///
/// `hadal serve --join` is this and starts the leaves of its machine.
#[derive(Args)]
#[command(after_help = "Examples:
  hadal aggregator --cluster prod --join 10.0.0.1:4282 --listen 127.0.0.1:4280")]
pub(crate) struct AggregatorArgs {
    #[command(flatten)]
    doors: DoorArgs,
    #[command(flatten)]
    cluster: ClusterArgs,
    #[command(flatten)]
    data: DataArgs,
    /// Where definitions such as settings of tables are: postgres://USER@HOST/DATABASE, or
    /// sqlite:FILE [default: on the first member of --join]
    #[arg(long, env = "HADAL_DEFINITIONS", value_name = "URL", hide_env_values = true)]
    definitions: Option<String>,
    /// Let queries call functions in JavaScript, and let clients with the right define them
    #[arg(long, env = "HADAL_ALLOW_FUNCTIONS")]
    allow_functions: bool,
}

/// Runs the command.
pub(crate) fn run(args: &AggregatorArgs) -> Result<(), Error> {
    log_to_stderr();
    let cluster = ClusterConfig::of(&args.cluster, args.doors.listen, 0)?;
    let cluster = cluster.ok_or_else(|| {
        Error::Usage(
            "an aggregator is of a cluster: give --cluster NAME and --join HOST:PORT".to_owned(),
        )
    })?;
    let service = Service::open(ServiceConfig {
        doors: args.doors.clone(),
        folder: Some(args.data.folder()?),
        storage: StorageArgs::with_functions(args.allow_functions),
        takes_over: false,
        definitions: location("--definitions", args.definitions.as_deref())?,
        leaves: 0,
        cluster: Some(cluster),
        ends_with_input: false,
        clock: Arc::new(SystemClock),
    })?;
    output::print(&announcement(&service))?;
    service.run(|reason| output::say(&format!("stopping: {reason}")))
}
