//! Rows on their way into a table of a server, and what became of them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use hadal_types::{BatchId, TableName};

use crate::client::{Client, LogBatch, LogOptions, Warning};
use crate::error::Error;
use crate::input::{Feed, Pace, Rows};
use crate::output;

/// Reasons for rejected rows that are shown.
const REASONS_MAX: usize = 10;

/// How to bring rows into a table.
pub(crate) struct Transfer<'t> {
    pub(crate) client: &'t Client,
    pub(crate) table: &'t TableName,
    pub(crate) options: &'t LogOptions,
    pub(crate) pace: Pace,
    /// Chunk n goes as part n of this batch.
    pub(crate) batch: BatchId,
}

/// What became of the rows.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) rows: u64,
    pub(crate) rejected: u64,
    /// Number of the row, counted from 1, and why it was rejected; the first ones.
    reasons: Vec<(u64, String)>,
    warnings: Vec<Warning>,
    /// What the rows lost before they were sent.
    notes: Vec<String>,
    unit: &'static str,
    time: Duration,
}

impl Transfer<'_> {
    /// Sends all rows; `progress` is called with the rows that have arrived so far.
    pub(crate) fn run(
        &self,
        mut rows: Box<dyn Rows>,
        progress: &dyn Fn(u64),
    ) -> Result<Outcome, Error> {
        let (feed, start) = (Arc::new(Feed::default()), Instant::now());
        let media_type = rows.media_type();
        let mut outcome = Outcome { unit: rows.unit(), ..Outcome::default() };
        let reading = Arc::clone(&feed);
        // Not waited for: it may wait itself, for a stream that gives nothing more.
        let reader = std::thread::Builder::new().name("hadal-read".to_owned());
        reader.spawn(move || reading.read(&mut *rows)).map_err(Error::io("start", "a thread"))?;
        let sent = self.send(&feed, media_type, &mut outcome, progress);
        feed.abandon();
        outcome.notes = feed.notes();
        outcome.time = start.elapsed();
        sent.map(|()| outcome)
    }

    fn send(
        &self,
        feed: &Feed,
        media_type: &str,
        outcome: &mut Outcome,
        progress: &dyn Fn(u64),
    ) -> Result<(), Error> {
        for part in 0.. {
            let Some(chunk) = feed.take(self.pace)? else { break };
            let id = &self.part(part)?;
            let batch = LogBatch { id, media_type, lines: &chunk.lines };
            let receipt = self.client.log(self.table, self.options, batch)?;
            outcome.rows += receipt.accepted;
            outcome.rejected += receipt.rejected_count;
            let room = REASONS_MAX - outcome.reasons.len();
            let reasons = receipt.rejected.into_iter().take(room);
            outcome.reasons.extend(reasons.map(|r| (chunk.first_row + r.line, r.reason)));
            for warning in receipt.warnings {
                outcome.warn(warning);
            }
            progress(outcome.rows);
        }
        Ok(())
    }
}

impl Transfer<'_> {
    /// The id of a chunk. The server cuts chunks further, and numbers the pieces in its own way.
    fn part(&self, part: u64) -> Result<BatchId, Error> {
        let id = if part == 0 { self.batch.to_string() } else { format!("{}.{part}", self.batch) };
        BatchId::new(&id).ok_or(Error::BatchId(id))
    }
}

impl Outcome {
    fn warn(&mut self, warning: Warning) {
        // `1200 rows have no time` of one chunk and `800 rows have no time` of the next are one.
        let tail = |text: &str| text.trim_start_matches(|c: char| c.is_ascii_digit()).to_owned();
        let same = |own: &&mut Warning| tail(&own.message) == tail(&warning.message);
        match self.warnings.iter_mut().find(same) {
            Some(own) => {
                let has_count = own.message.starts_with(&own.count.to_string());
                own.count += warning.count;
                if has_count {
                    own.message = format!("{}{}", own.count, tail(&own.message));
                }
            }
            None => self.warnings.push(warning),
        }
    }

    /// Says what became of the rows: one line, then reasons and warnings if there are any.
    pub(crate) fn report(&self, table: &TableName) -> String {
        let mut text = format!(
            "{} went to table {table} in {:.1} s",
            output::count(self.rows, "row"),
            self.time.as_secs_f64()
        );
        if self.rejected > 0 {
            text.push_str(&format!(", {} rejected:", output::count(self.rejected, "row")));
            for (row, reason) in &self.reasons {
                text.push_str(&format!("\n  {} {row}: {reason}", self.unit));
            }
            let more = self.rejected - (self.reasons.len() as u64).min(self.rejected);
            if more > 0 {
                let more = output::thousands(more);
                text.push_str(&format!("\n  and {more} more; all are in table _rejects"));
            }
        }
        for warning in &self.warnings {
            text.push_str(&format!("\nwarning: {}", warning.message));
        }
        for note in &self.notes {
            text.push_str(&format!("\nwarning: {note}"));
        }
        text
    }
}

/// An id that no other batch has.
pub(crate) fn fresh_batch_id() -> Result<BatchId, Error> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| Error::Usage(format!("no randomness: {error}")))?;
    let id: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    BatchId::new(&id).ok_or(Error::BatchId(id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_report_names_what_was_rejected() {
        let table = TableName::new("t").expect("a name");
        let mut outcome = Outcome { rows: 1_234, unit: "line", ..Outcome::default() };
        assert_eq!(outcome.report(&table), "1,234 rows went to table t in 0.0 s");
        outcome.rejected = 3;
        outcome.reasons = vec![(2, "no object".to_owned())];
        outcome.warn(Warning { message: "w".to_owned(), count: 1 });
        outcome.warn(Warning { message: "w".to_owned(), count: 2 });
        assert_eq!(outcome.warnings.len(), 1);
        let mut counted = Outcome::default();
        counted.warn(Warning { message: "12 rows".to_owned(), count: 12 });
        counted.warn(Warning { message: "5 rows".to_owned(), count: 5 });
        assert_eq!(counted.warnings[0].message, "17 rows");
        assert_eq!(
            outcome.report(&table),
            "1,234 rows went to table t in 0.0 s, 3 rows rejected:\n  line 2: no object\n  \
             and 2 more; all are in table _rejects\nwarning: w"
        );
    }

    #[test]
    fn fresh_ids_differ() {
        assert_ne!(fresh_batch_id().expect("an id"), fresh_batch_id().expect("an id"));
    }
}
