//! Canonical forms of texts: equal texts have equal forms, however they were stored, so forms are
//! compared without rendering the texts.
//!
//! A text's form is the result of lifting its decimal digits. Most strings of a block have this
//! form already: templates in which one placeholder stands for a whole run of digits. All other
//! strings are rendered and lifted again. If lifting fails, the whole text is its form, with a mark
//! in front.

use std::cmp::Ordering;
use std::ops::Range;

use hadal_types::limits::STRING_BYTES_MAX;

use super::renderer::{NUMBER_BYTES_MAX, Pieces, fill, next_placeholder, write_number};
use super::{Digits, TemplatesView, is_placeholder, lift};
use crate::strings::front_coding::CHUNK;
use crate::{EncodingError, StringDictionary};

/// Precedes a text that is its own template; not a placeholder.
const WHOLE: u8 = 0x0F;
/// If more than one text in 4 must be rendered, rendering all texts is faster.
const OTHERS: usize = 4;

/// Texts in canonical form.
#[derive(Clone, Debug, Default)]
pub struct CanonicalStrings<'a> {
    /// The templates of the encoded texts.
    templates: StringDictionary<'a>,
    /// Templates of texts that were lifted again; their codes follow those of `templates`. They may
    /// repeat.
    others: Vec<String>,
    /// The code of each text's template.
    codes: Vec<u32>,
    /// The end of each text's numbers.
    ends: Vec<u32>,
    numbers: Vec<i64>,
}

impl CanonicalStrings<'static> {
    /// The canonical forms of these texts.
    #[must_use]
    pub fn of<'t>(texts: impl Iterator<Item = &'t str>) -> Self {
        let mut lifted = Self::default();
        texts.for_each(|text| lifted.push_text(text, 0));
        lifted
    }
}

impl CanonicalStrings<'_> {
    /// Lifts a text; `first` is the code of the first template in `others`.
    fn push_text(&mut self, text: &str, first: usize) {
        let (start, mut template) = (self.numbers.len(), Vec::new());
        let is_lifted = lift(text, Digits::Decimal, &mut template, &mut self.numbers);
        let template = String::from_utf8(template).ok();
        let template = template.filter(|template| is_lifted && is_form(template));
        self.others.push(template.unwrap_or_else(|| {
            self.numbers.truncate(start);
            [char::from(WHOLE).encode_utf8(&mut [0; 4]), text].concat()
        }));
        self.end(short(first + self.others.len() - 1));
    }

    fn end(&mut self, code: u32) {
        self.codes.push(code);
        self.ends.push(short(self.numbers.len()));
    }

    /// How many texts there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.codes.len()
    }

    /// Whether there are no texts.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.codes.is_empty()
    }

    /// The templates, by code.
    pub fn templates(&self) -> impl Iterator<Item = &str> {
        self.templates.iter().chain(self.others.iter().map(String::as_str))
    }

    /// The code of a text's template, and its numbers.
    #[inline]
    #[must_use]
    pub fn get(&self, index: usize) -> Option<(u32, &[i64])> {
        let start = index.checked_sub(1).map_or(Some(&0), |before| self.ends.get(before))?;
        let numbers = self.numbers.get(*start as usize..*self.ends.get(index)? as usize)?;
        Some((*self.codes.get(index)?, numbers))
    }

    /// A text, rendered.
    #[must_use]
    pub fn text(&self, index: usize) -> Option<String> {
        let (code, numbers) = self.get(index)?;
        let other = || self.others.get((code as usize).checked_sub(self.templates.len())?);
        let template = self.templates.get(code).or_else(|| other().map(String::as_str))?;
        put_together(template, numbers.iter().copied())
    }
}

impl<'a> TemplatesView<'a> {
    /// The canonical forms of all strings; `None` if many would have to be rendered.
    ///
    /// # Errors
    /// When the numbers do not fit the templates.
    pub fn into_lifted(self) -> Result<Option<CanonicalStrings<'a>>, EncodingError> {
        let Self { templates, codes, numbers } = self;
        let mut pieces = Pieces::parse(&templates, &codes, numbers)?;
        // In most cases one test of all bytes replaces a test of each template.
        let is_clean = !templates.text().bytes().fold(false, |any, byte| any | is_no_form(byte));
        let are_forms: Vec<bool> = match is_clean {
            true => pieces.are_apart(),
            false => templates.iter().map(is_form).collect(),
        };
        let mut lifted = CanonicalStrings::default();
        lifted.ends.reserve(codes.len());
        lifted.codes.reserve(codes.len());
        let mut text = Vec::new();
        for &code in &codes {
            let start = lifted.numbers.len();
            let has_form = pieces.take_numbers(code, &mut lifted.numbers);
            if has_form && are_forms[code as usize] {
                lifted.end(code);
                continue;
            }
            if lifted.others.len() >= codes.len() / OTHERS {
                return Ok(None);
            }
            text.clear();
            let template = templates.get(code).unwrap_or_default();
            fill(template, lifted.numbers.drain(start..), &mut text)?;
            let text = std::str::from_utf8(&text).unwrap_or_default();
            lifted.push_text(text, templates.len());
        }
        drop(pieces);
        Ok(Some(CanonicalStrings { templates, ..lifted }))
    }
}

/// Renders the text of a form; surplus numbers are ignored. `None` if the form is invalid.
#[must_use]
pub fn put_together(template: &str, numbers: impl Iterator<Item = i64>) -> Option<String> {
    if let Some(whole) = template.strip_prefix(char::from(WHOLE)) {
        return Some(whole.to_owned());
    }
    let mut text = Vec::with_capacity(template.len() + 2 * NUMBER_BYTES_MAX);
    fill(template, numbers, &mut text).ok()?;
    String::from_utf8(text).ok()
}

/// The common prefix of all texts of a template.
#[must_use]
pub fn beginning(template: &str) -> &str {
    if let Some(whole) = template.strip_prefix(char::from(WHOLE)) {
        return whole;
    }
    let mut parts = template.split(|is: char| u8::try_from(is).is_ok_and(is_placeholder));
    parts.next().unwrap_or_default()
}

/// The order of two texts, each given by the template and the numbers of its form. The texts are
/// rendered up to where they differ.
#[must_use]
pub fn cmp_texts(
    (left, left_numbers): (&[u8], impl Iterator<Item = i64>),
    (right, right_numbers): (&[u8], impl Iterator<Item = i64>),
) -> Ordering {
    let mut left = TextChunks::new(left, left_numbers);
    let mut right = TextChunks::new(right, right_numbers);
    loop {
        let (one, other) = (left.next(), right.next());
        let common = one.len().min(other.len());
        if common == 0 {
            return one.len().cmp(&other.len());
        }
        match one[..common].cmp(&other[..common]) {
            Ordering::Equal => {}
            order => return order,
        }
        left.skip(common);
        right.skip(common);
    }
}

/// The text of a form in chunks: the digits of a number, or the bytes between two numbers.
struct TextChunks<'t, I> {
    /// The bytes of the template after the chunk.
    rest: &'t [u8],
    numbers: I,
    /// The chunk, if it is a part of the template.
    bytes: &'t [u8],
    /// The digits of the last number, and the range of those that the chunk has.
    digits: [u8; CHUNK],
    range: Range<usize>,
}

impl<'t, I: Iterator<Item = i64>> TextChunks<'t, I> {
    fn new(template: &'t [u8], numbers: I) -> Self {
        let (bytes, rest) = match template.split_first() {
            Some((&WHOLE, text)) => (text, &[][..]),
            _ => (&[][..], template),
        };
        Self { rest, numbers, bytes, digits: [0; CHUNK], range: 0..0 }
    }

    /// What is left of the chunk, or the next one; empty at the end of the text.
    #[inline]
    fn next(&mut self) -> &[u8] {
        if self.bytes.is_empty() && self.range.is_empty() {
            match next_placeholder(self.rest, 0) {
                Some(0) => {
                    let number = self.numbers.next().unwrap_or_default().cast_unsigned();
                    let count = write_number(self.rest[0], number, &mut self.digits);
                    (self.range, self.rest) = (0..count.unwrap_or_default(), &self.rest[1..]);
                }
                Some(at) => (self.bytes, self.rest) = self.rest.split_at(at as usize),
                None => (self.bytes, self.rest) = (self.rest, &[]),
            }
        }
        if self.range.is_empty() { self.bytes } else { &self.digits[self.range.clone()] }
    }

    /// Skips this many bytes of the chunk.
    fn skip(&mut self, count: usize) {
        if self.range.is_empty() {
            self.bytes = &self.bytes[count..];
        } else {
            self.range.start += count;
        }
    }
}

/// Whether a template is canonical, if its numbers are [`super::lift::is_formed`]: it contains no
/// digits, and no two numbers are adjacent.
fn is_form(template: &str) -> bool {
    let bytes = template.as_bytes();
    let placeholders = bytes.iter().filter(|&&byte| is_placeholder(byte)).count();
    let touch = |pair: &[u8]| pair.iter().all(|&byte| is_placeholder(byte));
    !bytes.iter().any(|&byte| is_no_form(byte))
        && !bytes.windows(2).any(touch)
        && bytes.len() + placeholders * NUMBER_BYTES_MAX <= STRING_BYTES_MAX
}

/// Whether a byte occurs in no canonical form, except in a text that is its own template.
fn is_no_form(byte: u8) -> bool {
    byte.is_ascii_digit() || byte == WHOLE
}

/// Converts counts that are far below 2^32.
fn short(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
