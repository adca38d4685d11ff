//! Rows with the conclusions of the detector.

use hadal_ingest::{Detection, RejectKinds, TimeWording};

use super::Rows;
use crate::error::Error;

/// Rows of a format that was detected.
pub(super) struct DetectedRows {
    rows: Box<dyn Rows>,
    detection: Detection,
}

impl DetectedRows {
    pub(super) fn new(rows: Box<dyn Rows>, detection: Detection) -> Self {
        Self { rows, detection }
    }
}

impl Rows for DetectedRows {
    fn next(&mut self, out: &mut Vec<u8>) -> Result<bool, Error> {
        self.rows.next(out)
    }

    fn media_type(&self) -> &'static str {
        self.rows.media_type()
    }

    fn unit(&self) -> &'static str {
        self.rows.unit()
    }

    fn columns(&self) -> Option<Vec<&str>> {
        self.rows.columns()
    }

    fn time_column(&self) -> Option<&str> {
        self.rows.time_column()
    }

    fn time_wording(&self) -> Option<TimeWording> {
        self.rows.time_wording()
    }

    fn has_raw_times(&self) -> bool {
        self.rows.has_raw_times()
    }

    fn set_time_column(&mut self, time_column: Option<&str>) {
        self.rows.set_time_column(time_column);
    }

    fn detected(&self) -> Option<String> {
        Some(self.detection.sentence())
    }

    fn evidence(&self) -> &[String] {
        &self.detection.evidence
    }

    fn rejects(&self) -> RejectKinds {
        self.rows.rejects()
    }

    fn notes(&self) -> Vec<String> {
        let remarks = self.detection.remarks.iter().map(|remark| remark.message.clone());
        remarks.chain(self.rows.notes()).collect()
    }
}
