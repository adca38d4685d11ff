//! Aligned columns for people.

use serde_json::Value;

use crate::client::Answer;

/// Characters of one cell that are shown.
const CELL_CHARS_MAX: usize = 100;

/// The answer as aligned columns under a head; numbers to the right.
pub(super) fn table(answer: &Answer) -> String {
    let head: Vec<String> = answer.columns.iter().map(|column| cell(&column.name)).collect();
    let cells: Vec<Vec<String>> =
        answer.rows.iter().map(|row| row.iter().map(show).collect()).collect();
    let width = |column: usize| {
        let of_rows = cells.iter().filter_map(|row| row.get(column)).map(|text| width(text));
        of_rows.chain([width(&head[column])]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let to_right: Vec<bool> = (0..head.len()).map(|column| is_numeric(answer, column)).collect();
    let rule: Vec<String> = widths.iter().map(|&width| "─".repeat(width)).collect();
    let mut text = String::new();
    for row in [&head, &rule].into_iter().chain(&cells) {
        text.push_str(&line(row, &widths, &to_right));
    }
    text
}

fn line(cells: &[String], widths: &[usize], to_right: &[bool]) -> String {
    let mut line = String::new();
    for ((text, &width_max), &to_right) in cells.iter().zip(widths).zip(to_right) {
        let space = " ".repeat(width_max.saturating_sub(width(text)));
        let (before, after) = if to_right { (space.as_str(), "") } else { ("", space.as_str()) };
        line.push_str(&format!("{before}{text}{after}  "));
    }
    format!("{}\n", line.trim_end())
}

fn is_numeric(answer: &Answer, column: usize) -> bool {
    let mut values = answer.rows.iter().filter_map(|row| row.get(column));
    values.any(Value::is_number)
}

fn show(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::String(text) => cell(text),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(show).collect();
            cell(&format!("[{}]", items.join(", ")))
        }
        other => cell(&other.to_string()),
    }
}

/// The text in one line of bounded length; control characters could move the cursor.
fn cell(text: &str) -> String {
    let clean = |c: char| if c.is_control() { ' ' } else { c };
    if text.chars().count() <= CELL_CHARS_MAX {
        return text.chars().map(clean).collect();
    }
    text.chars().take(CELL_CHARS_MAX - 1).map(clean).chain(['…']).collect()
}

/// Characters of a text: a fair measure of its width on most terminals.
fn width(text: &str) -> usize {
    text.chars().count()
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
été       12345
null       null
";
        assert_eq!(table(&answer), expected);
    }

    #[test]
    fn long_cells_are_cut() {
        let long = answer(&[("x", "string")], serde_json::json!([["é".repeat(500)]]));
        let last = table(&long).lines().last().expect("a line").to_owned();
        assert_eq!(last, "é".repeat(99) + "…");
    }

    #[test]
    fn nothing_is_still_a_head() {
        let none = answer(&[("x", "string")], serde_json::json!([]));
        assert_eq!(table(&none), "x\n─\n");
    }
}
