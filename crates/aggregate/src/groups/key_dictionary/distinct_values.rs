//! The different values of a key in ascending order, for columns of groups.

use std::borrow::Cow;

use hadal_types::{Micros, Value};

use super::KeyDictionary;
use super::values::KeyValues;

/// Different values in ascending order, none of them null, in the smallest form that holds all of
/// them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DistinctValues<'v> {
    /// Integers; also the form of no values.
    Integers(Vec<i64>),
    /// Times, in microseconds since the Unix epoch.
    Times(Vec<i64>),
    /// Strings.
    Strings(Vec<Cow<'v, str>>),
    /// Values of several kinds, or of one that is none of these.
    Others(Vec<Value>),
}

impl DistinctValues<'_> {
    /// How many there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        match self {
            Self::Integers(values) | Self::Times(values) => values.len(),
            Self::Strings(texts) => texts.len(),
            Self::Others(values) => values.len(),
        }
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl KeyDictionary {
    /// The different values of these numbers in ascending order; and by number, the index of its
    /// value. The index of null is after the last value.
    pub(crate) fn sorted_values(
        &self,
        numbers: impl Iterator<Item = u32>,
    ) -> (DistinctValues<'_>, Vec<u32>) {
        let mut is_used = vec![false; self.len()];
        numbers.for_each(|number| is_used[number as usize] = true);
        let is_value = |number: &u32| is_used[*number as usize] && self.null != Some(*number);
        let numbers: Vec<u32> = (0..).take(self.len()).filter(is_value).collect();
        let (numbers, values) = match &self.values {
            KeyValues::Ints(ints) => {
                let (numbers, ints) = sorted(numbers, |number| ints[number as usize]);
                (numbers, DistinctValues::Integers(ints))
            }
            KeyValues::Strings(texts) => {
                let text = |number| texts.get(number).unwrap_or_default();
                let (numbers, texts) = sorted_texts(numbers, text);
                let texts = texts.into_iter().map(Cow::Borrowed).collect();
                (numbers, DistinctValues::Strings(texts))
            }
            KeyValues::Templates(texts) => {
                let text = |number| texts.get(number).unwrap_or_default();
                let (numbers, texts) = sorted(numbers, text);
                let texts = texts.into_iter().map(Cow::Owned).collect();
                (numbers, DistinctValues::Strings(texts))
            }
            KeyValues::Any(values, _) => {
                let (numbers, values) = sorted(numbers, |number| &values[number as usize]);
                (numbers, in_smallest_form(values))
            }
        };
        let values = if values.is_empty() { DistinctValues::Integers(Vec::new()) } else { values };
        let mut indexes = vec![0; self.len()];
        for (index, number) in (0u32..).zip(numbers.into_iter().chain(self.null)) {
            indexes[number as usize] = index;
        }
        (values, indexes)
    }

    /// Assigns the next numbers to these values in their order. Returns whether none had a number.
    pub(crate) fn push_values(&mut self, values: &DistinctValues<'_>) -> bool {
        let before = self.len();
        let mut numbers = Vec::with_capacity(values.len());
        match values {
            DistinctValues::Integers(ints) => self.numbers_of_ints(ints, &mut numbers),
            DistinctValues::Times(times) => {
                let times = times.iter().map(|&time| Value::Time(Micros(time)));
                numbers.extend(times.map(|time| self.number_of(&time)));
            }
            DistinctValues::Strings(texts) => {
                self.numbers_of_strings(texts.iter().map(AsRef::as_ref), &mut numbers);
            }
            DistinctValues::Others(values) => {
                numbers.extend(values.iter().map(|value| self.number_of(value)));
            }
        }
        self.len() == before + values.len()
    }
}

/// The numbers in the ascending order of their values, and the values.
fn sorted<T: Ord>(numbers: Vec<u32>, value: impl Fn(u32) -> T) -> (Vec<u32>, Vec<T>) {
    let mut pairs: Vec<(T, u32)> =
        numbers.into_iter().map(|number| (value(number), number)).collect();
    pairs.sort_unstable();
    pairs.into_iter().map(|(value, number)| (number, value)).unzip()
}

/// As [`sorted`]. Most texts are compared by their first bytes only, which are beside each other.
fn sorted_texts<'t>(numbers: Vec<u32>, text: impl Fn(u32) -> &'t str) -> (Vec<u32>, Vec<&'t str>) {
    let first_bytes = |text: &str| {
        let mut bytes = [0; 16];
        let length = text.len().min(bytes.len());
        bytes[..length].copy_from_slice(&text.as_bytes()[..length]);
        u128::from_be_bytes(bytes)
    };
    let keyed = |number| {
        let text = text(number);
        (first_bytes(text), text)
    };
    let (numbers, keyed) = sorted(numbers, keyed);
    (numbers, keyed.into_iter().map(|(_, text)| text).collect())
}

fn in_smallest_form(values: Vec<&Value>) -> DistinctValues<'_> {
    let int = |value: &&Value| match value {
        Value::Number(number) => number.to_i64(),
        _ => None,
    };
    let time = |value: &&Value| match value {
        Value::Time(time) => Some(time.0),
        _ => None,
    };
    if let Some(ints) = values.iter().map(int).collect() {
        return DistinctValues::Integers(ints);
    }
    if let Some(times) = values.iter().map(time).collect() {
        return DistinctValues::Times(times);
    }
    match values.iter().copied().map(text).collect() {
        Some(texts) => DistinctValues::Strings(texts),
        None => DistinctValues::Others(values.into_iter().cloned().collect()),
    }
}

fn text(value: &Value) -> Option<Cow<'_, str>> {
    match value {
        Value::String(text) => Some(Cow::Borrowed(&**text)),
        _ => None,
    }
}
