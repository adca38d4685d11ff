//! What people save beside the rows: dashboards, saved views and frozen answers.
//!
//! A document is a name and a JSON object, which is kept as text: numbers of frozen answers have
//! all the digits that the answers had. The page draws it, so its meaning is the page's
//! (docs/page.md, docs/dashboards.md). Its shape is checked here, so that whatever is stored can
//! be drawn, and so that a mistake in a file is reported with its place.

mod shape;

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::limits::{
    DASHBOARD_COLUMNS, DASHBOARD_FILTERS_MAX, DASHBOARD_ROWS_MAX, DASHBOARD_TILE_ROWS_MAX,
    DASHBOARD_TILES_MAX, DASHBOARD_VARIABLES_MAX, DOCUMENT_BYTES_MAX,
    DOCUMENT_DESCRIPTION_BYTES_MAX, DOCUMENT_NAME_BYTES_MAX, DOCUMENT_OWNER_BYTES_MAX,
    SAVED_QUERY_BYTES_MAX, SNAPSHOT_ANSWERS_MAX, SNAPSHOT_BYTES_MAX,
};
use shape::{Field, FieldShape, optional, required};

/// Why a document was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {reason}")]
pub struct DocumentError {
    /// The part that is wrong: `tiles[3].w`.
    pub field: String,
    /// What is wrong with it, and what is expected.
    pub reason: String,
}

/// A kind of documents. Names are unique within a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DocumentKind {
    /// A grid of tiles, each a query.
    Dashboard,
    /// A query with a name.
    View,
    /// A query with its answers as they were.
    Snapshot,
}

/// Something that a person saved.
#[derive(Clone, Debug)]
pub struct Document {
    kind: DocumentKind,
    /// A JSON object, as it was written.
    text: Box<RawValue>,
    summary: DocumentSummary,
}

/// What lists say of a document: all but its large parts.
#[derive(Clone, Debug, PartialEq)]
pub struct DocumentSummary(pub Map<String, Value>);

const SHORT: FieldShape = FieldShape::Text { bytes_max: DOCUMENT_NAME_BYTES_MAX };
const QUERY: FieldShape = FieldShape::Text { bytes_max: SAVED_QUERY_BYTES_MAX };
const FILTERS: FieldShape = FieldShape::List { of: &QUERY, count_max: DASHBOARD_FILTERS_MAX };
const NAME: Field = required("name", SHORT);
const OWNER: Field = optional("owner", FieldShape::Text { bytes_max: DOCUMENT_OWNER_BYTES_MAX });
const DESCRIPTION: Field =
    optional("description", FieldShape::Text { bytes_max: DOCUMENT_DESCRIPTION_BYTES_MAX });

const TILE: FieldShape = FieldShape::Object(&[
    optional("title", SHORT),
    required("query", QUERY),
    required("x", FieldShape::Integer { least: 0, most: DASHBOARD_COLUMNS - 1 }),
    required("y", FieldShape::Integer { least: 0, most: DASHBOARD_ROWS_MAX }),
    required("w", FieldShape::Integer { least: 1, most: DASHBOARD_COLUMNS }),
    required("h", FieldShape::Integer { least: 1, most: DASHBOARD_TILE_ROWS_MAX }),
]);
const VARIABLE: FieldShape = FieldShape::Object(&[
    required("name", FieldShape::Identifier),
    optional("value", QUERY),
    optional("table", SHORT),
    optional("column", SHORT),
]);
const DASHBOARD: FieldShape = FieldShape::Object(&[
    NAME,
    OWNER,
    DESCRIPTION,
    optional("from", SHORT),
    optional("to", SHORT),
    optional("compare", SHORT),
    optional("refresh", SHORT),
    optional("filters", FILTERS),
    optional("variables", FieldShape::List { of: &VARIABLE, count_max: DASHBOARD_VARIABLES_MAX }),
    required("tiles", FieldShape::List { of: &TILE, count_max: DASHBOARD_TILES_MAX }),
]);
const VIEW: FieldShape = FieldShape::Object(&[NAME, OWNER, DESCRIPTION, required("query", QUERY)]);
const ANSWER: FieldShape = FieldShape::Object(&[
    required("request", FieldShape::AnyObject),
    required("answer", FieldShape::AnyObject),
]);
const SNAPSHOT: FieldShape = FieldShape::Object(&[
    NAME,
    OWNER,
    DESCRIPTION,
    required("query", QUERY),
    required("taken", SHORT),
    required("answers", FieldShape::List { of: &ANSWER, count_max: SNAPSHOT_ANSWERS_MAX }),
]);

impl DocumentKind {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Dashboard, Self::View, Self::Snapshot];

    /// The kind's name in the store and between processes.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Dashboard => "dashboard",
            Self::View => "view",
            Self::Snapshot => "snapshot",
        }
    }

    /// The kind of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Bytes of one document as JSON at most.
    #[must_use]
    pub const fn bytes_max(self) -> usize {
        match self {
            Self::Dashboard | Self::View => DOCUMENT_BYTES_MAX,
            Self::Snapshot => SNAPSHOT_BYTES_MAX,
        }
    }

    const fn shape(self) -> &'static FieldShape {
        match self {
            Self::Dashboard => &DASHBOARD,
            Self::View => &VIEW,
            Self::Snapshot => &SNAPSHOT,
        }
    }
}

impl Document {
    /// Reads a JSON object whose shape is that of the kind.
    ///
    /// # Errors
    /// [`DocumentError`] with the first place that is wrong, also for an unknown key.
    pub fn from_json(kind: DocumentKind, text: &str) -> Result<Self, DocumentError> {
        if text.len() > kind.bytes_max() {
            return Err(too_long(kind, text.len()));
        }
        let no_json = |error| DocumentError::new(kind.name(), format!("this is no JSON: {error}"));
        let value = serde_json::from_str(text).map_err(no_json)?;
        kind.shape().check(&value, "")?;
        let Value::Object(fields) = value else {
            return Err(DocumentError::new(kind.name(), "this is no object"));
        };
        if kind == DocumentKind::Dashboard {
            check_tiles_fit(&fields)?;
        }
        let summary = DocumentSummary::of(&fields);
        check_name(summary.name())?;
        Ok(Self { kind, text: serde_json::from_str(text).map_err(no_json)?, summary })
    }

    /// Whether a document may have this name.
    #[must_use]
    pub fn is_name(name: &str) -> bool {
        name.len() <= DOCUMENT_NAME_BYTES_MAX && check_name(name).is_ok()
    }

    /// The kind.
    #[must_use]
    pub const fn kind(&self) -> DocumentKind {
        self.kind
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.summary.name()
    }

    /// The JSON object, as it was written.
    #[must_use]
    pub const fn json(&self) -> &RawValue {
        &self.text
    }

    /// What lists say of it: its short fields, and the number of tiles.
    #[must_use]
    pub const fn summary(&self) -> &DocumentSummary {
        &self.summary
    }
}

impl PartialEq for Document {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind && self.text.get() == other.text.get()
    }
}

impl DocumentSummary {
    /// The summary of a document with these fields.
    fn of(fields: &Map<String, Value>) -> Self {
        let is_short = |(key, _): &(&String, &Value)| {
            ["name", "owner", "description", "query", "taken"].contains(&key.as_str())
        };
        let short = fields.iter().filter(is_short);
        let mut summary: Map<_, _> =
            short.map(|(key, value)| (key.clone(), value.clone())).collect();
        if let Some(tiles) = fields.get("tiles").and_then(Value::as_array) {
            summary.insert("tiles".to_owned(), json!(tiles.len()));
        }
        Self(summary)
    }

    /// The name of the document.
    #[must_use]
    pub fn name(&self) -> &str {
        self.0.get("name").and_then(Value::as_str).unwrap_or_default()
    }

    /// The summary as one line of JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        Value::Object(self.0.clone()).to_string()
    }

    /// Reads what [`Self::to_json`] wrote. `None` for anything else.
    #[must_use]
    pub fn from_json(text: &str) -> Option<Self> {
        let summary = Self(serde_json::from_str(text).ok()?);
        (!summary.name().is_empty()).then_some(summary)
    }
}

impl DocumentError {
    /// An error of this field.
    #[must_use]
    pub fn new(field: &str, reason: impl Into<String>) -> Self {
        Self { field: field.to_owned(), reason: reason.into() }
    }
}

fn too_long(kind: DocumentKind, bytes: usize) -> DocumentError {
    let reason = format!("{bytes} bytes; at most {} are allowed", kind.bytes_max());
    DocumentError::new(kind.name(), reason)
}

/// Names are parts of addresses, so they have no `/`, and are neither `.` nor `..`.
fn check_name(name: &str) -> Result<(), DocumentError> {
    let wrong = |what: &str| Err(DocumentError::new("name", format!("{name:?}: {what}")));
    match name {
        "" => wrong("a name has at least one character"),
        "." | ".." => wrong("this is a part of an address, not a name"),
        _ if name.trim() != name => wrong("a name begins and ends with no space"),
        _ if name.contains(|c: char| c == '/' || c.is_control()) => {
            wrong("a name has no / and no control characters")
        }
        _ => Ok(()),
    }
}

/// No tile reaches beyond the right edge of the grid.
fn check_tiles_fit(fields: &Map<String, Value>) -> Result<(), DocumentError> {
    let tiles = fields.get("tiles").and_then(Value::as_array).into_iter().flatten();
    for (index, tile) in tiles.enumerate() {
        let part = |key: &str| tile.get(key).and_then(Value::as_u64).unwrap_or(0);
        let end = part("x") + part("w");
        if end > DASHBOARD_COLUMNS {
            let reason = format!("the tile ends at column {end}; the grid has {DASHBOARD_COLUMNS}");
            return Err(DocumentError::new(&format!("tiles[{index}].w"), reason));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
