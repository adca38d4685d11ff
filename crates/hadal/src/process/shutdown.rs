//! The reasons for a stop, and the time limit of a stop.

use std::fmt::{self, Display, Formatter};
use std::fs;
use std::future::{Future, pending};
use std::io;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::oneshot;

use crate::error::Error;
use crate::output;

/// The exit code of a process whose stop took too long.
const STOP_LATE: i32 = 3;

/// Why a server stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    /// The process got the signal of this name.
    Signal(&'static str),
    /// An authorized client asked for it.
    Client,
    /// A successor is ready.
    Successor,
    /// Standard input has ended.
    EndOfInput,
}

impl Display for Reason {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Signal(name) => f.write_str(name),
            Self::Client => f.write_str("a client said so"),
            Self::Successor => f.write_str("a successor takes over"),
            Self::EndOfInput => f.write_str("standard input ended"),
        }
    }
}

/// Becomes ready when a signal asks the process to end.
pub(crate) fn asked_by_signal() -> Result<impl Future<Output = Reason> + Send + use<>, Error> {
    let handle = |kind| signal(kind).map_err(Error::io("handle", "signals"));
    let (mut term, mut int) = (handle(SignalKind::terminate())?, handle(SignalKind::interrupt())?);
    // A user who starts it with `nohup` wants it to outlive the terminal.
    let mut hangup = if ignores_hangups() { None } else { Some(handle(SignalKind::hangup())?) };
    Ok(async move {
        tokio::select! {
            _ = term.recv() => Reason::Signal("SIGTERM"),
            _ = int.recv() => Reason::Signal("SIGINT"),
            () = received(hangup.as_mut()) => Reason::Signal("SIGHUP, the terminal is closed"),
        }
    })
}

/// Becomes ready at the end of standard input, if `is_watched`; otherwise never. A supervisor that
/// ends closes it, however it ends.
pub(crate) async fn asked_by_end_of_input(is_watched: bool) {
    if !is_watched {
        return pending().await;
    }
    let (ended, end) = oneshot::channel::<()>();
    let watch = move || {
        // An error counts as the end.
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        drop(ended);
    };
    let started = std::thread::Builder::new().name("hadal-input".to_owned()).spawn(watch);
    if started.is_ok() {
        // The sender is dropped at the end.
        let _ = end.await;
    } else {
        pending().await
    }
}

/// Becomes ready when the signal arrives; never without a signal.
async fn received(signal: Option<&mut Signal>) {
    match signal {
        Some(signal) => drop(signal.recv().await),
        None => pending().await,
    }
}

/// Whether this process was started with SIGHUP ignored.
fn ignores_hangups() -> bool {
    fs::read_to_string("/proc/self/status").is_ok_and(|status| ignored(&status) & 1 != 0)
}

/// The signals that a process ignores, signal 1 (SIGHUP) in the lowest bit. 0 if the system does
/// not report them.
fn ignored(status: &str) -> u64 {
    let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    line.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

/// The time limit of a stop. It ends once this value is dropped.
pub(crate) struct StopLimit(#[expect(dead_code, reason = "it is there to be dropped")] Sender<()>);

/// Ends the process after `stop_max`, unless the stop is done before. Unfinished work is then as
/// after a crash, which loses nothing acknowledged ("Fast Database Restarts at Facebook", SIGMOD
/// 2014, section 4.3, has the same limit). Without a limit, a process that waits for a hanging
/// server would wait for ever.
pub(crate) fn end_at_the_latest(stop_max: Duration) -> StopLimit {
    let end = move || {
        let seconds = stop_max.as_secs();
        output::say(&format!(
            "the stop takes longer than {seconds} s: it ends here, and the next start recovers as after a crash"
        ));
        std::process::exit(STOP_LATE);
    };
    if stop_max.is_zero() {
        end();
    }
    let (limit, done) = channel();
    let wait = move || {
        if done.recv_timeout(stop_max) == Err(RecvTimeoutError::Timeout) {
            end();
        }
    };
    // Without this thread the stop has no time limit.
    let _ = std::thread::Builder::new().name("hadal-stop".to_owned()).spawn(wait);
    StopLimit(limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_says_which_signals_are_ignored() {
        assert_eq!(ignored("SigBlk:\t0000000000000000\nSigIgn:\t0000000000001001\n"), 0x1001);
        assert_eq!(ignored("SigIgn:\tnothing\n"), 0);
        assert_eq!(ignored(""), 0);
    }
}
