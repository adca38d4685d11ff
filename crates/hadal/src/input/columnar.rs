//! Parquet and Arrow: batches of typed columns, converted to lines of JSON cell by cell.
//!
//! Each row becomes a line of JSON like all rows, so that there is one entry and one set of rules.
//! `spec/import.md` defines the spelling of values that JSON cannot express. Losses by that are
//! counted by column. Structs are spread into columns of dotted names here, so that each has its
//! own counts. Memory is bounded by one batch and by the unpacked size of a page of the file.

mod arrow_ipc;
mod catch_panic;
mod cell_writer;
mod losses;
mod nested;
mod numbers;
mod parquet_file;
mod times;
mod writers;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_buffer::NullBuffer;
use arrow_schema::{ArrowError, DataType, Field, Fields, Schema};
use hadal_ingest::{FileTimes, ReadOptions, TimeColumn, TimeWording, distinct_names};
use hadal_types::limits::JSON_DEPTH_MAX;
use hadal_types::{ColumnName, Micros};

use super::Rows;
use crate::error::Error;
use catch_panic::catching_panics;
use cell_writer::{CellWriter, Setting};
use losses::Losses;

pub(super) use arrow_ipc::{file as arrow_file, stream as arrow_stream};
pub(super) use parquet_file::open as parquet;

/// The number of rows decoded at once.
const BATCH_ROWS: usize = 4_096;
/// The number of first rows by which the time column is chosen.
const TYPED_ROWS: usize = 1_000;

/// A source of batches.
type Batches = Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>> + Send>;

/// The rows of a file of typed columns.
pub(super) struct ColumnarRows {
    batches: Batches,
    columns: Vec<Column>,
    /// The current batch.
    batch: Option<RecordBatch>,
    /// The writer of each column in the current batch.
    writers: Vec<CellWriter>,
    next_row: usize,
    rows: usize,
    place: String,
    /// Notes on the file as a whole.
    notes: Vec<String>,
    time: TimeColumn,
    /// The error of the first batch, for the reader of its rows.
    failure: Option<Error>,
}

/// A column, perhaps a field of a struct.
struct Column {
    name: String,
    /// The name as JSON, with its colon.
    key: Vec<u8>,
    /// The indexes of the structs around it, the outermost first.
    path: Vec<usize>,
    /// Its index in the innermost struct, or in the batch.
    place: usize,
    data_type: DataType,
    setting: Setting,
    losses: Losses,
}

impl ColumnarRows {
    fn new(schema: &Schema, batches: Batches, place: &str) -> Result<Self, Error> {
        let mut columns = Vec::new();
        spread(schema.fields(), &mut Vec::new(), "", &mut columns).map_err(failed(place))?;
        let names = distinct_names(columns.iter().map(|column| column.name.as_str()));
        for (column, name) in columns.iter_mut().zip(names) {
            ColumnName::new(&name).map_err(failed(place))?;
            numbers::push_json(&name, &mut column.key);
            column.key.push(b':');
            column.name = name;
        }
        let (place, notes) = (place.to_owned(), Vec::new());
        Ok(Self {
            batches,
            columns,
            batch: None,
            writers: Vec::new(),
            next_row: 0,
            rows: 0,
            place,
            notes,
            time: TimeColumn::default(),
            failure: None,
        })
    }

    /// Takes the next batch that has rows. Returns false at the end.
    fn next_batch(&mut self) -> Result<bool, Error> {
        while self.next_row == self.rows {
            let Some(batch) = self.batches.next() else { return Ok(false) };
            let batch = batch.map_err(failed(&self.place))?;
            (self.next_row, self.rows) = (0, batch.num_rows());
            self.writers = self.columns.iter().map(|column| column.cell_writer(&batch)).collect();
            self.batch = Some(batch);
        }
        Ok(true)
    }

    /// Chooses the time column by the types and by the first rows.
    pub(super) fn with_times(mut self, options: &ReadOptions, now: Micros) -> Self {
        let mut times = FileTimes::new(options, now);
        for column in self.columns.iter().filter(|column| is_time(&column.data_type)) {
            times.add_typed(&column.name);
        }
        let place = self.place.clone();
        let first = catching_panics(&place, || {
            self.next_batch()?;
            let mut line = Vec::new();
            for row in 0..self.rows.min(TYPED_ROWS) {
                line.clear();
                self.write_row(row, &mut line);
                times.add_row(&String::from_utf8_lossy(&line));
            }
            Ok(())
        });
        // The rows are written again, and their losses counted then.
        self.columns.iter_mut().for_each(|column| column.losses = Losses::default());
        self.failure = first.err();
        self.time = times.choose();
        self
    }

    /// Appends a row of the current batch as a JSON object.
    fn write_row(&mut self, row: usize, out: &mut Vec<u8>) {
        out.push(b'{');
        let start = out.len();
        for (column, writer) in self.columns.iter_mut().zip(&self.writers) {
            let before = out.len();
            if before > start {
                out.push(b',');
            }
            out.extend_from_slice(&column.key);
            if !writer.write(row, out, &mut column.losses) {
                out.truncate(before);
            }
        }
        out.push(b'}');
    }

    /// Appends the next row. Returns false at the end.
    fn next_line(&mut self, out: &mut Vec<u8>) -> Result<bool, Error> {
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        if !self.next_batch()? {
            return Ok(false);
        }
        self.write_row(self.next_row, out);
        out.push(b'\n');
        self.next_row += 1;
        Ok(true)
    }
}

impl Rows for ColumnarRows {
    fn next(&mut self, out: &mut Vec<u8>) -> Result<bool, Error> {
        let place = self.place.clone();
        catching_panics(&place, || self.next_line(out))
    }

    fn unit(&self) -> &'static str {
        "row"
    }

    fn set_time_column(&mut self, time_column: Option<&str>) {
        for column in &mut self.columns {
            column.setting.is_time = Some(column.name.as_str()) == time_column;
        }
        if let Some(batch) = &self.batch {
            self.writers = self.columns.iter().map(|column| column.cell_writer(batch)).collect();
        }
    }

    fn columns(&self) -> Option<Vec<&str>> {
        Some(self.columns.iter().map(|column| column.name.as_str()).collect())
    }

    fn time_column(&self) -> Option<&str> {
        self.time.name.as_deref()
    }

    fn time_wording(&self) -> Option<TimeWording> {
        self.time.wording.clone()
    }

    fn notes(&self) -> Vec<String> {
        let lost = self.columns.iter().flat_map(|column| {
            let zone = zone(&column.data_type).map(|zone| {
                format!("column {}: its zone {zone} is not kept, times are in UTC", column.name)
            });
            zone.into_iter().chain(column.losses.notes(&column.name))
        });
        self.notes.iter().chain(&self.time.remarks).cloned().chain(lost).collect()
    }
}

impl Column {
    fn cell_writer(&self, batch: &RecordBatch) -> CellWriter {
        let mut outer: Option<NullBuffer> = None;
        let mut fields: &[ArrayRef] = batch.columns();
        for &place in &self.path {
            let within = fields[place].as_struct();
            outer = NullBuffer::union(outer.as_ref(), within.nulls());
            fields = within.columns();
        }
        writers::cell_writer(&fields[self.place], outer.as_ref(), self.setting)
    }
}

/// Collects the columns of fields. Structs are spread.
fn spread(
    fields: &Fields,
    path: &mut Vec<usize>,
    prefix: &str,
    columns: &mut Vec<Column>,
) -> Result<(), String> {
    if path.len() >= JSON_DEPTH_MAX {
        return Err(format!("nested deeper than {JSON_DEPTH_MAX} levels"));
    }
    for (place, field) in fields.iter().enumerate() {
        let name = format!("{prefix}{}", field.name());
        match field.data_type() {
            DataType::Struct(inner) => {
                path.push(place);
                spread(inner, path, &format!("{name}."), columns)?;
                path.pop();
            }
            data_type => columns.push(Column {
                name,
                key: Vec::new(),
                path: path.clone(),
                place,
                data_type: data_type.clone(),
                setting: Setting { is_uuid: is_uuid(field), ..Setting::default() },
                losses: Losses::default(),
            }),
        }
    }
    Ok(())
}

fn is_uuid(field: &Field) -> bool {
    field.extension_type_name() == Some("arrow.uuid")
}

fn is_time(data_type: &DataType) -> bool {
    match data_type {
        DataType::Timestamp(..) | DataType::Date32 | DataType::Date64 => true,
        DataType::Dictionary(_, values) => is_time(values),
        DataType::RunEndEncoded(_, values) => is_time(values.data_type()),
        _ => false,
    }
}

/// The time zone of a time column, or `None` if it is UTC under any name.
fn zone(data_type: &DataType) -> Option<&str> {
    const UTC: [&str; 8] = ["", "UTC", "Etc/UTC", "Z", "GMT", "+00:00", "-00:00", "+0000"];
    match data_type {
        DataType::Timestamp(_, Some(zone)) if !UTC.contains(&zone.as_ref()) => Some(zone),
        DataType::Dictionary(_, values) => zone(values),
        DataType::RunEndEncoded(_, values)
        | DataType::List(values)
        | DataType::LargeList(values) => zone(values.data_type()),
        _ => None,
    }
}

fn failed<E: ToString>(place: &str) -> impl Fn(E) -> Error {
    move |error| Error::Input { place: place.to_owned(), reason: error.to_string() }
}

#[cfg(test)]
mod tests;
