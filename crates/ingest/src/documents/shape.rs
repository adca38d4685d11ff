//! Where the rows of documents are, and how they are converted.

use std::borrow::Cow;

use hadal_types::limits::LINE_BYTES_MAX;

use super::convert::{members_of, row_of};
use super::held_rows::Member;
use super::{geojson, otlp};
use crate::input_format::InputFormat;
use crate::json;
use crate::read_options::ReadOptions;

/// Bytes of a metric of OTLP, which has many data points.
const METRIC_BYTES_MAX: usize = 8 * LINE_BYTES_MAX;

/// Where the rows of documents are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    kind: Kind,
    /// The names that lead to the array; documents may have any of these paths.
    paths: Vec<Vec<String>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Plain,
    GeoJson,
    Otlp,
}

/// Returns the shape that options name.
pub(crate) fn by_option(options: &ReadOptions) -> Option<Shape> {
    match (&options.rows, options.format) {
        (Some(path), _) => Some(Shape::of_path(path)),
        (None, Some(InputFormat::Otlp)) => Some(Shape::otlp()),
        (None, Some(InputFormat::GeoJson)) => Some(Shape::geojson()),
        (None, _) => None,
    }
}

impl Shape {
    /// The elements of an array at a dotted name. The names of OTLP's arrays are its shape.
    pub(crate) fn of_path(path: &str) -> Self {
        let names: Vec<String> = path.split('.').map(str::to_owned).collect();
        if otlp::PATHS.iter().any(|path| path.iter().eq(names.iter())) {
            return Self::otlp();
        }
        Self { kind: Kind::Plain, paths: vec![names] }
    }

    /// The features of a GeoJSON FeatureCollection.
    pub(crate) fn geojson() -> Self {
        Self { kind: Kind::GeoJson, paths: vec![vec!["features".to_owned()]] }
    }

    /// The spans, log records and data points of OTLP.
    pub(crate) fn otlp() -> Self {
        let owned = |path: &[&str; 3]| path.map(str::to_owned).to_vec();
        Self { kind: Kind::Otlp, paths: otlp::PATHS.iter().map(owned).collect() }
    }

    /// The names of a path.
    pub(super) fn path(&self, index: usize) -> &[String] {
        self.paths.get(index).map_or(&[], Vec::as_slice)
    }

    /// What documents should have, in words.
    pub(super) fn name(&self) -> String {
        match self.kind {
            Kind::Plain | Kind::GeoJson => format!("array {}", self.path(0).join(".")),
            Kind::Otlp => "resourceSpans, resourceLogs or resourceMetrics".to_owned(),
        }
    }

    /// The index of the path that a member belongs to, `names` names after its beginning. The first
    /// name chooses the path; `path` is the index of the chosen one.
    pub(super) fn step(&self, member: &str, names: usize, path: usize) -> Option<usize> {
        let is_next = |index: &usize| {
            let next = self.path(*index).get(names);
            next.is_some_and(|name| match self.kind {
                Kind::Plain | Kind::GeoJson => name == member,
                Kind::Otlp => otlp::is_name(member, name),
            })
        };
        match names {
            0 => (0..self.paths.len()).find(is_next),
            _ => Some(path).filter(is_next),
        }
    }

    /// The column of the rows' times, in documents with a path.
    pub(super) fn time_column(&self, path: usize) -> Option<&'static str> {
        (self.kind == Kind::Otlp).then(|| otlp::time_column_of(path))
    }

    /// The greatest length of an element.
    pub(super) const fn row_bytes_max(&self) -> usize {
        match self.kind {
            Kind::Plain | Kind::GeoJson => LINE_BYTES_MAX,
            Kind::Otlp => METRIC_BYTES_MAX,
        }
    }

    /// The rows of an element, as JSON objects or reasons. Text that is not JSON is passed on; its
    /// reader rejects it.
    pub(super) fn rows(&self, element: &str, path: usize) -> Vec<Result<String, String>> {
        let rows: Vec<Cow<'_, str>> = json::row_texts(Cow::Borrowed(element));
        let convert = |row: Cow<'_, str>| match self.kind {
            Kind::Plain => vec![row_of(&row, self.path(path).last())],
            Kind::GeoJson => vec![Ok(geojson::row(&row).unwrap_or(row.into_owned()))],
            Kind::Otlp => match otlp::rows(&row, path) {
                Some(rows) => rows.into_iter().map(Ok).collect(),
                None => vec![Ok(row.into_owned())],
            },
        };
        rows.into_iter().flat_map(convert).collect()
    }

    /// A member of an object around the rows, as JSON members of the rows: its name, its value if
    /// it is not too long, and the place of its object on the path. `None` if it cannot be
    /// repeated.
    pub(super) fn members(
        &self,
        name: &str,
        value: Option<&str>,
        path: usize,
        names: usize,
    ) -> Option<Vec<Member>> {
        match self.kind {
            Kind::Plain => {
                let prefix = self.path(path).get(..names).unwrap_or_default();
                members_of(prefix, name, value?)
            }
            Kind::GeoJson => Some(Vec::new()),
            Kind::Otlp => otlp::members(name, value?),
        }
    }
}
