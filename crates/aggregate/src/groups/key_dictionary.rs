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
/// Fewer plain strings than this become template strings, so that the first blocks of a table,
/// which may be small and have no templates, do not decide for the others.
pub(crate) const LIFTED_LATER_MAX: usize = 1 << 16;
/// The same for the memory of the strings.
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
mod tests {
    use hadal_types::{Decimal, Micros};

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
        for int in [1, 0, 7, 65_535, 65_536, -1, i64::MIN, i64::MAX, 1] {
            let number = keys.number_of_int(int);
            assert_eq!(keys.number_of(&Value::integer(int)), number);
            assert_eq!(*keys.value(number), Value::integer(int));
        }
        assert_eq!(keys.len(), 14);
        let one = keys.number_of_int(1);
        let (zero, null) = (keys.number_of_int(0), keys.number_of(&Value::Null));
        assert_eq!(keys.find_ints(0, 1, 3), Some(vec![zero, one, UNKNOWN, null]));
        let (largest, end) = (i64::try_from(SMALL).expect("small") - 1, keys.number_of_int(65_536));
        assert_eq!(keys.find_ints(largest, 1, 1), Some(vec![UNKNOWN, null]));
        assert_eq!(keys.find_ints(0, 65_536, 2), Some(vec![zero, end, null]));
        for (first, step, count) in [(-1, 1, 2), (largest, 1, 2), (0, 0, 2), (0, i64::MAX, 3)] {
            assert_eq!(keys.find_ints(first, step, count), None, "{first}, {step}, {count}");
        }
        assert_eq!(keys.number_of_string("1"), 2);
        assert_eq!(keys.number_of_string("new"), 14);
        assert_eq!(keys.number_of(&Value::string("new")), 14);
        assert_eq!(keys.len(), 15);
    }

    #[test]
    fn ids_stand_for_strings_until_another_gives_them_out() {
        let mut keys = KeyDictionary::default();
        let texts = ["a", "b", "c", "d"];
        let asked = |keys: &mut KeyDictionary, source, ids: &[u32], from: usize| {
            let mut numbers = Vec::new();
            let text = |id: u32| texts[(id as usize + from) % 4];
            keys.numbers_of_ids(source, ids.iter().copied(), text, &mut numbers);
            numbers
        };
        assert_eq!(keys.find_ids(1, &[0, 1]), [UNKNOWN; 3]);
        assert_eq!(keys.number_of_string("c"), 0);
        assert_eq!(asked(&mut keys, 1, &[0, 2, 0], 0), [1, 0, 1]);
        assert_eq!(keys.number_of(&Value::Null), 2);
        assert_eq!(keys.find_ids(1, &[2, 1, 0, 9]), [0, UNKNOWN, 1, UNKNOWN, 2]);
        assert_eq!(keys.find_ids(2, &[2, 0]), [UNKNOWN, UNKNOWN, 2]);
        assert_eq!(asked(&mut keys, 2, &[1, 3], 1), [0, 1]);
        assert_eq!(keys.find_ids(2, &[1, 2, 3]), [0, UNKNOWN, 1, 2]);
        assert_eq!(keys.find_ids(1, &[2]), [UNKNOWN, 2]);
    }

    #[test]
    fn many_values_of_any_kind_are_found_again() {
        let decimal = |mantissa: i64| {
            Value::Number(Decimal::new(i128::from(mantissa), 1).expect("small").into())
        };
        let values: Vec<Value> = (0..3_000i64)
            .flat_map(|at| [decimal(at), Value::Time(Micros(at)), Value::set([at.to_string()])])
            .collect();
        let mut keys = KeyDictionary::default();
        for _ in 0..2 {
            for (number, value) in (0..).zip(&values) {
                assert_eq!(keys.number_of(value), number, "{value}");
            }
        }
    }

    #[test]
    fn lifted_texts_are_those_that_come_whole_whatever_comes_between() {
        let lines = |from: usize, to: usize| -> Vec<String> {
            (from..to).map(|at| format!("{} {}", ["ab", "cd"][at % 2], at / 2)).collect()
        };
        let others = [Value::Null, Value::integer(7), Value::Bool(true), Value::string("ab 3")];
        for (index, other) in others.iter().enumerate() {
            for (null_first, plain_step) in [(false, 0), (true, 0), (false, 1), (true, 1)] {
                let mut keys = KeyDictionary::default();
                let mut all: Vec<Value> = Vec::new();
                if null_first {
                    keys.number_of(&Value::Null);
                    all.push(Value::Null);
                }
                for (step, (from, to)) in [(0, 40), (20, 60), (50, 90)].into_iter().enumerate() {
                    let texts = lines(from, to);
                    let mut numbers = Vec::new();
                    if step == plain_step {
                        keys.numbers_of_strings(texts.iter().map(String::as_str), &mut numbers);
                    } else {
                        let lifted = CanonicalStrings::of(texts.iter().map(String::as_str));
                        keys.numbers_of_lifted(&lifted, 0..lifted.len(), &mut numbers);
                    }
                    for (text, number) in texts.iter().zip(numbers) {
                        let text = Value::string(text);
                        let at = all.iter().position(|other| *other == text).unwrap_or(all.len());
                        all.extend((at == all.len()).then_some(text));
                        assert_eq!(number as usize, at, "{index} {step} {plain_step}");
                    }
                    let is_new = !all.contains(other);
                    all.extend(is_new.then(|| other.clone()));
                    assert_eq!(all[keys.number_of(other) as usize], *other);
                }
                assert_eq!(keys.is_lifted(), matches!(other, Value::Null | Value::String(_)));
                keys.unlift();
                assert_eq!(keys.len(), all.len());
                for (number, value) in (0..).zip(&all) {
                    assert_eq!(*keys.value(number), *value);
                    assert_eq!(keys.number_of(value), number);
                }
            }
        }
    }

    #[test]
    fn texts_are_kept_whole_where_templates_are_too_many() {
        let word = |at: usize| -> String {
            at.to_string().bytes().map(|digit| char::from(digit + 49)).collect()
        };
        let texts: Vec<String> = (0..70_000).map(word).collect();
        let mut keys = KeyDictionary::default();
        for part in texts.chunks(30_000) {
            let lifted = CanonicalStrings::of(part.iter().map(String::as_str));
            let mut numbers = Vec::new();
            keys.numbers_of_lifted(&lifted, 0..lifted.len(), &mut numbers);
        }
        assert!(keys.is_lifted_in_vain());
        keys.unlift();
        assert!(!keys.is_lifted() && !keys.is_lifted_in_vain());
        let mut numbers = Vec::new();
        keys.numbers_of_strings(texts.iter().map(String::as_str), &mut numbers);
        assert!(numbers.into_iter().eq((0..).take(texts.len())));
    }

    #[test]
    fn values_of_one_kind_and_of_several_come_in_any_order() {
        let kinds: [&[Value]; 4] = [
            &[Value::integer(7), Value::integer(0)],
            &[Value::string(""), Value::string("7")],
            &[Value::Null],
            &[Value::Bool(false), Value::Bool(true)],
        ];
        for order in 0..24 {
            let mut left = vec![0, 1, 2, 3];
            let order = [4, 3, 2, 1].map(|count| left.remove(order % 24 / (24 / count) % count));
            let mut keys = KeyDictionary::default();
            let values: Vec<&Value> = order.iter().flat_map(|&kind| kinds[kind]).collect();
            let mut numbers: Vec<u32> = Vec::new();
            for (count, value) in (1..).zip(&values) {
                numbers.push(keys.number_of(value));
                // Also while all are of one kind.
                for (left, right) in (0..count).flat_map(|left| (0..count).map(move |r| (left, r)))
                {
                    let (left_value, right_value) = (keys.value(left), keys.value(right));
                    assert_eq!(
                        keys.cmp(left, right, SortDirection::ASCENDING),
                        left_value.cmp(&right_value)
                    );
                }
            }
            assert!(numbers.iter().copied().eq((0..).take(values.len())), "{order:?}");
            for (number, value) in (0..).zip(&values) {
                assert_eq!(keys.number_of(value), number);
                assert_eq!(&*keys.value(number), *value);
                for (other, that) in (0..).zip(&values) {
                    assert_eq!(
                        keys.cmp(number, other, SortDirection::ASCENDING),
                        value.cmp(that),
                        "{value}, {that}"
                    );
                }
            }
            let mut many = Vec::new();
            keys.numbers_of_strings(["7", "new", ""].into_iter(), &mut many);
            keys.numbers_of_ints(&[0i64, 7, 8], &mut many);
            let values = [2, 3, 0, 1].map(|kind| kinds[kind / 2][kind % 2].clone());
            let [empty, seven, int, zero] = values.map(|value| keys.number_of(&value));
            assert_eq!(many, [seven, 7, empty, zero, int, 8]);
            assert_eq!(keys.len(), 9);
        }
    }
}
