//! Times in lines of text.

use hadal_types::{Micros, Number};

use super::fields::Fields;
use crate::read_options::ReadOptions;
use crate::time::{TimeReader, plausible};

/// Reads the texts that stand for times.
#[derive(Debug)]
pub(super) struct Times {
    reader: TimeReader,
}

impl Times {
    /// Reads times as the options say, in years near `now`.
    pub(super) fn new(options: &ReadOptions, now: Micros) -> Self {
        let (format, zone) = (options.time_format.as_deref(), options.zone.as_deref());
        Self { reader: TimeReader::new(now).with_options(format, zone) }
    }

    /// The time of a text; `None` if it is not understood.
    pub(super) fn read(&self, text: &str) -> Option<Micros> {
        let number = || text.parse::<Number>().ok().and_then(|n| plausible(n, &self.reader));
        self.reader.read(without_level(text)).or_else(number)
    }

    /// The time at the beginning of a line.
    pub(super) fn leading(&self, line: &str) -> Option<Micros> {
        self.reader.read_start(line).map(|start| start.time)
    }

    /// Sets the event's time. A text that is not understood is no time, and is reported.
    pub(super) fn set(&self, text: &str, fields: &mut Fields) {
        match self.read(text) {
            Some(time) => (fields.time, fields.doubt) = (Some(time), None),
            None if fields.time.is_none() => fields.doubt = Some(text.to_owned()),
            None => {}
        }
    }

    /// Sets the event's time if the text is understood; returns whether it is.
    pub(super) fn try_set(&self, text: &str, fields: &mut Fields) -> bool {
        let time = self.read(text);
        if time.is_some() {
            (fields.time, fields.doubt) = (time, None);
        }
        time.is_some()
    }
}

/// A time of klog without the letter of its level: `I1121 03:51:42`.
fn without_level(text: &str) -> &str {
    match text.strip_prefix(['I', 'W', 'E', 'F']) {
        Some(time) if time.starts_with(|c: char| c.is_ascii_digit()) => time,
        _ => text,
    }
}
