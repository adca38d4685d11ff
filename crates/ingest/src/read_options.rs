//! How a body or a file is to be read: what the user says, and `None` for what is detected.
//!
//! The flags of `hadal import` (`--time-format`) and the headers of `POST /v1/log/TABLE`
//! (`Hadal-Time-Format`) both set these options by name, with the same words and errors.

use crate::input_format::InputFormat;
use crate::regex_option;
use crate::time::{TimeFormat, Zone};

/// The greatest number of lines that can be skipped before a head.
pub const SKIP_LINES_MAX: usize = 1_000;
/// The most bytes that the text of an option may have.
pub const OPTION_BYTES_MAX: usize = 4 << 10;

/// How a body or a file is to be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// How rows are written.
    pub format: Option<InputFormat>,
    /// The byte between the cells of CSV.
    pub separator: Option<u8>,
    /// The decimal mark of numbers in CSV: a point or a comma.
    pub decimal: Option<u8>,
    /// What encloses cells of CSV.
    pub quote: Option<Quote>,
    /// The byte of CSV before a quote, a separator or a line feed that is part of the cell.
    pub escape: Option<u8>,
    /// The byte at the beginning of lines of CSV that are no rows.
    pub comment: Option<u8>,
    /// The number of lines before the head of CSV, or before the first line of text.
    pub skip: Option<usize>,
    /// Whether the first line of CSV names the columns.
    pub header: Option<bool>,
    /// How times are spelled: words of strptime, or `day-first`, or `month-first`.
    pub time_format: Option<String>,
    /// The zone of times that name none, such as `Europe/Berlin` or `+02:00`.
    pub zone: Option<String>,
    /// What becomes of rows without a time.
    pub untimed: Option<Untimed>,
    /// Words that mean "no value" in cells of CSV, besides the usual ones.
    pub nulls: Vec<String>,
    /// A regular expression whose named groups are the columns of a line of text.
    pub regex: Option<String>,
    /// The dotted name of the array in a JSON document that has the rows.
    pub rows: Option<String>,
    /// The name of the file that the bytes are from, whose extension is evidence of the format.
    pub name: Option<String>,
}

/// What becomes of rows without a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Untimed {
    /// They are rejected.
    Reject,
    /// They get their time of arrival.
    Received,
    /// They are rejected if most of the first rows have a time, as in a file.
    Detect,
}

impl Untimed {
    /// All values, with their names as options.
    const ALL: [(&'static str, Self); 3] =
        [("reject", Self::Reject), ("received", Self::Received), ("detect", Self::Detect)];

    /// Its name as an option.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, untimed)| *untimed == self).map_or("", |(name, _)| *name)
    }
}

/// What encloses cells of CSV.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quote {
    /// A byte, usually `"`.
    Byte(u8),
    /// Nothing: a quote is a character like any other.
    None,
}

impl ReadOptions {
    /// The names of the options, as [`set`](Self::set) takes them.
    pub const NAMES: [&str; 15] = [
        "format",
        "separator",
        "decimal",
        "quote",
        "escape",
        "comment",
        "skip",
        "header",
        "time-format",
        "zone",
        "untimed",
        "null",
        "regex",
        "rows",
        "name",
    ];

    /// Sets the option `name`, one of [`NAMES`](Self::NAMES). `null` may be set several times; each
    /// adds a word.
    ///
    /// # Errors
    /// A sentence without the option's name: what the value may be.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        if value.len() > OPTION_BYTES_MAX {
            return Err(format!("a text of {} bytes; at most {OPTION_BYTES_MAX}", value.len()));
        }
        match name {
            "format" => self.set_format(value)?,
            "separator" => self.separator = Some(separator(value)?),
            "decimal" => self.decimal = Some(decimal(value)?),
            "quote" if value.eq_ignore_ascii_case("none") => self.quote = Some(Quote::None),
            "quote" => self.quote = Some(Quote::Byte(one_byte(value)?)),
            "escape" => self.escape = Some(one_byte(value)?),
            "comment" => self.comment = Some(one_byte(value)?),
            "skip" => self.skip = Some(skip(value)?),
            "header" => self.header = Some(truth(value)?),
            "time-format" => {
                TimeFormat::of_option(value)?;
                self.time_format = Some(value.to_owned());
            }
            "zone" => {
                Zone::of_option(value)?;
                self.zone = Some(value.to_owned());
            }
            "untimed" => self.untimed = Some(untimed(value)?),
            "null" => self.nulls.push(value.to_owned()),
            "regex" => {
                regex_option::compile(value)?;
                self.format.get_or_insert(InputFormat::Text);
                self.regex = Some(value.to_owned());
            }
            "rows" => self.rows = Some(value.to_owned()),
            "name" => self.name = Some(value.to_owned()),
            _ => return Err(format!("no option; there are {}", Self::NAMES.join(", "))),
        }
        Ok(())
    }

    /// Sets the format; `tsv` and `semicolons` are CSV with a separator.
    fn set_format(&mut self, value: &str) -> Result<(), String> {
        let separator = match value.to_ascii_lowercase().as_str() {
            "tsv" => Some(b'\t'),
            "semicolons" => Some(b';'),
            _ => None,
        };
        let format = separator.map(|_| InputFormat::Csv).or_else(|| InputFormat::of_name(value));
        let names = || InputFormat::ALL.map(|(name, _)| name).join(", ");
        self.format = Some(format.ok_or_else(|| format!("{value:?}; it may be {}, tsv", names()))?);
        self.separator = self.separator.or(separator);
        Ok(())
    }
}

/// The byte of a separator, which may be spelled as a word.
fn separator(value: &str) -> Result<u8, String> {
    Ok(match value.to_ascii_lowercase().as_str() {
        "tab" | "\\t" => b'\t',
        "comma" => b',',
        "semicolon" => b';',
        "pipe" => b'|',
        "space" => b' ',
        "^a" | "\\x01" => 1,
        _ => one_byte(value)?,
    })
}

fn one_byte(value: &str) -> Result<u8, String> {
    match value.as_bytes() {
        [byte] if byte.is_ascii() && !matches!(byte, b'\n' | b'\r' | 0) => Ok(*byte),
        _ => Err(format!("{value:?}; it may be one ASCII character")),
    }
}

fn decimal(value: &str) -> Result<u8, String> {
    match value {
        "," | "comma" => Ok(b','),
        "." | "point" => Ok(b'.'),
        _ => Err(format!("{value:?}; it may be . or ,")),
    }
}

fn skip(value: &str) -> Result<usize, String> {
    let number = value.parse().ok().filter(|number| *number <= SKIP_LINES_MAX);
    number.ok_or_else(|| format!("{value:?}; it may be a number from 0 to {SKIP_LINES_MAX}"))
}

fn untimed(value: &str) -> Result<Untimed, String> {
    let all = Untimed::ALL.iter().find(|(name, _)| name.eq_ignore_ascii_case(value));
    let untimed = all.map(|(_, untimed)| *untimed);
    untimed.ok_or_else(|| format!("{value:?}; it may be reject, received or detect"))
}

fn truth(value: &str) -> Result<bool, String> {
    match value.to_ascii_lowercase().as_str() {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(format!("{value:?}; it may be true or false")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_set_by_name() {
        let mut options = ReadOptions::default();
        for (name, value) in [
            ("format", "tsv"),
            ("decimal", ","),
            ("quote", "none"),
            ("escape", "\\"),
            ("comment", "#"),
            ("skip", "3"),
            ("header", "False"),
            ("time-format", "%d.%m.%Y"),
            ("zone", "Europe/Berlin"),
            ("untimed", "Received"),
            ("null", "-"),
            ("null", "missing"),
            ("regex", "(?<a>.)"),
            ("rows", "a.b"),
            ("name", "x.csv"),
        ] {
            options.set(name, value).expect(name);
        }
        assert_eq!((options.format, options.separator), (Some(InputFormat::Csv), Some(b'\t')));
        assert_eq!((options.quote, options.header), (Some(Quote::None), Some(false)));
        assert_eq!((options.skip, options.decimal), (Some(3), Some(b',')));
        assert_eq!(options.untimed.map(Untimed::name), Some("received"));
        assert_eq!(options.nulls, ["-", "missing"]);
        options.set("separator", "pipe").expect("a separator");
        options.set("format", "tsv").expect("a format");
        assert_eq!(options.separator, Some(b'|'), "the option of its own wins");
    }

    #[test]
    fn a_wrong_value_says_what_it_may_be() {
        let error =
            |name, value: &str| ReadOptions::default().set(name, value).expect_err("refused");
        assert_eq!(error("decimal", "x"), "\"x\"; it may be . or ,");
        assert_eq!(error("separator", "::"), "\"::\"; it may be one ASCII character");
        assert_eq!(error("skip", "1001"), "\"1001\"; it may be a number from 0 to 1000");
        assert!(error("format", "xlsx").starts_with("\"xlsx\"; it may be jsonl, json, "));
        assert!(error("time-format", "%Q5").starts_with("\"%Q5\"; it may be words of strptime"));
        assert!(error("zone", "Mars").starts_with("\"Mars\"; it may be a name such as"));
        assert_eq!(error("header", "yes"), "\"yes\"; it may be true or false");
        assert_eq!(error("untimed", "now"), "\"now\"; it may be reject, received or detect");
        let long = "x".repeat(OPTION_BYTES_MAX + 1);
        assert_eq!(error("regex", &long), "a text of 4097 bytes; at most 4096");
    }
}
