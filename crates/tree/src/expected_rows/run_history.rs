//! What is known of one leaf's share of one table. Pure; observers that know the same reports have
//! the same share, in whatever order they came.
//!
//! While a leaf's process runs, it is right about its rows: it expired, dropped, sampled or revoked
//! what it no longer has. But rows that it has reported, and does not have at its next start, went
//! missing. They count as missing until their age limit would have dropped them, until they are
//! back after another start, or until a person acknowledges it.
//!
//! Old runs are summed up. Observers agree if they exchange what they know before a leaf has
//! started `EXPECTED_RUNS_MAX` times; else rows may count as missing that are not.

use hadal_peer::{TableReport, TableRun};
use hadal_types::limits::{
    EXPECTED_RUNS_MAX, EXPIRY_SECONDS, EXPIRY_SLACK_SECONDS, FUTURE_SECONDS_MAX,
};
use hadal_types::{Micros, TimeRange};

use super::samples::{accepted_before, keep_rising, minute_of, unite};

/// Rows may be this much older than their age limit: expiry comes in passes and spares young
/// blocks, and a row's time may be later than its arrival.
const SLACK_SECONDS: i64 = EXPIRY_SECONDS + EXPIRY_SLACK_SECONDS + FUTURE_SECONDS_MAX;

/// The last runs of the leaf, from the oldest to the newest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RunHistory {
    pub(super) runs: Vec<TableRun>,
    /// Rows that went missing until the run of this start are known to a person.
    pub(super) acknowledged: u64,
}

/// Turns a report into what is remembered of it.
pub(super) fn run_of(report: &TableReport, received: Micros) -> TableRun {
    let TableReport { started, version, recovered_rows, accepted_rows, .. } = *report;
    let run = TableRun {
        started,
        version,
        received,
        recovered_rows,
        accepted_rows,
        ..TableRun::default()
    };
    let Some(status) = &report.status else { return run };
    let is_timed = status.lost_rows == 0 && status.waiting_rows == 0;
    let missing = status.lost_rows.saturating_add(status.waiting_rows);
    let age = status.settings.as_ref().and_then(|settings| settings.age_limit().seconds());
    TableRun {
        rows: status.schema.rows.saturating_add(missing),
        time_range: status.schema.time_range.filter(|_| is_timed),
        age_seconds: age.and_then(|seconds| u64::try_from(seconds).ok()),
        samples: vec![(minute_of(received), accepted_rows)],
        ..run
    }
}

impl RunHistory {
    /// The newest run; a share without one says nothing.
    pub(super) fn newest(&self) -> Option<&TableRun> {
        self.runs.last()
    }

    /// Adds what is known of a run. Returns whether that is news.
    pub(super) fn learn(&mut self, run: &TableRun, now: Micros) -> bool {
        if self.runs.len() == EXPECTED_RUNS_MAX && run.started < self.runs[0].started {
            return false;
        }
        let mut run = run.clone();
        if self.newest().is_some_and(|newest| newest.started > run.started) {
            run.samples.clear();
        }
        match self.runs.binary_search_by_key(&run.started, |known| known.started) {
            Ok(index) => merge(&mut self.runs[index], &run, now),
            Err(index) => {
                self.runs.insert(index, run);
                self.sum_up_old_runs();
                true
            }
        }
    }

    /// Notes that a person knows of all rows that are missing until now.
    pub(super) fn acknowledge(&mut self, until: u64) -> bool {
        let is_news = until > self.acknowledged;
        self.acknowledged = self.acknowledged.max(until);
        is_news
    }

    /// Leaves out the oldest runs; the rows that were missing after them are kept as a number. Only
    /// the newest run needs its samples.
    fn sum_up_old_runs(&mut self) {
        while self.runs.len() > EXPECTED_RUNS_MAX {
            let losses = self.losses(2);
            self.runs[1].missing_rows = losses.iter().map(|(_, rows)| rows).sum();
            self.runs.remove(0);
        }
        if let Some((_, older)) = self.runs.split_last_mut() {
            older.iter_mut().for_each(|run| run.samples.clear());
        }
    }

    /// Rows that are missing after the first `count` runs, by the start of the run that lacked them
    /// first.
    fn losses(&self, count: usize) -> Vec<(u64, u64)> {
        let mut losses: Vec<(u64, u64)> = Vec::new();
        let mut before: Option<&TableRun> = None;
        for run in self.runs.iter().take(count) {
            let lacked: u64 = losses.iter().map(|(_, rows)| rows).sum();
            let owed = before.map_or(0, |before| before.rows.saturating_add(lacked));
            let missing = owed.saturating_sub(run.recovered_rows).max(run.missing_rows);
            match run.started <= self.acknowledged {
                true => losses.clear(),
                false if missing > lacked => losses.push((run.started, missing - lacked)),
                false => give_back(&mut losses, lacked - missing),
            }
            before = Some(run);
        }
        losses
    }

    /// Whether rows that arrived at a time have certainly been dropped for their age.
    pub(super) fn is_too_old(&self, arrived: Micros, now: Micros) -> bool {
        let cutoff = self.newest().and_then(|newest| cutoff(newest, now));
        cutoff.is_some_and(|cutoff| arrived < cutoff)
    }

    /// Rows that the leaf reported once and does not have, if they are not too old by now.
    pub(super) fn missing_rows(&self, now: Micros) -> u64 {
        let cutoff = self.newest().and_then(|newest| cutoff(newest, now));
        let is_alive = |since: u64| cutoff.is_none_or(|cutoff| micros(since) >= cutoff);
        let losses = self.losses(self.runs.len()).into_iter();
        losses.filter(|(since, _)| is_alive(*since)).map(|(_, rows)| rows).sum()
    }

    /// Rows that the leaf should hold now, according to others, as far as they may concern a query
    /// over this range.
    pub(super) fn rows(&self, now: Micros, range: &TimeRange) -> u64 {
        let held = self.newest().map_or(0, |newest| match newest.time_range {
            Some((first, last)) if !range.overlaps(first, last) => 0,
            _ => remaining(newest, now),
        });
        held.saturating_add(self.missing_rows(now))
    }
}

/// Notes that rows are back; of the missing ones, the youngest are assumed to stay missing.
fn give_back(losses: &mut Vec<(u64, u64)>, mut rows: u64) {
    for (_, lost) in losses.iter_mut() {
        let back = rows.min(*lost);
        *lost -= back;
        rows -= back;
    }
    losses.retain(|(_, lost)| *lost > 0);
}

/// The time before which rows have certainly been dropped for their age; `None` without an age
/// limit.
fn cutoff(run: &TableRun, now: Micros) -> Option<Micros> {
    let age = i64::try_from(run.age_seconds?).unwrap_or(i64::MAX).saturating_add(SLACK_SECONDS);
    Some(Micros(now.0.saturating_sub(age.saturating_mul(Micros::SECOND))))
}

/// Rows of a run's last report that have not become too old since. If rows were removed during the
/// run, they are assumed to be the oldest.
fn remaining(run: &TableRun, now: Micros) -> u64 {
    let Some(cutoff) = cutoff(run, now) else { return run.rows };
    if run.time_range.is_some_and(|(_, last)| last < cutoff) {
        return 0;
    }
    if cutoff <= micros(run.started) {
        return run.rows;
    }
    let arrived = |accepted: u64| run.recovered_rows.saturating_add(accepted);
    let removed = arrived(run.accepted_rows).saturating_sub(run.rows);
    // An older report that came later has left a sample with fewer rows than the newest one.
    let accepted = match minute_of(run.received) < minute_of(cutoff) {
        true => run.accepted_rows,
        false => accepted_before(&run.samples, cutoff),
    };
    run.rows.saturating_sub(arrived(accepted).saturating_sub(removed))
}

/// A start as a time.
fn micros(started: u64) -> Micros {
    Micros(i64::try_from(started).unwrap_or(i64::MAX))
}

/// Adds what another observer knows of the same run.
fn merge(run: &mut TableRun, other: &TableRun, now: Micros) -> bool {
    let before = run.clone();
    let order = |one: &TableRun| {
        let counts = (one.version, one.rows, one.accepted_rows, one.recovered_rows);
        (counts, one.received, one.time_range, one.age_seconds)
    };
    let mut samples = std::mem::take(&mut run.samples);
    if order(other) > order(run) {
        *run = TableRun { missing_rows: run.missing_rows, ..other.clone() };
    }
    run.missing_rows = run.missing_rows.max(other.missing_rows);
    run.received = run.received.max(other.received);
    unite(&mut samples, &other.samples, now);
    keep_rising(&mut samples, run.accepted_rows);
    run.samples = samples;
    *run != before
}
