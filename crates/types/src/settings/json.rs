//! Settings as strict JSON.

use serde_json::{Map, Value};

use super::column_unit::add_unit;
use super::{
    AgeLimit, ColumnUnit, ColumnUnits, SampleFactor, SettingsError, TableSettings, column, no_rows,
    on_or_off, parse_bytes,
};
use crate::name::ColumnName;

/// The current version of the JSON form. A reader refuses a later one and never guesses.
const FORMAT: u64 = 1;

impl TableSettings {
    /// The settings that are set, and the format, as one line of JSON. Equal settings give equal
    /// bytes.
    #[must_use]
    pub fn to_json(&self) -> String {
        Value::Object(self.object_with(Some(FORMAT))).to_string()
    }

    /// The settings that are set.
    #[must_use]
    pub fn to_object(&self) -> Map<String, Value> {
        self.object_with(None)
    }

    fn object_with(&self, format: Option<u64>) -> Map<String, Value> {
        // Sorted by name, whether or not a map keeps the order of insertion.
        let fields = [
            ("age", self.age.map(|age| age.to_string().into())),
            ("archive", self.archive.map(Value::from)),
            ("bytes", self.bytes.map(Value::from)),
            ("cold_after", self.cold_after.map(|age| age.to_string().into())),
            ("format", format.map(Value::from)),
            ("sample_after", self.sample_after.map(|age| age.to_string().into())),
            ("sample_by", self.sample_by.as_deref().map(names)),
            ("sample_keep", self.sample_keep.map(|share| share.to_string().into())),
            ("sample_key", self.sample_key.as_ref().map(|column| column.as_str().into())),
            ("sample_least", self.sample_least.map(Value::from)),
            ("storage", self.storage.map(|storage| storage.to_string().into())),
            ("time_column", self.time_column.as_ref().map(|column| column.as_str().into())),
            ("units", self.units.as_ref().map(units_object)),
        ];
        let set = fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        set.collect()
    }

    /// Reads the JSON that [`Self::to_json`] or a person wrote.
    ///
    /// # Errors
    /// [`SettingsError`] with the field.
    pub fn from_json(text: &str) -> Result<Self, SettingsError> {
        let value: Value = serde_json::from_str(text)
            .map_err(|error| SettingsError::new("settings", format!("this is no JSON: {error}")))?;
        Self::from_value(&value)
    }

    /// Reads an object. `archive` is a boolean or a text. `age`, `cold_after` and `sample_after`
    /// are texts or numbers of seconds, `bytes` and `sample_keep` texts or numbers. `sample_by` is
    /// a list of names, or one text with commas between them. `sample_least` is a number;
    /// `sample_key`, `storage` and `time_column` are texts. `units` is an object of texts; an empty
    /// one sets none. `null` means unset. `format` may be left out.
    ///
    /// # Errors
    /// [`SettingsError`] with the field, also for an unknown field.
    pub fn from_value(value: &Value) -> Result<Self, SettingsError> {
        let Value::Object(object) = value else {
            return Err(SettingsError::new("settings", format!("{value} is no object")));
        };
        let mut settings = Self::default();
        for (name, value) in object {
            match name.as_str() {
                "format" => check_format(value)?,
                _ if value.is_null() && Self::NAMES.contains(&name.as_str()) => {}
                "age" => settings.age = Some(age(name, value)?),
                "archive" => settings.archive = Some(archive(value)?),
                "bytes" => settings.bytes = Some(bytes(value)?),
                "cold_after" => settings.cold_after = Some(age(name, value)?),
                "sample_after" => settings.sample_after = Some(age(name, value)?),
                "sample_by" => match value {
                    Value::String(text) => settings.set(name, text)?,
                    _ => settings.sample_by = Some(sample_by(value)?),
                },
                "sample_keep" => settings.sample_keep = Some(sample_keep(value)?),
                "sample_key" => settings.sample_key = Some(column_name(name, value)?),
                "sample_least" => settings.sample_least = Some(sample_least(value)?),
                "storage" => match value {
                    Value::String(text) => settings.set(name, text)?,
                    _ => return Err(no_storage(value)),
                },
                "time_column" => settings.time_column = Some(column_name(name, value)?),
                "units" => settings.units = units(value)?,
                _ => return Err(Self::unknown(name)),
            }
        }
        Ok(settings)
    }
}

fn check_format(value: &Value) -> Result<(), SettingsError> {
    match value.as_u64() {
        Some(FORMAT) => Ok(()),
        _ => {
            let reason = format!("{value} is not {FORMAT}, the one that this version knows");
            Err(SettingsError::new("format", reason))
        }
    }
}

fn age(name: &str, value: &Value) -> Result<AgeLimit, SettingsError> {
    let read = match (value, value.as_i64()) {
        (Value::String(text), _) => text.parse(),
        (_, Some(seconds)) => AgeLimit::of_seconds(seconds),
        _ => Err(format!("{value} is no age; write \"30d\", a number of seconds, or \"none\"")),
    };
    read.map_err(|reason| SettingsError::new(name, reason))
}

fn archive(value: &Value) -> Result<bool, SettingsError> {
    let read = match value {
        Value::Bool(is_on) => Ok(*is_on),
        Value::String(text) => on_or_off(text),
        _ => Err(format!("{value} is neither true nor false")),
    };
    read.map_err(|reason| SettingsError::new("archive", reason))
}

fn bytes(value: &Value) -> Result<u64, SettingsError> {
    let read = match (value, value.as_u64()) {
        (Value::String(text), _) => parse_bytes(text),
        (_, Some(bytes)) => Ok(bytes),
        _ => Err(format!("{value} is no size; write \"2GB\" or a number of bytes")),
    };
    let bytes = read.map_err(|reason| SettingsError::new("bytes", reason))?;
    TableSettings::check_bytes(bytes)
}

fn names(columns: &[ColumnName]) -> Value {
    columns.iter().map(ColumnName::as_str).collect()
}

fn sample_by(value: &Value) -> Result<Vec<ColumnName>, SettingsError> {
    let wrong = |reason: String| SettingsError::new("sample_by", reason);
    let names = value.as_array().ok_or_else(|| wrong(format!("{value} is no list of columns")))?;
    let name = |name: &Value| {
        let name = name.as_str().ok_or_else(|| wrong(format!("{name} is no name")))?;
        column(name).map_err(wrong)
    };
    TableSettings::check_sample_by(names.iter().map(name).collect::<Result<_, _>>()?)
}

fn sample_keep(value: &Value) -> Result<SampleFactor, SettingsError> {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    text.parse().map_err(|reason: String| SettingsError::new("sample_keep", reason))
}

fn sample_least(value: &Value) -> Result<u32, SettingsError> {
    let rows = value.as_u64();
    let rows =
        rows.ok_or_else(|| SettingsError::new("sample_least", no_rows(&value.to_string())))?;
    TableSettings::check_sample_least(rows)
}

fn units_object(units: &ColumnUnits) -> Value {
    let unit = |(column, unit): (&ColumnName, &ColumnUnit)| {
        (column.as_str().to_owned(), unit.name().into())
    };
    Value::Object(units.iter().map(unit).collect())
}

fn units(value: &Value) -> Result<Option<ColumnUnits>, SettingsError> {
    let wrong = |reason: String| SettingsError::new("units", reason);
    let object = value
        .as_object()
        .ok_or_else(|| wrong(format!("{value} is no object; write {{\"latency\": \"ms\"}}")))?;
    let mut units = ColumnUnits::new();
    for (column, unit) in object {
        let text = unit.as_str().ok_or_else(|| wrong(format!("{column}: {unit} is no unit")))?;
        add_unit(&mut units, column, text).map_err(wrong)?;
    }
    Ok((!units.is_empty()).then_some(units))
}

fn no_storage(value: &Value) -> SettingsError {
    SettingsError::new("storage", format!("{value} is no text; write \"memory\" or \"mmap\""))
}

fn column_name(name: &str, value: &Value) -> Result<ColumnName, SettingsError> {
    let read = match value {
        Value::String(text) => column(text),
        _ => Err(format!("{value} is no name; write the name of a column")),
    };
    read.map_err(|reason| SettingsError::new(name, reason))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TableStorage;

    fn error(text: &str) -> String {
        TableSettings::from_json(text).expect_err(text).to_string()
    }

    #[test]
    fn the_bytes_are_these() {
        assert_eq!(TableSettings::default().to_json(), r#"{"format":1}"#);
        let all = TableSettings {
            age: Some(AgeLimit::Seconds(7 * 86_400)),
            archive: Some(true),
            bytes: Some(2_000_000_000),
            cold_after: Some(AgeLimit::Seconds(36 * 3_600)),
            sample_after: Some(AgeLimit::Seconds(3 * 86_400)),
            sample_by: Some(["a", "b,c"].map(|name| ColumnName::new(name).expect("ok")).into()),
            sample_keep: SampleFactor::new(100),
            sample_key: Some(ColumnName::new("user").expect("a name")),
            sample_least: Some(7),
            storage: Some(TableStorage::Mmap),
            time_column: Some(ColumnName::new("ts").expect("a name")),
            units: Some([(ColumnName::new("took").expect("a name"), ColumnUnit::PerSecond)].into()),
        };
        let text = concat!(
            r#"{"age":"7d","archive":true,"bytes":2000000000,"cold_after":"36h","format":1,"#,
            r#""sample_after":"3d","sample_by":["a","b,c"],"sample_keep":"1/100","sample_key":"user","#,
            r#""sample_least":7,"storage":"mmap","time_column":"ts","#,
            r#""units":{"took":"per second"}}"#
        );
        assert_eq!(all.to_json(), text);
        assert_eq!(TableSettings::from_json(text), Ok(all));
        let any_age = TableSettings { age: Some(AgeLimit::Unlimited), ..TableSettings::default() };
        assert_eq!(any_age.to_json(), r#"{"age":"none","format":1}"#);
    }

    #[test]
    fn people_may_spell_as_they_like() {
        let read = TableSettings::from_json(r#"{"age": 90, "bytes": "1GiB", "time_column": null}"#);
        let settings = read.expect("settings");
        assert_eq!(settings.age, Some(AgeLimit::Seconds(90)));
        assert_eq!((settings.bytes, settings.time_column), (Some(1 << 30), None));
        for text in ["{}", r#"{"units": {}}"#] {
            assert_eq!(TableSettings::from_json(text), Ok(TableSettings::default()));
        }
        let text = r#"{"sample_after": 90, "sample_by": "a,b", "sample_keep": 0.05}"#;
        let settings = TableSettings::from_json(text).expect("settings");
        assert_eq!(settings.sample_age(), AgeLimit::Seconds(90));
        assert_eq!((settings.sample_columns().len(), settings.sample_share().rows()), (2, 20));
    }

    #[test]
    fn what_is_not_known_is_refused_by_name() {
        assert_eq!(
            error(r#"{"cold": "1d"}"#),
            "cold: there is no such setting; there are age, archive, bytes, cold_after, \
             sample_after, sample_by, sample_keep, sample_key, sample_least, storage, time_column, \
             units"
        );
        assert_eq!(error(r#"{"age": true}"#).split(':').next(), Some("age"));
        assert_eq!(error(r#"{"cold_after": 1.5}"#).split(':').next(), Some("cold_after"));
        assert_eq!(error(r#"{"age": "1y"}"#).split(':').next(), Some("age"));
        assert_eq!(error(r#"{"bytes": -1}"#).split(':').next(), Some("bytes"));
        assert_eq!(error(r#"{"bytes": 5}"#), "bytes: 5 is not between 1MiB and 1PiB");
        assert_eq!(error(r#"{"time_column": 5}"#).split(':').next(), Some("time_column"));
        assert_eq!(
            error(r#"{"format": 2}"#),
            "format: 2 is not 1, the one that this version knows"
        );
        for (text, field) in [
            (r#"{"archive": 1}"#, "archive"),
            (r#"{"archive": "yes"}"#, "archive"),
            (r#"{"sample_by": []}"#, "sample_by"),
            (r#"{"sample_by": [5]}"#, "sample_by"),
            (r#"{"sample_by": true}"#, "sample_by"),
            (r#"{"sample_keep": 10}"#, "sample_keep"),
            (r#"{"sample_keep": []}"#, "sample_keep"),
            (r#"{"sample_key": ["a"]}"#, "sample_key"),
            (r#"{"sample_key": ""}"#, "sample_key"),
            (r#"{"sample_least": 0}"#, "sample_least"),
            (r#"{"sample_least": "7"}"#, "sample_least"),
            (r#"{"units": {"a": "meters"}}"#, "units"),
            (r#"{"units": {"": "ms"}}"#, "units"),
            (r#"{"units": {"a": null}}"#, "units"),
            (r#"{"units": "a:ms"}"#, "units"),
        ] {
            assert_eq!(error(text).split(':').next(), Some(field), "{text}");
        }
        assert!(error("[]").starts_with("settings: "));
        assert!(error("{").starts_with("settings: this is no JSON: "));
    }
}
