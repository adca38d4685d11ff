//! Which field holds a row's time, and how it is spelled.

use hadal_types::time::{TimeUnit, parse_timestamp};
use hadal_types::{Micros, Number};
use jiff::civil::DateTime;
use jiff::fmt::rfc2822;
use jiff::tz::TimeZone;

use crate::json::Field;

/// Fields that hold a row's time where nobody names one, the first that does.
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

/// Reads a time; numbers in `unit`, or, where there is none yet, in the one that their size
/// tells, which then is the unit of the whole batch.
pub(crate) fn read(field: &Field<'_>, unit: &mut Option<TimeUnit>) -> Option<Micros> {
    match field {
        Field::Number { number, .. } => of_number(*number, unit),
        Field::String(text) => match text.trim().parse::<Number>() {
            Ok(number) => of_number(number, unit),
            Err(_) => of_text(text),
        },
        _ => None,
    }
}

fn of_number(number: Number, unit: &mut Option<TimeUnit>) -> Option<Micros> {
    unit.get_or_insert_with(|| TimeUnit::guess(number)).read(number)
}

/// ISO 8601, RFC 3339, RFC 2822, and the spellings of common logs, in UTC where no zone is named.
pub(crate) fn of_text(text: &str) -> Option<Micros> {
    let text = text.trim();
    if let Some(time) = parse_timestamp(text) {
        return Some(time);
    }
    let with_point = text.replacen(',', ".", 1);
    let slashes = text.get(..10).map(|date| date.replace('/', "-") + &text[10..]);
    parse_timestamp(&with_point)
        .or_else(|| slashes.as_deref().and_then(parse_timestamp))
        .or_else(|| apache(text))
        .or_else(|| {
            let zoned = rfc2822::DateTimeParser::new().parse_zoned(text).ok()?;
            Micros(zoned.timestamp().as_microsecond()).in_range()
        })
}

/// `10/Oct/2000:13:55:36 -0700`, with or without brackets.
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

    #[test]
    fn the_first_number_tells_the_unit() {
        let mut unit = None;
        let number =
            |text: &str| Field::Number { number: text.parse().expect("a number"), rounded: false };
        let millis = read(&number("1700000000000"), &mut unit).expect("a time");
        assert_eq!(millis, Micros(1_700_000_000_000_000));
        assert_eq!(read(&number("1000"), &mut unit), Some(Micros(1_000_000)));
        assert_eq!(read(&Field::String("1000".into()), &mut unit), Some(Micros(1_000_000)));
        assert_eq!(read(&Field::Bool(true), &mut unit), None);
    }
}
