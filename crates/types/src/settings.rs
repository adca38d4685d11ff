//! The settings of a table: the age limit of its rows, its bytes, the ages from which its rows are
//! stored cold or sampled, its time column, and the units of its columns.
//!
//! Every setting is optional. An unset setting has the default, now and after an upgrade. HTTP, the
//! command line, the definitions store and a leaf's manifest (`spec/segments.md`) share one strict
//! JSON form. This form is an object with the settings that are set, and `format`, the version of
//! this form. A reader refuses an object with an unknown field, because a person would believe that
//! a skipped setting is in force.

mod age;
mod column_unit;
mod json;
mod sample_factor;
mod size;
mod storage;

pub use age::AgeLimit;
pub use column_unit::{ColumnUnit, ColumnUnits};
pub use sample_factor::SampleFactor;
pub use size::{parse_bytes, spell_bytes};
pub use storage::TableStorage;

use crate::limits::{
    BLOCK_ROWS_MAX, OWN_TABLE_BYTES, SAMPLE_COLUMNS_MAX, TABLE_BYTES_SET_MAX, TABLE_BYTES_SET_MIN,
};
use crate::name::{ColumnName, TableName};
use column_unit::parse_units;

/// The settings of a table; `None` stands for the default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableSettings {
    /// The age limit of its rows: older rows are refused, and existing ones are dropped.
    pub age: Option<AgeLimit>,
    /// Whether rows are written to the archive before they are dropped for their age or for size.
    pub archive: Option<bool>,
    /// Bytes of its row blocks over all leaves, beyond which its oldest rows are dropped. Always a
    /// value that [`Self::check_bytes`] accepts.
    pub bytes: Option<u64>,
    /// The age of a row block's youngest row from which it is made cold: fewer bytes, slower to
    /// read.
    pub cold_after: Option<AgeLimit>,
    /// The age of a row block's youngest row from which only some of its rows are kept.
    pub sample_after: Option<AgeLimit>,
    /// Columns by whose values rows are grouped, so that each group keeps some of its rows. Always
    /// a list that [`Self::check_sample_by`] accepts.
    pub sample_by: Option<Vec<ColumnName>>,
    /// The share of rows that sampling keeps.
    pub sample_keep: Option<SampleFactor>,
    /// The column by whose value rows are sampled: all rows with a value are kept, or none. See
    /// [`Self::check_together`].
    pub sample_key: Option<ColumnName>,
    /// Rows that each group of a row block keeps, if it has that many. Always a value that
    /// [`Self::check_sample_least`] accepts.
    pub sample_least: Option<u32>,
    /// Where its row blocks are read from.
    pub storage: Option<TableStorage>,
    /// The column that holds a row's time.
    pub time_column: Option<ColumnName>,
    /// The units of columns, which the page shows; at least one, at most [`COLUMN_UNITS_MAX`].
    ///
    /// [`COLUMN_UNITS_MAX`]: crate::limits::COLUMN_UNITS_MAX
    pub units: Option<ColumnUnits>,
}

/// A refused setting, and the reason.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {reason}")]
pub struct SettingsError {
    /// The name of the setting, known or not.
    pub field: String,
    /// The error, and the expected value.
    pub reason: String,
}

impl SettingsError {
    pub(crate) fn new(field: &str, reason: impl Into<String>) -> Self {
        Self { field: field.to_owned(), reason: reason.into() }
    }
}

impl TableSettings {
    /// The names of all settings, as they are spelled everywhere.
    pub const NAMES: [&str; 12] = [
        "age",
        "archive",
        "bytes",
        "cold_after",
        "sample_after",
        "sample_by",
        "sample_keep",
        "sample_key",
        "sample_least",
        "storage",
        "time_column",
        "units",
    ];

    /// The settings of a table for which nobody set any: Hadal's own tables are small.
    #[must_use]
    pub fn of_new(table: &TableName) -> Self {
        Self { bytes: table.is_own().then_some(OWN_TABLE_BYTES), ..Self::default() }
    }

    /// The age limit of rows, set or default.
    #[must_use]
    pub fn age_limit(&self) -> AgeLimit {
        self.age.unwrap_or_default()
    }

    /// Whether rows are archived before they are dropped; off by default.
    #[must_use]
    pub fn is_archived(&self) -> bool {
        self.archive.unwrap_or(false)
    }

    /// Bytes that the table may have over all leaves: the setting, or `usual`.
    #[must_use]
    pub fn bytes_max(&self, usual: u64) -> u64 {
        self.bytes.unwrap_or(usual)
    }

    /// The age from which row blocks are made cold; unlimited (never) by default.
    #[must_use]
    pub fn cold_age(&self) -> AgeLimit {
        self.cold_after.unwrap_or(AgeLimit::Unlimited)
    }

    /// The age from which only some rows are kept; unlimited (never) by default.
    #[must_use]
    pub fn sample_age(&self) -> AgeLimit {
        self.sample_after.unwrap_or(AgeLimit::Unlimited)
    }

    /// Columns by which rows are grouped for sampling. By default none: all rows of a row block are
    /// one group.
    #[must_use]
    pub fn sample_columns(&self) -> &[ColumnName] {
        self.sample_by.as_deref().unwrap_or_default()
    }

    /// The share of rows that sampling keeps, set or default.
    #[must_use]
    pub fn sample_share(&self) -> SampleFactor {
        self.sample_keep.unwrap_or_default()
    }

    /// Rows that each group of a row block keeps; one by default.
    #[must_use]
    pub fn sample_rows_min(&self) -> u32 {
        self.sample_least.unwrap_or(1)
    }

    /// Where row blocks are read from; memory by default.
    #[must_use]
    pub fn storage(&self) -> TableStorage {
        self.storage.unwrap_or_default()
    }

    /// The units of columns that are set.
    pub fn column_units(&self) -> impl Iterator<Item = (&ColumnName, ColumnUnit)> {
        self.units.iter().flatten().map(|(column, unit)| (column, *unit))
    }

    /// Settings that have no effect because of another setting, one sentence each.
    #[must_use]
    pub fn idle(&self) -> Vec<String> {
        let mut idle = Vec::new();
        let age = self.age_limit();
        for (name, after) in [("cold_after", self.cold_age()), ("sample_after", self.sample_age())]
        {
            if age.seconds().zip(after.seconds()).is_some_and(|(limit, after)| after >= limit) {
                idle.push(format!("{name}={after} does nothing: rows go at age={age}"));
            }
        }
        if self.sample_age() == AgeLimit::Unlimited {
            // Senders may sample by the key, too: confidence intervals allow for it.
            let how = self.set_of(&["sample_by", "sample_keep", "sample_least"]);
            let tell = |name: &str| format!("{name} does nothing without sample_after");
            idle.extend(how.into_iter().map(tell));
        }
        idle
    }

    /// Sets one setting from its text: `7d`, `on`, `2GB`, `ts`; `default` unsets it.
    ///
    /// # Errors
    /// [`SettingsError`] with the setting, the error and the expected value.
    pub fn set(&mut self, name: &str, text: &str) -> Result<(), SettingsError> {
        let given = (text != "default").then_some(text);
        let wrong = |reason: String| SettingsError::new(name, reason);
        match name {
            "age" => self.age = given.map(str::parse).transpose().map_err(wrong)?,
            "archive" => {
                self.archive = given.map(|text| on_or_off(text).map_err(wrong)).transpose()?
            }
            "bytes" => {
                let bytes = given.map(parse_bytes).transpose().map_err(wrong)?;
                self.bytes = bytes.map(Self::check_bytes).transpose()?;
            }
            "cold_after" => self.cold_after = given.map(str::parse).transpose().map_err(wrong)?,
            "sample_after" => {
                self.sample_after = given.map(str::parse).transpose().map_err(wrong)?;
            }
            "sample_by" => {
                let names = given.map(|text| text.split(',').map(column).collect());
                let names = names.transpose().map_err(wrong)?;
                self.sample_by = names.map(Self::check_sample_by).transpose()?;
            }
            "sample_keep" => self.sample_keep = given.map(str::parse).transpose().map_err(wrong)?,
            "sample_key" => self.sample_key = given.map(column).transpose().map_err(wrong)?,
            "sample_least" => {
                let rows = given.map(|text| text.parse().map_err(|_| wrong(no_rows(text))));
                self.sample_least = rows.transpose()?.map(Self::check_sample_least).transpose()?;
            }
            "storage" => self.storage = given.map(str::parse).transpose().map_err(wrong)?,
            "time_column" => self.time_column = given.map(column).transpose().map_err(wrong)?,
            "units" => self.units = given.map(parse_units).transpose().map_err(wrong)?,
            _ => return Err(Self::unknown(name)),
        }
        Ok(())
    }

    /// Returns the bytes if a table may be limited to them.
    ///
    /// # Errors
    /// [`SettingsError`] with the range.
    pub(crate) fn check_bytes(bytes: u64) -> Result<u64, SettingsError> {
        if (TABLE_BYTES_SET_MIN..=TABLE_BYTES_SET_MAX).contains(&bytes) {
            return Ok(bytes);
        }
        let (least, most) = (spell_bytes(TABLE_BYTES_SET_MIN), spell_bytes(TABLE_BYTES_SET_MAX));
        let reason = format!("{bytes} is not between {least} and {most}");
        Err(SettingsError::new("bytes", reason))
    }

    /// Returns the columns without repeats if rows may be grouped by them.
    ///
    /// # Errors
    /// [`SettingsError`] with the range.
    pub fn check_sample_by(columns: Vec<ColumnName>) -> Result<Vec<ColumnName>, SettingsError> {
        if !(1..=SAMPLE_COLUMNS_MAX).contains(&columns.len()) {
            let reason = format!("{} columns; write 1 to {SAMPLE_COLUMNS_MAX}", columns.len());
            return Err(SettingsError::new("sample_by", reason));
        }
        let mut once: Vec<ColumnName> = Vec::with_capacity(columns.len());
        for column in columns {
            if !once.contains(&column) {
                once.push(column);
            }
        }
        Ok(once)
    }

    /// Returns the rows if a group may keep that many.
    ///
    /// # Errors
    /// [`SettingsError`] with the range.
    pub(crate) fn check_sample_least(rows: u64) -> Result<u32, SettingsError> {
        let least = u32::try_from(rows).ok();
        let within = |rows: &u32| (1..=BLOCK_ROWS_MAX as u64).contains(&u64::from(*rows));
        least.filter(within).ok_or_else(|| {
            let reason = format!("{rows} rows are not between 1 and {BLOCK_ROWS_MAX}");
            SettingsError::new("sample_least", reason)
        })
    }

    /// Checks that all settings may be set together. Call it only where a person sets them: stored
    /// settings stay readable, whatever a later version refuses.
    ///
    /// # Errors
    /// [`SettingsError`] with the settings that exclude each other.
    pub fn check_together(&self) -> Result<(), SettingsError> {
        let others = self.set_of(&["sample_by", "sample_least"]).join(" and ");
        if self.sample_key.is_none() || others.is_empty() {
            return Ok(());
        }
        let reason = format!("rows are kept by key or by group, not both; unset it, or {others}");
        Err(SettingsError::new("sample_key", reason))
    }

    /// The settings of `names` that are set.
    fn set_of<'n>(&self, names: &[&'n str]) -> Vec<&'n str> {
        let set = self.to_object();
        names.iter().copied().filter(|name| set.contains_key(*name)).collect()
    }

    fn unknown(name: &str) -> SettingsError {
        let names = Self::NAMES.join(", ");
        SettingsError::new(name, format!("there is no such setting; there are {names}"))
    }
}

fn on_or_off(text: &str) -> Result<bool, String> {
    match text {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err(format!("{text:?} is neither; write on or off")),
    }
}

fn column(name: &str) -> Result<ColumnName, String> {
    ColumnName::new(name).map_err(|error| error.to_string())
}

fn no_rows(text: &str) -> String {
    format!("{text:?} is no number of rows; write 10")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_set_is_the_default() {
        let settings = TableSettings::default();
        assert_eq!(settings.age_limit(), AgeLimit::Seconds(30 * 86_400));
        assert_eq!(settings.bytes_max(7), 7);
        assert!(!settings.is_archived());
        assert_eq!(settings.cold_age(), AgeLimit::Unlimited);
        assert_eq!(settings.sample_age(), AgeLimit::Unlimited);
        assert_eq!(settings.sample_columns(), []);
        assert_eq!((settings.sample_share().rows(), settings.sample_rows_min()), (10, 1));
        assert_eq!(settings.storage(), TableStorage::Memory);
    }

    #[test]
    fn settings_are_set_by_their_names() {
        let mut settings = TableSettings::default();
        for (name, text) in [
            ("age", "7d"),
            ("archive", "on"),
            ("bytes", "2GB"),
            ("cold_after", "2d"),
            ("sample_after", "4d"),
            ("sample_by", "host,service,host"),
            ("sample_keep", "0.01"),
            ("sample_key", "user"),
            ("sample_least", "5"),
            ("storage", "mmap"),
            ("time_column", "ts"),
            ("units", "took:ms,size:bytes"),
        ] {
            settings.set(name, text).expect("set");
        }
        assert_eq!(settings.age, Some(AgeLimit::Seconds(7 * 86_400)));
        assert!(settings.is_archived());
        assert_eq!(settings.bytes, Some(2_000_000_000));
        assert_eq!(settings.cold_age(), AgeLimit::Seconds(2 * 86_400));
        assert_eq!(settings.sample_age(), AgeLimit::Seconds(4 * 86_400));
        let columns: Vec<&str> = settings.sample_columns().iter().map(ColumnName::as_str).collect();
        assert_eq!(columns, ["host", "service"]);
        assert_eq!((settings.sample_share().rows(), settings.sample_rows_min()), (100, 5));
        assert_eq!(settings.sample_key.as_ref().map(ColumnName::as_str), Some("user"));
        assert_eq!(settings.storage(), TableStorage::Mmap);
        assert_eq!(settings.time_column.as_ref().map(ColumnName::as_str), Some("ts"));
        let units: Vec<_> =
            settings.column_units().map(|(column, unit)| (column.as_str(), unit.name())).collect();
        assert_eq!(units, [("size", "bytes"), ("took", "ms")]);
        for name in TableSettings::NAMES {
            settings.set(name, "default").expect("unset");
        }
        assert_eq!(settings, TableSettings::default());
    }

    #[test]
    fn what_is_wrong_is_told_by_the_setting() {
        let mut settings = TableSettings::default();
        for (name, text, expected) in [
            ("age", "soon", "age: \"soon\" is no age; write 30d, 12h, 90m or none"),
            ("archive", "yes", "archive: \"yes\" is neither; write on or off"),
            ("bytes", "much", "bytes: \"much\" is no size; write 2GB, 512MiB or a number of bytes"),
            ("bytes", "1", "bytes: 1 is not between 1MiB and 1PiB"),
            ("bytes", "2PiB", "bytes: 2251799813685248 is not between 1MiB and 1PiB"),
            ("cold_after", "9", "cold_after: 9 seconds are not between 1m and 36500d"),
            ("sample_after", "9", "sample_after: 9 seconds are not between 1m and 36500d"),
            ("sample_by", "a,b,c,d,e,f,g,h,i", "sample_by: 9 columns; write 1 to 8"),
            (
                "sample_keep",
                "0.3",
                "sample_keep: \"0.3\" is not 1/n for a whole n from 2 to 10000; write 1/10 or 0.1",
            ),
            ("sample_least", "few", "sample_least: \"few\" is no number of rows; write 10"),
            ("storage", "tape", "storage: \"tape\" is neither; write memory or mmap"),
            ("sample_least", "0", "sample_least: 0 rows are not between 1 and 65536"),
            (
                "ages",
                "7d",
                "ages: there is no such setting; there are age, archive, bytes, cold_after, \
                 sample_after, sample_by, sample_keep, sample_key, sample_least, storage, \
                 time_column, units",
            ),
            ("units", "took", "units: \"took\" has no unit; write took:ms"),
        ] {
            let error = settings.set(name, text).expect_err(text);
            assert_eq!(error.to_string(), expected);
        }
        assert!(settings.set("time_column", "").is_err());
        assert!(settings.set("sample_key", "").is_err());
        assert!(settings.set("sample_by", "a,,b").is_err());
        assert_eq!(settings, TableSettings::default(), "nothing was set");
    }

    #[test]
    fn settings_that_come_to_nothing_are_told() {
        let mut settings = TableSettings::default();
        for (name, text, idle) in [
            ("cold_after", "29d", vec![]),
            ("cold_after", "30d", vec!["cold_after=30d does nothing: rows go at age=30d"]),
            ("age", "none", vec![]),
            ("sample_after", "8d", vec![]),
            ("sample_key", "user", vec![]),
            (
                "age",
                "7d",
                vec![
                    "cold_after=30d does nothing: rows go at age=7d",
                    "sample_after=8d does nothing: rows go at age=7d",
                ],
            ),
            ("cold_after", "none", vec!["sample_after=8d does nothing: rows go at age=7d"]),
            ("sample_after", "none", vec![]),
            ("sample_keep", "1/5", vec!["sample_keep does nothing without sample_after"]),
        ] {
            settings.set(name, text).expect("set");
            assert_eq!(settings.idle(), idle, "{name}={text}");
        }
    }

    #[test]
    fn rows_are_kept_by_key_or_by_group() {
        let mut settings = TableSettings::default();
        for (name, text, refused) in [
            ("sample_least", "2", None),
            ("sample_by", "page", None),
            ("sample_key", "user", Some("sample_by and sample_least")),
            ("sample_by", "default", Some("sample_least")),
            ("sample_least", "default", None),
            ("sample_by", "page", Some("sample_by")),
            ("sample_key", "default", None),
        ] {
            settings.set(name, text).expect("set");
            let refusal = settings.check_together().map_err(|error| error.to_string());
            let expected = refused.map(|others| {
                format!(
                    "sample_key: rows are kept by key or by group, not both; unset it, or {others}"
                )
            });
            assert_eq!(refusal.err(), expected, "{name}={text}");
            // Stored settings can be read, whatever is refused now.
            assert_eq!(TableSettings::from_json(&settings.to_json()), Ok(settings.clone()));
        }
    }

    #[test]
    fn bytes_are_bounded_on_both_sides() {
        for bytes in [TABLE_BYTES_SET_MIN, TABLE_BYTES_SET_MAX] {
            assert_eq!(TableSettings::check_bytes(bytes), Ok(bytes));
        }
        for bytes in [0, TABLE_BYTES_SET_MIN - 1, TABLE_BYTES_SET_MAX + 1] {
            assert!(TableSettings::check_bytes(bytes).is_err(), "{bytes}");
        }
    }
}
