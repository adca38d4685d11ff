//! A layout with its compiled pattern, which turns a line into columns.

use std::sync::OnceLock;

use regex::{Captures, Regex};

use super::fields::Fields;
use super::json_suffix;
use super::layout::{Layout, Payload};
use super::layouts;
use super::level;
use super::logfmt;
use super::patterns;
use super::request;
use super::times::Times;

/// Columns that are numbers.
const NUMBERS: [&str; 8] =
    ["status", "bytes", "pid", "tid", "requests", "connection", "uptime", "duration"];
/// Columns whose text has escapes of `"` and `\`.
const ESCAPED: [&str; 2] = ["referrer", "agent"];

/// A layout that can be matched.
#[derive(Debug)]
pub(super) struct Matcher {
    pub(super) layout: &'static Layout,
    regex: Regex,
    groups: Vec<(usize, String)>,
}

/// All layouts, compiled once.
pub(super) fn all() -> &'static [Matcher] {
    static MATCHERS: OnceLock<Vec<Matcher>> = OnceLock::new();
    MATCHERS.get_or_init(|| layouts::all().filter_map(Matcher::new).collect())
}

impl Matcher {
    fn new(layout: &'static Layout) -> Option<Self> {
        let regex = Regex::new(&patterns::expand(layout.pattern)).ok()?;
        let names = regex.capture_names().enumerate();
        let groups = names.filter_map(|(index, name)| Some((index, name?.to_owned()))).collect();
        Some(Self { layout, regex, groups })
    }

    /// Whether a line is laid out so.
    pub(super) fn fits(&self, line: &str) -> bool {
        self.regex.captures(line).is_some_and(|captures| is_plausible(&captures))
    }

    /// Reads a line as columns; returns false, and adds none, if the line is laid out otherwise.
    pub(super) fn read(&self, line: &str, times: &Times, fields: &mut Fields) -> bool {
        let Some(captures) = self.regex.captures(line) else { return false };
        if !is_plausible(&captures) {
            return false;
        }
        for (index, name) in &self.groups {
            if let Some(group) = captures.get(*index) {
                self.add(name, group.as_str(), times, fields);
            }
        }
        true
    }

    fn add(&self, name: &str, text: &str, times: &Times, fields: &mut Fields) {
        match name {
            "gap" => {}
            "time" => times.set(text, fields),
            "level" => level::add(fields, text),
            "pri" => level::add_priority(fields, text),
            "request" => request::add(fields, text),
            "extra" => request::add_extra(fields, text.trim()),
            "duration_ms" => request::add_milliseconds(fields, text),
            "rest" => self.add_rest(text, times, fields),
            name if NUMBERS.contains(&name) => fields.number(name, text),
            name if ESCAPED.contains(&name) => fields.text(name, &request::unescaped(text)),
            name => fields.text(name, text),
        }
    }

    fn add_rest(&self, text: &str, times: &Times, fields: &mut Fields) {
        if !fields.has("level")
            && self.layout.payload != Payload::None
            && let Some(level) = level::leading(text)
            && self.layout.name == TIMED
        {
            fields.text("level", level);
        }
        if self.layout.payload == Payload::Inner && logfmt::is_logfmt(text) {
            logfmt::read(text, times, fields);
        } else if self.layout.payload != Payload::None {
            json_suffix::read(text, times, fields);
        }
    }
}

/// The name of the layout that has nothing but a time.
pub(super) const TIMED: &str = "lines with a time";

/// Whether no group has a word that shows that the line is laid out in another way: a level where
/// a name should be.
fn is_plausible(captures: &Captures<'_>) -> bool {
    ["host", "app", "logger"].iter().all(|name| {
        captures.name(name).is_none_or(|group| {
            level::of_word(group.as_str()).is_none_or(|_| {
                // A program may be called `log` or `system`.
                group.as_str().bytes().any(|byte| byte.is_ascii_lowercase())
            })
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles() {
        for layout in layouts::all() {
            assert!(Matcher::new(layout).is_some(), "{}", patterns::expand(layout.pattern));
        }
        assert!(all().iter().any(|matcher| matcher.layout.name == TIMED));
    }
}
