//! Evaluates string conditions once per dictionary entry, without making values.

use hadal_encoding::{Bitmap, StringDictionary};
use hadal_query::{Function, Pattern, contains_text};
use hadal_types::Value;

use crate::column::bitmaps::bits;
use crate::column::column_values::{Coded, Entries, Truths};

impl Entries<'_> {
    /// For each code, whether a string of its value contains `text`.
    pub(crate) fn containing(&self, text: &str) -> Vec<bool> {
        let needle = text.to_lowercase();
        match self {
            Self::Strings { dictionary, has_null } => {
                let contains = |entry: &str| entry.to_lowercase().contains(&needle);
                dictionary.iter().map(contains).chain(has_null.then_some(false)).collect()
            }
            Self::Lists(lists) => (0..lists.len())
                .map(|code| lists.get(code).is_some_and(|list| contains_text(list, &needle)))
                .collect(),
            Self::Values(values) => {
                values.iter().map(|value| contains_text(value, &needle)).collect()
            }
            Self::InternedIds { .. } | Self::Lifted { .. } => {
                (0..self.len()).map(|code| contains_text(&self.value(code), &needle)).collect()
            }
        }
    }
}

/// Compares the entries of a sorted dictionary with the literals; `None` if the fast form does not
/// apply.
pub(crate) fn compared(
    entries: &StringDictionary<'_>,
    function: Function,
    literals: &[&Value],
) -> Option<Bitmap> {
    if function == Function::In {
        let mut matching = Bitmap::zeros(entries.len());
        for text in texts(literals)? {
            matching.set_range(first_from(entries, text), first_after(entries, text));
        }
        return Some(matching);
    }
    let [Value::String(literal)] = literals else { return None };
    let (from, to) = match function {
        Function::Equal | Function::NotEqual => {
            (first_from(entries, literal), first_after(entries, literal))
        }
        Function::Less => (0, first_from(entries, literal)),
        Function::LessOrEqual => (0, first_after(entries, literal)),
        Function::Greater => (first_after(entries, literal), entries.len()),
        Function::GreaterOrEqual => (first_from(entries, literal), entries.len()),
        _ => return None,
    };
    let mut matching = Bitmap::zeros(entries.len());
    matching.set_range(from, to);
    if function == Function::NotEqual {
        matching.not();
    }
    Some(matching)
}

/// The index of the first entry not less than `text`.
fn first_from(entries: &StringDictionary<'_>, text: &str) -> usize {
    first_where(entries, |entry| entry >= text)
}

/// The index of the first entry greater than `text`.
fn first_after(entries: &StringDictionary<'_>, text: &str) -> usize {
    first_where(entries, |entry| entry > text)
}

/// Binary search: `is` must be false up to some entry and true from there on. Returns that entry's
/// index, or the number of entries.
fn first_where(entries: &StringDictionary<'_>, is: impl Fn(&str) -> bool) -> usize {
    let (mut from, mut to) = (0, entries.len());
    while from < to {
        let middle = from.midpoint(to);
        let entry = u32::try_from(middle).ok().and_then(|code| entries.get(code));
        match entry.is_some_and(&is) {
            true => to = middle,
            false => from = middle + 1,
        }
    }
    from
}

/// The entries that match.
pub(crate) fn matching(entries: &StringDictionary<'_>, pattern: &Pattern) -> Bitmap {
    let matching: Vec<bool> = entries.iter().map(|entry| pattern.matches(entry)).collect();
    bits(matching.len(), |code| matching[code])
}

/// Whether each row's string matches `pattern`; `None` if the values are not a dictionary of
/// strings.
pub(crate) fn matches(coded: &Coded<'_>, pattern: &Pattern) -> Option<Truths> {
    by_string(coded, |text| pattern.matches(text))
}

/// Compares each row's string with `literal`; `None` if the fast form does not apply.
pub(crate) fn compare(coded: &Coded<'_>, function: Function, literal: &Value) -> Option<Truths> {
    let Value::String(literal) = literal else { return None };
    let literal: &str = literal;
    match function {
        Function::Equal => by_string(coded, |text| text == literal),
        Function::NotEqual => by_string(coded, |text| text != literal),
        Function::Less => by_string(coded, |text| text < literal),
        Function::LessOrEqual => by_string(coded, |text| text <= literal),
        Function::Greater => by_string(coded, |text| text > literal),
        Function::GreaterOrEqual => by_string(coded, |text| text >= literal),
        _ => None,
    }
}

/// Whether each row's string is in `list`; `None` if the fast form does not apply.
pub(crate) fn is_in(coded: &Coded<'_>, list: &[&Value]) -> Option<Truths> {
    let mut list = texts(list)?;
    list.sort_unstable();
    by_string(coded, |text| list.binary_search(&text).is_ok())
}

/// The texts of the values; `None` if any value is not a string.
fn texts<'v>(values: &[&'v Value]) -> Option<Vec<&'v str>> {
    let text = |value: &&'v Value| match value {
        Value::String(text) => Some(&**text),
        _ => None,
    };
    values.iter().map(text).collect()
}

fn by_string(coded: &Coded<'_>, is: impl Fn(&str) -> bool) -> Option<Truths> {
    let Entries::Strings { dictionary, has_null } = &coded.entries else { return None };
    let mut yes: Vec<bool> = dictionary.iter().map(is).collect();
    if !has_null {
        return Some(coded.truths_by_code(&yes, &yes));
    }
    let mut possible = yes.clone();
    yes.push(false);
    possible.push(true);
    Some(coded.truths_by_code(&yes, &possible))
}
