//! `hadal open`: a private server with the rows of some files, until the user stops it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::Args;
use hadal_types::TableName;

use crate::args::ReadArgs;
use crate::client::Client;
use crate::commands::import::Opened;
use crate::commands::serve::log_to_stderr;
use crate::error::Error;
use crate::input::stem;
use crate::output;
use crate::process::service::Service;
use crate::process::service_config::ServiceConfig;

/// Look into files: a server in memory, and a page
#[derive(Args)]
#[command(after_help = "Examples:
  hadal open access.log
  hadal open flights.parquet
  hadal open orders.csv customers.json.gz            a table each, named after the file
  kubectl logs deploy/web | hadal open -

Nothing is kept: the rows are gone when it stops. The server listens on a free port of this
machine.")]
pub(crate) struct OpenArgs {
    /// The files; - is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    reading: ReadArgs,
    /// Do not open a browser
    #[arg(long)]
    no_browser: bool,
}

/// Runs the command.
pub(crate) fn run(args: &OpenArgs) -> Result<(), Error> {
    log_to_stderr();
    let mut inputs = Vec::new();
    for (file, table) in args.files.iter().zip(table_names(&args.files)) {
        inputs.push((TableName::new(&table)?, Opened::new(file, &args.reading)?));
    }
    let service = Service::open(ServiceConfig::private())?;
    let url = service.url();
    output::print(&format!("{url}\n"))?;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let imported = Client::new(&url, None).and_then(|client| {
                for (table, file) in inputs {
                    file.import(&client, &table, &args.reading, true)?;
                }
                Ok(())
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

/// One table per file; files of the same name are numbered.
fn table_names(files: &[PathBuf]) -> Vec<String> {
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    let name = |file: &PathBuf| {
        let stem = stem(file);
        let count = counts.entry(stem.clone()).or_default();
        *count += 1;
        if *count == 1 { stem } else { format!("{stem}-{count}") }
    };
    files.iter().map(name).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_file_has_its_table() {
        let files = ["a.csv", "b/a.json", "x.log"].map(PathBuf::from);
        assert_eq!(table_names(&files), ["a", "a-2", "x"]);
    }
}
