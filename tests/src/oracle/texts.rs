//! Functions of strings, on lists of characters.

use hadal_query::TextFunction;
use hadal_types::{Number, Value};

/// A function of a text and further arguments that are not null.
pub(super) fn call(function: TextFunction, text: &str, rest: &[Value]) -> Option<Value> {
    let characters: Vec<char> = text.chars().collect();
    let count = i64::try_from(characters.len()).ok()?;
    let part = |from: i64, to: i64| -> String {
        let inside = (1_i64..).zip(&characters).filter(|(at, _)| (from..to).contains(at));
        inside.map(|(_, character)| *character).collect()
    };
    Some(Value::string(&match (function, rest) {
        (TextFunction::Substring, [Value::Number(from)]) => part(whole(*from), i64::MAX),
        (TextFunction::Substring, [Value::Number(from), Value::Number(length)]) => {
            let (from, length) = (whole(*from), whole(*length));
            if length < 0 {
                return None;
            }
            part(from, from.saturating_add(length))
        }
        (TextFunction::Left, [Value::Number(n)]) => match whole(*n) {
            n @ 0.. => part(1, n.saturating_add(1)),
            n => part(1, count.saturating_add(n).saturating_add(1)),
        },
        (TextFunction::Right, [Value::Number(n)]) => match whole(*n) {
            n @ 0.. => part(count.saturating_sub(n).saturating_add(1), i64::MAX),
            n => part(1_i64.saturating_sub(n), i64::MAX),
        },
        (TextFunction::Reverse, []) => characters.iter().rev().collect(),
        (TextFunction::Repeat, [Value::Number(times)]) => {
            (0..whole(*times)).map(|_| text).collect()
        }
        (TextFunction::PadStart | TextFunction::PadEnd, [Value::Number(length), rest @ ..]) => {
            let fill = if let [Value::String(fill)] = rest { fill } else { " " };
            padded(function == TextFunction::PadStart, characters, whole(*length), fill)
        }
        (TextFunction::Trim | TextFunction::TrimStart | TextFunction::TrimEnd, rest) => {
            let unwanted = if let [Value::String(unwanted)] = rest { unwanted } else { " " };
            trimmed(function, characters, unwanted)
        }
        (TextFunction::Replace, [Value::String(from), Value::String(to)]) => {
            match from.is_empty() {
                true => text.to_owned(),
                false => parts(text, from).join(to),
            }
        }
        (TextFunction::SplitPart, [Value::String(separator), Value::Number(index)]) => {
            nth(parts(text, separator), whole(*index))?
        }
        (_, rest) => return relation(function, text, rest),
    }))
}

fn whole(number: Number) -> i64 {
    let rounded = number.to_f64().round();
    match number.to_scaled(0) {
        Some(whole) => i64::try_from(whole).unwrap_or(if whole < 0 { i64::MIN } else { i64::MAX }),
        None if rounded < 0.0 => i64::MIN,
        None => i64::MAX,
    }
}

fn relation(function: TextFunction, text: &str, rest: &[Value]) -> Option<Value> {
    let [Value::String(other)] = rest else { return None };
    let at = |start: usize| text[start..].starts_with(&**other);
    let mut starts = text.char_indices().map(|(start, _)| start).chain([text.len()]);
    let last = text.len().checked_sub(other.len()).filter(|start| text.is_char_boundary(*start));
    Some(match function {
        TextFunction::StartsWith => Value::Bool(at(0)),
        TextFunction::EndsWith => Value::Bool(last.is_some_and(at)),
        TextFunction::Contains => Value::Bool(starts.any(at)),
        TextFunction::Position => {
            let index = starts.position(at).map_or(0, |index| index + 1);
            Value::integer(i64::try_from(index).ok()?)
        }
        _ => return None,
    })
}

/// The parts between occurrences of `separator`, searched from left to right.
fn parts(text: &str, separator: &str) -> Vec<String> {
    let (mut parts, mut rest) = (Vec::new(), text);
    while let Some(at) = rest.find(separator).filter(|_| !separator.is_empty()) {
        parts.push(rest[..at].to_owned());
        rest = &rest[at + separator.len()..];
    }
    parts.push(rest.to_owned());
    parts
}

fn nth(parts: Vec<String>, index: i64) -> Option<String> {
    let length = i64::try_from(parts.len()).ok()?;
    let index = match index {
        0 => return None,
        1.. => index - 1,
        _ => length.checked_add(index)?,
    };
    let part = usize::try_from(index).ok().and_then(|index| parts.get(index));
    Some(part.cloned().unwrap_or_default())
}

fn padded(at_start: bool, characters: Vec<char>, length: i64, fill: &str) -> String {
    let length = usize::try_from(length.max(0)).unwrap_or(usize::MAX);
    let mut kept: Vec<char> = characters.into_iter().take(length).collect();
    let filling: Vec<char> = match fill.is_empty() {
        true => Vec::new(),
        false => fill.chars().cycle().take(length - kept.len()).collect(),
    };
    let place = if at_start { 0 } else { kept.len() };
    kept.splice(place..place, filling);
    kept.into_iter().collect()
}

fn trimmed(function: TextFunction, mut characters: Vec<char>, unwanted: &str) -> String {
    let is_unwanted = |character: Option<&char>| character.is_some_and(|c| unwanted.contains(*c));
    while function != TextFunction::TrimEnd && is_unwanted(characters.first()) {
        characters.remove(0);
    }
    while function != TextFunction::TrimStart && is_unwanted(characters.last()) {
        characters.pop();
    }
    characters.into_iter().collect()
}

/// The number that `text` spells with the decimal sign `point`, by a regular expression.
pub(super) fn to_number(text: &str, point: &str) -> Option<Value> {
    let group = match point {
        "," => r"[. '\u{a0}\u{202f}]",
        "." => r"[, '\u{a0}\u{202f}]",
        _ => return None,
    };
    let text = text.trim();
    let plain = |text: &str| text.parse().ok().map(Value::Number);
    let (whole, fraction) = match text.split_once(point) {
        Some((whole, fraction)) => (whole, format!(".{fraction}")),
        None => (text, String::new()),
    };
    let separators = regex::Regex::new(group).ok()?;
    if !separators.is_match(whole) {
        return plain(&format!("{whole}{fraction}"));
    }
    let grouped = regex::Regex::new(&format!(r"^[-+]*[^-+]{{0,3}}({group}[0-9]{{3}})+$")).ok()?;
    let digits = separators.replace_all(whole, "");
    grouped.is_match(whole).then(|| plain(&format!("{digits}{fraction}"))).flatten()
}
