//! `hadal query`: runs a query and writes the answer for people or for programs.

use std::io::{IsTerminal, Read};

use clap::Args;

use crate::args::ServerArgs;
use crate::client::{Answer, Warning};
use crate::error::Error;
use crate::output;
use crate::render::{Format, render};
use crate::terminal_escape::visible;

/// An answer whose coverage is below this fraction gets a warning.
const COVERAGE_WARNING: f64 = 0.995;

/// Ask a question in SQL
#[derive(Args)]
#[command(after_help = "Examples:
  hadal query 'SHOW TABLES'
  hadal query 'SELECT service, p95(latency_us) FROM requests GROUP BY service ORDER BY 2 DESC'
  hadal query \"SELECT count(*), time_bucket('1 minute', time) AS minute FROM requests GROUP BY minute\"
  hadal query --format csv 'SELECT * FROM requests LIMIT 1000' > rows.csv
  echo 'SELECT 1' | hadal query

On a terminal the answer is a table, with a chart where there is a series; into a file or a pipe
it is CSV. What there is to say about an answer (coverage, warnings) goes to standard error.")]
pub(crate) struct QueryArgs {
    /// The question; standard input if it is left out
    #[arg(value_name = "SQL", allow_hyphen_values = true, value_parser = question)]
    sql: Option<String>,
    /// Words of a question without quotes: caught to be refused, after flags that there are not
    #[arg(hide = true)]
    words: Vec<String>,
    /// How the answer is written [default: table on a terminal, else csv]
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Add columns with the ends of 95 % confidence intervals behind estimates of sampled rows
    #[arg(long)]
    intervals: bool,
    #[command(flatten)]
    server: ServerArgs,
}

/// Runs the command.
pub(crate) fn run(args: &QueryArgs) -> Result<(), Error> {
    if !args.words.is_empty() {
        let advice = "put the question between quotes: hadal query 'SHOW TABLES'";
        return Err(Error::Usage(advice.to_owned()));
    }
    let mut sql = args.sql.clone().unwrap_or_default();
    if args.sql.is_none() {
        let stdin = std::io::stdin();
        if stdin.is_terminal() {
            output::say("type a question in SQL, then Ctrl-D");
        }
        stdin.lock().read_to_string(&mut sql).map_err(Error::io("read", "standard input"))?;
    }
    let answer = args.server.client()?.query(&sql, args.intervals)?;
    let line_width = output::line_width();
    let usual = if line_width.is_some() { Format::Table } else { Format::Csv };
    let format = args.format.unwrap_or(usual);
    output::print(&render(&answer, format, line_width)?)?;
    for remark in remarks(&answer) {
        output::say(&remark);
    }
    if format == Format::Table {
        output::say(&summary(&answer));
    }
    Ok(())
}

/// Refuses a single word that begins with a hyphen: a query may begin with a comment, but is never
/// such a word.
fn question(text: &str) -> Result<String, String> {
    let is_flag = text.starts_with('-') && !text.contains(char::is_whitespace);
    match is_flag {
        true => Err("there is no such flag; see hadal query --help".to_owned()),
        false => Ok(text.to_owned()),
    }
}

/// The warnings that a reader of the answer needs.
fn remarks(answer: &Answer) -> Vec<String> {
    let say = |warning: &Warning| format!("warning: {}", visible(&warning.message));
    let mut remarks: Vec<String> = answer.warnings.iter().map(say).collect();
    let coverage = &answer.coverage;
    if coverage.fraction < COVERAGE_WARNING {
        remarks.push(format!(
            "warning: only {}{:.1} % of the rows were looked at: {} of {} leaves answered",
            if coverage.fraction_is_upper_bound { "at most " } else { "" },
            coverage.fraction * 100.0,
            coverage.leaves_answered,
            coverage.leaves_asked
        ));
    }
    remarks
}

/// The number of rows in the answer and of rows scanned, and the time, in one line.
fn summary(answer: &Answer) -> String {
    let coverage = &answer.coverage;
    let mut text = output::count(answer.rows.len() as u64, "row");
    if coverage.rows_expected > 0 {
        text.push_str(&format!(
            "; looked at {} of {}{}",
            output::thousands(coverage.rows_scanned),
            if coverage.fraction_is_upper_bound { "at least " } else { "" },
            output::count(coverage.rows_expected, "stored row")
        ));
    }
    text.push_str(&format!(" in {:.1} ms", answer.stats.elapsed_micros as f64 / 1e3));
    text
}
