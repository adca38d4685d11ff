//! How fast whole questions are, in process and on one thread: blocks of the tables of
//! `hadal-bench`, the questions of the comparison and some simpler ones.
//!
//! All questions take turns, and between the turns memory is read, so that a noisy minute harms all
//! of them alike. Told are the median of all rounds, the quartiles, and the encoded bytes that were
//! read beside what reading memory made of the same round. Every answer of every round is compared
//! with the one that was computed the plain way while rows were made; a wrong one is named, and no
//! figure of it told. With `--cold` each is asked of cold blocks, too, before or after the warm
//! ones in turn, and how many times as long that took is told. A time is that from blocks to a
//! partial answer: neither SQL, nor sorting the answer, nor threads are in it.

mod asked;
mod error;
mod held;
mod measure;
mod plain;
mod questions;
mod rows;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;
use hadal_bench::Table;

use crate::asked::Asked;
use crate::error::Error;
use crate::measure::measure;

/// Measure questions in process, on one thread
#[derive(Parser)]
#[command(version)]
struct Cli {
    /// Rows of the events; beyond 1.1 million not all groups are kept
    #[arg(long, default_value_t = 1 << 20)]
    requests: u64,
    /// Rows of the readings
    #[arg(long, default_value_t = 32 << 20)]
    readings: u64,
    /// How often each question is asked
    #[arg(long, default_value_t = 11)]
    rounds: usize,
    /// Ask cold blocks as well
    #[arg(long)]
    cold: bool,
    /// Only questions whose name has one of these parts
    only: Vec<String>,
}

/// Whether all answers were right.
fn run(cli: &Cli) -> Result<bool, Error> {
    let out = &mut io::stdout().lock();
    let mut right = true;
    let tables = [
        ("requests", Table::Requests { weight_column: "rate" }, cli.requests),
        ("requests with weights", Table::Requests { weight_column: "sample_rate" }, cli.requests),
        ("readings", Table::Readings, cli.readings),
    ];
    for (title, table, rows) in tables {
        let mut asked = Asked::new(table, rows)?;
        let is_wanted = |name: &str| cli.only.iter().any(|part| name.contains(part.as_str()));
        asked.questions.retain(|(question, _)| cli.only.is_empty() || is_wanted(question.name));
        let cold = cli.cold.then(|| asked.table.cold()).transpose()?;
        right &= measure(title, &asked, cold.as_ref(), cli.rounds, out)?;
    }
    Ok(right)
}

fn main() -> ExitCode {
    match run(&Cli::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            // Nobody is left to hear that this failed, too.
            let _ = writeln!(io::stderr(), "error: {error}");
            ExitCode::FAILURE
        }
    }
}
