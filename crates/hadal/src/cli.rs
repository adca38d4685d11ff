//! The command line: names, flags, and help that teaches by example.

use std::sync::LazyLock;

use clap::{Parser, Subcommand};

use crate::commands::{
    acknowledge, aggregator, cluster, demo, drop, forget, import, inspect, leaf, log, open, query,
    revoke, rollover, serve, settings, status, stop,
};
use crate::error::Error;
use crate::function_worker;

static VERSION: LazyLock<String> = LazyLock::new(|| {
    format!(
        "{} (commit {}, {})",
        env!("CARGO_PKG_VERSION"),
        env!("HADAL_COMMIT"),
        hadal_leaf::cpu_path()
    )
});

/// An in-memory database for live events: log anything, ask at once.
#[derive(Parser)]
#[command(
    name = "hadal",
    version = VERSION.as_str(),
    disable_help_subcommand = true,
    after_help = "Examples:
  hadal demo                                        a database full of events, on a page
  hadal serve                                       a server for your own events
  echo '{\"user\": \"ada\", \"ms\": 12}' | hadal log clicks
  hadal query 'SELECT user, avg(ms) FROM clicks GROUP BY user'
  hadal open access.log                             look into a file, keep nothing"
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What to do.
#[derive(Subcommand)]
pub(crate) enum Command {
    Serve(serve::ServeArgs),
    Leaf(leaf::LeafArgs),
    Aggregator(aggregator::AggregatorArgs),
    Demo(demo::DemoArgs),
    Open(open::OpenArgs),
    Log(log::LogArgs),
    Import(import::ImportArgs),
    Query(query::QueryArgs),
    Revoke(revoke::RevokeArgs),
    Drop(drop::DropArgs),
    Settings(settings::SettingsArgs),
    AcknowledgeLoss(acknowledge::AcknowledgeArgs),
    Status(status::StatusArgs),
    Cluster(cluster::ClusterArgs),
    Rollover(rollover::RolloverArgs),
    Forget(forget::ForgetArgs),
    Inspect(inspect::InspectArgs),
    Stop(stop::StopArgs),
    /// Run user functions for another process of this program
    #[command(hide = true, after_help = "Examples:\n  hadal function-worker")]
    FunctionWorker,
}

impl Command {
    /// Runs the command.
    pub(crate) fn run(self) -> Result<(), Error> {
        match self {
            Self::Serve(args) => serve::run(&args),
            Self::Leaf(args) => leaf::run(&args),
            Self::Aggregator(args) => aggregator::run(&args),
            Self::Demo(args) => demo::run(&args),
            Self::Open(args) => open::run(&args),
            Self::Log(args) => log::run(&args),
            Self::Import(args) => import::run(&args),
            Self::Query(args) => query::run(&args),
            Self::Revoke(args) => revoke::run(&args),
            Self::Drop(args) => drop::run(&args),
            Self::Settings(args) => settings::run(&args),
            Self::AcknowledgeLoss(args) => acknowledge::run(&args),
            Self::Status(args) => status::run(&args),
            Self::Cluster(args) => cluster::run(&args),
            Self::Rollover(args) => rollover::run(&args),
            Self::Forget(args) => forget::run(&args),
            Self::Inspect(args) => inspect::run(&args),
            Self::Stop(args) => stop::run(&args),
            Self::FunctionWorker => function_worker::run(),
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_command_teaches_by_example() {
        for command in Cli::command().get_subcommands() {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(help.contains("Examples:"), "{}", command.get_name());
            assert!(help.contains(&format!("hadal {}", command.get_name())), "{help}");
        }
    }
}
