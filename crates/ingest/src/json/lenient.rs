//! Rewrites text that is almost JSON as strict JSON objects.
//!
//! This is the slow path: it reads a record only after the strict reader has refused it. It reads
//! what people and programs write in place of JSON and what has only one meaning: several objects
//! in one line, commas around them, `data:` of server-sent events, `NaN`, Python's and JavaScript's
//! spellings, comments, and halves of surrogate pairs. Everything else is an error with its place.

use std::borrow::Cow;

use super::lenient_string::string;
use super::repaired::{Fault, NO_OBJECT, Repaired};
use crate::depth::DepthCounter;

/// The greatest nesting depth; the strict reader allows less.
const DEPTH_MAX: usize = 128;
/// Bytes that may stand around an object: white space, commas, and the mark of JSON text sequences.
const AROUND: &[u8] = b" \t\r\n,\x1e";
const BYTE_ORDER_MARK: &str = "\u{feff}";
/// The fields of server-sent events that hold no data.
const EVENT_FIELDS: [&str; 4] = ["event:", "id:", "retry:", ":"];

/// Whether a line belongs to a server-sent event but has no data: `event: ping`, `data: [DONE]`.
pub(crate) fn is_event_field(line: &str) -> bool {
    let data = line.strip_prefix("data:").map(str::trim);
    EVENT_FIELDS.iter().any(|field| line.starts_with(field))
        || data.is_some_and(|data| data.is_empty() || data == "[DONE]")
}

/// An object among several that cannot be read: its text, and why.
pub(crate) type Unreadable<'t> = (&'t str, Fault);

/// Rewrites the objects of a text.
///
/// # Errors
/// [`Fault`] if the text has anything else than objects; then none of its objects counts.
pub(crate) fn repair(text: &str) -> Result<Vec<Result<Repaired, Unreadable<'_>>>, Fault> {
    let mut reader = Reader { text, at: 0, object: Repaired::default() };
    if let Some(data) = text.trim_start().strip_prefix("data:") {
        reader.at = text.len() - data.len();
    }
    let (mut objects, mut is_array) = (Vec::new(), false);
    loop {
        reader.skip_around()?;
        match reader.peek() {
            None if is_array => return Err(reader.fault("the array does not end")),
            None if objects.is_empty() => return Err(reader.fault(NO_OBJECT)),
            None => return only_fault(objects),
            Some(b'{') => {
                let start = reader.at;
                let read = reader.object(1);
                let object = std::mem::take(&mut reader.object);
                let Err(fault) = read else {
                    objects.push(Ok(object));
                    continue;
                };
                let Some(length) = length_of_object(reader.rest_from(start)) else {
                    return Err(fault);
                };
                reader.at = start + length;
                objects.push(Err((reader.text.get(start..reader.at).unwrap_or_default(), fault)));
            }
            Some(b'[') if !is_array => (is_array, reader.at) = (true, reader.at + 1),
            Some(b']') if is_array => (is_array, reader.at) = (false, reader.at + 1),
            Some(_) if objects.is_empty() => return Err(reader.fault(NO_OBJECT)),
            Some(_) => return Err(reader.fault("text after the object")),
        }
    }
}

/// Returns the fault of an object that is alone.
fn only_fault(
    mut objects: Vec<Result<Repaired, Unreadable<'_>>>,
) -> Result<Vec<Result<Repaired, Unreadable<'_>>>, Fault> {
    match objects.pop() {
        Some(Err((_, fault))) if objects.is_empty() => Err(fault),
        last => {
            objects.extend(last);
            Ok(objects)
        }
    }
}

/// The length of the object at the beginning of a text, by its brackets.
fn length_of_object(text: &str) -> Option<usize> {
    let mut counter = DepthCounter::default();
    let end = text.bytes().position(|byte| {
        // The first byte opens a bracket, so none is closed too often.
        let _ = counter.step(byte);
        counter.depth == 0
    });
    end.map(|end| end + 1)
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    /// The object that is being rewritten.
    object: Repaired,
}

impl<'t> Reader<'t> {
    fn fault(&self, reason: &'static str) -> Fault {
        Fault::new(reason, self.at)
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn rest(&self) -> &'t str {
        self.rest_from(self.at)
    }

    fn rest_from(&self, at: usize) -> &'t str {
        self.text.get(at..).unwrap_or_default()
    }

    fn skip_around(&mut self) -> Result<(), Fault> {
        loop {
            let start = self.at;
            while self.peek().is_some_and(|byte| AROUND.contains(&byte)) {
                self.at += 1;
            }
            if self.rest().starts_with(BYTE_ORDER_MARK) {
                self.at += BYTE_ORDER_MARK.len();
            }
            self.skip_comment()?;
            if self.at == start {
                return Ok(());
            }
        }
    }

    /// Skips white space and comments within an object, and returns the next byte.
    fn next(&mut self) -> Result<u8, Fault> {
        loop {
            while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
                self.at += 1;
            }
            if !self.skip_comment()? {
                return self.peek().ok_or_else(|| self.fault("the object does not end"));
            }
        }
    }

    fn skip_comment(&mut self) -> Result<bool, Fault> {
        let rest = self.rest();
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            let end = rest.find("*/").ok_or_else(|| self.fault("the comment does not end"))?;
            end + 2
        } else {
            return Ok(false);
        };
        self.at += length;
        self.object.is_lenient = true;
        Ok(true)
    }

    fn object(&mut self, depth: usize) -> Result<(), Fault> {
        self.open(b'{', depth)?;
        loop {
            if self.next()? == b'}' {
                self.object.is_lenient |= self.object.text.ends_with(',');
                return self.close('}');
            }
            self.name()?;
            if self.next()? != b':' {
                return Err(self.fault("expected `:`"));
            }
            self.at += 1;
            self.object.text.push(':');
            self.value(depth)?;
            match self.next()? {
                b',' => self.take(','),
                b'}' => return self.close('}'),
                _ => return Err(self.fault("expected `,` or `}`")),
            }
        }
    }

    fn array(&mut self, depth: usize) -> Result<(), Fault> {
        self.open(b'[', depth)?;
        loop {
            if self.next()? == b']' {
                self.object.is_lenient |= self.object.text.ends_with(',');
                return self.close(']');
            }
            self.value(depth)?;
            match self.next()? {
                b',' => self.take(','),
                b']' => return self.close(']'),
                _ => return Err(self.fault("expected `,` or `]`")),
            }
        }
    }

    fn open(&mut self, bracket: u8, depth: usize) -> Result<(), Fault> {
        if depth > DEPTH_MAX {
            return Err(self.fault("nested too deep"));
        }
        self.take(char::from(bracket));
        Ok(())
    }

    fn take(&mut self, character: char) {
        self.object.text.push(character);
        self.at += 1;
    }

    /// Takes a closing bracket. A comma before it is left out.
    fn close(&mut self, bracket: char) -> Result<(), Fault> {
        if self.object.text.ends_with(',') {
            self.object.text.pop();
        }
        self.take(bracket);
        Ok(())
    }

    /// Takes a member's name: a string, or a word without quotes.
    fn name(&mut self) -> Result<(), Fault> {
        if matches!(self.peek(), Some(b'"' | b'\'')) {
            return self.string();
        }
        let is_part = |c: char| c.is_alphanumeric() || "_$-.@".contains(c);
        let rest = self.rest();
        let length = rest.find(|c: char| !is_part(c)).unwrap_or(rest.len());
        if length == 0 {
            return Err(self.fault("expected a name"));
        }
        let name = format!("\"{}\"", &rest[..length]);
        self.at += length;
        self.object.text.push_str(&name);
        self.object.is_lenient = true;
        Ok(())
    }

    fn string(&mut self) -> Result<(), Fault> {
        self.at = string(self.text, self.at, &mut self.object)?;
        Ok(())
    }

    fn value(&mut self, depth: usize) -> Result<(), Fault> {
        match self.next()? {
            b'{' => self.object(depth + 1),
            b'[' => self.array(depth + 1),
            b'"' | b'\'' => self.string(),
            _ => self.word(),
        }
    }

    /// Takes a number, or a word such as `true`.
    fn word(&mut self) -> Result<(), Fault> {
        let is_part = |c: char| c.is_ascii_alphanumeric() || "+-._".contains(c);
        let rest = self.rest();
        let length = rest.find(|c: char| !is_part(c)).unwrap_or(rest.len());
        let value = value_of(&rest[..length]).ok_or_else(|| self.fault("expected a value"))?;
        match value {
            Value::Strict(text) => self.object.text.push_str(text),
            Value::NotNumber => {
                self.object.text.push_str("null");
                self.object.not_numbers += 1;
            }
            Value::Lenient(text) => {
                self.object.text.push_str(&text);
                self.object.is_lenient = true;
            }
        }
        self.at += length;
        Ok(())
    }
}

enum Value<'t> {
    /// A value of JSON.
    Strict(&'t str),
    /// Another spelling of a value of JSON.
    Lenient(Cow<'t, str>),
    /// A number that JSON does not have, or no value at all.
    NotNumber,
}

fn value_of(word: &str) -> Option<Value<'_>> {
    if matches!(word, "true" | "false" | "null") || is_number(word) {
        return Some(Value::Strict(word));
    }
    let unsigned = word.strip_prefix(['-', '+']).unwrap_or(word).to_ascii_lowercase();
    if matches!(unsigned.as_str(), "nan" | "inf" | "infinity" | "undefined") {
        return Some(Value::NotNumber);
    }
    let lenient = match word {
        "True" | "TRUE" => "true".into(),
        "False" | "FALSE" => "false".into(),
        "None" | "NULL" | "Null" => "null".into(),
        _ => number(word)?.into(),
    };
    Some(Value::Lenient(lenient))
}

fn is_number(word: &str) -> bool {
    word.starts_with(|c: char| c == '-' || c.is_ascii_digit())
        && serde_json::from_str::<serde::de::IgnoredAny>(word).is_ok()
}

/// A number as JSON spells it, of one with a plus, without a digit beside its point, or in
/// hexadecimal digits.
fn number(word: &str) -> Option<String> {
    let digits = word.strip_prefix('+').unwrap_or(word);
    if let Some(digits) = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        return u64::from_str_radix(digits, 16).ok().map(|number| number.to_string());
    }
    let (sign, digits) = digits.strip_prefix('-').map_or(("", digits), |digits| ("-", digits));
    let zero = if digits.starts_with('.') { "0" } else { "" };
    let number = format!("{sign}{zero}{}", digits.strip_suffix('.').unwrap_or(digits));
    is_number(&number).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        let objects = repair(text).unwrap_or_else(|fault| panic!("{text}: {fault:?}"));
        objects.into_iter().map(|object| object.expect("an object").text).collect()
    }

    #[test]
    fn objects_stand_in_any_row() {
        let expected = [r#"{"a":1}"#, r#"{"b":[1,{"c":"}"}]}"#];
        for between in ["", ",", ", ", " ", "\n", ",\n", "\u{1e}", "\u{feff}", " // x\n", "/* { */"]
        {
            let text = format!("{}{between}{}", expected[0], expected[1]);
            assert_eq!(texts(&text), expected, "{text}");
            assert_eq!(texts(&format!("[{text}]")), expected, "{text}");
            assert_eq!(texts(&format!(" ,{text},\r\n")), expected, "{text}");
        }
        for text in ["\u{1e}{\"a\":1}", "\u{feff}{\"a\":1}", "data: {\"a\":1}", "data:{\"a\":1}"] {
            assert_eq!(texts(text), expected[..1], "{text}");
        }
    }

    #[test]
    fn other_words_for_no_value_are_null_and_counted() {
        for word in ["NaN", "nan", "-nan", "Infinity", "-Infinity", "inf", "-inf", "undefined"] {
            let text = format!("{{\"v\": [{word}], \"w\":{word}}}");
            let objects: Vec<Repaired> = repair(&text).expect(word).into_iter().flatten().collect();
            assert_eq!(objects[0].text, r#"{"v":[null],"w":null}"#);
            assert_eq!((objects[0].not_numbers, objects[0].is_lenient), (2, false), "{word}");
        }
    }

    #[test]
    fn other_spellings_are_read_and_noted() {
        for (text, expected) in [
            ("{'a': 'it''s'}", None),
            ("{'a': 'x\"y', 'b': None, 'c': True}", Some(r#"{"a":"x\"y","b":null,"c":true}"#)),
            (
                "{a: 1, $b.c: .5, d: +1, e: 2., f: 0x1F}",
                Some(r#"{"a":1,"$b.c":0.5,"d":1,"e":2,"f":31}"#),
            ),
            ("{\"a\":[1,2,],}", Some(r#"{"a":[1,2]}"#)),
            ("{\"a\":1 // one\n,\"b\":/* two */2}", Some(r#"{"a":1,"b":2}"#)),
            ("{\"a\":01}", None),
            ("{\"a\":[1,,2]}", None),
            ("{\"a\" 1}", None),
        ] {
            let objects = repair(text);
            assert_eq!(objects.is_ok(), expected.is_some(), "{text}: {objects:?}");
            if let (Ok(objects), Some(expected)) = (objects, expected) {
                let object = objects[0].as_ref().expect("an object");
                assert_eq!(object.text, expected);
                assert!(object.is_lenient, "{text}");
            }
        }
    }

    #[test]
    fn what_cannot_be_read_has_its_place() {
        for (text, reason) in [
            ("evel\": 30}", "not a JSON object"),
            ("", "not a JSON object"),
            ("[1, 2]", "not a JSON object"),
            ("[{\"a\":1},", "the array does not end at character 10"),
            ("{\"a\":", "the object does not end at character 6"),
            ("{\"é\":x}", "expected a value at character 6"),
            ("{\"a\":1} x", "text after the object at character 9"),
            ("{\"a\":1 \"b\":2}", "expected `,` or `}` at character 8"),
            ("{\"a\":[1;2]}", "expected `,` or `]` at character 8"),
            ("{,}", "expected a name at character 2"),
            ("{/*", "the comment does not end at character 2"),
        ] {
            let fault = repair(text).expect_err(text);
            assert_eq!(fault.describe(text), reason, "{text}");
        }
        let deep = format!("{}1{}", "{\"a\":".repeat(1_000), "}".repeat(1_000));
        assert_eq!(repair(&deep).expect_err("deep").reason, "nested too deep");
    }

    #[test]
    fn one_of_several_objects_may_be_unreadable() {
        let text = "{\"a\":1}{\"a\":x},{\"a\":2}";
        let objects = repair(text).expect("objects");
        assert_eq!(objects.len(), 3);
        let (part, fault) = objects[1].as_ref().expect_err("no value");
        assert_eq!(
            (*part, fault.describe(text)),
            ("{\"a\":x}", "expected a value at character 13".to_owned())
        );
        assert!(repair("{\"a\":1}x").is_err());
    }

    #[test]
    fn fields_of_events_without_data_are_told() {
        for line in ["event: ping", "id: 7", "retry: 10", ": comment", "data: [DONE]", "data:"] {
            assert!(is_event_field(line), "{line}");
        }
        for line in ["data: {\"a\":1}", "{\"event\":1}", "events", "identity: 1"] {
            assert!(!is_event_field(line), "{line}");
        }
    }
}
