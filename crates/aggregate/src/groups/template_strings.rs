//! Many different strings that differ mostly in numbers, stored as templates and numbers: sixteen
//! bytes each. A string is rendered only when its text is needed.
//!
//! Each string has exactly one form (see `hadal_encoding::templates`), so comparing forms compares
//! strings. A form is a 128-bit integer: the number of the template, followed by each number with
//! its bit length.
//!
//! ```text
//!  127                                              28           0
//!  | 0 | bits of the second | 7 bits: how many | ... | template |
//! ```
//!
//! Strings whose numbers need more bits than a form has are rare. They are stored as plain strings;
//! the form of such a string has the number of the plain string.

use std::cmp::Ordering;
use std::ops::Range;

use hadal_encoding::CanonicalStrings;
use hadal_encoding::templates::{beginning, cmp_texts, put_together};

use crate::groups::hash_table::tag_of;
use crate::groups::int_table::reserve_spare;
use crate::groups::string_table::StringInterner;

/// The number of templates up to which each may have only one string.
const TEMPLATES_MIN: usize = 1 << 16;
/// The minimum number of strings per template beyond that.
const TEXTS_PER_TEMPLATE_MIN: usize = 2;
/// Bits of a template's number.
const TEMPLATE_BITS: u32 = 28;
/// The template number of strings that are stored as plain.
const PLAIN: u32 = (1 << TEMPLATE_BITS) - 1;
/// Bits of a bit length.
const LENGTH_BITS: u32 = 7;
/// The form of a value that is not a string.
const NONE: u128 = u128::MAX;

/// Template strings by number.
#[derive(Clone, Debug, Default)]
pub(crate) struct TemplateStrings {
    forms: Vec<u128>,
    templates: StringInterner,
    /// By template.
    beginnings: Vec<Beginning>,
    /// By template: bits of the hash of its text. Unlike its number, they are equal in all
    /// dictionaries.
    hashes: Vec<u32>,
    /// The strings that do not fit a form.
    plain_strings: StringInterner,
}

impl TemplateStrings {
    /// Whether the string with this number has this form.
    #[inline]
    pub(crate) fn is(&self, number: u32, form: u128) -> bool {
        self.forms.get(number as usize) == Some(&form)
    }

    /// Appends a form, and returns its number.
    #[inline]
    pub(crate) fn push(&mut self, form: u128) -> u32 {
        self.forms.push(form);
        short(self.forms.len() - 1)
    }

    /// The number of values.
    pub(crate) fn len(&self) -> usize {
        self.forms.len()
    }

    /// Appends a value that is not a string.
    pub(crate) fn push_none(&mut self) {
        self.forms.push(NONE);
    }

    /// The integer that is hashed for a form: mostly equal in all dictionaries for equal strings.
    #[inline]
    pub(crate) fn hashed(&self, form: u128) -> u128 {
        let template = template_in(form);
        let hash = self.hashes.get(template as usize).copied().unwrap_or(template);
        (form ^ u128::from(template)) | u128::from(hash)
    }

    /// Reserves space for `more` forms.
    pub(crate) fn reserve(&mut self, more: usize) {
        reserve_spare(&mut self.forms, more);
    }

    /// The forms of strings given by their indexes; `NONE` for `None`.
    pub(crate) fn forms_of(
        &mut self,
        texts: &CanonicalStrings<'_>,
        which: impl Iterator<Item = Option<usize>>,
    ) -> Vec<u128> {
        let mut templates = Vec::new();
        self.templates.numbers_of(texts.templates(), &mut templates);
        self.note_templates();
        let mut form = |index: usize| {
            let (code, numbers) = texts.get(index)?;
            pack(templates[code as usize], numbers)
                .or_else(|| Some(self.form_of_plain_string(&texts.text(index)?)))
        };
        which.map(|index| index.and_then(&mut form).unwrap_or(NONE)).collect()
    }

    /// The forms here of some strings of `other`. `templates` caches the numbers here of its
    /// templates.
    pub(crate) fn forms_in(
        &mut self,
        other: &Self,
        numbers: Range<usize>,
        templates: &mut Vec<Option<u32>>,
    ) -> Vec<u128> {
        templates.resize(other.templates.len(), None);
        let mut form = |(form, number): (u128, u32)| {
            let template = template_in(form);
            let Some(cached) = templates.get_mut(template as usize) else {
                return self.form_of_plain_string(&other.get(number).unwrap_or_default());
            };
            let translated = *cached.get_or_insert_with(|| {
                self.template(other.templates.get(template).unwrap_or_default())
            });
            (form ^ u128::from(template)) | u128::from(translated)
        };
        let forms = other.forms.get(numbers.clone()).unwrap_or_default();
        forms.iter().copied().zip((0..).skip(numbers.start)).map(&mut form).collect()
    }

    fn template(&mut self, template: &str) -> u32 {
        let number = self.templates.number_of(template);
        self.note_templates();
        number
    }

    /// Records the prefixes and hashes of new templates.
    fn note_templates(&mut self) {
        for number in (0..).take(self.templates.len()).skip(self.beginnings.len()) {
            let template = self.templates.get(number).unwrap_or_default();
            self.beginnings.push(Beginning::new(template));
            self.hashes.push(tag_of(template) & PLAIN);
        }
    }

    fn form_of_plain_string(&mut self, text: &str) -> u128 {
        u128::from(PLAIN) | u128::from(self.plain_strings.number_of(text)) << TEMPLATE_BITS
    }

    /// Whether there are too many templates for this representation to pay off.
    pub(crate) fn is_useless(&self) -> bool {
        let templates = self.templates.len() + self.plain_strings.len();
        templates > TEMPLATES_MIN && templates > self.len() / TEXTS_PER_TEMPLATE_MIN
    }

    /// The rendered string with this number.
    pub(crate) fn get(&self, number: u32) -> Option<String> {
        let form = *self.forms.get(number as usize).filter(|&&form| form != NONE)?;
        match template_in(form) {
            PLAIN => {
                let number = u32::try_from(form >> TEMPLATE_BITS).ok()?;
                self.plain_strings.get(number).map(str::to_owned)
            }
            template => put_together(self.templates.get(template)?, unpack(form)),
        }
    }

    /// The order of the strings of two numbers.
    pub(crate) fn cmp(&self, left: u32, right: u32) -> Ordering {
        let beginning = |number: u32| {
            let template = template_in(*self.forms.get(number as usize)?);
            Some((self.beginnings.get(template as usize)?, template))
        };
        let by_beginning = beginning(left).zip(beginning(right)).map(|(left, right)| {
            left.0.cmp(right.0).then_with(|| {
                let plain = |(prefix, template): (&Beginning, u32)| {
                    prefix.of(self.templates.bytes_of(template))
                };
                let (left, right) = (plain(left), plain(right));
                let common = left.len().min(right.len());
                left[..common].cmp(&right[..common])
            })
        });
        by_beginning.unwrap_or(Ordering::Equal).then_with(|| {
            let by_form = self.cmp_forms(left, right);
            by_form.unwrap_or_else(|| self.get(left).cmp(&self.get(right)))
        })
    }

    /// The order of two strings that are stored as forms; `None` if one is not.
    fn cmp_forms(&self, left: u32, right: u32) -> Option<Ordering> {
        let text = |number: u32| {
            let form = *self.forms.get(number as usize)?;
            let template = Some(template_in(form)).filter(|&template| template != PLAIN)?;
            Some((self.templates.bytes_of(template)?, unpack(form)))
        };
        Some(cmp_texts(text(left)?, text(right)?))
    }

    /// Bytes of memory; memory that was never written does not count.
    pub(crate) fn bytes(&self) -> usize {
        self.forms.len() * size_of::<u128>()
            + self.templates.bytes()
            + self.plain_strings.bytes()
            + self.beginnings.capacity() * size_of::<Beginning>()
            + self.hashes.capacity() * size_of::<u32>()
    }
}

/// The form of a template and its numbers, if they fit.
#[inline]
fn pack(template: u32, numbers: &[i64]) -> Option<u128> {
    let (mut form, mut at) = (u128::from(template), TEMPLATE_BITS);
    for &number in numbers {
        let number = number.cast_unsigned();
        let bits = u64::BITS - number.leading_zeros();
        let end = at + LENGTH_BITS + bits;
        if end > u128::BITS {
            return None;
        }
        form |= (u128::from(number) << LENGTH_BITS | u128::from(bits)) << at;
        at = end;
    }
    Some(form).filter(|_| template < PLAIN)
}

/// The numbers in a form, followed by zeros.
fn unpack(form: u128) -> impl Iterator<Item = i64> {
    let mut rest = form >> TEMPLATE_BITS;
    std::iter::repeat_with(move || {
        let bits = (rest & ((1 << LENGTH_BITS) - 1)) as u32;
        rest >>= LENGTH_BITS;
        let number = u64::try_from(rest & ((1 << bits) - 1)).unwrap_or_default();
        rest >>= bits;
        number.cast_signed()
    })
}

#[expect(clippy::cast_possible_truncation, reason = "these are the first bits")]
const fn template_in(form: u128) -> u32 {
    form as u32 & PLAIN
}

/// For counts of strings, which are far below 2^32: their memory is limited.
fn short(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

/// The common prefix of all strings of a template.
#[derive(Clone, Copy, Debug)]
struct Beginning {
    /// The first bytes, the first one highest.
    first: u128,
    /// The position of the prefix in the template.
    start: u32,
    end: u32,
}

impl Beginning {
    fn new(template: &str) -> Self {
        let prefix = beginning(template).as_bytes();
        let first = prefix.iter().take(size_of::<u128>()).enumerate();
        let first = first.fold(0, |all, (at, &byte)| all | u128::from(byte) << (120 - 8 * at));
        let short = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
        let start = usize::from(!template.as_bytes().starts_with(prefix));
        Self { first, start: short(start), end: short(start + prefix.len()) }
    }

    fn of<'t>(&self, template: Option<&'t [u8]>) -> &'t [u8] {
        let prefix =
            template.and_then(|template| template.get(self.start as usize..self.end as usize));
        prefix.unwrap_or_default()
    }

    /// The order of the prefixes, as far as both are known; equal beyond that.
    fn cmp(&self, other: &Self) -> Ordering {
        let common = (self.end - self.start).min(other.end - other.start);
        let unknown = u128::BITS.saturating_sub(8 * common);
        let head = |prefix: &Self| prefix.first.checked_shr(unknown).unwrap_or_default();
        head(self).cmp(&head(other))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn number(lifted: &mut TemplateStrings, form: u128) -> usize {
        let existing = (0..).take(lifted.len()).find(|&number| lifted.is(number, form));
        existing.unwrap_or_else(|| lifted.push(form)) as usize
    }

    #[test]
    fn a_form_has_numbers_up_to_its_bits() {
        let largest = (1i64 << 62) - 1;
        for numbers in [
            &[][..],
            &[0],
            &[0; 14],
            &[i64::MAX, 0, 1],
            &[-1, 0, 0],
            &[largest, (1 << 24) - 1],
            &[1, 0, 2, 0, 3, 0],
            &[255, 256, 257, 65_536],
        ] {
            for template in [0, 1, 77, PLAIN - 1] {
                let form = pack(template, numbers).expect("fits");
                assert_eq!(template_in(form), template);
                assert!(unpack(form).take(numbers.len()).eq(numbers.iter().copied()));
                assert_ne!(form, NONE);
            }
            assert_eq!(pack(PLAIN, numbers), None);
        }
        for numbers in [&[0; 15][..], &[-1, -1], &[largest, 1 << 24], &[i64::MIN, 1 << 22]] {
            assert_eq!(pack(3, numbers), None, "{numbers:?}");
        }
    }

    proptest! {
        #[test]
        fn texts_are_numbered_ordered_and_handed_on_as_they_are(
            asked in prop::collection::vec(
                prop::collection::vec(
                    "(ab|cache miss for /)[a-c]{0,2}[0-9]{0,3}|[0-9\u{e}\u{f}]{0,4}|.{0,9}\
                    |([0-9]{1,18} ){1,3}",
                    0..90,
                ),
                1..5,
            ),
        ) {
            let mut lifted = TemplateStrings::default();
            let mut all: Vec<&str> = Vec::new();
            lifted.push_none();
            all.push("no text");
            for asked in &asked {
                let texts = CanonicalStrings::of(asked.iter().map(String::as_str));
                let forms = lifted.forms_of(&texts, (0..texts.len()).map(Some).chain([None]));
                prop_assert_eq!((forms.len(), forms[asked.len()]), (asked.len() + 1, NONE));
                for (text, form) in asked.iter().zip(forms) {
                    let assigned = number(&mut lifted, form);
                    let expected = all.iter().position(|other| other == text).unwrap_or(all.len());
                    all.extend((expected == all.len()).then_some(text.as_str()));
                    prop_assert_eq!(assigned, expected);
                }
            }
            prop_assert_eq!((lifted.len(), lifted.get(0)), (all.len(), None));
            for (number, text) in (0..).zip(&all).skip(1) {
                let rendered = lifted.get(number);
                prop_assert_eq!(rendered.as_deref(), Some(*text));
                for (other, that) in (0..).zip(&all).skip(1) {
                    prop_assert_eq!(lifted.cmp(number, other), text.cmp(that), "{} {}", text, that);
                }
            }
            // Sent to another dictionary that has some of them, in another order.
            let mut other = TemplateStrings::default();
            let some: BTreeSet<&str> = all[all.len() / 2..].iter().skip(1).copied().collect();
            let texts = CanonicalStrings::of(some.iter().copied());
            for form in other.forms_of(&texts, (0..texts.len()).map(Some)) {
                number(&mut other, form);
            }
            let before = other.len();
            let forms = other.forms_in(&lifted, 1..all.len(), &mut Vec::new());
            for (&form, &before) in forms.iter().zip(&lifted.forms[1..]) {
                let is_plain = template_in(form) == PLAIN;
                prop_assert!(is_plain || other.hashed(form) == lifted.hashed(before));
            }
            let numbers: Vec<usize> =
                forms.into_iter().map(|form| number(&mut other, form)).collect();
            for (&number, text) in numbers.iter().zip(&all[1..]) {
                let rendered = other.get(u32::try_from(number).expect("few"));
                prop_assert_eq!(rendered.as_deref(), Some(*text));
                prop_assert_eq!(number < before, some.contains(text));
            }
        }
    }
}
