//! Age limits of rows, and their text form.

use std::fmt;
use std::str::FromStr;

use crate::limits::{TABLE_AGE_DAYS, TABLE_AGE_SECONDS_MAX, TABLE_AGE_SECONDS_MIN};
use crate::time::Micros;

const DAY: i64 = 86_400;
/// The units of an age, the largest first. A week is read, but never written.
const UNITS: [(&str, i64); 5] = [("w", 7 * DAY), ("d", DAY), ("h", 3_600), ("m", 60), ("s", 1)];

/// The age limit of a table's rows, or the age from which they are stored in another way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgeLimit {
    /// This many seconds: [`TABLE_AGE_SECONDS_MIN`] to [`TABLE_AGE_SECONDS_MAX`].
    Seconds(i64),
    /// Any age.
    Unlimited,
}

impl AgeLimit {
    /// Returns a limit in seconds.
    ///
    /// # Errors
    /// A reason, with the range.
    pub(crate) fn of_seconds(seconds: i64) -> Result<Self, String> {
        if (TABLE_AGE_SECONDS_MIN..=TABLE_AGE_SECONDS_MAX).contains(&seconds) {
            return Ok(Self::Seconds(seconds));
        }
        let (least, most) =
            (Self::Seconds(TABLE_AGE_SECONDS_MIN), Self::Seconds(TABLE_AGE_SECONDS_MAX));
        Err(format!("{seconds} seconds are not between {least} and {most}"))
    }

    /// The limit in seconds, or `None` if unlimited.
    #[must_use]
    pub fn seconds(self) -> Option<i64> {
        match self {
            Self::Seconds(seconds) => Some(seconds),
            Self::Unlimited => None,
        }
    }

    /// The limit for a sentence: `30 days`, `1 hour`, `any age`.
    #[must_use]
    pub fn words(self) -> String {
        let Self::Seconds(seconds) = self else { return "any age".to_owned() };
        let (count, unit) = match seconds {
            _ if seconds % DAY == 0 => (seconds / DAY, "day"),
            _ if seconds % 3_600 == 0 => (seconds / 3_600, "hour"),
            _ if seconds % 60 == 0 => (seconds / 60, "minute"),
            _ => (seconds, "second"),
        };
        format!("{count} {unit}{}", if count == 1 { "" } else { "s" })
    }

    /// The time before which rows are too old at `now`, or `None` if unlimited.
    #[must_use]
    pub fn cutoff(self, now: Micros) -> Option<Micros> {
        let seconds = self.seconds()?;
        Some(Micros(now.0.saturating_sub(seconds.saturating_mul(Micros::SECOND))))
    }
}

impl Default for AgeLimit {
    fn default() -> Self {
        Self::Seconds(TABLE_AGE_DAYS * DAY)
    }
}

impl FromStr for AgeLimit {
    type Err = String;

    /// Reads `30d`, `12h`, `90m`, `45s`, `2w`, a plain number of seconds, `none` or `off`.
    fn from_str(text: &str) -> Result<Self, String> {
        if matches!(text, "none" | "off") {
            return Ok(Self::Unlimited);
        }
        let unit =
            UNITS.iter().find_map(|(unit, seconds)| Some((text.strip_suffix(unit)?, *seconds)));
        let (count, seconds) = unit.unwrap_or((text, 1));
        let wrong = || format!("{text:?} is no age; write 30d, 12h, 90m or none");
        if count.is_empty() || !count.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(wrong());
        }
        // A number with too many digits for an `i64` is too large in any unit.
        let count: i64 = count.parse().unwrap_or(i64::MAX);
        Self::of_seconds(count.saturating_mul(seconds))
    }
}

impl fmt::Display for AgeLimit {
    /// In the largest unit that divides the limit: `36h`, not `1.5d`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Seconds(seconds) = self else { return formatter.write_str("none") };
        let written = UNITS.iter().skip(1).find(|(_, unit)| seconds % unit == 0);
        let (unit, length) = written.copied().unwrap_or(("s", 1));
        write!(formatter, "{}{unit}", seconds / length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_read_as_people_write_them() {
        for (text, seconds) in [
            ("30d", 30 * DAY),
            ("12h", 12 * 3_600),
            ("90m", 5_400),
            ("90s", 90),
            ("2w", 14 * DAY),
            ("3600", 3_600),
        ] {
            assert_eq!(text.parse(), Ok(AgeLimit::Seconds(seconds)), "{text}");
        }
        for text in ["none", "off"] {
            assert_eq!(text.parse(), Ok(AgeLimit::Unlimited));
        }
        for text in ["", "d", "-1d", "1.5d", "1 d", "1y", "d30", "None", "+3d"] {
            let error = text.parse::<AgeLimit>().expect_err(text);
            assert!(error.contains("write 30d, 12h, 90m or none"), "{error}");
        }
    }

    #[test]
    fn ages_are_bounded_on_both_sides() {
        for seconds in [TABLE_AGE_SECONDS_MIN, TABLE_AGE_SECONDS_MAX] {
            assert_eq!(AgeLimit::of_seconds(seconds), Ok(AgeLimit::Seconds(seconds)));
        }
        for seconds in [i64::MIN, 0, TABLE_AGE_SECONDS_MIN - 1, TABLE_AGE_SECONDS_MAX + 1] {
            let error = AgeLimit::of_seconds(seconds).expect_err("out of range");
            assert!(error.contains("not between 1m and 36500d"), "{error}");
        }
        assert!("99999999999999999999d".parse::<AgeLimit>().is_err());
    }

    #[test]
    fn what_is_shown_is_read_again() {
        for (seconds, shown) in
            [(60, "1m"), (61, "61s"), (5_400, "90m"), (129_600, "36h"), (30 * DAY, "30d")]
        {
            let age = AgeLimit::Seconds(seconds);
            assert_eq!(age.to_string(), shown);
            assert_eq!(shown.parse(), Ok(age));
        }
        assert_eq!(AgeLimit::Unlimited.to_string(), "none");
    }

    #[test]
    fn a_limit_has_words() {
        for (text, words) in [
            ("30d", "30 days"),
            ("24h", "1 day"),
            ("36h", "36 hours"),
            ("90m", "90 minutes"),
            ("61s", "61 seconds"),
            ("none", "any age"),
        ] {
            assert_eq!(text.parse::<AgeLimit>().expect("an age").words(), words);
        }
    }

    #[test]
    fn the_cutoff_never_overflows() {
        let week = AgeLimit::Seconds(7 * DAY);
        assert_eq!(week.cutoff(Micros(0)), Some(Micros(-7 * DAY * Micros::SECOND)));
        assert_eq!(week.cutoff(Micros(i64::MIN)), Some(Micros(i64::MIN)));
        assert_eq!(AgeLimit::Unlimited.cutoff(Micros(0)), None);
    }
}
