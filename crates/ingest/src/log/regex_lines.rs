//! Lines by a regular expression of the user, whose named groups are columns.

use regex::Regex;

use super::fields::Fields;
use super::level;
use super::times::Times;
use crate::regex_option;

/// A compiled expression and the names of its groups.
#[derive(Debug)]
pub(super) struct RegexLines {
    regex: Regex,
    groups: Vec<(usize, String)>,
}

impl RegexLines {
    /// Takes over an expression; `None` if it cannot be used.
    pub(super) fn new(text: &str) -> Option<Self> {
        let regex = regex_option::compile(text).ok()?;
        let names = regex.capture_names().enumerate();
        let groups = names.filter_map(|(index, name)| Some((index, name?.to_owned()))).collect();
        Some(Self { regex, groups })
    }

    /// Reads a line as columns; returns false if it does not match.
    pub(super) fn read(&self, line: &str, times: &Times, fields: &mut Fields) -> bool {
        let Some(captures) = self.regex.captures(line) else { return false };
        for (index, name) in &self.groups {
            let Some(group) = captures.get(*index).map(|group| group.as_str()) else { continue };
            match name.as_str() {
                "time" => times.set(group, fields),
                "level" => level::add(fields, group),
                name => fields.number(name, group),
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use hadal_types::Micros;

    use super::*;
    use crate::read_options::ReadOptions;

    #[test]
    fn groups_are_columns() {
        let regex = RegexLines::new(r"^(?<time>\S+) (?<level>\w)(?<n>\d+)?(?<rest> .*)?$");
        let regex = regex.expect("a regex");
        let times = Times::new(&ReadOptions::default(), Micros(0));
        let mut fields = Fields::default();
        assert!(regex.read("2026-11-21T03:51:42Z E17", &times, &mut fields));
        assert!(fields.time.is_some());
        assert_eq!(fields.members(), br#""level":"error","n":17,"#);
        assert!(!regex.read("", &times, &mut Fields::default()));
    }
}
