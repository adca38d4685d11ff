//! The units of a table's number columns, as the page shows them.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use crate::limits::COLUMN_UNITS_MAX;
use crate::name::ColumnName;

/// The unit of each column for which a person set one.
pub type ColumnUnits = BTreeMap<ColumnName, ColumnUnit>;

/// The unit of a column's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnUnit {
    /// No unit, whatever the column's name ends with.
    None,
    /// Nanoseconds.
    Nanoseconds,
    /// Microseconds.
    Microseconds,
    /// Milliseconds.
    Milliseconds,
    /// Seconds.
    Seconds,
    /// Bytes.
    Bytes,
    /// Percent, 0 to 100.
    Percent,
    /// A share, 0 to 1.
    Share,
    /// A rate per second.
    PerSecond,
}

impl ColumnUnit {
    /// All units.
    pub const ALL: [Self; 9] = [
        Self::None,
        Self::Nanoseconds,
        Self::Microseconds,
        Self::Milliseconds,
        Self::Seconds,
        Self::Bytes,
        Self::Percent,
        Self::Share,
        Self::PerSecond,
    ];

    /// The unit's name in settings.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Nanoseconds => "ns",
            Self::Microseconds => "us",
            Self::Milliseconds => "ms",
            Self::Seconds => "s",
            Self::Bytes => "bytes",
            Self::Percent => "percent",
            Self::Share => "share",
            Self::PerSecond => "per second",
        }
    }
}

impl fmt::Display for ColumnUnit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for ColumnUnit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|unit| unit.name() == text).ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            format!("{text:?} is no unit; there are {names}")
        })
    }
}

/// Reads `latency:us,size:bytes`.
pub(super) fn parse_units(text: &str) -> Result<ColumnUnits, String> {
    let mut units = ColumnUnits::new();
    for part in text.split(',') {
        let pair = part.rsplit_once(':');
        let (column, unit) =
            pair.ok_or_else(|| format!("{part:?} has no unit; write {part}:ms"))?;
        add_unit(&mut units, column, unit)?;
    }
    Ok(units)
}

/// Adds the unit of one more column.
pub(super) fn add_unit(units: &mut ColumnUnits, column: &str, unit: &str) -> Result<(), String> {
    let column = ColumnName::new(column).map_err(|error| error.to_string())?;
    let unit = unit.parse().map_err(|error| format!("{column}: {error}"))?;
    if let Some(before) = units.insert(column.clone(), unit) {
        return Err(format!("{column} has two units, {before} and {unit}"));
    }
    match units.len() > COLUMN_UNITS_MAX {
        true => Err(format!("more than {COLUMN_UNITS_MAX} columns with units")),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_read_as_they_are_written() {
        let units = parse_units("a:us,b:c:per second").expect("units");
        let units: Vec<_> = units.iter().map(|(name, unit)| (name.as_str(), *unit)).collect();
        assert_eq!(units, [("a", ColumnUnit::Microseconds), ("b:c", ColumnUnit::PerSecond)]);
        for unit in ColumnUnit::ALL {
            assert_eq!(unit.name().parse(), Ok(unit));
        }
        for (text, expected) in [
            ("a", "\"a\" has no unit; write a:ms"),
            (
                "a:",
                "a: \"\" is no unit; there are none, ns, us, ms, s, bytes, percent, share, per second",
            ),
            ("a:ms,a:s", "a has two units, ms and s"),
            (":ms", "a column name is empty"),
        ] {
            assert_eq!(parse_units(text).expect_err(text), expected);
        }
    }

    #[test]
    fn columns_with_units_are_limited() {
        let units = |count: usize| {
            let units: Vec<String> = (0..count).map(|column| format!("c{column}:ms")).collect();
            parse_units(&units.join(","))
        };
        assert_eq!(units(COLUMN_UNITS_MAX).expect("units").len(), COLUMN_UNITS_MAX);
        assert!(units(COLUMN_UNITS_MAX + 1).expect_err("too many").starts_with("more than 200"));
    }
}
