//! The share of rows that sampling keeps, and its text form.

use std::fmt;
use std::str::FromStr;

use crate::limits::SAMPLE_ONE_IN_MAX;
use crate::number::Number;

/// One row in n is kept, for an n from 2 to [`SAMPLE_ONE_IN_MAX`]. n is a whole number, so that a
/// kept row weighs exactly n times its former weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SampleFactor(u16);

impl SampleFactor {
    /// One row in `rows`, or `None` outside the range.
    #[must_use]
    pub fn new(rows: u16) -> Option<Self> {
        (2..=SAMPLE_ONE_IN_MAX).contains(&rows).then_some(Self(rows))
    }

    /// The n of one row in n.
    #[must_use]
    pub const fn rows(self) -> u16 {
        self.0
    }

    /// The n for which `share` is 1/n, if any.
    fn of_share(share: Number) -> Option<Self> {
        let share = share.to_f64();
        let rows = (1.0 / share).round();
        let is_whole = (rows * share - 1.0).abs() < 1e-9;
        let is_within = (2.0..=f64::from(SAMPLE_ONE_IN_MAX)).contains(&rows);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a whole number within the range of u16"
        )]
        (is_whole && is_within).then_some(Self(rows as u16))
    }
}

impl Default for SampleFactor {
    fn default() -> Self {
        Self(10)
    }
}

impl FromStr for SampleFactor {
    type Err = String;

    /// Reads `1/10` or `0.1`.
    fn from_str(text: &str) -> Result<Self, String> {
        let read = match text.strip_prefix("1/") {
            Some(rows) if rows.bytes().all(|byte| byte.is_ascii_digit()) => {
                rows.parse().ok().and_then(Self::new)
            }
            Some(_) => None,
            None => text.parse().ok().and_then(Self::of_share),
        };
        read.ok_or_else(|| {
            format!(
                "{text:?} is not 1/n for a whole n from 2 to {SAMPLE_ONE_IN_MAX}; write 1/10 or 0.1"
            )
        })
    }
}

impl fmt::Display for SampleFactor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "1/{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_read_as_people_write_them() {
        for (text, rows) in [
            ("1/10", 10),
            ("0.1", 10),
            ("0.5", 2),
            ("0.125", 8),
            ("0.04", 25),
            ("1e-3", 1_000),
            ("0.0001", 10_000),
            ("1/2", 2),
            ("1/10000", 10_000),
        ] {
            let share: SampleFactor = text.parse().expect(text);
            assert_eq!(share.rows(), rows, "{text}");
        }
        for text in [
            "", "1", "0", "-0.1", "1/1", "1/0", "2/10", "1/", "1/+3", "1/10001", "0.3", "0.33",
            "10",
        ] {
            let error = text.parse::<SampleFactor>().expect_err(text);
            assert!(
                error.contains("is not 1/n for a whole n from 2 to 10000; write 1/10 or 0.1"),
                "{error}"
            );
        }
    }

    #[test]
    fn every_share_is_read_again() {
        for rows in 2..=SAMPLE_ONE_IN_MAX {
            let share = SampleFactor::new(rows).expect("within the range");
            assert_eq!(share.to_string().parse(), Ok(share));
        }
        assert_eq!([0, 1, SAMPLE_ONE_IN_MAX + 1].map(SampleFactor::new), [None; 3]);
        assert_eq!(SampleFactor::default().to_string(), "1/10");
    }
}
