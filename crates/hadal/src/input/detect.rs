//! Detects the format of a file by its beginning and its name.

use std::path::Path;

use super::json_document;

/// How rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum InputFormat {
    /// One JSON object per line.
    #[value(name = "jsonl")]
    JsonLines,
    /// A JSON array of objects, or objects one after the other over any lines.
    Json,
    /// Comma-separated values with a head line.
    Csv,
    /// The same with tabs.
    Tsv,
    /// The same with semicolons.
    #[value(name = "semicolons")]
    Semicolons,
    /// Plain lines, each the column `message`.
    Text,
    /// A GeoJSON FeatureCollection: a row for each feature.
    #[value(name = "geojson")]
    GeoJson,
    Parquet,
    /// Arrow IPC: a file (Feather) or a stream.
    Arrow,
}

impl InputFormat {
    /// Whether its rows are lines of separated cells.
    pub(super) const fn is_separated(self) -> bool {
        matches!(self, Self::Csv | Self::Tsv | Self::Semicolons)
    }

    /// Whether its rows are columns of typed values, not text.
    pub(super) const fn is_columnar(self) -> bool {
        matches!(self, Self::Parquet | Self::Arrow)
    }

    /// The byte between the cells of a line.
    pub(super) const fn separator(self) -> u8 {
        match self {
            Self::Tsv => b'\t',
            Self::Semicolons => b';',
            _ => b',',
        }
    }
}

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
pub(super) fn detect(head: &[u8], path: &Path, has_names: bool) -> InputFormat {
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
        Some("csv") => separated(text, has_names).unwrap_or(InputFormat::Csv),
        Some("tsv") => InputFormat::Tsv,
        Some("log" | "txt") => InputFormat::Text,
        _ => separated(text, has_names).unwrap_or(InputFormat::Text),
    }
}

/// Whether a text begins like an array of objects, and not like a line of a log.
pub(super) fn begins_array(text: &[u8]) -> bool {
    let rest = text.trim_ascii_start().strip_prefix(b"[").map(<[u8]>::trim_ascii_start);
    rest.is_some_and(|rest| matches!(rest.first(), Some(b'{' | b']')))
}

/// The separator that splits all first lines into the same number of fields, at least two. If
/// `has_names`, the fields of the first line must be distinct names.
fn separated(text: &[u8], has_names: bool) -> Option<InputFormat> {
    let formats = [InputFormat::Csv, InputFormat::Tsv, InputFormat::Semicolons];
    formats.into_iter().find(|format| is_table(text, format.separator(), has_names))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_tell_what_they_are() {
        let cases = [
            ("{\"a\": 1}\n{\"a\": 2}\n", "x", InputFormat::JsonLines),
            ("{\"a\": 1", "x", InputFormat::JsonLines),
            ("{\n  \"a\": 1\n}\n", "x", InputFormat::Json),
            (" [\n{\"a\": 1}]", "x.csv", InputFormat::Json),
            ("[]", "x", InputFormat::Json),
            ("{\"type\":\"FeatureCollection\",\"features\":[]}", "x", InputFormat::GeoJson),
            ("{\"type\": \"FeatureCollector\"}", "x", InputFormat::JsonLines),
            ("PAR1\u{15}", "x.csv", InputFormat::Parquet),
            ("ARROW1\0\0", "x", InputFormat::Arrow),
            ("[error] it broke\n", "x", InputFormat::Text),
            ("a,b\n1,2\n3,4\n", "x", InputFormat::Csv),
            ("a;b\n1,5;2\n3,1;4\n", "x", InputFormat::Semicolons),
            ("a;b\n1,5;2\n3,1;4\n", "x.csv.gz", InputFormat::Semicolons),
            ("a\tb\n1\t2\n", "x", InputFormat::Tsv),
            ("a\n1\n", "x.csv", InputFormat::Csv),
            ("2026-11-21 03:51:42,123 start\n2026-11-21 03:51:43,456 go\n", "x", InputFormat::Text),
            ("one, two\nthree, four, five\n", "x", InputFormat::Text),
            ("a,b\n1,2\n", "x.log", InputFormat::Text),
            ("", "x", InputFormat::Text),
        ];
        for (text, name, format) in cases {
            let detected = detect(text.as_bytes(), Path::new(name), true);
            assert_eq!(detected, format, "{text:?} {name}");
        }
        let without_names = |text: &str| detect(text.as_bytes(), Path::new("x"), false);
        assert_eq!(without_names("1\t2\n1\t4\n"), InputFormat::Tsv);
        assert_eq!(without_names("1,1\n"), InputFormat::Csv);
        assert_eq!(without_names("1\n2\n"), InputFormat::Text);
    }
}
