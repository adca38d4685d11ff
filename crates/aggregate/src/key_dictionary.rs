//! The different values of one key of many groups, each with a number: the order in which they were
//! first met. Groups hold numbers, so that a value that thousands of groups share is kept once, and
//! two groups are told apart by small integers.

use std::borrow::Cow;
use std::hash::BuildHasher;

use hadal_types::Value;
use hashbrown::{DefaultHashBuilder, HashTable};

use crate::group::heap_bytes;
use crate::wholes::Wholes;

/// Values by number.
#[derive(Clone, Debug, Default)]
pub struct KeyDictionary {
    values: Values,
    /// The numbers of values that are no whole numbers, found by value.
    numbers: HashTable<u32>,
    hasher: DefaultHashBuilder,
    /// What values hold on the heap.
    heap_bytes: usize,
    wholes: Wholes,
}

/// Values, as whole numbers while all are.
#[derive(Clone, Debug, Default)]
struct Values {
    wholes: Vec<i64>,
    /// All of them, once there is one that is no whole number.
    any: Vec<Value>,
}

impl KeyDictionary {
    /// The number of a value; a new one where it was not met before.
    pub fn number_of(&mut self, value: &Value) -> u32 {
        if let Value::Number(number) = value
            && let Some(whole) = number.to_i64()
        {
            return self.number_of_whole(whole);
        }
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

    /// The number of a whole number: as [`Self::number_of`].
    pub fn number_of_whole(&mut self, whole: i64) -> u32 {
        let Self { wholes, values, .. } = self;
        wholes.number_of(whole, || values.push_whole(whole))
    }

    /// The numbers of many whole numbers, put after those that are in `numbers`: sooner found
    /// together than one by one.
    pub fn numbers_of_wholes(&mut self, wholes: &[i64], numbers: &mut Vec<u32>) {
        let Self { wholes: known, values, .. } = self;
        known.numbers_of(wholes, numbers, |whole| values.push_whole(whole));
    }

    /// The value of a number that was given out.
    pub(crate) fn value(&self, number: u32) -> Cow<'_, Value> {
        match self.values.wholes.get(number as usize) {
            Some(&whole) => Cow::Owned(Value::integer(whole)),
            None => Cow::Borrowed(&self.values.any[number as usize]),
        }
    }

    /// How many values there are.
    pub(crate) fn len(&self) -> usize {
        self.values.len()
    }

    /// Bytes held, about.
    pub(crate) fn bytes(&self) -> usize {
        let Values { wholes, any } = &self.values;
        wholes.capacity() * size_of::<i64>()
            + any.capacity() * size_of::<Value>()
            + self.heap_bytes
            + self.numbers.allocation_size()
            + self.wholes.bytes()
    }

    fn find(&self, hash: u64, is_it: impl Fn(&Value) -> bool) -> Option<u32> {
        let values = &self.values.any;
        self.numbers.find(hash, |&number| is_it(&values[number as usize])).copied()
    }

    fn push(&mut self, hash: u64, value: Value) -> u32 {
        let Self { values, numbers, hasher, heap_bytes: bytes, .. } = self;
        *bytes += heap_bytes(&value);
        let number = values.push(value);
        let any = &values.any;
        numbers.insert_unique(hash, number, |&number| self::hash(hasher, &any[number as usize]));
        number
    }
}

impl Values {
    fn len(&self) -> usize {
        self.wholes.len() + self.any.len()
    }

    fn push_whole(&mut self, whole: i64) -> u32 {
        if self.any.is_empty() {
            self.wholes.push(whole);
            return last_number(&self.wholes);
        }
        self.any.push(Value::integer(whole));
        last_number(&self.any)
    }

    fn push(&mut self, value: Value) -> u32 {
        self.any.extend(self.wholes.drain(..).map(Value::integer));
        self.wholes.shrink_to_fit();
        self.any.push(value);
        last_number(&self.any)
    }
}

#[expect(clippy::cast_possible_truncation, reason = "more would not fit the budget")]
fn last_number<T>(values: &[T]) -> u32 {
    (values.len() - 1) as u32
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
            assert_eq!((keys.number_of(value), &*keys.value(number)), (number, value));
        }
        for whole in [1, 0, 7, 65_535, 65_536, -1, i64::MIN, i64::MAX, 1] {
            let number = keys.number_of_whole(whole);
            assert_eq!(keys.number_of(&Value::integer(whole)), number);
            assert_eq!(*keys.value(number), Value::integer(whole));
        }
        assert_eq!(keys.len(), 14);
        assert_eq!(keys.number_of_text("1"), 2);
        assert_eq!(keys.number_of_text("new"), 14);
        assert_eq!(keys.number_of(&Value::string("new")), 14);
        assert_eq!(keys.len(), 15);
    }
}
