//! Arguments that say how files are read. What is not said is detected.

use clap::Args;
use hadal_ingest::ReadOptions;

use crate::error::Error;
use crate::input::Split;

/// How files are read.
#[derive(Args)]
#[command(next_help_heading = "Reading")]
pub(crate) struct ReadArgs {
    /// The column that holds each row's time; received takes the time of arrival
    #[arg(long, value_name = "COLUMN")]
    pub(crate) time: Option<String>,
    /// How times are written: day-first, month-first, or words of strptime such as %d.%m.%Y %H:%M
    #[arg(long, value_name = "FORMAT")]
    time_format: Option<String>,
    /// The zone of times that name none, such as Europe/Berlin or +02:00 [default: UTC]
    #[arg(long, value_name = "ZONE", allow_hyphen_values = true)]
    zone: Option<String>,
    /// What becomes of rows without a time: reject or received (they get the time of arrival)
    /// [default: reject in a file whose rows mostly have times]
    #[arg(long, value_name = "CHOICE")]
    untimed: Option<String>,
    /// How rows are written: jsonl, json, geojson, otlp, csv, tsv, text, lines, parquet,
    /// arrow
    #[arg(long, value_name = "FORMAT")]
    format: Option<String>,
    /// What separates the cells of CSV: a character, or tab
    #[arg(long, value_name = "CHARACTER", allow_hyphen_values = true)]
    separator: Option<String>,
    /// The decimal mark in CSV: . or ,
    #[arg(long, value_name = "MARK")]
    decimal: Option<String>,
    /// What encloses cells of CSV: a character, or none
    #[arg(long, value_name = "CHARACTER", allow_hyphen_values = true)]
    quote: Option<String>,
    /// What stands in CSV before a quote or separator that is part of its cell
    #[arg(long, value_name = "CHARACTER", allow_hyphen_values = true)]
    escape: Option<String>,
    /// What begins a line of CSV that is no row
    #[arg(long, value_name = "CHARACTER", allow_hyphen_values = true)]
    comment: Option<String>,
    /// The number of lines before the head of CSV
    #[arg(long, value_name = "LINES")]
    skip: Option<String>,
    /// The first line of CSV has the columns' names
    #[arg(long, conflicts_with = "no_header")]
    header: bool,
    /// The first line of CSV is a row; the columns are called column_1 and so on
    #[arg(long, alias = "no-head")]
    no_header: bool,
    /// A word that means in any column of CSV that there is no value; may be repeated
    #[arg(long, value_name = "WORD", allow_hyphen_values = true)]
    null: Vec<String>,
    /// A regular expression whose named groups become the columns of a line: (?<user>\w+)
    #[arg(long, value_name = "REGEX", allow_hyphen_values = true)]
    regex: Option<String>,
    /// The array in a JSON document that has the rows; its dotted name
    #[arg(long, value_name = "NAME")]
    rows: Option<String>,
    /// Columns whose arrays are sets, not vectors
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub(crate) sets: Vec<String>,
    /// A column whose texts are lists, and what separates their elements; may be repeated
    #[arg(long, value_name = "COLUMN=SEPARATOR")]
    pub(crate) split: Vec<Split>,
}

impl ReadArgs {
    /// Returns the options that these arguments set.
    ///
    /// # Errors
    /// [`Error::Usage`] with the argument's name, if a value is not allowed.
    pub(crate) fn options(&self) -> Result<ReadOptions, Error> {
        let mut options = ReadOptions::default();
        let header = match (self.header, self.no_header) {
            (true, _) => Some("true"),
            (_, true) => Some("false"),
            _ => None,
        };
        let arguments = [
            ("format", self.format.as_deref()),
            ("separator", self.separator.as_deref()),
            ("decimal", self.decimal.as_deref()),
            ("quote", self.quote.as_deref()),
            ("escape", self.escape.as_deref()),
            ("comment", self.comment.as_deref()),
            ("skip", self.skip.as_deref()),
            ("header", header),
            ("time-format", self.time_format.as_deref()),
            ("zone", self.zone.as_deref()),
            ("untimed", self.untimed.as_deref()),
            ("regex", self.regex.as_deref()),
            ("rows", self.rows.as_deref()),
        ];
        let nulls = self.null.iter().map(|word| ("null", Some(word.as_str())));
        for (name, value) in arguments.into_iter().chain(nulls) {
            let Some(value) = value else { continue };
            let set = options.set(name, value);
            set.map_err(|error| Error::Usage(format!("--{name} is {error}")))?;
        }
        Ok(options)
    }
}
