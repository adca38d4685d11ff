//! Traces, logs and metrics of OpenTelemetry as JSON (OTLP): a row for each span, log record and
//! data point.
//!
//! Members keep their names. Attributes become columns under their own names, those of the resource
//! under `resource.`; nanoseconds since 1970 become ISO 8601.

use serde_json::{Map, Value};

use super::held_rows::Member;
use hadal_types::Micros;

/// The arrays that have rows: of spans, log records and metrics, also by their older names.
pub(super) const PATHS: [[&str; 3]; 6] = [
    ["resourceSpans", "scopeSpans", "spans"],
    ["resourceLogs", "scopeLogs", "logRecords"],
    ["resourceMetrics", "scopeMetrics", "metrics"],
    ["resourceSpans", "instrumentationLibrarySpans", "spans"],
    ["resourceLogs", "instrumentationLibraryLogs", "logRecords"],
    ["resourceMetrics", "instrumentationLibraryMetrics", "metrics"],
];
/// The kinds of metrics: the members that have the data points.
const METRICS: [&str; 5] = ["gauge", "sum", "histogram", "exponentialHistogram", "summary"];
/// The greatest nesting of attribute values.
const DEPTH_MAX: usize = 16;

/// Whether a member has a name of OTLP, which may also be written with underscores.
pub(super) fn is_name(member: &str, name: &str) -> bool {
    let is_letter = |c: &char| *c != '_';
    let folded = |text: &'_ str| text.chars().filter(is_letter).collect::<String>();
    member == name || folded(member).eq_ignore_ascii_case(name)
}

/// The time column of the rows in a document with this first member.
pub(super) fn time_column(member: &str) -> Option<&'static str> {
    PATHS.iter().position(|path| is_name(member, path[0])).map(time_column_of)
}

/// The time column of the rows in the array of path `path`.
pub(super) const fn time_column_of(path: usize) -> &'static str {
    if path.is_multiple_of(3) { "startTimeUnixNano" } else { "timeUnixNano" }
}

/// The members of a resource or a scope, as members of their rows.
pub(super) fn members(name: &str, value: &str) -> Option<Vec<Member>> {
    let mut row = Map::new();
    let prefix = match name {
        "resource" => "resource",
        "scope" | "instrumentationLibrary" | "instrumentation_library" => "scope",
        _ => return Some(Vec::new()),
    };
    let Value::Object(object) = serde_json::from_str(value).ok()? else { return Some(Vec::new()) };
    for (name, value) in object {
        match name.as_str() {
            "attributes" => attributes(&mut row, &format!("{prefix}."), &value, 0),
            _ if value.is_object() || value.is_array() => {}
            _ => insert(&mut row, format!("{prefix}.{name}"), value),
        }
    }
    let member = |(name, value): (String, Value)| {
        let text = format!("{}:{value}", Value::from(name.as_str()));
        Member { name, text }
    };
    Some(row.into_iter().map(member).collect())
}

/// The rows of a span, a log record or a metric, in the array of path `path`. `None` if the text is
/// no object.
pub(super) fn rows(text: &str, path: usize) -> Option<Vec<String>> {
    let Value::Object(object) = serde_json::from_str(text).ok()? else { return None };
    let rows = match path % 3 {
        2 => points(object),
        _ => vec![row(object)],
    };
    Some(rows.into_iter().map(|row| Value::Object(row).to_string()).collect())
}

/// The row of a span, a log record or a data point.
fn row(object: Map<String, Value>) -> Map<String, Value> {
    let mut row = Map::new();
    let [start, end] = ["startTimeUnixNano", "endTimeUnixNano"].map(|name| {
        object
            .iter()
            .find(|(member, _)| is_name(member, name))
            .and_then(|(_, value)| integer(value))
    });
    if let (Some(start), Some(end)) = (start, end) {
        row.insert("duration_ns".to_owned(), end.saturating_sub(start).into());
    }
    let mut attribute_values = Vec::new();
    for (name, value) in object {
        match name.as_str() {
            "attributes" => attribute_values.push(value),
            "body" => any_value(&mut row, "body".to_owned(), &value, 0),
            // Events and links are lists of objects; their text keeps them.
            "events" | "links" | "exemplars" | "quantileValues" => {
                if value.as_array().is_some_and(|list| !list.is_empty()) {
                    row.insert(name, value.to_string().into());
                }
            }
            _ => member(&mut row, name, value),
        }
    }
    // A member of the record has its name before an attribute has it.
    attribute_values.iter().for_each(|values| attributes(&mut row, "", values, 0));
    row
}

fn member(row: &mut Map<String, Value>, name: String, value: Value) {
    let folded: String = name.chars().filter(|c| *c != '_').collect();
    let is_time = folded.to_ascii_lowercase().ends_with("timeunixnano");
    match value {
        value if is_time => {
            if let Some(nanos) = integer(&value).filter(|nanos| *nanos > 0) {
                insert(row, name, iso(nanos).map_or(value, Value::from));
            }
        }
        Value::Object(object) => {
            for (inner, value) in object {
                insert(row, format!("{name}.{inner}"), value);
            }
        }
        value if matches!(name.as_str(), "asInt" | "count") => {
            insert(row, name, integer(&value).map_or(value, Value::from));
        }
        value => insert(row, name, value),
    }
}

/// A row for each data point of a metric.
fn points(mut metric: Map<String, Value>) -> Vec<Map<String, Value>> {
    let mut rows = Vec::new();
    for kind in METRICS {
        let Some(Value::Object(mut data)) = metric.remove(kind) else { continue };
        let points = data.remove("dataPoints").or_else(|| data.remove("data_points"));
        let Some(Value::Array(points)) = points else { continue };
        for point in points {
            let Value::Object(point) = point else { continue };
            let mut row = row(point);
            for (name, value) in metric.iter().chain(&data) {
                insert(&mut row, name.clone(), value.clone());
            }
            insert(&mut row, "type".to_owned(), kind.into());
            rows.push(row);
        }
    }
    rows
}

/// Adds a list of attributes, each with a key and a value.
fn attributes(row: &mut Map<String, Value>, prefix: &str, list: &Value, depth: usize) {
    for attribute in list.as_array().into_iter().flatten() {
        let (Some(key), Some(value)) =
            (attribute.get("key").and_then(Value::as_str), attribute.get("value"))
        else {
            continue;
        };
        let name = format!("{prefix}{key}");
        let name = if row.contains_key(&name) { format!("attributes.{name}") } else { name };
        any_value(row, name, value, depth);
    }
}

/// Adds a value with its type: `{"intValue": "5"}`.
fn any_value(row: &mut Map<String, Value>, name: String, value: &Value, depth: usize) {
    let Some((kind, inner)) = value.as_object().and_then(|value| value.iter().next()) else {
        return;
    };
    let kind: String = kind.chars().filter(|c| *c != '_').collect();
    match kind.to_ascii_lowercase().as_str() {
        "intvalue" => insert(row, name, integer(inner).map_or(inner.clone(), Value::from)),
        "arrayvalue" => {
            let values = inner.get("values").and_then(Value::as_array);
            let texts = values
                .into_iter()
                .flatten()
                .filter_map(|value| value.as_object()?.values().next().cloned());
            insert(row, name, texts.collect());
        }
        "kvlistvalue" if depth < DEPTH_MAX => {
            let list = inner.get("values").unwrap_or(&Value::Null);
            attributes(row, &format!("{name}."), list, depth + 1);
        }
        _ => insert(row, name, inner.clone()),
    }
}

/// Adds a value that is there; the first one of a name counts.
fn insert(row: &mut Map<String, Value>, name: String, value: Value) {
    let is_empty = value.is_null() || value.as_array().is_some_and(Vec::is_empty);
    if !is_empty {
        row.entry(name).or_insert(value);
    }
}

/// An integer, which OTLP writes as a string.
fn integer(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| value.as_str()?.parse().ok())
}

/// A time in nanoseconds since 1970 as ISO 8601, with all its digits; `None` beyond the years.
fn iso(nanos: i64) -> Option<String> {
    let (micros, rest) = (Micros(nanos.div_euclid(1_000)), nanos.rem_euclid(1_000));
    if rest == 0 {
        return Some(micros.to_string());
    }
    let second = Micros(micros.0.div_euclid(Micros::SECOND) * Micros::SECOND).to_string();
    let fraction = format!("{:09}", nanos.rem_euclid(1_000_000_000));
    Some(format!("{}.{}Z", second.strip_suffix('Z')?, fraction.trim_end_matches('0')))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn only(text: &str, path: usize) -> Value {
        let rows = rows(text, path).expect("an object");
        assert_eq!(rows.len(), 1);
        serde_json::from_str(&rows[0]).expect("JSON")
    }

    #[test]
    fn a_span_has_its_attributes_and_duration() {
        let span = r#"{"spanId":"01","name":"GET /","kind":2,"startTimeUnixNano":"1544712660000000001",
            "endTimeUnixNano":"1544712661500000000","status":{"code":2,"message":"no"},"events":[],
            "attributes":[{"key":"code","value":{"intValue":"500"}},{"key":"ok","value":{"boolValue":true}},
            {"key":"name","value":{"stringValue":"x"}},{"key":"t","value":{"arrayValue":{"values":
            [{"stringValue":"a"},{"stringValue":"b"}]}}}]}"#;
        let expected = serde_json::json!({
            "spanId": "01", "name": "GET /", "kind": 2, "code": 500, "ok": true, "attributes.name": "x",
            "startTimeUnixNano": "2018-12-13T14:51:00.000000001Z", "t": ["a", "b"],
            "endTimeUnixNano": "2018-12-13T14:51:01.5Z", "duration_ns": 1_499_999_999,
            "status.code": 2, "status.message": "no",
        });
        assert_eq!(only(span, 0), expected);
    }

    #[test]
    fn a_log_record_has_its_body() {
        let record = r#"{"timeUnixNano":"1544712660000000000","observedTimeUnixNano":"0",
            "severityText":"INFO","body":{"stringValue":"up"},"attributes":[]}"#;
        let expected = serde_json::json!({
            "timeUnixNano": "2018-12-13T14:51:00Z", "severityText": "INFO", "body": "up",
        });
        assert_eq!(only(record, 1), expected);
        let structured =
            r#"{"body":{"kvlistValue":{"values":[{"key":"a","value":{"intValue":1}}]}}}"#;
        assert_eq!(only(structured, 4), serde_json::json!({"body.a": 1}));
    }

    #[test]
    fn a_metric_has_a_row_for_each_data_point() {
        let metric = r#"{"name":"cpu","unit":"s","sum":{"isMonotonic":true,"dataPoints":[
            {"timeUnixNano":"1544712660000000000","asInt":"7","attributes":
             [{"key":"host","value":{"stringValue":"a"}}]},
            {"timeUnixNano":"1544712661000000000","asDouble":1.5}]}}"#;
        let rows = rows(metric, 2).expect("rows");
        assert_eq!(rows.len(), 2);
        let expected = serde_json::json!({
            "name": "cpu", "unit": "s", "type": "sum", "isMonotonic": true, "asInt": 7,
            "timeUnixNano": "2018-12-13T14:51:00Z", "host": "a",
        });
        assert_eq!(serde_json::from_str::<Value>(&rows[0]).expect("JSON"), expected);
    }

    #[test]
    fn a_resource_and_a_scope_are_named() {
        let resource =
            r#"{"attributes":[{"key":"service.name","value":{"stringValue":"cart"}}],"x":0}"#;
        let texts = |name, value| -> Vec<String> {
            members(name, value).expect("members").into_iter().map(|member| member.text).collect()
        };
        let expected = [r#""resource.service.name":"cart""#, r#""resource.x":0"#];
        assert_eq!(texts("resource", resource), expected);
        assert_eq!(texts("scope", r#"{"name":"lib"}"#), [r#""scope.name":"lib""#]);
        assert!(texts("schemaUrl", "\"u\"").is_empty());
    }

    #[test]
    fn names_may_have_underscores() {
        assert!(is_name("scope_spans", "scopeSpans") && !is_name("scopes", "scopeSpans"));
        assert_eq!(time_column("resource_logs"), Some("timeUnixNano"));
        assert_eq!(time_column("resourceSpans"), Some("startTimeUnixNano"));
        assert_eq!(time_column("spans"), None);
    }
}
