//! GeoJSON (RFC 7946): each feature of a FeatureCollection becomes a row of its properties.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

/// An object with the JSON text of each value.
type Members<'j> = BTreeMap<String, &'j RawValue>;

/// The names of a point's coordinates, in their order.
const COORDINATES: [&str; 3] = ["longitude", "latitude", "altitude"];

/// A feature as a row; `None` for anything else.
pub(super) fn row(feature: &str) -> Option<String> {
    let mut feature: Members<'_> = serde_json::from_str(feature).ok()?;
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
    serde_json::to_string(&row).ok()
}

/// Returns the members of an object; null has none.
fn members(value: &RawValue) -> Option<Members<'_>> {
    let members: Option<Members<'_>> = serde_json::from_str(value.get()).ok()?;
    Some(members.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_are_columns_and_points_have_coordinates() {
        let feature = r#"{"type":"Feature","properties":{"mag":2.50,"type":"quake","latitude":7},
               "geometry":{"type":"Point","coordinates":[-118.60,34.5,26]},"id":"a"}"#;
        let expected = concat!(
            r#"{"altitude":26,"geometry.type":"Point","id":"a","latitude":7,"#,
            r#""longitude":-118.60,"mag":2.50,"type":"quake"}"#
        );
        assert_eq!(row(feature).as_deref(), Some(expected));
        let none = r#"{"type":"Feature","properties":null,"geometry":null,"id":"b"}"#;
        assert_eq!(row(none).as_deref(), Some(r#"{"id":"b"}"#));
    }

    #[test]
    fn other_shapes_are_kept_and_others_are_no_features() {
        let line = concat!(
            r#"{"type":"Feature","properties":{},"#,
            r#""geometry":{"type":"LineString","coordinates":[[1,2],[3,4]]}}"#
        );
        let expected = r#"{"geometry.coordinates":[[1,2],[3,4]],"geometry.type":"LineString"}"#;
        assert_eq!(row(line).as_deref(), Some(expected));
        for other in ["{\"a\":1}", "{\"type\":\"Feature\"}", "{x}", "7"] {
            assert_eq!(row(other), None);
        }
    }
}
