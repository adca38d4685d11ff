//! Questions about strings, asked once per dictionary entry, without making a value of each.

use hadal_query::{Function, Pattern, contains_text};
use hadal_types::Value;

use crate::values::{Coded, Entries, Truths};

impl Entries<'_> {
    /// For each code, whether its value contains `text` in some string.
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
        }
    }
}

/// Whether each row's string matches `pattern`; `None` when the values are not a dictionary of
/// strings.
pub(crate) fn matches(coded: &Coded<'_>, pattern: &Pattern) -> Option<Truths> {
    by_string(coded, |text| pattern.matches(text))
}

/// Whether each row's string compares to `literal` as `function` says; `None` when that has to
/// be found out otherwise.
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

/// Whether each row's string is one of `list`; `None` when that has to be found out otherwise.
pub(crate) fn is_in(coded: &Coded<'_>, list: &[&Value]) -> Option<Truths> {
    let list: Vec<&str> = list
        .iter()
        .map(|value| match value {
            Value::String(text) => Some(&**text),
            _ => None,
        })
        .collect::<Option<_>>()?;
    by_string(coded, |text| list.contains(&text))
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
