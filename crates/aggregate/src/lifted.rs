//! Many different texts that are alike but for numbers, as templates and numbers: a few bytes for
//! each, and none of them put together but those that somebody wants to see.
//!
//! Each text has one form (see `hadal_encoding::templates`), so forms are told apart as texts are:
//! by their bytes, which are the number of the template and what is to be put into it.

use std::cmp::Ordering;
use std::ops::Range;

use hadal_encoding::LiftedTexts;
use hadal_encoding::templates::{beginning, put_together};

use crate::texts::{TextNumbers, TextTable, Texts};

/// So many templates may have one text each.
const TEMPLATES_MIN: usize = 1 << 16;
/// Texts that a template must have for lifting to be worth it.
const TEXTS_PER_TEMPLATE_MIN: usize = 2;
/// Bytes of a number, and one that says how many of them are stored.
const NUMBER_BYTES_MAX: usize = 1 + size_of::<u64>();

/// Lifted texts by number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lifted {
    /// The bytes of forms.
    forms: Texts,
    templates: TextNumbers,
    /// By template.
    beginnings: Vec<Beginning>,
}

impl Lifted {
    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.forms.len()
    }

    /// Puts the place of a value that is no text after the last.
    pub(crate) fn push_none(&mut self) {
        self.forms.push(&[]);
    }

    /// Puts the numbers of some texts, told by index, after those that are in `numbers`; `table` is
    /// where all of these forms are found.
    pub(crate) fn numbers_of(
        &mut self,
        table: &mut TextTable,
        texts: &LiftedTexts<'_>,
        which: impl Iterator<Item = usize>,
        numbers: &mut Vec<u32>,
    ) {
        let mut templates = Vec::new();
        self.templates.numbers_of(texts.templates(), &mut templates);
        for number in (0..).take(self.templates.len()).skip(self.beginnings.len()) {
            self.beginnings.push(Beginning::new(self.templates.get(number).unwrap_or_default()));
        }
        let (mut forms, mut ends) = (Vec::new(), vec![0]);
        for (code, own) in which.filter_map(|index| texts.get(index)) {
            let start = ends.last().copied().unwrap_or_default();
            forms.resize(forms.len().max(start + (1 + own.len()) * NUMBER_BYTES_MAX), 0);
            let end = write(templates[code as usize].into(), start, &mut forms);
            ends.push(own.iter().fold(end, |end, own| write(own.cast_unsigned(), end, &mut forms)));
        }
        let forms = ends.windows(2).map(|pair| &forms[pair[0]..pair[1]]);
        table.numbers_of(forms, &mut self.forms, numbers);
    }

    /// Whether templates are too many for what lifting is good for.
    pub(crate) fn is_useless(&self) -> bool {
        let templates = self.templates.len();
        templates > TEMPLATES_MIN && templates > self.len() / TEXTS_PER_TEMPLATE_MIN
    }

    /// The text of a number, put together.
    pub(crate) fn get(&self, number: u32) -> Option<String> {
        let (template, numbers) = self.form(number)?;
        put_together(self.templates.get(template)?, numbers)
    }

    /// The texts of these numbers.
    pub(crate) fn texts_in(&self, numbers: Range<usize>) -> LiftedTexts<'static> {
        let mut texts = LiftedTexts::default();
        let mut codes = vec![None; self.templates.len()];
        for number in (0..).take(numbers.end).skip(numbers.start) {
            let Some((template, numbers)) = self.form(number) else { continue };
            let code = codes[template as usize].get_or_insert_with(|| {
                texts.add_template(self.templates.get(template).unwrap_or_default())
            });
            texts.push(*code, numbers);
        }
        texts
    }

    /// The order of the texts of two numbers.
    pub(crate) fn cmp(&self, left: u32, right: u32) -> Ordering {
        let beginning = |number| {
            let (template, _) = self.form(number)?;
            Some((template, self.beginnings.get(template as usize)?))
        };
        let (Some((left_template, own)), Some((right_template, other))) =
            (beginning(left), beginning(right))
        else {
            return left.cmp(&right);
        };
        let order = own.cmp(other).then_with(|| {
            let whole = |template, own: &Beginning| own.of(self.templates.bytes_of(template));
            let (own, other) = (whole(left_template, own), whole(right_template, other));
            let common = own.len().min(other.len());
            own[..common].cmp(&other[..common])
        });
        order.then_with(|| self.get(left).cmp(&self.get(right)))
    }

    /// The template of a text, and its numbers.
    fn form(&self, number: u32) -> Option<(u32, impl Iterator<Item = i64>)> {
        let mut rest = self.forms.bytes_of(number)?;
        let template = u32::try_from(read(&mut rest)?).ok()?;
        Some((template, std::iter::from_fn(move || read(&mut rest).map(u64::cast_signed))))
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        self.forms.bytes()
            + self.templates.bytes()
            + self.beginnings.capacity() * size_of::<Beginning>()
    }
}

/// Writes a number into `out`, which has room for any, and perhaps zeros behind it; returns where it
/// ends.
#[inline]
fn write(number: u64, at: usize, out: &mut [u8]) -> usize {
    let length = (u64::BITS - number.leading_zeros()).div_ceil(8) as usize;
    #[expect(clippy::cast_possible_truncation, reason = "at most eight")]
    let first = length as u8;
    out[at] = first;
    out[at + 1..at + NUMBER_BYTES_MAX].copy_from_slice(&number.to_le_bytes());
    at + 1 + length
}

/// Takes a number from the front.
#[inline]
fn read(rest: &mut &[u8]) -> Option<u64> {
    let (&length, after) = rest.split_first()?;
    let (own, after) = after.split_at_checked(length.into())?;
    *rest = after;
    Some(own.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)))
}

/// What all texts of a template begin with.
#[derive(Clone, Copy, Debug)]
struct Beginning {
    /// The first bytes of it, the first one highest.
    first: u128,
    /// Where it is in the template.
    start: u32,
    end: u32,
}

impl Beginning {
    fn new(template: &str) -> Self {
        let own = beginning(template).as_bytes();
        let first = own.iter().take(size_of::<u128>()).enumerate();
        let first = first.fold(0, |all, (at, &byte)| all | u128::from(byte) << (120 - 8 * at));
        let short = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
        let start = usize::from(!template.as_bytes().starts_with(own));
        Self { first, start: short(start), end: short(start + own.len()) }
    }

    fn of<'t>(&self, template: Option<&'t [u8]>) -> &'t [u8] {
        let own = template.and_then(|bytes| bytes.get(self.start as usize..self.end as usize));
        own.unwrap_or_default()
    }

    /// The order of what texts begin with, as far as that is known; equal beyond.
    fn cmp(&self, other: &Self) -> Ordering {
        let common = (self.end - self.start).min(other.end - other.start);
        let unknown = u128::BITS.saturating_sub(8 * common);
        let known = |own: &Self| own.first.checked_shr(unknown).unwrap_or_default();
        known(self).cmp(&known(other))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numbers_of_any_size_are_read_as_written() {
        let mut out = vec![0; 100];
        for number in [0, 1, 255, 256, 1 << 40, u64::MAX >> 8, u64::MAX] {
            let end = write(number, 3, &mut out);
            let mut rest = &out[3..end];
            assert_eq!((read(&mut rest), rest.len()), (Some(number), 0));
        }
        assert_eq!(read(&mut [9u8, 1].as_slice()), None);
    }

    proptest! {
        #[test]
        fn texts_are_numbered_ordered_and_handed_on_as_they_are(
            asked in prop::collection::vec(
                prop::collection::vec(
                    "(ab|cache miss for /)[a-c]{0,2}[0-9]{0,3}|[0-9\u{e}\u{f}]{0,4}|.{0,9}",
                    0..90,
                ),
                1..5,
            ),
        ) {
            let (mut lifted, mut table) = (Lifted::default(), TextTable::default());
            let mut all: Vec<&str> = Vec::new();
            for asked in &asked {
                let number = |text| match all.iter().position(|own| *own == text) {
                    Some(number) => number,
                    None => {
                        all.push(text);
                        all.len() - 1
                    }
                };
                let expected: Vec<usize> = asked.iter().map(String::as_str).map(number).collect();
                let texts = LiftedTexts::of(asked.iter().map(String::as_str));
                let mut numbers = Vec::new();
                lifted.numbers_of(&mut table, &texts, 0..texts.len(), &mut numbers);
                let numbers: Vec<usize> = numbers.iter().map(|&number| number as usize).collect();
                prop_assert_eq!(numbers, expected);
            }
            prop_assert_eq!(lifted.len(), all.len());
            for (number, text) in (0..).zip(&all) {
                let own = lifted.get(number);
                prop_assert_eq!(own.as_deref(), Some(*text));
                for (other, that) in (0..).zip(&all) {
                    prop_assert_eq!(lifted.cmp(number, other), text.cmp(that), "{} {}", text, that);
                }
            }
            let last = all.len() / 3..all.len();
            let texts = lifted.texts_in(last.clone());
            let handed: Vec<_> = (0..texts.len()).filter_map(|index| texts.text(index)).collect();
            prop_assert_eq!(handed, &all[last]);
        }
    }
}
