//! `hadal import`: brings files into a table of a running server.

use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use clap::Args;
use hadal_types::TableName;
use indicatif::{ProgressBar, ProgressStyle};

use crate::cli::ServerArgs;
use crate::client::{Client, LogOptions};
use crate::error::Error;
use crate::input::{InputFormat, Pace, Source, detect, rows};
use crate::output;
use crate::transfer::{Outcome, Transfer, fresh_batch_id};

/// Bytes of a text that tell how it is written.
const HEAD_BYTES: u64 = 64 << 10;

/// Import files into a table
#[derive(Args)]
#[command(after_help = "Examples:
  hadal import flights.csv --table flights --time time_hour
  hadal import logs/*.jsonl.gz --table web --sets tags
  zcat old.gz | hadal import - --table web --replace

JSON lines, JSON (an array, or objects over any lines), CSV and plain text are told apart by what
is in them, gzip and zstd by their magic bytes. Rows may be of any age.")]
pub(crate) struct ImportArgs {
    /// The files; - is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The table; it is made if there is none
    #[arg(long)]
    table: String,
    /// Drop the table's rows first
    #[arg(long)]
    replace: bool,
    #[command(flatten)]
    reading: ReadingArgs,
    #[command(flatten)]
    server: ServerArgs,
}

/// How files are read.
#[derive(Args)]
pub(crate) struct ReadingArgs {
    /// The column that holds each row's time
    #[arg(long, value_name = "COLUMN")]
    time: Option<String>,
    /// Columns whose arrays are sets, not vectors
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    sets: Vec<String>,
    /// How the files are written [default: told by what is in them]
    #[arg(long, value_enum)]
    format: Option<InputFormat>,
}

/// Runs the command.
pub(crate) fn run(args: &ImportArgs) -> Result<(), Error> {
    let table = TableName::new(&args.table)?;
    let client = args.server.client()?;
    // All files are opened before a row is dropped for them.
    let sources: Result<Vec<Source>, Error> =
        args.files.iter().map(|file| Source::open(file)).collect();
    let sources = sources?;
    if args.replace {
        client.drop_table_if_there(&table)?;
    }
    for (source, file) in sources.into_iter().zip(&args.files) {
        let outcome = import(&client, &table, source, file, &args.reading)?;
        output::say(&format!("{}: {}", file.display(), outcome.report(&table)));
    }
    Ok(())
}

/// Imports one file, with a progress bar for whoever looks.
pub(crate) fn import(
    client: &Client,
    table: &TableName,
    mut source: Source,
    file: &Path,
    reading: &ReadingArgs,
) -> Result<Outcome, Error> {
    let mut head = Vec::new();
    let start = (&mut source.reader).take(HEAD_BYTES).read_to_end(&mut head);
    start.map_err(Error::io("read", &source.place))?;
    let format = reading.format.unwrap_or_else(|| detect(&head, file));
    let reader = Box::new(Cursor::new(head).chain(source.reader));
    let options =
        LogOptions { time_column: reading.time.clone(), sets: reading.sets.clone(), any_age: true };
    let batch = fresh_batch_id()?;
    let transfer = Transfer { client, table, options: &options, pace: Pace::BySize, batch };
    let bar = progress_bar(source.total_bytes)?;
    let outcome = transfer.run(rows(reader, format, &source.place)?, &|rows| {
        bar.set_position(source.read_bytes.load(Ordering::Relaxed));
        bar.set_message(output::count(rows, "row"));
    });
    bar.finish_and_clear();
    outcome
}

/// A bar over the file's bytes on standard error; hidden where nobody looks.
fn progress_bar(total_bytes: Option<u64>) -> Result<ProgressBar, Error> {
    let (bar, template) = match total_bytes {
        Some(total) => (
            ProgressBar::new(total),
            "{bar:30} {percent}% {msg}, {binary_bytes_per_sec}, {eta} left",
        ),
        None => (ProgressBar::new_spinner(), "{spinner} {msg}, {binary_bytes_per_sec}"),
    };
    let style = ProgressStyle::with_template(template);
    Ok(bar.with_style(style.map_err(|error| Error::Usage(error.to_string()))?))
}
