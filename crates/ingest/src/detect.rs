//! Detects how a body or a file is written: its format, and the dialect of CSV.
//!
//! Evidence counts in the order of `spec/import.md`: options, magic bytes, the shape of JSON, the
//! name, the shape of a table. Import, `hadal log` and HTTP use this one function.

mod head_row;
mod json_text;
mod table;
mod table_row;
mod table_sample;
mod unreadable;

use crate::csv::Dialect;
use crate::input_format::InputFormat;
use crate::log;
use crate::read_options::ReadOptions;
use crate::warning::Warning;
use table::Table;
pub use unreadable::Unreadable;

/// The number of bytes at the beginning from which everything is detected.
pub const HEAD_BYTES: usize = 64 << 10;

/// The first bytes of Parquet and Arrow files, and of Arrow streams: a mark before the length of a
/// schema.
const PARQUET: &[u8] = b"PAR1";
const ARROW_FILE: &[u8] = b"ARROW1";
const ARROW_STREAM: &[u8] = &[0xff, 0xff, 0xff, 0xff];

/// What was detected, and why.
#[derive(Clone, Debug)]
pub struct Detection {
    /// How rows are written.
    pub format: InputFormat,
    /// How CSV is written; `None` for other formats.
    pub dialect: Option<Dialect>,
    /// The layout of lines of a log, if one was recognized.
    pub layout: Option<&'static str>,
    /// The facts that decided, for people, in the order in which they count.
    pub evidence: Vec<String>,
    /// Guesses, with the options that decide otherwise.
    pub remarks: Vec<Warning>,
    /// The line of the head of CSV, from 1; `None` if there is no head.
    head_line: Option<u64>,
    /// The number of columns of CSV.
    width: usize,
}

impl Detection {
    fn new(format: InputFormat, evidence: String) -> Self {
        let (evidence, remarks) = (vec![evidence], Vec::new());
        Self { format, dialect: None, layout: None, evidence, remarks, head_line: None, width: 0 }
    }

    fn of_table(table: Table, evidence: String) -> Self {
        let evidence = std::iter::once(evidence).chain(table.evidence).collect();
        Self {
            dialect: Some(table.dialect),
            evidence,
            remarks: table.remarks,
            head_line: table.head_line,
            width: table.width,
            ..Self::new(InputFormat::Csv, String::new())
        }
    }

    /// The conclusions in a few words: "CSV with `;`, head in line 3".
    #[must_use]
    pub fn sentence(&self) -> String {
        let name = match self.format {
            InputFormat::JsonLines => "JSON lines",
            InputFormat::Json => "JSON",
            InputFormat::GeoJson => "GeoJSON",
            InputFormat::Otlp => "OTLP JSON",
            InputFormat::Csv => return self.table_sentence(),
            InputFormat::Text => self.layout.unwrap_or("plain text"),
            InputFormat::Lines => "plain lines",
            InputFormat::Parquet => "Parquet",
            InputFormat::Arrow => "Arrow IPC",
        };
        name.to_owned()
    }

    fn table_sentence(&self) -> String {
        let Some(dialect) = self.dialect else { return "CSV".to_owned() };
        let separator = match self.width {
            0 | 1 => "CSV of one column".to_owned(),
            _ => format!("CSV with {}", dialect.separator_name()),
        };
        let head = match self.head_line {
            Some(line) => format!("head in line {line}"),
            None => "no head".to_owned(),
        };
        let escape = dialect.escape.map(|byte| format!(", `{}` before quotes", char::from(byte)));
        format!("{separator}, {head}{}", escape.unwrap_or_default())
    }
}

/// Detects how a text or file is written that begins with `head`, and has this name. `head` has
/// [`HEAD_BYTES`], or all bytes if there are fewer. A format that `options` state is taken as it
/// is, but the dialect of CSV is detected.
///
/// # Errors
/// [`Unreadable`] if no format that is read begins like this.
pub fn detect(
    head: &[u8],
    name: Option<&str>,
    options: &ReadOptions,
) -> Result<Detection, Unreadable> {
    if let Some(format @ (InputFormat::Text | InputFormat::Lines)) = options.format {
        let layout = log::layout_of(head, options).map(|layout| layout.name);
        return Ok(Detection {
            layout,
            ..Detection::new(format, "the format is stated".to_owned())
        });
    }
    if let Some(columnar) = columnar(head)
        && options.format.is_none_or(InputFormat::is_columnar)
    {
        return Ok(Detection::new(columnar, "it begins with magic bytes".to_owned()));
    }
    if let Some(format) = options.format.filter(|format| format.is_columnar()) {
        return Ok(Detection::new(format, "the format is stated".to_owned()));
    }
    if let Some(unreadable) = Unreadable::of_magic(head) {
        return Err(unreadable);
    }
    let text = head.strip_prefix("\u{feff}".as_bytes()).unwrap_or(head);
    let is_whole = head.len() < HEAD_BYTES;
    if let Some(format) = options.format {
        let evidence = "the format is stated".to_owned();
        return Ok(match format {
            InputFormat::Csv => {
                Detection::of_table(table::detect(text, is_whole, options), evidence)
            }
            _ => Detection::new(format, evidence),
        });
    }
    if let Some(unreadable) = Unreadable::of_nul(head) {
        return Err(unreadable);
    }
    Ok(of_text(text, is_whole, name, options))
}

/// The reason why a body of a stated format, text or JSON, is known to be neither.
///
/// # Errors
/// [`Unreadable`] if it begins like an archive or an encoding that is not read.
pub fn refuse_unreadable(head: &[u8]) -> Result<(), Unreadable> {
    match (columnar(head), Unreadable::of_magic(head)) {
        (Some(InputFormat::Parquet), _) => Err(Unreadable::Columnar("Parquet")),
        (Some(_), _) => Err(Unreadable::Columnar("Arrow IPC")),
        (None, Some(unreadable)) => Err(unreadable),
        (None, None) => Ok(()),
    }
}

fn columnar(head: &[u8]) -> Option<InputFormat> {
    let is_arrow = head.starts_with(ARROW_FILE) || head.starts_with(ARROW_STREAM);
    let parquet = head.starts_with(PARQUET).then_some(InputFormat::Parquet);
    parquet.or(is_arrow.then_some(InputFormat::Arrow))
}

/// Detects the format of a text.
fn of_text(text: &[u8], is_whole: bool, name: Option<&str>, options: &ReadOptions) -> Detection {
    if options.rows.is_some() {
        return Detection::new(InputFormat::Json, "the array of rows is stated".to_owned());
    }
    if options.regex.is_some() {
        return Detection::new(InputFormat::Text, "a regular expression is stated".to_owned());
    }
    let extension = name.and_then(extension).unwrap_or_default();
    let json = json_text::format(text).or_else(|| json_text::format_by_name(text, &extension));
    if let Some((format, evidence)) = json {
        return Detection::new(format, evidence);
    }
    let by_name = format!("its name ends with .{extension}");
    let mut options = options.clone();
    match extension.as_str() {
        "csv" => return Detection::of_table(table::detect(text, is_whole, &options), by_name),
        "tsv" | "tab" => {
            options.separator = options.separator.or(Some(b'\t'));
            return Detection::of_table(table::detect(text, is_whole, &options), by_name);
        }
        "psv" => {
            options.separator = options.separator.or(Some(b'|'));
            return Detection::of_table(table::detect(text, is_whole, &options), by_name);
        }
        _ => {}
    }
    let layout = match has_table_options(&options) {
        true => None,
        false => log::layout_of(text, &options),
    };
    let text_by = |evidence: String| {
        let layout = layout.map(|layout| layout.name);
        Detection { layout, ..Detection::new(InputFormat::Text, evidence) }
    };
    if extension == "log" && !has_table_options(&options) {
        return text_by(by_name);
    }
    if let Some(layout) = layout.filter(|layout| layout.is_specific) {
        return text_by(format!("its first lines are laid out as {}", layout.name));
    }
    let table = table::detect(text, is_whole, &options);
    if has_table_options(&options) {
        return Detection::of_table(table, "options of CSV are stated".to_owned());
    }
    match table.is_clear {
        true => Detection::of_table(table, "its first records are a table".to_owned()),
        false => text_by("it is no JSON, and no table".to_owned()),
    }
}

/// Whether options are stated that only CSV has.
const fn has_table_options(options: &ReadOptions) -> bool {
    options.separator.is_some()
        || options.quote.is_some()
        || options.escape.is_some()
        || options.comment.is_some()
        || options.decimal.is_some()
        || options.header.is_some()
}

/// The extension of a file's name in lower case, without that of a compression.
fn extension(name: &str) -> Option<String> {
    let name = name.rsplit(['/', '\\']).next()?.to_ascii_lowercase();
    let compressions = [".gz", ".gzip", ".zst", ".zstd"];
    let plain = compressions.iter().find_map(|ending| name.strip_suffix(ending));
    let (_, extension) = plain.unwrap_or(&name).rsplit_once('.')?;
    Some(extension.to_owned())
}

#[cfg(test)]
mod tests;
