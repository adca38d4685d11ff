//! The formats that rows are read from.

/// How rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InputFormat {
    /// One JSON object per line.
    JsonLines,
    /// A JSON array of objects, or objects one after the other over any lines.
    Json,
    /// A GeoJSON FeatureCollection: a row for each feature.
    GeoJson,
    /// Traces, logs or metrics of OpenTelemetry as JSON: a row for each span, record or data point.
    Otlp,
    /// Cells with a separator between them; the separator is an option of its own.
    Csv,
    /// Lines of a log or of any text: columns by the layout of the lines.
    Text,
    /// Lines of text: each line is a row as it is.
    Lines,
    /// Parquet.
    Parquet,
    /// Arrow IPC: a file (Feather) or a stream.
    Arrow,
}

impl InputFormat {
    /// All formats, with the names that options have for them.
    pub const ALL: [(&'static str, Self); 9] = [
        ("jsonl", Self::JsonLines),
        ("json", Self::Json),
        ("geojson", Self::GeoJson),
        ("otlp", Self::Otlp),
        ("csv", Self::Csv),
        ("text", Self::Text),
        ("lines", Self::Lines),
        ("parquet", Self::Parquet),
        ("arrow", Self::Arrow),
    ];

    /// Returns the format of a name, in any case; `None` if there is none of that name.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        let is_named = |(other, _): &&(&str, Self)| other.eq_ignore_ascii_case(name);
        Self::ALL.iter().find(is_named).map(|(_, format)| *format)
    }

    /// Its name as an option.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, format)| *format == self).map_or("", |(name, _)| *name)
    }

    /// Whether its rows are columns of typed values, not text.
    #[must_use]
    pub const fn is_columnar(self) -> bool {
        matches!(self, Self::Parquet | Self::Arrow)
    }

    /// Whether its rows are JSON.
    #[must_use]
    pub const fn is_json(self) -> bool {
        matches!(self, Self::JsonLines | Self::Json | Self::GeoJson | Self::Otlp)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_format_has_a_name() {
        for (name, format) in InputFormat::ALL {
            assert_eq!(InputFormat::of_name(&name.to_uppercase()), Some(format));
            assert_eq!(format.name(), name);
        }
        assert_eq!(InputFormat::of_name("xlsx"), None);
    }
}
