//! Time: microseconds since the Unix epoch, time ranges, and the texts that are read as times.

use std::fmt;

use jiff::SignedDuration;
use jiff::civil::{DateTime, Time, date};
use jiff::fmt::temporal::Pieces;

use crate::number::Number;

const EPOCH: DateTime = date(1970, 1, 1).at(0, 0, 0, 0);

/// A point in time: microseconds since the Unix epoch, UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Micros(pub i64);

impl Micros {
    /// Microseconds in one second.
    pub const SECOND: i64 = 1_000_000;
    /// The first microsecond of year 1.
    pub const MIN: Self = Self(-62_135_596_800 * Self::SECOND);
    /// The last microsecond of year 9999.
    pub const MAX: Self = Self(253_402_300_800 * Self::SECOND - 1);

    /// Returns the point in time if it is in the years 1 to 9999.
    #[must_use]
    pub fn in_range(self) -> Option<Self> {
        (Self::MIN..=Self::MAX).contains(&self).then_some(self)
    }

    /// The time `seconds` later, or `None` outside the years 1 to 9999.
    #[must_use]
    pub fn plus_seconds(self, seconds: Number) -> Option<Self> {
        let micros = i64::try_from(seconds.to_scaled(6)?).ok()?;
        Self(self.0.checked_add(micros)?).in_range()
    }

    /// The calendar date and time in UTC.
    ///
    /// Unlike a [`jiff::Timestamp`], which ends a day early, it reaches to the end of year 9999.
    fn civil(self) -> Option<DateTime> {
        EPOCH.checked_add(SignedDuration::from_micros(self.0)).ok()
    }

    /// The time of a calendar date and time in UTC. Finer digits are dropped, toward the past.
    fn of_civil(civil: DateTime) -> Option<Self> {
        let nanos = civil.duration_since(EPOCH).as_nanos().div_euclid(1_000);
        i64::try_from(nanos).ok().and_then(|micros| Self(micros).in_range())
    }

    /// Whole seconds from `earlier` to `self`, truncated toward zero.
    #[must_use]
    pub fn seconds_since(self, earlier: Self) -> i64 {
        let micros = i128::from(self.0) - i128::from(earlier.0);
        i64::try_from(micros / i128::from(Self::SECOND)).unwrap_or_default()
    }
}

impl fmt::Display for Micros {
    /// RFC 3339 in UTC, with as many digits of the second as needed: `2026-11-21T03:51:42.5Z`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.in_range().and_then(Self::civil) {
            Some(civil) => write!(formatter, "{civil}Z"),
            None => write!(formatter, "{} µs", self.0),
        }
    }
}

/// A range of time: `from` inclusive, `to` exclusive; `None` is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct TimeRange {
    /// The first microsecond in the range.
    pub from: Option<Micros>,
    /// The first microsecond after the range.
    pub to: Option<Micros>,
}

impl TimeRange {
    /// All time.
    pub const ALL: Self = Self { from: None, to: None };

    /// Whether `time` is in the range.
    #[must_use]
    pub fn contains(&self, time: Micros) -> bool {
        self.from.is_none_or(|from| from <= time) && self.to.is_none_or(|to| time < to)
    }

    /// Whether some time from `first` to `last`, both inclusive, is in the range.
    #[must_use]
    pub fn overlaps(&self, first: Micros, last: Micros) -> bool {
        self.from.is_none_or(|from| from <= last) && self.to.is_none_or(|to| first < to)
    }

    /// Whether every time from `first` to `last`, both inclusive, is in the range.
    #[must_use]
    pub fn covers(&self, first: Micros, last: Micros) -> bool {
        self.contains(first) && self.contains(last)
    }

    /// The intersection of both ranges; it may be empty.
    #[must_use]
    pub fn intersect(self, other: Self) -> Self {
        let from = match (self.from, other.from) {
            (Some(left), Some(right)) => Some(left.max(right)),
            (left, right) => left.or(right),
        };
        let to = match (self.to, other.to) {
            (Some(left), Some(right)) => Some(left.min(right)),
            (left, right) => left.or(right),
        };
        Self { from, to }
    }
}

/// The unit of times that are written as numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeUnit {
    /// Seconds, with fractions.
    Seconds,
    /// Milliseconds.
    Millis,
    /// Microseconds.
    Micros,
    /// Nanoseconds.
    Nanos,
}

impl TimeUnit {
    /// Guesses the unit by magnitude: below 1e11 seconds, below 1e14 milliseconds, below 1e17
    /// microseconds, else nanoseconds.
    #[must_use]
    pub fn guess(number: Number) -> Self {
        match number.to_f64().abs() {
            size if size < 1e11 => Self::Seconds,
            size if size < 1e14 => Self::Millis,
            size if size < 1e17 => Self::Micros,
            _ => Self::Nanos,
        }
    }

    /// The unit's name, for people.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Seconds => "seconds",
            Self::Millis => "milliseconds",
            Self::Micros => "microseconds",
            Self::Nanos => "nanoseconds",
        }
    }

    /// Reads a number of this unit, or `None` outside the years 1 to 9999.
    #[must_use]
    pub fn read(self, number: Number) -> Option<Micros> {
        let micros = match self {
            Self::Seconds => number.to_scaled(6)?,
            Self::Millis => number.to_scaled(3)?,
            Self::Micros => number.to_scaled(0)?,
            Self::Nanos => number.to_scaled(0)?.div_euclid(1_000),
        };
        i64::try_from(micros).ok().and_then(|micros| Micros(micros).in_range())
    }
}

/// Reads RFC 3339 / ISO 8601, `2026-11-21 03:51:42.5` (UTC if no zone is given) and dates.
///
/// Returns `None` for any other text, and outside the years 1 to 9999. Digits finer than
/// microseconds are dropped, toward the past.
#[must_use]
pub fn parse_timestamp(text: &str) -> Option<Micros> {
    let text = text.trim();
    // Cheap refusal: every accepted text begins with a four-digit year.
    if text.len() < 10 || !text.as_bytes()[..4].iter().all(u8::is_ascii_digit) {
        return None;
    }
    let pieces = Pieces::parse(text).ok()?;
    let civil = pieces.date().to_datetime(pieces.time().unwrap_or(Time::midnight()));
    let offset = match (pieces.to_numeric_offset(), pieces.time_zone_annotation()) {
        (Some(offset), _) => SignedDuration::from_secs(offset.seconds().into()),
        (None, None) => SignedDuration::ZERO,
        // A zone's name alone does not give its offset from UTC.
        (None, Some(_)) => return None,
    };
    Micros::of_civil(civil.checked_sub(offset).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn iso_spellings_are_read() {
        let noon = Micros(1_700_049_600 * Micros::SECOND);
        for text in [
            "2023-11-15T12:00:00Z",
            "2023-11-15 12:00:00Z",
            "2023-11-15T13:00:00+01:00",
            "2023-11-15T12:00:00",
            "2023-11-15 12:00:00",
        ] {
            assert_eq!(parse_timestamp(text), Some(noon), "{text}");
        }
        assert_eq!(parse_timestamp("2023-11-15"), Some(Micros(noon.0 - 12 * 3_600 * 1_000_000)));
        assert_eq!(parse_timestamp("2023-11-15T12:00:00.25Z"), Some(Micros(noon.0 + 250_000)));
        for bad in ["", "yesterday", "2023-13-45", "2023-11-15T25:00:00Z", "300000-01-01T00:00:00Z"]
        {
            assert_eq!(parse_timestamp(bad), None, "{bad}");
        }
    }

    #[test]
    fn the_calendar_is_read_and_shown_to_both_ends() {
        let day = 86_400 * Micros::SECOND;
        for (text, expected, shown) in [
            ("9999-12-31", Micros(Micros::MAX.0 + 1 - day), "9999-12-31T00:00:00Z"),
            ("9999-12-31 23:59:59.999999", Micros::MAX, "9999-12-31T23:59:59.999999Z"),
            ("9999-12-31T23:59:59.9999999Z", Micros::MAX, "9999-12-31T23:59:59.999999Z"),
            (
                "9999-12-31T23:00:00-00:59",
                Micros(Micros::MAX.0 + 1 - 60_000_000),
                "9999-12-31T23:59:00Z",
            ),
            ("0001-01-01", Micros::MIN, "0001-01-01T00:00:00Z"),
            ("0001-01-01T01:00:00+01:00", Micros::MIN, "0001-01-01T00:00:00Z"),
        ] {
            assert_eq!(parse_timestamp(text), Some(expected), "{text}");
            assert_eq!(expected.to_string(), shown);
        }
        for bad in ["9999-12-31T23:59:59-00:01", "0001-01-01T00:59:59+01:00", "0000-12-31"] {
            assert_eq!(parse_timestamp(bad), None, "{bad}");
        }
        assert_eq!(Micros(Micros::MAX.0 + 1).to_string(), "253402300800000000 µs");
    }

    #[test]
    fn zones_are_offsets() {
        let noon = Some(Micros(1_700_049_600 * Micros::SECOND));
        assert_eq!(parse_timestamp("2023-11-15T13:00:00+01:00[Europe/Berlin]"), noon);
        assert_eq!(parse_timestamp("2023-11-15T13:00:00[Europe/Berlin]"), None);
    }

    proptest! {
        #[test]
        fn what_is_shown_is_read_again(micros in Micros::MIN.0..=Micros::MAX.0) {
            prop_assert_eq!(parse_timestamp(&Micros(micros).to_string()), Some(Micros(micros)));
        }
    }

    #[test]
    fn units_are_told_by_magnitude() {
        let expected = Some(Micros(1_700_000_000_000_000));
        for text in ["1700000000", "1700000000000", "1700000000000000", "1700000000000000000"] {
            let number: Number = text.parse().expect("a number");
            assert_eq!(TimeUnit::guess(number).read(number), expected, "{text}");
        }
        assert_eq!(TimeUnit::Seconds.read(Number::integer(i64::MAX)), None);
    }

    #[test]
    fn ranges_are_half_open() {
        let range = TimeRange { from: Some(Micros(10)), to: Some(Micros(20)) };
        assert!(range.contains(Micros(10)));
        assert!(!range.contains(Micros(20)));
        assert!(range.overlaps(Micros(0), Micros(10)));
        assert!(!range.overlaps(Micros(20), Micros(30)));
        assert!(TimeRange::ALL.covers(Micros::MIN, Micros::MAX));
        assert_eq!(range.intersect(TimeRange::ALL), range);
    }
}
