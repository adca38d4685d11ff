//! Elements and members of any document as JSON rows.

use serde_json::value::RawValue;

use super::held_rows::Member;

/// An element as a row. A value that is no object becomes a column with the name of its array.
pub(super) fn row_of(element: &str, name: Option<&String>) -> Result<String, String> {
    match element.as_bytes().first() {
        Some(b'{') => Ok(element.to_owned()),
        Some(b'[') => Err("an array in the place of a row".to_owned()),
        _ => {
            let name = name.map_or("value", String::as_str);
            Ok(format!("{{{}:{element}}}", quoted(name)))
        }
    }
}

/// A member as one of its rows, under its dotted name; empty for null, `None` for an array with
/// arrays or objects in it.
pub(super) fn members_of(prefix: &[String], name: &str, value: &str) -> Option<Vec<Member>> {
    if value == "null"
        || (value.starts_with('[') && value.trim_matches(['[', ']']).trim().is_empty())
    {
        return Some(Vec::new());
    }
    if value.starts_with('[') && !is_flat(value) {
        return None;
    }
    let dotted: Vec<&str> = prefix.iter().map(String::as_str).chain([name]).collect();
    let name = dotted.join(".");
    let text = format!("{}:{value}", quoted(&name));
    Some(vec![Member { name, text }])
}

/// Whether an array has no arrays and no objects in it.
fn is_flat(array: &str) -> bool {
    let elements: Result<Vec<&RawValue>, _> = serde_json::from_str(array);
    elements.is_ok_and(|all| all.iter().all(|element| !element.get().starts_with(['[', '{'])))
}

/// A text as a JSON string.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_rows() {
        let name = "tags".to_owned();
        assert_eq!(row_of("{\"a\":1}", Some(&name)).as_deref(), Ok("{\"a\":1}"));
        assert_eq!(row_of("\"x\"", Some(&name)).as_deref(), Ok("{\"tags\":\"x\"}"));
        assert_eq!(row_of("7", None).as_deref(), Ok("{\"value\":7}"));
        assert!(row_of("[1]", None).is_err());
    }

    #[test]
    fn members_have_dotted_names() {
        let prefix = ["a".to_owned(), "b".to_owned()];
        let members = |value| members_of(&prefix, "c\"", value);
        for value in ["1", "[1,null,\"x\"]", "{\"d\":1}"] {
            let member = &members(value).expect("a member")[0];
            assert_eq!(member.name, "a.b.c\"");
            assert_eq!(member.text, format!("\"a.b.c\\\"\":{value}"));
        }
        assert_eq!((members("null"), members("[]")), (Some(Vec::new()), Some(Vec::new())));
        assert_eq!((members("[{}]"), members("[[1]]")), (None, None));
    }
}
