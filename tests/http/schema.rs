//! The part of JSON Schema that `spec/openapi.json` uses. An unknown keyword is an error, so that
//! no description is believed unchecked.

use serde_json::{Map, Value};

/// Keywords without conditions on values.
const NOTES: [&str; 3] = ["description", "default", "format"];

/// The violations of `schema` in `value`; references are resolved in `spec`.
pub(crate) fn faults(spec: &Value, schema: &Value, value: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    check(spec, schema, value, "$", &mut faults);
    faults
}

/// Resolves a reference to a schema or response.
pub(crate) fn resolve<'s>(spec: &'s Value, node: &'s Value) -> &'s Value {
    match node.get("$ref").and_then(Value::as_str) {
        Some(reference) => {
            let pointer = reference.strip_prefix('#').expect("a reference into this file");
            spec.pointer(pointer).unwrap_or_else(|| panic!("{reference} is not there"))
        }
        None => node,
    }
}

fn check(spec: &Value, schema: &Value, value: &Value, at: &str, faults: &mut Vec<String>) {
    let schema = resolve(spec, schema).as_object().expect("a schema");
    for (keyword, rule) in schema {
        match keyword.as_str() {
            "$ref" | "required" | "properties" | "additionalProperties" => {}
            "type" if !has_type(rule, value) => faults.push(format!("{at} is no {rule}: {value}")),
            "enum" if !rule.as_array().expect("values").contains(value) => {
                faults.push(format!("{at} is none of {rule}: {value}"));
            }
            "minimum" if value.as_f64() < rule.as_f64() => {
                faults.push(format!("{at} is below {rule}: {value}"));
            }
            "maximum" if value.as_f64() > rule.as_f64() => {
                faults.push(format!("{at} is above {rule}: {value}"));
            }
            "maxLength" | "type" | "enum" | "minimum" | "maximum" => {}
            "items" => {
                for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                    check(spec, rule, item, &format!("{at}[{index}]"), faults);
                }
            }
            "allOf" => {
                for part in rule.as_array().expect("schemas") {
                    check(spec, part, value, at, faults);
                }
            }
            "anyOf" => {
                let fits = |part: &Value| self::faults(spec, part, value).is_empty();
                if !rule.as_array().expect("schemas").iter().any(fits) {
                    faults.push(format!("{at} fits nothing of anyOf: {value}"));
                }
            }
            note if NOTES.contains(&note) => {}
            unknown => panic!("{at}: the test does not know the keyword {unknown}"),
        }
    }
    if let Value::Object(object) = value {
        check_object(spec, schema, object, at, faults);
    }
}

fn check_object(
    spec: &Value,
    schema: &Map<String, Value>,
    object: &Map<String, Value>,
    at: &str,
    faults: &mut Vec<String>,
) {
    for name in schema.get("required").and_then(Value::as_array).into_iter().flatten() {
        if !object.contains_key(name.as_str().expect("a name")) {
            faults.push(format!("{at} has no {name}"));
        }
    }
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return };
    for (name, value) in object {
        if let Some(rule) = properties.get(name) {
            check(spec, rule, value, &format!("{at}.{name}"), faults);
        }
    }
}

/// Every key of `value` that the schema does not name.
pub(crate) fn undescribed(spec: &Value, schema: &Value, value: &Value) -> Vec<String> {
    let Value::Object(object) = value else { return Vec::new() };
    let described = properties(spec, schema);
    object.keys().filter(|key| !described.contains(key)).cloned().collect()
}

fn properties(spec: &Value, schema: &Value) -> Vec<String> {
    let schema = resolve(spec, schema);
    let direct = schema.get("properties").and_then(Value::as_object);
    let direct = direct.into_iter().flat_map(Map::keys).cloned();
    let parts = schema.get("allOf").and_then(Value::as_array).into_iter().flatten();
    direct.chain(parts.flat_map(|part| properties(spec, part))).collect()
}

fn has_type(rule: &Value, value: &Value) -> bool {
    let is = |name: &str| match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("there is no type {other}"),
    };
    match rule {
        Value::String(name) => is(name),
        Value::Array(names) => names.iter().any(|name| is(name.as_str().expect("a type"))),
        other => panic!("{other} is no type"),
    }
}

#[test]
fn wrong_values_are_found() {
    let schema = serde_json::json!({
        "type": "object",
        "properties": {
            "count": { "type": "integer", "minimum": 0 },
            "names": { "type": "array", "items": { "type": ["string", "null"] } },
            "kind": { "enum": ["a", "b"] },
            "any": { "anyOf": [{ "type": "string" }, { "$ref": "#/x" }] },
        },
        "required": ["count"],
    });
    let spec = serde_json::json!({ "x": { "type": "boolean" } });
    let count = |value| faults(&spec, &schema, &value).len();
    assert_eq!(count(serde_json::json!({ "count": 0, "names": ["x", null], "any": true })), 0);
    assert_eq!(count(serde_json::json!([])), 1);
    assert_eq!(count(serde_json::json!({})), 1);
    assert_eq!(count(serde_json::json!({ "count": -1 })), 1);
    assert_eq!(count(serde_json::json!({ "count": 1.5, "names": [1, 2], "kind": "c" })), 4);
    assert_eq!(count(serde_json::json!({ "count": 1, "any": 1 })), 1);
    assert_eq!(undescribed(&spec, &schema, &serde_json::json!({ "count": 1, "y": 2 })), ["y"]);
}
