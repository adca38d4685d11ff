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

/// Parses a duration, in microseconds. A bare number is seconds; a leading `-` makes it negative.
pub(crate) fn parse_duration(text: &str) -> Result<i64, NotADuration> {
    let refuse = |hint| NotADuration { message: format!("{text:?} is not a length of time"), hint };
    let (negative, mut rest) = match text.trim().strip_prefix('-') {
        Some(rest) => (true, rest.trim_start()),
        None => (false, text.trim()),
    };
    if rest.is_empty() {
        return Err(refuse(SPELLINGS));
    }
    let mut total: i64 = 0;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, after) = rest.split_at(digits);
        let after = after.trim_start();
        let letters = after.find(|c: char| !c.is_alphabetic()).unwrap_or(after.len());
        let (unit, after) = after.split_at(letters);
        let number: Number = number.parse().map_err(|_| refuse(SPELLINGS))?;
        let unit = unit_micros(unit).map_err(refuse)?;
        let micros = scale(number, unit).and_then(|part| total.checked_add(part));
        total = micros.ok_or_else(|| refuse("that is longer than all time"))?;
        rest = after.trim_start();
    }
    Ok(if negative { -total } else { total })
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
        "mon" | "month" | "months" | "quarter" | "quarters" | "y" | "year" | "years" => {
            return Err(CALENDAR);
        }
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
}
