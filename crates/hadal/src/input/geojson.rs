//! GeoJSON (RFC 7946): each feature of a FeatureCollection becomes a row of its properties.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use super::json_objects::JsonObjects;
use super::{Reader, Rows};
use crate::error::Error;

/// An object with the JSON text of each value.
type Members<'j> = BTreeMap<String, &'j RawValue>;

/// The names of a point's coordinates, in their order.
const COORDINATES: [&str; 3] = ["longitude", "latitude", "altitude"];

/// The features of a collection.
pub(super) struct Features {
    objects: JsonObjects,
    feature: Vec<u8>,
}

impl Features {
    pub(super) fn new(reader: Reader, place: &str) -> Self {
        Self { objects: JsonObjects::new(reader, Some("features"), place), feature: Vec::new() }
    }
}

impl Rows for Features {
    fn next(&mut self, out: &mut Vec<u8>) -> Result<bool, Error> {
        self.feature.clear();
        let is_there = self.objects.next(&mut self.feature)?;
        if is_there && write(&self.feature, out).is_none() {
            // Anything but a feature is passed on; the server refuses it or takes it as it is.
            out.extend_from_slice(&self.feature);
        }
        Ok(is_there)
    }

    fn unit(&self) -> &'static str {
        "feature"
    }
}

/// Appends a feature as a row.
fn write(feature: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let mut feature: Members<'_> = serde_json::from_slice(feature).ok()?;
    feature.remove("type").filter(|kind| kind.get() == "\"Feature\"")?;
    let mut row = members(feature.remove("properties")?)?;
    let geometry = feature.remove("geometry").and_then(members);
    for (name, value) in feature {
        row.entry(name).or_insert(value);
    }
    if let Some(mut geometry) = geometry {
        let kind = geometry.get("type").map(|kind| kind.get());
        if kind == Some("\"Point\"")
            && let Some(point) = geometry.remove("coordinates")
        {
            let point: Vec<&RawValue> = serde_json::from_str(point.get()).ok()?;
            for (name, number) in COORDINATES.into_iter().zip(point) {
                row.entry(name.to_owned()).or_insert(number);
            }
        }
        for (name, value) in geometry {
            row.entry(format!("geometry.{name}")).or_insert(value);
        }
    }
    serde_json::to_writer(&mut *out, &row).ok()?;
    out.push(b'\n');
    Some(())
}

/// Returns the members of an object; null has none.
fn members(value: &RawValue) -> Option<Members<'_>> {
    let members: Option<Members<'_>> = serde_json::from_str(value.get()).ok()?;
    Some(members.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::super::{InputFormat, all_rows};

    fn rows(features: &str) -> Vec<String> {
        let text =
            format!("{{\"type\":\"FeatureCollection\",\"features\":[{features}],\"bbox\":[]}}");
        all_rows(&text, InputFormat::GeoJson).expect("rows")
    }

    #[test]
    fn properties_are_columns_and_points_have_coordinates() {
        let converted = rows(
            r#"{"type":"Feature","properties":{"mag":2.50,"type":"quake","latitude":7},
               "geometry":{"type":"Point","coordinates":[-118.60,34.5,26]},"id":"a"},
               {"type":"Feature","properties":null,"geometry":null,"id":"b"}"#,
        );
        let first = concat!(
            r#"{"altitude":26,"geometry.type":"Point","id":"a","latitude":7,"#,
            r#""longitude":-118.60,"mag":2.50,"type":"quake"}"#
        );
        assert_eq!(converted, [first, r#"{"id":"b"}"#]);
    }

    #[test]
    fn other_shapes_are_kept_and_what_is_no_feature_too() {
        let line = concat!(
            r#"{"type":"Feature","properties":{},"#,
            r#""geometry":{"type":"LineString","coordinates":[[1,2],[3,4]]}}"#
        );
        let row = r#"{"geometry.coordinates":[[1,2],[3,4]],"geometry.type":"LineString"}"#;
        assert_eq!(rows(line), [row]);
        for other in ["{\"a\":1}", "{\"type\":\"Feature\"}", "{x}", "7"] {
            assert_eq!(rows(other), [other]);
        }
    }
}
