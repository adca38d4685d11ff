//! A date and a time of day as they are written, and the point in time that they are.

use hadal_types::Micros;
use jiff::civil::DateTime;

use super::zone::Zone;

/// The seconds of a day.
const DAY_SECONDS: i64 = 86_400;

/// The number of years before the present one that can be the year of a 29 February without a year.
const LEAP_YEARS: i64 = 8;

/// A date and a time of day, not yet checked against the calendar.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Civil {
    /// The year; `None` if it is not written.
    pub(super) year: Option<i64>,
    pub(super) month: i64,
    pub(super) day: i64,
    pub(super) hour: i64,
    pub(super) minute: i64,
    /// The second; 60 is a leap second, which is the last second of its minute here.
    pub(super) second: i64,
    /// Digits of the second finer than microseconds are dropped.
    pub(super) micros: i64,
    /// The zone; `None` if it is not written.
    pub(super) zone: Option<Zone>,
}

impl Civil {
    /// The point in time; `None` if the calendar has no such day, or the day no such time.
    ///
    /// `assumed` is the zone of a time without one. A time without a year has the latest year that
    /// puts it at most a day after `now`.
    pub(super) fn time(&self, assumed: &Zone, now: Micros) -> Option<Micros> {
        if self.year.is_some() {
            return self.in_year(self.year?, assumed);
        }
        let day = now.0.div_euclid(Micros::SECOND * DAY_SECONDS);
        let next = 1970 + day.div_euclid(365) + 1;
        let latest = now.0.saturating_add(DAY_SECONDS * Micros::SECOND);
        let years = (0..=LEAP_YEARS).map(|before| next - before);
        years.filter_map(|year| self.in_year(year, assumed)).find(|time| time.0 <= latest)
    }

    fn in_year(&self, year: i64, assumed: &Zone) -> Option<Micros> {
        let is_day =
            (1..=9999).contains(&year) && (1..=days_of(year, self.month)).contains(&self.day);
        let is_clock = (0..24).contains(&self.hour)
            && (0..60).contains(&self.minute)
            && (0..=60).contains(&self.second);
        if !is_day || !is_clock {
            return None;
        }
        let second = self.second.min(59);
        let of_day = (self.hour * 60 + self.minute) * 60 + second;
        let seconds = days(year, self.month, self.day) * DAY_SECONDS + of_day;
        let offset = match self.zone.as_ref().unwrap_or(assumed) {
            Zone::Offset(offset) => i64::from(*offset),
            Zone::Named(zone) => {
                let part = |value: i64| i8::try_from(value).ok();
                let civil = DateTime::new(
                    i16::try_from(year).ok()?,
                    part(self.month)?,
                    part(self.day)?,
                    part(self.hour)?,
                    part(self.minute)?,
                    part(second)?,
                    0,
                );
                // A time that comes twice is the first of them.
                let zoned = zone.to_ambiguous_zoned(civil.ok()?).compatible().ok()?;
                seconds - zoned.timestamp().as_second()
            }
        };
        Micros((seconds - offset) * Micros::SECOND + self.micros).in_range()
    }
}

/// The number of days of a month, for years above 0; 0 for an invalid month.
#[inline]
pub(super) const fn days_of(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    }
}

/// Days since 1970-01-01, for years above 0 ("chrono-Compatible Low-Level Date Algorithms", Howard
/// Hinnant, `days_from_civil`). Its years begin in March.
#[inline]
pub(super) const fn days(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let (era, of_era) = (year / 400, year % 400);
    let of_year = (153 * month + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// Whether a text is a date of ISO 8601 in a year before 1 or after 9999, which is no time here.
pub(crate) fn is_other_year(text: &str) -> bool {
    let text = text.trim();
    let digits = text.trim_start_matches(['+', '-']);
    let Some(end) = digits.find(|c: char| !c.is_ascii_digit()) else { return false };
    let (year, rest) = digits.split_at(end);
    let is_other = year.len() > 4 || digits.len() < text.len() || year.bytes().all(|d| d == b'0');
    year.len() >= 4 && rest.starts_with('-') && is_other
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_other_years_are_recognized() {
        for text in ["0000-12-31", "300000-01-01T00:00:00Z", "+300000-01-01", "-0001-01-01"] {
            assert!(is_other_year(text), "{text}");
        }
        for text in ["2026-11-21", "monday", "", "10-11-12", "555-1234", "2026"] {
            assert!(!is_other_year(text), "{text}");
        }
    }
}
