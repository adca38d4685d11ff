//! Time zones: offsets of wall clocks from UTC, from the IANA data that is part of the binary.

use std::sync::LazyLock;

use hadal_types::{Micros, Value};
use jiff::civil::{DateTime, date};
use jiff::tz::{self, AmbiguousOffset, TimeZoneDatabase};
use jiff::{SignedDuration, Timestamp};

/// The bundled data, even where the machine has newer data: all processes must agree.
static DATABASE: LazyLock<TimeZoneDatabase> = LazyLock::new(TimeZoneDatabase::bundled);

/// A time zone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeZone(tz::TimeZone);

/// Which of two times a wall clock means that it shows twice, because it was set back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fold {
    First,
    /// As in PostgreSQL.
    Second,
}

impl TimeZone {
    /// UTC.
    pub const UTC: Self = Self(tz::TimeZone::UTC);

    /// The time zone of this name, such as `Europe/Berlin` or `UTC`, in upper or lower case.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        DATABASE.get(name).ok().map(Self)
    }

    /// The names of all time zones.
    #[must_use]
    pub fn names() -> Vec<String> {
        DATABASE.available().map(|name| name.to_string()).collect()
    }

    /// The name of the time zone.
    #[must_use]
    pub fn name(&self) -> &str {
        self.0.iana_name().unwrap_or("UTC")
    }

    /// Whether the wall clock always shows UTC.
    #[must_use]
    pub fn is_utc(&self) -> bool {
        self.0 == tz::TimeZone::UTC
    }

    /// The microseconds by which the wall clock is ahead of UTC at `time`.
    pub(crate) fn offset(&self, time: Micros) -> i64 {
        micros_of(self.0.to_offset(timestamp(time)))
    }

    /// The offset at `time`, the first time that has it without interruption, and the first time
    /// after that.
    #[must_use]
    pub fn offset_range(&self, time: Micros) -> (i64, Micros, Micros) {
        let at = timestamp(time);
        let after = at.checked_add(SignedDuration::from_micros(1)).unwrap_or(at);
        let micros = |transition: tz::TimeZoneTransition<'_>| {
            Micros(transition.timestamp().as_microsecond())
        };
        let from = self.0.preceding(after).next().map_or(Micros(i64::MIN), micros);
        let to = self.0.following(at).next().map_or(Micros(i64::MAX), micros);
        (self.offset(time), from, to)
    }

    /// The time at which the wall clock shows `micros` more than at `time`. A whole number of days
    /// later, it shows the same time of day. `None` outside the years 1 to 9999.
    #[must_use]
    pub fn later_on_wall_clock(&self, time: Micros, micros: i64) -> Option<Micros> {
        let wall = self.wall_clock(time)?.0.checked_add(micros)?;
        self.time_of(Micros(wall).in_range()?, Fold::Second)
    }

    /// What the wall clock shows at `time`, as if that were UTC; `None` outside the years 1 to
    /// 9999.
    pub(crate) fn wall_clock(&self, time: Micros) -> Option<Micros> {
        Micros(time.0.checked_add(self.offset(time))?).in_range()
    }

    /// The time at which the wall clock shows `wall`. A time that it skips, because it is set
    /// forward, is read as before that change, as in PostgreSQL.
    pub(crate) fn time_of(&self, wall: Micros, fold: Fold) -> Option<Micros> {
        // After the year 9999 on the wall clock, which may be a few hours earlier in UTC.
        let Some(civil) = civil(wall) else {
            return Micros(wall.0.checked_sub(self.offset(wall))?).in_range();
        };
        let offset = match self.0.to_ambiguous_timestamp(civil).offset() {
            AmbiguousOffset::Unambiguous { offset } => offset,
            AmbiguousOffset::Gap { before, .. } => before,
            AmbiguousOffset::Fold { before, after } => match fold {
                Fold::First => before,
                Fold::Second => after,
            },
        };
        Micros(wall.0.checked_sub(micros_of(offset))?).in_range()
    }
}

/// The time zone that a value names.
pub(crate) fn of_value(value: &Value) -> Option<TimeZone> {
    match value {
        Value::String(name) => TimeZone::named(name),
        _ => None,
    }
}

fn micros_of(offset: tz::Offset) -> i64 {
    i64::from(offset.seconds()) * Micros::SECOND
}

/// The nearest time that jiff's type can hold: it ends a day before the year 9999 ends. No offset
/// changes there.
fn timestamp(time: Micros) -> Timestamp {
    let (first, last) = (Timestamp::MIN.as_microsecond(), Timestamp::MAX.as_microsecond());
    Timestamp::from_microsecond(time.0.clamp(first, last)).unwrap_or(Timestamp::MAX)
}

const EPOCH: DateTime = date(1970, 1, 1).at(0, 0, 0, 0);

/// The calendar date and time in UTC.
pub(crate) fn civil(time: Micros) -> Option<DateTime> {
    EPOCH.checked_add(SignedDuration::from_micros(time.0)).ok()
}

/// The time of a calendar date and time in UTC; `None` outside the years 1 to 9999.
pub(crate) fn of_civil(civil: DateTime) -> Option<Micros> {
    let micros = civil.duration_since(EPOCH).as_micros();
    i64::try_from(micros).ok().and_then(|micros| Micros(micros).in_range())
}

#[cfg(test)]
mod tests {
    use hadal_types::time::parse_timestamp;

    use super::*;

    fn time(text: &str) -> Micros {
        parse_timestamp(text).expect(text)
    }

    #[test]
    fn names_are_those_of_iana() {
        assert_eq!(TimeZone::named("europe/berlin").expect("a zone").name(), "Europe/Berlin");
        assert!(TimeZone::named("UTC").expect("a zone").is_utc());
        assert_eq!(TimeZone::named("Europe/Atlantis"), None);
        assert!(TimeZone::names().iter().any(|name| name == "Asia/Kolkata"));
    }

    #[test]
    fn a_wall_clock_skips_and_repeats_an_hour() {
        let zone = TimeZone::named("Europe/Berlin").expect("a zone");
        let shows = |utc: &str| zone.wall_clock(time(utc)).expect("in range").to_string();
        assert_eq!(shows("2026-03-29T00:59:59Z"), "2026-03-29T01:59:59Z");
        assert_eq!(shows("2026-03-29T01:00:00Z"), "2026-03-29T03:00:00Z");
        assert_eq!(shows("2026-10-25T00:30:00Z"), "2026-10-25T02:30:00Z");
        assert_eq!(shows("2026-10-25T01:30:00Z"), "2026-10-25T02:30:00Z");
        let at = |wall: &str, fold| zone.time_of(time(wall), fold).expect("in range").to_string();
        assert_eq!(at("2026-03-29T02:30:00Z", Fold::Second), "2026-03-29T01:30:00Z");
        assert_eq!(at("2026-10-25T02:30:00Z", Fold::First), "2026-10-25T00:30:00Z");
        assert_eq!(at("2026-10-25T02:30:00Z", Fold::Second), "2026-10-25T01:30:00Z");
    }

    #[test]
    fn an_offset_holds_from_one_change_to_the_next() {
        let zone = TimeZone::named("Europe/Berlin").expect("a zone");
        let change = time("2026-03-29T01:00:00Z");
        let (offset, from, to) = zone.offset_range(change);
        assert_eq!((offset, from), (7_200 * Micros::SECOND, change));
        assert_eq!(to, time("2026-10-25T01:00:00Z"));
        assert_eq!(zone.offset_range(Micros(change.0 - 1)).2, change);
        let (offset, from, to) = TimeZone::UTC.offset_range(change);
        assert_eq!((offset, from.0, to.0), (0, i64::MIN, i64::MAX));
    }

    #[test]
    fn the_calendar_ends_where_times_end() {
        let zone = TimeZone::named("Asia/Kolkata").expect("a zone");
        assert_eq!(zone.wall_clock(Micros::MAX), None);
        assert_eq!(zone.time_of(Micros::MIN, Fold::First), None);
        assert!(zone.time_of(Micros::MAX, Fold::First).is_some());
    }
}
