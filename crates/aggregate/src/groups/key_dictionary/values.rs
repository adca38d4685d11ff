//! The values of a key, by number.

use std::borrow::Cow;

use hadal_types::Value;

use super::{SMALL, UNKNOWN};
use crate::groups::int_table::{IntStore, reserve_spare};
use crate::groups::string_table::{StringHeap, StringStore};
use crate::groups::template_strings::TemplateStrings;

/// Values in the smallest form that holds all of them. Each form can hold null; the dictionary
/// knows its number.
#[derive(Clone, Debug)]
pub(super) enum KeyValues {
    Ints(Vec<i64>),
    Strings(StringHeap),
    /// Strings that came as templates and numbers, and strings that came later.
    Templates(Box<TemplateStrings>),
    /// Any values, and their bytes on the heap.
    Any(Vec<Value>, usize),
}

impl Default for KeyValues {
    fn default() -> Self {
        Self::Ints(Vec::new())
    }
}

/// The store for forms of strings.
pub(crate) struct TemplateValues<'k>(pub(super) &'k mut KeyValues);

impl IntStore<u128> for TemplateValues<'_> {
    #[inline]
    fn is(&self, number: u32, form: u128) -> bool {
        matches!(&*self.0, KeyValues::Templates(lifted) if lifted.is(number, form))
    }

    #[inline]
    fn push(&mut self, form: u128) -> u32 {
        match self.0 {
            KeyValues::Templates(lifted) => lifted.push(form),
            // Forms are made only for template strings.
            _ => self.0.push_null(),
        }
    }

    #[inline]
    fn hashed(&self, form: u128) -> u128 {
        self.0.hashed(form)
    }

    fn reserve(&mut self, more: usize) {
        if let KeyValues::Templates(lifted) = &mut *self.0 {
            lifted.reserve(more);
        }
    }
}

/// The store for integers.
pub(crate) struct IntValues<'k> {
    pub(super) values: &'k mut KeyValues,
    /// The numbers of small integers.
    pub(super) small: &'k mut Vec<u32>,
    pub(super) null: Option<u32>,
}

impl IntStore<i64> for IntValues<'_> {
    #[inline]
    fn is(&self, number: u32, int: i64) -> bool {
        match &*self.values {
            KeyValues::Ints(values) => values.get(number as usize) == Some(&int),
            KeyValues::Strings(_) | KeyValues::Templates(_) => false,
            KeyValues::Any(values, _) => {
                let value = values.get(number as usize);
                matches!(value, Some(Value::Number(value)) if value.to_i64() == Some(int))
            }
        }
    }

    #[inline]
    fn push(&mut self, int: i64) -> u32 {
        let number = self.values.push_int(int, self.null);
        if let Some(at) = usize::try_from(int).ok().filter(|&at| at < SMALL) {
            self.small.resize(self.small.len().max(at + 1), UNKNOWN);
            self.small[at] = number;
        }
        number
    }

    fn reserve(&mut self, more: usize) {
        if let KeyValues::Ints(values) = &mut *self.values {
            reserve_spare(values, more);
        }
    }
}

impl KeyValues {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Ints(values) => values.len(),
            Self::Strings(texts) => texts.len(),
            Self::Templates(texts) => texts.len(),
            Self::Any(values, _) => values.len(),
        }
    }

    pub(super) fn bytes(&self) -> usize {
        match self {
            // Memory that was never written does not count.
            Self::Ints(values) => values.len() * size_of::<i64>(),
            Self::Strings(texts) => texts.bytes(),
            Self::Templates(texts) => texts.bytes(),
            Self::Any(values, heap) => values.capacity() * size_of::<Value>() + heap,
        }
    }

    /// The integer that is hashed for a form.
    #[inline]
    pub(super) fn hashed(&self, form: u128) -> u128 {
        match self {
            Self::Templates(lifted) => lifted.hashed(form),
            _ => form,
        }
    }

    /// The value of a number, if any kind of value is stored.
    pub(super) fn any(&self, number: u32) -> Option<&Value> {
        match self {
            Self::Any(values, _) => values.get(number as usize),
            Self::Ints(_) | Self::Strings(_) | Self::Templates(_) => None,
        }
    }

    /// The value of a number; null if it is null's number.
    pub(super) fn value(&self, number: u32, null: Option<u32>) -> Cow<'_, Value> {
        match self {
            _ if null == Some(number) => Cow::Owned(Value::Null),
            Self::Ints(values) => Cow::Owned(Value::integer(values[number as usize])),
            Self::Strings(texts) => {
                Cow::Owned(texts.get(number).map_or(Value::Null, Value::string))
            }
            Self::Templates(texts) => {
                let text = texts.get(number);
                Cow::Owned(text.map_or(Value::Null, |text| Value::string(&text)))
            }
            Self::Any(values, _) => Cow::Borrowed(&values[number as usize]),
        }
    }

    pub(super) fn push_null(&mut self) -> u32 {
        match self {
            Self::Ints(values) => values.push(0),
            Self::Strings(texts) => texts.push(""),
            Self::Templates(texts) => texts.push_none(),
            Self::Any(values, _) => values.push(Value::Null),
        }
        self.last()
    }

    pub(super) fn push_int(&mut self, int: i64, null: Option<u32>) -> u32 {
        match self {
            Self::Ints(values) => values.push(int),
            _ => return self.push_any(Value::integer(int), null),
        }
        self.last()
    }

    pub(super) fn push_any(&mut self, value: Value, null: Option<u32>) -> u32 {
        self.expect_any(null);
        if let Self::Any(values, heap) = self {
            *heap += value.heap_bytes();
            values.push(value);
        }
        self.last()
    }

    /// Converts to the form for any values.
    pub(super) fn expect_any(&mut self, null: Option<u32>) {
        if matches!(self, Self::Any(..)) {
            return;
        }
        let numbers = (0..).take(self.len());
        let values: Vec<Value> =
            numbers.map(|number| self.value(number, null).into_owned()).collect();
        let heap = values.iter().map(Value::heap_bytes).sum();
        *self = Self::Any(values, heap);
    }

    /// Converts to plain strings if there is nothing but null yet, else to the form for any values.
    pub(super) fn expect_strings(&mut self, null: Option<u32>) {
        let Self::Ints(values) = self else { return };
        if values.len() > usize::from(null.is_some()) {
            return self.expect_any(null);
        }
        let mut texts = StringHeap::default();
        values.iter().for_each(|_| texts.push(""));
        *self = Self::Strings(texts);
    }

    /// The number of the last value.
    #[expect(clippy::cast_possible_truncation, reason = "more would not fit the budget")]
    pub(super) fn last(&self) -> u32 {
        (self.len() - 1) as u32
    }
}

impl StringStore for KeyValues {
    #[inline]
    fn touch(&self, number: u32) -> u32 {
        match self {
            Self::Strings(texts) => texts.touch(number),
            Self::Ints(_) | Self::Templates(_) | Self::Any(..) => 0,
        }
    }

    fn is(&self, number: u32, text: &str) -> bool {
        match self {
            // No value in these forms is found as a plain string.
            Self::Ints(_) | Self::Templates(_) => false,
            Self::Strings(texts) => texts.is(number, text),
            Self::Any(values, _) => {
                let value = values.get(number as usize);
                matches!(value, Some(Value::String(value)) if **value == *text)
            }
        }
    }

    fn push(&mut self, text: &str) -> u32 {
        match self {
            Self::Strings(texts) => texts.push(text),
            Self::Any(values, heap) => {
                let value = Value::string(text);
                *heap += value.heap_bytes();
                values.push(value);
            }
            // The caller prepares the form for strings before.
            Self::Ints(_) | Self::Templates(_) => return self.push_any(Value::string(text), None),
        }
        self.last()
    }
}
