//! The program's commands.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::chunks::Output;
use crate::druid::Druid;
use crate::error::Error;
use crate::readings::{Layout, Readings};
use crate::requests::Requests;
use crate::year::Year;
use crate::{bandwidth, json, parquet_file};

/// Make benchmark data, measure memory
#[derive(Parser)]
#[command(version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// 29 hours of events of a web shop, 18 columns
    Requests {
        #[arg(long, default_value_t = 10_000_000)]
        rows: u64,
        /// Two columns more: a set of tags and a vector of stack frames
        #[arg(long)]
        full: bool,
        /// What the column of weights is called: Hadal weights every count and sum by a column
        /// `sample_rate`, and takes any other name for an ordinary number
        #[arg(long, default_value = "sample_rate", value_name = "NAME")]
        weight_column: String,
        #[command(flatten)]
        file: File,
    },
    /// Temperatures of 10,000 sensors, one a minute each, and a single 200 among them
    Readings {
        /// A multiple of 10,000 gives every sensor as many
        #[arg(long, default_value_t = 100_000_000)]
        rows: u64,
        /// Which rows stand side by side
        #[arg(long, default_value = "time-major")]
        layout: Layout,
        #[command(flatten)]
        file: File,
    },
    /// A week of advertising, 12 dimensions and 4 metrics, as Druid was first measured with
    Druid {
        #[arg(long, default_value_t = 8_000_000)]
        rows: u64,
        #[command(flatten)]
        file: File,
    },
    /// A year of temperatures, one a minute, as Scylla was measured with
    Year {
        /// Each has 525,600 rows
        #[arg(long, default_value_t = 200)]
        sensors: u32,
        #[command(flatten)]
        file: File,
    },
    /// Print the GB/s that one core reads from memory
    Bandwidth,
}

#[derive(Args)]
struct File {
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[arg(long)]
    format: Format,
    /// The file; it is written anew
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// [default: one per core]
    #[arg(long)]
    threads: Option<NonZeroUsize>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    Jsonl,
    Parquet,
}

impl File {
    fn output(&self) -> Output<'_> {
        let cores = std::thread::available_parallelism();
        let threads = self.threads.or(cores.ok()).unwrap_or(NonZeroUsize::MIN);
        Output { path: &self.out, threads }
    }

    fn parquet_only(&self, table: &'static str) -> Result<Output<'_>, Error> {
        match self.format {
            Format::Parquet => Ok(self.output()),
            Format::Jsonl => Err(Error::ParquetOnly { table }),
        }
    }
}

fn run(command: Command) -> Result<(), Error> {
    match command {
        Command::Requests { rows, full, weight_column, file } => {
            let requests = Requests::new(file.seed, rows, full);
            match file.format {
                Format::Jsonl => json::write_requests(&requests, &weight_column, &file.output()),
                Format::Parquet => {
                    parquet_file::write_requests(&requests, &weight_column, &file.output())
                }
            }
        }
        Command::Readings { rows, layout, file } => {
            let readings = Readings::new(file.seed, rows, layout);
            match file.format {
                Format::Jsonl => json::write_readings(&readings, &file.output()),
                Format::Parquet => parquet_file::write_readings(&readings, &file.output()),
            }
        }
        Command::Druid { rows, file } => {
            Druid::new(file.seed, rows).write_parquet(&file.parquet_only("druid")?)
        }
        Command::Year { sensors, file } => {
            Year::new(file.seed, sensors).write_parquet(&file.parquet_only("year")?)
        }
        Command::Bandwidth => bandwidth::print(),
    }
}

/// The program `hadal-bench`.
#[must_use]
pub fn main() -> ExitCode {
    match run(Cli::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => error.report(),
    }
}
