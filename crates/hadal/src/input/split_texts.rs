//! Strings that join the elements of a list, `,us,nc,`, split into arrays.
//!
//! A table's settings decide which arrays are sets. This module only makes arrays, whatever the
//! input format.

use std::collections::BTreeMap;
use std::str::FromStr;

use hadal_ingest::RejectKinds;
use serde_json::value::{RawValue, to_raw_value};

use super::Rows;
use crate::error::Error;

/// An object with the JSON text of each value.
type Members<'j> = BTreeMap<String, &'j RawValue>;

/// A column, and the separator of the elements in its strings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Split {
    column: String,
    separator: String,
}

impl FromStr for Split {
    type Err = String;

    /// Parses `COLUMN=SEPARATOR`.
    fn from_str(text: &str) -> Result<Self, String> {
        let (column, separator) = text
            .split_once('=')
            .filter(|(column, separator)| !column.is_empty() && !separator.is_empty())
            .ok_or("expected COLUMN=SEPARATOR, like tags=,")?;
        Ok(Self { column: column.to_owned(), separator: separator.to_owned() })
    }
}

impl Split {
    /// Returns the object with the column's string split; `None` if the column has no string.
    fn cut(&self, object: &str) -> Option<String> {
        self.cut_member(object, &self.column)
    }

    /// Splits the member that a dotted name denotes in an object: a member of that name, or of a
    /// nested object.
    fn cut_member(&self, object: &str, name: &str) -> Option<String> {
        let mut members: Members<'_> = serde_json::from_str(object).ok()?;
        let (key, array) = if let Some(value) = members.get(name) {
            (name, self.cut_text(value.get())?)
        } else {
            members.iter().find_map(|(key, value)| {
                let rest = name.strip_prefix(key.as_str())?.strip_prefix('.')?;
                Some((&name[..key.len()], self.cut_member(value.get(), rest)?))
            })?
        };
        let array = RawValue::from_string(array).ok()?;
        members.insert(key.to_owned(), &array);
        serde_json::to_string(&members).ok()
    }

    /// Splits a string into an array. Elements are trimmed, and empty ones left out.
    fn cut_text(&self, text: &str) -> Option<String> {
        let text: String = serde_json::from_str(text).ok()?;
        let elements = text.split(&self.separator).map(str::trim);
        let elements: Vec<&str> = elements.filter(|element| !element.is_empty()).collect();
        to_raw_value(&elements).ok().map(|array| array.get().to_owned())
    }
}

/// Rows with the strings of some columns split.
pub(super) struct SplitRows {
    rows: Box<dyn Rows>,
    /// The splits, each with the number of strings that it has split.
    splits: Vec<(Split, u64)>,
    line: Vec<u8>,
}

impl SplitRows {
    pub(super) fn new(rows: Box<dyn Rows>, splits: &[Split]) -> Self {
        let splits = splits.iter().map(|split| (split.clone(), 0)).collect();
        Self { rows, splits, line: Vec::new() }
    }
}

impl Rows for SplitRows {
    fn next(&mut self, out: &mut Vec<u8>) -> Result<bool, Error> {
        self.line.clear();
        if !self.rows.next(&mut self.line)? {
            return Ok(false);
        }
        for (split, count) in &mut self.splits {
            let text = std::str::from_utf8(&self.line).ok();
            if let Some(cut) = text.and_then(|text| split.cut(text)) {
                *count += 1;
                self.line = cut.into_bytes();
                self.line.push(b'\n');
            }
        }
        out.extend_from_slice(&self.line);
        Ok(true)
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

    fn time_wording(&self) -> Option<hadal_ingest::TimeWording> {
        self.rows.time_wording()
    }

    fn has_raw_times(&self) -> bool {
        self.rows.has_raw_times()
    }

    fn set_time_column(&mut self, time_column: Option<&str>) {
        self.rows.set_time_column(time_column);
    }

    fn rejects(&self) -> RejectKinds {
        self.rows.rejects()
    }

    fn notes(&self) -> Vec<String> {
        let idle = self.splits.iter().filter(|(_, count)| *count == 0);
        let idle = idle.map(|(split, _)| format!("column {}: no texts to split", split.column));
        self.rows.notes().into_iter().chain(idle).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{InputFormat, ReadOptions, Reading, all_lines, open_bytes};
    use super::*;

    fn split(text: &str, splits: &[&str]) -> (String, Vec<String>) {
        let splits: Vec<Split> = splits.iter().map(|split| split.parse().expect(split)).collect();
        let format = Some(InputFormat::JsonLines);
        let options = ReadOptions { format, ..ReadOptions::default() };
        let reading = Reading { options, splits: &splits, ..Reading::default() };
        let mut rows = open_bytes(text.as_bytes().to_vec(), reading).expect("opens");
        let lines = all_lines(&mut *rows).expect("rows");
        (lines.iter().map(|line| format!("{line}\n")).collect(), rows.notes())
    }

    #[test]
    fn texts_become_arrays() {
        let text = "{\"a\":\",us,n c, ,\",\"b\":1.50}\n{\"a\":\"\"}\n{\"a\":null}\n{\"a\":7}\n{x\n";
        let expected =
            "{\"a\":[\"us\",\"n c\"],\"b\":1.50}\n{\"a\":[]}\n{\"a\":null}\n{\"a\":7}\n{x\n";
        assert_eq!(split(text, &["a=,"]), (expected.to_owned(), Vec::new()));
    }

    #[test]
    fn dotted_names_are_found_however_they_are_written() {
        let (lines, _) =
            split("{\"a\":{\"b.c\":\"x;y\"}}\n{\"a.b\":{\"c\":\"z\"}}\n", &["a.b.c=;"]);
        assert_eq!(lines, "{\"a\":{\"b.c\":[\"x\",\"y\"]}}\n{\"a.b\":{\"c\":[\"z\"]}}\n");
        let (lines, _) = split("{\"a\":\"1 | 2\",\"b\":\"3=4\"}\n", &["a=|", "b=="]);
        assert_eq!(lines, "{\"a\":[\"1\",\"2\"],\"b\":[\"3\",\"4\"]}\n");
    }

    #[test]
    fn a_slip_is_told() {
        assert_eq!(split("{\"a\":1}\n", &["b=,"]).1, ["column b: no texts to split"]);
        for bad in ["", "a", "a=", "=,"] {
            assert!(bad.parse::<Split>().is_err(), "{bad}");
        }
    }
}
