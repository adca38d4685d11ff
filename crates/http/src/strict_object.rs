//! JSON objects only: a derived `Deserialize` would also accept an array of the fields in order.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};

/// A value that was written as an object.
#[derive(Debug)]
pub(crate) struct StrictObject<T>(pub(crate) T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for StrictObject<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Fields(PhantomData)).map(Self)
    }
}

struct Fields<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Fields<T> {
    type Value = T;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Pair {
        left: u8,
        right: Option<StrictObject<Text>>,
    }

    #[derive(Debug, serde::Deserialize)]
    struct Text {
        text: String,
    }

    #[test]
    fn only_objects_are_read() {
        let read = |json: &str| serde_json::from_str::<StrictObject<Pair>>(json);
        let pair = read(r#"{"left": 1, "right": {"text": "x"}}"#).expect("a pair").0;
        assert_eq!((pair.left, pair.right.expect("an object").0.text.as_str()), (1, "x"));
        assert!(read(r#"{"left": 1}"#).expect("a pair").0.right.is_none());
        for (json, what) in [
            ("[]", "sequence, expected an object"),
            (r#"[1, null]"#, "sequence, expected an object"),
            ("1", "integer `1`, expected an object"),
            (r#"{"left": 1, "right": ["x"]}"#, "sequence, expected an object"),
            (r#"{"left": 1, "middle": 2}"#, "unknown field `middle`"),
        ] {
            let error = read(json).expect_err("refused").to_string();
            assert!(error.contains(what), "{json}: {error}");
        }
    }
}
