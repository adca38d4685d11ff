//! `hadal log`: logs the rows that arrive on standard input.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use clap::Args;
use hadal_ingest::{InputFormat, ReadOptions};
use hadal_types::{BatchId, TableName};

use crate::args::{DataArgs, LISTEN_DEFAULT, ServerArgs, listen_address};
use crate::client::{Client, LogOptions};
use crate::commands::serve::log_to_stderr;
use crate::error::Error;
use crate::input::{Pace, Rows, Source, live_rows};
use crate::output;
use crate::process::damage::say_damage;
use crate::process::service::Service;
use crate::process::service_config::ServiceConfig;
use crate::upload::{Transfer, fresh_batch_id};

/// The longest delay of rows that arrive slowly.
const PACE: Duration = Duration::from_millis(100);

/// Log standard input into a table
#[derive(Args)]
#[command(after_help = "Examples:
  echo '{\"user\": \"ada\", \"ms\": 12}' | hadal log clicks
  tail -f app.log | hadal log app                    lines of text: columns by their layout
  journalctl -o json -f | hadal log journal
  hadal log clicks --batch 2026-11-21 < clicks.jsonl  twice is once: same id, same rows

JSON and text are distinguished by the first character. Lines of text become columns if they have a
usual layout, such as that of an access log; a stack trace is a part of the event before. Without a
server on the default address it starts one there, which keeps the rows in the default data folder.")]
pub(crate) struct LogArgs {
    /// The table; it is made when its first row comes
    table: String,
    /// The column that holds each row's time
    #[arg(long, value_name = "COLUMN")]
    time: Option<String>,
    /// How times are spelled, in the words of strptime: %d.%m.%Y %H:%M
    #[arg(long, value_name = "FORMAT")]
    time_format: Option<String>,
    /// The zone of times that name none, such as Europe/Berlin or +02:00 [default: UTC]
    #[arg(long, value_name = "ZONE", allow_hyphen_values = true)]
    zone: Option<String>,
    /// How rows are written: text or lines; without it, JSON is told from text
    #[arg(long, value_name = "FORMAT")]
    format: Option<String>,
    /// A regular expression whose named groups become the columns of a line: (?<user>\w+)
    #[arg(long, value_name = "REGEX", allow_hyphen_values = true)]
    regex: Option<String>,
    /// Columns whose arrays are sets, not vectors
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    sets: Vec<String>,
    /// How many rejected rows are no error
    #[arg(long, value_name = "ROWS", default_value_t = 0)]
    allow_rejects: u64,
    /// An id for all rows, without #: sending the same rows again under it adds nothing
    #[arg(long, value_name = "ID")]
    batch: Option<String>,
    #[command(flatten)]
    server: ServerArgs,
    /// Where to start a server if there is none
    #[arg(long, env = "HADAL_LISTEN", default_value = LISTEN_DEFAULT, value_name = "ADDRESS",
        value_parser = listen_address)]
    listen: SocketAddr,
    #[command(flatten)]
    data: DataArgs,
}

impl LogArgs {
    /// Returns how lines are read.
    fn reading(&self) -> Result<ReadOptions, Error> {
        let mut options = ReadOptions::default();
        for (name, value) in [
            ("format", &self.format),
            ("regex", &self.regex),
            ("time-format", &self.time_format),
            ("zone", &self.zone),
        ] {
            let Some(value) = value else { continue };
            let set = options.set(name, value);
            set.map_err(|error| Error::Usage(format!("--{name} is {error}")))?;
        }
        let is_read = |format| matches!(format, InputFormat::Text | InputFormat::Lines);
        match options.format.filter(|format| !is_read(*format)) {
            None => Ok(options),
            Some(format) => {
                let name = format.name();
                let reason = format!(
                    "--format may be text or lines here; use hadal import --format {name} -"
                );
                Err(Error::Usage(reason))
            }
        }
    }
}

/// Runs the command.
pub(crate) fn run(args: &LogArgs) -> Result<(), Error> {
    let table = TableName::new(&args.table)?;
    let batch = match &args.batch {
        Some(id) => BatchId::of_client(id)?,
        None => fresh_batch_id()?,
    };
    let client = args.server.client_or(&args.listen.to_string())?;
    if args.server.server.is_some() || client.is_there() {
        return send(args, &client, &table, batch);
    }
    serve_and_send(args, table, batch)
}

/// Sends all of standard input and reports the result.
fn send(args: &LogArgs, client: &Client, table: &TableName, batch: BatchId) -> Result<(), Error> {
    let source = Source::open(Path::new("-"))?;
    // A retry under the same id must cut its chunks at the same rows.
    let pace = if args.batch.is_some() { Pace::BySize } else { Pace::Every(PACE) };
    let delay = args.batch.is_none().then_some(PACE);
    let rows = live_rows(source.reader, &source.place, &args.reading()?, delay)?;
    let options = LogOptions {
        time_column: time_column(args, client, table, &*rows)?,
        sets: args.sets.clone(),
        ..LogOptions::default()
    };
    let transfer = Transfer { client, table, options: &options, pace, batch };
    let (outcome, sent) = transfer.run(rows, &|_| ());
    if sent.is_ok() || outcome.has_rows() {
        // JSON lines and plain lines are the usual case.
        if !["", "JSON lines", "plain text"].contains(&outcome.conclusions()) {
            output::say(outcome.conclusions());
        }
        output::say(&outcome.report(table));
    }
    sent.and_then(|()| outcome.totals().verdict(args.allow_rejects))
}

/// Returns the time column to send to the server: the user's, or for a new table that of a document
/// whose kind has one, such as OTLP.
fn time_column(
    args: &LogArgs,
    client: &Client,
    table: &TableName,
    rows: &dyn Rows,
) -> Result<Option<String>, Error> {
    let of_rows = rows.time_column().map(str::to_owned);
    if args.time.is_some() || of_rows.is_none() || client.time_column(table)?.is_some() {
        return Ok(args.time.clone());
    }
    Ok(of_rows)
}

/// Without a server, this process becomes one, and continues to serve after the end of its input.
fn serve_and_send(args: &LogArgs, table: TableName, batch: BatchId) -> Result<(), Error> {
    log_to_stderr();
    let service = Service::open(ServiceConfig::standard(args.listen, args.data.folder()?))?;
    say_damage(service.recovered());
    let url = service.url();
    output::say(&format!(
        "no server on {}: this is one now, on {url} data: {}; Ctrl-C stops it",
        args.listen,
        service.data()
    ));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let sent =
                Client::new(&url, None).and_then(|client| send(args, &client, &table, batch));
            if let Err(error) = sent {
                output::say(&format!("error: {error}"));
            }
        });
        service.run(|reason| output::say(&format!("stopping: {reason}")))
    })
}
