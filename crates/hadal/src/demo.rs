//! The demo's data: an invented web shop and this machine's processes, with history and live
//! events.
//!
//! Rows are built as row blocks and handed to the placement like any batch.

pub(crate) mod dashboards;
mod history;
mod live;
mod machines;
mod proc_folder;
mod processes;
mod requests;
mod rhythm;
mod stop;
mod vocabulary;
mod weighted;
mod words;

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread::JoinHandle;
use std::time::Duration;

use hadal_types::time::{TimeUnit, parse_timestamp};
use hadal_types::{Clock, Micros, Number, TableName};

use crate::error::Error;
use crate::output;
use proc_folder::MachineProcFolder;
use processes::Processes;
use requests::Requests;

pub(crate) use history::Destination;
pub(crate) use machines::Machines;
pub(crate) use stop::Stop;

/// The parameters of the demo's data.
pub(crate) struct Demo {
    pub(crate) seed: u64,
    pub(crate) rows: u64,
    /// The time at which history ends.
    pub(crate) now: Micros,
    /// The number of threads that generate history.
    pub(crate) threads: usize,
    /// Whether the data folder already has history.
    pub(crate) has_history: bool,
}

/// A callback that gets the number of rows of each block of history that has arrived.
pub(crate) type Progress = dyn Fn(u64) + Send + Sync;

impl Demo {
    /// The tables that the demo fills: the web shop's requests, and the machine's processes.
    pub(crate) fn tables() -> Result<[TableName; 2], Error> {
        Ok([TableName::new("requests")?, TableName::new("processes")?])
    }

    /// Starts to fill both tables, each on its own threads, until `to` says stop. Returns when
    /// `requests` has rows, so that the first view of the page shows rows.
    pub(crate) fn start(
        self,
        to: &Destination,
        progress: Arc<Progress>,
    ) -> Result<Vec<JoinHandle<()>>, Error> {
        let [table, machine] = Self::tables()?;
        let requests = Arc::new(Requests::new(self.seed, self.now, self.rows));
        let mut threads = Vec::new();
        if !self.has_history {
            let (requests, table, to) = (Arc::clone(&requests), table.clone(), to.clone());
            let (has_rows, rows) = channel();
            threads.push(spawn("demo-history", move || {
                let arrived = move |rows| {
                    progress(rows);
                    // The receiver waits for the first message only.
                    let _ = has_rows.send(());
                };
                history::fill(&requests, &table, &to, self.threads, &arrived)
            })?);
            // An error means that the thread ended. It has reported the reason, or had no rows to
            // generate.
            let _ = rows.recv();
        }
        let live = to.clone();
        threads
            .push(spawn("demo-live", move || live::requests(&requests, self.now, &table, &live))?);
        if let Some(folder) = MachineProcFolder::open() {
            let (processes, to) = (Processes::new(Box::new(folder)), to.clone());
            threads
                .push(spawn("demo-processes", move || live::processes(processes, &machine, &to))?);
        }
        Ok(threads)
    }
}

fn spawn(
    name: &str,
    work: impl FnOnce() -> Result<(), Error> + Send + 'static,
) -> Result<JoinHandle<()>, Error> {
    let report = move || {
        if let Err(error) = work() {
            output::say(&format!("error: {error}"));
        }
    };
    let thread = std::thread::Builder::new().name(name.to_owned());
    thread.spawn(report).map_err(Error::io("start", name))
}

/// A clock with a constant difference to another clock.
pub(crate) struct ShiftedClock<C> {
    clock: C,
    shift: i64,
}

impl<C: Clock> ShiftedClock<C> {
    /// Returns a clock that shows `now` at this moment.
    pub(crate) fn new(clock: C, now: Micros) -> Self {
        let shift = now.0.saturating_sub(clock.now().0);
        Self { clock, shift }
    }
}

impl<C: Clock> Clock for ShiftedClock<C> {
    fn now(&self) -> Micros {
        Micros(self.clock.now().0.saturating_add(self.shift))
    }

    fn running(&self) -> Duration {
        self.clock.running()
    }
}

/// Parses a time: ISO 8601, or a number of seconds (or finer units) since 1970.
pub(crate) fn parse_now(text: &str) -> Result<Micros, Error> {
    let number = || text.parse::<Number>().ok().and_then(|n| TimeUnit::guess(n).read(n));
    parse_timestamp(text).or_else(number).ok_or_else(|| {
        Error::Usage(format!("--now {text}: not a time such as 2026-11-21T12:00:00Z"))
    })
}

#[cfg(test)]
mod tests {
    use hadal_types::FixedClock;

    use super::*;

    #[test]
    fn a_shifted_clock_goes_on() {
        let clock = ShiftedClock::new(FixedClock::new(Micros(1_000)), Micros(50));
        assert_eq!(clock.now(), Micros(50));
        clock.clock.set(Micros(1_007));
        assert_eq!(clock.now(), Micros(57));
    }

    #[test]
    fn moments_are_read() {
        let noon = Micros(1_700_049_600 * Micros::SECOND);
        for text in ["2023-11-15T12:00:00Z", "1700049600", "1700049600000"] {
            assert_eq!(parse_now(text).expect("a time"), noon);
        }
        assert!(parse_now("yesterday").is_err());
    }
}
