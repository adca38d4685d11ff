//! Functions of strings. The rules for nulls and odd arguments are those of PostgreSQL 17 (section
//! 9.4 of its manual), but an argument that is an error there makes the result null.

use hadal_types::limits::COMPUTED_STRING_BYTES_MAX;
use hadal_types::{Number, Value};

use crate::string_limit::{self, StringTooLong};
use crate::url;

/// A function of strings. Positions and lengths are in characters; the first position is 1.
/// Fractions of positions and lengths are rounded.
///
/// A null argument gives null.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TextFunction {
    /// The characters from a position on; the optional third argument is their maximum number.
    /// Positions before the first count too: (s, 0, 2) is one character. Null for a negative
    /// number.
    Substring,
    /// The first n characters; without the last n for a negative number.
    Left,
    /// The last n characters; without the first n for a negative number.
    Right,
    /// Without the spaces at both ends, or without the characters of the second argument.
    Trim,
    /// The same at the start only.
    TrimStart,
    /// The same at the end only.
    TrimEnd,
    /// The string with every occurrence of the second argument replaced by the third.
    Replace,
    /// The nth of the parts between occurrences of the second argument, from the end for a negative
    /// number; empty beyond the parts, null for 0.
    SplitPart,
    /// The position at which the second argument occurs first; 0 if it does not.
    Position,
    /// Whether the string starts with the second argument.
    StartsWith,
    /// Whether it ends with the second argument.
    EndsWith,
    /// Whether it contains the second argument.
    Contains,
    /// The characters in reverse order.
    Reverse,
    /// The string n times.
    Repeat,
    /// Filled up at the start to n characters with spaces, or with the third argument; cut at the
    /// end if it is longer.
    PadStart,
    /// The same, filled up at the end.
    PadEnd,
    /// The host of a URL in lower case; null if there is none.
    UrlHost,
    /// The path of a URL as written, `/` if it is empty beside a host.
    UrlPath,
    /// The decoded value of the parameter of a URL that the second argument names: the first if
    /// there are several, null if there is none.
    UrlParameter,
}

/// Computes `function` of `arguments`; a wrong number or wrong types of arguments give null.
///
/// # Errors
/// [`StringTooLong`]. Memory is not allocated for such a string.
pub(crate) fn eval(function: TextFunction, arguments: &[Value]) -> Result<Value, StringTooLong> {
    let Some((Value::String(text), rest)) = arguments.split_first() else {
        return Ok(Value::Null);
    };
    Ok(match (function, rest) {
        (TextFunction::Reverse, []) => string(&text.chars().rev().collect::<String>()),
        (TextFunction::UrlHost, []) => or_null(url::host(text)),
        (TextFunction::UrlPath, []) => string(url::path(text)),
        (TextFunction::UrlParameter, [Value::String(name)]) => or_null(url::parameter(text, name)),
        (_, [] | [Value::String(_)]) if let Some(trimmed) = trim(function, text, rest) => {
            string(trimmed)
        }
        (_, [Value::Number(number), more @ ..]) => {
            return Ok(with_number(function, text, whole(*number), more)?.unwrap_or(Value::Null));
        }
        (TextFunction::Replace, [Value::String(from), Value::String(to)]) => {
            return replace(text, from, to);
        }
        (TextFunction::SplitPart, [Value::String(separator), Value::Number(index)]) => {
            split_part(text, separator, whole(*index)).map_or(Value::Null, string)
        }
        (_, [Value::String(other)]) => relation(function, text, other).unwrap_or(Value::Null),
        _ => Value::Null,
    })
}

fn string(text: &str) -> Value {
    Value::string(text)
}

fn or_null(text: Option<String>) -> Value {
    text.map_or(Value::Null, |text| string(&text))
}

/// The nearest integer; the first or last one of 64 bits if the number is beyond them.
fn whole(number: Number) -> i64 {
    let edge = if number < Number::ZERO { i64::MIN } else { i64::MAX };
    number.to_scaled(0).and_then(|whole| i64::try_from(whole).ok()).unwrap_or(edge)
}

fn trim<'t>(function: TextFunction, text: &'t str, characters: &[Value]) -> Option<&'t str> {
    let characters = match characters {
        [Value::String(characters)] => characters,
        _ => " ",
    };
    let is_trimmed = |character: char| characters.contains(character);
    Some(match function {
        TextFunction::Trim => text.trim_matches(is_trimmed),
        TextFunction::TrimStart => text.trim_start_matches(is_trimmed),
        TextFunction::TrimEnd => text.trim_end_matches(is_trimmed),
        _ => return None,
    })
}

fn relation(function: TextFunction, text: &str, other: &str) -> Option<Value> {
    Some(match function {
        TextFunction::StartsWith => Value::Bool(text.starts_with(other)),
        TextFunction::EndsWith => Value::Bool(text.ends_with(other)),
        TextFunction::Contains => Value::Bool(text.contains(other)),
        TextFunction::Position => {
            let before = text.find(other).map(|at| text[..at].chars().count() + 1);
            Value::integer(i64::try_from(before.unwrap_or(0)).ok()?)
        }
        _ => return None,
    })
}

/// Functions whose second argument is a number.
fn with_number(
    function: TextFunction,
    text: &str,
    number: i64,
    more: &[Value],
) -> Result<Option<Value>, StringTooLong> {
    Ok(match (function, more) {
        (TextFunction::Substring, []) => Some(string(characters(text, number, i64::MAX))),
        (TextFunction::Substring, [Value::Number(length)]) => match whole(*length) {
            ..0 => None,
            length => Some(string(characters(text, number, number.saturating_add(length)))),
        },
        (TextFunction::Left, []) => Some(string(match number {
            ..0 => characters(text, 1, count(text).saturating_add(number).saturating_add(1)),
            _ => characters(text, 1, number.saturating_add(1)),
        })),
        (TextFunction::Right, []) => Some(string(match number {
            ..0 => characters(text, 1_i64.saturating_sub(number), i64::MAX),
            _ => characters(text, count(text).saturating_sub(number).saturating_add(1), i64::MAX),
        })),
        (TextFunction::Repeat, []) => Some(repeat(text, number)?),
        (TextFunction::PadStart | TextFunction::PadEnd, []) => {
            Some(pad(function, text, number, " ")?)
        }
        (TextFunction::PadStart | TextFunction::PadEnd, [Value::String(fill)]) => {
            Some(pad(function, text, number, fill)?)
        }
        _ => None,
    })
}

fn count(text: &str) -> i64 {
    i64::try_from(text.chars().count()).unwrap_or(i64::MAX)
}

/// The characters from position `from` up to, but without, position `to`.
fn characters(text: &str, from: i64, to: i64) -> &str {
    // The byte at which the character of a position begins; the length beyond the last one.
    let offset = |position: i64| match usize::try_from(position.saturating_sub(1)) {
        Ok(index) => text.char_indices().nth(index).map_or(text.len(), |(offset, _)| offset),
        Err(_) => 0,
    };
    text.get(offset(from)..offset(to)).unwrap_or_default()
}

/// Refuses a string of `bytes` bytes if that is too long.
fn check(bytes: Option<usize>) -> Result<(), StringTooLong> {
    match bytes {
        Some(bytes) if bytes <= COMPUTED_STRING_BYTES_MAX => Ok(()),
        _ => Err(StringTooLong),
    }
}

fn replace(text: &str, from: &str, to: &str) -> Result<Value, StringTooLong> {
    if from.is_empty() {
        return Ok(string(text));
    }
    let occurrences = text.matches(from).count();
    let kept = text.len() - occurrences * from.len();
    check(occurrences.checked_mul(to.len()).and_then(|added| kept.checked_add(added)))?;
    string_limit::checked(text.replace(from, to))
}

fn repeat(text: &str, times: i64) -> Result<Value, StringTooLong> {
    let times = usize::try_from(times.max(0)).unwrap_or(usize::MAX);
    check(text.len().checked_mul(times))?;
    Ok(string(&text.repeat(times)))
}

fn pad(
    function: TextFunction,
    text: &str,
    length: i64,
    fill: &str,
) -> Result<Value, StringTooLong> {
    let missing = usize::try_from(length.saturating_sub(count(text)));
    let missing = match missing {
        Ok(missing) if missing > 0 && !fill.is_empty() => missing,
        Ok(0) | Err(_) => return Ok(string(characters(text, 1, length.max(0) + 1))),
        Ok(_) => return Ok(string(text)),
    };
    check(Some(missing))?;
    let filling: String = fill.chars().cycle().take(missing).collect();
    string_limit::checked(match function {
        TextFunction::PadStart => filling + text,
        _ => text.to_owned() + &filling,
    })
}

fn split_part<'t>(text: &'t str, separator: &str, index: i64) -> Option<&'t str> {
    let from = |index: i64| usize::try_from(index - 1).ok();
    if separator.is_empty() {
        return match index {
            0 => None,
            1 | -1 => Some(text),
            _ => Some(""),
        };
    }
    Some(match index {
        0 => return None,
        1.. => text.split(separator).nth(from(index)?).unwrap_or_default(),
        _ => text.rsplit(separator).nth(from(index.checked_neg()?)?).unwrap_or_default(),
    })
}

#[cfg(test)]
mod tests;
