//! The different values of one key of many groups. Each value has a number, in the order of first
//! occurrence. Groups store numbers. So a value that thousands of groups share is stored once, and
//! groups are compared by small integers.

pub(crate) mod distinct_values;
pub(crate) mod values;

use std::borrow::Cow;
use std::cmp::Ordering;
use std::hash::BuildHasher;
use std::ops::Range;

use hadal_encoding::CanonicalStrings;
use hadal_types::Value;
use hashbrown::{DefaultHashBuilder, HashTable};

use crate::groups::int_table::{IntStore, IntTable, TableInt};
use crate::groups::string_table::{StringHeap, StringTable};
use crate::groups::template_strings::TemplateStrings;
use crate::sort_order::SortDirection;
use values::{IntValues, KeyValues, TemplateValues};

/// Values by number.
#[derive(Clone, Debug, Default)]
pub struct KeyDictionary {
    values: KeyValues,
    ints: IntTable<i64>,
    /// The numbers of small integers, indexed by the integer.
    small: Vec<u32>,
    texts: StringTable,
    /// The numbers of template strings, by their form.
    forms: IntTable<u128>,
    /// The numbers of strings by an id, and the source that assigned the ids.
    by_id: (u64, Vec<u32>),
    null: Option<u32>,
    /// Whether template strings were given up.
    is_unlifted: bool,
    /// The numbers of all other values, by hash of the value.
    others: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

/// Integers from 0 to below this are also in `small`.
const SMALL: usize = 1 << 20;
/// If there are fewer plain strings than this when template strings come, they become template
/// strings. So a small first block without templates does not decide for all other blocks.
pub(crate) const LIFTED_LATER_MAX: usize = 1 << 16;
/// Plain strings that take more memory stay plain.
const LIFTED_LATER_BYTES_MAX: usize = 16 << 20;
/// No number.
const UNKNOWN: u32 = u32::MAX;

impl KeyDictionary {
    /// The number of a value; a new number at its first occurrence.
    pub fn number_of(&mut self, value: &Value) -> u32 {
        match value {
            Value::Null => match self.null {
                Some(number) => number,
                None => *self.null.insert(self.values.push_null()),
            },
            Value::String(text) => self.number_of_string(text),
            Value::Number(number) if let Some(int) = number.to_i64() => self.number_of_int(int),
            other => self.number_of_other(other),
        }
    }

    /// The number of a string; as [`Self::number_of`].
    pub(crate) fn number_of_string(&mut self, text: &str) -> u32 {
        if self.is_lifted() {
            let mut numbers = Vec::new();
            self.numbers_of_strings(std::iter::once(text), &mut numbers);
            return numbers.first().copied().unwrap_or(UNKNOWN);
        }
        self.values.expect_strings(self.null);
        self.texts.number_of(text, &mut self.values)
    }

    /// Appends the numbers of many strings to `numbers`: faster than one by one.
    pub fn numbers_of_strings<'t>(
        &mut self,
        texts: impl Iterator<Item = &'t str>,
        numbers: &mut Vec<u32>,
    ) {
        if self.is_lifted() {
            let texts = CanonicalStrings::of(texts);
            return self.numbers_of_lifted(&texts, 0..texts.len(), numbers);
        }
        self.values.expect_strings(self.null);
        self.texts.numbers_of(texts, &mut self.values, numbers);
    }

    /// Appends the numbers of template strings, given by their indexes. Their texts are rendered
    /// only if this dictionary stores plain strings.
    pub(crate) fn numbers_of_lifted(
        &mut self,
        texts: &CanonicalStrings<'_>,
        which: impl Iterator<Item = usize>,
        numbers: &mut Vec<u32>,
    ) {
        let Some(lifted) = self.expect_lifted() else {
            let text = |index| texts.text(index).unwrap_or_default();
            let int: Vec<String> = which.map(text).collect();
            return self.numbers_of_strings(int.iter().map(String::as_str), numbers);
        };
        let forms = lifted.forms_of(texts, which.map(Some));
        self.numbers_of_all(&forms, numbers);
    }

    /// The forms of template strings, given by their indexes; a form is looked up like an integer.
    /// `None` stands for an arbitrary form. Returns `None` if this dictionary stores plain strings.
    pub(crate) fn forms_of(
        &mut self,
        texts: &CanonicalStrings<'_>,
        which: impl Iterator<Item = Option<usize>>,
    ) -> Option<Vec<u128>> {
        self.expect_lifted().map(|lifted| lifted.forms_of(texts, which))
    }

    /// The forms here of the strings that have these numbers in `other`. `None` if either
    /// dictionary stores no forms. `templates` caches the numbers here of the templates of `other`.
    pub(crate) fn forms_in(
        &mut self,
        other: &Self,
        numbers: Range<usize>,
        templates: &mut Vec<Option<u32>>,
    ) -> Option<Vec<u128>> {
        let KeyValues::Templates(texts) = &other.values else { return None };
        if numbers.end > texts.len() || other.has_null_in(&numbers) {
            return None;
        }
        self.expect_lifted().map(|lifted| lifted.forms_in(texts, numbers, templates))
    }

    /// The numbers here of the values that have these numbers in `other`. `templates` caches the
    /// numbers here of the templates of `other`.
    pub(crate) fn numbers_in(
        &mut self,
        other: &Self,
        numbers: Range<usize>,
        templates: &mut Vec<Option<u32>>,
    ) -> Vec<u32> {
        let mut mapped = Vec::with_capacity(numbers.len());
        let Range { start, end } = numbers;
        let null = other.null.map_or(end, |null| (null as usize).clamp(start, end));
        let after = end.min(null + 1);
        for part in [start..null, null..after, after..end] {
            if let Some(ints) = other.ints_in(part.clone()) {
                self.numbers_of_ints(ints, &mut mapped);
            } else if let Some(texts) = other.strings_in(part.clone()) {
                self.numbers_of_strings(texts, &mut mapped);
            } else if let Some(forms) = self.forms_in(other, part.clone(), templates) {
                self.numbers_of_all(&forms, &mut mapped);
            } else {
                let part = (0..).take(part.end).skip(part.start);
                mapped.extend(part.map(|number| self.number_of(&other.value(number))));
            }
        }
        mapped
    }

    fn expect_lifted(&mut self) -> Option<&mut TemplateStrings> {
        if self.takes_lifted() && !self.is_lifted() {
            self.lift();
        }
        match &mut self.values {
            KeyValues::Templates(lifted) => Some(lifted),
            _ => None,
        }
    }

    /// Stores template strings from now on. Numbers stay as they are.
    fn lift(&mut self) {
        let (count, values) = (self.len(), std::mem::take(&mut self.values));
        let null = self.null.map_or(count, |null| null as usize);
        let text = |number| match &values {
            KeyValues::Strings(texts) => texts.get(number).unwrap_or_default(),
            _ => "",
        };
        let texts = CanonicalStrings::of((0..).take(count).map(text));
        let mut lifted = Box::<TemplateStrings>::default();
        let which = (0..count).map(|index| Some(index).filter(|&index| index != null));
        let forms = lifted.forms_of(&texts, which);
        (self.values, self.texts) = (KeyValues::Templates(lifted), StringTable::default());
        let mut numbers = Vec::with_capacity(count);
        self.numbers_of_all(&forms[..null], &mut numbers);
        if null < count {
            numbers.push(self.values.push_null());
            self.numbers_of_all(&forms[null + 1..], &mut numbers);
        }
        debug_assert!(numbers.into_iter().eq((0..).take(count)), "strings keep their numbers");
    }

    /// Whether strings are stored as templates, but have too many templates for that.
    pub(crate) fn is_lifted_in_vain(&self) -> bool {
        matches!(&self.values, KeyValues::Templates(lifted) if lifted.is_useless())
    }

    /// Whether template strings are stored, or can be from now on.
    pub(crate) fn takes_lifted(&self) -> bool {
        match &self.values {
            KeyValues::Templates(_) => true,
            KeyValues::Strings(texts) => {
                !self.is_unlifted
                    && texts.len() < LIFTED_LATER_MAX
                    && texts.bytes() <= LIFTED_LATER_BYTES_MAX
            }
            KeyValues::Ints(ints) => ints.len() == usize::from(self.null.is_some()),
            KeyValues::Any(..) => false,
        }
    }

    /// Whether strings are stored as templates.
    pub(crate) fn is_lifted(&self) -> bool {
        matches!(self.values, KeyValues::Templates(_))
    }

    /// Stores plain strings from now on; forms become invalid.
    pub(crate) fn unlift(&mut self) {
        let KeyValues::Templates(lifted) = &self.values else { return };
        let (mut texts, mut table) = (StringHeap::default(), StringTable::default());
        for number in (0..).take(lifted.len()) {
            match lifted.get(number) {
                Some(text) if self.null != Some(number) => {
                    table.number_of(text.as_str(), &mut texts);
                }
                _ => texts.push(""),
            }
        }
        (self.values, self.texts, self.forms) =
            (KeyValues::Strings(texts), table, IntTable::default());
        self.is_unlifted = true;
    }

    /// The number of an integer; as [`Self::number_of`].
    pub(crate) fn number_of_int(&mut self, int: i64) -> u32 {
        let (ints, mut store) = i64::parts(self);
        ints.number_of(int, &mut store)
    }

    /// Appends the numbers of many integers to `numbers`: faster than one by one.
    pub fn numbers_of_ints(&mut self, ints: &[i64], numbers: &mut Vec<u32>) {
        self.numbers_of_all(ints, numbers);
    }

    /// Appends the numbers of integers or forms.
    pub(crate) fn numbers_of_all<W: IntKey>(&mut self, ints: &[W], numbers: &mut Vec<u32>) {
        let (table, mut store) = W::parts(self);
        table.numbers_of(ints, &mut store, numbers);
    }

    /// How many different ones of these have no number yet.
    pub(crate) fn count_new<W: IntKey>(&mut self, ints: &[W]) -> usize {
        let (table, store) = W::parts(self);
        let is_new = |int: &W| !table.has(*int, &store);
        let mut new: Vec<W> = ints.iter().copied().filter(is_new).collect();
        new.sort_unstable();
        new.dedup();
        new.len()
    }

    /// How many different ones of these strings have no number yet, if strings are stored as plain.
    pub(crate) fn count_new_strings<'t>(&self, texts: impl Iterator<Item = &'t str>) -> usize {
        let mut new: Vec<&str> = texts.filter(|text| !self.texts.has(text, &self.values)).collect();
        new.sort_unstable();
        new.dedup();
        new.len()
    }

    /// Reserves space for `more` strings. If the table must grow, it grows by `others` in addition.
    pub(crate) fn reserve_strings(&mut self, more: usize, others: usize) {
        self.texts.reserve_ahead(more, others);
        if let KeyValues::Strings(texts) = &mut self.values {
            texts.reserve(more);
        }
    }

    /// The first bits of the hash: look-ups in their order are fast.
    #[inline]
    pub(crate) fn tag_of<W: IntKey>(&self, int: W) -> u32 {
        int.tag(self)
    }

    /// Reserves space for `more` integers or forms. If the table must grow, it grows by `others` in
    /// addition.
    pub(crate) fn reserve<W: IntKey>(&mut self, more: usize, others: usize) {
        let (table, mut store) = W::parts(self);
        table.reserve_ahead(more, others);
        store.reserve(more);
    }

    /// The numbers of `count` integers, `first`, `first` + `step` and so on, and of null;
    /// `u32::MAX` for those without a number. `None` if that needs a look-up of each.
    #[must_use]
    pub fn find_ints(&self, first: i64, step: i64, count: usize) -> Option<Vec<u32>> {
        let (first, step) = (usize::try_from(first).ok()?, usize::try_from(step).ok()?);
        let last = count.checked_sub(1)?.checked_mul(step)?.checked_add(first)?;
        if step == 0 || last >= SMALL {
            return None;
        }
        let mut numbers = Vec::with_capacity(count + 1);
        match (step, self.small.get(first..=last)) {
            (1, Some(small)) => numbers.extend_from_slice(small),
            _ => {
                let ints = (first..).step_by(step).take(count);
                numbers.extend(ints.map(|int| self.small.get(int).copied().unwrap_or(UNKNOWN)));
            }
        }
        numbers.push(self.null.unwrap_or(UNKNOWN));
        Some(numbers)
    }

    /// Appends the numbers of strings that another dictionary identifies by ids. `source`
    /// identifies the dictionary that assigned the ids, and `text_of` returns the string of an id.
    pub fn numbers_of_ids<'t>(
        &mut self,
        source: u64,
        ids: impl Iterator<Item = u32>,
        text_of: impl Fn(u32) -> &'t str,
        numbers: &mut Vec<u32>,
    ) {
        if self.by_id.0 != source {
            self.by_id = (source, Vec::new());
        }
        for id in ids {
            let number = self.by_id.1.get(id as usize).copied().filter(|&number| number != UNKNOWN);
            numbers.push(number.unwrap_or_else(|| {
                let number = self.number_of_string(text_of(id));
                let by_id = &mut self.by_id.1;
                by_id.resize(by_id.len().max(id as usize + 1), UNKNOWN);
                by_id[id as usize] = number;
                number
            }));
        }
    }

    /// The numbers of the strings with these ids, and of null; `u32::MAX` for those without a
    /// number.
    #[must_use]
    pub fn find_ids(&self, source: u64, ids: &[u32]) -> Vec<u32> {
        let by_id: &[u32] = if self.by_id.0 == source { &self.by_id.1 } else { &[] };
        let number = |&id: &u32| by_id.get(id as usize).copied().unwrap_or(UNKNOWN);
        ids.iter().map(number).chain([self.null.unwrap_or(UNKNOWN)]).collect()
    }

    fn number_of_other(&mut self, value: &Value) -> u32 {
        self.unlift();
        let Self { values, others, hasher, null, .. } = self;
        let hash = hasher.hash_one(value);
        let number = others.find(hash, |&number| values.any(number) == Some(value));
        number.copied().unwrap_or_else(|| {
            let number = values.push_any(value.clone(), *null);
            let hash_of =
                |&number: &u32| values.any(number).map_or(0, |value| hasher.hash_one(value));
            others.insert_unique(hash, number, hash_of);
            number
        })
    }

    /// The value of an assigned number.
    pub(crate) fn value(&self, number: u32) -> Cow<'_, Value> {
        self.values.value(number, self.null)
    }

    /// The order of the values of two numbers. Builds no value for strings or integers.
    pub(crate) fn cmp(&self, left: u32, right: u32, direction: SortDirection) -> Ordering {
        let has_null = self.null.is_some_and(|null| null == left || null == right);
        let order = match &self.values {
            KeyValues::Ints(values) if !has_null => {
                values[left as usize].cmp(&values[right as usize])
            }
            KeyValues::Strings(texts) if !has_null => texts.cmp(left, right),
            KeyValues::Templates(texts) if !has_null => texts.cmp(left, right),
            _ => return direction.cmp(&self.value(left), &self.value(right)),
        };
        if direction.descending { order.reverse() } else { order }
    }

    /// The values of these numbers, if all of them are integers.
    pub(crate) fn ints_in(&self, numbers: Range<usize>) -> Option<&[i64]> {
        let KeyValues::Ints(values) = &self.values else { return None };
        values.get(numbers.clone()).filter(|_| !self.has_null_in(&numbers))
    }

    /// The values of these numbers, if all of them are plain strings.
    pub(crate) fn strings_in(&self, numbers: Range<usize>) -> Option<impl Iterator<Item = &str>> {
        let KeyValues::Strings(texts) = &self.values else { return None };
        let fits = numbers.end <= texts.len() && !self.has_null_in(&numbers);
        let text = |number| texts.get(number).unwrap_or_default();
        fits.then(|| (0..).take(numbers.end).skip(numbers.start).map(text))
    }

    fn has_null_in(&self, numbers: &Range<usize>) -> bool {
        self.null.is_some_and(|null| numbers.contains(&(null as usize)))
    }

    /// The number of values.
    pub(crate) fn len(&self) -> usize {
        self.values.len()
    }

    /// Approximate bytes of memory.
    pub(crate) fn bytes(&self) -> usize {
        self.values.bytes()
            + self.others.allocation_size()
            + self.ints.bytes()
            + (self.small.capacity() + self.by_id.1.capacity()) * size_of::<u32>()
            + self.texts.bytes()
            + self.forms.bytes()
    }
}

/// Integers that identify the values of a key.
pub(crate) trait IntKey: TableInt {
    type Store<'k>: IntStore<Self>;

    /// The first bits of the hash.
    fn tag(self, key: &KeyDictionary) -> u32;

    /// The table that finds their numbers, and the store of the values.
    fn parts(key: &mut KeyDictionary) -> (&mut IntTable<Self>, Self::Store<'_>);
}

/// Values that are integers.
impl IntKey for i64 {
    type Store<'k> = IntValues<'k>;

    #[inline]
    fn tag(self, key: &KeyDictionary) -> u32 {
        key.ints.tag(self)
    }

    fn parts(key: &mut KeyDictionary) -> (&mut IntTable<Self>, IntValues<'_>) {
        key.unlift();
        let KeyDictionary { ints, small, values, null, .. } = key;
        (ints, IntValues { values, small, null: *null })
    }
}

/// The forms of strings.
impl IntKey for u128 {
    type Store<'k> = TemplateValues<'k>;

    #[inline]
    fn tag(self, key: &KeyDictionary) -> u32 {
        key.forms.tag(key.values.hashed(self))
    }

    fn parts(key: &mut KeyDictionary) -> (&mut IntTable<Self>, TemplateValues<'_>) {
        (&mut key.forms, TemplateValues(&mut key.values))
    }
}

#[cfg(test)]
mod tests;
