//! JSON at the end of a line: its members are columns.

use std::fmt;

use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::fields::Fields;
use super::level;
use super::logfmt::{LEVEL_NAMES, TIME_NAMES};
use super::times::Times;

/// The most places of a line at which an object may begin.
const STARTS_MAX: usize = 4;

/// Seconds of this century, for times that are numbers.
const USUAL_SECONDS: std::ops::Range<f64> = 946_684_800.0..4_102_444_800.0;

/// Whether a line is a complete JSON object.
pub(super) fn is_object(line: &str) -> bool {
    line.starts_with('{') && serde_json::from_str::<IgnoredAny>(line).is_ok()
}

/// Whether a text ends with a JSON object that has members, or is one.
pub(super) fn is_there(text: &str) -> bool {
    text.trim_end().ends_with('}')
        && objects(text).is_some_and(|mut all| all.any(|m| !m.is_empty()))
}

/// Adds the members of the objects at the end of a line as columns. The objects have spaces or
/// empty arrays between them. A time in them is the event's, also if the line has another one.
pub(super) fn read(text: &str, times: &Times, fields: &mut Fields) {
    if !text.ends_with(['}', ']', ' ', '\t']) {
        return;
    }
    let Some(objects) = objects(text) else { return };
    for (name, value) in objects.flatten() {
        if fields.is_full() {
            return;
        }
        add(&name, value.get(), times, fields);
    }
}

fn add(name: &str, value: &str, times: &Times, fields: &mut Fields) {
    let text = value.starts_with('"').then(|| serde_json::from_str::<String>(value).ok()).flatten();
    let word = text.as_deref().unwrap_or(value);
    let is_time_name = TIME_NAMES.contains(&name);
    if is_time_name && (text.is_some() || is_usual_number(value)) && times.try_set(word, fields) {
        return;
    }
    let is_scalar = !value.starts_with(['{', '[']) && value != "null";
    if LEVEL_NAMES.contains(&name) && is_scalar && !fields.has("level") {
        return level::add(fields, word);
    }
    if value != "null" {
        fields.raw(name, value);
    }
}

/// Whether a number is a time of this century in seconds, milliseconds, microseconds or
/// nanoseconds.
fn is_usual_number(value: &str) -> bool {
    let number = value.parse().unwrap_or(0.0);
    [1.0, 1e3, 1e6, 1e9].iter().any(|unit| USUAL_SECONDS.contains(&(number / unit)))
}

type Members<'j> = Vec<(String, &'j RawValue)>;

/// The objects at the end of a text, from the first place where they can begin.
fn objects(text: &str) -> Option<impl Iterator<Item = Members<'_>>> {
    let starts = text.match_indices('{').map(|(at, _)| at);
    let is_start = |at: &usize| {
        *at == 0 || matches!(text.as_bytes()[*at - 1], b' ' | b'\t' | b':' | b'=' | b'|')
    };
    let mut starts = starts.filter(is_start).take(STARTS_MAX);
    starts.find_map(|start| all_objects(&text[start..])).map(Vec::into_iter)
}

/// The objects of a text that has nothing else but empty arrays.
fn all_objects(text: &str) -> Option<Vec<Members<'_>>> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<&RawValue>();
    let mut all = Vec::new();
    for value in values.by_ref() {
        match value.ok()?.get() {
            "[]" => {}
            object if object.starts_with('{') => all.push(members(object)?),
            _ => return None,
        }
    }
    Some(all)
}

/// The members of an object, in order.
fn members(object: &str) -> Option<Members<'_>> {
    struct Object;
    impl<'j> Visitor<'j> for Object {
        type Value = Members<'j>;

        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("an object")
        }

        fn visit_map<A: MapAccess<'j>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut members = Vec::new();
            while let Some(member) = map.next_entry()? {
                members.push(member);
            }
            Ok(members)
        }
    }
    serde_json::Deserializer::from_str(object).deserialize_map(Object).ok()
}

#[cfg(test)]
mod tests {
    use hadal_types::Micros;

    use super::*;
    use crate::read_options::ReadOptions;

    fn read_all(line: &str) -> (Option<Micros>, String) {
        let mut fields = Fields::default();
        read(line, &Times::new(&ReadOptions::default(), Micros(0)), &mut fields);
        let members = String::from_utf8(fields.members().to_vec()).expect("UTF-8");
        (fields.time, members)
    }

    #[test]
    fn members_become_columns() {
        for (line, expected) in [
            (r#"done {"a": 1, "b":{"c":null}}"#, r#""a":1,"b":{"c":null},"#),
            (r#"x {"a":1} []"#, r#""a":1,"#),
            (r#"x {"a":1} {"b":"}"}"#, r#""a":1,"b":"}","#),
            (r#"x [] []"#, ""),
            (r#"{"level":30,"message":"m"}"#, r#""level":"info","msg":"m","#),
            (r#"{x} {"a":1}"#, r#""a":1,"#),
            (r#"x {"a":1} and more"#, ""),
            (r#"x {"a":1"#, ""),
            (r#"x{"a":1}"#, ""),
        ] {
            assert_eq!(read_all(line).1, expected, "{line}");
        }
    }

    #[test]
    fn a_time_in_the_object_is_the_event_s() {
        let time = |line| read_all(line).0;
        assert!(time(r#"x {"time":"2026-11-21T03:51:42Z"}"#).is_some());
        assert_eq!(read_all(r#"x {"time":0.35}"#), (None, r#""time_2":0.35,"#.to_owned()));
        assert_eq!(time(r#"x {"t":"monday"}"#), None);
    }

    #[test]
    fn many_brackets_are_not_tried() {
        let line = " {".repeat(100_000);
        assert_eq!(read_all(&line), (None, String::new()));
        assert!(!is_there(&line));
    }
}
