//! Small charts of Unicode blocks: a sparkline where rows are a series, bars where they are not.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::client::Answer;

/// Eighths of a block, from below.
const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Points of one sparkline; more are averaged.
const POINTS_MAX: usize = 100;
/// Lines that are drawn.
const LINES_MAX: usize = 20;
/// Blocks of the longest bar.
const BAR_BLOCKS: f64 = 40.0;

/// A chart of the answer, or nothing where none fits: one line per group over the column of time,
/// else one bar per row; of the last column of numbers.
pub(super) fn chart(answer: &Answer) -> String {
    let numeric = |column: &usize| {
        *column > 0
            && !answer.columns[*column].is_time()
            && answer.rows.iter().any(|row| row.get(*column).is_some_and(Value::is_number))
    };
    let Some(values) = (0..answer.columns.len()).rev().find(numeric) else { return String::new() };
    let time = answer.columns.iter().position(|column| column.is_time());
    match time {
        Some(time) => lines(answer, time, values),
        None => bars(answer, values),
    }
}

fn number(row: &[Value], column: usize) -> Option<f64> {
    row.get(column)?.as_f64()
}

/// The columns before the values, but for the time: what tells one series from another.
fn label(row: &[Value], time: Option<usize>, values: usize) -> String {
    let parts = row
        .iter()
        .enumerate()
        .filter(|(column, value)| *column < values && Some(*column) != time && !value.is_number());
    let parts: Vec<String> = parts.map(|(_, value)| super::plain(value)).collect();
    parts.join(" ")
}

fn lines(answer: &Answer, time: usize, values: usize) -> String {
    let mut series: BTreeMap<String, BTreeMap<String, f64>> = BTreeMap::new();
    for row in &answer.rows {
        if let (Some(at), Some(value)) = (row.get(time), number(row, values)) {
            let name = label(row, Some(time), values);
            series.entry(name).or_default().insert(super::plain(at), value);
        }
    }
    if series.values().all(|points| points.len() < 3) {
        return String::new();
    }
    let width = series.keys().take(LINES_MAX).map(|name| name.chars().count()).max().unwrap_or(0);
    let mut text = format!("\n{}\n", answer.columns[values].name);
    for (name, points) in series.iter().take(LINES_MAX) {
        let points: Vec<f64> = points.values().copied().collect();
        let (low, high) = range(&points);
        let line = sparkline(&points);
        text.push_str(format!("{name:width$} {line} {low}–{high}").trim_start());
        text.push('\n');
    }
    if series.len() > LINES_MAX {
        text.push_str(&format!("and {} more\n", series.len() - LINES_MAX));
    }
    text
}

fn range(points: &[f64]) -> (f64, f64) {
    points.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &point| {
        (low.min(point), high.max(point))
    })
}

/// A line of blocks, the lowest point the lowest block.
fn sparkline(points: &[f64]) -> String {
    let step = points.len().div_ceil(POINTS_MAX).max(1);
    let means: Vec<f64> =
        points.chunks(step).map(|few| few.iter().sum::<f64>() / few.len() as f64).collect();
    let (low, high) = range(&means);
    let spread = if high > low { high - low } else { 1.0 };
    means.iter().map(|point| LEVELS[level((point - low) / spread * 7.0)]).collect()
}

/// The nearest index of a level; `level` is 0 to 7.
#[expect(clippy::cast_possible_truncation, reason = "a cast from a double saturates")]
#[expect(clippy::cast_sign_loss, reason = "a cast from a double saturates")]
fn level(level: f64) -> usize {
    (level.round() as usize).min(LEVELS.len() - 1)
}

fn bars(answer: &Answer, values: usize) -> String {
    let rows: Vec<(String, f64)> = answer
        .rows
        .iter()
        .take(LINES_MAX)
        .filter_map(|row| Some((label(row, None, values), number(row, values)?)))
        .collect();
    let highest = rows.iter().map(|(_, value)| *value).fold(0.0, f64::max);
    if rows.len() < 2 || highest <= 0.0 {
        return String::new();
    }
    let width = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let mut text = format!("\n{}\n", answer.columns[values].name);
    for (name, value) in rows {
        text.push_str(format!("{name:width$} {}", bar(value / highest * BAR_BLOCKS)).trim_end());
        text.push('\n');
    }
    text
}

/// So many blocks, to the nearest.
#[expect(clippy::cast_possible_truncation, reason = "a cast from a double saturates")]
#[expect(clippy::cast_sign_loss, reason = "a cast from a double saturates")]
fn bar(blocks: f64) -> String {
    "█".repeat(blocks.round() as usize)
}

#[cfg(test)]
mod tests {
    use super::super::tests::answer;
    use super::*;

    #[test]
    fn a_series_is_a_line_from_low_to_high() {
        let rows = serde_json::json!([["t1", 0], ["t3", 20], ["t2", 10], ["t4", null]]);
        let answer = answer(&[("minute", "time"), ("n", "number")], rows);
        assert_eq!(chart(&answer), "\nn\n▁▅█ 0–20\n");
    }

    #[test]
    fn groups_have_a_line_each() {
        let rows = serde_json::json!([
            ["t1", "b", 5, 1],
            ["t2", "b", 5, 2],
            ["t3", "b", 5, 1],
            ["t1", "a", 5, 3],
            ["t2", "a", 5, 3],
            ["t3", "a", 5, 3]
        ]);
        let columns =
            [("minute", "timestamp"), ("service", "string"), ("m", "number"), ("n", "number")];
        assert_eq!(chart(&answer(&columns, rows)), "\nn\na ▁▁▁ 3–3\nb ▁█▁ 1–2\n");
    }

    #[test]
    fn other_rows_are_bars() {
        let rows = serde_json::json!([["x", 4], ["long", 2], ["none", 0]]);
        let answer = answer(&[("name", "string"), ("n", "number")], rows);
        let (full, half) = ("█".repeat(40), "█".repeat(20));
        assert_eq!(chart(&answer), format!("\nn\nx    {full}\nlong {half}\nnone\n"));
    }

    #[test]
    fn where_nothing_fits_nothing_is_drawn() {
        let one = answer(&[("n", "number")], serde_json::json!([[4]]));
        assert_eq!(chart(&one), "");
        let text = answer(&[("a", "string"), ("b", "string")], serde_json::json!([["x", "y"]]));
        assert_eq!(chart(&text), "");
    }

    #[test]
    fn long_series_are_averaged() {
        let points: Vec<f64> = (0..1_000).map(f64::from).collect();
        assert_eq!(sparkline(&points).chars().count(), 100);
    }
}
