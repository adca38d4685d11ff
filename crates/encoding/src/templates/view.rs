//! Reads strings stored as templates and numbers.

use std::borrow::Cow;
use std::ops::Range;

use hadal_types::limits::VECTOR_VALUES;

use super::renderer::Pieces;
use super::{HEX, HEX_LAST, lift};
use crate::{EncodingError, StringDictionary};

/// Strings as templates and numbers, not rendered.
#[derive(Clone, Debug)]
pub struct TemplatesView<'a> {
    pub(super) templates: StringDictionary<'a>,
    pub(super) codes: Vec<u32>,
    pub(super) numbers: &'a [u8],
}

impl<'a> TemplatesView<'a> {
    /// The strings of these codes, one per code. The numbers are parsed only when strings are
    /// decoded.
    ///
    /// # Errors
    /// [`EncodingError::Limit`] when a code has no template.
    pub fn new(
        codes: Vec<u32>,
        templates: StringDictionary<'a>,
        numbers: &'a [u8],
    ) -> Result<Self, EncodingError> {
        let most = templates.len().saturating_sub(1) as u64;
        match codes.iter().max() {
            Some(&max) if max as usize >= templates.len() => {
                Err(EncodingError::Limit { what: "a template's code", value: max.into(), most })
            }
            _ => Ok(Self { templates, codes, numbers }),
        }
    }

    /// How many strings there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.codes.len()
    }

    /// Whether there are no strings.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.codes.is_empty()
    }

    /// The templates, sorted, with placeholders: 0E for a decimal number, 10 to 1F for one to
    /// sixteen hexadecimal digits.
    #[must_use]
    pub const fn templates(&self) -> &StringDictionary<'a> {
        &self.templates
    }

    /// The template of each string.
    #[must_use]
    pub fn codes(&self) -> &[u32] {
        &self.codes
    }

    /// Whether a string contains `literal` exactly if its template does. That holds for literals
    /// without digits and, if hexadecimal words were lifted, without words like "add" or "face".
    /// Cost: O(templates' bytes) if `literal` has such a word.
    #[must_use]
    pub fn is_kept(&self, literal: &str) -> bool {
        let is_hex = |byte: u8| matches!(byte, HEX..=HEX_LAST);
        lift::is_kept(literal, || self.templates.text().bytes().any(is_hex))
    }

    /// Renders all strings: one entry per string, in stored order, not sorted.
    ///
    /// # Errors
    /// When the numbers do not fit the templates.
    pub fn decode(&self) -> Result<StringDictionary<'static>, EncodingError> {
        self.decode_where(|_| true)
    }

    /// Renders the strings of the index ranges for which `is_wanted` returns true. The result has
    /// one entry per string, as in [`Self::decode`]; other strings are empty.
    ///
    /// # Errors
    /// When the numbers do not fit the templates.
    pub fn decode_where(
        &self,
        is_wanted: impl Fn(Range<usize>) -> bool,
    ) -> Result<StringDictionary<'static>, EncodingError> {
        let mut pieces = Pieces::parse(&self.templates, &self.codes, self.numbers)?;
        let (mut text, mut end) = (Vec::new(), 0);
        let mut offsets = Vec::with_capacity(self.len() + 1);
        offsets.push(0);
        for range in ranges(self.len()) {
            let codes = &self.codes[range.clone()];
            if is_wanted(range) {
                end = write_all(&mut pieces, codes, end, &mut text, &mut offsets)?;
            } else {
                codes.iter().for_each(|&code| pieces.skip(code));
                offsets.resize(offsets.len() + codes.len(), offset(end));
            }
        }
        text.truncate(end);
        StringDictionary::from_utf8(Cow::Owned(text), offsets)
    }

    /// Renders the strings of these indexes, which must ascend: one entry per index.
    ///
    /// # Errors
    /// When the numbers do not fit the templates.
    pub fn decode_strings(
        &self,
        indexes: impl IntoIterator<Item = usize>,
    ) -> Result<StringDictionary<'static>, EncodingError> {
        let mut pieces = Pieces::parse(&self.templates, &self.codes, self.numbers)?;
        let (mut text, mut offsets) = (Vec::new(), vec![0]);
        let (mut next, mut end) = (0, 0);
        for index in indexes {
            let before = self.codes.get(next..index).unwrap_or_default();
            before.iter().for_each(|&code| pieces.skip(code));
            let Some(&code) = self.codes.get(index) else { break };
            end = pieces.write(code, end, &mut text)?;
            offsets.push(offset(end));
            next = index + 1;
        }
        text.truncate(end);
        StringDictionary::from_utf8(Cow::Owned(text), offsets)
    }

    /// Renders the strings range by range, in the same memory, and calls `visit` with the index of
    /// a range's first string and with its strings. Skips the ranges of indexes for which
    /// `is_wanted` returns false.
    ///
    /// # Errors
    /// When the numbers do not fit the templates.
    pub fn for_each_text(
        &self,
        is_wanted: impl Fn(Range<usize>) -> bool,
        mut visit: impl FnMut(usize, &StringDictionary<'_>),
    ) -> Result<(), EncodingError> {
        let mut pieces = Pieces::parse(&self.templates, &self.codes, self.numbers)?;
        let mut some = StringDictionary::default();
        for range in ranges(self.len()) {
            let (first, codes) = (range.start, &self.codes[range.clone()]);
            if !is_wanted(range) {
                codes.iter().for_each(|&code| pieces.skip(code));
                continue;
            }
            let (mut text, mut offsets) = some.into_parts();
            offsets.clear();
            offsets.push(0);
            let end = write_all(&mut pieces, codes, 0, &mut text, &mut offsets)?;
            text.truncate(end);
            some = StringDictionary::from_utf8(Cow::Owned(text), offsets)?;
            visit(first, &some);
        }
        Ok(())
    }
}

/// The indexes from 0 to `count`, one vector at a time.
fn ranges(count: usize) -> impl Iterator<Item = Range<usize>> {
    (0..count).step_by(VECTOR_VALUES).map(move |start| start..count.min(start + VECTOR_VALUES))
}

fn write_all(
    pieces: &mut Pieces<'_>,
    codes: &[u32],
    start: usize,
    text: &mut Vec<u8>,
    offsets: &mut Vec<u32>,
) -> Result<usize, EncodingError> {
    let mut end = start;
    for &code in codes {
        end = pieces.write(code, end, text)?;
        offsets.push(offset(end));
    }
    Ok(end)
}

/// Converts a length that was checked to be at most 256 MiB.
fn offset(end: usize) -> u32 {
    u32::try_from(end).unwrap_or(u32::MAX)
}
