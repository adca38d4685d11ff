//! Group numbers: a small integer per selected row of a block that stands for the row's keys.
//!
//! The codes of the keys are multiplied into one number as long as the product stays small, so that
//! measures are kept in plain arrays. If it grows too large, the numbers in use are renumbered.

use std::borrow::Cow;
use std::hash::{BuildHasher, Hash};
use std::rc::Rc;

use hadal_encoding::{Buffer, kernels};
use hadal_types::{Logical, Value};
use hashbrown::{DefaultHashBuilder, HashMap};

use crate::column::column_values::{ColumnValues, Entries, Numbers, Truths};
use crate::column::decimals::{DictionaryMantissas, FrameOfReference, MantissaColumn, zeros};
use crate::column::selection::Selection;

/// The maximum ratio of possible group numbers to rows before renumbering.
const SPARSE_MAX: usize = 4;

/// The groups of one block's selected rows.
pub(crate) struct GroupIds<'a> {
    /// One number per selected row, in row order, each below `space`.
    pub(crate) numbers: Rc<Buffer>,
    /// The upper bound (exclusive) of the group numbers.
    pub(crate) space: usize,
    steps: Vec<Step<'a>>,
}

/// How one more key was folded into the group numbers.
struct Step<'a> {
    /// The number of the key's codes.
    count: usize,
    values: KeyValues<'a>,
    /// The number before and the code, by resulting group number; `None`: the group number is
    /// number × count + code.
    counted: Option<Vec<u64>>,
}

/// One key: a code per selected row, and the values of the codes.
struct Key<'a> {
    codes: Rc<Buffer>,
    count: usize,
    values: KeyValues<'a>,
}

/// The values of a key's codes.
pub(crate) enum KeyValues<'a> {
    Constant(Value),
    Entries(Entries<'a>),
    /// Mantissas from + step × `first`, from + step × (`first` + 1), …; the code after the last is
    /// null.
    Range {
        numbers: Numbers,
        reference: FrameOfReference,
        first: u32,
        count: usize,
    },
    /// These mantissas; the code after the last is null.
    MantissaColumn {
        numbers: Numbers,
        values: Rc<Vec<i64>>,
    },
    Listed(Vec<Value>),
}

impl<'a> GroupIds<'a> {
    /// Numbers the groups of the selected rows.
    pub(crate) fn new(keys: Vec<ColumnValues<'a>>, selection: &Selection) -> Self {
        let mut keys = keys.into_iter().map(|key| Key::new(key, selection));
        let Some(Key { codes, count, values }) = keys.next() else {
            let numbers = zeros(selection.count());
            return Self { numbers, space: 1, steps: Vec::new() };
        };
        let steps = vec![Step { count, values, counted: None }];
        let mut groups = Self { numbers: codes, space: count, steps };
        keys.for_each(|key| groups.fold(key));
        groups
    }

    fn fold(&mut self, mut key: Key<'a>) {
        let product = self.space.saturating_mul(key.count);
        let dense = product <= self.numbers.len().saturating_mul(SPARSE_MAX).max(1_024);
        let counted = if dense {
            #[expect(clippy::cast_possible_truncation, reason = "the product is small")]
            let count = key.count as u32;
            // Reuses the memory of whichever side is not shared.
            match Rc::get_mut(&mut key.codes) {
                Some(codes) => {
                    kernels::prepend_numbers(codes, count, &self.numbers);
                    self.numbers = key.codes;
                }
                None => {
                    let numbers: &mut Buffer = Rc::make_mut(&mut self.numbers);
                    kernels::append_codes(numbers, count, &key.codes);
                }
            }
            self.space = product;
            None
        } else {
            let numbers: &mut Buffer = Rc::make_mut(&mut self.numbers);
            let mut counted = Counted::new(numbers.len());
            for (number, code) in numbers.iter_mut().zip(key.codes.iter()) {
                *number = counted.number_of(u64::from(*number) << 32 | u64::from(*code));
            }
            self.space = counted.met.len();
            Some(counted.met)
        };
        self.steps.push(Step { count: key.count, values: key.values, counted });
    }

    /// The number of keys.
    pub(crate) fn key_count(&self) -> usize {
        self.steps.len()
    }

    /// The values of a key's codes.
    pub(crate) fn values_of(&self, key: usize) -> &KeyValues<'a> {
        &self.steps[key].values
    }

    /// The values of the group numbers, if there is a single key and they are its codes.
    pub(crate) fn only_key(&self) -> Option<&KeyValues<'a>> {
        match self.steps.as_slice() {
            [Step { counted: None, values, .. }] => Some(values),
            _ => None,
        }
    }

    /// Whether the only key is of strings in the block's own order, without ids.
    pub(crate) fn is_by_text(&self) -> bool {
        let texts = |key: &&KeyValues<'_>| {
            matches!(key, KeyValues::Entries(Entries::Strings { .. } | Entries::Lifted { .. }))
        };
        self.only_key().filter(texts).is_some()
    }

    /// Returns the codes of these group numbers, one list per key.
    pub(crate) fn codes_of(&self, numbers: &[u32]) -> Vec<Vec<u32>> {
        let mut numbers = numbers.to_vec();
        let mut all = Vec::with_capacity(self.steps.len());
        for (index, step) in self.steps.iter().enumerate().rev() {
            if index == 0 {
                all.push(std::mem::take(&mut numbers));
                continue;
            }
            #[expect(clippy::cast_possible_truncation, reason = "both are 32 bits, or less")]
            let halves = |number: &mut u32| match &step.counted {
                Some(counted) => {
                    let pair = counted[*number as usize];
                    *number = (pair >> 32) as u32;
                    pair as u32
                }
                None => {
                    let code = *number % step.count as u32;
                    *number /= step.count as u32;
                    code
                }
            };
            all.push(numbers.iter_mut().map(halves).collect());
        }
        all.reverse();
        all
    }
}

/// The distinct numbers of one block, numbered in the order of their first occurrence.
struct Counted<K> {
    /// An open-addressing hash table, at most half full.
    slots: Vec<u32>,
    /// The distinct numbers, in the order of their first occurrence.
    met: Vec<K>,
    hasher: DefaultHashBuilder,
}

impl<K: Copy + Eq + Hash> Counted<K> {
    /// Marks a free slot.
    const FREE: u32 = u32::MAX;

    /// An empty table for at most `most` distinct numbers.
    fn new(most: usize) -> Self {
        let slots = vec![Self::FREE; (2 * most).next_power_of_two().max(2)];
        Self { slots, met: Vec::new(), hasher: DefaultHashBuilder::default() }
    }

    #[inline]
    fn number_of(&mut self, key: K) -> u32 {
        let mask = self.slots.len() - 1;
        #[expect(clippy::cast_possible_truncation, reason = "the last bits are wanted")]
        let mut at = self.hasher.hash_one(key) as usize & mask;
        loop {
            let existing = self.slots[at];
            if existing == Self::FREE {
                self.met.push(key);
                self.slots[at] = last_index(&self.met);
                return self.slots[at];
            }
            if self.met[existing as usize] == key {
                return existing;
            }
            at = (at + 1) & mask;
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a block has at most 65,536 rows")]
fn last_index<T>(list: &[T]) -> u32 {
    (list.len() - 1) as u32
}

impl KeyValues<'_> {
    /// The first value, the step and the count, if the values are whole numbers in an arithmetic
    /// sequence.
    pub(crate) fn range(&self) -> Option<(i64, i64, usize)> {
        let Self::Range { reference, count, .. } = self else { return None };
        self.whole(0).map(|first| (first, reference.step, *count))
    }

    /// The values of all codes but the last, if all values that are not null are whole numbers.
    pub(crate) fn wholes(&self) -> Option<Cow<'_, [i64]>> {
        match self {
            Self::MantissaColumn { values, .. } if self.is_whole() => Some(Cow::Borrowed(values)),
            Self::Range { reference, first, count, .. } if self.is_whole() => {
                let steps = (*first..).take(*count);
                Some(steps.map(|step| reference.value(step)).collect())
            }
            _ => None,
        }
    }

    fn is_whole(&self) -> bool {
        match self {
            Self::Range { numbers, .. } | Self::MantissaColumn { numbers, .. } => {
                numbers.scale == 0 && numbers.logical == Logical::Plain
            }
            _ => false,
        }
    }

    /// The value of a code, if it is a whole number.
    pub(crate) fn whole(&self, code: usize) -> Option<i64> {
        match self {
            Self::Range { reference, first, count, .. } if self.is_whole() && code < *count => {
                u32::try_from(code).ok().map(|step| reference.value(first + step))
            }
            Self::MantissaColumn { values, .. } if self.is_whole() => values.get(code).copied(),
            _ => None,
        }
    }

    /// The value of a code.
    pub(crate) fn value(&self, code: usize) -> Value {
        match self {
            Self::Constant(value) => value.clone(),
            Self::Entries(entries) => entries.value(code),
            Self::Listed(values) => values[code].clone(),
            Self::MantissaColumn { numbers, values } => {
                values.get(code).map_or(Value::Null, |&mantissa| numbers.value_of(mantissa))
            }
            Self::Range { count, .. } if code == *count => Value::Null,
            Self::Range { numbers, reference, first, .. } => {
                let code = u32::try_from(code).unwrap_or_default();
                numbers.value_of(reference.value(first + code))
            }
        }
    }
}

impl<'a> Key<'a> {
    fn new(values: ColumnValues<'a>, selection: &Selection) -> Self {
        match values {
            ColumnValues::Constant(value) => Self {
                codes: zeros(selection.count()),
                count: 1,
                values: KeyValues::Constant(value),
            },
            ColumnValues::Coded(coded) => Self {
                codes: chosen(selection, coded.codes),
                count: coded.entries.len().max(1),
                values: KeyValues::Entries(coded.entries),
            },
            ColumnValues::Truths(truths) => Self::of_truths(&truths, selection),
            ColumnValues::Numbers(numbers) => Self::of_range(&numbers, selection)
                .or_else(|| Self::of_codes(&numbers, selection))
                .unwrap_or_else(|| Self::of_numbers(&numbers, selection)),
            other => {
                let mut visible = HashMap::new();
                Self::counted(selection, &mut visible, |row| other.value(row), |value| value)
            }
        }
    }

    fn of_truths(truths: &Truths, selection: &Selection) -> Self {
        let code = |row| u32::from(truths.yes.get(row)) + u32::from(truths.possible.get(row));
        // False is 0, null is 1 (possible, not true), true is 2.
        let values = vec![Value::Bool(false), Value::Null, Value::Bool(true)];
        let codes = Rc::new(gather(selection, code).into());
        Self { codes, count: 3, values: KeyValues::Listed(values) }
    }

    /// Codes by arithmetic, if the values are close together.
    fn of_range(numbers: &Numbers, selection: &Selection) -> Option<Self> {
        let MantissaColumn::FrameOfReference(reference) = &numbers.mantissas else { return None };
        let most = selection.count().saturating_mul(SPARSE_MAX).max(256);
        let (first, last) = match reference.span {
            span if span as usize <= most => (0, span),
            _ => range_of(reference, numbers, selection),
        };
        let count = (last - first) as usize + 1;
        if count > most {
            return None;
        }
        let null = u32::try_from(count).ok()?;
        // The codes distinguish rows, so the range needs no steps; sharing them would force a copy
        // on write.
        let range = FrameOfReference { steps: Rc::default(), ..*reference };
        let form = Numbers {
            mantissas: MantissaColumn::FrameOfReference(range.clone()),
            ..numbers.clone()
        };
        let values = KeyValues::Range { numbers: form, reference: range, first, count };
        let mut codes = Rc::clone(&reference.steps);
        if first > 0 || numbers.valid.is_some() {
            let codes: &mut Buffer = Rc::make_mut(&mut codes);
            codes.iter_mut().for_each(|step| *step = step.wrapping_sub(first));
            if let Some(valid) = &numbers.valid {
                kernels::mask_u32(codes, valid.words(), null);
            }
        }
        let codes = chosen(selection, codes);
        Some(Self { codes, count: count + 1, values })
    }

    /// Uses the codes of dictionary-encoded numbers; `None` for other encodings.
    fn of_codes(numbers: &Numbers, selection: &Selection) -> Option<Self> {
        let MantissaColumn::Dictionary(DictionaryMantissas { codes, values }) = &numbers.mantissas
        else {
            return None;
        };
        let null = u32::try_from(values.len()).ok()?;
        let mut codes = Rc::clone(codes);
        if let Some(valid) = &numbers.valid {
            let codes: &mut Buffer = Rc::make_mut(&mut codes);
            kernels::mask_u32(codes, valid.words(), null);
        }
        let (count, codes) = (values.len() + 1, chosen(selection, codes));
        let values =
            KeyValues::MantissaColumn { numbers: numbers.clone(), values: Rc::clone(values) };
        Some(Self { codes, count, values })
    }

    fn of_numbers(numbers: &Numbers, selection: &Selection) -> Self {
        let mut counted = Counted::new(selection.count());
        let mut has_null = false;
        let mut codes = gather(selection, |row| {
            if !numbers.has(row) {
                has_null = true;
                return u32::MAX;
            }
            counted.number_of(numbers.mantissas.get(row))
        });
        let values = counted.met;
        if has_null {
            let null = u32::try_from(values.len()).unwrap_or(u32::MAX);
            let nulls = codes.iter_mut().filter(|code| **code == u32::MAX);
            nulls.for_each(|code| *code = null);
        }
        let count = values.len() + 1;
        let values =
            KeyValues::MantissaColumn { numbers: numbers.clone(), values: Rc::new(values) };
        Self { codes: Rc::new(codes.into()), count, values }
    }

    /// Codes in the order of the values' first occurrence.
    fn counted<K: Hash + Eq + Clone>(
        selection: &Selection,
        visible: &mut HashMap<K, u32>,
        key: impl Fn(usize) -> K,
        value: impl Fn(K) -> Value,
    ) -> Self {
        let mut values = Vec::new();
        let codes = gather(selection, |row| {
            *visible.entry(key(row)).or_insert_with_key(|key| {
                values.push(value(key.clone()));
                last_index(&values)
            })
        });
        let count = values.len().max(1);
        Self { codes: Rc::new(codes.into()), count, values: KeyValues::Listed(values) }
    }
}

/// The smallest and the largest step of the selected rows that have a value; (0, 0) if no row has
/// one.
fn range_of(reference: &FrameOfReference, numbers: &Numbers, selection: &Selection) -> (u32, u32) {
    let (mut first, mut last) = (u32::MAX, 0);
    selection.for_each(|row| {
        if numbers.has(row) {
            (first, last) = (first.min(reference.steps[row]), last.max(reference.steps[row]));
        }
    });
    (first.min(last), last)
}

/// The codes of the selected rows.
fn chosen(selection: &Selection, codes: Rc<Buffer>) -> Rc<Buffer> {
    match selection.count() == selection.block_rows() {
        true => codes,
        false => Rc::new(selection.gather(&codes)),
    }
}

fn gather(selection: &Selection, mut code: impl FnMut(usize) -> u32) -> Vec<u32> {
    let mut codes = Vec::with_capacity(selection.count());
    selection.for_each(|row| codes.push(code(row)));
    codes
}
