//! How a CSV text is written.

use crate::read_options::{Quote, ReadOptions};

/// How a CSV text is written. The default is RFC 4180 with a head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dialect {
    /// The byte between cells.
    pub separator: u8,
    /// What encloses cells.
    pub quote: Quote,
    /// The byte before a quote, a separator or a line feed that is part of its cell.
    pub escape: Option<u8>,
    /// The byte at the beginning of lines that are no records.
    pub comment: Option<u8>,
    /// The number of lines before the head, or before the first row.
    pub skip: usize,
    /// Whether the first record names the columns.
    pub has_head: bool,
    /// Whether the head has no name for the first column: it holds the names of rows.
    pub has_row_names: bool,
}

impl Default for Dialect {
    fn default() -> Self {
        Self {
            separator: b',',
            quote: Quote::Byte(b'"'),
            escape: None,
            comment: None,
            skip: 0,
            has_head: true,
            has_row_names: false,
        }
    }
}

impl Dialect {
    /// The dialect that `options` state, with defaults for the rest.
    #[must_use]
    pub fn of_options(options: &ReadOptions) -> Self {
        let default = Self::default();
        Self {
            separator: options.separator.unwrap_or(default.separator),
            quote: options.quote.unwrap_or(default.quote),
            escape: options.escape,
            comment: options.comment,
            skip: options.skip.unwrap_or(default.skip),
            has_head: options.header.unwrap_or(default.has_head),
            ..default
        }
    }

    /// The separator for people: its character between grave accents, or its name.
    #[must_use]
    pub fn separator_name(&self) -> String {
        match self.separator {
            b'\t' => "tabs".to_owned(),
            b' ' => "spaces".to_owned(),
            byte if byte.is_ascii_control() => format!("^{}", char::from(byte ^ 0x40)),
            byte => format!("`{}`", char::from(byte)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_have_names() {
        let name = |separator| Dialect { separator, ..Dialect::default() }.separator_name();
        let names = [b',', b'\t', 1, b' '].map(name);
        assert_eq!(names, ["`,`", "tabs", "^A", "spaces"]);
    }

    #[test]
    fn options_state_a_dialect() {
        let mut options = ReadOptions::default();
        assert_eq!(Dialect::of_options(&options), Dialect::default());
        options.set("quote", "none").expect("a quote");
        options.set("escape", "\\").expect("an escape");
        options.set("header", "false").expect("a truth");
        options.set("skip", "2").expect("a number");
        let dialect = Dialect::of_options(&options);
        assert_eq!((dialect.quote, dialect.escape), (Quote::None, Some(b'\\')));
        assert_eq!((dialect.skip, dialect.has_head), (2, false));
    }
}
