//! What a column's values lose on their way, counted, and said by name.

use std::collections::BTreeMap;

use crate::output;

/// A way in which a value is not kept as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Loss {
    /// The time column has microseconds.
    Nanoseconds,
    /// NaN and the infinities are no numbers.
    NotFinite,
    /// No stored decimal has so many digits.
    Digits,
    /// Bytes that are no text.
    Bytes,
    /// A time that has no spelling with a year of four digits.
    Years,
    /// A null within a list.
    NullElement,
    /// A list of lists, structs or maps.
    Nested,
}

impl Loss {
    fn text(self) -> (&'static str, &'static str) {
        match self {
            Self::Nanoseconds => ("nanoseconds cut to microseconds", "value"),
            Self::NotFinite => ("NaN and infinity became null", "value"),
            Self::Digits => ("more digits than a decimal keeps, rounded to doubles", "value"),
            Self::Bytes => ("bytes that are no text became hexadecimal digits", "value"),
            Self::Years => ("times outside the years 1 to 9999 became strings", "value"),
            Self::NullElement => ("nulls within lists were left out", "element"),
            Self::Nested => ("lists of lists or objects became JSON text", "value"),
        }
    }
}

/// What was lost of one column.
#[derive(Debug, Default)]
pub(super) struct Losses(BTreeMap<Loss, u64>);

impl Losses {
    /// Counts one.
    pub(super) fn add(&mut self, loss: Loss) {
        *self.0.entry(loss).or_default() += 1;
    }

    /// A line for each loss.
    pub(super) fn notes(&self, column: &str) -> impl Iterator<Item = String> {
        self.0.iter().map(move |(loss, &count)| {
            let (what, unit) = loss.text();
            format!("column {column}: {what}, {}", output::count(count, unit))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_are_counted_by_column() {
        let mut losses = Losses::default();
        losses.add(Loss::Nanoseconds);
        losses.add(Loss::NullElement);
        losses.add(Loss::Nanoseconds);
        let notes: Vec<String> = losses.notes("x").collect();
        assert_eq!(
            notes,
            [
                "column x: nanoseconds cut to microseconds, 2 values",
                "column x: nulls within lists were left out, 1 element",
            ]
        );
    }
}
