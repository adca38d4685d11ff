//! Dates, times and durations as JSON: ISO 8601 in UTC, and seconds.

use std::io::Write;

use arrow_schema::TimeUnit;

use super::cell_writer::Setting;
use super::losses::{Loss, Losses};
use super::numbers;

pub(super) const DAY_SECONDS: i64 = 86_400;
/// Days since 1970 of the first day of year 1 and the last day of year 9999.
const DAYS: std::ops::RangeInclusive<i64> = -719_162..=2_932_896;

/// The number of decimal places of a second in this unit.
pub(super) const fn digits(unit: TimeUnit) -> u8 {
    match unit {
        TimeUnit::Second => 0,
        TimeUnit::Millisecond => 3,
        TimeUnit::Microsecond => 6,
        TimeUnit::Nanosecond => 9,
    }
}

const fn per_second(unit: TimeUnit) -> i64 {
    10_i64.pow(digits(unit) as u32)
}

/// Writes a point in time: `"2001-01-01T00:01:00.5"`, with a `Z` if the column has a zone.
pub(super) fn timestamp(
    value: i64,
    unit: TimeUnit,
    has_zone: bool,
    setting: Setting,
    out: &mut Vec<u8>,
    losses: &mut Losses,
) {
    let (seconds, fraction) =
        (value.div_euclid(per_second(unit)), value.rem_euclid(per_second(unit)));
    let (day, second) = (seconds.div_euclid(DAY_SECONDS), seconds.rem_euclid(DAY_SECONDS));
    if !DAYS.contains(&day) {
        losses.add(Loss::Years);
        return odd(value, unit, out);
    }
    if setting.is_time && unit == TimeUnit::Nanosecond && fraction % 1_000 != 0 {
        losses.add(Loss::Nanoseconds);
    }
    out.push(b'"');
    push_date(day, out);
    out.push(b'T');
    push_clock(second, fraction, unit, out);
    out.extend_from_slice(if has_zone { b"Z\"" } else { b"\"" });
}

/// Writes a date: `"2001-01-01"`.
pub(super) fn date(day: i64, out: &mut Vec<u8>, losses: &mut Losses) {
    if !DAYS.contains(&day) {
        losses.add(Loss::Years);
        let _ = write!(out, "\"{day} days since 1970\"");
        return;
    }
    out.push(b'"');
    push_date(day, out);
    out.push(b'"');
}

/// Writes a time of day: `"05:17:00.25"`.
pub(super) fn clock(value: i64, unit: TimeUnit, out: &mut Vec<u8>) {
    let (second, fraction) =
        (value.div_euclid(per_second(unit)), value.rem_euclid(per_second(unit)));
    if !(0..=DAY_SECONDS).contains(&second) {
        return odd(value, unit, out);
    }
    out.push(b'"');
    push_clock(second, fraction, unit, out);
    out.push(b'"');
}

/// Writes a duration in seconds: `1.5`.
pub(super) fn duration(value: i64, unit: TimeUnit, out: &mut Vec<u8>) {
    numbers::push_decimal(&value.to_string(), digits(unit).cast_signed(), out);
}

/// Writes a calendar interval in ISO 8601: `"P14M3DT0.5S"`.
pub(super) fn interval(months: i32, days: i32, nanoseconds: i64, out: &mut Vec<u8>) {
    out.extend_from_slice(b"\"P");
    let start = out.len();
    for (value, letter) in [(months, 'M'), (days, 'D')] {
        if value != 0 {
            let _ = write!(out, "{value}{letter}");
        }
    }
    if nanoseconds != 0 || out.len() == start {
        out.push(b'T');
        duration(nanoseconds, TimeUnit::Nanosecond, out);
        let digits = out.iter().rev().take_while(|digit| **digit == b'0').count();
        // At most nine digits, those after the point, are zeros to be cut.
        out.truncate(out.len() - digits.min(9));
        if out.ends_with(b".") {
            out.pop();
        }
        out.push(b'S');
    }
    out.push(b'"');
}

/// Writes a value without an ISO 8601 spelling: `"9223372036854775807 us"`.
fn odd(value: i64, unit: TimeUnit, out: &mut Vec<u8>) {
    let unit = ["s", "ms", "us", "ns"][usize::from(digits(unit) / 3)];
    let _ = write!(out, "\"{value} {unit}\"");
}

/// Writes year, month and day of a day in the years 1 to 9999, counted from 1970.
///
/// The years of the algorithm begin in March, so that the leap day is their last day: Howard
/// Hinnant, "chrono-Compatible Low-Level Date Algorithms", `civil_from_days`.
fn push_date(day: i64, out: &mut Vec<u8>) {
    let day = day + 719_468;
    let (era, of_era) = (day / 146_097, day % 146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let _ = write!(out, "{year:04}-{month:02}-{day:02}");
}

/// Writes `05:17:00`, and the decimal places of the second without trailing zeros.
fn push_clock(second: i64, fraction: i64, unit: TimeUnit, out: &mut Vec<u8>) {
    let _ = write!(out, "{:02}:{:02}:{:02}", second / 3_600, second / 60 % 60, second % 60);
    if fraction != 0 {
        let _ = write!(out, ".{fraction:0width$}", width = usize::from(digits(unit)));
        while out.last() == Some(&b'0') {
            out.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        write(&mut out);
        String::from_utf8(out).expect("utf-8")
    }

    #[test]
    fn days_are_those_of_the_calendar() {
        let first = hadal_types::Micros::MIN.0.div_euclid(1_000_000 * DAY_SECONDS);
        let last = hadal_types::Micros::MAX.0.div_euclid(1_000_000 * DAY_SECONDS);
        assert_eq!(DAYS, first..=last);
        for day in (first..=last).step_by(97).chain([first, -1, 0, 59, 11_016, last]) {
            let expected = hadal_types::Micros(day * DAY_SECONDS * 1_000_000).to_string();
            let text = written(|out| push_date(day, out));
            assert_eq!(text, expected[..10], "{day}");
        }
    }

    #[test]
    fn points_in_time_are_iso() {
        let (plain, mut losses) = (Setting::default(), Losses::default());
        let mut at = |value, unit, zone| {
            written(|out| timestamp(value, unit, zone, plain, out, &mut losses))
        };
        assert_eq!(at(978_307_260, TimeUnit::Second, false), "\"2001-01-01T00:01:00\"");
        assert_eq!(at(-1, TimeUnit::Millisecond, true), "\"1969-12-31T23:59:59.999Z\"");
        assert_eq!(
            at(1_500_000_001, TimeUnit::Nanosecond, true),
            "\"1970-01-01T00:00:01.500000001Z\""
        );
        assert_eq!(at(i64::MAX, TimeUnit::Microsecond, true), "\"9223372036854775807 us\"");
        assert_eq!(losses.notes("x").count(), 1);
    }

    #[test]
    fn other_times_are_texts_and_lengths_numbers() {
        assert_eq!(written(|out| clock(19_020_250, TimeUnit::Millisecond, out)), "\"05:17:00.25\"");
        assert_eq!(written(|out| clock(-1, TimeUnit::Second, out)), "\"-1 s\"");
        assert_eq!(written(|out| duration(-1_500, TimeUnit::Millisecond, out)), "-1.500");
        assert_eq!(written(|out| interval(14, 0, 5, out)), "\"P14MT0.000000005S\"");
        assert_eq!(written(|out| interval(0, -3, 0, out)), "\"P-3D\"");
        assert_eq!(written(|out| interval(0, 0, 0, out)), "\"PT0S\"");
    }
}
