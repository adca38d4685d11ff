//! Measures whole questions in process and on one thread: blocks of the tables of `hadal-bench`,
//! the questions of the comparison and some simpler ones.
//!
//! All questions take turns, and between the turns memory is read, so that a noisy minute affects
//! all of them alike. The output has the median of all rounds, the quartiles, and the encoded bytes
//! read relative to the memory read speed of the same round. Every answer of every round is
//! compared with the one computed the plain way while rows were generated. A wrong answer is named,
//! and its figures are left out. With `--cold`, each question also runs on cold blocks, in turn
//! before or after the warm ones, and the ratio of their times is printed. A time runs from blocks
//! to a partial result: it excludes SQL, sorting the answer and threads.

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

/// Returns whether all answers were right.
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
            // A failure of this write cannot be reported either.
            let _ = writeln!(io::stderr(), "error: {error}");
            ExitCode::FAILURE
        }
    }
}
