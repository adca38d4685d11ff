//! One value: what a cell, a group key or an answer holds.

use std::fmt;
use std::sync::Arc;

use crate::number::Number;
use crate::time::Micros;

/// A value. Cheap to clone.
///
/// The order is total: nulls last, else by kind as listed, else by value; lists element by element.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Value {
    /// A truth value: a number 0 or 1 whose column is logically bool.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A point in time.
    Time(Micros),
    /// A string.
    String(Arc<str>),
    /// A set of strings: sorted, without repeats.
    Set(Arc<[Arc<str>]>),
    /// A vector of strings, in order.
    Vector(Arc<[Arc<str>]>),
    /// A histogram: adjacent buckets in order.
    Histogram(Arc<[HistogramBucket]>),
    /// No value.
    Null,
}

/// One bucket of a histogram.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HistogramBucket {
    /// The bucket's lower edge, inclusive.
    pub from: Number,
    /// The bucket's upper edge, exclusive but for the last bucket.
    pub to: Number,
    /// The weighted count of values in the bucket.
    pub count: Number,
}

impl Value {
    /// Returns a string value.
    #[must_use]
    pub fn string(text: &str) -> Self {
        Self::String(text.into())
    }

    /// Returns the integer `value`.
    #[must_use]
    pub const fn integer(value: i64) -> Self {
        Self::Number(Number::integer(value))
    }

    /// Returns a set of these elements: sorted, each once.
    #[must_use]
    pub fn set<S: AsRef<str>>(elements: impl IntoIterator<Item = S>) -> Self {
        let mut sorted: Vec<Arc<str>> =
            elements.into_iter().map(|element| element.as_ref().into()).collect();
        sorted.sort_unstable();
        sorted.dedup();
        Self::Set(sorted.into())
    }

    /// Returns a vector of these elements, in this order.
    #[must_use]
    pub fn vector<S: AsRef<str>>(elements: impl IntoIterator<Item = S>) -> Self {
        Self::Vector(elements.into_iter().map(|element| element.as_ref().into()).collect())
    }

    /// Approximate heap bytes of the value. Text that several values share is counted for each of
    /// them.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        const COUNTERS: usize = 16;
        match self {
            Self::String(text) => COUNTERS + text.len(),
            Self::Set(elements) | Self::Vector(elements) => {
                let element = |text: &Arc<str>| 2 * COUNTERS + text.len();
                COUNTERS + elements.iter().map(element).sum::<usize>()
            }
            Self::Histogram(buckets) => COUNTERS + size_of_val(&**buckets),
            Self::Bool(_) | Self::Number(_) | Self::Time(_) | Self::Null => 0,
        }
    }

    /// Whether the value is null.
    #[must_use]
    pub const fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }
}

impl fmt::Display for Value {
    /// Plain text as a person would write it; null is `null`, lists are `[a, b]`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => formatter.write_str("null"),
            Self::Bool(truth) => truth.fmt(formatter),
            Self::Number(number) => number.fmt(formatter),
            Self::Time(time) => time.fmt(formatter),
            Self::String(text) => formatter.write_str(text),
            Self::Set(elements) | Self::Vector(elements) => {
                write!(formatter, "[{}]", elements.join(", "))
            }
            Self::Histogram(buckets) => {
                let shown: Vec<String> = buckets
                    .iter()
                    .map(|bucket| format!("{}–{}: {}", bucket.from, bucket.to, bucket.count))
                    .collect();
                write!(formatter, "[{}]", shown.join(", "))
            }
        }
    }
}
