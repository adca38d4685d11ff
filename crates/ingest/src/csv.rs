//! CSV (RFC 4180) to JSON text: the head names the columns, the first rows say of each what its
//! cells are.
//!
//! A column whose first cells are all numbers holds numbers, and one whose first cells are all
//! `true` or `false` truths; a later cell that is neither stays what it is, a string. All other
//! columns hold strings, so that a column of codes does not become a mixture. Empty cells are no
//! value. These are the rules of `hadal import` too.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde_json::Value;

/// What the cells of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cells {
    Numbers,
    Truths,
    Strings,
}

/// The columns of a CSV text.
#[derive(Debug)]
pub(crate) struct Table {
    /// Names as JSON strings.
    names: Vec<String>,
    cells: Vec<Cells>,
}

impl Table {
    /// The columns that a head names, judged by a sample of records.
    pub(crate) fn new<'s>(head: &str, sample: impl Iterator<Item = &'s str>) -> Self {
        let names = names(&cells(head));
        let mut columns: Vec<Option<Cells>> = vec![None; names.len()];
        for record in sample {
            for (column, cell) in columns.iter_mut().zip(cells(record)) {
                if !cell.is_empty() {
                    let own = Cells::of(&cell);
                    let before = column.unwrap_or(own);
                    *column = Some(if before == own { own } else { Cells::Strings });
                }
            }
        }
        Self {
            names: names.iter().map(|name| Value::from(name.as_str()).to_string()).collect(),
            cells: columns.into_iter().map(|cells| cells.unwrap_or(Cells::Strings)).collect(),
        }
    }

    /// A record as a JSON object.
    pub(crate) fn json(&self, record: &str) -> String {
        let mut json = String::from("{");
        for (column, cell) in cells(record).iter().enumerate().filter(|(_, cell)| !cell.is_empty())
        {
            if json.len() > 1 {
                json.push(',');
            }
            match self.names.get(column) {
                Some(name) => json.push_str(name),
                // Cells beyond the head get a name of their own.
                None => json.push_str(&format!("\"column_{}\"", column + 1)),
            }
            json.push(':');
            self.cells.get(column).copied().unwrap_or(Cells::Strings).write(cell, &mut json);
        }
        json.push('}');
        json
    }
}

impl Cells {
    fn of(cell: &str) -> Self {
        match (is_json_number(cell), truth(cell)) {
            (true, _) => Self::Numbers,
            (false, Some(_)) => Self::Truths,
            (false, None) => Self::Strings,
        }
    }

    /// Appends a cell as JSON.
    fn write(self, cell: &str, json: &mut String) {
        match (self, truth(cell)) {
            (Self::Numbers, _) if is_json_number(cell) => json.push_str(cell.trim()),
            (Self::Truths, Some(truth)) => json.push_str(if truth { "true" } else { "false" }),
            _ => json.push_str(&Value::from(cell).to_string()),
        }
    }
}

/// The columns' names: empty ones are numbered, repeated ones too.
fn names(head: &[Cow<'_, str>]) -> Vec<String> {
    let mut taken: BTreeSet<String> = BTreeSet::new();
    let name = |(column, name): (usize, &Cow<'_, str>)| {
        let name = name.trim();
        let base = if name.is_empty() { format!("column_{}", column + 1) } else { name.to_owned() };
        let numbered = (2..).map(|number| format!("{base}_{number}"));
        let free = std::iter::once(base.clone()).chain(numbered).find(|name| !taken.contains(name));
        let name = free.unwrap_or(base);
        taken.insert(name.clone());
        name
    };
    head.iter().enumerate().map(name).collect()
}

/// The cells of a record. A quote counts where a cell begins; what follows its end, up to the
/// comma, is taken as it is.
fn cells(record: &str) -> Vec<Cow<'_, str>> {
    let mut cells = Vec::new();
    let mut rest = Some(record);
    while let Some(text) = rest {
        let cell;
        (cell, rest) = match text.strip_prefix('"') {
            None => plain(text),
            Some(quoted) => unquoted(quoted),
        };
        cells.push(cell);
    }
    cells
}

/// A cell up to the comma, and what follows that.
fn plain(text: &str) -> (Cow<'_, str>, Option<&str>) {
    match text.split_once(',') {
        Some((cell, rest)) => (cell.into(), Some(rest)),
        None => (text.into(), None),
    }
}

/// A cell after its first quote, and what follows the comma after it.
fn unquoted(mut text: &str) -> (Cow<'_, str>, Option<&str>) {
    let mut cell = String::new();
    while let Some((part, rest)) = text.split_once('"') {
        cell.push_str(part);
        match rest.strip_prefix('"') {
            Some(rest) => {
                cell.push('"');
                text = rest;
            }
            None => {
                let (more, rest) = plain(rest);
                return ((cell + &more).into(), rest);
            }
        }
    }
    ((cell + text).into(), None)
}

fn truth(cell: &str) -> Option<bool> {
    let is = |word: &str| cell.trim().eq_ignore_ascii_case(word);
    if is("true") { Some(true) } else { is("false").then_some(false) }
}

/// Whether a cell is spelled like a number in JSON; `007` and `1.` are not, they are strings.
fn is_json_number(cell: &str) -> bool {
    let cell = cell.trim();
    cell.starts_with(|c: char| c == '-' || c.is_ascii_digit())
        && serde_json::from_str::<serde_json::Number>(cell).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(lines: &[&str]) -> Vec<String> {
        let (head, records) = lines.split_first().expect("a head");
        let table = Table::new(head, records.iter().copied());
        records.iter().map(|record| table.json(record)).collect()
    }

    #[test]
    fn columns_are_numbers_truths_or_strings() {
        assert_eq!(
            rows(&["n,ok,zip,mixed", "1,true,007,5", "-2.50,FALSE,123,x", ",,,"]),
            [
                r#"{"n":1,"ok":true,"zip":"007","mixed":"5"}"#,
                r#"{"n":-2.50,"ok":false,"zip":"123","mixed":"x"}"#,
                "{}",
            ]
        );
    }

    #[test]
    fn cells_beyond_the_sample_stay_what_they_are() {
        let table = Table::new("n,b", ["1,true"].into_iter());
        assert_eq!(table.json("NA,maybe"), r#"{"n":"NA","b":"maybe"}"#);
        assert_eq!(table.json("5,false"), r#"{"n":5,"b":false}"#);
    }

    #[test]
    fn quotes_and_line_feeds_are_kept() {
        assert_eq!(
            rows(&["a,b", "\"x\ny\",\"say \"\"hi\"\"\""]),
            [r#"{"a":"x\ny","b":"say \"hi\""}"#]
        );
        assert_eq!(cells(r#""a"b,c"d,"",",""#), ["ab", "c\"d", "", ","]);
        assert_eq!(cells("\"no end"), ["no end"]);
        assert_eq!(cells(""), [""]);
        assert_eq!(cells("a,"), ["a", ""]);
    }

    #[test]
    fn odd_heads_and_rows_lose_nothing() {
        let expected = r#"{"a":1,"column_2":2,"a_2":3,"column_4":"4"}"#;
        assert_eq!(rows(&["a,,a", "1,2,3,4", "5"]), [expected, r#"{"a":5}"#]);
        let number = "123456789012345678901234567890.5";
        assert_eq!(rows(&["n", number]), [format!("{{\"n\":{number}}}")]);
    }
}
