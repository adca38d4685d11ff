//! The choice of the time column of a file whose columns have types.

use hadal_types::Micros;

use crate::json::Scratch;
use crate::read_options::ReadOptions;
use crate::time::{Evidence, Names, TimeReader, choose};
use crate::time_wording::TimeWording;

/// The first rows of a file, from which its time column is chosen.
pub struct FileTimes {
    evidence: Evidence,
    scratch: Scratch,
    zone: Option<String>,
}

/// The time column of a file.
#[derive(Clone, Debug, Default)]
pub struct TimeColumn {
    /// Its name; `None` if no column has times.
    pub name: Option<String>,
    /// How its times are written, if they are texts.
    pub wording: Option<TimeWording>,
    /// What a person may have expected otherwise.
    pub remarks: Vec<String>,
}

impl FileTimes {
    /// Starts a file that is read at `now` as these options say.
    #[must_use]
    pub fn new(options: &ReadOptions, now: Micros) -> Self {
        let ReadOptions { time_format, zone, .. } = options;
        let reader = TimeReader::new(now).with_options(time_format.as_deref(), zone.as_deref());
        Self { evidence: Evidence::new(reader), scratch: Scratch::default(), zone: zone.clone() }
    }

    /// Adds a column whose type is a time.
    pub fn add_typed(&mut self, name: &str) {
        self.evidence.add_typed(name);
    }

    /// Adds a row, a JSON object. A text that is none does not count.
    pub fn add_row(&mut self, row: &str) {
        self.evidence.add_row(row, &mut self.scratch);
    }

    /// Chooses the time column.
    #[must_use]
    pub fn choose(&self) -> TimeColumn {
        let choice = choose(&self.evidence, Names::Any);
        let wording = choice.wording;
        TimeColumn {
            name: choice.column,
            wording: wording.map(|wording| TimeWording::new(wording, self.zone.as_deref())),
            remarks: choice.remarks.into_iter().map(|remark| remark.message).collect(),
        }
    }
}

impl std::fmt::Debug for FileTimes {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("FileTimes").finish_non_exhaustive()
    }
}
