//! Detects the format of a file by its beginning and its name.

use std::path::Path;

use hadal_ingest::InputFormat;

use super::json_document;

/// The first bytes of Parquet and Arrow files, and of Arrow streams: a mark before the length of a
/// schema.
const PARQUET: &[u8] = b"PAR1";
pub(super) const ARROW_FILE: &[u8] = b"ARROW1";
const ARROW_STREAM: &[u8] = &[0xff, 0xff, 0xff, 0xff];

/// The number of lines that are examined.
const LINES: usize = 20;

/// Returns the format of a file that begins with `head`. The extension of the name decides between
/// formats that the text could have. `has_names` says whether the first line of a table names its
/// columns.
pub(super) fn detect(head: &[u8], path: &Path, has_names: bool) -> (InputFormat, Option<u8>) {
    let format = format(head, path, has_names);
    (format, (format == InputFormat::Csv).then(|| separator(head, has_names)).flatten())
}

fn format(head: &[u8], path: &Path, has_names: bool) -> InputFormat {
    if head.starts_with(PARQUET) {
        return InputFormat::Parquet;
    }
    if head.starts_with(ARROW_FILE) || head.starts_with(ARROW_STREAM) {
        return InputFormat::Arrow;
    }
    let text = head.strip_prefix("\u{feff}".as_bytes()).unwrap_or(head).trim_ascii_start();
    if text.first() == Some(&b'{') {
        if json_document::is_feature_collection(text) {
            return InputFormat::GeoJson;
        }
        let first = text.split(|&byte| byte == b'\n').next().unwrap_or_default();
        let is_whole = serde_json::from_slice::<serde::de::IgnoredAny>(first).is_ok();
        return if is_whole || first.len() == text.len() {
            InputFormat::JsonLines
        } else {
            InputFormat::Json
        };
    }
    if begins_array(text) {
        return InputFormat::Json;
    }
    let name = path.to_string_lossy().to_ascii_lowercase();
    let name = name.strip_suffix(".gz").or(name.strip_suffix(".zst")).unwrap_or(&name);
    match name.rsplit_once('.').map(|(_, ending)| ending) {
        Some("csv" | "tsv") => InputFormat::Csv,
        Some("log" | "txt") => InputFormat::Text,
        _ if separator(text, has_names).is_some() => InputFormat::Csv,
        _ => InputFormat::Text,
    }
}

/// Whether a text begins like an array of objects, and not like a line of a log.
pub(super) fn begins_array(text: &[u8]) -> bool {
    let rest = text.trim_ascii_start().strip_prefix(b"[").map(<[u8]>::trim_ascii_start);
    rest.is_some_and(|rest| matches!(rest.first(), Some(b'{' | b']')))
}

/// The separator that splits all first lines into the same number of fields, at least two. If
/// `has_names`, the fields of the first line must be distinct names.
pub(super) fn separator(text: &[u8], has_names: bool) -> Option<u8> {
    b",\t;".iter().copied().find(|separator| is_table(text, *separator, has_names))
}

fn is_table(text: &[u8], separator: u8, has_names: bool) -> bool {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(separator)
        .from_reader(text);
    let records: Vec<csv::StringRecord> =
        reader.records().take(LINES).map_while(Result::ok).collect();
    // The last record may be cut off.
    let whole = if records.len() > 2 { &records[..records.len() - 1] } else { &records };
    let Some(head) = whole.first() else { return false };
    let mut names: Vec<&str> = head.iter().map(str::trim).collect();
    names.sort_unstable();
    names.dedup();
    let are_names = names.len() == head.len()
        && names.iter().all(|name| !name.starts_with(|c: char| c.is_ascii_digit()));
    let is_head = !has_names || (whole.len() >= 2 && are_names);
    head.len() >= 2 && is_head && whole.iter().all(|r| r.len() == head.len())
}
