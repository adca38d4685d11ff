//! Aligned columns for people.

use crate::client::Answer;
use crate::terminal_escape::{fit, visible, width};

/// The maximum width of a cell if there is no terminal.
const CELL_WIDTH_MAX: usize = 100;
/// The minimum width of a cut cell. If that is not enough, columns are left out.
const CELL_WIDTH_MIN: usize = 6;
/// The text between two columns.
const GAP: &str = "  ";

/// Formats the answer as aligned columns under a head, numbers to the right. Lines have at most
/// `line_width` columns, if it is given.
pub(super) fn table(answer: &Answer, line_width: Option<usize>) -> String {
    let cell_max = line_width.unwrap_or(CELL_WIDTH_MAX);
    let cut = |text: &str| fit(text, cell_max).into_owned();
    let head: Vec<String> =
        answer.columns.iter().map(|column| cut(&visible(&column.name))).collect();
    let show = |row: &Vec<_>| row.iter().map(|value| cut(&super::show(value))).collect();
    let cells: Vec<Vec<String>> = answer.rows.iter().map(show).collect();
    let to_right: Vec<bool> =
        (0..head.len()).map(|column| super::is_numeric(answer, column)).collect();
    let of_cells = |column: usize| {
        let texts = cells.iter().filter_map(|row| row.get(column));
        texts.map(|text| width(text)).max().unwrap_or(0)
    };
    let of_cells: Vec<usize> = (0..head.len()).map(of_cells).collect();
    let mut widths: Vec<usize> =
        head.iter().zip(&of_cells).map(|(name, &cells)| cells.max(width(name))).collect();
    if let Some(line_width) = line_width {
        // A part of a number or of a time would look like another value.
        let is_whole = |column: usize| to_right[column] || answer.columns[column].is_time();
        let least = of_cells.iter().enumerate();
        let least = least.map(|(column, &cells)| if is_whole(column) { cells } else { 0 });
        widths = fitted(&widths, &least.collect::<Vec<usize>>(), line_width);
    }
    let rule: Vec<String> = widths.iter().map(|&width| "─".repeat(width)).collect();
    let mut text = String::new();
    for row in [&head, &rule].into_iter().chain(&cells) {
        text.push_str(&line(row, &widths, &to_right));
    }
    text + &left_out(&head[widths.len()..], line_width.unwrap_or(usize::MAX))
}

/// The widths that make columns fit a line. The widest columns are cut, though none below its
/// `least`. If that is not enough, the last columns are left out.
fn fitted(widths: &[usize], least: &[usize], line_width: usize) -> Vec<usize> {
    let cut = |columns: usize, most: usize| {
        let all = widths.iter().zip(least).take(columns);
        all.map(move |(&width, &least)| width.min(most.max(least)))
    };
    let fits = |columns: usize, most: usize| {
        let gaps = GAP.len() * columns.saturating_sub(1);
        cut(columns, most).sum::<usize>() + gaps <= line_width
    };
    let columns = (1..=widths.len()).rev().find(|&columns| fits(columns, CELL_WIDTH_MIN));
    let columns = columns.unwrap_or(widths.len().min(1));
    let most = (CELL_WIDTH_MIN..=line_width).rev().find(|&most| fits(columns, most));
    cut(columns, most.unwrap_or(line_width)).map(|width| width.min(line_width)).collect()
}

fn line(cells: &[String], widths: &[usize], to_right: &[bool]) -> String {
    let mut line = String::new();
    for ((text, &width_max), &to_right) in cells.iter().zip(widths).zip(to_right) {
        let text = fit(text, width_max);
        let space = " ".repeat(width_max.saturating_sub(width(&text)));
        let (before, after) = if to_right { (space.as_str(), "") } else { ("", space.as_str()) };
        line.push_str(&format!("{before}{text}{after}{GAP}"));
    }
    format!("{}\n", line.trim_end())
}

/// A line that names the columns left out.
fn left_out(names: &[String], line_width: usize) -> String {
    if names.is_empty() {
        return String::new();
    }
    let count = crate::output::count(names.len() as u64, "more column");
    let text = format!("{count}, see --format json: {}", names.join(", "));
    format!("{}\n", fit(&text, line_width))
}

#[cfg(test)]
mod tests {
    use super::super::tests::answer;
    use super::*;

    #[test]
    fn columns_are_aligned() {
        let rows = serde_json::json!([["checkout", 7], ["été\n", 12_345], [null, null]]);
        let answer = answer(&[("service", "string"), ("n", "number")], rows);
        let expected = "\
service       n
────────  ─────
checkout      7
été\\n     12345
null       null
";
        assert_eq!(table(&answer, None), expected);
        assert_eq!(table(&answer, Some(15)), expected);
    }

    #[test]
    fn wide_characters_are_aligned() {
        let rows = serde_json::json!([["日本語", 7], ["👩\u{200d}👧", 8], ["plain", 9]]);
        let answer = answer(&[("x", "string"), ("n", "number")], rows);
        let expected = "\
x       n
──────  ─
日本語  7
👩\u{200d}👧      8
plain   9
";
        assert_eq!(table(&answer, None), expected);
    }

    #[test]
    fn names_and_cells_cannot_steer_a_terminal() {
        let rows = serde_json::json!([["a\u{1b}[2J", ["\u{202e}b"]]]);
        let answer = answer(&[("x\u{7}", "string"), ("y", "set")], rows);
        let text = table(&answer, Some(80));
        assert!(text.contains("x\\u0007") && text.contains("a\\u001b[2J"), "{text}");
        assert!(text.contains("[\\u202eb]"), "{text}");
    }

    #[test]
    fn long_cells_are_cut() {
        let long = answer(&[("x", "string")], serde_json::json!([["é".repeat(500)]]));
        let last = |line_width| table(&long, line_width).lines().last().map(str::to_owned);
        assert_eq!(last(None), Some("é".repeat(99) + "…"));
        assert_eq!(last(Some(40)), Some("é".repeat(39) + "…"));
        assert_eq!(last(Some(600)), Some("é".repeat(500)));
    }

    #[test]
    fn a_table_fits_its_terminal() {
        let rows =
            serde_json::json!([["2026-11-21T00:00:00Z", 200, "日".repeat(60), "x".repeat(90)]]);
        let columns =
            [("time", "time"), ("count(status)", "number"), ("text", "string"), ("y", "string")];
        let answer = answer(&columns, rows);
        for line_width in 1..200 {
            let text = table(&answer, Some(line_width));
            let widest = text.lines().map(width).max().expect("lines");
            assert!(widest <= line_width, "{widest} of {line_width}:\n{text}");
        }
        let expected = "\
time                  count…  text    y
────────────────────  ──────  ──────  ──────
2026-11-21T00:00:00Z     200  日日…   xxxxx…
";
        assert_eq!(table(&answer, Some(44)), expected);
    }

    #[test]
    fn columns_without_room_are_named() {
        let columns: Vec<(String, &str)> =
            (0..9).map(|column| (format!("column{column}"), "string")).collect();
        let columns: Vec<(&str, &str)> =
            columns.iter().map(|(name, kind)| (name.as_str(), *kind)).collect();
        let answer = answer(&columns, serde_json::json!([vec!["v"; 9]]));
        let text = table(&answer, Some(60));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[2].matches('v').count(), 7, "{text}");
        assert_eq!(lines[3], "2 more columns, see --format json: column7, column8");
    }

    #[test]
    fn nothing_is_still_a_head() {
        let none = answer(&[("x", "string")], serde_json::json!([]));
        assert_eq!(table(&none, None), "x\n─\n");
    }
}
