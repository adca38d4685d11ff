//! The different values of one key of many groups, each with a number: the order in which they were
//! first met. Groups hold numbers, so that a value that thousands of groups share is kept once, and
//! two groups are told apart by small integers.

use std::hash::BuildHasher;

use hadal_types::Value;
use hashbrown::{DefaultHashBuilder, HashTable};

use crate::group::value_bytes;

/// Values by number.
#[derive(Clone, Debug, Default)]
pub struct KeyDictionary {
    values: Vec<Value>,
    /// The numbers, found by value.
    numbers: HashTable<u32>,
    hasher: DefaultHashBuilder,
    value_bytes: usize,
    /// The numbers of small whole numbers, by what they are.
    small: Vec<u32>,
}

/// Whole numbers from 0 to below this are found without a hash.
const SMALL: i64 = 1 << 16;
/// No number.
const UNKNOWN: u32 = u32::MAX;

impl KeyDictionary {
    /// The number of a value; a new one where it was not met before.
    pub fn number_of(&mut self, value: &Value) -> u32 {
        let hash = hash(&self.hasher, value);
        match self.find(hash, |own| own == value) {
            Some(number) => number,
            None => self.push(hash, value.clone()),
        }
    }

    /// The number of a string: as [`Self::number_of`], but no value is made of a known one.
    pub fn number_of_text(&mut self, text: &str) -> u32 {
        let hash = self.hasher.hash_one(text);
        match self.find(hash, |own| matches!(own, Value::String(own) if **own == *text)) {
            Some(number) => number,
            None => self.push(hash, Value::string(text)),
        }
    }

    /// The number of a whole number: as [`Self::number_of`], and soon found for small ones.
    pub fn number_of_whole(&mut self, whole: i64) -> u32 {
        let Some(at) = usize::try_from(whole).ok().filter(|_| whole < SMALL) else {
            return self.number_of(&Value::integer(whole));
        };
        match self.small.get(at) {
            Some(&number) if number != UNKNOWN => number,
            _ => {
                let number = self.number_of(&Value::integer(whole));
                let end = self.small.len().max(at + 1);
                self.small.resize(end, UNKNOWN);
                self.small[at] = number;
                number
            }
        }
    }

    /// The value of a number that was given out.
    pub(crate) fn value(&self, number: u32) -> &Value {
        &self.values[number as usize]
    }

    /// How many values there are.
    pub(crate) fn len(&self) -> usize {
        self.values.len()
    }

    /// Bytes held, about.
    pub(crate) fn bytes(&self) -> usize {
        let spare = self.values.capacity() - self.values.len();
        self.value_bytes
            + spare * size_of::<Value>()
            + self.numbers.allocation_size()
            + self.small.capacity() * size_of::<u32>()
    }

    fn find(&self, hash: u64, is_it: impl Fn(&Value) -> bool) -> Option<u32> {
        self.numbers.find(hash, |&number| is_it(self.value(number))).copied()
    }

    fn push(&mut self, hash: u64, value: Value) -> u32 {
        let Self { values, numbers, hasher, value_bytes: bytes, .. } = self;
        #[expect(clippy::cast_possible_truncation, reason = "more would not fit the budget")]
        let number = values.len() as u32;
        *bytes += value_bytes(&value);
        values.push(value);
        numbers.insert_unique(hash, number, |&number| self::hash(hasher, &values[number as usize]));
        number
    }
}

/// Strings hash like their text, so that they are found by it.
fn hash(hasher: &DefaultHashBuilder, value: &Value) -> u64 {
    match value {
        Value::String(text) => hasher.hash_one(&**text),
        other => hasher.hash_one(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_one_number_each_however_they_are_asked_for() {
        let mut keys = KeyDictionary::default();
        let values = ["a", "", "1"].map(Value::string);
        let others = [Value::integer(1), Value::Null, Value::Bool(true), Value::set(["a"])];
        for (number, value) in (0..).zip(values.iter().chain(&others)) {
            assert_eq!(keys.number_of(value), number);
        }
        for (number, value) in (0..).zip(values.iter().chain(&others)) {
            assert_eq!((keys.number_of(value), keys.value(number)), (number, value));
        }
        for whole in [1, 0, 7, 65_535, 65_536, -1, i64::MIN, i64::MAX, 1] {
            let number = keys.number_of_whole(whole);
            assert_eq!(keys.number_of(&Value::integer(whole)), number);
            assert_eq!(keys.value(number), &Value::integer(whole));
        }
        assert_eq!(keys.len(), 14);
        assert_eq!(keys.number_of_text("1"), 2);
        assert_eq!(keys.number_of_text("new"), 14);
        assert_eq!(keys.number_of(&Value::string("new")), 14);
        assert_eq!(keys.len(), 15);
    }
}
