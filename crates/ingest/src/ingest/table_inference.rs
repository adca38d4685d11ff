//! Inference from the first records of a body: the time column and age limit of a new table.

use std::borrow::Cow;

use hadal_block::BlockBuilder;
use hadal_types::Micros;
use hadal_types::limits::BATCH_BYTES_MAX;

use crate::json::{self, Scratch};
use crate::row_writer::RowWriter;
use crate::time::{Choice, Evidence, Names, TimeReader, choose};

/// The number of records that are held before the first row is written.
pub(super) const FIRST_RECORDS: usize = 1_000;

/// The first records, with their line numbers.
#[derive(Default)]
pub(super) struct TableInference {
    records: Vec<(u64, Vec<u8>)>,
    bytes: usize,
}

impl TableInference {
    /// Keeps a record; returns whether there are enough now.
    pub(super) fn add(&mut self, line: u64, record: &[u8]) -> bool {
        self.bytes += record.len();
        self.records.push((line, record.to_vec()));
        self.records.len() >= FIRST_RECORDS || self.bytes >= BATCH_BYTES_MAX
    }

    /// The texts of the rows; a record may have several.
    pub(super) fn texts(&self) -> impl Iterator<Item = Cow<'_, str>> {
        let records = self.records.iter().map(|(_, record)| String::from_utf8_lossy(record));
        records.flat_map(json::row_texts)
    }

    pub(super) fn into_records(self) -> Vec<(u64, Vec<u8>)> {
        self.records
    }

    /// The time column that the first records have.
    pub(super) fn choose(&self, reader: TimeReader, names: Names) -> Choice {
        let mut evidence = Evidence::new(reader);
        let mut scratch = Scratch::default();
        for text in self.texts() {
            evidence.add_row(&text, &mut scratch);
        }
        choose(&evidence, names)
    }

    /// The times of the records that `probe` accepts as rows.
    pub(super) fn times_of_rows(&self, mut probe: RowWriter) -> FirstTimes {
        let mut builder = BlockBuilder::new(probe.time_column.clone());
        let mut times = Vec::new();
        for text in self.texts() {
            match probe.json(&mut builder, &text) {
                Ok(()) => times.extend(probe.last_time),
                Err(_) => builder.abandon_row(),
            }
        }
        let is_mostly_timed =
            probe.timed_rows() > 0 && probe.timed_rows() * 2 >= times.len() as u64;
        FirstTimes { median: median(times), is_mostly_timed }
    }
}

/// The times of the first rows.
pub(super) struct FirstTimes {
    pub(super) median: Option<Micros>,
    /// Whether most rows have a time of their own.
    pub(super) is_mostly_timed: bool,
}

fn median(mut times: Vec<Micros>) -> Option<Micros> {
    times.sort_unstable();
    times.get(times.len() / 2).copied()
}
