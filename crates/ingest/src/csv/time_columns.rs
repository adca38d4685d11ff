//! The columns of CSV whose cells are times, and the conversion of these cells to ISO 8601.

use std::collections::VecDeque;

use super::record::Record;
use crate::time::{Choice, Evidence, TimeReader, choose_of_converted};

/// The columns whose cells are times.
#[derive(Debug)]
pub(super) struct TimeColumns {
    /// The column of the rows' times.
    pub(super) choice: Option<Choice>,
    /// For each column: the reader of its cells if they are times that are not ISO 8601 in UTC.
    pub(super) readers: Vec<Option<TimeReader>>,
}

impl TimeColumns {
    /// Decides by the cells of the first records that are not null.
    pub(super) fn new(
        names: &[String],
        sample: &VecDeque<Record>,
        is_null: impl Fn(&str) -> bool,
        reader: TimeReader,
    ) -> Self {
        let mut evidence = Evidence::new(reader);
        for record in sample {
            for (name, cell) in names.iter().zip(record.cells()) {
                if !is_null(&cell) {
                    evidence.add_cell(name, &cell);
                }
            }
            evidence.end_row();
        }
        let readers = names.iter().map(|name| evidence.converter(name)).collect();
        Self { choice: Some(choose_of_converted(&evidence)), readers }
    }
}
