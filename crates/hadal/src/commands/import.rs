//! `hadal import`: imports files into a table of a running server.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use clap::Args;
use hadal_types::TableName;
use indicatif::{ProgressBar, ProgressStyle};

use crate::args::{ReadArgs, ServerArgs};
use crate::client::{Client, LogOptions};
use crate::commands::explain::explain;
use crate::error::Error;
use crate::input::{Pace, Reading, Rows, Source, open};
use crate::output;
use crate::upload::{Transfer, fresh_batch_id};

/// Import files into a table
#[derive(Args)]
#[command(after_help = "Examples:
  hadal import flights.parquet --table flights
  hadal import flights.csv --table flights --time time_hour
  hadal import points.csv --table points --no-header
  hadal import sensors.csv --table sensors --null - --null missing
  hadal import logs/*.jsonl.gz --table web --sets tags
  hadal import quakes.geojson --table quakes --split types=, --sets types
  hadal import answer.json --table hits --rows result.hits
  zcat old.gz | hadal import - --table web --replace

Parquet, Arrow, JSON lines, JSON (an array, or objects over any lines), GeoJSON, CSV and plain text
are distinguished by what is in them, gzip and zstd by their magic bytes. Rows may be of any age where
the import makes the table. What becomes of each type is in spec/import.md; what is lost is said by
column.")]
pub(crate) struct ImportArgs {
    /// The files; - is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The table; it is made if there is none
    #[arg(long, required_unless_present = "explain", default_value = "")]
    table: String,
    /// Drop the table's rows first
    #[arg(long)]
    replace: bool,
    /// Print how each file would be read, and its first rows; import nothing
    #[arg(long)]
    explain: bool,
    #[command(flatten)]
    reading: ReadArgs,
    #[command(flatten)]
    server: ServerArgs,
}

/// An open file and its rows.
pub(crate) struct Opened {
    rows: Box<dyn Rows>,
    name: String,
    total_bytes: Option<u64>,
    read_bytes: Arc<AtomicU64>,
}

/// Runs the command.
pub(crate) fn run(args: &ImportArgs) -> Result<(), Error> {
    if args.explain {
        return args.files.iter().try_for_each(|file| explain(file, &args.reading));
    }
    let table = TableName::new(&args.table)?;
    let client = args.server.client()?;
    // All files are opened before any row is dropped for them.
    let files = args.files.iter().map(|file| Opened::new(file, &args.reading));
    let files: Vec<Opened> = files.collect::<Result<_, Error>>()?;
    if args.replace {
        client.drop_table_if_there(&table)?;
    }
    // An existing table keeps its age limit.
    let any_age = client.time_column(&table)?.is_none();
    for file in files {
        file.import(&client, &table, &args.reading, any_age)?;
    }
    Ok(())
}

impl Opened {
    /// Opens a file.
    pub(crate) fn new(file: &Path, reading: &ReadArgs) -> Result<Self, Error> {
        let source = Source::open(file)?;
        let (total_bytes, read_bytes) = (source.total_bytes, Arc::clone(&source.read_bytes));
        let how = Reading { options: reading.options()?, splits: &reading.split };
        let rows = open(source, file, how)?;
        let name = file.display().to_string();
        if let (Some(time), Some(columns)) = (reading.time.as_deref(), rows.columns())
            && !columns.contains(&time)
        {
            let reason = format!("there is no column {time}; there are {}", columns.join(", "));
            return Err(Error::Input { place: name, reason });
        }
        Ok(Self { rows, name, total_bytes, read_bytes })
    }

    /// Imports the rows with a progress bar and reports the result. `any_age` accepts rows that are
    /// older than the table's limit.
    pub(crate) fn import(
        mut self,
        client: &Client,
        table: &TableName,
        reading: &ReadArgs,
        any_age: bool,
    ) -> Result<(), Error> {
        let time_column = self.time_column(client, table, reading)?;
        let options = LogOptions { time_column, sets: reading.sets.clone(), any_age };
        let batch = fresh_batch_id()?;
        let transfer = Transfer { client, table, options: &options, pace: Pace::BySize, batch };
        let bar = progress_bar(self.total_bytes)?;
        let (outcome, sent) = transfer.run(self.rows, &|rows| {
            bar.set_position(self.read_bytes.load(Ordering::Relaxed));
            bar.set_message(output::count(rows, "row"));
        });
        bar.finish_and_clear();
        if sent.is_ok() || outcome.has_rows() {
            if !outcome.conclusions().is_empty() {
                output::say(&format!("{}: {}", self.name, outcome.conclusions()));
            }
            output::say(&format!("{}: {}", self.name, outcome.report(table)));
            if outcome.has_too_old() {
                output::say(&format!(
                    "hint: table {table} was there before the import, so it keeps its age limit; \
                     --replace drops its rows first, and takes rows of any age"
                ));
            }
        }
        if sent.is_err() && outcome.has_rows() {
            output::say(
                "hint: more rows may have gone there than that, and a second import adds all of them again; \
                 --replace drops its rows first",
            );
        }
        sent.and_then(|()| outcome.verdict())
    }

    /// Returns the time column to send to the server, where the server cannot choose it alone. That
    /// is the user's choice or, for a new table, the column with a time type.
    fn time_column(
        &mut self,
        client: &Client,
        table: &TableName,
        reading: &ReadArgs,
    ) -> Result<Option<String>, Error> {
        let mut requested = reading.time.clone();
        let mut time_column = requested.clone();
        if requested.is_none() && self.rows.columns().is_some() {
            time_column = client.time_column(table)?;
            if time_column.is_none() {
                requested = self.rows.time_column().map(str::to_owned);
                time_column = requested.clone();
            }
        }
        self.rows.set_time_column(time_column.as_deref());
        Ok(requested)
    }
}

/// A progress bar over the file's bytes on standard error; hidden if that is no terminal.
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
