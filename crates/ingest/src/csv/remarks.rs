//! Remarks on a CSV text: what was assumed or changed, and the option that decides otherwise.

use super::cell_type::CellType;
use super::columns::{Column, Columns};
use super::dialect::Dialect;
use crate::warning::Warning;

/// The maximum number of names in a message.
const NAMES_MAX: usize = 10;

/// All remarks on a text. They are complete at its end.
pub(super) fn remarks(columns: &Columns, dialect: &Dialect) -> Vec<Warning> {
    let mut remarks = Vec::new();
    remarks.extend(control_names(columns));
    remarks.extend(nulls(columns));
    let marked = columns.named().filter(|_| !columns.is_decimal_stated);
    remarks.extend(marked.filter_map(|(name, column)| marks(name, column)));
    remarks.extend(columns.named().filter_map(|(name, column)| odd_cells(name, column)));
    remarks.extend(long_rows(columns));
    remarks.extend(short_rows(columns));
    remarks.extend(text_after_quote(columns, dialect));
    remarks
}

fn control_names(columns: &Columns) -> Option<Warning> {
    let count = columns.control_names;
    let noun = if count == 1 { "name" } else { "names" };
    let message = format!("control characters in {count} column {noun} became blanks");
    (count > 0).then_some(Warning { code: "name_characters", count, message })
}

/// Words for null, such as `NA`.
fn nulls(columns: &Columns) -> Option<Warning> {
    let with_nulls = || columns.named().filter(|(_, column)| column.nulls > 0);
    let count: u64 = with_nulls().map(|(_, column)| column.nulls).sum();
    let noun = if with_nulls().count() == 1 { "column" } else { "columns" };
    let names = shown(with_nulls().map(|(name, _)| name));
    let cells = if count == 1 { "cell" } else { "cells" };
    let message = format!(
        "{count} {cells} such as NA or - became null in {noun} {names}; --null '' keeps such words"
    );
    (count > 0).then_some(Warning { code: "missing_number", count, message })
}

/// Numbers that are not spelled as in JSON: read, or left as text because of a doubt.
fn marks(name: &str, column: &Column) -> Option<Warning> {
    let marked = column.marked()?;
    let (code, message) = match column.cell_type {
        CellType::MarkedNumbers { decimal } => {
            let number = super::number_format::read(marked, decimal)?;
            let option = if decimal == b',' { "--decimal ." } else { "--decimal ," };
            let otherwise = match number.has_marks {
                true => format!("; {option} reads it otherwise"),
                false => String::new(),
            };
            ("number_format", format!("{marked} in column {name} is {}{otherwise}", number.json))
        }
        _ if column.is_in_doubt => (
            "number_format",
            format!(
                "column {name} is text, although it looks like numbers: {marked}; --decimal , or \
                 --decimal . makes it numbers"
            ),
        ),
        _ if column.has_several_units => {
            ("number_format", format!("column {name} is text: its numbers have several units"))
        }
        _ => return None,
    };
    Some(Warning { code, count: 1, message })
}

/// Cells that are text among numbers or truth values.
fn odd_cells(name: &str, column: &Column) -> Option<Warning> {
    let (count, values) = (column.odd, column.values);
    if count == 0 {
        return None;
    }
    let percent = match count.saturating_mul(1_000) / values.max(1) {
        0 => "less than 0.1".to_owned(),
        permille @ 1..10 => format!("0.{permille}"),
        permille => (permille / 10).to_string(),
    };
    let examples = column.examples.join(", ");
    let more = if count > column.examples.len() as u64 { ", ..." } else { "" };
    let cells = if count == 1 { "cell" } else { "cells" };
    let message = format!("{percent} % of {name} are text ({count} {cells}): {examples}{more}");
    Some(Warning { code: "odd_cells", count, message })
}

fn long_rows(columns: &Columns) -> Option<Warning> {
    let count = columns.long_rows;
    let next = columns.names.len() + 1;
    let rows = match count {
        1 => "1 row has".to_owned(),
        _ if 2 * count > columns.rows => format!("most rows ({count}) have"),
        _ => format!("{count} rows have"),
    };
    let message = format!(
        "{rows} more cells than the head; they are in column_{next} and so on; --separator, \
         --quote and --skip decide where cells and the head begin"
    );
    (count > 0).then_some(Warning { code: "long_rows", count, message })
}

fn short_rows(columns: &Columns) -> Option<Warning> {
    let count = columns.short_rows;
    let rows = if count == 1 { "row has" } else { "rows have" };
    let message = format!("{count} {rows} fewer cells than the head; the rest is null");
    (count > 0).then_some(Warning { code: "short_rows", count, message })
}

fn text_after_quote(columns: &Columns, dialect: &Dialect) -> Option<Warning> {
    let (count, line) = columns.text_after_quote;
    let rows = if count == 1 { "row has" } else { "rows have" };
    let option = match dialect.escape {
        None => "--escape '\\' if a backslash stands before such a quote, or --quote none",
        Some(_) => "--quote none takes quotes as they are",
    };
    let message =
        format!("{count} {rows} text after a closing quote, first in line {line}; {option}");
    (count > 0).then_some(Warning { code: "text_after_quote", count, message })
}

/// The first names, and dots if there are more.
fn shown<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let names: Vec<&str> = names.take(NAMES_MAX + 1).collect();
    match names.get(..NAMES_MAX) {
        Some(first) if names.len() > NAMES_MAX => format!("{}, ...", first.join(", ")),
        _ => names.join(", "),
    }
}
