//! Records that are no strict JSON, or too long.

use hadal_types::limits::LINE_BYTES_MAX;
use serde::de::IgnoredAny;

use super::{Format, State};
use crate::{json, summary};

impl State {
    /// Converts a record that was refused as strict JSON, for a reason: it may be several objects,
    /// or almost JSON.
    pub(super) fn take_lenient(&mut self, line: u64, text: &str, is_changed: bool, reason: String) {
        if json::is_event_field(text) {
            return self.warn(summary::EVENT_FIELD, 1);
        }
        let has_surrogates = text.contains("\\ud") || text.contains("\\uD");
        let is_strict = || serde_json::from_str::<IgnoredAny>(text).is_ok();
        if text.starts_with('{') && !has_surrogates && is_strict() {
            return self.reject(line, reason, text.as_bytes());
        }
        let objects = match json::repair(text) {
            Ok(objects) => objects,
            Err(fault) => return self.reject(line, fault.describe(text), text.as_bytes()),
        };
        for object in objects {
            let object = match object {
                Ok(object) => object,
                Err((part, fault)) => {
                    self.reject(line, fault.describe(text), part.as_bytes());
                    continue;
                }
            };
            match self.row(&object.text, is_changed) {
                Ok(()) => {
                    self.warn(summary::NOT_A_NUMBER, object.not_numbers);
                    self.warn(summary::LONE_SURROGATE, object.lone_surrogates);
                    self.warn(summary::LENIENT_JSON, object.is_lenient.into());
                }
                Err(reason) => self.reject(line, reason, object.text.as_bytes()),
            }
        }
    }

    fn warn(&mut self, code: &'static str, count: u64) {
        self.warnings.add_many(code, count);
    }

    /// The reason for a record that is too long.
    pub(super) fn too_long(&self, record: &[u8]) -> String {
        let hint = match (self.format, record.first()) {
            (Format::Json, Some(b'{' | b'[')) => {
                "; if the rows are in an array in it, name that: --rows, Hadal-Rows"
            }
            _ => "",
        };
        format!("longer than {LINE_BYTES_MAX} bytes{hint}")
    }
}
