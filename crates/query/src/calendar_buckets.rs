//! Buckets of time in a time zone: hours, days, weeks, months and years as a wall clock and a
//! calendar there show them. Days have 23 to 25 hours, months 28 to 31 days.

use hadal_types::{Micros, Value};

use crate::time_zone::{self, Fold, TimeZone};

const HOUR: i64 = 3_600 * Micros::SECOND;
/// Microseconds of a day that has 24 hours.
const DAY: i64 = 24 * HOUR;
/// The first Monday of the Unix epoch, at which weeks are counted from.
const MONDAY: i64 = 4 * DAY;
const WEEK: i64 = 7 * DAY;
/// Months are counted from January 2000.
const YEAR_OF_ORIGIN: i64 = 2000;

/// Buckets of some months, or of some hours or days.
///
/// Buckets of days begin at local midnight and are counted from 1970-01-01; whole weeks begin on
/// Monday. Buckets of two to twelve hours begin when the wall clock shows a multiple of them;
/// buckets of at most an hour are counted with the offset of their time, so that an hour that comes
/// twice has two buckets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CalendarBuckets {
    /// Either months or microseconds are above zero, not both.
    months: i64,
    micros: i64,
    zone: TimeZone,
}

impl CalendarBuckets {
    /// Reads the arguments months, microseconds and time zone.
    #[must_use]
    pub fn of_arguments(arguments: &[Value]) -> Option<Self> {
        let [Value::Number(months), Value::Number(micros), zone] = arguments else { return None };
        let (months, micros) = (months.to_i64()?, micros.to_i64()?);
        let is_valid = matches!((months, micros), (1.., 0) | (0, 1..));
        is_valid.then_some(Self { months, micros, zone: time_zone::of_value(zone)? })
    }

    /// The start of the bucket that contains `time`; `None` if that is outside the years 1 to 9999.
    #[must_use]
    pub fn start(&self, time: Micros) -> Option<Micros> {
        let offset = self.zone.offset(time);
        let (from, _) = self.local_range(time.0.checked_add(offset)?)?;
        self.time_of(from, offset)
    }

    /// The start of the bucket that contains `time`, and times around it that have the same start:
    /// the first of them, and the first after them.
    #[must_use]
    pub fn start_and_validity(&self, time: Micros) -> Option<(Micros, Micros, Micros)> {
        let (offset, since, until) = self.zone.offset_range(time);
        let (from, to) = self.local_range(time.0.checked_add(offset)?)?;
        let start = self.time_of(from, offset)?;
        let first = from.saturating_sub(offset).max(since.0);
        let after = to.saturating_sub(offset).min(until.0);
        Some((start, Micros(first), Micros(after)))
    }

    /// The first time after the bucket that starts at `start`.
    #[must_use]
    pub fn end(&self, start: Micros) -> Micros {
        let offset = self.zone.offset(start);
        let range = start.0.checked_add(offset).and_then(|local| self.local_range(local));
        let end = range.and_then(|(_, to)| self.time_of(to, offset));
        end.unwrap_or(Micros(i64::MAX))
    }

    /// The microseconds that every bucket has at least.
    #[must_use]
    pub fn micros_min(&self) -> i64 {
        match self.months {
            0 if self.micros <= HOUR => self.micros,
            0 => self.micros - HOUR,
            months => months.saturating_mul(28 * DAY) - HOUR,
        }
    }

    /// The time of a bucket's edge, which the wall clock shows as `local`.
    fn time_of(&self, local: i64, offset: i64) -> Option<Micros> {
        match self.months == 0 && self.micros <= HOUR {
            true => Micros(local.checked_sub(offset)?).in_range(),
            false => self.zone.time_of(Micros(local), Fold::First),
        }
    }

    /// The edges of the bucket as the wall clock shows them.
    fn local_range(&self, local: i64) -> Option<(i64, i64)> {
        if self.months > 0 {
            return self.month_range(local);
        }
        let origin = if self.micros % WEEK == 0 { MONDAY } else { 0 };
        let since = local.checked_sub(origin)?.div_euclid(self.micros);
        let from = since.checked_mul(self.micros)?.checked_add(origin)?;
        Some((from, from.saturating_add(self.micros)))
    }

    fn month_range(&self, local: i64) -> Option<(i64, i64)> {
        let civil = time_zone::civil(Micros(local))?;
        let index = (i64::from(civil.year()) - YEAR_OF_ORIGIN) * 12 + i64::from(civil.month()) - 1;
        let from = index.div_euclid(self.months).checked_mul(self.months)?;
        let to = from.checked_add(self.months).and_then(first_of_month);
        Some((first_of_month(from)?, to.unwrap_or(i64::MAX)))
    }
}

/// The first microsecond of the month `index` months after January 2000.
fn first_of_month(index: i64) -> Option<i64> {
    let year = i16::try_from(index.div_euclid(12) + YEAR_OF_ORIGIN).ok()?;
    let month = i8::try_from(index.rem_euclid(12) + 1).ok()?;
    let first = jiff::civil::Date::new(year, month, 1).ok()?.at(0, 0, 0, 0);
    time_zone::of_civil(first).map(|time| time.0)
}

#[cfg(test)]
mod tests {
    use hadal_types::time::parse_timestamp;

    use super::*;

    fn time(text: &str) -> Micros {
        parse_timestamp(text).expect(text)
    }

    fn buckets(months: i64, micros: i64, zone: &str) -> CalendarBuckets {
        let arguments = [Value::integer(months), Value::integer(micros), Value::string(zone)];
        CalendarBuckets::of_arguments(&arguments).expect("buckets")
    }

    fn range(buckets: &CalendarBuckets, at: &str) -> (String, i64) {
        let start = buckets.start(time(at)).expect("in range");
        (start.to_string(), (buckets.end(start).0 - start.0) / HOUR)
    }

    #[test]
    fn days_have_23_to_25_hours() {
        let days = buckets(0, DAY, "Europe/Berlin");
        let of = |at| range(&days, at);
        assert_eq!(of("2026-03-29T12:00Z"), ("2026-03-28T23:00:00Z".into(), 23));
        assert_eq!(of("2026-03-29T21:59:59Z"), ("2026-03-28T23:00:00Z".into(), 23));
        assert_eq!(of("2026-03-29T22:00Z"), ("2026-03-29T22:00:00Z".into(), 24));
        assert_eq!(of("2026-10-25T12:00Z"), ("2026-10-24T22:00:00Z".into(), 25));
        let weeks = buckets(0, WEEK, "Europe/Berlin");
        assert_eq!(range(&weeks, "2026-10-25T12:00Z"), ("2026-10-18T22:00:00Z".into(), 169));
    }

    #[test]
    fn a_day_begins_even_where_midnight_is_skipped_or_comes_twice() {
        let skips = buckets(0, DAY, "America/Sao_Paulo");
        assert_eq!(range(&skips, "2018-11-04T15:00Z"), ("2018-11-04T03:00:00Z".into(), 23));
        let repeats = buckets(0, DAY, "America/Havana");
        let first = range(&repeats, "2020-11-01T04:30Z");
        assert_eq!(first, ("2020-11-01T04:00:00Z".into(), 25));
        assert_eq!(range(&repeats, "2020-11-01T05:30Z"), first);
    }

    #[test]
    fn an_hour_that_comes_twice_has_two_buckets() {
        let hours = buckets(0, HOUR, "Europe/Berlin");
        assert_eq!(range(&hours, "2026-10-25T00:30Z"), ("2026-10-25T00:00:00Z".into(), 1));
        assert_eq!(range(&hours, "2026-10-25T01:30Z"), ("2026-10-25T01:00:00Z".into(), 1));
        let longer = buckets(0, 6 * HOUR, "Europe/Berlin");
        assert_eq!(range(&longer, "2026-10-25T01:30Z"), ("2026-10-24T22:00:00Z".into(), 7));
        assert_eq!(range(&longer, "2026-03-29T01:30Z"), ("2026-03-28T23:00:00Z".into(), 5));
        let half = buckets(0, HOUR, "Asia/Kolkata");
        assert_eq!(range(&half, "2026-03-29T01:31Z"), ("2026-03-29T01:30:00Z".into(), 1));
    }

    #[test]
    fn months_quarters_and_years() {
        let of = |months, at| range(&buckets(months, 0, "Europe/Berlin"), at).0;
        assert_eq!(of(1, "2026-03-31T21:59Z"), "2026-02-28T23:00:00Z");
        assert_eq!(of(1, "2026-03-31T22:00Z"), "2026-03-31T22:00:00Z");
        assert_eq!(of(3, "2026-06-01"), "2026-03-31T22:00:00Z");
        assert_eq!(of(12, "1999-06-01"), "1998-12-31T23:00:00Z");
        let utc = buckets(1, 0, "UTC");
        assert_eq!(utc.end(time("9999-12-01")), Micros(i64::MAX));
        assert_eq!(buckets(12, 0, "Europe/Berlin").start(Micros::MIN), None);
    }

    #[test]
    fn every_bucket_has_the_least_length_and_the_validity_holds() {
        for (months, micros) in [(0, HOUR), (0, 6 * HOUR), (0, DAY), (0, WEEK), (1, 0), (12, 0)] {
            let buckets = buckets(months, micros, "Europe/Berlin");
            let (mut at, last) = (time("2025-12-25T00:17Z"), time("2027-01-05"));
            while at < last {
                let (start, first, after) = buckets.start_and_validity(at).expect("in range");
                assert_eq!(Some(start), buckets.start(at));
                assert!(start <= at && at < buckets.end(start), "{months} {micros} {at}");
                assert!(buckets.end(start).0 - start.0 >= buckets.micros_min(), "{start}");
                assert!(first <= at && at < after, "{first} {at} {after}");
                assert_eq!(buckets.start(first), Some(start));
                assert_eq!(buckets.start(Micros(after.0 - 1)), Some(start));
                assert_eq!(buckets.start(start), Some(start));
                at = Micros(at.0 + HOUR / 2);
            }
        }
    }

    #[test]
    fn what_is_no_width_is_refused() {
        for (months, micros) in [(0, 0), (1, 1), (-1, 0), (0, -1)] {
            let arguments = [Value::integer(months), Value::integer(micros), Value::string("UTC")];
            assert_eq!(CalendarBuckets::of_arguments(&arguments), None);
        }
    }
}
