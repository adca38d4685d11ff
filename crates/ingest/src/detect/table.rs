//! Detects the dialect of CSV: the separator that makes rows even, the escape of quotes, titles
//! before the head, and whether there is a head.

use super::head_row::{are_names, is_row};
use super::table_row::Row;
use super::table_sample::TableSample;
use crate::csv::Dialect;
use crate::read_options::{Quote, ReadOptions};
use crate::warning::Warning;

/// The separators that are tried.
const SEPARATORS: [u8; 6] = [b',', b';', b'\t', b'|', b'~', 1];
/// The least share of even rows, per mille, by which a text without a name is a table.
const CLEAR_EVEN_MIN: usize = 900;
/// The least share of even rows of a table, per mille.
const EVEN_MIN: usize = 300;

/// A text as a table.
pub(super) struct Table {
    pub(super) dialect: Dialect,
    /// Whether the text is a table even if nothing but its content says so.
    pub(super) is_clear: bool,
    /// The line of the head; `None` if there is none.
    pub(super) head_line: Option<u64>,
    pub(super) width: usize,
    pub(super) evidence: Vec<String>,
    pub(super) remarks: Vec<Warning>,
}

/// Detects the dialect of a text of which this is the beginning, or all if `is_whole`. Options
/// are obeyed.
pub(super) fn detect(text: &[u8], is_whole: bool, options: &ReadOptions) -> Table {
    let mut stated = Dialect::of_options(options);
    let separator_line = separator_line(text).filter(|_| options.skip.is_none());
    let mut separator = options.separator;
    if let Some(byte) = separator_line {
        stated.skip = 1;
        separator = separator.or(Some(byte));
    }
    if options.quote.is_none() && has_single_quotes(text) {
        stated.quote = Quote::Byte(b'\'');
    }
    let separators = separator.map_or_else(|| SEPARATORS.to_vec(), |byte| vec![byte]);
    let finds_titles = options.skip.is_none() && options.header != Some(false);
    let sample = |separator: &u8| {
        let dialect = Dialect { separator: *separator, ..stated };
        escaped(text, is_whole, dialect, finds_titles, options)
    };
    let samples: Vec<TableSample> = separators.iter().map(sample).collect();
    // The first of equals counts.
    let best = samples.into_iter().rev().max_by_key(TableSample::score);
    match best.filter(|best| separator.is_some() || best.even >= EVEN_MIN) {
        Some(best) => table(best, separator_line.is_some(), options),
        None => {
            let dialect = Dialect { separator: b',', ..stated };
            let one = TableSample::read(text, is_whole, dialect, false);
            table(one, false, options)
        }
    }
}

/// Reads a sample, with a backslash as the escape if that is the only way in which no text follows
/// closing quotes.
fn escaped(
    text: &[u8],
    is_whole: bool,
    dialect: Dialect,
    finds_titles: bool,
    options: &ReadOptions,
) -> TableSample {
    let plain = TableSample::read(text, is_whole, dialect, finds_titles);
    let has_escapes = memchr::memmem::find(text, b"\\\"").is_some();
    if options.escape.is_some() || options.quote.is_some() || !has_escapes {
        return plain;
    }
    let dialect = Dialect { escape: Some(b'\\'), ..dialect };
    let escaped = TableSample::read(text, is_whole, dialect, finds_titles);
    let is_better = plain.texts_after_quotes > 0
        && escaped.texts_after_quotes == 0
        && escaped.even >= plain.even;
    if is_better { escaped } else { plain }
}

/// The conclusions from the best sample.
fn table(sample: TableSample, has_separator_line: bool, options: &ReadOptions) -> Table {
    let (mut evidence, mut remarks) = (Vec::new(), Vec::new());
    let mut dialect = sample.dialect;
    let (width, rows) = (sample.width.max(1), sample.rows.len() + 1);
    if has_separator_line {
        evidence.push(format!("line 1 states the separator {}", dialect.separator_name()));
    } else if sample.width >= 2 {
        let percent = sample.even / 10;
        let separator = dialect.separator_name();
        evidence.push(format!("{separator} makes {percent} % of {rows} records equally wide"));
    }
    if let Some(title) = sample.titles.first() {
        dialect.skip = usize::try_from(sample.head_line.saturating_sub(1)).unwrap_or_default();
        remarks.push(skipped(title, &dialect));
    }
    if options.escape.is_none() && dialect.escape.is_some() {
        let message = "a backslash before a quote was taken as its escape, as with --escape '\\', \
                       because text would follow closing quotes otherwise; --quote none takes \
                       quotes as they are";
        remarks.push(Warning { code: "escape", count: 1, message: message.to_owned() });
    }
    let is_row = is_row(&sample.head, &sample.rows);
    if options.header.is_none() && is_row && sample.head_line > 0 {
        dialect.has_head = false;
        evidence.push("the first record has values like those below it".to_owned());
        remarks.push(no_head(&sample.head));
    } else if dialect.has_head && sample.has_clear_head {
        evidence.push("the head has words where the rows have numbers or times".to_owned());
    }
    if options.header.is_none() && dialect.has_head && has_row_names(&sample) {
        dialect.has_row_names = true;
        let message = "the head has a name less than the rows have cells: the first column, with \
                       the rows' names, is column_1; --no-header takes the head as a row";
        remarks.push(Warning { code: "row_names", count: 1, message: message.to_owned() });
    }
    let is_head = !is_row && are_names(&sample.head);
    let is_even = sample.width >= 2 && sample.even >= CLEAR_EVEN_MIN && !sample.rows.is_empty();
    let is_comments = sample.titles.iter().all(is_comment);
    let is_table = is_even && (is_head || is_typed_table(&sample)) && !has_objects(&sample);
    let is_clear = is_comments && is_table;
    let is_clear = is_clear || (has_separator_line && sample.width >= 2);
    let head_line = dialect.has_head.then_some(sample.head_line.max(1));
    Table { dialect, is_clear, head_line, width, evidence, remarks }
}

/// Whether the first record has the beginning of an object, as JSON after a prefix has.
fn has_objects(sample: &TableSample) -> bool {
    sample.head.iter().any(|cell| cell.contains("{\""))
}

fn is_comment(title: &Row) -> bool {
    title.cells.first().is_some_and(|cell| cell.starts_with('#'))
}

/// Whether rows without a head are a table and no log: three columns or more, mostly of numbers and
/// times.
fn is_typed_table(sample: &TableSample) -> bool {
    sample.width >= 3
        && sample.even == 1_000
        && sample.rows.len() >= 2
        && super::head_row::typed_share(&sample.rows) >= 600
}

fn skipped(title: &Row, dialect: &Dialect) -> Warning {
    let lines =
        if dialect.skip == 1 { "1 line".to_owned() } else { format!("{} lines", dialect.skip) };
    let text: String = title.cells.join(&char::from(dialect.separator).to_string());
    let excerpt: String = text.chars().take(40).collect();
    let message = format!(
        "{lines} before the head skipped: {excerpt:?} ...; --skip 0 takes them as the table"
    );
    Warning { code: "skipped_lines", count: dialect.skip as u64, message }
}

fn no_head(first: &[String]) -> Warning {
    let cells: Vec<&str> = first.iter().map(String::as_str).take(4).collect();
    let cells: String = cells.join(", ").chars().take(60).collect();
    let message = format!(
        "the first line looks like a row ({cells}), so the columns are column_1 and so on; \
         --header takes it as their names"
    );
    Warning { code: "no_head", count: 1, message }
}

/// Whether all rows have one cell more than the head, and their first cells are distinct: R writes
/// the names of rows so.
fn has_row_names(sample: &TableSample) -> bool {
    let width = sample.head.len() + 1;
    let is_wide = |row: &Row| row.cells.len() == width;
    let mut first: Vec<&str> =
        sample.rows.iter().filter_map(|row| row.cells.first()).map(String::as_str).collect();
    let count = first.len();
    first.sort_unstable();
    first.dedup();
    let has_last = |row: &Row| row.cells.last().is_some_and(|cell| !cell.is_empty());
    sample.head.len() > 1
        && count > 1
        && first.len() == count
        && sample.rows.iter().all(is_wide)
        && sample.rows.iter().any(has_last)
        && are_names(&sample.head)
        && !first.contains(&"")
}

/// The separator that the first line states for Excel: `sep=;`.
fn separator_line(text: &[u8]) -> Option<u8> {
    let end = memchr::memchr2(b'\n', b'\r', text)?;
    let line = text.get(..end)?;
    let line = line.strip_prefix(b"\"").and_then(|line| line.strip_suffix(b"\"")).unwrap_or(line);
    match line.split_at_checked(4)? {
        (name, [separator]) if name.eq_ignore_ascii_case(b"sep=") => Some(*separator),
        _ => None,
    }
}

/// Whether cells are enclosed in single quotes: no line has a double quote, and most lines begin
/// with a single one and end with one.
fn has_single_quotes(text: &[u8]) -> bool {
    if !text.starts_with(b"'") || text.contains(&b'"') {
        return false;
    }
    let lines = || text.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).take(20);
    let is_quoted = |line: &&[u8]| {
        let quotes = line.iter().filter(|&&byte| byte == b'\'').count();
        line.starts_with(b"'") && quotes >= 2 && quotes % 2 == 0
    };
    2 * lines().filter(is_quoted).count() > lines().count()
}

#[cfg(test)]
mod tests;
