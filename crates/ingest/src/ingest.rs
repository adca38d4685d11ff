//! The pipeline: bytes in, batches out.

mod body_reader;
mod converted_rows;
mod error;
mod lenient_records;
mod settings;
mod table_inference;
mod time_inference;

use std::borrow::Cow;
use std::sync::Arc;

use hadal_block::{BlockBuilder, BlockError};
use hadal_peer::Batch;
use hadal_types::Micros;
use hadal_types::limits::{BATCH_BYTES_MAX, REJECTS_KEPT_MAX};

pub use self::body_reader::Format;
use self::body_reader::{BodyHead, BodyReader, Decision};
pub use self::error::IngestError;
pub use self::settings::Settings;
use self::table_inference::TableInference;
use crate::age_policy::AgePolicy;
use crate::content_hash::ContentHash;
use crate::csv::CsvToJson;
use crate::detect::Detection;
use crate::explained_row::ExplainedRow;
use crate::log::LogToJson;
use crate::read_options::{ReadOptions, Untimed};
use crate::rejects::Reject;
use crate::row_reject;
use crate::row_writer::RowWriter;
use crate::split::{Record, Splitter, UNCLOSED};
use crate::summary::{self, Explanation, Summary, Warnings};
use crate::time::{Choice, TimeReader};

/// The number of rows that an explanation shows.
const EXPLAINED_ROWS: usize = 5;

/// Converts a body to batches.
pub struct Ingest {
    /// The beginning of the body, until its format is decided; then `None`.
    head: Option<BodyHead>,
    reader: Option<BodyReader>,
    state: State,
}

struct State {
    settings: Settings,
    format: Format,
    now: Micros,
    /// The reader of the rows' times.
    reader: TimeReader,
    /// The time column that CSV has, by its cells.
    csv_choice: Option<Choice>,
    untimed: Untimed,
    writer: Option<RowWriter>,
    builder: Option<BlockBuilder>,
    hash: ContentHash,
    batch_bytes: usize,
    batch_count: usize,
    batches: Vec<Batch>,
    /// The first records, until there are enough of them; then `None`.
    inference: Option<TableInference>,
    failure: Option<BlockError>,
    detection: Option<Detection>,
    /// The first rows, if they are asked for.
    explained: Option<Vec<ExplainedRow>>,
    /// Changes made to records before they were rows.
    warnings: Warnings,
    summary: Summary,
}

impl Ingest {
    /// Starts a body that arrives at `now`.
    #[must_use]
    pub fn new(settings: Settings, format: Format, now: Micros) -> Self {
        let ReadOptions { time_format, zone, untimed, .. } = &settings.read;
        let reader = TimeReader::new(now).with_options(time_format.as_deref(), zone.as_deref());
        let untimed = untimed.unwrap_or(Untimed::Received);
        let is_inferred = settings.table_time_column.is_none()
            || settings.age.is_inferred()
            || untimed == Untimed::Detect;
        let state = State {
            settings,
            format,
            now,
            reader,
            csv_choice: None,
            untimed,
            writer: None,
            builder: None,
            hash: ContentHash::default(),
            batch_bytes: 0,
            batch_count: 0,
            batches: Vec::new(),
            inference: is_inferred.then(TableInference::default),
            failure: None,
            detection: None,
            explained: None,
            warnings: Warnings::default(),
            summary: Summary::default(),
        };
        Self { head: Some(BodyHead::default()), reader: None, state }
    }

    /// Makes the summary explain how the body was read, with its first rows.
    #[must_use]
    pub fn explaining(mut self) -> Self {
        self.state.explained = Some(Vec::new());
        self
    }

    /// Sets the arrival time of the bytes that are pushed from now on.
    pub fn arrive(&mut self, now: Micros) {
        if let Some(BodyReader::Log(log)) = &mut self.reader {
            log.flush_untimed();
            self.state.log_rows(log);
        }
        self.state.now = now;
        if let Some(writer) = &mut self.state.writer {
            writer.arrive(now);
        }
    }

    /// Takes the next bytes of the body, and returns the batches that they complete.
    ///
    /// # Errors
    /// [`IngestError`] if the body has no format that is read, or a batch cannot be encoded; the
    /// body is then given up.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Vec<Batch>, IngestError> {
        let mut rest = bytes;
        if let Some(head) = &mut self.head {
            let (format, options) = (self.state.format, &self.state.settings.read);
            let Some(after) = head.take(bytes, format, options) else { return Ok(Vec::new()) };
            rest = after;
            self.decide()?;
        }
        if let Some(reader) = &mut self.reader {
            self.state.read(reader, rest);
        }
        self.state.take_batches()
    }

    /// Decides how the body is read, and reads its beginning.
    fn decide(&mut self) -> Result<(), IngestError> {
        let Some(head) = self.head.take() else { return Ok(()) };
        let state = &mut self.state;
        let (decision, bytes) = head
            .decide(state.format, &state.settings.read, state.now)
            .map_err(IngestError::Unreadable)?;
        let Decision { mut reader, format, detection } = decision;
        (state.format, state.detection) = (format, Some(detection));
        if format == Format::Csv && state.settings.read.untimed.is_none() {
            // CSV is the content of a file; other bodies may be single events.
            state.untimed = Untimed::Detect;
            state.inference.get_or_insert_default();
        }
        state.read(&mut reader, &bytes);
        self.reader = Some(reader);
        Ok(())
    }

    /// The age limit of rows, and whether the rows so far lift the table's limit.
    #[must_use]
    pub fn age(&self) -> AgePolicy {
        self.state.age()
    }

    /// Stops within the body. Returns a summary of the records so far, without those that are not
    /// complete.
    pub fn stop(mut self) -> Summary {
        // Long records may be too few to be judged before.
        if let Some(BodyReader::Csv(reader)) = &mut self.reader
            && !reader.is_judged()
        {
            reader.judge();
            self.state.csv_rows(reader);
        }
        self.state.infer();
        let (mut csv, mut log) = (None, None);
        match &self.reader {
            Some(BodyReader::Csv(reader)) => csv = Some(reader.as_ref()),
            Some(BodyReader::Log(reader)) => log = Some(reader.as_ref()),
            _ => {}
        }
        self.state.into_summary(csv, log)
    }

    /// Ends the body; returns the last batches and a summary of the whole body.
    ///
    /// # Errors
    /// [`IngestError`], as from [`push`](Self::push).
    pub fn finish(mut self) -> Result<(Vec<Batch>, Summary), IngestError> {
        self.decide()?;
        let mut state = self.state;
        let (mut csv, mut log) = (None, None);
        if let Some(BodyReader::Undecided(head)) = &mut self.reader {
            let head = std::mem::take(head);
            let mut reader = BodyReader::Split(Splitter::json());
            state.read(&mut reader, &head);
            self.reader = Some(reader);
        }
        match self.reader {
            Some(BodyReader::Split(splitter)) => {
                splitter.finish(&mut |line, record| state.record(line, record));
            }
            Some(BodyReader::Documents(mut documents)) => {
                documents.finish();
                state.rows_of(&mut documents);
                state.summary.warnings.extend(documents.remark().map(summary::document));
            }
            Some(BodyReader::Csv(mut reader)) => {
                reader.push(&[]);
                state.csv_rows(&mut reader);
                if let Some(unclosed) = reader.unclosed() {
                    state.reject(unclosed.line, unclosed.to_string(), &[]);
                }
                csv = Some(reader);
            }
            Some(BodyReader::Log(mut reader)) => {
                reader.finish();
                state.log_rows(&mut reader);
                log = Some(reader);
            }
            Some(BodyReader::Undecided(_)) | None => {}
        }
        state.infer();
        state.cut();
        let batches = state.take_batches()?;
        Ok((batches, state.into_summary(csv.as_deref(), log.as_deref())))
    }
}

impl State {
    /// Reads the records that the bytes complete.
    fn read(&mut self, reader: &mut BodyReader, bytes: &[u8]) {
        match reader {
            BodyReader::Split(splitter) => {
                splitter.push(bytes, &mut |line, record| self.record(line, record));
            }
            BodyReader::Undecided(head) => {
                head.extend_from_slice(bytes);
                let Some(decided) = BodyReader::of_head(head) else { return };
                let head = std::mem::take(head);
                if let (BodyReader::Documents(documents), Some(detection)) =
                    (&decided, &mut self.detection)
                {
                    detection.format = documents.format().unwrap_or(detection.format);
                }
                *reader = decided;
                self.read(reader, &head);
            }
            BodyReader::Documents(documents) => {
                let mut rest = bytes;
                while !rest.is_empty() {
                    let taken = documents.push(rest);
                    rest = rest.get(taken..).unwrap_or_default();
                    self.rows_of(documents);
                }
            }
            BodyReader::Csv(csv) => {
                let mut rest = bytes;
                while !rest.is_empty() {
                    let taken = csv.push(rest);
                    rest = rest.get(taken..).unwrap_or_default();
                    self.csv_rows(csv);
                }
            }
            BodyReader::Log(log) => {
                let mut rest = bytes;
                while !rest.is_empty() {
                    let taken = log.push(rest);
                    rest = rest.get(taken..).unwrap_or_default();
                    self.log_rows(log);
                }
            }
        }
    }

    fn take_batches(&mut self) -> Result<Vec<Batch>, IngestError> {
        match self.failure.take() {
            Some(failure) => Err(IngestError::Block(failure)),
            None => Ok(std::mem::take(&mut self.batches)),
        }
    }

    fn record(&mut self, line: u64, record: Record<'_>) {
        let bytes = match record {
            Record::Whole(bytes) => bytes,
            Record::TooLong(bytes) => {
                return self.reject(line, self.too_long(bytes), bytes);
            }
            Record::Unclosed => return self.reject(line, UNCLOSED.to_owned(), &[]),
        };
        if let Some((reason, text)) = row_reject::read(bytes) {
            return self.reject(line, reason, text.as_bytes());
        }
        match &mut self.inference {
            None => self.take(line, bytes),
            Some(inference) => {
                if inference.add(line, bytes) {
                    self.infer();
                }
            }
        }
    }

    /// Decides the time column and the age limit from the first records, then takes these records.
    fn infer(&mut self) {
        let Some(inference) = self.inference.take() else { return };
        if self.settings.table_time_column.is_none() {
            self.settings.table_time_column = self.choose_time_column(&inference);
        }
        self.infer_from_times(&inference);
        for (line, record) in inference.into_records() {
            self.take(line, &record);
        }
    }

    /// Converts a record to rows.
    fn take(&mut self, line: u64, bytes: &[u8]) {
        // Checking UTF-8 is much faster than converting to it.
        let text = match simdutf8::basic::from_utf8(bytes) {
            Ok(text) => Cow::Borrowed(text),
            Err(_) => String::from_utf8_lossy(bytes),
        };
        self.hash.add(bytes);
        self.batch_bytes += bytes.len();
        let is_changed = matches!(text, Cow::Owned(_));
        match self.row(&text, is_changed) {
            Ok(()) => {}
            Err(reason) if self.format == Format::Json => {
                self.take_lenient(line, &text, is_changed, reason);
            }
            Err(reason) => self.reject(line, reason, bytes),
        }
    }

    /// Writes one row, or returns the reason why not. Ends the batch if the row fills it.
    fn row(&mut self, text: &str, is_changed: bool) -> Result<(), String> {
        let written = self.write(text);
        if written.is_err()
            && let Some(builder) = &mut self.builder
        {
            builder.abandon_row();
        }
        if written.is_ok() {
            self.summary.accepted += 1;
            self.explain(text);
            if is_changed && let Some(writer) = &mut self.writer {
                writer.warnings.add(summary::INVALID_UTF8);
            }
        }
        let full = self.builder.as_ref().is_some_and(BlockBuilder::is_full);
        if full || self.batch_bytes >= BATCH_BYTES_MAX {
            self.cut();
        }
        written
    }

    /// Keeps the row as it is stored, if it is one of the first and they are asked for.
    fn explain(&mut self, text: &str) {
        let (Some(rows), Some(writer)) = (&mut self.explained, &self.writer) else { return };
        if rows.len() < EXPLAINED_ROWS {
            let time_column = writer.time_column.as_str();
            rows.push(ExplainedRow::new(text, time_column, writer.last_time));
        }
    }

    fn write(&mut self, text: &str) -> Result<(), String> {
        self.prepare()?;
        let (Some(writer), Some(builder)) = (&mut self.writer, &mut self.builder) else {
            return Err("the time column has no name".to_owned());
        };
        writer.json(builder, text)
    }

    /// Makes the row writer for the first record, and a builder for the first record of each batch.
    fn prepare(&mut self) -> Result<(), String> {
        if self.writer.is_none() {
            let mut writer = self.new_writer(self.settings.age)?;
            writer.rejects_untimed = self.untimed == Untimed::Reject;
            self.writer = Some(writer);
        }
        if self.builder.is_none()
            && let Some(writer) = &self.writer
        {
            self.builder = Some(BlockBuilder::new(writer.time_column.clone()));
        }
        Ok(())
    }

    fn new_writer(&self, age: AgePolicy) -> Result<RowWriter, String> {
        let settings = &self.settings;
        let name = settings.table_time_column.clone().ok_or("the time column has no name")?;
        let (caller, columns) =
            (settings.time_column.as_ref(), Arc::clone(&settings.table_columns));
        let (sets, reader) = (settings.sets.clone(), self.reader.clone());
        Ok(RowWriter::new(name, caller, columns, sets, age, reader))
    }

    /// The age policy, updated by the rows so far.
    fn age(&self) -> AgePolicy {
        self.writer.as_ref().map_or(self.settings.age, |writer| writer.age)
    }

    fn reject(&mut self, line: u64, reason: String, record: &[u8]) {
        let reject = Reject::new(line, reason, record);
        self.summary.rejected_count += 1;
        self.summary.reject_kinds.add(&reject);
        if self.summary.rejected.len() < REJECTS_KEPT_MAX {
            self.summary.rejected.push(reject);
        }
    }

    /// Ends the current batch, if it has rows.
    fn cut(&mut self) {
        let hash = self.hash.take();
        self.batch_bytes = 0;
        if let Some(writer) = &mut self.writer {
            writer.begin_batch();
        }
        let Some(builder) = &mut self.builder else { return };
        let rows = builder.rows();
        if rows == 0 {
            return;
        }
        let id = self.settings.batch_id.part(self.batch_count);
        self.batch_count += 1;
        match builder.cut(self.now, Some((&id, hash))) {
            Ok(block) => self.batches.push(Batch::encoded(
                self.settings.table.clone(),
                id,
                hash,
                rows,
                block,
            )),
            Err(failure) => self.failure = Some(failure),
        }
    }

    fn into_summary(self, csv: Option<&CsvToJson>, log: Option<&LogToJson>) -> Summary {
        let age = self.age();
        let mut summary = Summary { age, ..self.summary };
        summary.warnings.extend(self.warnings.into_list());
        // Some lines were rejected before the first records were written.
        summary.rejected.sort_by_key(|reject| reject.line);
        if let Some(mut detection) = self.detection {
            detection.layout = log.map_or(detection.layout, LogToJson::layout);
            summary.detected = detection.sentence();
            let evidence = detection.evidence;
            summary.explanation = self.explained.map(|rows| Explanation { evidence, rows });
            summary.warnings.extend(detection.remarks);
        }
        if let Some(mut writer) = self.writer {
            if let Some(csv) = csv {
                writer.warnings.add_many(summary::INVALID_UTF8, csv.not_utf8());
            }
            if let Some(log) = log {
                writer.warnings.add_many(summary::INVALID_UTF8, log.not_utf8());
                writer.warnings.add_many(summary::JSON_AS_TEXT, u64::from(log.is_json()));
                summary.warnings.extend(log.warnings());
            }
            let source = writer.main_source();
            summary.time_from =
                source.map_or("arrival time".to_owned(), |source| format!("column {source}"));
            let objects = writer.object_arrays;
            summary.warnings.extend(writer.warnings.into_list().into_iter().map(|warning| {
                match warning.code {
                    summary::NESTED_ARRAY => summary::nested_array(warning.count, &objects),
                    _ => warning,
                }
            }));
            summary.warnings.extend(csv.map(CsvToJson::remarks).unwrap_or_default());
            summary.warnings.sort_by_key(|warning| warning.code);
        }
        summary
    }
}

#[cfg(test)]
mod tests;
