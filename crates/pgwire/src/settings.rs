//! The settings of a session: those that mean something here, and those that clients set and read
//! back.

use std::collections::BTreeMap;
use std::time::Duration;

use hadal_frontend::IntervalForm;
use hadal_types::limits::{
    PG_SETTING_BYTES_MAX, PG_SETTINGS_MAX, QUERY_DEADLINE_MS, QUERY_DEADLINE_MS_MAX,
};
use jiff::tz::{TimeZone, TimeZoneDatabase};

use crate::failure::Failure;

/// Settings whose changes are reported to the client, as it spells them. It knows them from the
/// start.
const REPORTED: [(&str, &str); 13] = [
    ("application_name", "application_name"),
    ("client_encoding", "client_encoding"),
    ("datestyle", "DateStyle"),
    ("default_transaction_read_only", "default_transaction_read_only"),
    ("in_hot_standby", "in_hot_standby"),
    ("integer_datetimes", "integer_datetimes"),
    ("intervalstyle", "IntervalStyle"),
    ("is_superuser", "is_superuser"),
    ("server_encoding", "server_encoding"),
    ("server_version", "server_version"),
    ("session_authorization", "session_authorization"),
    ("standard_conforming_strings", "standard_conforming_strings"),
    ("timezone", "TimeZone"),
];

/// Defaults of settings that clients read.
const DEFAULTS: [(&str, &str); 29] = [
    ("application_name", ""),
    ("bytea_output", "hex"),
    ("client_encoding", "UTF8"),
    ("client_min_messages", "notice"),
    ("datestyle", "ISO, MDY"),
    ("default_transaction_isolation", "read committed"),
    ("default_transaction_read_only", "off"),
    ("extra_float_digits", "1"),
    ("hadal.intervals", "off"),
    ("hadal.require_complete", "off"),
    ("hadal.row_kinds", "off"),
    ("in_hot_standby", "off"),
    ("integer_datetimes", "on"),
    ("intervalstyle", "postgres"),
    ("is_superuser", "on"),
    ("lc_collate", "C"),
    ("lc_ctype", "C"),
    ("lc_messages", "C"),
    ("lc_monetary", "C"),
    ("max_identifier_length", "128"),
    ("max_index_keys", "32"),
    ("search_path", "\"$user\", public"),
    ("server_encoding", "UTF8"),
    ("server_version_num", "160004"),
    ("standard_conforming_strings", "on"),
    ("statement_timeout", "0"),
    ("timezone", "UTC"),
    ("transaction_isolation", "read committed"),
    ("transaction_read_only", "off"),
];

/// Settings that say what the server is.
const FIXED: [&str; 9] = [
    "in_hot_standby",
    "integer_datetimes",
    "is_superuser",
    "max_identifier_length",
    "max_index_keys",
    "server_encoding",
    "server_version",
    "server_version_num",
    "session_authorization",
];

/// The settings of a session.
#[derive(Debug)]
pub(crate) struct Settings {
    /// Values that RESET returns to: the defaults, and the options of the startup.
    initial: BTreeMap<String, String>,
    changed: BTreeMap<String, String>,
    /// The zone of times in texts.
    pub(crate) zone: TimeZone,
}

impl Settings {
    /// The settings of a session at its start. Options that cannot be are left out, as old drivers
    /// send options of old servers.
    pub(crate) fn new(version: &str, user: &str, options: &BTreeMap<String, String>) -> Self {
        let default = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let mut initial: BTreeMap<String, String> = DEFAULTS.iter().map(default).collect();
        initial.insert("server_version".to_owned(), format!("16.4 (Hadal {version})"));
        initial.insert("session_authorization".to_owned(), user.to_owned());
        let mut settings = Self { initial, changed: BTreeMap::new(), zone: TimeZone::UTC };
        let given = options.iter().filter(|(name, _)| {
            !["user", "database", "options", "replication"].contains(&name.as_str())
        });
        let flags = options.get("options").map(|text| flags(text)).unwrap_or_default();
        for (name, value) in given.map(|(name, value)| (name.clone(), value.clone())).chain(flags) {
            let name = name.to_ascii_lowercase();
            if settings.set(&name, Some(&value)).is_ok() {
                settings.initial.insert(name, value);
            }
        }
        settings.changed.clear();
        settings
    }

    /// The time zone of the calendar of queries.
    pub(crate) fn query_zone(&self) -> hadal_query::TimeZone {
        let name = self.zone.iana_name().filter(|_| self.zone != TimeZone::UTC);
        name.and_then(hadal_query::TimeZone::named).unwrap_or(hadal_query::TimeZone::UTC)
    }

    /// Sets a setting to a value, or to its initial value.
    ///
    /// # Errors
    /// [`Failure`] when the value means nothing here.
    pub(crate) fn set(&mut self, name: &str, value: Option<&str>) -> Result<(), Failure> {
        let Some(value) = value else {
            self.changed.remove(name);
            let zone = self.get("timezone").unwrap_or("UTC").to_owned();
            self.zone = zone_named(&zone).unwrap_or(TimeZone::UTC);
            return Ok(());
        };
        if name.len() + value.len() > PG_SETTING_BYTES_MAX {
            let message = format!("a setting of more than {PG_SETTING_BYTES_MAX} bytes");
            return Err(Failure::new("54000", message));
        }
        if FIXED.contains(&name) {
            return Err(Failure::new("55P02", format!("parameter {name} cannot be changed")));
        }
        self.check(name, value)?;
        if !self.changed.contains_key(name) && self.changed.len() >= PG_SETTINGS_MAX {
            let message = format!("more than {PG_SETTINGS_MAX} settings");
            return Err(Failure::new("54000", message));
        }
        self.changed.insert(name.to_owned(), value.to_owned());
        Ok(())
    }

    fn check(&mut self, name: &str, value: &str) -> Result<(), Failure> {
        let invalid = |expected: &str| {
            let message = format!("invalid value for parameter {name}: {value:?}");
            Failure::new("22023", message).hint(expected)
        };
        match name {
            "timezone" => {
                let expected = "a name such as Europe/Berlin, or UTC";
                self.zone = zone_named(value).ok_or_else(|| invalid(expected))?;
            }
            "statement_timeout" => {
                let most = QUERY_DEADLINE_MS_MAX;
                let expected = format!("milliseconds from 1 to {most}, or a text such as 30s");
                milliseconds(value)
                    .filter(|millis| *millis <= most)
                    .ok_or_else(|| invalid(&expected))?;
            }
            "hadal.intervals" | "hadal.require_complete" | "hadal.row_kinds" => {
                _ = truth(value).ok_or_else(|| invalid("on or off"))?;
            }
            "client_encoding" => {
                let plain = value.to_ascii_lowercase().replace(['-', '_'], "");
                if !["utf8", "unicode", "sqlascii"].contains(&plain.as_str()) {
                    return Err(invalid("UTF8, the only encoding"));
                }
            }
            "datestyle" if !value.to_ascii_lowercase().starts_with("iso") => {
                return Err(invalid("ISO, the only style"));
            }
            _ => {}
        }
        Ok(())
    }

    /// Returns all settings to their initial values.
    pub(crate) fn reset(&mut self) {
        self.changed.clear();
        // The initial zone was valid when it was set.
        let _ = self.set("timezone", None);
    }

    /// The value of a setting.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.changed.get(name).or_else(|| self.initial.get(name)).map(String::as_str)
    }

    /// The names of all settings that have a value.
    pub(crate) fn all(&self) -> BTreeMap<&str, &str> {
        let all = self.initial.iter().chain(&self.changed);
        all.map(|(name, value)| (name.as_str(), value.as_str())).collect()
    }

    /// The settings that are reported to a client, with their values.
    pub(crate) fn reported(&self) -> impl Iterator<Item = (&'static str, &str)> {
        REPORTED.iter().map(|(name, shown)| (*shown, self.get(name).unwrap_or_default()))
    }

    /// How a client spells a reported setting.
    pub(crate) fn reported_name(name: &str) -> Option<&'static str> {
        REPORTED.iter().find(|(reported, _)| *reported == name).map(|(_, shown)| *shown)
    }

    /// How long a statement may take. `statement_timeout` of 0 means the default.
    pub(crate) fn deadline(&self) -> Duration {
        let millis =
            self.get("statement_timeout").and_then(milliseconds).filter(|millis| *millis > 0);
        Duration::from_millis(millis.unwrap_or(QUERY_DEADLINE_MS))
    }

    /// Whether an answer that lacks rows is an error.
    pub(crate) fn require_complete(&self) -> bool {
        self.get("hadal.require_complete").and_then(truth).unwrap_or(false)
    }

    /// Whether answers have columns with the ends of confidence intervals.
    pub(crate) fn intervals(&self) -> IntervalForm {
        match self.get("hadal.intervals").and_then(truth) {
            Some(true) => IntervalForm::Columns,
            _ => IntervalForm::None,
        }
    }

    /// Whether answers have a column that marks rows which are no groups.
    pub(crate) fn row_kinds(&self) -> bool {
        self.get("hadal.row_kinds").and_then(truth).unwrap_or(false)
    }

    /// Whether messages of this severity are sent.
    pub(crate) fn sends(&self, severity: &str) -> bool {
        const RISING: [&str; 4] = ["debug", "notice", "warning", "error"];
        let rank = |word: &str| {
            let word = word.to_ascii_lowercase();
            // debug1 to debug5 and log are below notice.
            let word = if word.starts_with("debug") || word == "log" { "debug" } else { &word };
            RISING.iter().position(|known_word| *known_word == word)
        };
        let least = self.get("client_min_messages").and_then(rank).unwrap_or(1);
        rank(severity).is_none_or(|rank| rank >= least)
    }
}

/// `-c name=value` and `--name=value` of the startup option `options`.
fn flags(text: &str) -> Vec<(String, String)> {
    let words = text.split_ascii_whitespace();
    let assignments = words
        .map(|word| word.strip_prefix("-c").or_else(|| word.strip_prefix("--")).unwrap_or(word));
    let pair = |assignment: &str| {
        let (name, value) = assignment.split_once('=')?;
        Some((name.replace('-', "_"), value.to_owned()))
    };
    assignments.filter_map(pair).collect()
}

fn zone_named(name: &str) -> Option<TimeZone> {
    // All processes must know the zone of a query.
    hadal_query::TimeZone::named(name)?;
    if ["utc", "gmt", "z", "etc/utc"].contains(&name.to_ascii_lowercase().as_str()) {
        return Some(TimeZone::UTC);
    }
    TimeZoneDatabase::bundled().get(name).ok()
}

fn truth(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "on" | "true" | "yes" | "1" => Some(true),
        "off" | "false" | "no" | "0" => Some(false),
        _ => None,
    }
}

/// Milliseconds, with or without a unit.
fn milliseconds(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let number: u64 = digits.parse().ok()?;
    let unit = match text.get(digits.len()..)?.trim() {
        "" | "ms" => 1,
        "s" => 1_000,
        "min" => 60_000,
        "h" => 3_600_000,
        _ => return None,
    };
    number.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(options: &[(&str, &str)]) -> Settings {
        let option = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Settings::new("1.2", "me", &options.iter().map(option).collect())
    }

    #[test]
    fn options_of_the_startup_are_the_initial_values() {
        let mut settings = settings(&[
            ("user", "me"),
            ("application_name", "a"),
            ("options", "-c statement_timeout=2s --search-path=x"),
            ("TimeZone", "Europe/Berlin"),
            ("DateStyle", "German"),
        ]);
        assert_eq!(settings.get("application_name"), Some("a"));
        assert_eq!(settings.get("datestyle"), Some("ISO, MDY"), "that one cannot be");
        assert_eq!(settings.get("search_path"), Some("x"));
        assert_eq!(settings.deadline(), Duration::from_secs(2));
        assert_eq!(settings.zone.iana_name(), Some("Europe/Berlin"));
        settings.set("statement_timeout", Some("1min")).expect("set");
        settings.set("timezone", Some("UTC")).expect("set");
        assert_eq!(settings.deadline(), Duration::from_secs(60));
        settings.reset();
        assert_eq!(settings.deadline(), Duration::from_secs(2));
        assert_eq!(settings.zone.iana_name(), Some("Europe/Berlin"));
    }

    #[test]
    fn values_that_mean_nothing_here_are_refused() {
        let mut settings = settings(&[]);
        for (name, value) in [
            ("timezone", "Mars/Olympus"),
            ("statement_timeout", "forever"),
            ("statement_timeout", "1000h"),
            ("hadal.intervals", "beside"),
            ("hadal.require_complete", "perhaps"),
            ("hadal.row_kinds", "beside"),
            ("client_encoding", "LATIN1"),
            ("datestyle", "German"),
            ("server_version", "1"),
        ] {
            let error = settings.set(name, Some(value)).expect_err("refused");
            assert!(error.message.contains(name), "{}", error.message);
        }
        settings.set("anything.else", Some("x")).expect("kept for the client");
        assert_eq!(settings.get("anything.else"), Some("x"));
    }

    #[test]
    fn settings_have_limits() {
        let mut settings = settings(&[]);
        let long = "x".repeat(PG_SETTING_BYTES_MAX);
        assert_eq!(settings.set("a", Some(&long)).expect_err("too long").sqlstate, "54000");
        for index in 0..PG_SETTINGS_MAX {
            settings.set(&format!("a{index}"), Some("x")).expect("set");
        }
        assert_eq!(settings.set("b", Some("x")).expect_err("too many").sqlstate, "54000");
        settings.set("a0", Some("y")).expect("it is there");
    }

    #[test]
    fn messages_below_the_level_are_not_sent() {
        let mut settings = settings(&[]);
        assert!(settings.sends("NOTICE") && settings.sends("WARNING") && !settings.sends("DEBUG"));
        settings.set("client_min_messages", Some("warning")).expect("set");
        assert!(!settings.sends("NOTICE") && settings.sends("WARNING"));
        settings.set("client_min_messages", Some("debug1")).expect("set");
        assert!(settings.sends("DEBUG"));
    }
}
