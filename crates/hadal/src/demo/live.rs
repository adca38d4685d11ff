//! Live events: every second the requests of that second, and this machine's processes.

use std::time::Duration;

use hadal_peer::Batch;
use hadal_types::{Micros, TableName};

use super::history::Destination;
use super::processes::Processes;
use super::requests::Requests;
use crate::error::Error;

/// Sends each second's requests once the second is over, until it is stopped.
pub(crate) fn requests(
    requests: &Requests,
    now: Micros,
    table: &TableName,
    to: &Destination,
) -> Result<(), Error> {
    for second in 0.. {
        if wait_until(to, Micros(now.0 + (second + 1) * Micros::SECOND)) {
            break;
        }
        if let Some((id, rows, block)) = requests.live_block(second, to.clock.now())? {
            to.send(&Batch::encoded(table.clone(), id, 0, rows, block))?;
        }
    }
    Ok(())
}

/// Samples the machine's processes every second, until it is stopped.
pub(crate) fn processes(
    mut processes: Processes,
    table: &TableName,
    to: &Destination,
) -> Result<(), Error> {
    loop {
        let now = to.clock.now();
        if let Some((id, rows, block)) = processes.sample(now)? {
            to.send(&Batch::encoded(table.clone(), id, 0, rows, block))?;
        }
        if wait_until(to, Micros(now.0 + Micros::SECOND)) {
            return Ok(());
        }
    }
}

/// Waits for a time of the clock. Returns whether to stop.
fn wait_until(to: &Destination, time: Micros) -> bool {
    let micros = u64::try_from(time.0.saturating_sub(to.clock.now().0)).unwrap_or(0);
    to.stop.wait(Duration::from_micros(micros))
}
