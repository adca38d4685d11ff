//! Rows of CSV, of logs and of documents, which are converted to JSON first.

use hadal_types::ColumnName;
use hadal_types::limits::LINE_BYTES_MAX;

use super::State;
use crate::csv::CsvToJson;
use crate::documents::Documents;
use crate::log::LogToJson;
use crate::split::Record;
use crate::time::CANDIDATES;

impl State {
    /// Takes the rows that are ready, as JSON.
    pub(super) fn csv_rows(&mut self, csv: &mut CsvToJson) {
        if let Some(choice) = csv.take_time_choice() {
            self.csv_choice = Some(choice);
        }
        let mut row = Vec::new();
        while let Some(line) = csv.next_row(&mut row) {
            self.converted_row(line, &mut row);
        }
    }

    /// Takes the rows of lines that are ready, as JSON.
    pub(super) fn log_rows(&mut self, log: &mut LogToJson) {
        let mut row = Vec::new();
        while let Some(line) = log.next_row(&mut row) {
            let settings = &mut self.settings;
            if settings.time_column.is_none() && settings.table_time_column.is_none() {
                settings.time_column = ColumnName::new(CANDIDATES[0]).ok();
            }
            self.converted_row(line, &mut row);
        }
    }

    fn converted_row(&mut self, line: u64, row: &mut Vec<u8>) {
        let record = match row.len() > LINE_BYTES_MAX {
            true => Record::TooLong(row),
            false => Record::Whole(row),
        };
        self.record(line, record);
        row.clear();
    }

    /// Takes the rows of documents that are ready.
    pub(super) fn rows_of(&mut self, documents: &mut Documents) {
        let settings = &mut self.settings;
        if settings.time_column.is_none() && settings.table_time_column.is_none() {
            let name = documents.time_column();
            settings.time_column = name.and_then(|name| ColumnName::new(name).ok());
        }
        while let Some((number, row)) = documents.next_row() {
            match row {
                Ok(row) => self.record(number, Record::Whole(row.as_bytes())),
                Err(reason) => self.reject(number, reason, &[]),
            }
        }
    }
}
