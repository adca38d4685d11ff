//! The shape that a JSON value must have, and the check that names the first wrong place.

use serde_json::Value;

use super::DocumentError;

/// Characters of a wrong value that an error quotes.
const QUOTED_CHARS: usize = 40;

/// The shape of a value.
pub(super) enum FieldShape {
    /// A text of at most `bytes_max` bytes.
    Text { bytes_max: usize },
    /// A word of a-z, 0-9 and _, first no digit, at most 40 characters.
    Identifier,
    /// A whole number.
    Integer { least: u64, most: u64 },
    /// A list of values of one shape.
    List { of: &'static FieldShape, count_max: usize },
    /// An object with these fields and no others.
    Object(&'static [Field]),
    /// An object with any fields.
    AnyObject,
}

/// A field of an object.
pub(super) struct Field {
    name: &'static str,
    shape: FieldShape,
    is_required: bool,
}

/// A field that must be there.
pub(super) const fn required(name: &'static str, shape: FieldShape) -> Field {
    Field { name, shape, is_required: true }
}

/// A field that may be absent.
pub(super) const fn optional(name: &'static str, shape: FieldShape) -> Field {
    Field { name, shape, is_required: false }
}

impl FieldShape {
    /// Checks a value at `place`.
    pub(super) fn check(&self, value: &Value, place: &str) -> Result<(), DocumentError> {
        let wrong = |expected: &str| {
            let quoted: String = value.to_string().chars().take(QUOTED_CHARS).collect();
            let place = if place.is_empty() { "body" } else { place };
            Err(DocumentError::new(place, format!("{quoted}; expected {expected}")))
        };
        match (self, value) {
            (Self::Text { bytes_max }, Value::String(text)) if text.len() > *bytes_max => {
                let reason = format!("{} bytes; at most {bytes_max} are allowed", text.len());
                Err(DocumentError::new(place, reason))
            }
            (Self::Text { .. }, Value::String(_)) | (Self::AnyObject, Value::Object(_)) => Ok(()),
            (Self::Text { .. }, _) => wrong("a text"),
            (Self::Identifier, Value::String(text)) if is_identifier(text) => Ok(()),
            (Self::Identifier, _) => wrong("a word of a-z, 0-9 and _, first no digit"),
            (Self::Integer { least, most }, _) => {
                match value.as_u64().is_some_and(|number| (*least..=*most).contains(&number)) {
                    true => Ok(()),
                    false => wrong(&format!("a whole number, {least} to {most}")),
                }
            }
            (Self::List { count_max, .. }, Value::Array(list)) if list.len() > *count_max => {
                let reason = format!("{} entries; at most {count_max} are allowed", list.len());
                Err(DocumentError::new(place, reason))
            }
            (Self::List { of, .. }, Value::Array(list)) => {
                let mut entries = list.iter().enumerate();
                entries.try_for_each(|(index, one)| of.check(one, &format!("{place}[{index}]")))
            }
            (Self::List { .. }, _) => wrong("a list"),
            (Self::Object(fields), Value::Object(object)) => {
                let at = |name: &str| match place {
                    "" => name.to_owned(),
                    place => format!("{place}.{name}"),
                };
                for (name, value) in object {
                    match fields.iter().find(|field| field.name == name) {
                        Some(field) => field.shape.check(value, &at(name))?,
                        None => return Err(unknown(&at(name), fields)),
                    }
                }
                let is_absent =
                    |field: &&Field| field.is_required && !object.contains_key(field.name);
                match fields.iter().find(is_absent) {
                    Some(field) => Err(DocumentError::new(&at(field.name), "missing")),
                    None => Ok(()),
                }
            }
            (Self::Object(_) | Self::AnyObject, _) => wrong("an object"),
        }
    }
}

fn unknown(place: &str, fields: &[Field]) -> DocumentError {
    let names: Vec<_> = fields.iter().map(|field| field.name).collect();
    let quoted: String = place.chars().take(QUOTED_CHARS).collect();
    DocumentError::new(&quoted, format!("unknown; fields are {}", names.join(", ")))
}

fn is_identifier(text: &str) -> bool {
    let is_first = |c: char| c.is_ascii_lowercase() || c == '_';
    text.len() <= QUOTED_CHARS
        && text.starts_with(is_first)
        && text.chars().all(|c| is_first(c) || c.is_ascii_digit())
}
