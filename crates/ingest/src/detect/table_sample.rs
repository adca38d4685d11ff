//! The first records of a text in a dialect, and how much they look like a table.

use std::collections::HashMap;

use super::head_row::{are_names, differs_from_rows, typed_share};
use super::table_row::Row;
use crate::csv::{Dialect, Records};

/// The number of records that are examined.
const RECORDS_MAX: usize = 200;
/// The number of records that may stand before the head.
const TITLES_MAX: usize = 30;

/// The first records in one dialect.
pub(super) struct TableSample {
    pub(super) dialect: Dialect,
    /// The records before the head: titles and comments.
    pub(super) titles: Vec<Row>,
    /// The head, or the first row.
    pub(super) head: Vec<String>,
    pub(super) rows: Vec<Row>,
    /// The line of the head.
    pub(super) head_line: u64,
    /// The number of cells of most records.
    pub(super) width: usize,
    /// The share of records with that many cells, per mille.
    pub(super) even: usize,
    /// Whether a head follows that can be nothing else.
    pub(super) has_clear_head: bool,
    /// The number of records with text after a closing quote, the head included.
    pub(super) texts_after_quotes: usize,
}

impl TableSample {
    /// Reads the first records of `text`. `is_whole` says whether the text ends there. Titles are
    /// searched unless the dialect says how many lines are skipped.
    pub(super) fn read(text: &[u8], is_whole: bool, dialect: Dialect, finds_titles: bool) -> Self {
        let mut all = records(text, is_whole, &dialect);
        let width = usual_width(&all);
        let mut titles = Vec::new();
        if let Some(first) = title_count(&all, width).filter(|_| finds_titles) {
            let rest = all.split_off(first);
            titles = std::mem::replace(&mut all, rest);
        }
        let same = |row: &&Row| row.cells.len() == cells_of_most(&all) && width >= 2;
        let even = 1_000 * all.iter().filter(same).count() / all.len().max(1);
        let mut rows = all.into_iter();
        let head = rows.next().unwrap_or_default();
        let rows: Vec<Row> = rows.collect();
        let has_clear_head = are_names(&head.cells) && differs_from_rows(&head.cells, &rows);
        let texts_after_quotes =
            rows.iter().chain([&head]).filter(|row| row.has_text_after_quote).count();
        let (head_line, head) = (head.line, head.cells);
        Self {
            dialect,
            titles,
            head,
            rows,
            head_line,
            width,
            even,
            has_clear_head,
            texts_after_quotes,
        }
    }

    /// How much the records look like a table: rather even, rather typed, rather no titles, rather
    /// no spaces after separators, rather many columns.
    pub(super) fn score(&self) -> usize {
        if self.width < 2 {
            return 0;
        }
        let cells = || self.rows.iter().flat_map(|row| row.cells.iter().skip(1));
        let spaces = cells().filter(|cell| cell.starts_with(' ')).count();
        let spaces = 1_000 * spaces / cells().count().max(1);
        let titles = if self.titles.is_empty() { 0 } else { 150 };
        let head = if self.has_clear_head { 50 } else { 0 };
        (1_000 + self.even + head + typed_share(&self.rows) / 10 + self.width.min(20))
            .saturating_sub(titles + spaces / 20)
    }
}

/// The first records. The last one is left out if the text is cut off within it.
fn records(text: &[u8], is_whole: bool, dialect: &Dialect) -> Vec<Row> {
    let mut records = Records::new(dialect);
    let (mut rest, mut rows) = (text, Vec::new());
    loop {
        let is_end = rest.is_empty();
        if is_end && !(is_whole || rows.is_empty()) {
            break;
        }
        let (taken, has_record) = records.read(rest);
        rest = rest.get(taken..).unwrap_or_default();
        if has_record {
            let record = &mut records.record;
            let is_row = !record.is_unclosed && !record.is_too_long;
            if is_row {
                rows.push(Row {
                    line: record.line,
                    next_line: record.line + record.breaks + 1,
                    cells: record.cells().map(|cell| cell.into_owned()).collect(),
                    has_text_after_quote: record.has_text_after_quote,
                });
            }
            record.clear();
        }
        if is_end || rows.len() >= RECORDS_MAX {
            break;
        }
    }
    rows
}

/// The most frequent width of records of at least two cells; 0 if there are none. A tie goes to the
/// wider one.
fn usual_width(rows: &[Row]) -> usize {
    most_frequent(rows.iter().map(Row::width).filter(|width| *width >= 2))
}

/// The most frequent number of cells, empty ones included.
fn cells_of_most(rows: &[Row]) -> usize {
    most_frequent(rows.iter().map(|row| row.cells.len()))
}

fn most_frequent(numbers: impl Iterator<Item = usize>) -> usize {
    let mut counts: HashMap<usize, usize> = HashMap::new();
    for number in numbers {
        *counts.entry(number).or_default() += 1;
    }
    let most = counts.into_iter().max_by_key(|(number, count)| (*count, *number));
    most.map_or(0, |(number, _)| number)
}

/// The number of titles and comments before the head. `None` if there are none, or if it is not
/// clear that the record after them is a head.
fn title_count(rows: &[Row], width: usize) -> Option<usize> {
    if has_wide_title(rows, width) {
        return Some(1);
    }
    let first = rows.iter().position(|row| row.width() >= width)?;
    let (titles, rest) = rows.split_at(first);
    let (head, below) = rest.split_first()?;
    let last = titles.last().filter(|_| width >= 2 && first <= TITLES_MAX)?;
    let is_comment = |row: &Row| row.cells.first().is_some_and(|cell| cell.starts_with('#'));
    let head_cells = head.cells.get(..head.width()).unwrap_or_default();
    let has_gap = last.next_line < head.line || last.width() == 0;
    let is_apart = has_gap || titles.iter().all(is_comment);
    let is_head = are_names(head_cells) && (is_apart || differs_from_rows(head_cells, below));
    let is_narrow = titles.iter().all(|row| 2 * row.width() <= width.max(2) || is_comment(row));
    let is_title = is_narrow || (has_gap && titles.iter().all(|row| row.width() < width));
    (is_head && is_title).then_some(first)
}

/// Whether only the first record has more cells than all others, and a head follows it: a title
/// that has cells of its own.
fn has_wide_title(rows: &[Row], width: usize) -> bool {
    let [title, head, below @ ..] = rows else { return false };
    let is_even = |row: &Row| row.cells.len() == head.cells.len();
    title.width() > head.cells.len()
        && head.cells.len() >= width.max(2)
        && below.len() >= 2
        && below.iter().all(is_even)
        && are_names(&head.cells)
        && differs_from_rows(&head.cells, below)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(text: &str, separator: u8) -> TableSample {
        let dialect = Dialect { separator, ..Dialect::default() };
        TableSample::read(text.as_bytes(), true, dialect, true)
    }

    #[test]
    fn titles_stand_before_a_clear_head() {
        for (text, line) in [
            ("File: x\nCreated: y\n\nname,age\nAda,25\nBob,31\n", 4),
            ("# made by x\n# at 5\na,b\nx,y\n", 3),
            ("Sales 2024;;\n;;\nday;shop;sum\n1;x;5\n2;y;6\n", 3),
            ("Sales\nday;shop;sum\n1;x;5\n2;y;6\n", 2),
            ("TOA5,x,y,9\nTIME,n\nTS,mm\n2026-11-21,7\n2026-11-22,8\n2026-11-23,9\n", 2),
        ] {
            let separator = if text.contains(';') { b';' } else { b',' };
            assert_eq!(sample(text, separator).head_line, line, "{text}");
        }
    }

    #[test]
    fn a_short_head_is_no_title() {
        for text in ["name\nDoe, John\nRoe, Jane\n", "a,b\n1,2,3\n4,5,6\n", "x\n1,2\n3,4\n"] {
            assert_eq!(sample(text, b',').head_line, 1, "{text}");
        }
    }

    #[test]
    fn evenness_tolerates_trailing_separators() {
        let trailing = sample("id;name;;\n1;Ada;;\n2;Bob;;\n", b';');
        assert_eq!((trailing.even, trailing.width), (1_000, 2));
        let ragged = sample("id;name;note\n1;Ada;x\n2;Bob\n3;Cy;z\n", b';');
        assert_eq!((ragged.even, ragged.width, ragged.has_clear_head), (750, 3, true));
        assert_eq!(sample("a\nb\n", b';').score(), 0);
    }
}
