//! The field of a row's time, and the formats of times.

mod iso;

use std::borrow::Cow;
use std::iter::zip;
use std::ops::Range;

use hadal_types::time::{TimeUnit, parse_timestamp};
use hadal_types::{Micros, Number};
use jiff::civil::DateTime;
use jiff::fmt::rfc2822;
use jiff::tz::TimeZone;

use crate::json::{self, Field, RowSink};
use crate::name_cache::{NameCache, NameId};

/// The fields that may hold a row's time if the caller names none, the best first.
pub const CANDIDATES: [&str; 11] = [
    "time",
    "@timestamp",
    "timestamp",
    "ts",
    "_time",
    "datetime",
    "date",
    "eventTime",
    "event_time",
    "created_at",
    "t",
];

/// The names of the time column if rows have no times; the first that no row uses is taken.
const ARRIVAL_NAMES: [&str; 3] = [CANDIDATES[0], "received", "_received"];

/// Seconds of this century: larger than any day written as digits.
const USUAL_SECONDS: Range<i64> = 946_684_800..4_102_444_800;

/// The unit of numeric times for each source. The first time of a batch decides it by its size, so
/// that the unit does not change from row to row.
#[derive(Debug)]
pub(crate) struct Units(Vec<Option<TimeUnit>>);

impl Units {
    pub(crate) fn new(sources: usize) -> Self {
        Self(vec![None; sources])
    }

    /// Reads a time of a source; also returns whether the size of a number suggests another unit.
    pub(crate) fn read(&mut self, source: usize, field: &Field<'_>) -> Option<(Micros, bool)> {
        if let Some(time) = self.read_usual(source, field) {
            return Some((time, false));
        }
        let Some(number) = number(field) else { return text(field).map(|time| (time, false)) };
        if let Some(day) = of_digits(number) {
            return Some((day, false));
        }
        let guess = TimeUnit::guess(number);
        let unit = self.0[source].unwrap_or(guess);
        let time = unit.read(number)?;
        self.0[source] = Some(unit);
        Some((time, unit != guess))
    }

    /// Reads the two most common formats, which are cheap to recognize: ISO 8601, and a whole
    /// second of this century if the unit is seconds.
    fn read_usual(&mut self, source: usize, field: &Field<'_>) -> Option<Micros> {
        match field {
            Field::Decimal { mantissa, scale: 0 } if USUAL_SECONDS.contains(mantissa) => {
                (*self.0[source].get_or_insert(TimeUnit::Seconds) == TimeUnit::Seconds)
                    .then_some(Micros(mantissa * Micros::SECOND))
            }
            Field::String(text) => iso::read(text),
            _ => None,
        }
    }

    /// The unit of the batch, for the message about a number that is not a time in it.
    pub(crate) fn assumed(&self, source: usize, field: &Field<'_>) -> String {
        match (number(field), self.0[source]) {
            (Some(_), Some(unit)) => format!(" in {}, the unit of its batch", unit.name()),
            _ => String::new(),
        }
    }
}
fn number(field: &Field<'_>) -> Option<Number> {
    match field {
        Field::String(text) => text.trim().parse().ok(),
        other => other.number(),
    }
}

/// The day that eight digits represent, such as 20261121, in the years 1900 to 2099. As Unix
/// seconds, these numbers would be a few nights of 1970.
fn of_digits(number: Number) -> Option<Micros> {
    let digits = number.to_i64().filter(|digits| (19_000_101..=20_991_231).contains(digits))?;
    parse_timestamp(&format!("{}-{:02}-{:02}", digits / 10_000, digits / 100 % 100, digits % 100))
}

fn text(field: &Field<'_>) -> Option<Micros> {
    match field {
        Field::String(text) => of_text(text),
        _ => None,
    }
}

/// Whether a value is a time, or would be one in another year. The latter is reported as an error,
/// rather than making the search continue elsewhere.
fn is_meant_as_time(field: &Field<'_>) -> bool {
    let is_date = |text: &str| {
        let text = text.trim().trim_start_matches(['+', '-']);
        let year = text.find(|c: char| !c.is_ascii_digit());
        year.is_some_and(|end| end >= 4 && text[end..].starts_with('-'))
    };
    match field {
        Field::String(spelled) => {
            is_date(spelled) || number(field).is_some() || text(field).is_some()
        }
        _ => number(field).is_some(),
    }
}

/// The source of the times of a new table.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    /// The first of the usual names that has times.
    Field(&'static str),
    /// No field has times: the arrival time gets a name that no row uses.
    Arrival(&'static str),
}

/// Which of the relevant names the first records use.
#[derive(Default)]
struct FirstFields {
    names: NameCache,
    has_times: [bool; CANDIDATES.len()],
    is_used: [bool; ARRIVAL_NAMES.len()],
}

impl<'j> RowSink<'j> for FirstFields {
    fn names(&mut self) -> &mut NameCache {
        &mut self.names
    }

    fn field(
        &mut self,
        name: &str,
        _name_id: Option<NameId>,
        field: &Field<'j>,
    ) -> Result<(), String> {
        if let Some(place) = CANDIDATES.iter().position(|candidate| *candidate == name) {
            self.has_times[place] |= is_meant_as_time(field);
        }
        if let Some(place) = ARRIVAL_NAMES.iter().position(|usual| *usual == name) {
            self.is_used[place] = true;
        }
        Ok(())
    }
}

/// Chooses the time column of a new table by its first records.
///
/// Records that are not rows do not count; they are rejected when they are written.
pub(crate) fn choose<'r>(records: impl Iterator<Item = Cow<'r, str>>) -> Choice {
    let mut fields = FirstFields::default();
    let mut scratch = json::Scratch::default();
    for record in records {
        let _ = json::read(&record, &mut scratch, &mut fields);
    }
    let FirstFields { has_times, is_used, .. } = fields;
    let field = zip(CANDIDATES, has_times).find(|(_, has_times)| *has_times);
    let unused = zip(ARRIVAL_NAMES, is_used).find(|(_, is_used)| !is_used);
    match (field, unused) {
        (Some((name, _)), _) => Choice::Field(name),
        (None, Some((name, _))) => Choice::Arrival(name),
        (None, None) => Choice::Arrival(ARRIVAL_NAMES[0]),
    }
}

/// Parses ISO 8601, RFC 3339, RFC 2822 and the formats of common logs; UTC unless a zone is given.
pub(crate) fn of_text(text: &str) -> Option<Micros> {
    let text = text.trim();
    if let Some(time) = parse_timestamp(text) {
        return Some(time);
    }
    let with_point = text.replacen(',', ".", 1);
    let slashes = text.get(..10).map(|date| date.replace('/', "-") + &text[10..]);
    parse_timestamp(&with_point)
        .or_else(|| before_zone(text))
        .or_else(|| slashes.as_deref().and_then(parse_timestamp))
        .or_else(|| apache(text))
        .or_else(|| {
            let zoned = rfc2822::DateTimeParser::new().parse_zoned(text).ok()?;
            Micros(zoned.timestamp().as_microsecond()).in_range()
        })
}

/// Parses `2000-10-10 13:55:36 -0700`, also with UTC or GMT as the zone.
fn before_zone(text: &str) -> Option<Micros> {
    let (time, zone) = text.rsplit_once(' ')?;
    match zone {
        "UTC" | "GMT" | "Z" => parse_timestamp(&format!("{}Z", time.trim_end())),
        _ if zone.starts_with(['+', '-']) => parse_timestamp(&format!("{}{zone}", time.trim_end())),
        _ => None,
    }
}

/// Parses `10/Oct/2000:13:55:36 -0700`, with or without brackets.
fn apache(text: &str) -> Option<Micros> {
    let text = text.trim_start_matches('[').trim_end_matches(']');
    if let Ok(timestamp) = jiff::Timestamp::strptime("%d/%b/%Y:%H:%M:%S %z", text) {
        return Micros(timestamp.as_microsecond()).in_range();
    }
    let civil = DateTime::strptime("%d/%b/%Y:%H:%M:%S", text).ok()?;
    let zoned = civil.to_zoned(TimeZone::UTC).ok()?;
    Micros(zoned.timestamp().as_microsecond()).in_range()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_spell_times_in_many_ways() {
        let expected = parse_timestamp("2000-10-10T20:55:36Z");
        for text in [
            "2000-10-10T20:55:36Z",
            "2000-10-10 20:55:36",
            "2000/10/10 20:55:36",
            "2000-10-10 20:55:36,000",
            "2000-10-10 20:55:36 UTC",
            "2000-10-10 20:55:36.000 GMT",
            "2000-10-10 13:55:36 -0700",
            "2000-10-10 13:55:36 -07:00",
            "10/Oct/2000:13:55:36 -0700",
            "[10/Oct/2000:13:55:36 -0700]",
            "Tue, 10 Oct 2000 13:55:36 -0700",
        ] {
            assert_eq!(of_text(text), expected, "{text}");
        }
        for bad in ["", "monday", "10/Foo/2000:13:55:36", "été 2000-10-10"] {
            assert_eq!(of_text(bad), None, "{bad}");
        }
    }

    fn number_field(text: &str) -> Field<'_> {
        Field::Number { number: text.parse().expect("a number"), rounded: false }
    }

    #[test]
    fn the_first_number_tells_the_unit() {
        let mut units = Units::new(2);
        let millis = Some((Micros(1_700_000_000_000_000), false));
        assert_eq!(units.read(0, &number_field("1700000000000")), millis);
        // A number whose size suggests seconds.
        let mixed = Some((Micros(1_700_000_000_000), true));
        assert_eq!(units.read(0, &number_field("1700000000")), mixed);
        assert_eq!(units.read(0, &Field::String("1700000000".into())), mixed);
        assert_eq!(units.read(0, &Field::Bool(true)), None);
        let iso = Field::String("2023-11-14T22:13:20Z".into());
        assert_eq!(units.read(0, &iso), millis);
        // Another source has its own unit.
        let seconds = Some((Micros(1_700_000_000_000_000), false));
        assert_eq!(units.read(1, &number_field("1700000000")), seconds);
        assert_eq!(units.read(1, &number_field("1700000000000")), None);
        let assumed = units.assumed(1, &number_field("1700000000000"));
        assert_eq!(assumed, " in seconds, the unit of its batch");
        assert_eq!(units.assumed(1, &Field::String("monday".into())), "");
    }

    #[test]
    fn eight_digits_may_be_a_day() {
        let mut units = Units::new(1);
        let day = parse_timestamp("2026-11-20").map(|day| (day, false));
        assert_eq!(units.read(0, &number_field("20261120")), day);
        assert_eq!(units.read(0, &Field::String("20261120".into())), day);
        let second = |second: i64| Some((Micros(second * Micros::SECOND), false));
        for no_day in [20_261_320, 20_260_230, 18_991_231, 21_000_101] {
            let read = Units::new(1).read(0, &number_field(&no_day.to_string()));
            assert_eq!(read, second(no_day));
        }
    }

    #[test]
    fn a_time_column_has_times() {
        let choice = |records: &[&str]| choose(records.iter().map(|&record| record.into()));
        assert_eq!(choice(&[r#"{"ts":1,"time":"2026-01-01"}"#]), Choice::Field("time"));
        assert_eq!(choice(&[r#"{"ts":1,"time":"10:15"}"#]), Choice::Field("ts"));
        assert_eq!(choice(&["x", "{}", r#"{"t":"2026-01-01"}"#]), Choice::Field("t"));
        for other_year in [r#"{"time":"300000-01-01T00:00:00Z"}"#, r#"{"time":1e30}"#] {
            assert_eq!(choice(&[other_year]), Choice::Field("time"));
        }
        assert_eq!(choice(&["{}"]), Choice::Arrival("time"));
        assert_eq!(choice(&[]), Choice::Arrival("time"));
        assert_eq!(choice(&[r#"{"time":"10:15"}"#]), Choice::Arrival("received"));
        let both = r#"{"time":"10:15","received":"yes"}"#;
        assert_eq!(choice(&[both]), Choice::Arrival("_received"));
    }
}
