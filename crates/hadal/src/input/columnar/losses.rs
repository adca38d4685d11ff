//! Counts the losses of a column's values, and words them with the column's name.

use std::collections::BTreeMap;

use crate::output;

/// A way in which a value is not kept exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Loss {
    /// The time column has microseconds only.
    Nanoseconds,
    /// JSON numbers exclude NaN and the infinities.
    NotFinite,
    /// The number has more digits than a stored decimal.
    Digits,
    /// Bytes that are not UTF-8 text.
    Bytes,
    /// A time outside the years with four digits.
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

/// The losses of one column.
#[derive(Debug, Default)]
pub(super) struct Losses(BTreeMap<Loss, u64>);

impl Losses {
    /// Counts one loss.
    pub(super) fn add(&mut self, loss: Loss) {
        *self.0.entry(loss).or_default() += 1;
    }

    /// One line for each kind of loss.
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
