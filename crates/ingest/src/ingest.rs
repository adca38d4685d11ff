//! The pipeline: bytes in, batches out.

use std::collections::HashSet;
use std::hash::Hasher;

use hadal_block::{BlockBuilder, BlockError};
use hadal_types::limits::{BATCH_BYTES_MAX, LINE_BYTES_MAX, REJECTS_KEPT_MAX, TABLE_AGE_DAYS};
use hadal_types::{BatchId, ColumnName, Micros, TableName};
use hadal_wire::Batch;
use twox_hash::XxHash3_64;

use crate::columns::Columns;
use crate::lines;
use crate::rejects::Reject;
use crate::row::{RowWriter, choose_time_column};
use crate::split::{Record, Splitter};
use crate::summary::{self, Summary};
use crate::time_column::CANDIDATES;

const DAY_SECONDS: i64 = 86_400;

/// What the bytes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// JSON lines, an array of objects, or objects one after another.
    Json,
    /// Plain lines of text.
    Lines,
}

/// Where rows go, and what is known of them.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The table.
    pub table: TableName,
    /// The id of the first batch; the others are its parts.
    pub batch_id: BatchId,
    /// The field that holds each row's time, where the caller names one.
    pub time_column: Option<ColumnName>,
    /// The table's time column; `None` for a table that is not there yet.
    pub table_time_column: Option<ColumnName>,
    /// The first time in the table, where it has rows.
    pub table_oldest: Option<Micros>,
    /// Names of the table's columns.
    pub table_columns: HashSet<String>,
    /// Fields whose arrays are sets.
    pub sets: HashSet<String>,
    /// Takes rows of any age.
    pub any_age: bool,
}

/// Makes batches of a body.
pub struct Ingest {
    splitter: Splitter,
    state: State,
}

struct State {
    settings: Settings,
    format: Format,
    now: Micros,
    writer: Option<RowWriter>,
    builder: Option<BlockBuilder>,
    hasher: XxHash3_64,
    batch_bytes: usize,
    batch_count: usize,
    batches: Vec<Batch>,
    /// The age limit was settled by the first row.
    age_known: bool,
    failure: Option<BlockError>,
    summary: Summary,
}

impl Ingest {
    /// Begins with a body that arrives at `now`.
    #[must_use]
    pub fn new(settings: Settings, format: Format, now: Micros) -> Self {
        let splitter = match format {
            Format::Json => Splitter::json(),
            Format::Lines => Splitter::lines(),
        };
        let state = State {
            settings,
            format,
            now,
            writer: None,
            builder: None,
            hasher: XxHash3_64::new(),
            batch_bytes: 0,
            batch_count: 0,
            batches: Vec::new(),
            age_known: false,
            failure: None,
            summary: Summary::default(),
        };
        Self { splitter, state }
    }

    /// Takes the next bytes of the body, and returns the batches that are full with them.
    ///
    /// # Errors
    /// [`BlockError`] when a batch cannot be encoded: then the body is given up.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Vec<Batch>, BlockError> {
        let state = &mut self.state;
        self.splitter.push(bytes, &mut |line, record| state.record(line, record));
        self.state.take_batches()
    }

    /// Ends the body: returns the last batches, and what became of all of it.
    ///
    /// # Errors
    /// [`BlockError`] when a batch cannot be encoded.
    pub fn finish(mut self) -> Result<(Vec<Batch>, Summary), BlockError> {
        let state = &mut self.state;
        self.splitter.finish(&mut |line, record| state.record(line, record));
        self.state.cut();
        let batches = self.state.take_batches()?;
        Ok((batches, self.state.into_summary()))
    }
}

impl State {
    fn take_batches(&mut self) -> Result<Vec<Batch>, BlockError> {
        match self.failure.take() {
            Some(failure) => Err(failure),
            None => Ok(std::mem::take(&mut self.batches)),
        }
    }

    fn record(&mut self, line: u64, record: Record<'_>) {
        let bytes = match record {
            Record::Whole(bytes) => bytes,
            Record::TooLong(bytes) => {
                let reason = format!("longer than {LINE_BYTES_MAX} bytes");
                return self.reject(line, reason, bytes);
            }
        };
        let text = String::from_utf8_lossy(bytes);
        self.hasher.write(bytes);
        self.hasher.write_u8(b'\n');
        self.batch_bytes += bytes.len();
        let written = self.write(&text);
        match written {
            Ok(()) => {
                self.summary.accepted += 1;
                if matches!(text, std::borrow::Cow::Owned(_))
                    && let Some(writer) = &mut self.writer
                {
                    writer.warnings.add(summary::INVALID_UTF8);
                }
            }
            Err(reason) => {
                if let Some(builder) = &mut self.builder {
                    builder.abandon_row();
                }
                self.reject(line, reason, bytes);
            }
        }
        let full = self.builder.as_ref().is_some_and(BlockBuilder::is_full);
        if full || self.batch_bytes >= BATCH_BYTES_MAX {
            self.cut();
        }
    }

    fn write(&mut self, text: &str) -> Result<(), String> {
        self.settle(text)?;
        let (Some(writer), Some(builder)) = (&mut self.writer, &mut self.builder) else {
            return Err("the time column has no name".to_owned());
        };
        match self.format {
            Format::Json => writer.json(builder, text),
            Format::Lines => writer.line(builder, text),
        }
    }

    /// Settles, by the first record, what all rows share.
    fn settle(&mut self, text: &str) -> Result<(), String> {
        if self.writer.is_some() && self.builder.is_some() {
            return Ok(());
        }
        let settings = &self.settings;
        let name = match (&self.writer, &settings.table_time_column, self.format) {
            (Some(writer), ..) => writer.time_column.clone(),
            (None, Some(name), _) => name.clone(),
            (None, None, Format::Lines) => {
                ColumnName::new(CANDIDATES[0]).map_err(|error| error.to_string())?
            }
            (None, None, Format::Json) => choose_time_column(text, settings.time_column.as_ref())
                .ok_or("no time column can be chosen")?,
        };
        if self.writer.is_none() {
            let columns = Columns::new(settings.table_columns.clone());
            let caller = settings.time_column.as_ref();
            let sets = settings.sets.clone();
            self.writer = Some(RowWriter::new(name.clone(), caller, columns, sets, self.now));
        }
        if self.builder.is_none() {
            self.builder = Some(BlockBuilder::new(name));
        }
        if !self.age_known {
            self.settle_age(text);
        }
        Ok(())
    }

    /// A table has an age limit unless its first row was older than a day when it came.
    fn settle_age(&mut self, text: &str) {
        let limit = TABLE_AGE_DAYS * DAY_SECONDS;
        let age = |time: Micros| self.now.seconds_since(time);
        let is_unlimited = match self.settings.table_oldest {
            _ if self.settings.any_age => true,
            Some(oldest) => age(oldest) > limit,
            None => self.probe_time(text).is_some_and(|first| age(first) > DAY_SECONDS),
        };
        let is_new = self.settings.table_oldest.is_none();
        if let Some(writer) = &mut self.writer {
            writer.age_limit_seconds = (!is_unlimited).then_some(limit);
            if is_unlimited && is_new && !self.settings.any_age {
                writer.warnings.add(summary::NO_AGE_LIMIT);
            }
        }
        self.age_known = true;
    }

    /// The time of a record, found by writing it to a batch of its own that is thrown away.
    fn probe_time(&self, text: &str) -> Option<Micros> {
        let name = self.writer.as_ref()?.time_column.clone();
        if self.format == Format::Lines {
            return lines::leading_time(text);
        }
        let (columns, sets) = (Columns::new(HashSet::new()), HashSet::new());
        let caller = self.settings.time_column.as_ref();
        let mut writer = RowWriter::new(name.clone(), caller, columns, sets, self.now);
        let mut builder = BlockBuilder::new(name);
        writer.json(&mut builder, text).ok()?;
        let block = builder.finish(self.now, None).ok()?;
        hadal_block::BlockView::parse(&block).ok().map(|view| view.time_range().0)
    }

    fn reject(&mut self, line: u64, reason: String, record: &[u8]) {
        self.summary.rejected_count += 1;
        if self.summary.rejected.len() < REJECTS_KEPT_MAX {
            self.summary.rejected.push(Reject::new(line, reason, record));
        }
    }

    /// Ends the batch in the making, if it has rows.
    fn cut(&mut self) {
        let hash = std::mem::replace(&mut self.hasher, XxHash3_64::new()).finish();
        self.batch_bytes = 0;
        let Some(builder) = self.builder.take() else { return };
        if let Some(writer) = &mut self.writer {
            writer.begin_batch();
        }
        let rows = builder.rows();
        if rows == 0 {
            return;
        }
        let id = self.settings.batch_id.part(self.batch_count);
        self.batch_count += 1;
        match builder.finish(self.now, Some((&id, hash))) {
            Ok(block) => self.batches.push(Batch {
                table: self.settings.table.clone(),
                id,
                content_hash: hash,
                rows,
                block,
            }),
            Err(failure) => self.failure = Some(failure),
        }
    }

    fn into_summary(self) -> Summary {
        let mut summary = self.summary;
        if let Some(writer) = self.writer {
            summary.time_from = match (writer.warnings.count(summary::ARRIVAL_TIME), self.format) {
                (count, _) if count >= summary.accepted => "arrival time".to_owned(),
                (_, Format::Lines) => "the beginning of each line".to_owned(),
                (_, Format::Json) => {
                    let source = self.settings.time_column.unwrap_or(writer.time_column);
                    format!("column {source}")
                }
            };
            summary.warnings = writer.warnings.into_list();
        }
        summary
    }
}

#[cfg(test)]
mod tests;
