//! `hadal rollover`: restarts all leaves of a cluster in turn.

mod dashboard;
mod report;

use std::time::Duration;

use clap::Args;
use hadal_types::limits::{ROLLOVER_STOP_SECONDS, ROLLOVER_STOP_SECONDS_MAX};
use serde_json::json;

use crate::args::ServerArgs;
use crate::client::Client;
use crate::error::Error;
use crate::output;
use dashboard::{dashboard, progress_line, summary};
use report::{Answer, Rollover};

/// The pause between two looks.
const PAUSE: Duration = Duration::from_millis(500);
/// The path of rollovers.
const PATH: &str = "/v1/rollover";

/// Restart all leaves of a cluster in turn, such as for an upgrade
#[derive(Args)]
#[command(after_help = "Examples:
  hadal rollover                           2 % of the leaves at a time, at least one
  hadal rollover --share 10%               faster, where coverage may fall to 90 %:
  hadal rollover --share 10% --coverage-floor 90%
  hadal rollover --follow                  look at one that is under way
  hadal rollover --stop                    restart no more leaves

Each leaf stops in order and starts again with the program that is in place now, at most one of a
machine at a time. The next follows when it is alive and has its rows. The rollover stops by itself
when a leaf does not come back, when other leaves lack rows, or when many queries fail. The server
that is asked drives it: it continues if this command ends.")]
pub(crate) struct RolloverArgs {
    /// How many of the leaves may restart at the same time, of all; one may always
    #[arg(long, value_name = "PERCENT", default_value = "2%", value_parser = share)]
    share: f64,
    /// Stop when the leaves that are not restarting have less of all rows; and restart no second
    /// leaf at a time that would lower coverage below it
    #[arg(long, value_name = "PERCENT", default_value = "97%", value_parser = percentage)]
    coverage_floor: f64,
    /// How long a leaf may take to stop before it is killed
    #[arg(long, value_name = "SECONDS", default_value_t = ROLLOVER_STOP_SECONDS,
        value_parser = clap::value_parser!(u64).range(1..=ROLLOVER_STOP_SECONDS_MAX))]
    kill_after: u64,
    /// Only leaves that were started before this time: continue a rollover that stopped
    #[arg(long, value_name = "TIME")]
    started_before: Option<String>,
    /// Begin none: show the one that is under way until it ends
    #[arg(long, conflicts_with_all = ["started_before", "stop"])]
    follow: bool,
    /// Begin none: stop the one that is under way after the leaves that are restarting
    #[arg(long, conflicts_with = "started_before")]
    stop: bool,
    #[command(flatten)]
    server: ServerArgs,
}

/// Runs the command.
pub(crate) fn run(args: &RolloverArgs) -> Result<(), Error> {
    let client = args.server.client()?;
    let answer: Answer = if args.follow {
        client.get(PATH)?
    } else if args.stop {
        client.delete(PATH)?
    } else {
        let body = json!({
            "share": args.share, "coverage_floor": args.coverage_floor,
            "stop_seconds": args.kill_after, "started_before": args.started_before,
        });
        let answer = client.post(PATH, body.to_string().into_bytes())?;
        output::say(&format!(
            "{} drives the rollover, also without this command: hadal rollover --follow or --stop",
            client.url()
        ));
        answer
    };
    let Some(rollover) = answer.rollover else {
        let url = client.url();
        return Err(Error::Server(format!("{url} has driven no rollover since it started")));
    };
    follow(&client, rollover)
}

/// Shows a rollover until it ends.
fn follow(client: &Client, mut rollover: Rollover) -> Result<(), Error> {
    let mut shown = String::new();
    loop {
        match output::line_width() {
            Some(width) => output::redraw(&dashboard(&rollover, width))?,
            None => {
                let line = progress_line(&rollover);
                if line != shown {
                    output::print(&line)?;
                    shown = line;
                }
            }
        }
        if rollover.has_ended() {
            break;
        }
        std::thread::sleep(PAUSE);
        rollover = look(client, rollover)?;
    }
    match rollover.is_done() {
        true => output::print(&summary(&rollover)),
        false => Err(Error::Server(rollover.failure())),
    }
}

/// The rollover now.
fn look(client: &Client, last: Rollover) -> Result<Rollover, Error> {
    let lost = |why: &str| {
        let from = &last.resume_from;
        Error::Server(format!(
            "{why}; the rollover ends with the server that drives it. Continue at any server: \
             hadal rollover --started-before {from}"
        ))
    };
    match client.get::<Answer>(PATH) {
        Ok(Answer { rollover: Some(rollover) }) => Ok(rollover),
        Ok(Answer { rollover: None }) => Err(lost("the server was started again")),
        Err(error @ Error::NoServer { .. }) => Err(lost(&error.to_string())),
        Err(error) => Err(error),
    }
}

/// Parses a share of leaves.
fn share(text: &str) -> Result<f64, String> {
    match percentage(text)? {
        share if share > 0.0 => Ok(share),
        _ => Err("no leaf would be restarted; write a share such as 2%".to_owned()),
    }
}

/// Parses `97%`, or `0.97`.
fn percentage(text: &str) -> Result<f64, String> {
    let (number, whole) = match text.trim().strip_suffix('%') {
        Some(number) => (number.trim_end(), 100.0),
        None => (text.trim(), 1.0),
    };
    let fraction = number.parse::<f64>().map_or(f64::NAN, |number| number / whole);
    if !(0.0..=1.0).contains(&fraction) {
        return Err("expected 0% to 100%, such as 2%".to_owned());
    }
    Ok(fraction)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_percentages_or_fractions() {
        for (text, expected) in [("2%", 0.02), (" 97 %", 0.97), ("0.5", 0.5), ("100%", 1.0)] {
            assert_eq!(percentage(text), Ok(expected), "{text}");
        }
        for bad in ["", "%", "2", "101%", "-1%", "nan", "two"] {
            assert!(percentage(bad).is_err(), "{bad}");
        }
        assert_eq!(share("0%"), Err("no leaf would be restarted; write a share such as 2%".into()));
    }
}
