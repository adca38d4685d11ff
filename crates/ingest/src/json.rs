//! Reads one JSON object as fields; numbers keep their exact value.

mod lenient;
mod lenient_string;
mod repaired;
mod tokens;

use std::borrow::Cow;
use std::fmt;

use hadal_types::limits::{JSON_DEPTH_MAX, ROW_FIELDS_MAX};
use hadal_types::{Decimal, Number};
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

pub(crate) use self::lenient::{is_event_field, repair};
pub(crate) use self::tokens::Token;
use self::tokens::{FastFields, Name, Tokens, tokens};
use crate::name_cache::{NameCache, NameId};

/// One value of a row. Values without a kind of their own, such as nested arrays, are JSON text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Field<'j> {
    /// A number of few digits, in lowest terms: mantissa × 10^−scale.
    Decimal {
        mantissa: i64,
        scale: u8,
    },
    /// Any other number, and whether it lost digits.
    Number {
        number: Number,
        rounded: bool,
    },
    Bool(bool),
    String(Cow<'j, str>),
    /// An array.
    List(Vec<Element<'j>>),
    /// `{"$set": […]}`.
    Set(Vec<Element<'j>>),
    /// `{"$vector": […]}`.
    Vector(Vec<Element<'j>>),
    /// An array that contains arrays or objects, as JSON text.
    Text(&'j str),
}

/// An array element as text; `None` for null.
pub(crate) type Element<'j> = Option<Cow<'j, str>>;

impl Field<'_> {
    /// The field's number, if it is one.
    pub(crate) fn number(&self) -> Option<Number> {
        match self {
            Self::Decimal { mantissa, scale } => {
                Decimal::new((*mantissa).into(), *scale).map(Number::from)
            }
            Self::Number { number, .. } => Some(*number),
            _ => None,
        }
    }
}

/// The result of pushing a value as soon as it is parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pushed {
    Done,
    /// The value must be passed as a field, after the fast values; no other name may refer to it.
    Deferred,
    /// This value and all values after it must be passed as fields.
    Refused,
}

/// Receives the fields of one object, which is one row.
pub(crate) trait RowSink<'j> {
    /// The known names.
    fn names(&mut self) -> &mut NameCache;

    /// Takes the value of a known name without a [`Field`], if the value has a common form. Most
    /// have.
    fn push_fast(&mut self, _name: NameId, _token: Token<'j>) -> Pushed {
        Pushed::Refused
    }

    /// Drops the fields so far; all of them will be passed again.
    fn restart(&mut self) {}

    /// Takes a field: its dotted name, the id of the name if it was looked up and is known, and the
    /// value.
    fn field(
        &mut self,
        name: &str,
        name_id: Option<NameId>,
        field: &Field<'j>,
    ) -> Result<(), String>;
}

/// Buffers for reading an object, reused for the next.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    tokens: Tokens<'static>,
    marks: Vec<u64>,
}

/// Passes each field of an object to `sink`, except nulls; values of uncommon form come last.
///
/// # Errors
/// A reason if the text is not a JSON object or a value is beyond a limit, or the first error of
/// `sink`. Some fields may have been taken by then.
pub(crate) fn read<'j>(
    text: &'j str,
    scratch: &mut Scratch,
    sink: &mut (impl RowSink<'j> + ?Sized),
) -> Result<(), String> {
    let mut fast = FastFields::new(std::mem::take(&mut scratch.tokens));
    if tokens(text, &mut scratch.marks, &mut fast, sink).is_none() {
        sink.restart();
        sink.names().begin_row();
        let members: Members<'j> = serde_json::from_str(text).map_err(|error| describe(&error))?;
        return Walk { name: String::new(), count: 0, sink }.object(&members, 1);
    }
    let FastFields { taken, others, .. } = fast;
    let mut walk = Walk { name: String::new(), count: taken, sink };
    others.iter().try_for_each(|(name, token)| walk.member(*name, *token))?;
    if others.capacity() <= ROW_FIELDS_MAX {
        // Collecting in place reuses the vector's memory.
        scratch.tokens = others.into_iter().map_while(|_| None).collect();
    }
    Ok(())
}

/// The texts of a record's rows: of one if it is strict JSON or cannot be read.
pub(crate) fn row_texts(record: Cow<'_, str>) -> Vec<Cow<'_, str>> {
    if serde_json::from_str::<IgnoredAny>(&record).is_ok() {
        return vec![record];
    }
    match repair(&record) {
        Ok(objects) => objects.into_iter().flatten().map(|o| Cow::Owned(o.text)).collect(),
        Err(_) => vec![record],
    }
}

/// The error of a row, with its position.
fn describe(error: &serde_json::Error) -> String {
    let at = format!(" at line {} column {}", error.line(), error.column());
    let reason = error.to_string();
    let reason = reason.strip_suffix(&at).unwrap_or(&reason);
    format!("{reason} at character {}", error.column())
}

/// The same for the text of a value.
fn describe_in_value(error: &serde_json::Error) -> String {
    format!("{} of a value", describe(error))
}

struct Walk<'w, T: ?Sized> {
    name: String,
    count: usize,
    sink: &'w mut T,
}

impl<'j, T: RowSink<'j> + ?Sized> Walk<'_, T> {
    /// Takes a member of the top-level object.
    fn member(&mut self, name: Name<'j>, token: Token<'j>) -> Result<(), String> {
        let Name { text, id: name_id } = name;
        // Values after an uncommon one arrive here, even if they could have been pushed fast.
        if let Some(name_id) = name_id
            && self.count < ROW_FIELDS_MAX
            && self.sink.push_fast(name_id, token) == Pushed::Done
        {
            self.count += 1;
            return Ok(());
        }
        match token {
            Token::Null => Ok(()),
            Token::Bool(truth) => self.field(text, name_id, &Field::Bool(truth)),
            Token::Decimal { mantissa, scale } => {
                self.field(text, name_id, &Field::Decimal { mantissa, scale })
            }
            Token::String(string) => {
                self.field(text, name_id, &Field::String(Cow::Borrowed(string)))
            }
            Token::Raw(raw) => {
                self.name.clear();
                self.name.push_str(text);
                self.value(raw, 1)
            }
        }
    }

    fn object(&mut self, object: &Members<'j>, depth: usize) -> Result<(), String> {
        for (key, raw) in &object.0 {
            let before = self.name.len();
            if depth > 1 {
                self.name.push('.');
            }
            self.name.push_str(key);
            self.value(raw.get(), depth)?;
            self.name.truncate(before);
        }
        Ok(())
    }

    fn value(&mut self, raw: &'j str, depth: usize) -> Result<(), String> {
        let field = match raw.as_bytes().first() {
            Some(b'n') => return Ok(()),
            Some(b't') => Field::Bool(true),
            Some(b'f') => Field::Bool(false),
            Some(b'"') => Field::String(string(raw)?),
            Some(b'[') => list(raw)?.map_or(Field::Text(raw), Field::List),
            Some(b'{') => {
                let object: Members<'j> =
                    serde_json::from_str(raw).map_err(|error| describe_in_value(&error))?;
                match hinted(&object)? {
                    Some(field) => field,
                    None if depth >= JSON_DEPTH_MAX => {
                        return Err(format!("nested deeper than {JSON_DEPTH_MAX} levels"));
                    }
                    None => return self.object(&object, depth + 1),
                }
            }
            _ => {
                let (number, rounded) =
                    Number::read(raw).map_err(|error| format!("column {}: {error}", self.name))?;
                Field::Number { number, rounded }
            }
        };
        let name = std::mem::take(&mut self.name);
        let taken = self.field(&name, None, &field);
        self.name = name;
        taken
    }

    fn field(
        &mut self,
        name: &str,
        name_id: Option<NameId>,
        field: &Field<'j>,
    ) -> Result<(), String> {
        self.count += 1;
        if self.count > ROW_FIELDS_MAX {
            return Err(format!("more than {ROW_FIELDS_MAX} fields"));
        }
        self.sink.field(name, name_id, field)
    }
}

fn string(raw: &str) -> Result<Cow<'_, str>, String> {
    let text: Text<'_> = serde_json::from_str(raw).map_err(|error| describe_in_value(&error))?;
    Ok(text.0)
}

/// The elements of an array as texts; `None` if some are arrays or objects.
fn list(raw: &str) -> Result<Option<Vec<Element<'_>>>, String> {
    let elements: Vec<&RawValue> =
        serde_json::from_str(raw).map_err(|error| describe_in_value(&error))?;
    let nested = |raw: &&RawValue| raw.get().starts_with(['[', '{']);
    if elements.iter().any(nested) {
        return Ok(None);
    }
    let texts = elements.into_iter().map(|raw| element(raw.get()));
    texts.collect::<Result<_, _>>().map(Some)
}

fn element(raw: &str) -> Result<Element<'_>, String> {
    match raw.as_bytes().first() {
        Some(b'"') => string(raw).map(Some),
        Some(b'n') => Ok(None),
        _ => Ok(Some(Cow::Borrowed(raw))),
    }
}

/// Reads `{"$set": […]}` or `{"$vector": […]}`; `None` for other objects.
fn hinted<'j>(object: &Members<'j>) -> Result<Option<Field<'j>>, String> {
    let [(key, raw)] = object.0.as_slice() else { return Ok(None) };
    let hint = match key.as_ref() {
        "$set" => Field::Set,
        "$vector" => Field::Vector,
        _ => return Ok(None),
    };
    let elements = if raw.get().starts_with('[') { list(raw.get())? } else { None };
    elements.map(hint).map(Some).ok_or_else(|| format!("{key} takes an array of strings"))
}

/// Keys and raw values, in order.
pub(crate) struct Members<'j>(Vec<(Cow<'j, str>, &'j RawValue)>);

/// A string, borrowed if it has no escapes.
struct Text<'j>(Cow<'j, str>);

impl<'j> Deserialize<'j> for Members<'j> {
    fn deserialize<D: Deserializer<'j>>(deserializer: D) -> Result<Self, D::Error> {
        struct Keys;
        impl<'j> Visitor<'j> for Keys {
            type Value = Members<'j>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'j>>(self, mut map: A) -> Result<Members<'j>, A::Error> {
                let mut fields = Vec::new();
                while let Some((Text(key), raw)) = map.next_entry::<Text<'j>, &'j RawValue>()? {
                    fields.push((key, raw));
                }
                Ok(Members(fields))
            }
        }
        deserializer.deserialize_map(Keys)
    }
}

impl<'j> Deserialize<'j> for Text<'j> {
    fn deserialize<D: Deserializer<'j>>(deserializer: D) -> Result<Self, D::Error> {
        struct Str;
        impl<'j> Visitor<'j> for Str {
            type Value = Text<'j>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a string")
            }

            fn visit_borrowed_str<E>(self, text: &'j str) -> Result<Text<'j>, E> {
                Ok(Text(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Text<'j>, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(Str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Passes every field to a function, without a fast path.
    struct Alike<F>(NameCache, F);

    impl<'j, F: FnMut(&str, &Field<'j>)> RowSink<'j> for Alike<F> {
        fn names(&mut self) -> &mut NameCache {
            &mut self.0
        }

        fn field(
            &mut self,
            name: &str,
            _name_id: Option<NameId>,
            field: &Field<'j>,
        ) -> Result<(), String> {
            self.1(name, field);
            Ok(())
        }
    }

    fn fields<'j>(text: &'j str, take: impl FnMut(&str, &Field<'j>)) -> Result<(), String> {
        super::read(text, &mut Scratch::default(), &mut Alike(NameCache::default(), take))
    }

    fn read(text: &str) -> Result<Vec<(String, String)>, String> {
        let mut all = Vec::new();
        fields(text, |name, field| all.push((name.to_owned(), format!("{field:?}"))))?;
        Ok(all)
    }

    fn field(text: &str) -> Field<'_> {
        let mut last = None;
        fields(text, |_, field| last = Some(field.clone())).expect(text);
        last.expect("a field")
    }

    #[test]
    fn objects_flatten_to_dotted_names() {
        let names: Vec<String> = read(r#"{"a":{"b":1,"c":{"d":2}},"e":null,"f.g":3}"#)
            .expect("reads")
            .into_iter()
            .map(|(name, _)| name)
            .collect();
        assert_eq!(names, ["a.b", "a.c.d", "f.g"]);
    }

    #[test]
    fn numbers_keep_their_digits() {
        let read_number = |text: &str| {
            let text = format!("{{\"a\":{text}}}");
            let field = field(&text);
            let rounded = matches!(field, Field::Number { rounded: true, .. });
            (field.number().expect("a number").to_string(), rounded)
        };
        for exact in [
            "1234567890.123456789",
            "9223372036854775807",
            "18446744073709551615",
            "-12345678901234567890123456789012345678",
            "0.12345678901234567890123",
            "-0.5",
            "0.1",
            "1e300",
        ] {
            assert_eq!(read_number(exact), (exact.to_owned(), false));
        }
        for rounded in ["1234567890123456789012345678901234567890", "1.5e-340", "1e-999"] {
            assert!(read_number(rounded).1, "{rounded}");
        }
        assert!(read(r#"{"a":1e400}"#).expect_err("too large").contains("column a"));
        assert!(read(r#"{"a":NaN}"#).is_err());
    }

    #[test]
    fn arrays_are_lists_of_texts() {
        let list = |texts: &[&'static str]| texts.iter().map(|&text| Some(text.into())).collect();
        let mut mixed: Vec<_> = list(&["x", "\n", "1", "true"]);
        mixed.push(None);
        assert_eq!(field(r#"{"a":["x","\n",1,true,null]}"#), Field::List(mixed));
        assert_eq!(field(r#"{"a":[]}"#), Field::List(Vec::new()));
        assert_eq!(field(r#"{"a":{"$set":["x"]}}"#), Field::Set(list(&["x"])));
        assert_eq!(field(r#"{"a":[[1],2]}"#), Field::Text("[[1],2]"));
        assert_eq!(field(r#"{"a":{"$vector":["x"]}}"#), Field::Vector(list(&["x"])));
        for hint in ["$set", "$vector"] {
            let error = read(&format!("{{\"a\":{{\"{hint}\":1}}}}")).expect_err(hint);
            assert_eq!(error, format!("{hint} takes an array of strings"));
        }
    }

    #[test]
    fn what_is_no_row_says_why() {
        for (bad, reason) in [
            ("1", "expected an object"),
            ("{", "EOF"),
            (r#"{"a":1}x"#, "trailing characters"),
            (r#"{"a":"\ud83dx"}"#, "at character 8 of a value"),
        ] {
            let error = read(bad).expect_err(bad);
            assert!(error.contains(reason), "{error}");
        }
    }

    #[test]
    fn depth_and_fields_have_limits() {
        let nested = |depth: usize| format!("{}1{}", r#"{"a":"#.repeat(depth), "}".repeat(depth));
        assert!(read(&nested(JSON_DEPTH_MAX)).is_ok());
        assert!(read(&nested(JSON_DEPTH_MAX + 1)).expect_err("too deep").contains("nested deeper"));
        assert!(read(&nested(100_000)).is_err());
        let wide = |count: usize| {
            let fields: Vec<String> = (0..count).map(|index| format!("\"c{index}\":1")).collect();
            format!("{{{}}}", fields.join(","))
        };
        assert!(read(&wide(ROW_FIELDS_MAX)).is_ok());
        assert!(read(&wide(ROW_FIELDS_MAX + 1)).expect_err("too wide").contains("fields"));
    }
}
