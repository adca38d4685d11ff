//! Decides whether the first record of a table names the columns, and whether titles stand before.

use super::table_row::Row;
use crate::time::is_time_text;

/// The years that numeric names may be.
const YEARS: std::ops::RangeInclusive<i64> = 1800..=2200;

/// The type of a cell, as far as it distinguishes rows from names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CellKind {
    Empty,
    Number,
    Time,
    Truth,
    Text,
}

fn kind(cell: &str) -> CellKind {
    let cell = cell.trim();
    let is_number = |c: char| c.is_ascii_digit() || ".,-+%$€£ '\u{a0}\u{202f}eE".contains(c);
    if cell.is_empty() || ["NULL", "NA", "N/A", "NaN", "nan", "null", "-", "\\N"].contains(&cell) {
        CellKind::Empty
    } else if !cell.contains(|c: char| c.is_ascii_digit()) {
        let is_truth = ["true", "false"].iter().any(|truth| cell.eq_ignore_ascii_case(truth));
        if is_truth { CellKind::Truth } else { CellKind::Text }
    } else if is_time_text(cell) || is_date(cell) {
        CellKind::Time
    } else if cell.chars().all(is_number) && !cell.starts_with(['e', 'E']) {
        CellKind::Number
    } else {
        CellKind::Text
    }
}

/// Whether a cell is digits with marks of dates or times between them, such as `27.03.2003 14:55`.
fn is_date(cell: &str) -> bool {
    let parts = cell.split(['.', '/', '-', ':', ' ', 'T']);
    let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let count = parts.clone().count();
    (3..=7).contains(&count) && parts.clone().all(is_digits) && parts.count() == count
}

/// Whether cells can be the names of columns: distinct, none of them empty, no numbers or times.
pub(super) fn are_names(cells: &[String]) -> bool {
    let mut names: Vec<&str> = cells.iter().map(|cell| cell.trim()).collect();
    names.sort_unstable();
    let count = names.len();
    names.dedup();
    names.len() == count && cells.iter().all(|cell| kind(cell) == CellKind::Text)
}

/// The share of typed cells among those that are not empty, per mille.
pub(super) fn typed_share(rows: &[Row]) -> usize {
    let kinds = rows.iter().flat_map(|row| &row.cells).map(|cell| kind(cell));
    let kinds: Vec<CellKind> = kinds.filter(|kind| *kind != CellKind::Empty).collect();
    let typed = kinds.iter().filter(|kind| **kind != CellKind::Text).count();
    1_000 * typed / kinds.len().max(1)
}

/// Whether most cells of some column below a head are numbers, times or truth values, and the head
/// has a text there.
pub(super) fn differs_from_rows(head: &[String], rows: &[Row]) -> bool {
    let mut columns = head.iter().enumerate();
    columns
        .any(|(column, name)| kind(name) == CellKind::Text && column_kind(rows, column).is_some())
}

/// The kind of a column with numbers, times or truth values in most rows.
fn column_kind(rows: &[Row], column: usize) -> Option<CellKind> {
    let cells = rows.iter().filter_map(|row| row.cells.get(column)).map(|cell| kind(cell));
    let kinds: Vec<CellKind> = cells.filter(|kind| *kind != CellKind::Empty).collect();
    let is_most = |expected: &CellKind| {
        let count = kinds.iter().filter(|kind| *kind == expected).count();
        count > 0 && 3 * count >= 2 * kinds.len()
    };
    [CellKind::Number, CellKind::Time, CellKind::Truth].into_iter().find(is_most)
}

/// Whether the first record is a row like the others: it has numbers, times or truth values in all
/// columns that have them below, or values that come again below.
pub(super) fn is_row(head: &[String], rows: &[Row]) -> bool {
    if rows.is_empty() {
        let kinds: Vec<CellKind> = head.iter().map(|cell| kind(cell)).collect();
        return kinds.iter().any(|kind| *kind != CellKind::Empty)
            && !kinds.contains(&CellKind::Text);
    }
    if are_years(head) {
        return false;
    }
    let mut typed = 0;
    for (column, name) in head.iter().enumerate() {
        let Some(below) = column_kind(rows, column) else { continue };
        match kind(name) {
            CellKind::Empty => {}
            kind if kind == below => typed += 1,
            _ => return false,
        }
    }
    typed > 0 || comes_again(head, rows)
}

/// Whether a head has names and among them years at equal distances: a table with a column for each
/// year.
fn are_years(head: &[String]) -> bool {
    let years: Vec<i64> = head.iter().filter_map(|name| name.trim().parse().ok()).collect();
    let is_apart = |pair: &[i64]| match pair {
        [first, second] => second - first,
        _ => 0,
    };
    let steps: Vec<i64> = years.windows(2).map(is_apart).collect();
    years.len() >= 2
        && years.len() < head.len()
        && years.iter().all(|year| YEARS.contains(year))
        && steps.iter().all(|step| *step != 0 && Some(step) == steps.first())
}

/// Whether at least half of the cells come again in their columns. A head that is repeated as a
/// whole does not count.
fn comes_again(head: &[String], rows: &[Row]) -> bool {
    let others = || rows.iter().filter(|row| row.cells != head);
    let again = |(column, cell): &(usize, &String)| {
        kind(cell) != CellKind::Empty && others().any(|row| row.cells.get(*column) == Some(*cell))
    };
    let count = head.iter().enumerate().filter(again).count();
    count > 0 && 2 * count >= head.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(texts: &[&str]) -> (Vec<String>, Vec<Row>) {
        let cells = |text: &&str| text.split(';').map(str::to_owned).collect::<Vec<_>>();
        let row = |text: &&str| Row { cells: cells(text), ..Row::default() };
        (cells(&texts[0]), texts[1..].iter().map(row).collect())
    }

    #[test]
    fn a_row_is_no_head() {
        for texts in [
            &["1;2", "3;4"][..],
            &["2024-01-01;x", "2024-01-02;y"],
            &["27.03.2003 14:55;1", "03.08.2003 15:20;2"],
            &["x;1,5", "y;2,5"],
            &["GET;ok", "GET;ok", "PUT;ok"],
            &["x;true", "y;false"],
            &["1;2"],
        ] {
            let (head, rows) = rows(texts);
            assert!(is_row(&head, &rows), "{texts:?}");
        }
    }

    #[test]
    fn a_head_is_no_row() {
        for texts in [
            &["a;b", "3;4"][..],
            &["country;2019;2020", "Norway;1;2"],
            &["a;2", "x;y"],
            &["a;b", "x;y"],
            &["a;2", "3;4"],
            &["a;b", "a;b", "x;y"],
            &["a;b"],
            &["NA", "NA", "NaN"],
        ] {
            let (head, rows) = rows(texts);
            assert!(!is_row(&head, &rows), "{texts:?}");
        }
    }

    #[test]
    fn names_are_distinct_texts() {
        let names = |text: &str| are_names(&rows(&[text]).0);
        assert!(names("a;b c;d_1"));
        for none in ["a;a", "a;", "a;1", "a;2024-01-01", "a;1.5"] {
            assert!(!names(none), "{none}");
        }
        let (head, below) = rows(&["a;b", "x;1", "y;2"]);
        assert!(differs_from_rows(&head, &below));
        let (head, below) = rows(&["a;b", "x;y"]);
        assert!(!differs_from_rows(&head, &below));
    }
}
