//! Durations as people write them: `1 minute`, `90s`, `1h30m`, `2 weeks`.

use hadal_types::{Micros, Number};

/// Why a text is not a duration: a message and a hint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NotADuration {
    pub(crate) message: String,
    pub(crate) hint: &'static str,
}

const SPELLINGS: &str = "write a number and a unit: '30 seconds', '5m', '1h 30m', '2 days', '1w'";
const CALENDAR: &str = "months and years differ in length; write days, such as '30 days'";

/// A length of time. Months, quarters and years are apart, because they differ in length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CalendarSpan {
    pub(crate) months: i64,
    pub(crate) micros: i64,
}

/// Parses a duration, in microseconds. A bare number is seconds; a leading `-` makes it negative.
pub(crate) fn parse_duration(text: &str) -> Result<i64, NotADuration> {
    let CalendarSpan { months, micros } = parse_span(text)?;
    match months {
        0 => Ok(micros),
        _ => Err(NotADuration { message: format!("{text:?} has no fixed length"), hint: CALENDAR }),
    }
}

/// Parses a duration that may have months and years.
pub(crate) fn parse_span(text: &str) -> Result<CalendarSpan, NotADuration> {
    let refuse = |hint| NotADuration { message: format!("{text:?} is not a length of time"), hint };
    let (negative, mut rest) = match text.trim().strip_prefix('-') {
        Some(rest) => (true, rest.trim_start()),
        None => (false, text.trim()),
    };
    if rest.is_empty() {
        return Err(refuse(SPELLINGS));
    }
    let (mut months, mut total): (i64, i64) = (0, 0);
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, after) = rest.split_at(digits);
        let after = after.trim_start();
        let letters = after.find(|c: char| !c.is_alphabetic()).unwrap_or(after.len());
        let (unit, after) = after.split_at(letters);
        let number: Number = number.parse().map_err(|_| refuse(SPELLINGS))?;
        if let Some(unit) = unit_months(unit) {
            let part = number.to_i64().and_then(|number| number.checked_mul(unit));
            let sum = part.and_then(|part| months.checked_add(part));
            months = sum.ok_or_else(|| refuse("write whole months and years"))?;
            rest = after.trim_start();
            continue;
        }
        let unit = unit_micros(unit).map_err(refuse)?;
        let micros = scale(number, unit).and_then(|part| total.checked_add(part));
        total = micros.ok_or_else(|| refuse("that is longer than all time"))?;
        rest = after.trim_start();
    }
    let sign = if negative { -1 } else { 1 };
    Ok(CalendarSpan { months: sign * months, micros: sign * total })
}

/// The months of a unit that has no fixed length; `None` for other units.
pub(crate) fn unit_months(unit: &str) -> Option<i64> {
    Some(match unit.to_ascii_lowercase().as_str() {
        "mon" | "mons" | "month" | "months" => 1,
        "quarter" | "quarters" => 3,
        "y" | "year" | "years" => 12,
        _ => return None,
    })
}

/// The microseconds of a unit; the error is a hint.
pub(crate) fn unit_micros(unit: &str) -> Result<i64, &'static str> {
    // A capital M would be read as minutes below, but may mean months.
    if unit == "M" {
        return Err(CALENDAR);
    }
    Ok(match unit.to_ascii_lowercase().as_str() {
        "us" | "µs" | "microsecond" | "microseconds" => 1,
        "ms" | "millisecond" | "milliseconds" => 1_000,
        "" | "s" | "sec" | "secs" | "second" | "seconds" => Micros::SECOND,
        "m" | "min" | "mins" | "minute" | "minutes" => 60 * Micros::SECOND,
        "h" | "hr" | "hrs" | "hour" | "hours" => 3_600 * Micros::SECOND,
        "d" | "day" | "days" => DAY,
        "w" | "week" | "weeks" => WEEK,
        _ if unit_months(unit).is_some() => return Err(CALENDAR),
        _ => return Err(SPELLINGS),
    })
}

/// Microseconds per day.
pub(crate) const DAY: i64 = 86_400 * Micros::SECOND;
/// Microseconds per week.
pub(crate) const WEEK: i64 = 7 * DAY;

fn scale(number: Number, unit: i64) -> Option<i64> {
    let millionths = number.to_scaled(6)?.checked_mul(i128::from(unit))?;
    i64::try_from(millionths / 1_000_000).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_lengths() {
        for (text, seconds) in [
            ("1 minute", 60),
            ("90", 90),
            ("90s", 90),
            ("-3h", -10_800),
            ("1h30m", 5_400),
            (" 1 hour  30 minutes ", 5_400),
            ("1.5h", 5_400),
            ("2 WEEKS", 1_209_600),
        ] {
            assert_eq!(parse_duration(text), Ok(seconds * Micros::SECOND), "{text}");
        }
        assert_eq!(parse_duration("250ms"), Ok(250_000));
    }

    #[test]
    fn what_is_no_length_says_so() {
        for text in ["", "-", "h", "3 parsecs", "1..2s", "--1s", "1h-", "1e3"] {
            assert_eq!(parse_duration(text).expect_err(text).hint, SPELLINGS, "{text}");
        }
        for text in ["1 month", "1M"] {
            assert_eq!(parse_duration(text).expect_err(text).hint, CALENDAR, "{text}");
        }
        assert!(parse_duration("99999999999999 weeks").is_err());
    }

    #[test]
    fn months_are_apart() {
        let span = |text| parse_span(text).map(|span| (span.months, span.micros));
        assert_eq!(span("1 year 2 months 1 day"), Ok((14, DAY)));
        assert_eq!(span("-1 quarter"), Ok((-3, 0)));
        assert!(span("1.5 months").is_err());
        assert!(span("9999999999999999999 years").is_err());
    }
}
