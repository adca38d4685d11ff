//! Small charts of Unicode blocks: sparklines for a series, otherwise bars.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashSet};

use serde_json::Value;

use super::{is_numeric, show};
use crate::client::{Answer, GROUP};
use crate::terminal_escape::{fit, visible, width};

/// Blocks of one to eight eighths height.
const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// The maximum number of points of a sparkline; more points are averaged.
const POINTS_MAX: usize = 100;
/// The minimum number of points of a sparkline, even on a narrow terminal.
const POINTS_MIN: usize = 8;
/// The maximum number of lines in a chart.
const LINES_MAX: usize = 20;
/// The maximum width of a chart in columns, even on a wide terminal.
const WIDTH_MAX: usize = 120;

/// Draws a chart of the last numeric column in lines of at most `line_width`. With a time column,
/// it has one line per group, otherwise one bar per row. Returns an empty string if no chart fits.
pub(super) fn chart(answer: &Answer, line_width: usize) -> String {
    let line_width = line_width.min(WIDTH_MAX);
    let time = answer.columns.iter().position(|column| column.is_time());
    let is_value = |column: &usize| (*column > 0 || time.is_some()) && is_numeric(answer, *column);
    let Some(values) = (0..answer.columns.len()).rev().find(is_value) else {
        return String::new();
    };
    let keys = keys(answer, time, values);
    let drawn = match time {
        Some(time) => lines(answer, time, &keys, values, line_width),
        None => bars(answer, &keys, values, line_width),
    };
    if drawn.is_empty() {
        return drawn;
    }
    format!("\n{}\n{drawn}", fit(&visible(&answer.columns[values].name), line_width))
}

/// The columns that distinguish one series or bar from another: all columns that are not numeric,
/// and as many numeric columns before the values as needed. The other numeric columns may be values
/// too.
fn keys(answer: &Answer, time: Option<usize>, values: usize) -> Vec<usize> {
    let others = || (0..answer.columns.len()).filter(|&c| c != values && Some(c) != time);
    let mut keys: Vec<usize> = others().filter(|&column| !is_numeric(answer, column)).collect();
    for column in others().filter(|&column| column < values && is_numeric(answer, column)) {
        let identifying: Vec<usize> = keys.iter().copied().chain(time).collect();
        let mut identities = HashSet::new();
        if answer.rows.iter().all(|row| identities.insert(identity(row, &identifying))) {
            break;
        }
        keys.push(column);
    }
    keys.sort_unstable();
    keys
}

/// A key that is equal only for equal values.
fn identity(row: &[Value], columns: &[usize]) -> String {
    let values: Vec<Option<&Value>> = columns.iter().map(|&column| row.get(column)).collect();
    serde_json::json!(values).to_string()
}

fn label(answer: &Answer, row: &[Value], keys: &[usize]) -> String {
    let of_kind = answer.row_kind_column();
    let kind = of_kind.and_then(|column| row.get(column)).and_then(Value::as_str);
    let kind = kind.filter(|kind| *kind != GROUP);
    let keys = keys.iter().filter(|&&column| Some(column) != of_kind);
    // A null key of a sum is no value.
    let values = keys.filter_map(|&column| row.get(column));
    let values = values.filter(|value| kind.is_none() || !value.is_null());
    let parts = values.map(show).chain(kind.map(|kind| format!("({kind})")));
    parts.collect::<Vec<String>>().join(", ")
}

/// The number in a cell. Numbers with more digits than a double holds arrive as strings.
fn number(answer: &Answer, row: &[Value], column: usize) -> Option<f64> {
    match row.get(column)? {
        Value::Number(number) => number.as_f64(),
        Value::String(digits) if answer.columns[column].is_number() => {
            digits.parse().ok().filter(|number: &f64| number.is_finite())
        }
        _ => None,
    }
}

/// One series: a line of a line chart.
struct Series<'a> {
    keys: Vec<&'a Value>,
    label: String,
    /// Pairs of time and value. Times without their zone sort as strings.
    points: Vec<(String, f64)>,
}

fn lines(answer: &Answer, time: usize, keys: &[usize], values: usize, line_width: usize) -> String {
    let mut series = series(answer, time, keys, values);
    if series.iter().all(|series| series.points.len() < 3) {
        return String::new();
    }
    let more = series.len().saturating_sub(LINES_MAX);
    series.truncate(LINES_MAX);
    let label_width = label_width(series.iter().map(|series| &series.label), line_width);
    let mut text = String::new();
    for Series { label, points, .. } in &series {
        let points: Vec<f64> = points.iter().map(|(_, value)| *value).collect();
        let (low, high) = range(&points);
        let range = format!("{}–{}", figure(low), figure(high));
        let room = line_width.saturating_sub(label_width + width(&range) + 2);
        let line = sparkline(&points, room.clamp(POINTS_MIN, POINTS_MAX));
        text.push_str(format!("{} {line} {range}", padded(label, label_width)).trim_start());
        text.push('\n');
    }
    text + &and_more(more)
}

/// The series, ordered by their keys.
fn series<'a>(answer: &'a Answer, time: usize, keys: &[usize], values: usize) -> Vec<Series<'a>> {
    let mut by_identity: BTreeMap<String, Series<'a>> = BTreeMap::new();
    for row in &answer.rows {
        let (Some(at), Some(value)) = (row.get(time), number(answer, row, values)) else {
            continue;
        };
        let new = || Series {
            keys: keys.iter().filter_map(|&column| row.get(column)).collect(),
            label: label(answer, row, keys),
            points: Vec::new(),
        };
        let series = by_identity.entry(identity(row, keys)).or_insert_with(new);
        series.points.push((show(at).trim_end_matches('Z').to_owned(), value));
    }
    let mut series: Vec<Series<'a>> = by_identity.into_values().collect();
    for series in &mut series {
        series.points.sort_by(|(left, _), (right, _)| left.cmp(right));
    }
    series.sort_by(|left, right| {
        let pairs = left.keys.iter().zip(&right.keys);
        pairs
            .map(|(left, right)| compare(left, right))
            .find(|o| o.is_ne())
            .unwrap_or(Ordering::Equal)
    });
    series
}

/// Orders numbers by value, before all other values, which are ordered as text.
fn compare(left: &Value, right: &Value) -> Ordering {
    match (left.as_f64(), right.as_f64()) {
        (Some(left), Some(right)) => left.total_cmp(&right),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => show(left).cmp(&show(right)),
    }
}

fn range(points: &[f64]) -> (f64, f64) {
    points.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &point| {
        (low.min(point), high.max(point))
    })
}

/// Formats a number in as few characters as its digits need.
fn figure(number: f64) -> String {
    match number.abs() {
        0.0 | 1e-5..1e16 => number.to_string(),
        _ => format!("{number:e}"),
    }
}

/// A line of blocks; the lowest point is the lowest block.
fn sparkline(points: &[f64], points_max: usize) -> String {
    let step = points.len().div_ceil(points_max).max(1);
    let means: Vec<f64> =
        points.chunks(step).map(|few| few.iter().sum::<f64>() / few.len() as f64).collect();
    let (low, high) = range(&means);
    let spread = if high > low { high - low } else { 1.0 };
    means.iter().map(|point| LEVELS[whole((point - low) / spread * 7.0).min(7)]).collect()
}

/// The nearest whole number.
#[expect(clippy::cast_possible_truncation, reason = "a cast from a double saturates")]
#[expect(clippy::cast_sign_loss, reason = "a cast from a double saturates")]
fn whole(number: f64) -> usize {
    number.round() as usize
}

fn bars(answer: &Answer, keys: &[usize], values: usize, line_width: usize) -> String {
    let shown = &answer.rows[..answer.rows.len().min(LINES_MAX)];
    let rows: Vec<(String, Option<f64>)> =
        shown.iter().map(|row| (label(answer, row, keys), number(answer, row, values))).collect();
    let (low, high) = range(&rows.iter().filter_map(|(_, value)| *value).collect::<Vec<f64>>());
    if rows.len() < 2 || low.min(0.0) >= high.max(0.0) {
        return String::new();
    }
    let label_width = label_width(rows.iter().map(|(label, _)| label), line_width);
    let scale = Scale::new(low, high, line_width.saturating_sub(label_width + 1));
    let mut text = String::new();
    for (label, value) in rows {
        let bar = value.map_or_else(|| "null".to_owned(), |value| scale.bar(value));
        text.push_str(format!("{} {bar}", padded(&label, label_width)).trim_end());
        text.push('\n');
    }
    text + &and_more(answer.rows.len() - shown.len())
}

/// The scale of bars. If some are negative, all start from an axis.
struct Scale {
    blocks_per_unit: f64,
    /// The number of blocks before the axis.
    before: Option<usize>,
}

impl Scale {
    /// A scale for values from `low` to `high` in `columns` columns.
    fn new(low: f64, high: f64, columns: usize) -> Self {
        let (low, high) = (low.min(0.0), high.max(0.0));
        // The axis takes one column, and both sides may be rounded up.
        let reserved = if low < 0.0 { 2 } else { 0 };
        let blocks_per_unit = columns.saturating_sub(reserved) as f64 / (high - low);
        let before = (low < 0.0).then(|| whole(-low * blocks_per_unit));
        Self { blocks_per_unit, before }
    }

    fn bar(&self, value: f64) -> String {
        let blocks = match whole(value.abs() * self.blocks_per_unit) {
            // A tiny value is still visible.
            0 if value > 0.0 => "▏".to_owned(),
            0 if value < 0.0 => "▕".to_owned(),
            blocks => "█".repeat(blocks),
        };
        match self.before {
            None => blocks,
            Some(before) if value < 0.0 => {
                let space = before.saturating_sub(width(&blocks));
                format!("{}{blocks}│", " ".repeat(space))
            }
            Some(before) => format!("{}│{blocks}", " ".repeat(before)),
        }
    }
}

/// The width of the labels in columns: as needed, and at most a third of the line.
fn label_width<'l>(labels: impl Iterator<Item = &'l String>, line_width: usize) -> usize {
    labels.map(|label| width(label)).max().unwrap_or(0).min(line_width / 3)
}

fn padded(label: &str, label_width: usize) -> String {
    let label = fit(label, label_width);
    let space = label_width.saturating_sub(width(&label));
    format!("{label}{}", " ".repeat(space))
}

fn and_more(lines: usize) -> String {
    if lines > 0 { format!("and {lines} more\n") } else { String::new() }
}

#[cfg(test)]
mod tests;
