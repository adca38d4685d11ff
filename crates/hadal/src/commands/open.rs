//! `hadal open`: a private server with the rows of some files, until the user stops it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::Args;
use hadal_types::TableName;

use crate::args::ReadArgs;
use crate::client::Client;
use crate::commands::import::Opened;
use crate::commands::serve::log_to_stderr;
use crate::error::Error;
use crate::input::{locate, table_names};
use crate::output;
use crate::process::service::Service;
use crate::process::service_config::ServiceConfig;
use crate::upload::Totals;

/// Look into files: a server in memory, and a page
#[derive(Args)]
#[command(after_help = "Examples:
  hadal open access.log
  hadal open https://example.com/trips.csv.gz
  hadal open /var/log/nginx                          each log its table
  hadal open flights.parquet
  hadal open orders.csv customers.json.gz            a table each, named after the file
  kubectl logs deploy/web | hadal open -

Nothing is kept: the rows are gone when it stops. The server listens on a free port of this
machine.")]
pub(crate) struct OpenArgs {
    /// Files, folders, patterns and addresses (http, https); - is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    reading: ReadArgs,
    /// How many rejected rows are no error
    #[arg(long, value_name = "ROWS", default_value_t = 0)]
    allow_rejects: u64,
    /// Do not open a browser
    #[arg(long)]
    no_browser: bool,
}

/// Runs the command.
pub(crate) fn run(args: &OpenArgs) -> Result<(), Error> {
    log_to_stderr();
    // A mistake in the options is named before any file is opened.
    args.reading.options()?;
    let (files, remarks) = locate(&args.files)?;
    remarks.iter().for_each(|remark| output::say(remark));
    let mut inputs = Vec::new();
    for (file, table) in files.iter().zip(table_names(&files)) {
        inputs.push((TableName::new(&table)?, Opened::new(file, &args.reading)?));
    }
    let service = Service::open(ServiceConfig::private())?;
    let url = service.url();
    output::print(&format!("{url}\n"))?;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let imported = Client::new(&url, None).and_then(|client| {
                let mut totals = Totals::default();
                for (table, file) in inputs {
                    totals.add(file.import(&client, &table, &args.reading, true)?);
                }
                totals.verdict(args.allow_rejects)
            });
            match imported {
                Ok(()) => output::say("ready; Ctrl-C stops the server"),
                Err(error) => output::say(&format!("error: {error}")),
            }
            if !args.no_browser && output::is_terminal() {
                open_browser(&url);
            }
        });
        service.run(|_| ())
    })
}

/// Opens the page in a browser if the desktop has `xdg-open`. The address has been printed in any
/// case.
pub(crate) fn open_browser(url: &str) {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let is_there = |folder: PathBuf| Path::new(&folder).join("xdg-open").exists();
    if std::env::split_paths(&folders).any(is_there) {
        let quiet = || (Stdio::null(), Stdio::null());
        let (out, err) = quiet();
        let opened = Command::new("xdg-open").arg(url).stdout(out).stderr(err).spawn();
        if let Err(error) = opened {
            output::say(&format!("cannot start xdg-open: {error}"));
        }
    }
}
