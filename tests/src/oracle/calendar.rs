//! The Gregorian calendar in UTC, by counting years and months one by one.

use hadal_query::TimeField;
use hadal_types::Micros;

use super::exact::Exact;

const DAY_SECONDS: i64 = 86_400;

/// The field of the time.
pub(super) fn extract(field: TimeField, time: Micros) -> Exact {
    let seconds = time.0.div_euclid(Micros::SECOND);
    let (days, second_of_day) = (seconds.div_euclid(DAY_SECONDS), seconds.rem_euclid(DAY_SECONDS));
    let (year, month, day) = date(days);
    let micros = |micros: i64| Exact::from_integer(micros.into()).shifted_down(6);
    Exact::from_integer(i128::from(match field {
        TimeField::Epoch => return micros(time.0),
        TimeField::Second => return micros(time.0.rem_euclid(60 * Micros::SECOND)),
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
}
