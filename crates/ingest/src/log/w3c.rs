//! The extended log format of the W3C, as IIS and CloudFront write it: a line `#Fields:` names the
//! columns of the lines after it.

use super::fields::Fields;
use super::times::Times;

/// The name of the layout.
pub(super) const NAME: &str = "W3C extended log";

/// The names of the columns, in the order of the cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct W3cHead(Vec<String>);

/// The names of a line `#Fields:`.
pub(super) fn head(line: &str) -> Option<W3cHead> {
    let names = line.strip_prefix("#Fields:")?.split_ascii_whitespace();
    let names: Vec<String> = names.take(super::fields::FIELDS_MAX).map(str::to_owned).collect();
    (!names.is_empty()).then_some(W3cHead(names))
}

/// Whether a line says something of the log, and is no row.
pub(super) fn is_directive(line: &str) -> bool {
    ["#Fields:", "#Version:", "#Software:", "#Date:", "#Start-Date:", "#End-Date:", "#Remark:"]
        .iter()
        .any(|directive| line.starts_with(directive))
}

impl W3cHead {
    /// Reads a line as columns; returns false if it has another number of cells.
    pub(super) fn read(&self, line: &str, times: &Times, fields: &mut Fields) -> bool {
        let separator = if line.contains('\t') { '\t' } else { ' ' };
        let cells = cells(line, separator);
        if cells.len() != self.0.len() {
            return false;
        }
        let cell = |name: &str| {
            let place = self.0.iter().position(|other| other == name)?;
            cells.get(place).copied()
        };
        match (cell("date"), cell("time")) {
            (Some(date), Some(time)) => times.set(&format!("{date} {time}"), fields),
            (None, Some(time)) => times.set(time, fields),
            _ => {}
        }
        for (name, cell) in self.0.iter().zip(&cells) {
            if !matches!(name.as_str(), "date" | "time") {
                fields.number(name, cell);
            }
        }
        true
    }
}

/// The cells of a line. A cell in quotes may have separators.
fn cells(line: &str, separator: char) -> Vec<&str> {
    let mut cells = Vec::new();
    let mut rest = line.trim_end();
    loop {
        let quoted = rest.strip_prefix('"').and_then(|text| text.split_once('"'));
        let (cell, after) = match quoted {
            Some((cell, after)) if after.is_empty() || after.starts_with(separator) => {
                (cell, after.strip_prefix(separator))
            }
            _ => match rest.split_once(separator) {
                Some((cell, after)) => (cell, Some(after)),
                None => (rest, None),
            },
        };
        cells.push(cell);
        match after {
            Some(after) => rest = after,
            None => return cells,
        }
    }
}

#[cfg(test)]
mod tests {
    use hadal_types::Micros;

    use super::*;
    use crate::read_options::ReadOptions;

    #[test]
    fn the_head_names_the_cells() {
        let times = Times::new(&ReadOptions::default(), Micros(0));
        let head = head("#Fields: date time cs-method sc-status cs(User-Agent)").expect("names");
        let mut fields = Fields::default();
        assert!(head.read("2026-11-21 03:51:42 GET 200 \"a b\"", &times, &mut fields));
        assert_eq!(
            fields.time.map(|time| time.to_string()).as_deref(),
            Some("2026-11-21T03:51:42Z")
        );
        let members = r#""cs-method":"GET","sc-status":200,"cs(User-Agent)":"a b","#;
        assert_eq!(fields.members(), members.as_bytes());
        for line in ["", "2026-11-21 03:51:42", "a b c d e f"] {
            assert!(!head.read(line, &times, &mut Fields::default()), "{line}");
        }
    }

    #[test]
    fn directives_are_no_rows() {
        assert!(is_directive("#Version: 1.0") && !is_directive("# Time: x"));
        assert_eq!(super::head("#Fields:"), None);
    }
}
