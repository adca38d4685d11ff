//! The arguments of the program.

use std::path::PathBuf;

use clap::Parser;

/// Repeat the experiments of the Scuba paper
#[derive(Parser)]
#[command(version)]
pub(crate) struct Cli {
    /// Rows of one unit of data
    #[arg(long, default_value_t = 1 << 20)]
    pub(crate) rows: u64,
    /// Most units of a leaf
    #[arg(long, default_value_t = 8)]
    pub(crate) units: u64,
    /// Units of each leaf where the number of machines varies
    #[arg(long, default_value_t = 8)]
    pub(crate) scale_units: u64,
    /// Units of each leaf where the number of clients varies
    #[arg(long, default_value_t = 8)]
    pub(crate) client_units: u64,
    /// Leaves of each replayed machine
    #[arg(long, default_value_t = 8)]
    pub(crate) leaves: usize,
    /// Groups into which an aggregator divides the machines below it
    #[arg(long, default_value_t = hadal_types::limits::TREE_FANOUT)]
    pub(crate) fanout: usize,
    /// How often each query is asked
    #[arg(long, default_value_t = 15)]
    pub(crate) repeats: usize,
    /// How many queries each client asks
    #[arg(long, default_value_t = 15)]
    pub(crate) queries: usize,
    /// Only these parts: codec, steps, speed-up, scale-up, whole, clients
    #[arg(long)]
    pub(crate) only: Vec<String>,
    /// The file of results
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
}

impl Cli {
    /// Whether a part is to be measured.
    pub(crate) fn wants(&self, part: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| only == part)
    }
}
