//! Values of parameters as constants of the query language.

use std::str;

use bytes::Bytes;
use hadal_sql::Literal;
use hadal_types::limits::LIST_ELEMENTS_MAX;
use hadal_types::{Micros, Number};

use crate::body_reader::BodyReader;
use crate::failure::Failure;
use crate::frontend_message::Format;
use crate::value_binary::{EPOCH_MICROS, NUMERIC_GROUP, NUMERIC_NEGATIVE};

/// What a type of parameter is to the query language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ParameterType {
    Bool,
    Int2,
    Int4,
    Int8,
    Float4,
    Float8,
    Numeric,
    /// A text: also dates, lengths and other types that are written as texts.
    Text,
    Timestamp,
    Date,
    /// An array of these.
    Array(Element),
}

/// The type of an array's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Element {
    Int2,
    Int4,
    Int8,
    Float8,
    Numeric,
    Text,
}

impl ParameterType {
    /// The type with this number in `pg_type`; `None` for types that have no counterpart.
    pub(crate) const fn of(oid: u32) -> Option<Self> {
        Some(match oid {
            16 => Self::Bool,
            20 => Self::Int8,
            21 => Self::Int2,
            23 | 26 => Self::Int4,
            700 => Self::Float4,
            701 => Self::Float8,
            1700 => Self::Numeric,
            // char, name, text, json, unknown, bpchar, varchar, interval, uuid
            0 | 18 | 19 | 25 | 114 | 705 | 1042 | 1043 | 1186 | 2950 => Self::Text,
            1114 | 1184 => Self::Timestamp,
            1082 => Self::Date,
            1005 => Self::Array(Element::Int2),
            1007 => Self::Array(Element::Int4),
            1016 => Self::Array(Element::Int8),
            1022 => Self::Array(Element::Float8),
            1231 => Self::Array(Element::Numeric),
            1002 | 1003 | 1009 | 1014 | 1015 => Self::Array(Element::Text),
            _ => return None,
        })
    }
}

impl Element {
    const fn parameter_type(self) -> ParameterType {
        match self {
            Self::Int2 => ParameterType::Int2,
            Self::Int4 => ParameterType::Int4,
            Self::Int8 => ParameterType::Int8,
            Self::Float8 => ParameterType::Float8,
            Self::Numeric => ParameterType::Numeric,
            Self::Text => ParameterType::Text,
        }
    }
}

/// The type `unknown` of PostgreSQL: a text whose meaning its place decides.
pub(crate) const UNKNOWN: u32 = 705;

/// The constant that a parameter means. `None` is null.
///
/// # Errors
/// [`Failure`] when the bytes are no value of the type.
pub(crate) fn literal(
    oid: u32,
    format: Format,
    bytes: Option<&Bytes>,
    index: usize,
) -> Result<Literal, Failure> {
    let Some(bytes) = bytes else { return Ok(Literal::Null) };
    let unsupported = || {
        let message = format!("parameter ${} has type {oid}, which has no counterpart", index + 1);
        Failure::new("0A000", message).hint("send it as text")
    };
    let read = match (format, ParameterType::of(oid)) {
        (Format::Text, _) if oid == UNKNOWN => of_unknown(bytes),
        (Format::Text, kind) => of_text(kind.unwrap_or(ParameterType::Text), bytes),
        (Format::Binary, Some(kind)) => of_binary(kind, bytes),
        (Format::Binary, None) => return Err(unsupported()),
    };
    read.ok_or_else(|| {
        let message = format!("parameter ${} is not a value of type {oid}", index + 1);
        Failure::new(if format == Format::Text { "22P02" } else { "22P03" }, message)
    })
}

/// A number if the text is one as JSON spells it, as in COPY; else a text.
fn of_unknown(bytes: &[u8]) -> Option<Literal> {
    let text = str::from_utf8(bytes).ok()?;
    let is_number = serde_json::from_str::<serde_json::Number>(text).is_ok();
    let read = text.parse().ok().filter(|_| is_number && text.trim() == text);
    Some(read.map_or_else(|| Literal::Text(text.to_owned()), number))
}

fn of_text(kind: ParameterType, bytes: &[u8]) -> Option<Literal> {
    let text = str::from_utf8(bytes).ok()?;
    Some(match kind {
        ParameterType::Bool => Literal::Bool(truth(text)?),
        ParameterType::Int2
        | ParameterType::Int4
        | ParameterType::Int8
        | ParameterType::Float4
        | ParameterType::Float8
        | ParameterType::Numeric => number(text.trim().parse().ok()?),
        ParameterType::Text | ParameterType::Timestamp | ParameterType::Date => {
            Literal::Text(text.to_owned())
        }
        ParameterType::Array(element) => {
            let elements = array_elements(text)?;
            let literal = |element_text: Option<String>| match element_text {
                Some(text) => of_text(element.parameter_type(), text.as_bytes()),
                None => Some(Literal::Null),
            };
            Literal::List(elements.into_iter().map(literal).collect::<Option<_>>()?)
        }
    })
}

fn of_binary(kind: ParameterType, bytes: &[u8]) -> Option<Literal> {
    let double = |value: f64| Number::from_f64(value).map(number);
    match kind {
        ParameterType::Bool => match bytes {
            [byte] => Some(Literal::Bool(*byte != 0)),
            _ => None,
        },
        ParameterType::Int2 => {
            Some(number(Number::integer(i16::from_be_bytes(bytes.try_into().ok()?).into())))
        }
        ParameterType::Int4 => {
            Some(number(Number::integer(i32::from_be_bytes(bytes.try_into().ok()?).into())))
        }
        ParameterType::Int8 => {
            Some(number(Number::integer(i64::from_be_bytes(bytes.try_into().ok()?))))
        }
        // The shortest digits of the float, not those of the double next to it.
        ParameterType::Float4 => {
            let value = f32::from_be_bytes(bytes.try_into().ok()?);
            double(value.to_string().parse().ok()?)
        }
        ParameterType::Float8 => double(f64::from_be_bytes(bytes.try_into().ok()?)),
        ParameterType::Numeric => numeric(bytes).map(number),
        ParameterType::Text => Some(Literal::Text(str::from_utf8(bytes).ok()?.to_owned())),
        ParameterType::Timestamp => {
            time(i64::from_be_bytes(bytes.try_into().ok()?).checked_add(EPOCH_MICROS)?)
        }
        ParameterType::Date => {
            const DAY_MICROS: i64 = 86_400 * Micros::SECOND;
            let days = i64::from(i32::from_be_bytes(bytes.try_into().ok()?));
            time(days.checked_mul(DAY_MICROS)?.checked_add(EPOCH_MICROS)?)
        }
        ParameterType::Array(element) => array(element, bytes),
    }
}

fn time(micros: i64) -> Option<Literal> {
    Micros(micros).in_range().map(|time| Literal::Text(time.to_string()))
}

/// The constant of a number, whose sign is apart.
fn number(number: Number) -> Literal {
    let text = number.to_string();
    match text.strip_prefix('-') {
        Some(digits) => Literal::Number { digits: digits.to_owned(), is_negative: true },
        None => Literal::Number { digits: text, is_negative: false },
    }
}

fn truth(text: &str) -> Option<bool> {
    match text.trim().to_ascii_lowercase().as_str() {
        "t" | "true" | "yes" | "on" | "1" => Some(true),
        "f" | "false" | "no" | "off" | "0" => Some(false),
        _ => None,
    }
}

/// Reads groups of four decimal digits, as `numeric_recv` does.
fn numeric(bytes: &[u8]) -> Option<Number> {
    let mut body = BodyReader::new('B', Bytes::copy_from_slice(bytes));
    let groups = body.u16().ok()?;
    let weight = i32::from(i16::from_be_bytes(body.u16().ok()?.to_be_bytes()));
    let sign = match body.u16().ok()? {
        0 => "",
        NUMERIC_NEGATIVE => "-",
        // Not a number, and the infinities.
        _ => return None,
    };
    body.u16().ok()?;
    let mut digits = String::from("0");
    for _ in 0..groups {
        let group = body.u16().ok().filter(|group| *group < 10_000)?;
        digits.push_str(&format!("{group:04}"));
    }
    body.end().ok()?;
    let group_digits = i32::try_from(NUMERIC_GROUP).ok()?;
    let exponent = (weight + 1 - i32::from(groups)) * group_digits;
    format!("{sign}{digits}e{exponent}").parse().ok()
}

/// Reads an array of one dimension, as `array_recv` does.
fn array(element: Element, bytes: &[u8]) -> Option<Literal> {
    let mut body = BodyReader::new('B', Bytes::copy_from_slice(bytes));
    let (dimensions, _has_nulls, _oid) = (body.u32().ok()?, body.u32().ok()?, body.u32().ok()?);
    if dimensions == 0 {
        return Some(Literal::List(Vec::new()));
    }
    let count = usize::try_from(body.u32().ok()?).ok()?;
    let _first_index = body.u32().ok()?;
    if dimensions != 1 || count > LIST_ELEMENTS_MAX {
        return None;
    }
    let mut elements = Vec::new();
    for _ in 0..count {
        elements.push(match usize::try_from(body.i32().ok()?) {
            Ok(length) => of_binary(element.parameter_type(), &body.bytes(length).ok()?)?,
            Err(_) => Literal::Null,
        });
    }
    body.end().ok()?;
    Some(Literal::List(elements))
}

/// The elements of `{a,"b c",NULL}`, an array of one dimension; `None` is null.
fn array_elements(text: &str) -> Option<Vec<Option<String>>> {
    let inner = text.trim().strip_prefix('{')?.strip_suffix('}')?;
    let mut elements = Vec::new();
    if inner.trim().is_empty() {
        return Some(elements);
    }
    let (mut element, mut is_quoted) = (String::new(), false);
    let mut characters = inner.chars();
    loop {
        let character = characters.next();
        match character {
            Some('"') => {
                is_quoted = true;
                loop {
                    match characters.next()? {
                        '"' => break,
                        '\\' => element.push(characters.next()?),
                        other => element.push(other),
                    }
                }
            }
            Some('\\') => element.push(characters.next()?),
            Some('{' | '}') => return None,
            Some(',') | None => {
                let plain = if is_quoted { element.as_str() } else { element.trim() };
                if (plain.is_empty() && !is_quoted) || elements.len() >= LIST_ELEMENTS_MAX {
                    return None;
                }
                let is_null = !is_quoted && plain.eq_ignore_ascii_case("null");
                elements.push((!is_null).then(|| plain.to_owned()));
                if character.is_none() {
                    return Some(elements);
                }
                (element, is_quoted) = (String::new(), false);
            }
            Some(other) => element.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use bytes::BytesMut;
    use hadal_types::Value;
    use proptest::prelude::*;

    use super::*;
    use crate::column_type::ColumnType;
    use crate::value_binary::put_value;

    fn read(oid: u32, format: Format, bytes: &[u8]) -> Option<Literal> {
        literal(oid, format, Some(&Bytes::copy_from_slice(bytes)), 0).ok()
    }

    fn plain(digits: &str, is_negative: bool) -> Option<Literal> {
        Some(Literal::Number { digits: digits.to_owned(), is_negative })
    }

    fn text(text: &str) -> Literal {
        Literal::Text(text.to_owned())
    }

    #[test]
    fn texts_are_read_by_type() {
        let of = |oid, bytes: &str| read(oid, Format::Text, bytes.as_bytes());
        assert_eq!(of(23, "-5"), plain("5", true));
        assert_eq!(of(701, "1.5"), plain("1.5", false));
        assert_eq!(of(16, "t"), Some(Literal::Bool(true)));
        assert_eq!(of(25, "5' OR 1=1"), Some(text("5' OR 1=1")));
        assert_eq!(of(0, "x"), Some(text("x")));
        assert_eq!(of(UNKNOWN, "-1.5e3"), plain("1500", true));
        for spelled in ["007", " 7", "1_000", "x", "NaN", "true", ""] {
            assert_eq!(of(UNKNOWN, spelled), Some(text(spelled)));
        }
        assert_eq!(of(23, "five"), None);
        assert_eq!(of(9_999, "x"), Some(text("x")), "a type that is unknown here");
        assert_eq!(
            of(1009, r#"{a,"b,c",NULL,"x\"y"}"#),
            Some(Literal::List(vec![text("a"), text("b,c"), Literal::Null, text("x\"y")]))
        );
        assert_eq!(of(1009, "{}"), Some(Literal::List(Vec::new())));
        assert_eq!(of(1009, "{,}"), None);
        assert_eq!(of(1009, "{{a}}"), None);
    }

    #[test]
    fn binaries_are_read_by_type() {
        let of = |oid, bytes: &[u8]| read(oid, Format::Binary, bytes);
        assert_eq!(of(23, &(-5_i32).to_be_bytes()), plain("5", true));
        assert_eq!(of(21, &5_i16.to_be_bytes()), plain("5", false));
        assert_eq!(of(700, &0.1_f32.to_be_bytes()), plain("0.1", false));
        assert_eq!(of(701, &f64::NAN.to_be_bytes()), None);
        assert_eq!(of(1184, &0_i64.to_be_bytes()), Some(text("2000-01-01T00:00:00Z")));
        assert_eq!(of(1082, &1_i32.to_be_bytes()), Some(text("2000-01-02T00:00:00Z")));
        assert_eq!(of(1184, &i64::MAX.to_be_bytes()), None);
        assert_eq!(of(23, b"12"), None);
        assert_eq!(of(9_999, b"x"), None);
        let array = b"\0\0\0\x01\0\0\0\0\0\0\0\x19\0\0\0\x01\0\0\0\x01\0\0\0\x02ab";
        assert_eq!(of(1009, array), Some(Literal::List(vec![text("ab")])));
    }

    #[test]
    fn a_numeric_is_read_as_it_is_written() {
        for digits in ["0", "1", "12345.678", "0.00001", "123456789012345678901234567890", "1e300"]
        {
            let number: Number = digits.parse().expect("a number");
            let mut buffer = BytesMut::new();
            put_value(&mut buffer, &Value::Number(number), ColumnType::Numeric);
            let read = read(1700, Format::Binary, &buffer);
            assert_eq!(read, plain(&number.to_string(), false), "{digits}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_value_or_an_error(
            oid in prop::sample::select(vec![16, 20, 21, 23, 25, 700, 701, 1700, 1082, 1184, 1009, 1007]),
            bytes in prop::collection::vec(any::<u8>(), 0..40),
        ) {
            let _ = read(oid, Format::Binary, &bytes);
            let _ = read(oid, Format::Text, &bytes);
        }
    }
}
