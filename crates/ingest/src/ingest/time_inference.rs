//! The conclusions from the first records of a body: the time column of a new table, the age limit,
//! and what becomes of rows without a time.

use hadal_types::ColumnName;

use super::table_inference::TableInference;
use super::{Format, State};
use crate::age_policy::AgePolicy;
use crate::read_options::Untimed;
use crate::time::{CANDIDATES, Names};
use crate::time_wording::TimeWording;

impl State {
    /// The time column of a new table: the caller's, or the one that its first records have.
    pub(super) fn choose_time_column(&mut self, inference: &TableInference) -> Option<ColumnName> {
        if let Some(caller) = &self.settings.time_column {
            return Some(caller.clone());
        }
        if self.format == Format::Lines {
            return ColumnName::new(CANDIDATES[0]).ok();
        }
        let is_file = self.format == Format::Csv || self.settings.read.untimed.is_some();
        let names = if is_file { Names::Any } else { Names::OfTimes };
        let choice = self.csv_choice.take();
        let choice = choice.unwrap_or_else(|| inference.choose(self.reader.clone(), names));
        self.reader = self.reader.clone().with_order(choice.order);
        self.summary.warnings.extend(choice.remarks);
        self.summary.other_times = choice.others;
        let zone = self.settings.read.zone.as_deref();
        self.summary.time_wording = choice.wording.map(|wording| TimeWording::new(wording, zone));
        ColumnName::new(choice.column.as_deref().unwrap_or(choice.arrival)).ok()
    }

    /// Decides the age limit, and what becomes of rows without a time, by the times of the first
    /// records.
    pub(super) fn infer_from_times(&mut self, inference: &TableInference) {
        let is_detected = self.untimed == Untimed::Detect;
        if !is_detected && !self.settings.age.is_inferred() {
            return;
        }
        let probe = self.new_writer(AgePolicy::UNLIMITED).ok();
        let times = probe.map(|probe| inference.times_of_rows(probe));
        if self.settings.age.is_inferred() {
            let median = times.as_ref().and_then(|times| times.median);
            self.settings.age.infer(median, self.now);
        }
        if is_detected {
            let is_mostly_timed = times.is_some_and(|times| times.is_mostly_timed);
            self.untimed = if is_mostly_timed { Untimed::Reject } else { Untimed::Received };
            self.summary.untimed = Some(self.untimed);
        }
    }
}
