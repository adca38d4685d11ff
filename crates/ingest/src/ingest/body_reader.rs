//! Decides how a body is read, from what is stated and from its first bytes.

use hadal_types::Micros;

use crate::csv::CsvToJson;
use crate::detect::{Detection, HEAD_BYTES, Unreadable, detect, refuse_unreadable};
use crate::documents::{Documents, Recognized, by_option, recognize};
use crate::input_format::InputFormat;
use crate::log::LogToJson;
use crate::read_options::ReadOptions;
use crate::split::Splitter;

/// The number of bytes that show whether a body of a stated format is text at all.
const MAGIC_BYTES: usize = 16;

/// The format of a body, as far as it is stated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// JSON lines, an array of objects, or objects one after another.
    Json,
    /// CSV; its dialect is detected.
    Csv,
    /// Lines of text; their layout is detected.
    Lines,
    /// Nothing is stated: the format is detected from the beginning of the body.
    Detect,
}

/// Splits a body into records: JSON objects or lines of text.
pub(super) enum BodyReader {
    Split(Splitter),
    /// The first bytes of JSON, until they show whether it is a document.
    Undecided(Vec<u8>),
    Documents(Box<Documents>),
    Csv(Box<CsvToJson>),
    Log(Box<LogToJson>),
}

impl BodyReader {
    /// How JSON is read by the options.
    fn json(options: &ReadOptions) -> Self {
        match (by_option(options), options.format) {
            (Some(shape), _) => Self::Documents(Box::new(Documents::new(shape))),
            (None, Some(InputFormat::JsonLines)) => Self::Split(Splitter::json_lines()),
            (None, _) => Self::Undecided(Vec::new()),
        }
    }

    /// How JSON is read that begins like this; `None` until there are enough bytes.
    pub(super) fn of_head(head: &[u8]) -> Option<Self> {
        match recognize(head) {
            Recognized::Undecided => None,
            Recognized::Other => Some(Self::Split(Splitter::json())),
            Recognized::Documents(kind) => {
                Some(Self::Documents(Box::new(Documents::of_kind(kind))))
            }
        }
    }
}

/// The beginning of a body, until its format is decided.
#[derive(Default)]
pub(super) struct BodyHead {
    bytes: Vec<u8>,
}

/// The decision on a body.
pub(super) struct Decision {
    pub(super) reader: BodyReader,
    pub(super) format: Format,
    pub(super) detection: Detection,
}

impl BodyHead {
    /// Appends bytes until there are enough for a decision. Returns the bytes that were not taken;
    /// `None` if more are needed.
    pub(super) fn take<'b>(
        &mut self,
        bytes: &'b [u8],
        format: Format,
        options: &ReadOptions,
    ) -> Option<&'b [u8]> {
        let is_stated = match options.format {
            Some(format) => format != InputFormat::Csv,
            None => matches!(format, Format::Json | Format::Lines),
        };
        let needed = if is_stated { MAGIC_BYTES } else { HEAD_BYTES };
        let missing = needed.saturating_sub(self.bytes.len()).min(bytes.len());
        let (head, rest) = bytes.split_at_checked(missing)?;
        self.bytes.extend_from_slice(head);
        (self.bytes.len() >= needed).then_some(rest)
    }

    /// Decides how the body is read, and returns its first bytes.
    ///
    /// # Errors
    /// [`Unreadable`] if it cannot be read.
    pub(super) fn decide(
        self,
        format: Format,
        options: &ReadOptions,
        now: Micros,
    ) -> Result<(Decision, Vec<u8>), Unreadable> {
        let stated = options;
        let mut options = options.clone();
        if options.format.is_none() {
            options.format = match format {
                Format::Json => Some(InputFormat::JsonLines),
                Format::Csv => Some(InputFormat::Csv),
                Format::Lines => Some(InputFormat::Text),
                Format::Detect => None,
            };
            if format != Format::Detect {
                refuse_unreadable(&self.bytes)?;
            }
        }
        let detection = detect(&self.bytes, options.name.as_deref(), &options)?;
        let (reader, format) = match (detection.format, detection.dialect) {
            (InputFormat::Csv, dialect) => {
                let csv = CsvToJson::new(dialect.unwrap_or_default(), &options).with_now(now);
                (BodyReader::Csv(Box::new(csv)), Format::Csv)
            }
            (InputFormat::Text | InputFormat::Lines, _) => {
                let log = LogToJson::new(&options, now);
                (BodyReader::Log(Box::new(log)), Format::Lines)
            }
            (InputFormat::Parquet, _) => return Err(Unreadable::Columnar("Parquet")),
            (InputFormat::Arrow, _) => return Err(Unreadable::Columnar("Arrow IPC")),
            _ => (BodyReader::json(stated), Format::Json),
        };
        Ok((Decision { reader, format, detection }, self.bytes))
    }
}
