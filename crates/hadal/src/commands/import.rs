//! `hadal import`: imports files into a table of a running server.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use clap::Args;
use hadal_ingest::Untimed;
use hadal_types::TableName;
use hadal_types::clock::{Clock, SystemClock};
use indicatif::{ProgressBar, ProgressStyle};

use crate::args::{ReadArgs, ServerArgs};
use crate::client::{Client, LogOptions};
use crate::commands::explain::explain;
use crate::error::Error;
use crate::input::{Input, Pace, Reading, Remarks, Rows, Source, locate, open, table_names};
use crate::output;
use crate::upload::{Totals, Transfer, fresh_batch_id};

/// The number of files that are opened before the first of them is imported.
const OPEN_MAX: usize = 64;

/// The name that no column needs to have: with it, rows get their time of arrival.
const RECEIVED: &str = "received";

/// Import files into a table
#[derive(Args)]
#[command(after_help = "Examples:
  hadal import flights.parquet --table flights
  hadal import flights.csv --table flights --time time_hour
  hadal import points.csv --table points --no-header
  hadal import sensors.csv --table sensors --null - --null missing
  hadal import logs/*.jsonl.gz --table web --sets tags
  hadal import /var/log/nginx                         each log its table: access, error
  hadal import https://example.com/trips.csv.gz       table trips
  hadal import quakes.geojson --table quakes --split types=, --sets types
  hadal import answer.json --table hits --rows result.hits
  zcat old.gz | hadal import - --table web --replace

Parquet, Arrow, JSON lines, JSON (an array, or objects over any lines), GeoJSON, CSV and plain text
are distinguished by what is in them, gzip and zstd by their magic bytes. Rows may be of any age where
the import makes the table. What becomes of each type is in spec/import.md; what is lost is said by
column.")]
pub(crate) struct ImportArgs {
    /// Files, folders, patterns and addresses (http, https); - is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The table; it is made if there is none [default: named after each file]
    #[arg(long)]
    table: Option<String>,
    /// Drop the table's rows first
    #[arg(long)]
    replace: bool,
    /// Print how each file would be read, and its first rows; import nothing
    #[arg(long)]
    explain: bool,
    /// How many rejected rows are no error
    #[arg(long, value_name = "ROWS", default_value_t = 0)]
    allow_rejects: u64,
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
    remarks: Remarks,
}

/// Runs the command.
pub(crate) fn run(args: &ImportArgs) -> Result<(), Error> {
    // A mistake in the options is named before any file is opened.
    args.reading.options()?;
    let (inputs, remarks) = locate(&args.files)?;
    if args.explain {
        return inputs.iter().try_for_each(|input| explain(input, &args.reading));
    }
    let client = args.server.client()?;
    let names = match &args.table {
        Some(table) => vec![table.clone(); inputs.len()],
        None => table_names(&inputs),
    };
    let tables = names.iter().map(|name| TableName::new(name)).collect::<Result<Vec<_>, _>>()?;
    // The files are opened before any row is dropped for them.
    let opened = inputs.iter().take(OPEN_MAX).map(|input| Opened::new(input, &args.reading));
    let mut opened = opened.collect::<Result<Vec<Opened>, Error>>()?.into_iter();
    remarks.iter().for_each(|remark| output::say(remark));
    let mut new_tables = BTreeMap::new();
    for table in &tables {
        if new_tables.contains_key(table) {
            continue;
        }
        if args.replace {
            client.drop_table_if_there(table)?;
        }
        // An existing table keeps its age limit.
        new_tables.insert(table, client.time_column(table)?.is_none());
    }
    let (mut totals, mut failed) = (Totals::default(), 0);
    for (input, table) in inputs.iter().zip(&tables) {
        let any_age = new_tables.get(table).is_some_and(|is_new| *is_new);
        let file = opened.next().map_or_else(|| Opened::new(input, &args.reading), Ok);
        match file.and_then(|file| file.import(&client, table, &args.reading, any_age)) {
            Ok(more) => totals.add(more),
            // The other files are read nevertheless.
            Err(error) if inputs.len() > 1 && error.is_of_input() => {
                output::say(&format!("error: {error}"));
                failed += 1;
            }
            Err(error) => return Err(error),
        }
    }
    match failed {
        0 => totals.verdict(args.allow_rejects),
        failed => Err(Error::FilesFailed { failed, of: inputs.len() }),
    }
}

impl Opened {
    /// Opens a file.
    pub(crate) fn new(input: &Input, reading: &ReadArgs) -> Result<Self, Error> {
        let source = Source::of(input)?;
        let (total_bytes, read_bytes) = (source.total_bytes, Arc::clone(&source.read_bytes));
        let now = SystemClock.now();
        let remarks = source.remarks.clone();
        let how = Reading { options: reading.options()?, splits: &reading.split, now };
        let rows = open(source, &input.path(), how)?;
        let name = input.name();
        if let (Some(time), Some(columns)) = (reading.time.as_deref(), rows.columns())
            && !columns.contains(&time)
            && time != RECEIVED
        {
            let reason = format!("there is no column {time}; there are {}", columns.join(", "));
            return Err(Error::Input { place: name, reason });
        }
        Ok(Self { rows, name, total_bytes, read_bytes, remarks })
    }

    /// Imports the rows with a progress bar and reports the result. Returns the numbers of
    /// rows. `any_age` accepts rows that are older than the table's limit.
    pub(crate) fn import(
        mut self,
        client: &Client,
        table: &TableName,
        reading: &ReadArgs,
        any_age: bool,
    ) -> Result<Totals, Error> {
        let time_column = self.time_column(client, table, reading)?;
        let read = reading.options()?;
        let untimed = read.untimed.unwrap_or(Untimed::Detect).name().to_owned();
        let options = LogOptions {
            time_column,
            sets: reading.sets.clone(),
            any_age,
            time_format: read.time_format.filter(|_| self.rows.has_raw_times()),
            zone: read.zone,
            untimed: Some(untimed),
        };
        let batch = fresh_batch_id()?;
        let transfer = Transfer { client, table, options: &options, pace: Pace::BySize, batch };
        let bar = progress_bar(self.total_bytes)?;
        let (mut outcome, sent) = transfer.run(self.rows, &|rows| {
            bar.set_position(self.read_bytes.load(Ordering::Relaxed));
            bar.set_message(output::count(rows, "row"));
        });
        bar.finish_and_clear();
        outcome.add_notes(self.remarks.list());
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
        sent.map(|()| outcome.totals())
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
        let may_have_type = self.rows.columns().is_some() || self.rows.time_column().is_some();
        if requested.is_none() && may_have_type {
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
