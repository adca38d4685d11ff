//! The Gregorian calendar, by counting years and months one by one. Time zones are those of jiff,
//! asked again for each time; what is checked is what the engine makes of them.

use hadal_query::{CalendarFunction, TimeBuckets, TimeField};
use hadal_types::{Micros, Value};
use jiff::Timestamp;
use jiff::tz::{TimeZone, TimeZoneDatabase};

use super::exact::Exact;

const DAY_SECONDS: i64 = 86_400;
const DAY: i64 = DAY_SECONDS * Micros::SECOND;
const HOUR: i64 = 3_600 * Micros::SECOND;

/// The field of the time.
pub(super) fn extract(field: TimeField, time: Micros) -> Exact {
    let seconds = time.0.div_euclid(Micros::SECOND);
    let (days, second_of_day) = (seconds.div_euclid(DAY_SECONDS), seconds.rem_euclid(DAY_SECONDS));
    let (year, month, day) = date(days);
    let micros = |micros: i64| Exact::from_integer(micros.into()).shifted_down(6);
    Exact::from_integer(i128::from(match field {
        TimeField::Epoch => return micros(time.0),
        TimeField::Second => return micros(time.0.rem_euclid(60 * Micros::SECOND)),
        TimeField::Millisecond => {
            let micros = time.0.rem_euclid(60 * Micros::SECOND);
            return Exact::from_integer(micros.into()).shifted_down(3);
        }
        TimeField::Quarter => (month - 1) / 3 + 1,
        TimeField::IsoDayOfWeek => (days + 3).rem_euclid(7) + 1,
        TimeField::DayOfYear => days - first_day(year) + 1,
        TimeField::IsoYear => iso_week(days).0,
        TimeField::Week => iso_week(days).1,
        TimeField::Year => year,
        TimeField::Month => month,
        TimeField::Day => day,
        TimeField::Hour => second_of_day / 3_600,
        TimeField::Minute => second_of_day / 60 % 60,
        // The first of January 1970 was a Thursday.
        TimeField::DayOfWeek => (days + 4).rem_euclid(7),
    }))
}

/// The year, month and day of the day `days` days after the first of January 1970.
fn date(days: i64) -> (i64, i64, i64) {
    let (mut year, mut rest) = (1970, days);
    while rest < 0 {
        year -= 1;
        rest += year_days(year);
    }
    while rest >= year_days(year) {
        rest -= year_days(year);
        year += 1;
    }
    let mut month = 1;
    while rest >= month_days(year, month) {
        rest -= month_days(year, month);
        month += 1;
    }
    (year, month, rest + 1)
}

/// The days from the first of January 1970 to that of `year`.
fn first_day(year: i64) -> i64 {
    match year < 1970 {
        true => -(year..1970).map(year_days).sum::<i64>(),
        false => (1970..year).map(year_days).sum(),
    }
}

/// The year and week of ISO 8601: those of the Thursday of the same week.
fn iso_week(days: i64) -> (i64, i64) {
    let thursday = days - (days + 3).rem_euclid(7) + 3;
    let (year, ..) = date(thursday);
    (year, (thursday - first_day(year)) / 7 + 1)
}

/// The first microsecond of a month; months are counted from year 0.
fn month_start(months: i64) -> i64 {
    let (year, month) = (months.div_euclid(12), months.rem_euclid(12) + 1);
    let days = first_day(year) + (1..month).map(|before| month_days(year, before)).sum::<i64>();
    days * DAY
}

/// A time zone and its offset, in microseconds.
struct Zone(TimeZone);

impl Zone {
    fn named(value: &Value) -> Option<Self> {
        let Value::String(name) = value else { return None };
        TimeZoneDatabase::bundled().get(name).ok().map(Self)
    }

    fn offset(&self, micros: i64) -> i64 {
        let (first, last) = (Timestamp::MIN.as_microsecond(), Timestamp::MAX.as_microsecond());
        // The last microsecond is beyond what jiff takes as microseconds.
        let at = Timestamp::from_microsecond(micros.clamp(first, last)).unwrap_or(Timestamp::MAX);
        i64::from(self.0.to_offset(at).seconds()) * Micros::SECOND
    }

    /// The times at which the wall clock shows `wall`, ascending. If it never does, what it would
    /// be with the offset before the change.
    fn times_of(&self, wall: i64) -> Vec<i64> {
        // No offset is more than 26 hours.
        let mut offsets = vec![self.offset(wall - 26 * HOUR), self.offset(wall + 26 * HOUR)];
        let before = offsets[0];
        offsets.extend((-26..26).map(|hours| self.offset(wall + hours * HOUR)));
        let times = offsets.into_iter().map(|offset| wall - offset);
        let mut times: Vec<i64> = times.filter(|time| time + self.offset(*time) == wall).collect();
        times.sort_unstable();
        times.dedup();
        if times.is_empty() { vec![wall - before] } else { times }
    }
}

/// A function of a time and literals.
pub(super) fn call(function: CalendarFunction, time: Micros, rest: &[Value]) -> Option<Value> {
    let micros = match (function, rest) {
        (CalendarFunction::WallClock, [zone]) => time.0 + Zone::named(zone)?.offset(time.0),
        (CalendarFunction::FromWallClock, [zone]) => *Zone::named(zone)?.times_of(time.0).last()?,
        (CalendarFunction::AddMonths, [Value::Number(months)]) => {
            add_months(time.0, months.to_i64()?)?
        }
        (CalendarFunction::Bucket, [Value::Number(months), Value::Number(micros), zone]) => {
            let (months, micros) = (months.to_i64()?, micros.to_i64()?);
            if !matches!((months, micros), (1.., 0) | (0, 1..)) {
                return None;
            }
            bucket(months, micros, &Zone::named(zone)?, time.0)?
        }
        (CalendarFunction::Format, [Value::String(format)]) => return formatted(time, format),
        _ => return None,
    };
    (Micros::MIN.0..=Micros::MAX.0).contains(&micros).then_some(Value::Time(Micros(micros)))
}

fn add_months(micros: i64, months: i64) -> Option<i64> {
    if !(-120_000..=120_000).contains(&months) {
        return None;
    }
    let (year, month, day) = date(micros.div_euclid(DAY));
    let index = year * 12 + month - 1 + months;
    let last = month_days(index.div_euclid(12), index.rem_euclid(12) + 1);
    Some(month_start(index) + (day.min(last) - 1) * DAY + micros.rem_euclid(DAY))
}

fn bucket(months: i64, micros: i64, zone: &Zone, time: i64) -> Option<i64> {
    let offset = zone.offset(time);
    let wall = time + offset;
    if months > 0 {
        let (year, month, _) = date(wall.div_euclid(DAY));
        // The calendar ends with the year 9999 of the wall clock. Months are counted from January
        // 2000.
        if wall > Micros::MAX.0 {
            return None;
        }
        let index = year * 12 + month - 1 - 24_000;
        let start = month_start(index.div_euclid(months) * months + 24_000);
        return zone.times_of(start).first().copied();
    }
    let monday = if micros % (7 * DAY) == 0 { 4 * DAY } else { 0 };
    let start = (wall - monday).div_euclid(micros) * micros + monday;
    if micros <= HOUR { Some(start - offset) } else { zone.times_of(start).first().copied() }
}

/// The end of the bucket that starts at `start`: the first microsecond, of those that can be, at
/// which another bucket begins.
pub(super) fn bucket_end(buckets: &TimeBuckets, start: Micros) -> Micros {
    match buckets {
        TimeBuckets::Fixed(width) => Micros(start.0.saturating_add(*width)),
        TimeBuckets::Calendar(calendar) => calendar.end(start),
    }
}

/// Only the specifiers that generated queries have.
fn formatted(time: Micros, format: &str) -> Option<Value> {
    let (year, month, day) = date(time.0.div_euclid(DAY));
    let second = time.0.rem_euclid(DAY) / Micros::SECOND;
    let mut text = String::new();
    let mut characters = format.chars();
    while let Some(character) = characters.next() {
        if character != '%' {
            text.push(character);
            continue;
        }
        text.push_str(&match characters.next()? {
            'Y' => format!("{year:04}"),
            'm' => format!("{month:02}"),
            'd' => format!("{day:02}"),
            'H' => format!("{:02}", second / 3_600),
            'M' => format!("{:02}", second / 60 % 60),
            'S' => format!("{:02}", second % 60),
            'q' => ((month - 1) / 3 + 1).to_string(),
            '%' => "%".to_owned(),
            _ => return None,
        });
    }
    Some(Value::string(&text))
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn year_days(year: i64) -> i64 {
    if is_leap(year) { 366 } else { 365 }
}

fn month_days(year: i64, month: i64) -> i64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_wall() {
        let fields = |text: &str| {
            let time = hadal_types::time::parse_timestamp(text).expect(text);
            [TimeField::Year, TimeField::Month, TimeField::Day, TimeField::DayOfWeek]
                .map(|field| extract(field, time).to_integer().expect("whole"))
        };
        assert_eq!(fields("1970-01-01"), [1970, 1, 1, 4]);
        assert_eq!(fields("1969-12-31"), [1969, 12, 31, 3]);
        assert_eq!(fields("2000-02-29"), [2000, 2, 29, 2]);
        assert_eq!(fields("2026-11-21"), [2026, 11, 21, 6]);
        assert_eq!(fields("0001-01-01"), [1, 1, 1, 1]);
        assert_eq!(fields("9999-12-31"), [9999, 12, 31, 5]);
    }

    #[test]
    fn weeks_are_those_of_iso_8601() {
        let fields = |text: &str| {
            let time = hadal_types::time::parse_timestamp(text).expect(text);
            [TimeField::IsoYear, TimeField::Week, TimeField::DayOfYear, TimeField::IsoDayOfWeek]
                .map(|field| extract(field, time).to_integer().expect("whole"))
        };
        assert_eq!(fields("2021-01-03"), [2020, 53, 3, 7]);
        assert_eq!(fields("2024-12-30"), [2025, 1, 365, 1]);
        assert_eq!(fields("1969-12-31"), [1970, 1, 365, 3]);
    }
}
