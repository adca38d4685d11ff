//! Sends rows to a table of a server and reports the result.
//!
//! A server reads one request body on one thread, which takes longer than splitting a file into
//! lines. Chunks are therefore sent on several lanes in parallel. The number and the rows of a
//! chunk are fixed before it is sent, by the order in which the rows are read.

use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

use hadal_ingest::{InputFormat, Reject, RejectKind, RejectKinds, TimeWording, counted};
use hadal_types::{BatchId, TableName};
use parking_lot::Mutex;

use crate::client::{Client, LogBatch, LogOptions, LogReceipt, RejectedKind, Warning};
use crate::error::Error;
use crate::input::{Chunk, Feed, JSON_LINES, NOT_UTF8_ADVICE, Pace, Rows};
use crate::output;

/// The number of characters of a rejected row in the report.
const EXCERPT_CHARS: usize = 80;
/// The number of lanes for rows that have times.
const LANES: usize = 2;

/// The server's name for the time source of rows without times.
const ARRIVAL: &str = "arrival time";

/// The server's wording for a row that is older than its table's limit.
const TOO_OLD: &str = "is older than the table's limit";

/// An upload of rows to a table.
pub(crate) struct Transfer<'t> {
    pub(crate) client: &'t Client,
    pub(crate) table: &'t TableName,
    pub(crate) options: &'t LogOptions,
    pub(crate) pace: Pace,
    pub(crate) batch: BatchId,
}

/// The result of an upload.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    batch: String,
    /// Rows that the upload added to the table.
    rows: u64,
    /// Rows of chunks that the table had before.
    duplicates: u64,
    rejected: u64,
    /// The rejected rows by kind. Their lines are numbers of rows, from 1.
    reject_kinds: RejectKinds,
    warnings: Vec<Warning>,
    /// The time source that the server reports; empty until it is known.
    time_from: String,
    /// How the times are written, in words for the end of a sentence about them.
    time_words: String,
    /// Notes on losses from before the rows were sent.
    notes: Vec<String>,
    /// How the input was read, in words; empty if it is not known.
    detected: String,
    unit: &'static str,
    time: Duration,
}

/// Chunks, numbered in the order in which they are taken.
struct Chunks<'f> {
    feed: &'f Feed,
    media_type: &'static str,
    taken: Mutex<u32>,
}

impl Chunks<'_> {
    /// Takes the next chunk and its number, or returns `None` at the end.
    fn take(&self, pace: Pace) -> Result<Option<(u32, Chunk)>, Error> {
        let mut taken = self.taken.lock();
        let Some(chunk) = self.feed.take(pace)? else { return Ok(None) };
        let number = *taken;
        let next = number.checked_add(1);
        *taken = next.ok_or_else(|| Error::Usage("too many rows for one batch".to_owned()))?;
        Ok(Some((number, chunk)))
    }
}

/// The result of a chunk: the number of rows before it, and the server's receipt.
type Sent = (u64, LogReceipt);

impl Transfer<'_> {
    /// Sends all rows; `progress` gets the number of rows that have arrived. Returns the outcome so
    /// far even if an error ended the upload.
    pub(crate) fn run(
        &self,
        mut rows: Box<dyn Rows>,
        progress: &dyn Fn(u64),
    ) -> (Outcome, Result<(), Error>) {
        let (feed, start) = (Arc::new(Feed::default()), Instant::now());
        let media_type = rows.media_type();
        let batch = self.batch.to_string();
        let unit = rows.unit();
        let detected = rows.detected().unwrap_or_default();
        let time_words = rows.time_wording().map(|wording| wording.words()).unwrap_or_default();
        let mut outcome = Outcome { batch, unit, detected, time_words, ..Outcome::default() };
        let reading = Arc::clone(&feed);
        // The thread is not joined: it may wait for a stream that sends nothing more.
        let reader = std::thread::Builder::new().name("hadal-read".to_owned());
        let reader = reader.spawn(move || reading.read(&mut *rows));
        let sent = reader.map_err(Error::io("start", "a thread")).and_then(|_| {
            let chunks = Chunks { feed: &feed, media_type, taken: Mutex::new(0) };
            self.send(&chunks, &mut |(first_row, receipt)| {
                outcome.add(first_row, receipt);
                progress(outcome.rows);
            })
        });
        feed.abandon();
        let remarks = feed.remarks();
        outcome.notes = remarks.notes;
        for kind in remarks.rejects.into_list() {
            outcome.rejected += kind.count;
            outcome.reject_kinds.merge(kind);
        }
        outcome.time = start.elapsed();
        (outcome, sent)
    }

    fn send(&self, chunks: &Chunks<'_>, take: &mut dyn FnMut(Sent)) -> Result<(), Error> {
        // The first chunk goes alone: its rows decide the time column of a new table.
        let Some(first) = self.send_next(chunks, self.options)? else { return Ok(()) };
        let options = &options_of_rest(self.options, &first.1);
        // Rows that get their time of arrival keep their order only if chunks go one after the
        // other.
        let lanes = if first.1.time_from == ARRIVAL { 1 } else { LANES };
        take(first);
        let (sender, receiver) = channel();
        std::thread::scope(|scope| {
            for lane in 0..lanes {
                let (name, sender) = (format!("hadal-send-{lane}"), sender.clone());
                let lane = std::thread::Builder::new().name(name);
                let lane =
                    lane.spawn_scoped(scope, move || self.send_rest(chunks, options, &sender));
                lane.map_err(Error::io("start", "a thread"))?;
            }
            drop(sender);
            let mut outcome = Ok(());
            for sent in receiver {
                match sent {
                    Ok(sent) => take(sent),
                    Err(error) => outcome = outcome.and(Err(error)),
                }
            }
            outcome
        })
    }

    /// Sends chunks until none is left or one fails.
    fn send_rest(
        &self,
        chunks: &Chunks<'_>,
        options: &LogOptions,
        sender: &Sender<Result<Sent, Error>>,
    ) {
        while let Some(sent) = self.send_next(chunks, options).transpose() {
            if sent.is_err() {
                chunks.feed.abandon();
            }
            // The receiver stays until the end.
            let _ = sender.send(sent);
        }
    }

    /// Sends the next chunk. Returns `None` if none is left.
    fn send_next(&self, chunks: &Chunks<'_>, options: &LogOptions) -> Result<Option<Sent>, Error> {
        let Some((number, Chunk { lines, first_row, .. })) = chunks.take(self.pace)? else {
            return Ok(None);
        };
        let (id, media_type) = (&self.batch, chunks.media_type);
        // A chunk is lines, whatever its first line looks like.
        let is_json = media_type == JSON_LINES;
        let format = Some(if is_json { InputFormat::JsonLines } else { InputFormat::Text });
        let batch = LogBatch { id, chunk: number, media_type, format, lines: &lines };
        let receipt = self.client.log(self.table, options, batch)?;
        Ok(Some((first_row, receipt)))
    }
}

/// The options of the chunks after the first one: what the server concluded from that is said to
/// it, because the rows of another chunk could suggest something else.
fn options_of_rest(options: &LogOptions, first: &LogReceipt) -> LogOptions {
    let mut rest = options.clone();
    if first.untimed.is_some() {
        rest.untimed.clone_from(&first.untimed);
    }
    let format = first.time_format.as_deref().unwrap_or_default();
    let order = ["day-first", "month-first"].into_iter().zip(["%d", "%m"]);
    let order = order.filter(|(_, start)| {
        format.strip_prefix(start).is_some_and(|rest| rest.starts_with(['.', '/', '-']))
    });
    if rest.time_format.is_none() {
        rest.time_format = order.map(|(order, _)| order.to_owned()).next();
    }
    rest
}

impl Outcome {
    /// Adds the result of a chunk. The first chunk comes first; the others come in any order.
    fn add(&mut self, first_row: u64, receipt: LogReceipt) {
        match receipt.duplicate {
            true => self.duplicates += receipt.accepted,
            false => self.rows += receipt.accepted,
        }
        self.rejected += receipt.rejected_count;
        for kind in receipt.reject_kinds {
            let RejectedKind { kind, count, line, reason, excerpt } = kind;
            let first = Reject { line: first_row + line, reason, excerpt };
            self.reject_kinds.merge(RejectKind { kind, count, first });
        }
        if self.time_words.is_empty() {
            let wording = TimeWording {
                format: receipt.time_format,
                zone_assumed: receipt.zone_assumed,
                is_year_assumed: receipt.year_assumed,
            };
            self.time_words = wording.words();
        }
        self.take_time(receipt.time_from);
        for warning in receipt.warnings {
            self.warn(warning);
        }
    }

    /// Takes over the time source of a chunk. The first chunk with times decides for all.
    fn take_time(&mut self, time_from: String) {
        if self.time_from.is_empty() || (self.time_from == ARRIVAL && !time_from.is_empty()) {
            self.time_from = time_from;
        }
    }

    /// The time source, worded for a sentence.
    fn time_source(&self) -> String {
        match self.time_from.as_str() {
            "" => String::new(),
            ARRIVAL => ", time of arrival".to_owned(),
            source => {
                let source = source.strip_prefix("column ").unwrap_or(source);
                format!(", time from {source}{}", self.time_words)
            }
        }
    }

    fn warn(&mut self, warning: Warning) {
        // The format was detected at the beginning of the input, not of a chunk.
        if warning.code == "json_as_text" {
            return;
        }
        // `1200 rows have no time` of one chunk and `800 rows have no time` of the next become one
        // warning.
        let words = |text: &str| text.trim_start_matches(|c: char| c.is_ascii_digit()).to_owned();
        let same = |existing: &&mut Warning| {
            existing.code == warning.code
                && (counted(&existing.code, existing.count).is_some()
                    || words(&existing.message) == words(&warning.message))
        };
        let Some(existing) = self.warnings.iter_mut().find(same) else {
            self.warnings.push(warning);
            return;
        };
        let has_count = existing.message.starts_with(&existing.count.to_string());
        existing.count += warning.count;
        if let Some(message) = counted(&existing.code, existing.count) {
            existing.message = message;
        } else if has_count {
            existing.message = format!("{}{}", existing.count, words(&existing.message));
        }
    }

    /// Adds notes to the report.
    pub(crate) fn add_notes(&mut self, notes: Vec<String>) {
        self.notes.extend(notes);
    }

    /// Whether the server answered for any row, including rejected rows.
    pub(crate) const fn has_rows(&self) -> bool {
        self.rows + self.duplicates + self.rejected > 0
    }

    /// Whether rows were rejected for their age.
    pub(crate) fn has_too_old(&self) -> bool {
        let kinds = self.reject_kinds.clone().into_list();
        kinds.iter().any(|kind| kind.first.reason.contains(TOO_OLD))
    }

    /// The numbers of rows that were taken and rejected.
    pub(crate) const fn totals(&self) -> Totals {
        Totals { taken: self.rows + self.duplicates, rejected: self.rejected }
    }

    /// The first line of the report, without rejected rows.
    fn head(&self, table: &TableName) -> String {
        let Self { batch, rows, duplicates, .. } = self;
        if *duplicates > 0 && *rows == 0 {
            return format!("nothing new: batch {batch} was there already");
        }
        let (rows, seconds) = (output::count(*rows, "row"), self.time.as_secs_f64());
        let source = self.time_source();
        let mut text = format!("{rows} went to table {table} in {seconds:.1} s{source}");
        if *duplicates > 0 {
            let duplicates = output::thousands(*duplicates);
            text.push_str(&format!("; {duplicates} others of batch {batch} were there already"));
        }
        text
    }

    /// How the input was read, in words; empty if it is not known.
    pub(crate) fn conclusions(&self) -> &str {
        &self.detected
    }

    /// The report: one line, then reasons and warnings if there are any.
    pub(crate) fn report(&self, table: &TableName) -> String {
        let mut text = self.head(table);
        // If all rows have the time of arrival, the first line has said so.
        let is_said =
            |warning: &&Warning| self.time_from == ARRIVAL && warning.code == "arrival_time";
        for warning in self.warnings.iter().filter(|warning| !is_said(warning)) {
            text.push_str(&format!("\nwarning: {}", warning.message));
            if warning.code == "invalid_utf8" {
                text.push_str(&format!("; {NOT_UTF8_ADVICE}"));
            }
        }
        for note in &self.notes {
            text.push_str(&format!("\nwarning: {note}"));
        }
        text.push_str(&self.rejects());
        text
    }

    /// The rejected rows by kind, each with an example; empty if there are none.
    fn rejects(&self) -> String {
        if self.rejected == 0 {
            return String::new();
        }
        let rows = output::count(self.rejected, "row");
        let mut text =
            format!("\n{rows} rejected; table _rejects has up to 1,000 of each request:");
        for RejectKind { count, first, .. } in self.reject_kinds.clone().into_list() {
            let Reject { line, reason, excerpt } = first;
            let row = match count {
                1 => format!("{} {line}", self.unit),
                _ => format!("{} rows such as {} {line}", output::thousands(count), self.unit),
            };
            text.push_str(&format!("\n  {row}: {reason}"));
            if !excerpt.is_empty() {
                let excerpt: String = excerpt.chars().take(EXCERPT_CHARS).collect();
                text.push_str(&format!(": {}", excerpt.trim_end()));
            }
        }
        text
    }
}

/// Numbers of rows.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Totals {
    taken: u64,
    rejected: u64,
}

impl Totals {
    /// Adds the rows of another upload.
    pub(crate) const fn add(&mut self, other: Self) {
        self.taken += other.taken;
        self.rejected += other.rejected;
    }

    /// Fails if more rows than `allowed` were rejected, so that a script notices.
    pub(crate) const fn verdict(self, allowed: u64) -> Result<(), Error> {
        match (self.taken, self.rejected) {
            (_, rejected) if rejected <= allowed => Ok(()),
            (0, _) => Err(Error::NothingTaken),
            (_, rejected) => Err(Error::RowsRejected { rejected }),
        }
    }
}

/// Returns a random batch id.
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
        for (kind, count, line) in [("no object", 1, 2), ("column a: … is not a time", 2, 7)] {
            let (reason, excerpt) = (kind.replace('…', "\"x\""), "{..}".to_owned());
            let first = Reject { line, reason, excerpt };
            outcome.reject_kinds.merge(RejectKind { kind: kind.to_owned(), count, first });
        }
        outcome.warn(warning("w", "w", 1));
        outcome.warn(warning("w", "w", 2));
        assert_eq!(outcome.warnings.len(), 1);
        let mut counted = Outcome::default();
        counted.warn(warning("c", "12 rows", 12));
        counted.warn(warning("c", "5 rows", 5));
        assert_eq!(counted.warnings[0].message, "17 rows");
        assert_eq!(
            outcome.report(&table),
            "1,234 rows went to table t in 0.0 s\nwarning: w\n3 rows rejected; table _rejects has \
             up to 1,000 of each request:\n  2 rows such as line 7: column a: \"x\" is not a time: \
             {..}\n  line 2: no object: {..}"
        );
    }

    fn warning(code: &str, message: &str, count: u64) -> Warning {
        Warning { code: code.to_owned(), message: message.to_owned(), count }
    }

    #[test]
    fn the_report_says_where_the_times_came_from() {
        let report = |chunks: &[&str]| {
            let mut outcome = Outcome { rows: 2, ..Outcome::default() };
            for &chunk in chunks {
                outcome.take_time(chunk.to_owned());
            }
            // As another version of the server words it.
            outcome.warn(warning("arrival_time", "1 row has no time", 1));
            outcome.warn(warning("arrival_time", "1 row has no time", 1));
            outcome.warn(warning("json_as_text", "the first line is an object", 1));
            outcome.report(&TableName::new("t").expect("a name"))
        };
        let went = "2 rows went to table t in 0.0 s";
        assert_eq!(report(&["arrival time", ""]), format!("{went}, time of arrival"));
        let some = format!(
            "{went}, time from at\nwarning: 2 rows have no time of their own; they got the time of \
             arrival"
        );
        assert_eq!(report(&["", "arrival time", "column at", "column b", "arrival time"]), some);
        let lines = report(&["the beginning of each line"]);
        assert!(lines.starts_with(&format!("{went}, time from the beginning of each line\n")));
    }

    #[test]
    fn the_report_tells_new_rows_from_those_that_were_there() {
        let report = |chunks: &[(u64, bool)]| {
            let mut outcome = Outcome { batch: "b".to_owned(), ..Outcome::default() };
            for &(accepted, duplicate) in chunks {
                let receipt = LogReceipt { accepted, duplicate, ..LogReceipt::default() };
                outcome.add(0, receipt);
            }
            assert!(outcome.has_rows() && outcome.totals().verdict(0).is_ok());
            outcome.report(&TableName::new("t").expect("a name"))
        };
        assert_eq!(report(&[(5, true), (2_000, true)]), "nothing new: batch b was there already");
        let some = "7 rows went to table t in 0.0 s; 2,000 others of batch b were there already";
        assert_eq!(report(&[(2_000, true), (7, false)]), some);
    }

    #[test]
    fn rejected_rows_are_an_error_unless_allowed() {
        let verdict = |taken, rejected, allowed| Totals { taken, rejected }.verdict(allowed);
        for (taken, rejected, allowed) in [(0, 0, 0), (5, 0, 0), (5, 2, 2), (0, 2, 3)] {
            assert!(verdict(taken, rejected, allowed).is_ok());
        }
        assert!(matches!(verdict(0, 1, 0), Err(Error::NothingTaken)));
        let error = verdict(5, 3, 2).expect_err("too many").to_string();
        let expected = "3 rows were not taken; --allow-rejects 3 ends the command without an error";
        assert_eq!(error, expected);
    }

    #[test]
    fn fresh_ids_differ() {
        assert_ne!(fresh_batch_id().expect("an id"), fresh_batch_id().expect("an id"));
    }
}
