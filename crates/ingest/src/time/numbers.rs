//! Numbers as times: their unit, and days or times written as digits.

use std::ops::RangeInclusive;

use hadal_types::time::TimeUnit;
use hadal_types::{Micros, Number};

use super::civil::Civil;
use super::reader::TimeReader;
use crate::json::Field;

/// Seconds of this century: larger than any day written as digits.
const USUAL_SECONDS: RangeInclusive<i64> = 946_684_800..=4_102_444_799;
/// 2001-01-01 and the end of 2100: times of numbers that are meant as times, as most are.
const PLAUSIBLE: RangeInclusive<i64> =
    978_307_200 * Micros::SECOND..=4_133_980_800 * Micros::SECOND - 1;

/// The unit of numeric times for each source. The first time of a batch decides it by its size, so
/// that the unit does not change from row to row.
#[derive(Debug)]
pub(crate) struct Units(Vec<Option<TimeUnit>>);

impl Units {
    pub(crate) fn new(sources: usize) -> Self {
        Self(vec![None; sources])
    }

    /// Reads a time of a source; also returns whether the size of a number suggests another unit.
    #[inline]
    pub(crate) fn read(
        &mut self,
        source: usize,
        field: &Field<'_>,
        reader: &TimeReader,
    ) -> Option<(Micros, bool)> {
        if let Some(time) = self.read_usual(source, field, reader) {
            return Some((time, false));
        }
        self.read_unusual(source, field, reader)
    }

    /// Reads a time in any form.
    #[cold]
    fn read_unusual(
        &mut self,
        source: usize,
        field: &Field<'_>,
        reader: &TimeReader,
    ) -> Option<(Micros, bool)> {
        let text_time = match field {
            Field::String(text) => reader.read(text),
            _ => None,
        };
        if let Some(time) = text_time {
            return Some((time, false));
        }
        let number = number(field)?;
        if let Some(time) = reader.read_number(number).or_else(|| of_digits(number, reader)) {
            return Some((time, false));
        }
        let guess = TimeUnit::guess(number);
        let unit = self.0.get(source).copied().flatten().unwrap_or(guess);
        let time = unit.read(number)?;
        if let Some(source_unit) = self.0.get_mut(source) {
            *source_unit = Some(unit);
        }
        Some((time, unit != guess))
    }

    /// Reads the two most common formats, which are cheap to recognize: ISO 8601, and a whole
    /// second of this century if the unit is seconds.
    #[inline]
    fn read_usual(
        &mut self,
        source: usize,
        field: &Field<'_>,
        reader: &TimeReader,
    ) -> Option<Micros> {
        match field {
            Field::Decimal { mantissa, scale: 0 } if USUAL_SECONDS.contains(mantissa) => {
                (*self.0[source].get_or_insert(TimeUnit::Seconds) == TimeUnit::Seconds)
                    .then_some(Micros(mantissa * Micros::SECOND))
            }
            Field::String(text) => reader.read_usual(text),
            _ => None,
        }
    }

    /// The unit of the batch, for the message about a number that is not a time in it.
    pub(crate) fn assumed(&self, source: usize, field: &Field<'_>) -> String {
        match (number(field), self.0.get(source)) {
            (Some(_), Some(Some(unit))) => format!(" in {}, the unit of its batch", unit.name()),
            _ => String::new(),
        }
    }
}

/// The number of a field, also of one written as a text.
pub(super) fn number(field: &Field<'_>) -> Option<Number> {
    match field {
        Field::String(text) => text.trim().parse().ok(),
        other => other.number(),
    }
}

/// The time of a number whose size is that of a time since 2001, or of a day in digits; `None` for
/// other numbers, such as a duration.
pub(crate) fn plausible(number: Number, reader: &TimeReader) -> Option<Micros> {
    let time = of_digits(number, reader).or_else(|| TimeUnit::guess(number).read(number))?;
    PLAUSIBLE.contains(&time.0).then_some(time)
}

/// Whether a field is no number, or a number of the size of a time since 2001.
pub(crate) fn is_plausible_or_text(field: &Field<'_>, reader: &TimeReader) -> bool {
    number(field).is_none_or(|number| plausible(number, reader).is_some())
}

/// The time that digits represent in the years 1900 to 2099: a day such as 20261121, or a second
/// such as 20261121035142. As Unix times, these numbers would be a few nights of 1970, or
/// years after 2500.
fn of_digits(number: Number, reader: &TimeReader) -> Option<Micros> {
    let digits = number.to_i64()?;
    let (date, clock) = match digits {
        19_000_101..=20_991_231 => (digits, 0),
        19_000_101_000_000..=20_991_231_235_959 => (digits / 1_000_000, digits % 1_000_000),
        _ => return None,
    };
    let civil = Civil {
        year: Some(date / 10_000),
        month: date / 100 % 100,
        day: date % 100,
        hour: clock / 10_000,
        minute: clock / 100 % 100,
        second: clock % 100,
        ..Civil::default()
    };
    reader.time(&civil)
}

#[cfg(test)]
mod tests {
    use hadal_types::time::parse_timestamp;

    use super::*;

    fn number_field(text: &str) -> Field<'_> {
        Field::Number { number: text.parse().expect("a number"), rounded: false }
    }

    const READER: TimeReader = TimeReader::new(Micros(0));

    #[test]
    fn the_first_number_tells_the_unit() {
        let mut units = Units::new(2);
        let millis = Some((Micros(1_700_000_000_000_000), false));
        assert_eq!(units.read(0, &number_field("1700000000000"), &READER), millis);
        // A number whose size suggests seconds.
        let mixed = Some((Micros(1_700_000_000_000), true));
        assert_eq!(units.read(0, &number_field("1700000000"), &READER), mixed);
        assert_eq!(units.read(0, &Field::String("1700000000".into()), &READER), mixed);
        assert_eq!(units.read(0, &Field::Bool(true), &READER), None);
        let iso = Field::String("2023-11-14T22:13:20Z".into());
        assert_eq!(units.read(0, &iso, &READER), millis);
        // Another source has its own unit.
        let seconds = Some((Micros(1_700_000_000_000_000), false));
        assert_eq!(units.read(1, &number_field("1700000000"), &READER), seconds);
        assert_eq!(units.read(1, &number_field("1700000000000"), &READER), None);
        let assumed = units.assumed(1, &number_field("1700000000000"));
        assert_eq!(assumed, " in seconds, the unit of its batch");
        assert_eq!(units.assumed(1, &Field::String("monday".into())), "");
    }

    #[test]
    fn digits_may_be_a_day_or_a_second() {
        let time = |text: &str| parse_timestamp(text).map(|time| (time, false));
        for (digits, expected) in [
            ("20261120", "2026-11-20"),
            ("20261120035142", "2026-11-20T03:51:42Z"),
            ("19991231235959", "1999-12-31T23:59:59Z"),
        ] {
            for field in [number_field(digits), Field::String(digits.into())] {
                assert_eq!(Units::new(1).read(0, &field, &READER), time(expected), "{digits}");
            }
        }
        let second = |second: i64| Some((Micros(second * Micros::SECOND), false));
        for no_day in [20_261_320, 20_260_230, 18_991_231, 21_000_101] {
            let read = Units::new(1).read(0, &number_field(&no_day.to_string()), &READER);
            assert_eq!(read, second(no_day));
        }
    }

    #[test]
    fn durations_and_counts_are_no_plausible_times() {
        let is_plausible =
            |text: &str| plausible(text.parse().expect("a number"), &READER).is_some();
        for text in
            ["1700000000", "1700000000.25", "1700000000000", "1700000000000000000", "20261121"]
        {
            assert!(is_plausible(text), "{text}");
        }
        for text in ["0.25", "5", "86400", "20261399", "-1700000000", "123456789012345678901"] {
            assert!(!is_plausible(text), "{text}");
        }
    }
}
